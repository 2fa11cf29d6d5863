"""What becomes of recordings of real systems in which one thing was changed: control, data, clients, the time line.

    python bench/mutated_recordings.py [icestorm | artemis_replication] [--only TEXT] [--markdown]

Each kind of change is made to each recording, at the middle one of the places where it can be made, and all of them are
compared at once. A row says of each recording: `at the line`, where the verdict names the line that was changed, the
one that stands where a line was removed, or the line that is missing; `found elsewhere`, with the line that it names;
`possible`, where it is reported as a possible loss; `a run`, where the changed recording is a run of the protocol too,
with the reason, which was found by hand (`mutated_recordings.toml`). What conforms without a reason is `NOT JUDGED`,
and the exit code is 1. `-`: the recording has no such line.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
import tomllib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from measuring import machine
from msgspec import Struct
from msgspec.structs import replace

from hacheck.api.comparison import Comparison, compared_with
from hacheck.api.trace_comparison import stamp_skew_ms
from hacheck.model.language import load
from hacheck.traces.adapters import adapter_files
from hacheck.traces.adapters.logs import open_logs
from hacheck.traces.conformance.verdicts import Verdict, from_batch
from hacheck.traces.drivers.local import Options, check_locally
from hacheck.traces.drivers.log_verdicts import LogVerdicts
from hacheck.traces.findings import Findings

ROOT = Path(__file__).resolve().parents[1]
STAMP = re.compile(r"^(?:-- \S+ \S+ |\S+ )")
Lines = list[str]
Places = set[tuple[str, int]]


class Kind(Struct, frozen=True):
    """A kind of change. `files`: in which files; `pattern`: of which lines; `edit`: changes the lines from the given
    one, and returns the numbers of the lines at which that may be reported."""

    name: str
    files: str
    pattern: str
    edit: Callable[[Lines, int], set[int]]


# ---- changes ----


def entry_end(lines: Lines, at: int) -> int:
    """Where the entry that begins there ends: further lines are indented, or have no stamp."""
    end = at + 1
    while end < len(lines) and not re.match(r"-- \d|\d{4}-\d\d|t=\+|\{", lines[end]):
        end += 1
    return end


def removed(lines: Lines, at: int) -> set[int]:
    """The entry is missing."""
    del lines[at : entry_end(lines, at)]
    return {at + 1}


def doubled(lines: Lines, at: int) -> set[int]:
    """The entry is there twice."""
    end = entry_end(lines, at)
    lines[end:end] = lines[at:end]
    return {at + 1, end + 1}


def swapped(lines: Lines, at: int) -> set[int]:
    """The entry and the next one have changed places, their times have not."""
    middle = entry_end(lines, at)
    end = entry_end(lines, middle)
    first, second = lines[at:middle], lines[middle:end]
    if not second:
        return set()
    stamps = [STAMP.match(one[0])[0] for one in (first, second)]  # type: ignore[index]
    first[0], second[0] = stamps[1] + STAMP.sub("", first[0]), stamps[0] + STAMP.sub("", second[0])
    lines[at:end] = [*second, *first]
    return {at + 1, at + len(second) + 1}


def written(pattern: str, other: Callable[[re.Match[str]], str]) -> Callable[[Lines, int], set[int]]:
    """A part of the line is another one."""

    def edit(lines: Lines, at: int) -> set[int]:
        lines[at] = re.sub(pattern, other, lines[at], count=1)
        return {at + 1}

    return edit


def added(found: re.Match[str], by: int = 1) -> str:
    """A number that is larger, between what stands around it."""
    return f"{found[1]}{max(int(found[2]) + by, 0)}"


def another(found: re.Match[str]) -> str:
    """Another one of the numbers 1 and 2."""
    return f"{found[1]}{1 if found[2] != '1' else 2}"


def another_state(found: re.Match[str]) -> str:
    """Another state."""
    return f"{found[1]}{'reorganization' if found[2] != 'reorganization' else 'election'}"


def later(lines: Lines, at: int) -> set[int]:
    """A record of the time line is five seconds late, and stands where that belongs."""
    line = lines.pop(at)
    found = re.match(r"t=\+(\S+) (\S+) (\d\d:\d\d:)(\d\d)(\S+) (.*)", line, re.DOTALL)
    assert found is not None, "a line of a time line"
    since, second = float(found[1]) + 5, int(found[4]) + 5
    if second > 59:
        return set()
    place = next((at for at, one in enumerate(lines) if one.startswith("t=+") and float(one[3:11]) > since), len(lines))
    lines.insert(place, f"t=+{since:08.3f} {found[2]} {found[3]}{second:02d}{found[5]} {found[6]}")
    return {at + 1, place + 1}


def other_call(change: Callable[[dict[str, object]], None]) -> Callable[[Lines, int], set[int]]:
    """A record of a client is another one."""

    def edit(lines: Lines, at: int) -> set[int]:
        call = json.loads(lines[at])
        change(call)
        lines[at] = json.dumps(call) + "\n"
        return {at + 1}

    return edit


def read_less(call: dict[str, object]) -> None:
    """A name is missing from what a client read."""
    names = call["result"]
    assert isinstance(names, list)
    call["result"] = names[1:]


def removals(files: str, named: dict[str, str]) -> list[Kind]:
    """Kinds in which an entry is missing, by what it is called."""
    return [Kind(f"{name} removed", files, pattern, removed) for name, pattern in named.items()]


# ---- kinds ----

REPLICA = "replica-*.log"
STATE, COMMENCED, READY = "transition from", "replication commencing", "reporting for duty .* with coordinator"
OPERATED = [
    Kind("kill removed", "timeline.txt", "kill -9", removed),
    Kind("kill of another", "timeline.txt", "kill -9", written(r"(kill -9 \w+[ -])(\d)", another)),
    Kind("kill 5 s late", "timeline.txt", "kill -9", later),
    Kind("launch removed", "timeline.txt", r"start \w+[ -]\d", removed),
    Kind("order to end removed", "timeline.txt", "kill -TERM", removed),
]
ICESTORM = [
    *removals(
        REPLICA,
        {
            "start": "I am node",
            "own group": "creating new self-coordinated group",
            "state": STATE,
            "invitation received": r"invitation from \d",
            "invitation sent": "inviting node",
            "acceptance": "accept \\d+ forward",
            "count": r"coordinator for \d+ nodes",
            "stamp of a member": r"node id=\d+ llu",
            "latest database": "I have the latest",
            "sync": "syncing database",
            "database taken": "TopicManager: init",
            "commencing": COMMENCED,
            "ready": READY,
            "loss of the coordinator": "lost connection to coordinator",
            "creation": "creating new topic",
            "loaded topic": "loading topic",
        },
    ),
    *(
        Kind(f"{name} doubled", REPLICA, pattern, doubled)
        for name, pattern in {
            "state": STATE,
            "commencing": COMMENCED,
            "ready": READY,
            "creation": "creating new topic",
            "acceptance": r"accept \d+ forward",
            "stamp of a member": r"node id=\d+ llu",
        }.items()
    ),
    Kind("state swapped", REPLICA, STATE, swapped),
    Kind("acceptance swapped", REPLICA, r"accept \d+ forward", swapped),
    Kind("ready swapped", REPLICA, READY, swapped),
    Kind("old state", REPLICA, STATE, written(r"(from )(\w+)", another_state)),
    Kind("new state", REPLICA, STATE, written(r"( to )(\w+)", another_state)),
    Kind("generation 1 later", REPLICA, COMMENCED, written(r"(generation: )(\d+)", added)),
    Kind("generation 1 earlier", REPLICA, COMMENCED, written(r"(generation: )(\d+)", partial(added, by=-1))),
    Kind("accepted stamp", REPLICA, r"accept \d+ forward", written(r"(llu )(\d+)", added)),
    Kind("stamp of a member", REPLICA, r"node id=\d+ llu", written(r"(llu=)(\d+)", added)),
    Kind("size of a group", REPLICA, "group size", written(r"(group size )(\d+)", added)),
    Kind("count", REPLICA, r"coordinator for \d+ nodes", written(r"(coordinator for )(\d+)", added)),
    Kind("accepted node", REPLICA, r"accept \d+ forward", written(r"(accept )(\d+)", another)),
    Kind(
        "group of an invitation",
        REPLICA,
        r"invitation from \d",
        written(r"(group \d+:)\w{4}()", lambda m: m[1] + "AAAA"),
    ),
    Kind("coordinator of ready", REPLICA, READY, written(r"(with coordinator )(\d+)", another)),
    Kind("failed call", REPLICA, r"call on node \d", written(r"(call on node )(\d+)", another)),
    Kind("topic created", REPLICA, "creating new topic", written(r'topic "(\w+)"()', lambda m: 'topic "Z"')),
    Kind("topic loaded", REPLICA, "loading topic", written(r'topic "(\w+)"()', lambda m: 'topic "Z"')),
    Kind("topic pushed", REPLICA, "TopicManager: init topic", written(r" topic: \S+ subscribers: ()", lambda m: "")),
    *OPERATED,
    Kind(
        "acknowledged, and nowhere",
        "client.jsonl",
        '"create"',
        other_call(lambda call: call.update(arg="NEVER", outcome="ok")),
    ),
    Kind("read lacks a topic", "client.jsonl", r'"result": \["', other_call(read_less)),
]
LOG = "server-*/log/artemis.log"
CODES = {
    "started": 221001,
    "stopped": 221002,
    "active": 221007,
    "in sync": 221024,
    "backup announced": 221031,
    "becoming active": 221037,
    "failback": 221039,
    "vote": 221066,
    "vote result": 221071,
    "votes requested": 221084,
    "backup started": 221109,
    "replica gone": 222092,
    "rival": 222294,
}
ARTEMIS = [
    *removals(LOG, {name: f"AMQ{code}:" for name, code in CODES.items()}),
    *(
        Kind(f"{name} doubled", LOG, f"AMQ{CODES[name]}:", doubled)
        for name in (
            "started",
            "stopped",
            "active",
            "in sync",
            "becoming active",
            "vote result",
            "backup started",
            "rival",
        )
    ),
    *(
        Kind(f"{name} swapped", LOG, f"AMQ{CODES[name]}:", swapped)
        for name in ("active", "in sync", "vote", "vote result", "becoming active")
    ),
    *(
        Kind(f"{old} for {new}", LOG, f"AMQ{old}:", written(f"(AMQ){old}", lambda m, new=new: f"{m[1]}{new}"))  # type: ignore[misc]
        for old, new in (
            (221071, 221070),
            (221024, 221031),
            (221007, 221109),
            (221002, 221001),
            (221037, 221039),
            (222092, 222207),
        )
    ),
    *OPERATED,
    Kind("pause removed", "timeline.txt", "kill -STOP", removed),
    Kind("end of a pause removed", "timeline.txt", "kill -CONT", removed),
    Kind("pause of another", "timeline.txt", "kill -STOP", written(r"(kill -STOP \w+[ -])(\d)", another)),
    Kind(
        "acknowledged, and nowhere", "client.jsonl", '"send".*"ok"', other_call(lambda call: call.update(arg="NEVER"))
    ),
    Kind("read lacks a message", "client.jsonl", r'"result": \["', other_call(read_less)),
]


class System(Struct, frozen=True):
    """A spec, its check, the adapter of its logs, recordings, and the kinds of change."""

    check: str
    adapter: str
    recordings: tuple[str, ...]
    kinds: tuple[Kind, ...]


SYSTEMS = {
    "icestorm": System(
        "as_released",
        "icestorm",
        (
            "tests/data/icestorm/a-cold-start-3",
            "tests/data/icestorm/c-kill-coordinator",
            "tests/data/icestorm/e-lose-majority",
        ),
        tuple(ICESTORM),
    ),
    "artemis_replication": System(
        "default",
        "artemis",
        (
            "tests/data/artemis/replication-crash_and_failback",
            "tests/data/artemis/replication-pause",
            "tests/data/artemis/replication-split_brain",
        ),
        tuple(ARTEMIS),
    ),
}


def changed(kind: Kind, recording: Path, target: Path) -> Places:
    """Makes a copy of a recording with one change. Returns where that may be reported; nothing where it has no such
    line, and then there is no copy."""
    places = []
    for file in sorted(recording.glob(kind.files)):
        lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
        places += [(file, at) for at, line in enumerate(lines) if re.search(kind.pattern, line)]
    if not places:
        return set()
    file, at = places[len(places) // 2]
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    numbers = kind.edit(lines, at)
    if not numbers:
        return set()
    shutil.copytree(recording, target)
    (target / file.relative_to(recording)).write_text("".join(lines), encoding="utf-8")
    return {(f"{target.name}/{file.relative_to(recording)}", number) for number in numbers}


class Found(Struct, frozen=True):
    """What was found of the changed recordings, by their folders: verdicts, what is violated in the recording as it is,
    and the places of findings."""

    verdicts: dict[str, Verdict]
    findings: dict[str, tuple[str, int]]


def compared(system: System, spec: str, folder: Path) -> Found:
    """Compares all recordings in a folder."""
    specification = load(
        (ROOT / "spec" / f"{spec}.ha").read_text(encoding="utf-8"), str(ROOT / "spec" / f"{spec}.ha"), library
    ).specification
    assert specification is not None, "the spec means something"
    instance = specification.instantiate({}, system.check, logs=True)
    assert instance.system is not None, "the check makes a system"
    dataset = open_logs(folder, adapter_files.load(system.adapter))
    wanted = compared_with(Comparison(system.check, {}, False, frozenset(), {}, {}), specification, instance.system)
    base = wanted.base(
        dataset.schema.order, skew_ms=10 + stamp_skew_ms(dataset), capacity=16_000, any_start=0, quick=True
    )
    findings = Findings()
    outcome = check_locally(
        dataset,
        wanted.checker(replace(base, explained_max=10_000)),
        findings,
        collect=True,
        options=Options(workers=1, here=True),
        completed=LogVerdicts(dataset, base.skew_ns),
    )
    places = {name: (one.file or "", one.line or 0) for name, one in findings.damaged.items()}
    return Found({one.trace_id: one for batch in outcome.verdicts for one in from_batch(batch)}, places)


def library(name: str) -> str | None:
    """The text of a library by its path."""
    place = Path(name)
    return place.read_text(encoding="utf-8") if place.is_file() else None


def cell(name: str, places: Places, found: Found, before: Verdict, judged: str) -> tuple[str, str]:
    """What a cell says, and which of `line`, `elsewhere`, `run`, `open` it is."""
    verdict = found.verdicts.get(name)
    named = [found.findings[name]] if name in found.findings else []
    if verdict is None:
        return "nothing is read", "open"
    new = [
        one
        for one in verdict.broken
        if (one.invariant, one.detail) not in {(b.invariant, b.detail) for b in before.broken}
    ]
    if verdict.kind == "deviates" or new or named:
        told = {*named, *([(verdict.file, verdict.line or 0)] if verdict.kind == "deviates" else [])}
        told |= {(place.file, place.line or 0) for one in new for place in (one.start, *one.since) if place is not None}
        gap = verdict.repair == "missing line" and verdict.repair_records > 0
        word = "possible" if new and verdict.kind != "deviates" and not any(one.sure for one in new) else "found"
        near = {(file, number + step) for file, number in places for step in (0, 1)}
        if told & near or gap:
            return ("at the line" if word == "found" else "possible, at the line"), "line"
        file, number = min(told) if told else ("?", 0)
        return f"{word} elsewhere: {file.partition('/')[2]}:{number}", "elsewhere"
    if verdict.kind == "unknown":
        return f"undecided: {verdict.reason}", "open"
    return ("a run", "run") if judged else ("NOT JUDGED", "open")


def main() -> int:
    """Prints a row for each kind of change."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("system", nargs="?", default="icestorm", choices=sorted(SYSTEMS))
    parser.add_argument("--only", default="", help="kinds whose name has this in it")
    parser.add_argument("--markdown", action="store_true", help="a table for docs")
    given = parser.parse_args()
    system = SYSTEMS[given.system]
    reasons = tomllib.loads((Path(__file__).parent / "mutated_recordings.toml").read_text(encoding="utf-8"))
    judged = reasons.get(given.system, {})
    recordings = [ROOT / place for place in system.recordings]
    kinds = [kind for kind in system.kinds if given.only in kind.name]
    with TemporaryDirectory() as place:
        made: dict[str, Places] = {}
        for number, kind in enumerate(kinds):
            for recording in recordings:
                name = f"{number:02d}-{recording.name}"
                places = changed(kind, recording, Path(place) / name)
                made |= {name: places} if places else {}
        for recording in recordings:
            shutil.copytree(recording, Path(place) / recording.name)
        found = compared(system, given.system, Path(place))
    return shown(given.markdown, kinds, recordings, made, found, judged)


