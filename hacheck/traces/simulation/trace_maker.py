"""Traces made: walks taken, their lines rendered as records, damaged where the caller wants that, and the truth about
them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from msgspec import Struct

from hacheck.compile import ObjectCache
from hacheck.model.interpreter import call
from hacheck.traces.records import EVENT, FIELDS, NODE, SEQ, TIME, TRACE_ID
from hacheck.traces.simulation import random_numbers
from hacheck.traces.simulation.damage import Damaged, Done, damaged
from hacheck.traces.simulation.plan import NANOSECONDS, Plan, shape_of
from hacheck.traces.simulation.random_walk import Walked, walker
from hacheck.traces.simulation.record_values import LineColumns, Names, chosen
from hacheck.traces.simulation.times import clocks, line_times, step_times
from hacheck.traces.simulation.walk_lines import Lines, lines, table_of

DAMAGE = pa.schema(
    [
        pa.field(TRACE_ID, pa.string(), nullable=False),
        pa.field("kind", pa.string(), nullable=False),
        pa.field(SEQ, pa.int64(), nullable=False),
        pa.field("line", pa.int64(), nullable=False),
        pa.field("other_seq", pa.int64()),
        pa.field("field", pa.string()),
        pa.field("before", pa.string()),
        pa.field("after", pa.string()),
    ]
)
"""What was done to traces, as `docs/traces.md` says it."""


class Made(Struct, frozen=True):
    """Some traces. `records`: as the schema has them; `steps`, `clocks`, `damage`: the truth about them, tables each.

    `ended`: how many of them ended before their last step, since nothing more was possible.
    """

    traces: int
    ended: int
    records: Any
    steps: Any
    clocks: Any | None
    damage: Any


class Maker:
    """Makes the traces of a plan. Errors: `NoStart`, `ObservingError`, `CompilerError`."""

    def __init__(self, plan: Plan, cache: ObjectCache | None = None) -> None:
        self.plan, self.shape = plan, shape_of(plan)
        system = plan.system if self.shape.lines is None else self.shape.lines.system
        self.walker = walker(system, self.shape.lines, plan.seed, plan.steps, min(plan.chunk, plan.traces), cache)
        self.table = table_of(plan.system, self.walker.instances) if self.shape.lines is None else None
        names = Names(random_numbers.key(plan.seed, random_numbers.NAME))
        self.line_columns = LineColumns(self.shape.shown, self.shape.columns, self.shape.forms, names)
        self.calls = [call(plan.system, action, arguments) for action, arguments in self.walker.instances]
        self.hidden = np.array([point.event in plan.hidden for point in self.shape.points])

    def make(self, first: int, count: int) -> Made:
        """The traces with these numbers: as many as a chunk has at most."""
        plan = self.plan
        walked = self.walker.walk(first, count)
        found = lines(walked, self.shape.points, self.shape.columns, self.table)
        steps = step_times(walked, plan.seed, first)
        times = line_times(walked, found, steps)
        ids = self.ids(first, count)
        truth = self.steps_table(walked, found, steps, ids)
        if self.hidden.any():
            seen = np.flatnonzero(~self.hidden[found.point])
            found, times = found.taken(seen), times[seen]
        ahead, found, times = self.skewed(found, times, first, count, ids)
        wrong = damaged(found, times, first, count, self.shape.shown, self.shape.columns, plan.damage)
        ended = int((walked.lengths < plan.steps).sum())
        records = self.records(wrong, first, count, ids)
        return Made(count, ended, records, truth, ahead, self.damage_table(wrong, found, ids))

    def ids(self, first: int, count: int) -> list[str]:
        """The ids of some traces, which sort as their numbers do."""
        return [f"{self.plan.name}-{number:09d}" for number in range(first, first + count)]

    def skewed(self, found: Lines, times: Any, first: int, count: int, ids: Sequence[str]) -> tuple[Any, Lines, Any]:
        """The clocks, and lines in the order of the times that they show."""
        if self.plan.skew is None:
            return None, found, times
        places, words = self.line_columns.writers(found)
        ahead = clocks(self.plan.seed, first, count, len(words), self.plan.skew * NANOSECONDS)
        shown = times + ahead[found.trace, places]
        order = np.lexsort((shown, found.trace))
        traces = chosen(np.repeat(np.arange(count), len(words) - 1), ids)
        nodes = chosen(np.tile(np.arange(len(words) - 1), count), words[1:])
        table = pa.table({TRACE_ID: traces, NODE: nodes, "ahead": ahead[:, 1:].reshape(-1)})
        return table, found.taken(order), shown[order]

    def records(self, wrong: Damaged, first: int, count: int, ids: Sequence[str]) -> Any:
        """The records of some lines."""
        found = wrong.lines
        starts = np.searchsorted(found.trace, np.arange(count))
        columns = {
            TRACE_ID: chosen(found.trace, ids),
            NODE: self.line_columns.nodes(found),
            SEQ: pa.array(np.arange(1, len(found.trace) + 1) - starts[found.trace]),
            TIME: pa.array(wrong.times),
            EVENT: self.line_columns.events(found),
        }
        if self.shape.forms:
            columns[FIELDS] = self.line_columns.fields(found, first)
        return pa.table(columns)

    def steps_table(self, walked: Walked, found: Lines, times: Any, ids: Sequence[str]) -> Any:
        """What was really done: every step of the runs, with the lines that it wrote."""
        starts = np.cumsum(walked.lengths) - walked.lengths
        trace = np.repeat(np.arange(len(walked.lengths)), walked.lengths)
        of_line = starts[found.trace] + found.step
        written = np.bincount(of_line, minlength=len(walked.by))
        line = np.zeros(len(walked.by), np.int64)
        line[of_line[::-1]] = found.number[::-1]  # the first line of a step is written last
        return pa.table(
            {
                TRACE_ID: chosen(trace, ids),
                "step": np.arange(1, len(walked.by) + 1) - starts[trace],
                TIME: times,
                "action": chosen(walked.by, self.calls),
                "line": pa.array(line, mask=written == 0),
                "lines": written,
            }
        )

    def damage_table(self, wrong: Damaged, before: Lines, ids: Sequence[str]) -> Any:
        """What was done to the traces. `before`: the lines as they would have been written."""
        begins = np.searchsorted(wrong.lines.trace, np.arange(len(ids) + 1))

        def seq(done: Done, place: int) -> int:
            return int(np.searchsorted(wrong.places, place) - begins[done.trace]) + 1

        rows = [
            {
                TRACE_ID: ids[done.trace],
                "kind": done.kind,
                SEQ: seq(done, done.place),
                "line": int(before.number[done.place]),
                "other_seq": None if done.other is None else seq(done, done.other),
                "field": done.field,
                "before": done.before,
                "after": done.after,
            }
            for done in wrong.done
        ]
        return pa.Table.from_pylist(rows, DAMAGE)
