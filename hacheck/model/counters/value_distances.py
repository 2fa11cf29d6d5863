"""The system whose counters without an end are followed by the order of their values and by distances that are small.

What a state holds of a counter are its values and the small literals. Values next to each other that are `exact` or
more apart count as far apart, wherever they are: such a distance is written as `exact + 1`. So there are finitely many
states. A step raises a value by one at most. If the next greater value was far away it may now be `exact - 1` away, or
far away still; nobody knows, so both are followed (`NEAR`). All that the real system does is among what is followed;
what is followed need not be real, so runs are confirmed by the reference interpreter before anybody sees them.
`docs/decisions/0026-counters-without-an-end.md` has the proof.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from hacheck.model import ir
from hacheck.model.counters.counter_discipline import Uses, uses_of
from hacheck.model.counters.counter_ranges import held, holds_counter, renumbered, with_highs
from hacheck.model.counters.counter_sums import Sums
from hacheck.model.rewrite import rebuild
from hacheck.model.runs import State
from hacheck.model.types import Bool, Range, Type

HIGH = 62
"""The greatest value that is written: there is a bit of a word for each, and one more."""

GREATEST = 1_000_000_000
"""The greatest value of a counter without an end in runs that are replayed: none is as long."""

FULL = HIGH + 1
"""What a counter's hidden variable holds where not all distances could be written: then no value is raised."""


class Distances(Struct, frozen=True):
    """How a counter is followed: literals up to `literal` keep their value, distances below `exact` are kept."""

    counter: str
    literal: int
    exact: int

    @property
    def variable(self) -> str:
        """The hidden variable. A step that raises a value may note the new one here: what is next greater is near. It
        holds `FULL` or 0 in what is explored."""
        return f"distance of {self.counter}"


def bound_of(counter: str) -> str:
    """The bound of an exploration that follows a counter: a step past it raises a value where there is no room."""
    return f"distances of {counter}"


class Followed(Struct, frozen=True):
    """The system to explore. `distances`: the counters without an end. `bounded`: those that are
    explored up to a bound, and why, in words."""

    system: ir.System
    distances: tuple[Distances, ...]
    bounded: tuple[tuple[str, tuple[str, ...]], ...]


def followed(system: ir.System) -> Followed:
    """The system to explore in place of one with counters without an end. Cost: some passes over the text."""
    uses = [uses_of(system, counter) for counter in system.endless]
    free = [one for one in uses if not one.obstacles]
    bounded = tuple((one.counter, one.obstacles) for one in uses if one.obstacles)
    made = replace(_widened(system, free, HIGH), endless=())
    for one in free:
        made = _with_distances(made, one)
    return Followed(made, tuple(Distances(one.counter, one.literal, one.exact_up_to) for one in free), bounded)


def unbounded(system: ir.System) -> ir.System:
    """The system whose counters without an end may become as large as any run needs, where distances may be forgotten:
    what the runs of its exploration are runs of; of such a system it is the same one. Cost: some passes over the text,
    where there are such counters, the first time."""
    if not system.endless:
        return system
    for given, made in _UNBOUNDED:
        if system is given or system is made:
            return made
    uses = [uses_of(system, counter) for counter in system.endless]
    made = _widened(system, [one for one in uses if not one.obstacles], GREATEST)
    _UNBOUNDED.append((system, made))
    return made


_UNBOUNDED: deque[tuple[ir.System, ir.System]] = deque(maxlen=4)
"""The last systems that were looked up: the runs of a check are all of one."""


def _widened(system: ir.System, uses: Sequence[Uses], high: int) -> ir.System:
    """The system with another greatest value of some counters."""
    if not uses:
        return system
    made = with_highs(system, {one.counter: high for one in uses})
    actions = list(made.actions)
    for one in uses:
        for number, names in one.plain:
            action = actions[number]
            actions[number] = replace(action, body=_typed(action.body, Range(0, high, one.counter), names))
    bounds = ((bound_of(one.counter), f"as many different {one.counter}s at a time as fit") for one in uses)
    return replace(made, actions=tuple(actions), bounds=(*made.bounds, *bounds))


