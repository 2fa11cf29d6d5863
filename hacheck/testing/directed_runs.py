"""Runs that random ones begin with: steps that somebody wrote down, or a counterexample of the spec."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from hacheck.checker.verify import questions_of
from hacheck.model.interpreter import Interpreter
from hacheck.model.ir import System
from hacheck.model.observing.line_writers import logged
from hacheck.model.runs import Run, State
from hacheck.model.runs import Step as ModelStep
from hacheck.model.types import Node
from hacheck.testing.adapter import Adapter
from hacheck.testing.check_results import explored
from hacheck.testing.driven_system import argument, methods_of, move, words
from hacheck.testing.line_encoding import Event
from hacheck.testing.stimuli import WAIT, Step
from hacheck.testing.tested_model import BadModel, driving_methods, place_of, specification_of

PATIENCE = 3
"""So many waits a directed step is given until the model allows it; then it is left out."""


class Counterexample(Struct, frozen=True):
    """The shortest run that violates a property (or reaches a `reachable`) under a check of the adapter's spec: the
    adapter does what it drives of it, and the test waits for the rest. For `Adapter.directed`."""

    check: str
    property: str


class Awaited(Struct, frozen=True):
    """A step of a counterexample that the service does by itself. `text`: it in words; `lines`: the events that it
    shows, each with the model's name of the node that writes it."""

    text: str
    lines: tuple[tuple[str, str], ...]


class Direction(Struct, frozen=True):
    """What a run may begin with. `called`: the model's names of nodes, by those of the service; `groups`: nodes of
    which each can stand for any other, as the service decides."""

    name: str
    items: tuple[Step | Awaited, ...]
    called: Mapping[str, str] = field(default_factory=dict)
    groups: tuple[frozenset[str], ...] = ()


Directed: TypeAlias = Sequence[Step] | Counterexample
"""What a random run may begin with."""


def directions(adapter: type[Adapter]) -> tuple[Direction, ...]:
    """All that an adapter is directed by. Cost: an exploration for each counterexample. Errors: `BadModel` where a
    check or a property is unknown, or no run shows it."""
    return tuple(
        _direction_of(adapter, one) if isinstance(one, Counterexample) else Direction(f"steps {number}", tuple(one))
        for number, one in enumerate(adapter.directed, start=1)
    )


def _direction_of(adapter: type[Adapter], wanted: Counterexample) -> Direction:
    specification = specification_of(place_of(adapter.spec, adapter))
    questions = {one.name: one for one in questions_of(specification)}
    if wanted.check not in questions:
        raise BadModel(f"{specification.path} has no check `{wanted.check}`; it has {', '.join(questions)}")
    instance = specification.instantiate({}, wanted.check)
    assert instance.system is not None, "the settings of checks are examined when a spec is read"
    system, question = instance.system, replace(questions[wanted.check], only=(wanted.property,))
    known = [one.name for one in system.properties]
    if wanted.property not in known:
        raise BadModel(f"{specification.path} has no property `{wanted.property}`; it has {', '.join(known)}")
    answer = next(one.answer for one in explored(system, question).properties if one.prop.name == wanted.property)
    if answer.run is None:
        raise BadModel(
            f"no run shows {wanted.property} in check {wanted.check} of {specification.path}: {answer.scope}"
        )
    chosen = methods_of(system, driving_methods(adapter, specification, system))
    # The same system with its lines, which need no room where a check is explored.
    writing = specification.instantiate(dict(system.settings), wanted.check, logs=True).system
    assert writing is not None, "it has the settings of the check"
    items = list(_items(system, logged(writing), answer.run, chosen))
    following = [*items[1:], None]
    # Of a step that nobody sees the wait is needed only before something that the test does.
    kept = [one for one, then in zip(items, following, strict=True) if _is_seen(one) or isinstance(then, Step)]
    return Direction(f"{wanted.check}/{wanted.property}", tuple(kept), dict(adapter.called), _groups(system))


def _is_seen(item: Step | Awaited) -> bool:
    return isinstance(item, Step) or bool(item.lines)


def _items(system: System, writing: System, run: Run, chosen: Mapping[int, str]) -> Iterator[Step | Awaited]:
    interpreter, before = Interpreter(writing), run.initial
    places = {variable.name: place for place, variable in enumerate(system.variables)}
    start = next(iter(interpreter.initial_states()))
    sources = [places.get(variable.name) for variable in writing.variables]  # budgets of faults are not counted there
    for step in run.steps:
        action = system.actions[step.action]
        if step.action in chosen:
            yield move(system, step.action, chosen[step.action], step.arguments).step
        elif action.kind != "fault":
            same = tuple(start[at] if place is None else before[place] for at, place in enumerate(sources))
            named = zip(action.parameters, step.arguments, strict=True)
            said = ", ".join(f"{name}: {argument(kind, value)}" for (name, kind), value in named)
            yield Awaited(f"{action.name}({said})", tuple(_lines(interpreter, same, step)))
        before = step.state


