"""The shortest story of a run that fails: fewest faults, then nodes, then steps, then the least waiting."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import product
from typing import TypeAlias

from hacheck.testing.adapter import Adapter
from hacheck.testing.session import Disagreement, Session
from hacheck.testing.stimuli import SETTLE, WAIT, Step
from hacheck.testing.tested_model import Model, is_fault, model_for

SECONDS = 20.0
"""So long a run is reduced; what has been found by then is reported."""

STRETCH_MAX = 6
"""So many steps together are replaced by waits at most."""

Steps: TypeAlias = tuple[Step, ...]


def reduced(adapter: type[Adapter], found: Disagreement, seconds: float = SECONDS) -> Disagreement:
    """A run that fails as this one does (at a line of the same event, by the same invariants, or by not serving at its
    end), and from which no step can be left out. Cost: as many runs as the square of its steps, and some hundred to
    find waits that do as well."""
    model = model_for(adapter)
    until = time.monotonic() + seconds
    best = found

    def try_with(steps: Steps) -> bool:
        nonlocal best
        if time.monotonic() > until:
            return False
        again = failure(adapter, model, steps)
        if again is None or not _same_failure(again, found) or _size(model, again.steps) >= _size(model, best.steps):
            return False
        best = again
        return True

    every = (_without, _shorter(adapter.waits), _without_but_waiting(adapter.waits), _waiting_instead(adapter.waits))
    while any(try_with(changed) for changes in every for changed in changes(best.steps)):
        pass
    return best


def failure(adapter: type[Adapter], model: Model, steps: Steps) -> Disagreement | None:
    """How a run disagrees with the model, if it does. Steps that the model does not allow are left out. A run that ends
    with another error, also one of the system, is not like the one that is reduced."""
    session = Session(model, adapter())
    failed: Disagreement | None = None
    try:
        session.begin()
        for step in steps:
            session.take(step)
    except Disagreement as found:
        failed = found
    except Exception:
        return None
    finally:
        with suppress(Exception):
            session.end(failed)
    return failed


def _same_failure(one: Disagreement, other: Disagreement) -> bool:
    if one.broken is None or other.broken is None:
        return one.violated == other.violated and bool(one.owed) == bool(other.owed) and one.broken is other.broken
    return one.broken.event.name == other.broken.event.name


def _size(model: Model, steps: Steps) -> tuple[float, ...]:
    """What is to be small, the most important first."""
    faults = sum(step.method not in (WAIT, SETTLE) and is_fault(model, step.method) for step in steps)
    words = {value for step in steps for _, value in step.arguments if isinstance(value, str)}
    waited = sum(float(value) for step in steps if step.method == WAIT for _, value in step.arguments)
    return faults, len(words), len(steps), waited


def _without(steps: Steps) -> Iterator[Steps]:
    """With some steps left out: those of one method, those about one node, then stretches, long ones first; two that
    belong together, as a pause and its end do, are left out together."""
    for method in dict.fromkeys(step.method for step in steps):
        yield tuple(step for step in steps if step.method != method)
    for word in dict.fromkeys(value for step in steps for _, value in step.arguments if isinstance(value, str)):
        yield tuple(step for step in steps if all(value != word for _, value in step.arguments))
    length = len(steps) // 2
    while length:
        for start in range(0, len(steps) - length + 1, length):
            yield (*steps[:start], *steps[start + length :])
        length //= 2
    for first, second in _pairs(steps):
        yield (*steps[:first], *steps[first + 1 : second], *steps[second + 1 :])


def _pairs(steps: Steps) -> Iterator[tuple[int, int]]:
    for first, step in enumerate(steps):
        for second in range(first + 1, len(steps)):
            if step.method != WAIT and steps[second].arguments == step.arguments:
                yield first, second
                break


def _without_but_waiting(waits: Sequence[float]) -> Callable[[Steps], Iterator[Steps]]:
    """With two steps left out that belong together, and with one wait more in any place."""

    def changes(steps: Steps) -> Iterator[Steps]:
        for first, second in _pairs(steps):
            left = (*steps[:first], *steps[first + 1 : second], *steps[second + 1 :])
            for place in range(len(left)):
                for seconds in sorted(waits):
                    yield (*left[:place], _wait(seconds), *left[place:])

    return changes


def _waiting_instead(waits: Sequence[float]) -> Callable[[Steps], Iterator[Steps]]:
    """With a few steps replaced by fewer waits: what happens at one time only is often hit by chance first."""

    def changes(steps: Steps) -> Iterator[Steps]:
        for length in range(STRETCH_MAX, 1, -1):
            for count in range(1, min(length, 3)):
                for start in range(len(steps) - length + 1):
                    for some in product(sorted(waits), repeat=count):
                        yield (*steps[:start], *map(_wait, some), *steps[start + length :])

    return changes


def _wait(seconds: float) -> Step:
    return Step(WAIT, (("seconds", seconds),))


def _shorter(waits: Sequence[float]) -> Callable[[Steps], Iterator[Steps]]:
    """With less waiting, or with two waits as one."""

    def changes(steps: Steps) -> Iterator[Steps]:
        for place, step in enumerate(steps):
            if step.method != WAIT:
                continue
            for seconds in sorted(waits):
                yield (*steps[:place], _wait(seconds), *steps[place + 1 :])
            if place + 1 < len(steps) and steps[place + 1].method == WAIT:
                for seconds in sorted(waits):
                    yield (*steps[:place], _wait(seconds), *steps[place + 2 :])

    return changes