def _with_distances(system: ir.System, uses: Uses) -> ir.System:
    distances = Distances(uses.counter, uses.literal, uses.exact_up_to)
    hidden = ir.StateVariable(distances.variable, Range(0, FULL), 0, None, "distance")
    plain, actions = dict(uses.plain), list(system.actions)
    for number in uses.raised:
        raising = _Raising(distances, Sums(uses.counter, plain.get(number, frozenset())))
        actions[number] = replace(actions[number], body=raising.body(actions[number].body))
    return replace(
        system,
        variables=(*system.variables, hidden),
        actions=tuple(actions),
    )


def _typed(body: tuple[ir.Statement, ...], kind: Range, names: frozenset[str]) -> tuple[ir.Statement, ...]:
    """The statements with these locals declared as what they hold."""

    def change(node: Any) -> Any:
        if isinstance(node, ir.Let | ir.Local) and node.name in names:
            node = replace(node, type=kind)
        return rebuild(node, change)

    return tuple(change(statement) for statement in body)


class _Raising:
    """Puts before each statement that raises a value the choice what is next greater to the new one: far or near."""

    def __init__(self, distances: Distances, sums: Sums) -> None:
        self.distances, self.sums = distances, sums
        self.count = 0

    def body(self, body: Sequence[ir.Statement]) -> tuple[ir.Statement, ...]:
        made: list[ir.Statement] = []
        for statement in body:
            match statement:
                case ir.If(condition, then, otherwise):
                    made.append(ir.If(condition, self.body(then), self.body(otherwise)))
                case ir.Assign(_, value) | ir.Let(_, _, value):
                    found = next(self.sums.stored(value), None)
                    made += (statement,) if found is None else (*self.choice(found), statement)
                case _:
                    made.append(statement)
        return tuple(made)

    def choice(self, raised: ir.Binary) -> tuple[ir.Statement, ...]:
        self.count += 1
        number = Range(0, FULL)
        hidden = ir.Variable(self.distances.variable, number)
        near = ir.Local(f"near${self.count}${self.distances.counter}", Bool())
        full = ir.Binary("==", hidden, ir.Constant(FULL, number))
        above = ir.Binary("<", ir.Constant(HIGH, number), raised)
        noted = ir.Conditional(near, raised, ir.Constant(0, number))
        return (
            ir.If(ir.Binary("or", full, above), (ir.Stop(bound_of(self.distances.counter)),), ()),
            ir.Choose(near.name, ir.Domain(Bool(), None, None)),
            ir.Assign(ir.Target(hidden), noted),
        )


class Representatives(Struct, frozen=True):
    """Finds the state of the followed system that stands for a state of the real one. `kinds`: for each counter the
    variables of the real system that can hold its values, by their number, with their types."""

    distances: tuple[Distances, ...]
    kinds: tuple[tuple[tuple[int, Type], ...], ...]

    def of(self, state: State) -> State | None:
        """The state that stands for this one; `None` where none does, as it holds too many values."""
        found = list(state)
        for one, kinds in zip(self.distances, self.kinds, strict=True):
            values = {value for place, kind in kinds for value in held(kind, state[place], one.counter)}
            new = _closed(one, sorted(values))
            if max(new.values()) > HIGH:
                return None
            if any(old != now for old, now in new.items()):
                for place, kind in kinds:
                    found[place] = renumbered(kind, found[place], one.counter, new)
        return (*found, *(0 for _ in self.distances))


def representatives(system: ir.System, distances: tuple[Distances, ...]) -> Representatives:
    """What finds them. `system`: the real one or the followed one."""
    hidden = {one.variable for one in distances}
    kinds = [variable.type for variable in system.variables if variable.name not in hidden]
    counters = (one.counter for one in distances)
    found = (tuple((n, kind) for n, kind in enumerate(kinds) if holds_counter(kind, name)) for name in counters)
    return Representatives(distances, tuple(found))


def _closed(distances: Distances, values: Sequence[int]) -> dict[int, int]:
    """The new value of each: far ones are drawn near each other."""
    new = {value: value for value in range(distances.literal + 1)}
    last = at = distances.literal
    for value in values:
        if value > distances.literal:
            distance = value - last
            last, at = value, at + (distance if distance < distances.exact else distances.exact + 1)
            new[value] = at
    return new
