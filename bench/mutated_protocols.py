"""Whether recordings of real systems notice that a protocol is another one: rules of a spec are changed, one at a time,
and each recording is compared with what results.

    python bench/mutated_protocols.py [icestorm] [--mutants N] [--only TEXT] [--markdown]

A mutant lacks an assignment, a line of the log, a message or a `require`, or asks the opposite of a guard's last
condition or of an `if`. They are taken in turn from the rules that steps are made of, so that few mutants see many
rules. Of each recording it is reported whether the mutant still explains it, and if not, at which record it is left. A
mutant that explains all of them is either a protocol that does the same in these recordings (the rule was not used, or
what it sets was not read), or one that allows more; the table does not say which.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from measuring import machine
from msgspec import Struct
from msgspec.structs import replace

from hacheck.api.comparison import Comparison, compared_with
from hacheck.api.trace_comparison import stamp_skew_ms
from hacheck.model.language import Specification, load
from hacheck.traces.adapters import adapter_files
from hacheck.traces.adapters.logs import LogDataset, open_logs
from hacheck.traces.conformance.verdicts import Verdict, from_batch
from hacheck.traces.drivers.local import Options, check_locally
from hacheck.traces.findings import Findings

ROOT = Path(__file__).resolve().parents[1]
RULE = re.compile(r"^(?:on|action|procedure)\b ?(?P<name>[\w ]+)")
STATEMENT = re.compile(r"^ +(?:[\w.\[\]]+ := .+|log \w+\([^()]*\)|send .+|require .+)$")
IF = re.compile(r"^(?P<before> +(?:else )?if )(?P<condition>.+)(?P<after> then .*)$")
WHEN = re.compile(r"^(?P<before>  when .* and )(?P<condition>[^()]+)$")


class System(Struct, frozen=True):
    """A spec, the check that recordings of a real system conform to, the adapter, and where such recordings are.
    `without`: rules of which no step happens in logs."""

    spec: str
    check: str
    adapter: str
    recordings: tuple[str, ...]
    without: tuple[str, ...] = ()


SYSTEMS = {
    "icestorm": System(
        "icestorm",
        "as_released",
        "icestorm",
        (
            "tests/data/icestorm/a-cold-start-3",
            "tests/data/icestorm/c-kill-coordinator",
            "tests/data/icestorm/e-lose-majority",
            "tests/interop/recordings/two-failed-updates",
            "tests/interop/recordings/ended-while-requests-wait",
            "tests/interop/recordings/killed-while-writing",
            "tests/interop/recordings/merge-waits-for-two-changes",
        ),
        ("check", "poll", "acknowledge", "update", "update_beside", "forward_failed"),
    ),
    "artemis_replication": System(
        "artemis_replication",
        "default",
        "artemis",
        ("tests/data/artemis/replication-crash_and_failback", "tests/data/artemis/replication-pause"),
    ),
}


class Mutant(Struct, frozen=True):
    """A changed line of a spec: in which rule, and how."""

    rule: str
    change: str
    text: str


def mutants(text: str) -> list[Mutant]:
    """The mutants of a spec, rule by rule in turn: the first of each rule, then the second of each, and so on."""
    by_rule: dict[str, list[Mutant]] = {}
    rule, lines = "", text.split("\n")
    for number, line in enumerate(lines):
        head = RULE.match(line)
        if head is not None:
            rule = head["name"].strip()
        elif line and not line.startswith(" ") and line != "do":
            rule = ""
        for change, other in changed(line) if rule else ():
            whole = "\n".join([*lines[:number], other, *lines[number + 1 :]])
            by_rule.setdefault(rule, []).append(Mutant(rule, change, whole))
    turns = max(map(len, by_rule.values()), default=0)
    return [found[turn] for turn in range(turns) for found in by_rule.values() if turn < len(found)]


def changed(line: str) -> Iterator[tuple[str, str]]:
    """What a line may be instead, with what that is."""
    if STATEMENT.match(line) is not None and line.count("(") == line.count(")") and not line.rstrip().endswith(","):
        yield f"without `{line.strip()}`", ""
    for pattern, word in ((IF, "if"), (WHEN, "when")):
        found = pattern.match(line)
        if found is not None:
            after = found.groupdict().get("after", "") or ""
            opposite = f"{found['before']}not ({found['condition']}){after}"
            yield f"{word} not: `{found['condition']}`", opposite


class Recordings:
    """The recordings of a system, read once."""

    def __init__(self, system: System, folder: Path) -> None:
        self.system = system
        for place in system.recordings:
            shutil.copytree(ROOT / place, folder / Path(place).name)
        self.dataset: LogDataset = open_logs(folder, adapter_files.load(system.adapter))

    def verdicts(self, specification: Specification) -> dict[str, Verdict] | None:
        """What is found of each recording; `None` where the settings make no system of the spec."""
        instance = specification.instantiate({}, self.system.check, logs=True)
        if instance.system is None:
            return None
        wanted = Comparison(self.system.check, {}, False, frozenset(), {}, {})
        compared = compared_with(wanted, specification, instance.system)
        skew_ms = 10 + stamp_skew_ms(self.dataset)
        base = compared.base(self.dataset.schema.order, skew_ms=skew_ms, capacity=16_000, any_start=0, quick=True)
        checker = compared.checker(replace(base, explained_max=0))
        found = check_locally(self.dataset, checker, Findings(), collect=True, options=Options(workers=1, here=True))
        return {one.trace_id: one for batch in found.verdicts for one in from_batch(batch)}


def words(verdict: Verdict | None, unchanged: Verdict) -> str:
    """A verdict in a cell, beside that of the spec as it is: the record at which the mutant is left; `-` where it
    explains the recording, `~` where it does but for records that no rule writes any more, `?` where that is open."""
    if verdict is None or verdict.kind == "unknown":
        return "?"
    if verdict.kind == "deviates":
        return f"{(verdict.file or '').rpartition('/')[2]}:{verdict.line}"
    return "-" if verdict.compared == unchanged.compared else "~"


def main() -> int:
    """Prints a row for each mutant."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("system", nargs="?", default="icestorm", choices=sorted(SYSTEMS))
    parser.add_argument("--mutants", type=int, default=40, help="how many that are specs and mean something")
    parser.add_argument("--only", default="", help="of rules whose name has this in it")
    parser.add_argument("--markdown", action="store_true", help="a table for docs")
    given = parser.parse_args()
    system = SYSTEMS[given.system]
    path = ROOT / "spec" / f"{system.spec}.ha"
    text = path.read_text(encoding="utf-8")
    names = [Path(place).name for place in system.recordings]
    row = (lambda cells: f"| {' | '.join(cells)} |") if given.markdown else "\t".join
    with TemporaryDirectory() as folder:
        recordings = Recordings(system, Path(folder))
        if not given.markdown:
            print(machine())
        print(row(["rule", "change", *names]))
        if given.markdown:
            print(row(["---"] * (2 + len(names))))
        whole = load(text, str(path), library, defaults_only=True).specification
        unchanged = None if whole is None else recordings.verdicts(whole)
        assert unchanged is not None, "the spec as it is means something"
        assert all(one.kind == "conforms" for one in unchanged.values()), "the spec as it is explains every recording"
        start, tried, noticed = time.process_time(), 0, 0
        for mutant in mutants(text):
            if tried == given.mutants:
                break
            if given.only not in mutant.rule or mutant.rule in system.without:
                continue
            specification = load(mutant.text, str(path), library, defaults_only=True).specification
            found = None if specification is None else recordings.verdicts(specification)
            if found is None:
                continue
            tried += 1
            noticed += any(one.kind == "deviates" for one in found.values())
            print(row([mutant.rule, mutant.change, *(words(found.get(n), unchanged[n]) for n in names)]), flush=True)
        said = f"{noticed} of {tried} mutants are noticed, {time.process_time() - start:.0f} CPU s"
        print(said, file=sys.stderr)
    return 0


def library(name: str) -> str | None:
    """The text of a library by its path."""
    place = Path(name)
    return place.read_text(encoding="utf-8") if place.is_file() else None


if __name__ == "__main__":
    sys.exit(main())
