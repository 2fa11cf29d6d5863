"""The system that reads records does, by the interpreter, what the oracle says of the system and its lines."""

from __future__ import annotations

from collections.abc import Sequence

from hacheck.model import ir
from hacheck.model.interpreter import Interpreter
from hacheck.model.observing.record_conditions import observed
from hacheck.model.observing.record_layout import FIRST_EVENT, FIRST_NAME, NONE_NAME, Observed
from hacheck.model.runs import State
from hacheck.model.types import Identity, Option, Range, Set, Type, Value
from tests.properties.scale import seeds
from tests.traces.conformance.oracle import LogRecord, Oracle, TooMany
from tests.traces.conformance.test_random_systems import logged_system, out_of_bounds, traces_in_order


class Reader:
    """Runs the system that reads records by the interpreter, with records written into its variables by hand."""

    def __init__(self, system: ir.System, records: Sequence[LogRecord]) -> None:
        self.shape: Observed = observed(system)
        self.records = records
        self.interpreter = Interpreter(self.shape.system)
        self.places = {variable.name: place for place, variable in enumerate(self.shape.system.variables)}
        self.numbers: dict[str, int] = {}
        for one in records:
            for value in one.fields.values():
                if isinstance(value, str):
                    self.numbers.setdefault(value, FIRST_NAME + len(self.numbers))

    def showing(self, state: State, position: int) -> State:
        """The state with the records from a position on in its variables."""
        changed = list(state)
        for place in range(self.shape.places):
            names = self.shape.record_variables(0, place)
            for name, value in zip(names, self.record(position + place), strict=True):
                changed[self.places[name]] = value
        changed[self.places[self.shape.taken_variable(0)]] = 0
        return tuple(changed)

    def record(self, position: int) -> list[Value]:
        """What a record says: event, writer, columns."""
        columns: list[Value] = [0 if column.by_name else None for column in self.shape.columns]
        if position >= len(self.records):
            return [self.shape.end, 0, *columns]
        one = self.records[position]
        code, event = next(
            (code, event) for code, event in enumerate(self.shape.events, FIRST_EVENT) if event.name == one.event
        )
        for field in event.fields:
            if field.name in one.fields:
                columns[field.column] = self.content(one.fields[field.name], field.type, field.by_name, field.optional)
        return [code, self.shape.writers.index(one.node) + 1, *columns]

    def content(self, value: Value, kind: Type, by_name: bool, optional: bool) -> Value:
        """A value in a column."""
        if by_name:
            return NONE_NAME if value is None else self.numbers[value]
        if optional:
            assert isinstance(kind, Range)
            return kind.low if value is None else value
        if isinstance(kind, Set) and not isinstance(value, frozenset):
            return frozenset() if value is None else frozenset({value})
        return value

    def furthest(self, most: int) -> int:
        """How many records some run takes. Errors: `TooMany`."""
        reached: dict[int, dict[State, None]] = {0: dict.fromkeys(self.interpreter.initial_states())}
        for position in range(len(self.records)):
            here = [self.showing(state, position) for state in reached.get(position, ())]
            held = dict.fromkeys(here)
            for state in here:
                for step, _ in self.interpreter.steps_with_lines(state):
                    taken = step.state[self.places[self.shape.taken_variable(0)]]
                    if taken:
                        reached.setdefault(min(position + taken, len(self.records)), {})[step.state] = None
                    else:
                        after = self.showing(step.state, position)
                        if after not in held:
                            held[after] = None
                            here.append(after)
                if len(here) > most:
                    raise TooMany
            if not any(place > position for place in reached):
                return position
        return len(self.records)


@seeds(30_000, 24, together=6)
def test_observed_system_takes_the_records_that_the_oracle_explains(seeds: range) -> None:
    compared = 0
    for seed in seeds:
        system = logged_system(seed)
        if system is None:
            continue
        traces, decided = traces_in_order(system, seed)
        for name in list(decided)[:3]:
            if out_of_bounds(system, traces[name]):
                continue
            try:
                furthest = Reader(system, traces[name]).furthest(150)
            except TooMany:
                continue
            compared += 1
            assert furthest == decided[name].furthest, (seed, name, traces[name])
    assert compared > 3


# ---- what lines hold ----


def holder(body: tuple[ir.Statement, ...], pool: int = 1) -> tuple[ir.System, Identity]:
    """A system of one action, whose variable may hold an identity."""
    group = Identity("Group", pool)
    variable = ir.StateVariable("group", Option(group), None, None, "shared")
    action = ir.Action("go", (), ir.TRUE, body, "protocol", None, None, "go", "", "", 0)
    bounds = (("Group", "groups"),)
    return ir.System("Small", "", "", (), (), (variable,), (), (action,), (), (), (), bounds, ()), group


GROUP = Identity("Group", 1)
HELD = ir.Variable("group", Option(GROUP))
DROPPED = ir.Assign(ir.Target(HELD), ir.Constant(None, Option(GROUP)))
DRAWN = ir.Assign(ir.Target(HELD), ir.Unary("some", ir.Fresh(GROUP)))
SHOWN = ir.Log("has", None, (ir.Shown("group", HELD, True),), 0)


def explained(body: tuple[ir.Statement, ...], names: Sequence[str | None]) -> tuple[bool, bool]:
    """Whether the observed system, and the oracle, explain a log that shows these names."""
    system, _ = holder(body)
    records = [LogRecord("has", None, {"group": name}) for name in names]
    return (
        Reader(system, records).furthest(1000) == len(records),
        Oracle(system).in_order(records).explained,
    )


def test_identity_that_a_line_showed_can_be_drawn_again_in_the_same_step() -> None:
    body = (DROPPED, DRAWN, SHOWN, DROPPED, DRAWN, SHOWN)
    assert explained(body, ["a", "b", "c", "d"]) == (True, True)
    assert explained(body, ["a", "b", "c"]) == (True, True)
    assert explained((DRAWN, SHOWN, SHOWN, DROPPED), ["a", "b"]) == (False, False)
    assert explained((DRAWN, SHOWN, SHOWN, DROPPED), ["a", "a", "b", "b"]) == (True, True)


def test_identity_drawn_by_let_is_drawn_once_and_held_by_the_local() -> None:
    drawn = ir.Let("g", GROUP, ir.Fresh(GROUP))
    kept = ir.Assign(ir.Target(HELD), ir.Unary("some", ir.Local("g", GROUP)))
    assert explained((drawn, kept, SHOWN, DROPPED), ["a", "b"]) == (True, True)
    again = ir.Assign(ir.Target(HELD), ir.Unary("some", ir.Fresh(GROUP)))
    assert explained((drawn, kept, SHOWN, DROPPED, again, SHOWN), ["a", "b"]) == (False, False)


def test_identity_drawn_in_one_branch_only_is_not_drawn_in_the_other() -> None:
    free = ir.Binary("==", HELD, ir.Constant(None, Option(GROUP)))
    value = ir.Conditional(free, ir.Unary("some", ir.Fresh(GROUP)), HELD)
    body = (ir.Assign(ir.Target(HELD), value), SHOWN)
    assert explained(body, ["a", "a", "a"]) == (True, True)
    assert explained(body, ["a", "b"]) == (False, False)


def test_record_that_says_none_shows_no_identity() -> None:
    assert explained((DRAWN, SHOWN, DROPPED), [None]) == (False, False)
    assert explained((SHOWN,), [None, None]) == (True, True)
    assert explained((SHOWN,), ["a"]) == (False, False)
