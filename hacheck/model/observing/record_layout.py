"""What records look like to a system that reads them: events, columns, streams."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from msgspec import Struct

from hacheck.model import ir
from hacheck.model.observing.line_writers import lines_of
from hacheck.model.types import Identity, Map, Node, Option, Range, Set, Type, cardinality, default
from hacheck.model.typing import type_of

NAME_MAX = 2**31 - 1
"""The greatest number of a name in a log."""

NOT_SHOWN, NONE_NAME, FIRST_NAME = 0, 1, 2
"""The numbers of names in records: it shows none; it shows that there is no value; names."""

FIRST_EVENT = 1
"""The number of the first event in the `event` of a record, where 0 says that there is none."""

PLACES_MAX = 8
"""How many records a step looks ahead in a stream at most."""

SET_MEMBERS_MAX = 62
"""A set that a line shows has no more possible members: it is a number in a record."""

NAMED_VALUES_MAX = 1_024
"""A type whose values have names in a log has no more of them: which has which name is part of a state."""

PREFIX = "log."
"""What the names of all variables added here begin with."""


class ObservingError(Exception):
    """The lines of a system cannot be compared with records; says why."""


class Field(Struct, frozen=True):
    """What a line shows: of which type as records have it, or a name; and in which column of a record.

    `optional`: an option of a number, whose `type` has one number more below its own, for nothing.
    """

    name: str
    type: Type
    by_name: bool
    optional: bool
    column: int


class Event(Struct, frozen=True):
    """A line that the system may write, with all fields that one of these lines shows. `written`: not where the spec
    has it under other settings only; then no step explains a record of it."""

    name: str
    fields: tuple[Field, ...]
    written: bool = True


class Column(Struct, frozen=True):
    """A column of records, shared by the fields of several events. `type`: as a variable of the system holds it;
    `None` in it stands for a value that is not shown, but a name is `NOT_SHOWN` then."""

    type: Type
    by_name: bool


class Observed(Struct, frozen=True):
    """A system that reads records.

    - `events`: the number of an event in a record is its place here, more `FIRST_EVENT`; `end` is one more number.
    - `writers`: who writes lines: a kind of node and an id, in order; nobody's lines come last, as `None`.
    - `merged`: there is one stream, in which each record says its writer (its place in `writers`, more 1; 0: not said);
      else each writer has a stream, in the order of `writers`.
    - `places`: how many records of a stream a step may read.
    - `pools`: the types whose values have names.
    """

    system: ir.System
    events: tuple[Event, ...]
    columns: tuple[Column, ...]
    writers: tuple[tuple[str, int] | None, ...]
    merged: bool
    places: int
    pools: tuple[Type, ...]

    @property
    def end(self) -> int:
        """The number of an event that is any: what is read behind the end of a log."""
        return FIRST_EVENT + len(self.events)

    @property
    def streams(self) -> int:
        """How many streams there are."""
        return 1 if self.merged else len(self.writers)

    def record_variables(self, stream: int, place: int) -> tuple[str, ...]:
        """The variables of a record: event, writer, columns."""
        head = f"{PREFIX}{stream}.{place}."
        return (f"{head}event", f"{head}writer", *(f"{head}{number}" for number in range(len(self.columns))))

    def taken_variable(self, stream: int) -> str:
        """The variable that counts the records of a stream that the last step took."""
        return f"{PREFIX}{stream}.taken"


def events_of(system: ir.System) -> tuple[tuple[Event, ...], tuple[Column, ...]]:
    """The events that a system's steps write, and others of its spec; the columns that their records need. Errors:
    `ObservingError`."""
    found: dict[str, dict[str, list[ir.Shown]]] = {}
    for action in system.actions:
        for line in lines_of(action):
            fields = found.setdefault(line.event, {})
            for shown in line.fields:
                fields.setdefault(shown.name, []).append(shown)
    columns: list[Column] = []
    events = []
    for name, fields in found.items():
        taken: set[int] = set()
        listed = []
        for field, showing in fields.items():
            kind, by_name, optional = _field_type(name, showing)
            place = _column_for(columns, taken, kind, by_name)
            taken.add(place)
            listed.append(Field(field, kind, by_name, optional, place))
        events.append(Event(name, tuple(listed)))
    events += [Event(name, (), written=False) for name in system.events if name not in found]
    return tuple(events), tuple(columns)


def _field_type(event: str, lines: Sequence[ir.Shown]) -> tuple[Type, bool, bool]:
    """The type of what records have for a field, whether it is a name, and whether it is an option of a number. For an
    option it is a set of one or none, but a number below all others for an option of a number. Errors: `ObservingError`
    where a set has too many members, or lines show different things."""
    first = lines[0]
    kinds = [type_of(one.value) for one in lines]
    if any(one.by_name != first.by_name for one in lines):
        raise ObservingError(f"`{first.name}` of `{event}` is a name in some places only")
    if first.by_name:
        return Range(0, NAME_MAX), True, False
    optional = any(is_optional_number(kind) for kind in kinds)
    if optional:
        kinds = [kind.element if isinstance(kind, Option) else kind for kind in kinds]
    kind = _plain(kinds[0])
    for other in kinds[1:]:
        kind = _joined(event, first, kind, _plain(other))
    if optional:
        assert isinstance(kind, Range), "numbers go together with numbers"
        kind = Range(kind.low - 1, kind.high)
    if isinstance(kind, Set) and cardinality(kind.element) > SET_MEMBERS_MAX:
        raise ObservingError(f"`{first.name}` shows a set of more than {SET_MEMBERS_MAX} possible members")
    return kind, False, optional


def _plain(kind: Type) -> Type:
    return Set(kind.element) if isinstance(kind, Option) else kind


def is_optional_number(kind: Type) -> bool:
    """Whether it is an option of a number."""
    return isinstance(kind, Option) and isinstance(kind.element, Range)


def _joined(event: str, shown: ir.Shown, left: Type, right: Type) -> Type:
    if isinstance(left, Range) and isinstance(right, Range):
        return Range(min(left.low, right.low), max(left.high, right.high))
    if isinstance(left, Set) and isinstance(right, Set):
        return Set(_joined(event, shown, left.element, right.element))
    if left != right:
        raise ObservingError(f"`{shown.name}` of `{event}` is of different types in different places")
    return left


def _column_for(columns: list[Column], taken: set[int], kind: Type, by_name: bool) -> int:
    """A column for a field that none of the same event has; numbers share columns that are wide enough for all."""
    for place, column in enumerate(columns):
        if place in taken or column.by_name != by_name:
            continue
        assert isinstance(column.type, Option) or by_name, "what may be missing is an option"
        held = column.type.element if isinstance(column.type, Option) else column.type
        if held == kind:
            return place
        if isinstance(held, Range) and isinstance(kind, Range):
            wide = Range(min(held.low, kind.low), max(held.high, kind.high))
            columns[place] = Column(Option(wide), by_name)
            return place
    columns.append(Column(kind if by_name else Option(kind), by_name))
    return len(columns) - 1


def record_variables(shape: Observed) -> Iterator[ir.StateVariable]:
    """The variables by which a system reads records."""

    def variable(name: str, kind: Type) -> ir.StateVariable:
        return ir.StateVariable(name, kind, default(kind), None, "view")

    for pool in shape.pools:
        yield variable(names_of(pool), Map(pool, Range(0, NAME_MAX)))
    for stream in range(shape.streams):
        yield variable(shape.taken_variable(stream), Range(0, shape.places))
    for stream, place in product(range(shape.streams), range(shape.places)):
        event, writer, *columns = shape.record_variables(stream, place)
        yield variable(event, Range(0, shape.end))
        yield variable(writer, Range(0, len(shape.writers) if shape.merged else 0))
        for name, column in zip(columns, shape.columns, strict=True):
            yield variable(name, column.type)


def names_of(pool: Type) -> str:
    """The variable that says which name each value of a type has in the log."""
    label = pool.name if isinstance(pool, Identity | Node) else repr(pool)
    return f"{PREFIX}names.{label}"
