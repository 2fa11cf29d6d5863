"""Lines as variables: a system whose state says, after each step, which lines that step wrote.

A line stands in a few variables: the place in the text that wrote it, who did, and what it shows. So whatever takes
steps of a system writes its logs, too. Of identities a line shows names: numbers that no other identity of the run has
had before.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from hacheck.model import ir
from hacheck.model.observing.line_writers import lines_most
from hacheck.model.observing.record_layout import ObservingError
from hacheck.model.rewrite import rebuild, walk
from hacheck.model.types import Identity, Map, Node, Option, Range, Type, default
from hacheck.model.typing import type_of

NAME_MAX = 2**31 - 1
"""The greatest number of a name; 0 is none."""

PLACES_MAX = 64
"""How many lines a step writes at most."""

PREFIX = "line."
"""What the names of all variables added here begin with."""

TOO_MANY = "lines of a step"
"""The bound that a step meets which would write more."""


class Field(Struct, frozen=True):
    """What a line shows. `column`: which one has it; `named`: as a name, not as the value."""

    name: str
    type: Type
    named: bool
    column: int


class Point(Struct, frozen=True):
    """A place in the text that writes lines. `writer`: the kind of node that does, `None` for nobody."""

    event: str
    writer: Node | None
    fields: tuple[Field, ...]


class Column(Struct, frozen=True):
    """Where lines have a value: shared by the fields of all points that show one of this type.

    `serial`: it holds the number of a name, 0 for none.
    """

    type: Type
    serial: bool


class LineWritingSystem(Struct, frozen=True):
    """A system that writes lines into its state. `source`: the same without that; `places`: how many lines a step may
    write; `writers`: the greatest id of a node that writes one."""

    source: ir.System
    system: ir.System
    points: tuple[Point, ...]
    columns: tuple[Column, ...]
    places: int
    writers: int

    @property
    def count_variable(self) -> str:
        """The variable that counts the lines of the last step."""
        return f"{PREFIX}count"

    @property
    def line_variables(self) -> tuple[str, ...]:
        """The variables of lines, each a map from a line's place: its point, who wrote it, then the columns."""
        return (f"{PREFIX}point", f"{PREFIX}writer", *(f"{PREFIX}{number}" for number in range(len(self.columns))))


def points_of(system: ir.System) -> tuple[dict[ir.Log, int], tuple[Point, ...], tuple[Column, ...]]:
    """The number of each line of the text, what these lines are, and the columns they need."""
    numbers: dict[ir.Log, int] = {}
    points: list[Point] = []
    columns: list[Column] = []
    for action in system.actions:
        for statement in action.body:
            for line in walk(statement):
                if isinstance(line, ir.Log) and line not in numbers:
                    numbers[line] = len(points)
                    points.append(_point(line, columns))
    return numbers, tuple(points), tuple(columns)


def _point(line: ir.Log, columns: list[Column]) -> Point:
    writer = None if line.node is None else type_of(line.node)
    assert writer is None or isinstance(writer, Node), f"a line is written by {writer}"
    taken: set[int] = set()
    fields = []
    for shown in line.fields:
        kind = type_of(shown.value)
        place = _column_for(columns, taken, kind)
        taken.add(place)
        # The language shows identities by their names always.
        fields.append(Field(shown.name, kind, shown.by_name or pool_of(kind) is not None, place))
    return Point(line.event, writer, tuple(fields))


def _column_for(columns: list[Column], taken: set[int], kind: Type) -> int:
    """A column that no other field of the line has; numbers share those that are wide enough for all."""
    serial = pool_of(kind) is not None
    wanted = Range(0, NAME_MAX) if serial else kind
    for place, column in enumerate(columns):
        if place in taken or column.serial != serial:
            continue
        if isinstance(wanted, Range) and isinstance(column.type, Range):
            wide = Range(min(column.type.low, wanted.low), max(column.type.high, wanted.high))
            columns[place] = Column(wide, serial)
            return place
        if column.type == wanted:
            return place
    plain = Range(wanted.low, wanted.high) if isinstance(wanted, Range) else wanted
    columns.append(Column(plain, serial))
    return len(columns) - 1


def pool_of(kind: Type) -> Identity | None:
    """The identities that a type shows, if it does."""
    inner = kind.element if isinstance(kind, Option) else kind
    return inner if isinstance(inner, Identity) else None


