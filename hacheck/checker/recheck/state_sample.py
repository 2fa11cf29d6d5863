"""Re-checks random states of a finished search with the second meaning, for so many seconds.

A state of the visited set is drawn, and a run traced back to it, so that a concrete state is known which it stands for;
the steps of the second interpreter from there must be those of the first, and each must lead to a state of the visited
set. From what was reached so, more states are drawn: all of them are reachable.
"""

from __future__ import annotations

import random
import time
from collections.abc import Mapping

from msgspec import Struct

from hacheck.checker.explicit.run_reconstruction import run_along
from hacheck.checker.explicit.search_result import Subject
from hacheck.checker.recheck.interpreter_comparison import Compared, Comparison, Difference
from hacheck.checker.recheck_result import GoOn, Rechecked, ShownDifference, Visited
from hacheck.model import direct
from hacheck.model.language import Specification
from hacheck.model.runs import State
from hacheck.supervise.task import Cancelled

KNOWN_MAX = 50_000
"""So many states that wait to be re-checked are remembered."""
SHARE = 0.4
"""Of the time may be spent on tracing runs back."""
SHOWN = 40
"""Values of a state that are shown where something differs."""


class Sampling(Struct, frozen=True):
    """How to re-check: a spec under the settings of a check, for how long. `seed`: none for other states each time."""

    specification: Specification
    settings: Mapping[str, str]
    check: str
    seconds: float
    seed: int | None = None

    def __call__(self, subject: Subject, visited: Visited, searched_seconds: float, go_on: GoOn) -> Rechecked:
        """Until the time is over, everything has been re-checked, or something differs."""
        return _Sample(self, subject, visited, go_on).run(searched_seconds)

    def comparison(self, subject: Subject) -> Comparison:
        """The two meanings. Errors: `direct.UnsupportedError`."""
        known = any(one.name == self.check for one in self.specification.checks)
        check = self.check if known else None
        instance = self.specification.instantiate(self.settings, check)
        if not subject.exact or instance.system != subject.system:
            raise direct.UnsupportedError("a counter without an end")
        second = direct.load(self.specification, self.settings, check)
        return Comparison(subject.system, instance.kept, self.specification.declarations, second)


class _Sample:
    """One re-check while it is under way. `paths`: for each state known the state before it and the step."""

    def __init__(self, sampling: Sampling, subject: Subject, visited: Visited, go_on: GoOn) -> None:
        self.sampling, self.subject, self.visited, self.go_on = sampling, subject, visited, go_on
        self.random = random.Random(sampling.seed)
        self.began = time.perf_counter()
        self.paths: dict[State, tuple[State, str] | None] = {}
        self.waiting: list[State] = []
        self.states = self.steps = 0
        self.left_out = False
        self.tracing = 0.0
        self.differences: list[ShownDifference] = []

    @property
    def spent(self) -> float:
        return time.perf_counter() - self.began

    def run(self, searched_seconds: float) -> Rechecked:
        try:
            two = self.sampling.comparison(self.subject)
            states, found = two.start()
        except direct.UnsupportedError as error:
            return Rechecked(0, 0, self.visited.size, self.spent, unsupported=str(error))
        self._show(found, two)
        for state in states:
            self._know(state, None)
        while self.waiting and not self.differences and self.spent < self.sampling.seconds and self.go_on(self.states):
            self._trace_back(searched_seconds)
            self._recheck(two, self._drawn())
        return Rechecked(
            self.states,
            self.steps,
            self.visited.size,
            self.spent,
            tuple(self.differences),
            everything=not self.waiting and not self.left_out and not self.differences,
        )

    def _drawn(self) -> State:
        place = self.random.randrange(len(self.waiting))
        self.waiting[place], self.waiting[-1] = self.waiting[-1], self.waiting[place]
        return self.waiting.pop()

    def _know(self, state: State, before: tuple[State, str] | None) -> None:
        if state in self.paths:
            return
        if len(self.waiting) >= KNOWN_MAX:
            self.left_out = True
            return
        self.paths[state] = before
        self.waiting.append(state)

    # ---- states of the visited set ----

    def _trace_back(self, searched_seconds: float) -> None:
        """Makes the states of a run to a random state known, if there is time for it."""
        left = self.sampling.seconds - self.spent
        if self.tracing > SHARE * self.spent or left <= 0:
            return
        share = 1.0 if searched_seconds <= 0 else min(1.0, SHARE * left / searched_seconds)
        number = self.random.randrange(max(1, int(self.visited.size * share)))
        begun = time.perf_counter()
        try:
            run = run_along(self.subject, self.visited.path_to([self.visited.packed(number)]))
        except Cancelled:
            self.tracing = float("inf")
            return
        self.tracing += time.perf_counter() - begun
        actions, before = self.subject.system.actions, run.initial
        for step in run.steps:
            self._know(step.state, (before, actions[step.action].name))
            before = step.state

    # ---- one state ----

    def _recheck(self, two: Comparison, state: State) -> None:
        compared = two.compare(state)
        self.states += 1
        self.steps += compared.steps
        self._show(compared.differences or self._lost(state, compared), two)
        actions = self.subject.system.actions
        for taken in compared.successors:
            self._know(taken.step.state, (state, actions[taken.step.action].name))

    def _lost(self, state: State, compared: Compared) -> tuple[Difference, ...]:
        """Steps to states that are not in the visited set."""
        if not self.visited.complete:
            return ()
        actions = self.subject.system.actions
        lost = [
            actions[taken.step.action].name
            for taken in compared.successors
            if not self.visited.contains(self.subject.reduce(taken.step.state))
        ]
        if not lost:
            return ()
        words = f"{', '.join(sorted(set(lost)))}: leads to a state that the search has not"
        return (Difference("visited", state, words, "the step is possible"),)

    def _show(self, found: tuple[Difference, ...], two: Comparison) -> None:
        for one in found:
            shown: tuple[str, ...] = ()
            if one.state is not None:
                observed = two.observer.observe(one.state)
                changed = [(key, value) for key, value in observed.items() if two.observer.defaults.get(key) != value]
                shown = tuple(sorted(f"{' '.join(map(str, key))} = {value}" for key, value in changed)[:SHOWN])
            self.differences.append(ShownDifference(one.where, self._path(one.state), shown, one.first, one.second))

    def _path(self, state: State | None) -> tuple[str, ...]:
        """The steps that lead to a state."""
        names: list[str] = []
        while state is not None:
            before = self.paths.get(state)
            if before is None:
                break
            state = before[0]
            names.append(before[1])
        return tuple(reversed(names))
