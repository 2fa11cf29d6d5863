"""Every limit of every shipped spec raised by one: the data behind `docs/bounds.md`, and that page.

    python bench/bounds.py [--time 1h] [--trial 60] [--states 3M] [--jobs 1]
        [--changed | --page] [--check NAME] [SPEC]...

It resumes where it stopped: what was tried is in `bench/bounds/SPEC.json`, and is tried again only when the spec means
something else than it did, or when a trial that met a limit would get more now. `--changed`: only specs that mean
something else than what is kept; exit code 1 if a claim is refuted there that was not refuted before. `--page`: try
nothing, write the page. `bench/bounds/reasons.toml` says of refuted claims that no check shows why they are.
"""

from __future__ import annotations

import argparse
import time
from contextlib import closing
from pathlib import Path

from hacheck import shipped
from hacheck.checker.engine import Limits
from hacheck.checker.limit_trials import explored_of
from hacheck.checker.verify import Question, questions_of
from hacheck.cli.checking.kept_trials import KeptTrials, explored_key, kept_trials
from hacheck.cli.checking.raised_bounds import Raising
from hacheck.cli.checking.raised_page import Protocol, page
from hacheck.cli.checking.raised_reasons import read_reasons
from hacheck.cli.checking.request import Request
from hacheck.cli.checking.side_by_side import SideBySide
from hacheck.cli.console import error_console
from hacheck.cli.engines import Exploring
from hacheck.cli.options import parse_count, parse_seconds
from hacheck.cli.progress import progress_of_several
from hacheck.cli.sources import load_specification
from hacheck.model.language import Specification
from hacheck.model.language.raised_limits import digest
from hacheck.supervise.interruption import Interruption
from hacheck.supervise.resources import memory_default

ROOT = Path(__file__).resolve().parents[1]
KEPT, PAGE = ROOT / "bench" / "bounds", ROOT / "docs" / "bounds.md"
REASONS = KEPT / "reasons.toml"


def main() -> int:
    """Tries what is to be tried, and writes the page."""
    given = arguments()
    names = given.specs or shipped.names()
    specs = {name: load_specification(name) for name in names}
    kept = {name: kept_trials(specs[name], KEPT / f"{name}.json") for name in names}
    if given.changed:
        specs = {name: one for name, one in specs.items() if not kept[name].explored}
    before = {name: kept_trials(one, KEPT / f"{name}.json", outdated=True).refuted() for name, one in specs.items()}
    if not given.page:
        end = time.monotonic() + parse_seconds(given.time)
        for name, one in specs.items():
            explore(name, one, kept[name], given, end)
        raise_all(specs, kept, given, end)
    if not given.specs:
        PAGE.write_text(page([protocol(name) for name in shipped.names()]), encoding="utf-8")
    fresh = {name: kept[name].refuted() - before[name] for name in specs}
    for name, claims in fresh.items():
        for check, limit, claim in sorted(claims):
            print(f"{name}: check {check}: {claim} is refuted with {limit}")
    return 1 if given.changed and any(fresh.values()) else 0


def arguments() -> argparse.Namespace:
    """The words of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("specs", nargs="*", metavar="SPEC")
    parser.add_argument("--time", default="1h", help="for all trials together")
    parser.add_argument("--trial", default="60", help="for one trial")
    parser.add_argument("--states", default="3M", help="for one trial")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--check", action="append", metavar="NAME", help="raise the limits of these checks only")
    parser.add_argument("--changed", action="store_true")
    parser.add_argument("--page", action="store_true")
    return parser.parse_args()


def limits_of(given: argparse.Namespace) -> Limits:
    """The limits of one trial, and of one check before."""
    return Limits(parse_count("--states", given.states), parse_seconds(given.trial), memory_default())


def missing(specification: Specification, kept: KeptTrials) -> list[Question]:
    """The checks that were not explored within their own limits."""
    return [one for one in questions_of(specification) if explored_key(one) not in kept.explored]


def explore(name: str, specification: Specification, kept: KeptTrials, given: argparse.Namespace, end: float) -> None:
    """Runs the checks of a spec of which nothing is kept."""
    wanted = missing(specification, kept)
    if not wanted or time.monotonic() >= end:
        return
    limits = limits_of(given)
    request = Request(
        spec=name,
        checks=tuple(one.name for one in wanted),
        exploring=Exploring(threads=1),
        states_max=limits.states_max,
        seconds_max=limits.wall_seconds_max,
        memory_max=limits.memory_bytes_max,
    )
    errors = error_console(no_color=True)
    with (
        Interruption().watching() as interruption,
        progress_of_several(errors, quiet=True) as display,
        closing(SideBySide(request, [shipped.find(name)], given.jobs, display, interruption).results()) as results,
    ):
        for spec in results:
            for result in spec.results:
                kept.explored[explored_key(result.check)] = explored_of(result)
    kept.save()
    print(f"{time.strftime('%H:%M:%S')} {name}: {len(kept.explored)} checks explored", flush=True)


def raise_all(
    specs: dict[str, Specification], kept: dict[str, KeptTrials], given: argparse.Namespace, end: float
) -> None:
    """Runs the trials of all specs, cheap ones first."""
    errors = error_console(no_color=True)
    with Interruption().watching() as interruption, progress_of_several(errors, quiet=True) as display:
        left = end - time.monotonic()
        raising = Raising(given.jobs, Exploring(threads=1), limits_of(given), left, display, interruption)
        for name, one in specs.items():
            wanted = [check for check in questions_of(one) if not given.check or check.name in given.check]
            keys = [key for key in map(explored_key, wanted) if key in kept[name].explored]
            checks = [kept[name].explored[key] for key in keys]
            raising.add(one, name, checks, kept[name])
        found = raising.run()
    tried = sum(len(one.found) for one in found)
    waiting = sum(len(one.not_begun) for one in found)
    print(f"{time.strftime('%H:%M:%S')} {tried} trials are known, {waiting} are still to be tried", flush=True)


def protocol(name: str) -> Protocol:
    """What the page says of a spec."""
    specification = load_specification(name)
    path = KEPT / f"{name}.json"
    trials = kept_trials(specification, path, outdated=True)
    reasons = tuple(read_reasons(REASONS).get(name, ()))
    return Protocol(name, specification, trials, trials.digest == digest(specification), reasons)


if __name__ == "__main__":
    raise SystemExit(main())