def line_writing_system(system: ir.System) -> LineWritingSystem:
    """The system that writes its lines into its state. Errors: `ObservingError`."""
    numbers, points, columns = points_of(system)
    places = min(max((lines_most(action.body) for action in system.actions), default=0), PLACES_MAX)
    writers = max((point.writer.size for point in points if point.writer is not None), default=0)
    shape = LineWritingSystem(system, system, points, columns, max(places, 1), writers)
    pools = tuple(
        dict.fromkeys(pool for point in points for field in point.fields if (pool := pool_of(field.type)) is not None)
    )
    actions = tuple(_Action(shape, numbers, pools, action).made() for action in system.actions)
    initial = tuple(_naming_drawn(system.name, pools, statement) for statement in system.initial)
    variables = (*system.variables, *_variables(shape, pools))
    bounds = (*system.bounds, (TOO_MANY, "lines that one step writes"))
    whole = tuple(part for block in initial for part in block)
    return replace(shape, system=replace(system, variables=variables, actions=actions, initial=whole, bounds=bounds))


# ---- variables ----


def _variables(shape: LineWritingSystem, pools: tuple[Identity, ...]) -> Iterator[ir.StateVariable]:
    where = Range(0, shape.places - 1)
    point, writer, *columns = shape.line_variables
    kinds: dict[str, Type] = {
        shape.count_variable: Range(0, shape.places),
        point: Map(where, Range(0, max(len(shape.points) - 1, 0))),
        writer: Map(where, Range(0, shape.writers)),
        **{name: Map(where, column.type) for name, column in zip(columns, shape.columns, strict=True)},
    }
    for name, kind in kinds.items():
        yield ir.StateVariable(name, kind, default(kind), None, "view")
    for pool in pools:
        names, drawn = _names(pool), _drawn(pool)
        # What a run begins with has names as well, other ones than what it will draw.
        yield ir.StateVariable(names.name, names.type, tuple(range(1, pool.size + 1)), None, "view")
        yield ir.StateVariable(drawn.name, drawn.type, pool.size, None, "view")


def _names(pool: Identity) -> ir.Variable:
    """The number of the name that each identity of a pool has."""
    return ir.Variable(f"{PREFIX}names.{pool.name}", Map(pool, Range(0, NAME_MAX)))


def _drawn(pool: Identity) -> ir.Variable:
    """The number of the last name given."""
    return ir.Variable(f"{PREFIX}drawn.{pool.name}", Range(0, NAME_MAX))


# ---- actions ----


