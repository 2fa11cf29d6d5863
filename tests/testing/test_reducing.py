"""Runs that fail are told as short as they can be."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from hacheck.testing import Adapter, Disagreement, do
from hacheck.testing import run_reduction as reducing_module
from hacheck.testing.run_reduction import failure, reduced
from hacheck.testing.stimuli import Step
from hacheck.testing.tested_model import model_for
from tests.testing.services import Counting


class Alarm(Counting):
    """Goes wrong when it has counted to two and then stood still for three seconds without another look."""

    waits = (1.0, 3.0)

    def start(self) -> None:
        """Starts it."""
        super().start()
        self.still = 0.0

    def count(self, s: str) -> None:
        """Counts; standing still is over."""
        super().count(s)
        self.still = 0.0

    def wait(self, seconds: float) -> None:
        """Stands still."""
        self.still = self.still + seconds if self.number == 2 else 0.0
        if self.still >= 3.0:
            self._show("even")


COUNT = do("count", s="Server-1")


def random_failing(adapter: type[Adapter], seed: int) -> Disagreement | None:
    """A random run, if it fails."""
    chance = random.Random(seed)
    choices: Sequence[Step] = [COUNT, *(do("wait", seconds=seconds) for seconds in adapter.waits)]
    return failure(adapter, model_for(adapter), tuple(chance.choice(choices) for _ in range(15)))


def test_no_step_can_be_left_out_of_what_is_told() -> None:
    tried = 0
    for seed in range(40):
        found = random_failing(Alarm, seed)
        if found is None:
            continue
        tried += 1
        least = reduced(Alarm, found)
        assert least.steps == (COUNT, COUNT, do("wait", seconds=3.0))
        for place in range(len(least.steps)):
            shorter = least.steps[:place] + least.steps[place + 1 :]
            assert failure(Alarm, model_for(Alarm), shorter) is None
    assert tried > 10


class TwoMistakes(Alarm):
    """Has another mistake, which shows sooner."""

    def count(self, s: str) -> None:
        """Says at three what it says of even numbers."""
        super().count(s)
        if self.number == 3:
            self._show("counted")


def test_what_is_told_is_the_same_mistake() -> None:
    tried = set()
    for seed in range(40):
        found = random_failing(TwoMistakes, seed)
        if found is None:
            continue
        assert found.broken is not None
        least = reduced(TwoMistakes, found)
        assert least.broken is not None
        assert least.broken.event.name == found.broken.event.name
        tried.add(found.broken.event.name)
    assert tried == {"even", "counted"}


class Invariant(Counting):
    """Is asked for an invariant of the model that does not hold."""

    invariants = ("small",)


def test_runs_that_violate_an_invariant_are_reduced_too() -> None:
    steps = (do("wait", seconds=1.0), COUNT, COUNT, do("wait", seconds=1.0), COUNT, COUNT)
    found = failure(Invariant, model_for(Invariant), steps)
    assert found is not None
    assert reduced(Invariant, found).steps == (COUNT, COUNT, COUNT)


def test_when_time_is_up_what_was_found_is_told() -> None:
    steps = (COUNT, COUNT, *[do("wait", seconds=1.0)] * 5)
    found = failure(Alarm, model_for(Alarm), steps)
    assert found is not None
    assert reduced(Alarm, found, seconds=0.0) is found


class Wide(Counting):
    """May be explained by one state."""

    capacity = 1


def test_a_shorter_run_that_is_undecided_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    found = failure(Alarm, model_for(Alarm), (COUNT, COUNT, *[do("wait", seconds=1.0)] * 3))
    assert found is not None
    monkeypatch.setattr(reducing_module, "failure", lambda *_: None)
    assert reduced(Alarm, found) is found
