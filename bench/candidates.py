"""What raising a limit refutes, carried out on the products: `docs/candidates.md`.

    python bench/candidates.py [--product NAME]... [--time 30m] [--part 1/2] [--again] [--page]

Each claim that `bench/bounds.py` found refuted with a limit raised is a candidate: perhaps the product does that, too.
Many candidates are one run under several bounds: the same steps with the same arguments, violating the same property.
One run is carried out for all of them. First come those whose property and faults no other run has that was tried.

It resumes where it stopped: what was found is in `bench/candidates/SPEC.json`, and is found anew when the spec means
something else; the outcome of a run stays while the run is the same. `--again`: also runs that were tried and not
confirmed. `--page`: carries nothing out.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bounds import protocol
from candidates_page import page

from hacheck.atomic_files import replace_text
from hacheck.checker.engine import Limits
from hacheck.checker.limit_trials import Trial
from hacheck.checker.verify import Prepared, run_check
from hacheck.cli.checking.raised_page import Protocol, checks_of, kind_of, refutations
from hacheck.cli.engines import Exploring, engine_for
from hacheck.cli.options import parse_seconds
from hacheck.model.interpreter import replay
from hacheck.model.language.raised_limits import digest, raised
from hacheck.replay.model_run import ModelRun, model_run
from hacheck.replay.products import product
from hacheck.replay.replayer import carry_out
from hacheck.supervise.resources import memory_default

ROOT = Path(__file__).resolve().parents[1]
KEPT, PAGE = ROOT / "bench" / "candidates", ROOT / "docs" / "candidates.md"
PRODUCTS = {
    "icestorm": "icestorm",
    "artemis-replication": "artemis_replication",
    "artemis-shared-store": "artemis_shared_store",
    "artemis-scale-down": "artemis_scale_down",
}
TRIAL_SECONDS_MAX = 300.0
NOT_LOOKED_AT = "its run was not looked for yet"
IN_STEPS = "the run needs calls in several steps, which are not mapped to messages"
TIMES_MAX = 3

MENDS_AND_MISTAKES = {
    "icestorm": (
        "init_names_group stamp_after_push accept_is_confirmed election_guards_recovery max_after_push "
        "last_leader_does_not_compare majority_not_needed full_start_not_needed resync_by_key disk_can_break "
        "recovery_interrupts_election own_group_ignored"
    ),
    "artemis_replication": (
        "halved_size asks_for_reach found_is_no any_connector first_answer_decides primary_looks_elsewhere "
        "health_decides empty_list_is_healthy isolation_stops late_ack_ignored keeps_connection "
        "snapshot_without_flush replicates_first failback_by_delay votes_in_failback skips_group stops_slowly "
        "serves_unpaired tries_first_only takes_second_backup backup_accepts no_duplicate_ids retires "
        "votes_at_start votes_before_release replica_writes_first keeps_list marks_copies "
        "starts_with_newest asks_when_left"
    ),
    "artemis_shared_store": (
        "byte_from_cache name_in_lock_file primaries_only no_lock no_duplicate_detection acks_before_sync "
        "loads_uncommitted no_backup_lock passive_accepts renewal_clock_jumps journal_fenced"
    ),
    "artemis_scale_down": (
        "removes_first lets_in_early ids_stay prepared_stay ignores_group no_duplicate_detection forgets_ids "
        "keeps_target"
    ),
}
"""Switches for what mends a protocol, and for mistakes that the released product does not make: with one of them on, a
check does not describe it."""

RELEASED = {
    "icestorm": (
        "stamp_wiped_at_start generation_ignores_own rejection_counts one_failing_init_blocks "
        "idle_coordinator_serves released_observers looks_once create_needs_slaves"
    ),
    "artemis_shared_store": (
        "failing_back_for_ever announces_by_probe backup_unwatched critical_stop_pauses waiting_stop_pauses "
        "touch_forgotten"
    ),
}
"""Switches for how the released code differs from its manual: with all of them on, a check describes it."""


def main() -> int:
    """Finds the runs, carries out what time allows, and writes the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--product", action="append", choices=list(PRODUCTS), help="candidates of these products only")
    parser.add_argument("--time", default="30m", help="for all of it")
    parser.add_argument("--part", default="1/1", help="only this part of the runs: 2/3 for one of three processes")
    parser.add_argument("--again", action="store_true", help="also runs that were not confirmed before")
    parser.add_argument("--page", action="store_true", help="only write the page")
    given = parser.parse_args()
    end = time.monotonic() + parse_seconds(given.time)
    for name in given.product or list(PRODUCTS):
        if not given.page:
            Candidates(PRODUCTS[name], name, given.part).carry_out(end, again=given.again)
    PAGE.write_text(page({spec: read(spec) for spec in PRODUCTS.values()}), encoding="utf-8")
    return 0


