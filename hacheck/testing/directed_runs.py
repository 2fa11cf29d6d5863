"""Runs that random ones begin with: steps that somebody wrote down, or a counterexample of the spec."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from hacheck.checker.verify import questions_of
from hacheck.testing.adapter import Adapter
from hacheck.testing.check_results import explored
from hacheck.testing.driven_system import methods_of, move
from hacheck.testing.stimuli import WAIT, Step
from hacheck.testing.tested_model import BadModel, driving_methods, place_of, specification_of

PATIENCE = 3
"""So many waits a directed step is given until the model allows it; then it is left out."""


class Counterexample(Struct, frozen=True):
    """The shortest run that violates a property (or reaches a `reachable`) under a check of the adapter's spec: what of
    it the adapter drives. For `Adapter.directed`."""

    check: str
    property: str


Directed: TypeAlias = Sequence[Step] | Counterexample
"""What a random run may begin with."""


def directed_steps(adapter: type[Adapter]) -> tuple[tuple[Step, ...], ...]:
    """The steps of all that an adapter is directed by. Cost: an exploration for each counterexample. Errors:
    `BadModel` where a check or a property is unknown, or no run shows it."""
    return tuple(
        tuple(_steps_of(adapter, one)) if isinstance(one, Counterexample) else tuple(one) for one in adapter.directed
    )


def _steps_of(adapter: type[Adapter], wanted: Counterexample) -> Iterator[Step]:
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
    for step in answer.run.steps:
        if step.action in chosen:
            yield move(system, step.action, chosen[step.action], step.arguments).step


class Plan:
    """The first steps of a run: in a third of runs some of those that it is directed by, from the first on, with others
    in between here and there, and now and then one left out; nothing in the rest. `dice`: all chance that there is."""

    def __init__(self, directed: Sequence[Sequence[Step]], dice: Random) -> None:
        self._dice, self._waited = dice, 0
        self._left: list[Step] = []
        if directed and not dice.randrange(3):
            steps = dice.choice(directed)
            first = steps[: dice.randint(1, len(steps))] if steps and dice.getrandbits(1) else steps
            self._left = [step for step in first if dice.randrange(16)]

    def next(self, is_possible: Callable[[Step], bool], waits: Sequence[Step]) -> Step | None:
        """The next step, or a wait for it to become possible. `None`: what comes next is for chance to say."""
        while self._left:
            step = self._left[0]
            if step.method == WAIT or is_possible(step):
                if not self._dice.randrange(8):
                    return None
                self._waited = 0
                return self._left.pop(0)
            if waits and self._waited < PATIENCE:
                self._waited += 1
                return self._dice.choice(waits)
            self._waited = 0
            self._left.pop(0)
        return None
