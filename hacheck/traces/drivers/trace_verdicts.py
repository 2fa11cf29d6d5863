"""Sorted records: validates them, hands the good ones to the checker, and lets no damaged trace pass as a whole one.

This runs at the end of every driver, in the process that has the traces.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from msgspec.structs import replace

from hacheck.traces.conformance.verdicts import SCHEMA, Verdict, from_batch, to_batch
from hacheck.traces.drivers.columns import Columns
from hacheck.traces.drivers.contract import ConformanceChecker
from hacheck.traces.drivers.verdict_table import counted
from hacheck.traces.findings import Finding, Findings
from hacheck.traces.record_checks import Checker, Expected
from hacheck.traces.records import EVENT

ROWS_MAX = 10_000
"""So many verdicts of damaged traces are put into one batch."""


class Task(Struct, frozen=True):
    """What every process of a driver must know: the checker, what is read, what records are held to, how files are
    called in findings."""

    checker: ConformanceChecker
    columns: Columns
    expected: Expected
    files: tuple[str, ...]


def verdicts_of(
    task: Task,
    batches: Iterator[Any],
    findings: Findings,
    events: Counter[str] | None,
    report: Callable[[], bool] = lambda: True,
) -> Iterator[Any]:
    """Batches of verdicts of whole traces.

        `batches`: with the columns of `Columns.located`, sorted by (trace_id, seq), then by place. `findings`: takes
        what is wrong; what it knows of damage already counts. `events`: the good records of each event are added to it.
    `report` is called some times a second and says whether to go on; if not, no verdicts come any more. A trace of
        which no good record is left has a verdict, too.
    """
    checker = Checker(list(task.files), task.expected, findings)
    wanted = list(task.columns.for_checker)

    def good() -> Iterator[Any]:
        for batch in batches:
            kept = checker.checked(batch) if batch.num_rows else batch
            if kept.num_rows:
                if events is not None:
                    events.update(counted(kept.column(EVENT)))
                yield kept.select(wanted)

    seen: set[str] = set()
    for verdicts in task.checker.check(good(), report):
        yield with_damage(verdicts, findings, seen)
    silent = [name for name in findings.damaged if name not in seen]
    for start in range(0, len(silent), ROWS_MAX):
        yield to_batch([_without_records(name, findings) for name in silent[start : start + ROWS_MAX]])


def with_damage(verdicts: Any, findings: Findings, seen: set[str]) -> Any:
    """The verdicts with those of damaged traces put right: nobody can know what became of a part of a trace.

    Adds the damaged traces that are among them to `seen`.
    """
    assert verdicts.schema.equals(SCHEMA), "a checker gives batches of the table of verdicts"
    damaged = findings.damaged
    if not damaged:
        return verdicts
    ids = verdicts.column("trace_id")
    among = pc.is_in(ids, value_set=pa.array(list(damaged), pa.string()))
    if not pc.any(among).as_py():
        return verdicts
    seen.update(ids.filter(among).to_pylist())
    return to_batch([put_right(verdict, damaged.get(verdict.trace_id)) for verdict in from_batch(verdicts)])


def put_right(verdict: Verdict, damage: Finding | None) -> Verdict:
    """The verdict of a trace that may be damaged: `unknown`, with what is wrong and what was said of the rest."""
    if damage is None:
        return verdict
    reason = f"the trace is damaged: {damage.message} ({damage.place})"
    if verdict.kind != "conforms":
        rest = f": {verdict.reason}" if verdict.reason else ""
        kind = "deviates" if verdict.kind == "deviates" else "is undecided"
        reason = f"{reason}; what is left of it {kind}{rest}"
    late = tuple(replace(one, sure=False) for one in verdict.late)  # a record that is gone may have mended it
    return replace(verdict, kind="unknown", reason=reason, late=late)


def _without_records(trace_id: str, findings: Findings) -> Verdict:
    return put_right(Verdict(trace_id, "conforms", 0, 0), findings.damaged[trace_id])
