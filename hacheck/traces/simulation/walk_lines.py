"""The lines that walks wrote, as columns of numbers: from the instances of the steps, or from what states say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from hacheck.model import ir
from hacheck.model.evaluation import Scope, evaluate
from hacheck.model.observing.line_writers import lines_of
from hacheck.model.observing.record_layout import ObservingError
from hacheck.model.rewrite import walk
from hacheck.model.types import Set, Value, cardinality, ordinal
from hacheck.traces.simulation.line_variables import Column, Point, points_of, pool_of
from hacheck.traces.simulation.random_walk import Walked

ELEMENTS_MAX = 62
"""How many elements may be in a set that a line shows: it is one number here."""


class Lines(Struct, frozen=True):
    """Lines one after another, those of a trace together. Every part has one entry for each line, all of them int64.

    - `trace`: the number of the walk among those taken together, from 0; `step`: that of its step, from 0;
    - `number`: which line of its trace it is, from 1;
    - `point`, `writer`: as `LineWritingSystem` has them, 0 for nobody;
    - `shown`: for each column the ordinal in its type, 0 where the line does not show it.
    """

    trace: Any
    step: Any
    number: Any
    point: Any
    writer: Any
    shown: tuple[Any, ...]

    def taken(self, places: Any) -> Lines:
        """Some of the lines, in the order of their places."""
        return Lines(
            self.trace[places],
            self.step[places],
            self.number[places],
            self.point[places],
            self.writer[places],
            tuple(column[places] for column in self.shown),
        )


class Table(Struct, frozen=True):
    """The lines of each instance, where they depend on nothing else. `count`: how many it writes; `first`: where they
    begin in `rows`, of which each is a point, a writer and the columns."""

    count: Any
    first: Any
    rows: Any


def refuse_large_sets(columns: Sequence[Column]) -> None:
    """Errors: `ObservingError` for what is too large to be one number."""
    for column in columns:
        if isinstance(column.type, Set) and cardinality(column.type.element) > ELEMENTS_MAX:
            raise ObservingError(f"a line shows a set that may have more than {ELEMENTS_MAX} elements")


def is_fixed(system: ir.System) -> bool:
    """Whether every line of the system depends on nothing but its step and the arguments of that."""
    return all(_is_fixed(action) for action in system.actions)


def _is_fixed(action: ir.Action) -> bool:
    known = {name for name, _ in action.parameters}
    outside = [statement for statement in action.body if isinstance(statement, ir.Log)]
    if len(outside) != sum(1 for _ in lines_of(action)):
        return False
    if any(isinstance(part, ir.Let | ir.Choose) and part.name in known for one in action.body for part in walk(one)):
        return False
    for line in outside:
        values = [shown.value for shown in line.fields]
        for part in (part for value in (*values, line.node or ir.TRUE) for part in walk(value)):
            if not isinstance(part, ir.Constant | ir.Local) or (isinstance(part, ir.Local) and part.name not in known):
                return False
        if any(pool_of(part.type) is not None for part in values if isinstance(part, ir.Constant | ir.Local)):
            return False
    return True


def table_of(system: ir.System, instances: Sequence[tuple[int, tuple[Value, ...]]]) -> Table:
    """What each instance of a system writes whose lines are fixed."""
    numbers, points, columns = points_of(system)
    count, first = [], []
    rows: list[list[int]] = []
    for index, arguments in instances:
        action = system.actions[index]
        scope = Scope({}, ())
        for (name, kind), argument in zip(action.parameters, arguments, strict=True):
            scope = scope.bind(name, kind, argument)
        first.append(len(rows))
        for line in lines_of(action):
            row = [numbers[line], 0 if line.node is None else evaluate(line.node, scope), *([0] * len(columns))]
            for field, shown in zip(points[numbers[line]].fields, line.fields, strict=True):
                row[2 + field.column] = ordinal(columns[field.column].type, evaluate(shown.value, scope))
            rows.append(row)
        count.append(len(rows) - first[-1])
    table = np.array(rows, np.int64).reshape(len(rows), 2 + len(columns))
    return Table(np.array(count, np.int64), np.array(first, np.int64), np.ascontiguousarray(table.T))


def lines(walked: Walked, points: Sequence[Point], columns: Sequence[Column], table: Table | None) -> Lines:
    """The lines of some walks. `table`: where their states do not say them."""
    if table is not None:
        counts = table.count[walked.by]
    else:
        assert walked.written is not None, "states have lines where no table does"
        counts = walked.written.astype(np.int64)
    trace_of_step = np.repeat(np.arange(len(walked.lengths)), walked.lengths)
    starts = np.cumsum(walked.lengths) - walked.lengths
    step_of = np.arange(len(walked.by)) - np.repeat(starts, walked.lengths)
    one_each = bool((counts == 1).all())
    by_line = slice(None) if one_each else np.repeat(np.arange(len(counts)), counts)
    trace = trace_of_step[by_line]
    if table is not None:
        place = table.first[walked.by][by_line] + (0 if one_each else _within(counts))
        point, writer, *shown = (row[place] for row in table.rows)
    else:
        assert walked.content is not None, "what is written has a content"
        point, writer, *shown = walked.content
        shown = _only_shown(point, shown, points)
    found = Lines(trace, step_of[by_line], trace, point, writer, tuple(shown))
    return replace(found, number=_within(np.bincount(trace, minlength=len(walked.lengths))) + 1)


def _within(counts: Any) -> Any:
    """0, 1, … for each count, one after another."""
    ends = np.cumsum(counts)
    return np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - counts, counts)


def _only_shown(point: Any, shown: Sequence[Any], points: Sequence[Point]) -> list[Any]:
    """Columns with 0 where a line does not show them: states keep what an earlier line has left there."""
    used = np.zeros((len(shown), max(len(points), 1)), np.int64)
    for number, one in enumerate(points):
        for field in one.fields:
            used[field.column, number] = 1
    return [column * used[place][point] for place, column in enumerate(shown)]