def read(spec: str) -> dict[str, Any]:
    """What is kept of a spec's candidates; nothing, where it was not looked at yet."""
    path = KEPT / f"{spec}.json"
    empty: dict[str, Any] = {"digest": "", "flips": [], "runs": {}}
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else empty


class Candidates:
    """The candidates of one spec. `part`: which of them this process carries out: `2/3`."""

    def __init__(self, spec: str, product_name: str, part: str) -> None:
        self.spec, self.plugin = spec, product(product_name)
        self._part, self._parts = map(int, part.split("/"))
        self.protocol: Protocol = protocol(spec)
        self.trials = trials_of(self.protocol)
        self.kept = read(spec)
        self._known: dict[str, ModelRun] = {}
        self._before: dict[str, Any] = {}
        if self.kept["digest"] != digest(self.protocol.specification):
            self._begin()

    def carry_out(self, end: float, *, again: bool) -> None:
        """Carries out runs until then, those first of whose kind none was tried."""
        if (why := self.plugin.missing()) is not None:
            print(f"{self.plugin.name} cannot be started here: {why}", file=sys.stderr)
            return
        folder = Path(tempfile.mkdtemp(prefix="candidates-"))
        while time.monotonic() < end:
            is_found = self._find_next()
            key = self._next(again=again)
            if key is None and not is_found:
                return
            if key is not None:
                self._carry_out_one(key, folder)

    def _carry_out_one(self, key: str, folder: Path) -> None:
        tried = self._tried(key, folder)
        self.kept = read(self.spec)  # others carry out other parts
        run = self.kept["runs"][key]
        run["tried"] = tried
        self._save()
        print(self.spec, run["claim"], run["steps"], run["tried"]["outcome"], run["tried"]["why"], flush=True)

    # ---- which runs there are ----

    def _begin(self) -> None:
        """Every candidate, those first that the fewest limits need and that a check of the released code has."""
        self._before = self.kept["runs"]
        ordered = sorted(self.trials, key=lambda trial: (len(trial.raises), trial.question.name != "as_released"))
        why = {trial: IN_STEPS if kind_of(trial) == "granularity" else NOT_LOOKED_AT for trial in ordered}
        flips = [
            [trial.question.name, titles(trial), claim, kind_of(trial), None, why[trial], False]
            for trial in ordered
            for claim in self.trials[trial]
        ]
        self.kept = {"digest": digest(self.protocol.specification), "flips": flips, "runs": {}}
        self._save()

    def _find_next(self) -> bool:
        """Explores the next trial once more, and notes the run of each claim that it refutes. Returns whether there
        was one."""
        self.kept = read(self.spec)
        flips = self.kept["flips"]
        waiting = next((one for one in flips if one[5] == NOT_LOOKED_AT and self._is_mine(digest_of(one[:2]))), None)
        if waiting is None:
            return False
        trial = next(one for one in self.trials if [one.question.name, titles(one)] == waiting[:2])
        found = dict(runs_of(self.protocol, trial, self.trials[trial]))
        self.kept = read(self.spec)
        for flip in self.kept["flips"]:
            if flip[:2] == waiting[:2]:
                flip[4:] = self._noted(found.get(flip[2]))
        self._save()
        return True

    def _noted(self, run: ModelRun | None) -> list[Any]:
        """The key of a run, why it is not carried out, and whether its check describes the released code."""
        if run is None:
            return [None, "its run was not found in time", False]
        key, released = key_of(run), is_released(self.spec, run.settings)
        why = self.plugin.unfit(run) or described(self.spec, run)
        runs = self.kept["runs"]
        runs.setdefault(key, {**summary(run), "tried": self._before.get(key, {}).get("tried")})
        if why is None and (released or key not in self._known):
            self._known[key] = run
        return [key, why, released]

    def _save(self) -> None:
        KEPT.mkdir(exist_ok=True)
        flips = ",\n".join(json.dumps(one) for one in self.kept["flips"])
        runs = ",\n".join(f"{json.dumps(key)}: {json.dumps(one)}" for key, one in sorted(self.kept["runs"].items()))
        head = json.dumps(self.kept["digest"])
        replace_text(
            KEPT / f"{self.spec}.json", f'{{"digest": {head},\n"flips": [\n{flips}],\n"runs": {{\n{runs}}}}}\n'
        )

    # ---- carrying out ----

    def _next(self, *, again: bool) -> str | None:
        """The run to carry out next."""
        runs = self.kept["runs"]
        fit = dict.fromkeys(one[4] for one in self.kept["flips"] if one[4] and one[5] is None and self._is_mine(one[4]))
        tried = {(one["claim"], one["faults"]) for one in runs.values() if one["tried"]}
        due = [key for key in fit if runs[key]["tried"] is None or (again and is_open(runs[key]["tried"]))]
        known = lambda key: (runs[key]["claim"], runs[key]["faults"]) in tried  # noqa: E731
        return min(due, key=lambda key: (known(key), runs[key]["steps"]), default=None)

    def _is_mine(self, key: str) -> bool:
        return int(key, 16) % self._parts == self._part - 1

    def _tried(self, key: str, folder: Path) -> dict[str, Any]:
        """What comes of a run."""
        times = 1 + ((self.kept["runs"][key]["tried"] or {}).get("times") or 0)
        outcome: dict[str, Any] = {"outcome": "not_carried_out", "at": None, "step": "", "seconds": 0.0}
        run = self._run_of(key)
        if run is None:
            return {**outcome, "why": "its run was not found in time", "times": times}
        try:
            result = carry_out(run, self.plugin, folder / f"{key}-{time.time_ns()}", lambda seen: None)
        except Exception:
            traceback.print_exc()
            return {**outcome, "why": f"a mistake of the plug-in: {sys.exc_info()[1]!r}", "times": times}
        why = "" if result.outcome == "confirmed" else result.reason
        return {
            "outcome": result.outcome,
            "at": result.at_step,
            "step": result.step,
            "seconds": round(result.seconds, 1),
            "why": why,
            "times": times,
        }

    def _run_of(self, key: str) -> ModelRun | None:
        """The run that stands for others, of a check of the released code if there is one."""
        if key not in self._known:
            flips = [one for one in self.kept["flips"] if one[4] == key and one[5] is None]
            check, limits, claim = max(flips, key=lambda one: bool(one[6]))[:3]
            trial = next(one for one in self.trials if (one.question.name, titles(one)) == (check, limits))
            for _, run in runs_of(self.protocol, trial, (claim,)):
                self._known[key] = run
        return self._known.get(key)


