"""What is to be written, as data: the system, how many traces, and what is to be kept from their reader."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from hacheck.model import ir
from hacheck.model.observing.record_layout import ObservingError
from hacheck.traces.records import FieldType, Order, TraceSchema
from hacheck.traces.simulation.damage import KINDS, Damage
from hacheck.traces.simulation.line_variables import Column, LineWritingSystem, Point, line_writing_system, points_of
from hacheck.traces.simulation.record_values import field_types
from hacheck.traces.simulation.walk_lines import is_fixed, refuse_large_sets

STEPS_MAX = 10_000_000
"""Of one trace: what is done to a trace is done in memory."""

TRACES_MAX = 10**9

STEPS_TOGETHER = 2**17
"""About so many steps are taken, and written, at once."""

CHUNKS_OF_A_FILE = 16

NANOSECONDS = 1_000_000
"""Of a millisecond."""


class Plan(Struct, frozen=True):
    """What is to be written.

    - `system`: its steps write lines (`observing.lines.logged`); `name`: what trace ids begin with;
    - `steps`: of a trace at most; `hidden`: events that leave no line; `hidden_fields`: fields that no line shows, or
      no line of one event (`EVENT.FIELD`);
    - `skew`: by how many milliseconds clocks may be off, if nodes have clocks of their own;
    - `drop`, `mutate`, `kinds`: as in `damage.Damage`; `form`: `parquet` or `jsonl`;
    - `together`: about so many steps are taken at once.
    """

    system: ir.System
    name: str
    traces: int
    steps: int
    seed: int
    hidden: tuple[str, ...] = ()
    hidden_fields: tuple[str, ...] = ()
    skew: int | None = None
    drop: float = 0.0
    mutate: float = 0.0
    kinds: tuple[str, ...] = KINDS
    form: str = "parquet"
    together: int = STEPS_TOGETHER

    @property
    def chunk(self) -> int:
        """How many traces are taken at once."""
        return max(1, self.together // max(self.steps, 1))

    @property
    def traces_of_file(self) -> int:
        """How many traces a file has. It depends on nothing but `steps`, so files are the same however many write."""
        return self.chunk * CHUNKS_OF_A_FILE

    @property
    def files(self) -> int:
        """How many files there will be."""
        return -(-self.traces // self.traces_of_file)

    @property
    def damage(self) -> Damage:
        """What is to be done to traces."""
        return Damage(self.seed, self.drop, self.mutate, self.kinds, self.skew is not None)


class Shape(Struct, frozen=True):
    """What lines there are. `points`: all places that write lines; `shown`: the same with the fields that are shown;
    `lines`: the system that writes them into its states, where they depend on these."""

    points: tuple[Point, ...]
    shown: tuple[Point, ...]
    columns: tuple[Column, ...]
    lines: LineWritingSystem | None
    forms: dict[str, FieldType]

    def schema(self, skewed: bool) -> TraceSchema:
        """The schema of the records."""
        return TraceSchema(tuple(self.forms.items()), Order.PER_NODE if skewed else Order.TOTAL)


def shape_of(plan: Plan) -> Shape:
    """The lines of a plan's system. Errors: `ObservingError`."""
    _, points, columns = points_of(plan.system)
    if not points:
        raise ObservingError("no step of the system writes a line")
    refuse_large_sets(columns)
    shown = tuple(
        replace(point, fields=tuple(field for field in point.fields if not _is_hidden(point.event, field.name, plan)))
        for point in points
    )
    seen = [point for point in shown if point.event not in plan.hidden]
    made = None if is_fixed(plan.system) else line_writing_system(plan.system)
    return Shape(points, shown, columns, made, field_types(seen))


def _is_hidden(event: str, field: str, plan: Plan) -> bool:
    return field in plan.hidden_fields or f"{event}.{field}" in plan.hidden_fields


def events_in(points: Sequence[Point]) -> tuple[str, ...]:
    """All events, in the order of the text."""
    return tuple(dict.fromkeys(point.event for point in points))


def fields_in(points: Sequence[Point]) -> tuple[str, ...]:
    """All whose showing can be switched off: fields, and fields of an event."""
    both = [(field.name, f"{point.event}.{field.name}") for point in points for field in point.fields]
    return tuple(dict.fromkeys([*(name for name, _ in both), *(name for _, name in both)]))
