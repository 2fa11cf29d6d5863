"""One state at a time, what the two meanings of a system say of it: its steps, and the values of its properties."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import permutations
from typing import Any, TypeAlias

from msgspec import Struct

from hacheck.checker.recheck.observed_state import LOCAL, Observer
from hacheck.model import ir
from hacheck.model.direct import (
    Bag,
    BoundReached,
    DirectSystem,
    ForgottenRead,
    Identity,
    Key,
    Map,
    Node,
    Record,
    SpecificationError,
    Value,
)
from hacheck.model.direct import State as DirectState
from hacheck.model.direct import Step as DirectStep
from hacheck.model.direct.interfaces import SpecificationFailure
from hacheck.model.interpreter import EvaluationError, Failed, Interpreter, StoppedAtBound, Taken
from hacheck.model.language.declarations import Declaration
from hacheck.model.language.kept_locals import KeptLocal
from hacheck.model.runs import State

Seen: TypeAlias = frozenset[tuple[Key, Value]]
"""A state as both meanings observe it, without what no later step reads."""
End: TypeAlias = "tuple[str, str, Seen | str]"
"""A step: its name, whether it ends in a `state`, a `bound` or an `error`, and in which."""


class Difference(Struct, frozen=True):
    """What the two meanings say differently. `where`: `start`, `steps`, `property NAME` or `forgotten`; `state`: in
    which state, none for the start; `first`, `second`: what only one of them says, or their two values."""

    where: str
    state: State | None
    first: str
    second: str


class Compared(Struct, frozen=True):
    """What comparing a state came to. `successors`: the steps that the first meaning takes."""

    steps: int
    successors: tuple[Taken, ...]
    differences: tuple[Difference, ...]


class Comparison:
    """The two meanings of one system. It keeps what it has translated, so it is for one system only."""

    def __init__(
        self, system: ir.System, kept: Iterable[KeptLocal], declarations: tuple[Declaration, ...], direct: DirectSystem
    ) -> None:
        self.system, self.direct = system, direct
        self.interpreter = Interpreter(system)
        self.started = list(direct.initial())
        states = [step.outcome for step in self.started if isinstance(step.outcome, DirectState)]
        defaults = direct.observe(states[0]) if states else {}
        self.observer = Observer(system, kept, declarations, defaults)
        self.names = [action.name for action in system.actions]
        self._observed: dict[DirectState, Seen] = {}
        self._known: dict[State, Seen] = {}

    # ---- the start ----

    def start(self) -> tuple[tuple[State, ...], tuple[Difference, ...]]:
        """The initial states, and how they differ."""
        try:
            states = self.interpreter.initial_states()
        except EvaluationError:
            wrong = any(isinstance(step.outcome, SpecificationError) for step in self.started)
            found = () if wrong else (Difference("start", None, "an error of the spec", "no error"),)
            return (), found
        first: set[End] = {("initially", "state", self.seen(state)) for state in states}
        second: set[End] = {("initially", "state", self.seen_directly(state)) for state in _states(self.started)}
        return states, self._differing("start", None, first, second, {})

    # ---- a state ----

    def compare(self, state: State) -> Compared:
        """All steps from a state, and all properties that can be evaluated there."""
        outcomes = list(self.interpreter.outcomes(state))
        taken = tuple(outcome for outcome in outcomes if isinstance(outcome, Taken))
        first = {self._end(outcome) for outcome in outcomes}
        observed = self.observer.observe(state)
        here = self.direct.restore(observed)
        try:
            steps = list(self.direct.successors(here))
            second = {self._direct_end(step) for step in steps}
            differences = self._differing("steps", state, first, second, observed)
            differences += self._properties(state, here, outcomes, steps)
            if not differences:
                differences = self._transitions(state, here, taken, steps)
        except ForgottenRead as read:
            claim = f"no step reads `{read.local}` of `{read.handler}` any more"
            differences = (Difference("forgotten", state, claim, "a step reads it"),)
        return Compared(len(outcomes), taken, differences)

    def _end(self, outcome: Taken | StoppedAtBound | Failed) -> End:
        match outcome:
            case Taken(step):
                return self.names[step.action], "state", self.seen(step.state)
            case StoppedAtBound():
                return self.names[outcome.action], "bound", _bound(outcome.bound)
            case Failed(error):
                return self.names[error.action], "error", ""

    def _direct_end(self, step: DirectStep) -> End:
        match step.outcome:
            case BoundReached(bound):
                return step.name, "bound", _bound(bound)
            case SpecificationError():
                return step.name, "error", ""
            case _:
                return step.name, "state", self.seen_directly(step.outcome)

    def seen(self, state: State) -> Seen:
        """A state of the first meaning as both observe it."""
        found = self._known.get(state)
        if found is None:
            found = self._known[state] = self._comparable(self.observer.observe(state))
        return found

    def seen_directly(self, state: DirectState) -> Seen:
        """A state of the direct interpreter as both observe it."""
        found = self._observed.get(state)
        if found is None:
            found = self._observed[state] = self._comparable(self.direct.observe(state))
        return found

    def _comparable(self, observed: Mapping[Key, Value]) -> Seen:
        """Without locals that may be forgotten, the ends of leases that are over, and links that are whole."""
        remembered = self.observer.remembered(observed)
        return frozenset(
            (key, value)
            for key, value in observed.items()
            if (key[0] != LOCAL or key in remembered)
            and (key[0] != "expiry" or _runs(key, observed))
            and (key[0] != "down" or value)
        )

    # ---- properties ----

    def _properties(
        self,
        state: State,
        here: DirectState,
        outcomes: Iterable[Taken | StoppedAtBound | Failed],
        steps: Iterable[DirectStep],
    ) -> tuple[Difference, ...]:
        found = []
        for prop in self.system.properties:
            if prop.kind in ("step", "eventually", "leads_to"):
                continue
            first = _value(partial(self.interpreter.value, prop.goal, state))
            second = _value(partial(self.direct.holds, prop.name, here))
            if first != second:
                found.append(Difference(f"property {prop.name}", state, first, second))
            if prop.kind == "deadlock":
                ends = not any(self._goes_on(outcome, state) for outcome in outcomes)
                if ends != all(step.fault or self._direct_end(step)[2] == self.seen(state) for step in steps):
                    found.append(Difference("deadlock", state, str(ends).lower(), str(not ends).lower()))
        return tuple(found)

    def _goes_on(self, outcome: Taken | StoppedAtBound | Failed, state: State) -> bool:
        """Whether something other than a fault happens."""
        match outcome:
            case Taken(step):
                return self.system.actions[step.action].kind != "fault" and step.state != state
            case StoppedAtBound():
                return self.system.actions[outcome.action].kind != "fault"
            case Failed(error):
                return self.system.actions[error.action].kind != "fault"

    def _transitions(
        self, state: State, here: DirectState, taken: Iterable[Taken], steps: Iterable[DirectStep]
    ) -> tuple[Difference, ...]:
        of_steps = [one for one in self.system.properties if one.kind == "step"]
        if not of_steps:
            return ()
        after = {self.seen_directly(one): one for one in _states(steps)}
        found = []
        for outcome in taken:
            there = after.get(self.seen(outcome.step.state))
            if there is None:
                continue
            for one in of_steps:
                first = _value(partial(self.interpreter.holds_step, one, state, outcome.step.state))
                second = _value(partial(self.direct.holds_of_step, one.name, here, there))
                if first != second:
                    found.append(Difference(f"property {one.name}", state, first, second))
        return tuple(found)

    # ---- differences ----

    def _differing(
        self, where: str, state: State | None, first: set[End], second: set[End], observed: Mapping[Key, Value]
    ) -> tuple[Difference, ...]:
        if first == second:
            return ()
        held = _identities(observed.items())
        if _same_names(first, held) == _same_names(second, held):
            return ()
        only_first, only_second = first - second, second - first
        return (Difference(where, state, _described(only_first, only_second), _described(only_second, only_first)),)


def _bound(name: str) -> str:
    """A bound's name without whose capacity it is: a local's inner names differ."""
    return "capacity" if name.startswith("capacity of ") else name


def _runs(key: Key, observed: Mapping[Key, Value]) -> bool:
    """Whether somebody holds, or believes to hold, what has this end."""
    if len(key) == 2:
        return observed["holder", key[1]] is not None
    return bool(observed["believes", key[1], key[2]])


def _states(steps: Iterable[DirectStep]) -> Iterator[DirectState]:
    return (step.outcome for step in steps if isinstance(step.outcome, DirectState))


def _value(evaluate: Callable[[], Any]) -> str:
    try:
        return "true" if evaluate() else "false"
    except (EvaluationError, SpecificationFailure):
        return "an error of the spec"


# ---- names of identities ----


def _identities(value: Any) -> frozenset[Identity]:
    """All identities in a value."""
    found: set[Identity] = set()
    waiting: list[Any] = [value]
    while waiting:
        part = waiting.pop()
        match part:
            case Identity():
                found.add(part)
            case str() | int() | None | Node():
                continue
            case Map() | Record():
                waiting.extend(part.parts)
            case Bag():
                waiting.extend(part.items)
            case _ if hasattr(part, "__iter__"):
                waiting.extend(part)
            case _:
                continue
    return frozenset(found)


def _renamed(value: Any, names: Mapping[Identity, Identity]) -> Any:
    match value:
        case Identity():
            return names.get(value, value)
        case Map(keys, parts):
            return Map(keys, _renamed(parts, names))
        case Record(name, of, parts, ordered):
            return Record(name, of, _renamed(parts, names), ordered)
        case Bag():
            return Bag(_renamed(one, names) for one in value.items)
        case frozenset():
            return frozenset(_renamed(one, names) for one in value)
        case tuple() if not isinstance(value, Node):
            return tuple(_renamed(one, names) for one in value)
        case _:
            return value


def _same_names(ends: set[End], held: frozenset[Identity]) -> set[End]:
    """The ends with identities that were drawn named in one way, whatever they were called: which name is drawn means
    nothing."""
    return {(name, kind, _least(end, held) if kind == "state" else end) for name, kind, end in ends}


def _least(seen: Seen | str, held: frozenset[Identity]) -> Seen | str:
    drawn = sorted(_identities(seen) - held)
    pools: dict[str, list[Identity]] = {}
    for one in drawn:
        pools.setdefault(one.pool, []).append(one)
    best: tuple[list[str], Any] | None = None
    for names in _namings(list(pools.items())):
        made = _renamed(seen, names)
        rank = sorted(map(repr, made))
        if best is None or rank < best[0]:
            best = rank, made
    return seen if best is None else best[1]


def _namings(pools: list[tuple[str, list[Identity]]]) -> Iterator[dict[Identity, Identity]]:
    if not pools:
        yield {}
        return
    pool, drawn = pools[0]
    for order in permutations(range(len(drawn))):
        for rest in _namings(pools[1:]):
            yield rest | {one: Identity(pool, -1 - place) for one, place in zip(drawn, order, strict=True)}


# ---- in words ----


def _described(ends: set[End], others: set[End]) -> str:
    """What only one of the two has; of states, how they differ from one of the other with the same step."""
    parts = []
    for name, kind, end in sorted(ends, key=lambda one: (one[0], one[1], repr(one[2])))[:4]:
        if kind != "state":
            parts.append(f"{name}: {kind} {end}".rstrip())
            continue
        assert not isinstance(end, str)
        near = [other for other_name, other_kind, other in others if other_name == name and other_kind == "state"]
        nearest: Any = min(near, key=lambda other: len(end ^ other), default=None)  # type: ignore[operator]
        shown = end if nearest is None else end - nearest
        if nearest is None:
            parts.append(f"{name}, which the other does not have")
            continue
        words = ", ".join(sorted(f"{' '.join(map(str, key))} = {value!r}" for key, value in shown)[:8])
        parts.append(f"{name}: {words or 'less'}")
    return "; ".join(parts) or "nothing"