def is_open(tried: Mapping[str, Any]) -> bool:
    """Whether a run that was tried may come out when it is tried again."""
    return tried["outcome"] != "confirmed" and tried["times"] < TIMES_MAX


def trials_of(of: Protocol) -> dict[Trial, tuple[str, ...]]:
    """The trials that refute something, each with the claims that it refutes."""
    found: dict[Trial, tuple[str, ...]] = {}
    for _, trial, claim in refutations(checks_of(of)):
        found[trial] = (*found.get(trial, ()), claim)
    return found


def runs_of(of: Protocol, trial: Trial, claims: tuple[str, ...]) -> Iterator[tuple[str, ModelRun]]:
    """The run that refutes each of these claims. Cost: an exploration."""
    changed, settings = raised(of.specification, trial.raises)
    system = changed.instantiate({**dict(trial.settings), **settings}, trial.question.name).system
    assert system is not None, "a trial that refuted something has a system"
    limits = Limits(None, TRIAL_SECONDS_MAX, memory_default(), None)
    prepared = Prepared(trial.question, system, claims)  # the others hold, and would be explored to the end
    result = run_check(prepared, engine_for(Exploring(threads=1)), limits, lambda progress: True, replay)
    for one in result.properties:
        if one.prop.name in claims and one.answer.run is not None:
            yield one.prop.name, model_run(result.system, one.answer.run, of.name, trial.question.name, one.prop)


def titles(trial: Trial) -> str:
    """The raised limits in words that do not change with every edit of the spec."""
    return ", ".join(one.title for one in trial.raises)


def key_of(run: ModelRun) -> str:
    """The same for runs that take the same steps, with the same arguments, and violate the same property."""
    return digest_of([run.claim, *(step.title for step in run.steps), str(run.loop)])


def digest_of(words: Sequence[str]) -> str:
    """A number of what these words say, in hexadecimal."""
    return hashlib.sha256("\n".join(words).encode()).hexdigest()[:16]


def summary(run: ModelRun) -> dict[str, Any]:
    """A run as a row of the page has it."""
    faults = [step.title for step in run.steps if step.kind == "fault"]
    return {"claim": run.claim, "steps": len(run.steps), "faults": ", ".join(faults)}


def described(spec: str, run: ModelRun) -> str | None:
    """Why the check of a run does not describe the product; `None`, where it does, or describes its manual."""
    on = [name for name in MENDS_AND_MISTAKES[spec].split() if run.settings.get(name) == "on"]
    if on:
        return f"the check has {', '.join(on)}, which the product has not"
    if spec == "artemis_shared_store" and run.settings["monitor"] != "timestamp":
        return "the check has another lock monitor than the product"
    return None


def is_released(spec: str, settings: Mapping[str, str]) -> bool:
    """Whether a check has all switches for what the released code does."""
    return all(settings[name] == "on" for name in RELEASED.get(spec, "").split())


if __name__ == "__main__":
    sys.exit(main())