def _lines(interpreter: Interpreter, before: State, step: ModelStep) -> Iterator[tuple[str, str]]:
    for found, lines in interpreter.steps_of(step.action, step.arguments, before):
        if found.choices == step.choices:
            for line in lines:
                yield line.event, "" if line.node is None else f"{line.node[0]}-{line.node[1]}"
            return


def _groups(system: System) -> tuple[frozenset[str], ...]:
    """The nodes of each kind of which none has a rank."""
    kinds = {kind for action in system.actions for _, kind in action.parameters if isinstance(kind, Node)}
    return tuple(words(kind) for kind in kinds if not kind.ranked)


class Plan:
    """The first steps of a run: in a third of runs some of those that it is directed by. In a third of these it is all
    of them and nothing else; in the rest from the first on, with others in between here and there, and now and then one
    left out. `dice`: all chance that there is. `missed`: what did not come about, in words."""

    def __init__(self, directed: Sequence[Direction], dice: Random) -> None:
        self._dice, self._waited, self._place = dice, 0, 0
        self._left: list[Step | Awaited] = []
        self._names: dict[str, str] = {}
        self.direction: Direction | None = None
        self.is_whole = False
        self.missed: list[str] = []
        if directed and not dice.randrange(3):
            self.direction = dice.choice(directed)
            items = self.direction.items
            self.is_whole = not dice.randrange(3)
            first = items[: dice.randint(1, len(items))] if items and dice.getrandbits(1) else items
            self._left = list(items) if self.is_whole else [item for item in first if dice.randrange(16)]

    @property
    def lacks(self) -> str:
        """Of a run that begins with the whole: what did not come about first, in words; nothing where all did."""
        return next(iter((*self.missed, *map(_words, self._left))), "")

    def next(
        self, is_possible: Callable[[Step], bool], waits: Sequence[Step], entries: Sequence[Step | Event] = ()
    ) -> Step | None:
        """The next step, or a wait for it to become possible, or for what the service does by itself. `entries`: what
        was done and shown so far. `None`: what comes next is for chance to say."""
        while self._left:
            item = self._left[0]
            if isinstance(item, Awaited):
                patience = len(waits) + PATIENCE if item.lines else 1
                wait = waits[min(self._waited, len(waits) - 1)] if waits and item.lines else None
                if self._has_come(item, entries):
                    self._take()
                    continue
            else:
                step, patience, wait = self._renamed(item), PATIENCE, None
                if step.method == WAIT or is_possible(step):
                    if not (self.is_whole or self._dice.randrange(8)):
                        return None
                    self._take()
                    return step
            if waits and self._waited < patience:
                self._waited += 1
                return wait or self._dice.choice(waits)
            if _is_seen(item):
                self.missed.append(_words(item))
            self._take()
        return None

    def _take(self) -> None:
        self._waited = 0
        self._left.pop(0)

    def _has_come(self, item: Awaited, entries: Sequence[Step | Event]) -> bool:
        """Whether the lines of a step of the service have come since those of the last one."""
        if not item.lines:
            return False
        names, place = dict(self._names), self._place
        for event, node in item.lines:
            found = (
                at
                for at, one in enumerate(entries[place:], start=place)
                if isinstance(one, Event) and one.name == event and self._stands_for(one.node, node, names)
            )
            at = next(found, None)
            if at is None:
                return False
            place = at + 1
        self._names, self._place = names, place
        return True

    def _stands_for(self, node: str, wanted: str, names: dict[str, str]) -> bool:
        """Whether a node is the one that the counterexample means, or can be from now on."""
        assert self.direction is not None, "something is awaited"
        node = self.direction.called.get(node, node)
        if wanted in names or node in names.values():
            return names.get(wanted) == node
        if wanted != node and not any({wanted, node} <= group for group in self.direction.groups):
            return False
        names[wanted] = node
        return True

    def _renamed(self, step: Step) -> Step:
        """A step with the nodes that stand for those of the counterexample."""
        assert self.direction is not None, "something is to be done"
        pairs = []
        for name, value in step.arguments:
            for group in self.direction.groups:
                if value in group and value not in self._names:
                    free = sorted(group - {*self._names.values()}, key=lambda one: (one != value, one))
                    self._names[value] = free[0]
            pairs.append((name, self._names.get(value, value) if isinstance(value, str) else value))
        return Step(step.method, tuple(pairs))


def _words(item: Step | Awaited) -> str:
    """What did not come about, in words."""
    if isinstance(item, Step):
        return f"`{item.text}`, which the model did not allow then"
    lines = ", ".join(f"{node}: {event}" if node else event for event, node in item.lines)
    return f"the service's own `{item.text}`" + (f" with its line `{lines}`" if lines else "")