def shown(
    markdown: bool,
    kinds: list[Kind],
    recordings: list[Path],
    made: dict[str, Places],
    found: Found,
    judged: dict[str, dict[str, str]],
) -> int:
    """Prints the table and how many are what. Returns the exit code."""
    row = (lambda cells: f"| {' | '.join(cells)} |") if markdown else "\t".join
    names = [recording.name for recording in recordings]
    if not markdown:
        print(machine())
    print(row(["change", *names, "why it is a run"]))
    if markdown:
        print(row(["---"] * (2 + len(names))))
    counts = dict.fromkeys(("line", "elsewhere", "run", "open"), 0)
    for number, kind in enumerate(kinds):
        cells, reasons = [], []
        for name in names:
            places = made.get(f"{number:02d}-{name}")
            if places is None:
                cells.append("-")
                continue
            reason = judged.get(kind.name, {}).get(name, judged.get(kind.name, {}).get("all", ""))
            said, what = cell(f"{number:02d}-{name}", places, found, found.verdicts[name], reason)
            cells.append(said)
            reasons += [reason] if what == "run" else []
            counts[what] += 1
        print(row([kind.name, *cells, "; ".join(dict.fromkeys(reasons))]), flush=True)
    noticed = counts["line"] + counts["elsewhere"]
    share = 100 * counts["line"] / max(noticed, 1)
    said = f"{sum(counts.values())} changed recordings: {noticed} found, of these {counts['line']} at the line"
    print(f"{said} ({share:.0f} %); {counts['run']} are runs; {counts['open']} not judged", file=sys.stderr)
    return 1 if counts["open"] else 0


if __name__ == "__main__":
    sys.exit(main())