class _Action:
    """Rewrites one action."""

    def __init__(
        self, shape: LineWritingSystem, numbers: dict[ir.Log, int], pools: tuple[Identity, ...], action: ir.Action
    ) -> None:
        self.shape, self.numbers, self.pools, self.old = shape, numbers, pools, action
        self.counter = Range(0, shape.places)
        self.taken = ir.Local(f"{PREFIX}taken", self.counter)
        self.bounded = lines_most(action.body) > shape.places

    def made(self) -> ir.Action:
        """The action that writes its lines into the state."""
        count = ir.Target(ir.Variable(self.shape.count_variable, self.counter))
        zero = ir.Constant(0, self.counter)
        if not lines_most(self.old.body):
            return replace(self.old, body=(*self.block(self.old.body), ir.Assign(count, zero)))
        start = ir.Let(self.taken.name, self.counter, zero)
        return replace(self.old, body=(start, *self.block(self.old.body), ir.Assign(count, self.taken)))

    def block(self, body: tuple[ir.Statement, ...]) -> tuple[ir.Statement, ...]:
        """A block whose lines go into the state."""
        return tuple(made for statement in body for made in self.statement(statement))

    def statement(self, statement: ir.Statement) -> tuple[ir.Statement, ...]:
        """What becomes of a statement."""
        match statement:
            case ir.Log():
                return tuple(self.line(statement))
            case ir.If(condition, then, otherwise):
                return (ir.If(condition, self.block(then), self.block(otherwise)),)
            case ir.ForEach(variable, domain, inner):
                return (ir.ForEach(variable, domain, self.block(inner)),)
            case _:
                return _naming_drawn(self.old.name, self.pools, statement)

    def line(self, line: ir.Log) -> Iterator[ir.Statement]:
        """Writes a line behind those that are there."""
        shape, number = self.shape, self.numbers[line]
        point, writer, *columns = shape.line_variables
        where = Range(0, shape.places - 1)

        def write(name: str, kind: Type, value: ir.Expression) -> ir.Statement:
            return ir.Assign(ir.Target(ir.Variable(name, Map(where, kind)), (self.taken,)), value)

        if self.bounded:
            full = ir.Binary("==", self.taken, ir.Constant(shape.places, self.counter))
            yield ir.If(full, (ir.Stop(TOO_MANY),), ())
        kind = Range(0, max(len(shape.points) - 1, 0))
        yield write(point, kind, ir.Constant(number, kind))
        yield from self.writer(line, Range(0, shape.writers), writer, where)
        for field, shown in zip(shape.points[number].fields, line.fields, strict=True):
            column = shape.columns[field.column]
            value = _serial(shown.value, field.type) if column.serial else shown.value
            yield write(columns[field.column], column.type, value)
        yield ir.Assign(ir.Target(self.taken), ir.Binary("+", self.taken, ir.Constant(1, Range(1, 1))))

    def writer(self, line: ir.Log, kind: Range, variable: str, where: Range) -> Iterator[ir.Statement]:
        """Writes who writes a line: the id of a node, or 0."""
        target = ir.Target(ir.Variable(variable, Map(where, kind)), (self.taken,))
        chosen: tuple[ir.Statement, ...] = (ir.Assign(target, ir.Constant(0, kind)),)
        if line.node is not None:
            node = type_of(line.node)
            assert isinstance(node, Node), f"a line is written by {node}"
            for number in range(1, node.size + 1):
                is_it = ir.Binary("==", line.node, ir.Constant(number, node))
                chosen = (ir.If(is_it, (ir.Assign(target, ir.Constant(number, kind)),), chosen),)
        yield from chosen


def _serial(value: ir.Expression, kind: Type) -> ir.Expression:
    """The number of the name of an identity, 0 for none."""
    pool = pool_of(kind)
    assert pool is not None, f"{kind} has no names"
    if not isinstance(kind, Option):
        return ir.Index(_names(pool), value)
    none = ir.Binary("==", value, ir.Constant(None, kind))
    zero = ir.Constant(0, Range(0, NAME_MAX))
    return ir.Conditional(none, zero, ir.Index(_names(pool), ir.Unary("value", value)))


def _naming_drawn(place: str, pools: tuple[Identity, ...], statement: ir.Statement) -> tuple[ir.Statement, ...]:
    """A statement, and a new name for the identity that it draws."""
    drawn = [part for part in walk(statement) if isinstance(part, ir.Fresh) and part.type in pools]
    if not drawn:
        return (statement,)
    if len(drawn) > 1 or not isinstance(statement, ir.Let | ir.Assign):
        raise ObservingError(f"{place} draws several identities in one statement; draw each by a `let`")
    (fresh,) = drawn
    pool = fresh.type
    assert isinstance(pool, Identity), "what is fresh is an identity"
    if isinstance(statement, ir.Let) and statement.value is fresh:
        return (statement, *_named(pool, ir.Local(statement.name, statement.type)))
    local = ir.Local(f"{PREFIX}fresh", pool)

    def change(part: ir.Statement | ir.Expression) -> ir.Statement | ir.Expression:
        if part is fresh:
            return local
        made: ir.Statement | ir.Expression = rebuild(part, change)
        return made

    rest = change(statement)
    assert isinstance(rest, ir.Let | ir.Assign), "a statement stays one"
    made = (ir.Let(local.name, pool, fresh), *_named(pool, local), rest)
    # In a block of its own the local is gone behind it, and holds the identity no longer.
    return made if isinstance(rest, ir.Let) else (ir.If(ir.TRUE, made, ()),)


def _named(pool: Identity, identity: ir.Expression) -> Iterator[ir.Statement]:
    """Gives an identity a name that none has had."""
    drawn = _drawn(pool)
    yield ir.Assign(ir.Target(drawn), ir.Binary("+", drawn, ir.Constant(1, Range(1, 1))))
    yield ir.Assign(ir.Target(_names(pool), (identity,)), drawn)
