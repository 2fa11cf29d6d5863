"""What schedules of code covered of a model: what was possible in some state that explains them, and what never was."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np
from msgspec import Struct, field

from hacheck.compile import from_words
from hacheck.model.failing_conditions import FailingCondition, failing_conditions
from hacheck.model.interpreter import instances as instances_of
from hacheck.testing.state_tracker import Tracker
from hacheck.traces.conformance.interleavings import taken_by

SECONDS = 20.0
"""After so many of this process's CPU it is not known what was never possible."""

MORE_SECONDS = 3.0
"""So many CPU seconds are for counting where everything has been possible, and for conditions that fail."""

STATES_KEPT = 64
"""In so many states it is looked for what an action lacks."""


class ModelCoverage(Struct):
    """Of all schedules that were explored. Faults of the model are left out: they are hidden steps.

    - `instances`: by action, with how many combinations of nodes and other arguments the model has it; `possible`: how
      many of these were possible in some state that explains what the code had shown: without a line, or where its
      lines came next;
    - `states`, `transitions`: of the model, that explain some schedule; `whole`: whether all were looked at in time;
    - `lacks`: by action that never was possible, the fewest conditions that fail together in one of these states; none
      where only its lines never came.
    """

    instances: Counter[str] = field(default_factory=Counter)
    possible: Counter[str] = field(default_factory=Counter)
    states: int = 0
    transitions: int = 0
    whole: bool = True
    lacks: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def never(self) -> list[str] | None:
        """The actions that never were possible, by name; `None`, where there was no time to see that."""
        found = sorted(name for name in self.instances if not self.possible[name])
        return found if self.whole or not found else None


def model_coverage(tracker: Tracker, seconds: float = SECONDS) -> ModelCoverage:
    """What all that a tracker has followed covers. Cost: at most about so many seconds of this process's CPU."""
    found, actions = ModelCoverage(), tracker.system.actions
    instances = tracker.compiled.program.instances
    counted = {number for number, (index, _) in enumerate(instances) if actions[index].kind != "fault"}
    found.instances.update({action.name: 0 for action in actions if action.kind != "fault"})
    found.instances.update(actions[instances[number][0]].name for number in counted)
    seen = _Seen(tracker)
    begun = time.process_time()
    missing = set(counted)
    for rows, window, count in tracker.followed():
        spent = time.process_time() - begun
        if spent > seconds or (spent > MORE_SECONDS and not missing):
            found.whole = False
            break
        missing -= seen.add(rows, window, count)
    found.possible.update(actions[instances[number][0]].name for number in counted - missing)
    found.states, found.transitions = len(seen.states), len(seen.transitions)
    for name in found.never or ():
        found.lacks[name] = _lacking(tracker, name, seen.kept, until=time.process_time() + MORE_SECONDS)
    return found


class _Seen:
    """The states that explain some log, and the steps from them, each by a number drawn from its words; and some of the
    states, any of them as likely."""

    def __init__(self, tracker: Tracker) -> None:
        self._tracker, self._dice = tracker, Random(0)
        drawn = [self._dice.getrandbits(64) | 1 for _ in range(tracker.memory.starts.shape[1] + 1)]
        self._factors = np.array(drawn, np.uint64)
        self.states: set[int] = set()
        self.transitions: set[int] = set()
        self.kept: list[Any] = []

    def add(self, rows: Any, window: Any, count: int) -> set[int]:
        """Takes every step from states that see these lines, of which there are so many. Returns which, by number."""
        memory, compiled = self._tracker.memory, self._tracker.compiled
        for _ in memory.close(rows, window):
            pass
        closed = memory.closed()
        numbers = (closed * self._factors[:-1]).sum(axis=1, dtype=np.uint64)
        for place, number in enumerate(numbers.tolist()):
            if number not in self.states:
                self.states.add(number)
                self._keep(closed[place])
        done: set[int] = set()
        for places, instances, after in memory.steps(closed, window):
            real = taken_by(compiled, after)[:, 0] <= count
            steps = numbers[places[real].astype(np.int64)] + (instances[real] + np.uint64(1)) * self._factors[-1]
            self.transitions.update(np.unique(steps).tolist())
            done.update(np.unique(instances[real]).tolist())
        return done

    def _keep(self, row: Any) -> None:
        if len(self.kept) < STATES_KEPT:
            self.kept.append(row)
        elif (place := self._dice.randrange(len(self.states))) < STATES_KEPT:
            self.kept[place] = row


def _lacking(tracker: Tracker, name: str, rows: list[Any], until: float) -> tuple[str, ...]:
    """What an action lacks in the nearest of some states, as parts of a sentence."""
    best: tuple[FailingCondition, ...] | None = None
    for failing in _failing(tracker, name, rows):
        if best is None or len(failing) < len(best):
            best = failing
        if not best or time.process_time() > until:
            break
    return tuple(one.words for one in best or ())


def _failing(tracker: Tracker, name: str, rows: list[Any]) -> Iterator[tuple[FailingCondition, ...]]:
    for row in rows:
        state = tracker.compiled.state(from_words(row.tolist()))
        for index, action in enumerate(tracker.system.actions):
            if action.name == name:
                for arguments in instances_of(action):
                    yield failing_conditions(tracker.system, state, index, arguments)
