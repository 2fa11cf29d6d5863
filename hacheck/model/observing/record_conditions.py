"""Lines as conditions on records.

A step that writes a line is possible only if the next record of its stream says the same, and counts the records it
takes. So the runs of the observed system, its records being those of a log, are the runs of the system that explain the
log, and whatever explores a system can look for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import cast

from msgspec.structs import replace

from hacheck.model import ir
from hacheck.model.observing.line_writers import lines_most, lines_of
from hacheck.model.observing.record_layout import (
    FIRST_EVENT,
    NAME_MAX,
    NAMED_VALUES_MAX,
    NONE_NAME,
    NOT_SHOWN,
    PLACES_MAX,
    PREFIX,
    Field,
    Observed,
    ObservingError,
    events_of,
    names_of,
    record_variables,
)
from hacheck.model.rewrite import parts, rebuild, walk
from hacheck.model.types import Identity, Map, Node, Option, Range, Set, Type, cardinality
from hacheck.model.typing import type_of

TOO_MANY = "lines of a step"
"""The bound that a step meets which writes more lines than are looked ahead."""


def observed(system: ir.System, merged: bool = True) -> Observed:
    """The system that reads records, from one whose steps write lines.

    `merged`: there is one stream of records, in the order in which they were written; else each writer has its own, and
    nothing is known of the order between them. Errors: `ObservingError`.
    """
    events, columns = events_of(system)
    writers = (*((node.name, number) for node in system.nodes for number in range(1, node.size + 1)), None)
    most = max((lines_most(action.body) for action in system.actions), default=0)
    places = max(1, min(most, PLACES_MAX))
    pools = tuple(
        dict.fromkeys(kind for action in system.actions for line in lines_of(action) for kind in _named(line))
    )
    for pool in pools:
        if cardinality(pool) > NAMED_VALUES_MAX:
            raise ObservingError(
                f"lines show by name what has {cardinality(pool):,} values, more than {NAMED_VALUES_MAX:,}"
            )
    shape = Observed(system, events, columns, writers, merged, places, pools)
    actions = tuple(_Reading(shape, action).action() for action in system.actions)
    variables = (*system.variables, *record_variables(shape))
    bounds = (*system.bounds, (TOO_MANY, "lines that one step writes"))
    return replace(shape, system=replace(system, variables=variables, actions=actions, bounds=bounds))


def _named(line: ir.Log) -> Iterator[Type]:
    for shown in line.fields:
        if shown.by_name:
            kind = type_of(shown.value)
            yield kind.element if isinstance(kind, Option) else kind


class _Reading:
    """Rewrites one action."""

    def __init__(self, shape: Observed, action: ir.Action) -> None:
        self.shape, self.old = shape, action
        self.count = 0
        self.counter = Range(0, shape.places)
        self.read = {self.stream(value) for line in lines_of(action) for value in self.writers_of(line)}

    def action(self) -> ir.Action:
        """The action that takes the records of its lines."""
        body = self.block(self.old.body)
        start, end = [], []
        for stream in sorted(self.read):
            start.append(ir.Let(self.taken(stream).name, self.counter, _number(0)))
            target = ir.Target(ir.Variable(self.shape.taken_variable(stream), self.counter))
            end.append(ir.Assign(target, self.taken(stream)))
        return replace(self.old, body=(*start, *body, *end))

    def taken(self, stream: int) -> ir.Local:
        """How many records of a stream the step has taken so far."""
        return ir.Local(f"{PREFIX}{stream}.taken", self.counter)

    def stream(self, writer: int) -> int:
        """The stream in which a writer's records are."""
        return 0 if self.shape.merged else writer

    def fresh_name(self, word: str) -> str:
        """A local that no other has."""
        self.count += 1
        return f"{PREFIX}{word}.{self.count}"

    # ---- statements ----

    def block(self, body: tuple[ir.Statement, ...]) -> tuple[ir.Statement, ...]:
        """A block whose lines are conditions."""
        return tuple(made for statement in body for made in self.statement(statement))

    def statement(self, statement: ir.Statement) -> tuple[ir.Statement, ...]:
        """What becomes of a statement."""
        match statement:
            case ir.Log():
                return self.line(statement)
            case ir.If(condition, then, otherwise):
                self.refuse_draws(condition)
                return (ir.If(condition, self.block(then), self.block(otherwise)),)
            case ir.ForEach(variable, domain, inner):
                self.refuse_draws(domain)
                return (ir.ForEach(variable, domain, self.block(inner)),)
            case ir.Let() | ir.Assign():
                return self.drawing(statement)
            case _:
                self.refuse_draws(statement)
                return (statement,)

    def refuse_draws(self, part: ir.Statement | ir.Expression | ir.Domain) -> None:
        """Errors: `ObservingError` where identities with names are drawn here."""
        if any(isinstance(one, ir.Fresh) and one.type in self.shape.pools for one in walk(part)):
            raise ObservingError(f"{self.old.name} draws an identity within a condition; draw it by a `let`")

    def drawing(self, statement: ir.Let | ir.Assign) -> tuple[ir.Statement, ...]:
        """A statement; what identities it draws have lost the names that others had in their place."""
        if isinstance(statement, ir.Assign):
            for part in statement.target.path:
                if not isinstance(part, str):
                    self.refuse_draws(part)
        before: list[ir.Statement] = []
        after: list[ir.Statement] = []
        found: dict[Type, ir.Expression] = {}
        for pool in dict.fromkeys(part.type for part in walk(statement.value) if isinstance(part, ir.Fresh)):
            if pool not in self.shape.pools:
                continue
            # A local that holds the identity keeps others from being it: it is there for this statement only.
            kind = Option(pool)
            drawn = ir.Local(self.fresh_name("drawn"), kind)
            nothing = ir.Constant(None, kind)
            found[pool] = ir.Unary("value", drawn)
            forget = ir.Assign(ir.Target(self.names(pool), (found[pool],)), _number(NOT_SHOWN))
            there = ir.Binary("!=", drawn, nothing)
            before += [ir.Let(drawn.name, kind, self.drawn(statement.value, pool)), ir.If(there, (forget,), ())]
            after.append(ir.Assign(ir.Target(drawn), nothing))

        def change(part: ir.Expression) -> ir.Expression:
            if isinstance(part, ir.Fresh) and part.type in found:
                return found[part.type]
            made: ir.Expression = rebuild(part, change)
            return made

        value = change(statement.value) if found else statement.value
        return (*before, replace(statement, value=value), *after)

    def drawn(self, value: ir.Expression, pool: Identity) -> ir.Expression:
        """The identity that an expression draws from a pool, which is one at most, or none. Errors:
        `ObservingError`."""
        nothing = ir.Constant(None, Option(pool))
        match value:
            case ir.Fresh(kind) if kind == pool:
                return ir.Unary("some", value)
            case ir.Conditional(condition, then, otherwise):
                self.refuse_draws(condition)
                sides = (self.drawn(then, pool), self.drawn(otherwise, pool))
                return nothing if sides == (nothing, nothing) else ir.Conditional(condition, *sides)
            case ir.MakeRecord() | ir.MakeCollection() | ir.Unary() | ir.Member():
                inside = [one for part in parts(value) if (one := self.drawn(_expression(part), pool)) != nothing]
                if len(inside) > 1:
                    text = f"{self.old.name} draws several identities in one statement; draw each by a `let`"
                    raise ObservingError(text)
                return inside[0] if inside else nothing
            case ir.Binary(operator, left, right) if operator not in ("and", "or", "implies"):
                sides = (self.drawn(left, pool), self.drawn(right, pool))
                if nothing not in sides:
                    text = f"{self.old.name} draws several identities in one statement; draw each by a `let`"
                    raise ObservingError(text)
                return sides[0] if sides[1] == nothing else sides[1]
            case _:
                self.refuse_draws(value)
                return nothing

    # ---- a line ----

    def writers_of(self, line: ir.Log) -> Mapping[int, ir.Expression]:
        """Who may write a line, each with the condition that it does."""
        places = {writer: place for place, writer in enumerate(self.shape.writers)}
        if line.node is None:
            return {places[None]: ir.TRUE}
        kind = type_of(line.node)
        assert isinstance(kind, Node), f"a line is written by {kind}"
        return {
            places[kind.name, number]: ir.Binary("==", line.node, ir.Constant(number, kind))
            for number in range(1, kind.size + 1)
        }

    def line(self, line: ir.Log) -> tuple[ir.Statement, ...]:
        """Takes the next record of the writer's stream, which must say what the line says."""
        values: list[ir.Statement] = []
        shown: dict[str, ir.Local] = {}
        for field in line.fields:
            kind = type_of(field.value)
            shown[field.name] = ir.Local(self.fresh_name(field.name), kind)
            values.append(ir.Let(shown[field.name].name, kind, field.value))
        chosen: tuple[ir.Statement, ...] = ()
        for writer, condition in reversed(tuple(self.writers_of(line).items())):
            taking = self.taking(line, writer, shown)
            chosen = taking if condition == ir.TRUE else (ir.If(condition, taking, chosen),)
        # A block of its own: what its locals hold is held no longer than that.
        return (ir.If(ir.TRUE, (*values, *chosen), ()),)

    def taking(self, line: ir.Log, writer: int, shown: Mapping[str, ir.Local]) -> tuple[ir.Statement, ...]:
        """Takes a record as this writer."""
        stream = self.stream(writer)
        taken = self.taken(stream)
        body: tuple[ir.Statement, ...] = (ir.Stop(TOO_MANY),)
        for place in reversed(range(self.shape.places)):
            here = ir.Binary("==", taken, ir.Constant(place, self.counter))
            advance = ir.Assign(ir.Target(taken), ir.Constant(place + 1, self.counter))
            body = (ir.If(here, (*self.agreeing(line, writer, stream, place, shown), advance), body),)
        return body

    def agreeing(
        self, line: ir.Log, writer: int, stream: int, place: int, shown: Mapping[str, ir.Local]
    ) -> Iterator[ir.Statement]:
        """Goes on only if a record says what the line says, and remembers the names it has."""
        numbers = {event.name: number for number, event in enumerate(self.shape.events, start=FIRST_EVENT)}
        fields = {field.name: field for field in self.shape.events[numbers[line.event] - FIRST_EVENT].fields}
        event, said, *columns = self.shape.record_variables(stream, place)
        kind = Range(0, self.shape.end)
        same_event = ir.Binary("==", ir.Variable(event, kind), ir.Constant(numbers[line.event], kind))
        if place or not self.shape.merged:
            # What a step writes when the log has come to its end is not there to be seen.
            same_event = ir.Binary(
                "or", same_event, ir.Binary("==", ir.Variable(event, kind), ir.Constant(self.shape.end, kind))
            )
        yield ir.Require(same_event)
        if self.shape.merged:
            who = ir.Variable(said, Range(0, len(self.shape.writers)))
            mine = ir.Binary("==", who, ir.Constant(writer + 1, who.type))
            yield ir.Require(ir.Binary("or", ir.Binary("==", who, _number(0)), mine))
        for one in line.fields:
            field = fields[one.name]
            column = ir.Variable(columns[field.column], self.shape.columns[field.column].type)
            if field.by_name:
                yield from self.naming(shown[one.name], column)
            else:
                same = ir.Binary("==", column, ir.Unary("some", _as_column(shown[one.name], field)))
                missing = ir.Binary("==", column, ir.Constant(None, column.type))
                yield ir.Require(ir.Binary("or", missing, same))

    def names(self, pool: Type) -> ir.Variable:
        """The names of a type's values."""
        return ir.Variable(names_of(pool), Map(pool, Range(0, NAME_MAX)))

    def naming(self, value: ir.Local, column: ir.Variable) -> Iterator[ir.Statement]:
        """Goes on only if the record has the name of the value, or a new one where it has none so far."""
        shown = ir.Binary("!=", column, _number(NOT_SHOWN))
        if isinstance(value.type, Option):
            none = ir.Binary("==", value, ir.Constant(None, value.type))
            inner = tuple(self.naming_one(ir.Unary("value", value), value.type.element, column))
            inner = (ir.If(none, (ir.Require(ir.Binary("==", column, _number(NONE_NAME))),), inner),)
        else:
            inner = tuple(self.naming_one(value, value.type, column))
        yield ir.If(shown, inner, ())

    def naming_one(self, value: ir.Expression, pool: Type, column: ir.Variable) -> Iterator[ir.Statement]:
        """The same of a value that is one, and of a record that shows it."""
        names = self.names(pool)
        name = ir.Index(names, value)
        other = ir.Local(self.fresh_name("other"), pool)
        domain = ir.Domain(pool, None, None)
        free = ir.Quantified("none", other.name, domain, ir.Binary("==", ir.Index(names, other), column))
        is_name = ir.Binary("!=", column, _number(NONE_NAME))
        yield ir.If(
            ir.Binary("==", name, _number(NOT_SHOWN)),
            (ir.Require(ir.Binary("and", is_name, free)), ir.Assign(ir.Target(names, (value,)), column)),
            (ir.Require(ir.Binary("==", name, column)),),
        )


def _expression(part: object) -> ir.Expression:
    assert not isinstance(part, ir.Domain | ir.Target | ir.Shown), "a part of an expression without variables is one"
    return cast(ir.Expression, part)


def _as_column(value: ir.Local, field: Field) -> ir.Expression:
    """A value as records have it."""
    if not isinstance(value.type, Option):
        return value
    nothing = ir.Binary("==", value, ir.Constant(None, value.type))
    inner = ir.Unary("value", value)
    if isinstance(field.type, Range):
        return ir.Conditional(nothing, ir.Constant(field.type.low, field.type), inner)
    kind = Set(value.type.element)
    return ir.Conditional(nothing, ir.Constant(frozenset(), kind), ir.MakeCollection(kind, (inner,)))


def _number(number: int) -> ir.Constant:
    return ir.Constant(number, Range(number, number))
