"""Logs for tests, judged with a shipped spec: as they are, and with lines of them changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from hacheck.model.observing.line_writers import logged
from hacheck.traces.adapters.adapter_files import load
from hacheck.traces.adapters.logs import open_logs
from hacheck.traces.conformance.trace_checker import TraceChecker
from hacheck.traces.conformance.verdicts import Verdict, from_batch
from hacheck.traces.findings import Findings
from hacheck.traces.record_checks import checked_batches
from hacheck.traces.records import Order
from tests.seeds.driving import specification

SKEW_NS = 10_000_000

Logs = Mapping[str, Sequence[str]]  # the lines of each file, by its path below the folder of the trace


@cache
def checker(spec: str, settings: tuple[tuple[str, str], ...] = ()) -> TraceChecker:
    """What judges logs of one file for each node. Cost: seconds, the first time."""
    instance = specification(spec).instantiate(dict(settings), "default", logs=True)
    assert instance.system is not None, instance.diagnostics
    return TraceChecker(logged(instance.system), Order.PER_NODE, skew_ns=SKEW_NS, explained_max=0)


def written(folder: Path, logs: Logs) -> None:
    """Writes the logs of a trace."""
    for name, lines in logs.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("".join(line + "\n" for line in lines), encoding="utf-8")


def verdicts(spec: str, adapter: str, folder: Path, settings: tuple[tuple[str, str], ...] = ()) -> dict[str, Verdict]:
    """The verdicts on a folder of traces, by trace; nothing may be wrong with the logs themselves."""
    dataset, findings = open_logs(folder, load(adapter), None), Findings()
    batches = checker(spec, settings).check(checked_batches(dataset, findings))
    found = {one.trace_id: one for batch in batches for one in from_batch(batch)}
    assert not findings.first
    return found


def without(logs: Logs, name: str, part: str) -> dict[str, list[str]]:
    """The logs without the first line of a file that has these words in it."""
    lines = list(logs[name])
    del lines[place_of(lines, part)]
    return {**{key: list(value) for key, value in logs.items()}, name: lines}


def changed(logs: Logs, name: str, old: str, new: str) -> dict[str, list[str]]:
    """The logs with other words in the first line of a file that has these in it."""
    lines = list(logs[name])
    place = place_of(lines, old)
    lines[place] = lines[place].replace(old, new)
    return {**{key: list(value) for key, value in logs.items()}, name: lines}


def swapped(logs: Logs, name: str, first: str, second: str, head: int) -> dict[str, list[str]]:
    """The logs with two lines of a file exchanged, behind their first `head` characters, which tell the time."""
    lines = list(logs[name])
    one, other = place_of(lines, first), place_of(lines, second)
    assert one != other
    lines[one], lines[other] = lines[one][:head] + lines[other][head:], lines[other][:head] + lines[one][head:]
    return {**{key: list(value) for key, value in logs.items()}, name: lines}


def place_of(lines: Sequence[str], part: str) -> int:
    """Where the first line with these words is."""
    return next(place for place, line in enumerate(lines) if part in line)
