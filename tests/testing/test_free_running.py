"""Services that go on by themselves: their lines carry times, and what they do by chance is not held against them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from random import Random
from typing import ClassVar

import pytest
from hypothesis import settings

from hacheck.testing import SETTINGS, Adapter, Disagreement, Event, Undecided, UnfitEvent, do, replay
from hacheck.testing import run_reduction as reduction_module
from hacheck.testing.hypothesis_machine import run_state_machine
from hacheck.testing.run_options import OPTIONS, Options
from hacheck.testing.run_reduction import reduced

SPEC = """
system Working "A worker that is stopped writes nothing."

node Worker[2] { last: 0..200 = 0 }

action work(w: Worker) do
  w.last := w.last + 1
  log wrote(n: w.last) at w

environment action forget(w: Worker) when w.last == 0 do w.last := 0

faults { pause Worker }

check default expect all hold
"""


@pytest.fixture(autouse=True)
def _kept_here(tmp_path: Path) -> Iterator[None]:
    (tmp_path / "working.ha").write_text(SPEC)
    Workers.spec = tmp_path / "working.ha"
    token = OPTIONS.set(Options(runs=tmp_path / "runs"))
    yield
    OPTIONS.reset(token)


class Workers(Adapter):
    """Two workers that write whenever the clock moves, which every look at it does."""

    waits = (1.0,)
    stamped: ClassVar[bool] = True
    lag: ClassVar[float] = 0.0
    wrong: ClassVar[bool] = False
    dice: ClassVar[Random] = Random(5)

    def start(self) -> None:
        """Starts them."""
        self.now = 0.0
        self.stopped: set[str] = set()
        self.numbers = {"Worker-1": 0, "Worker-2": 0}
        self.written: list[Event] = []

    def _pass(self) -> None:
        self.now += 1.0
        for worker in self.numbers:
            if (self.wrong or worker not in self.stopped) and self.dice.random() < 0.3:
                self.numbers[worker] += 1
                at = self.now if self.stamped else None
                self.written.append(Event(worker, "wrote", {"n": self.numbers[worker]}, at))

    def clock(self) -> float:
        """Time passes."""
        self._pass()
        return self.now

    def wait(self, seconds: float) -> None:
        """Time passes."""
        self._pass()

    def pause(self, n: str) -> object:
        """Stops one, some time after it was asked for."""
        self._pass()
        if n in self.stopped:
            return False
        self.stopped.add(n)
        self._pass()
        return None

    def resume(self, n: str) -> object:
        """Lets it go on."""
        self._pass()
        if n not in self.stopped:
            return False
        self.stopped.remove(n)
        self._pass()
        return None

    def events(self) -> Iterator[Event]:
        """What can be read: some of it is a moment late."""
        self._pass()
        ready = [one for one in self.written if one.at is None or one.at <= self.now - self.lag]
        self.written = [one for one in self.written if one not in ready]
        return iter(ready)


MANY = settings(SETTINGS, max_examples=60, stateful_step_count=20)


def test_a_right_service_that_goes_on_by_itself_is_let_alone() -> None:
    """What may be done depends on what workers did meanwhile: nothing that Hypothesis draws may."""
    run_state_machine(Workers, MANY)


def test_a_worker_that_goes_on_while_it_is_stopped_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Workers, "wrong", True)
    with pytest.raises(Disagreement) as found:
        run_state_machine(Workers, MANY)
    assert found.value.broken is not None
    assert found.value.broken.event.name == "wrote"
    assert "> pause" in str(found.value)


def test_without_times_a_line_that_was_written_before_is_held_against_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Workers, "stamped", False)
    with pytest.raises(Disagreement):
        run_state_machine(Workers, MANY)


class Scripted(Workers):
    """Writes what it is asked to, as `(node, n, at)`; a pause is done between 10 and 11."""

    lines: ClassVar[list[tuple[str, int, float]]] = []

    def start(self) -> None:
        """Starts."""
        super().start()
        self.times = iter([1.0, 2.0, 10.0, 11.0, *map(float, range(20, 60))])
        self.paused = False

    def clock(self) -> float:
        """The moments of a script."""
        return next(self.times)

    def wait(self, seconds: float) -> None:
        """Nothing."""

    def pause(self, n: str) -> object:
        """Stops all."""
        self.paused = True
        return None

    def events(self) -> Iterator[Event]:
        """All lines, once it was stopped."""
        if self.paused:
            self.paused = False
            return iter([Event(node, "wrote", {"n": n}, at) for node, n, at in self.lines])
        return iter([])


PAUSE = [do("pause", n="Worker-1")]


@pytest.mark.parametrize("at", [5.0, 10.0, 10.5, 11.0])
def test_a_line_that_may_have_come_before_a_pause_is_right(monkeypatch: pytest.MonkeyPatch, at: float) -> None:
    monkeypatch.setattr(Scripted, "lines", [("Worker-1", 1, at), ("Worker-2", 1, 12.0)])
    replay(Scripted, PAUSE)


def test_a_line_that_surely_came_behind_a_pause_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Scripted, "lines", [("Worker-1", 1, 5.0), ("Worker-1", 2, 10.5), ("Worker-1", 3, 11.5)])
    with pytest.raises(Disagreement) as found:
        replay(Scripted, PAUSE)
    assert found.value.broken is not None
    assert found.value.broken.event.fields == {"n": 3}
    told = str(found.value).splitlines()
    places = [next(place for place, line in enumerate(told) if text in line) for text in ("n: 1", "> pause", "n: 2")]
    assert places == sorted(places), "the line of 5.0 stands before the pause of 10.0"


def test_lines_of_two_nodes_are_put_together_by_their_times(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Scripted, "lines", [("Worker-2", 2, 9.0), ("Worker-2", 1, 8.0), ("Worker-1", 1, 9.5)])
    replay(Scripted, PAUSE)


def test_a_time_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Scripted, "lines", [("Worker-1", 1, "noon")])
    with pytest.raises(UnfitEvent, match="`at` of `wrote` is 'noon': when a line was written is a number"):
        replay(Scripted, PAUSE)


ENDING = """
system Ending "Who is stopped writes nothing, and the model is informed of who goes on."

node Worker[2] { }

action work(w: Worker) do log wrote() at w

faults { pause Worker crash Worker }

check default expect all hold
"""


class Recovering(Adapter):
    """Ends its faults, and writes a line of each worker then."""

    waits = (1.0,)
    done: ClassVar[list[str]] = []

    def start(self) -> None:
        """Starts."""
        self.shown: list[Event] = []

    def events(self) -> list[Event]:
        """What was shown."""
        shown, self.shown = self.shown, []
        return shown

    def wait(self, seconds: float) -> None:
        """Nothing."""

    def pause(self, n: str) -> None:
        """Stops."""

    def crash(self, n: str) -> None:
        """Ends."""

    def resume(self, n: str) -> None:
        """Goes on."""
        self.done.append(f"resume {n}")

    def restart(self, n: str) -> None:
        """Comes back."""
        self.done.append(f"restart {n}")

    def settle(self) -> str:
        """All work again."""
        self.shown += [Event("Worker-1", "wrote"), Event("Worker-2", "wrote")]
        return ""


def test_faults_that_settling_ends_are_ended_in_the_model_first(tmp_path: Path) -> None:
    (tmp_path / "ending.ha").write_text(ENDING)
    Recovering.spec = tmp_path / "ending.ha"
    Recovering.done.clear()
    replay(Recovering, [do("pause", n="Worker-1"), do("crash", n="Worker-2"), do("settle")])
    assert sorted(Recovering.done) == ["restart Worker-2", "resume Worker-1"]
    run_state_machine(Recovering, settings(SETTINGS, max_examples=15, stateful_step_count=10))


def test_an_event_needs_no_fields() -> None:
    assert Event("Worker-1", "entered") == Event("Worker-1", "entered", {})
    assert Event("Worker-1", "entered").text == "Worker-1: entered"


def test_making_small_ends_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a service whose runs take long, with steps that cannot be left out."""
    monkeypatch.setattr(Workers, "wrong", True)
    with pytest.raises(Disagreement) as caught:
        run_state_machine(Workers, MANY)
    caught.value.entries = (*[do("wait", seconds=1.0)] * 30, *caught.value.entries)
    seconds, tried = count(), []
    monkeypatch.setattr(time, "monotonic", lambda: float(next(seconds)))
    monkeypatch.setattr(reduction_module, "failure", lambda *given: tried.append(given))
    assert reduced(Workers, caught.value, 7.0) is caught.value
    assert len(tried) == 7


class Forgetful(Scripted):
    """Is asked to do what the model allows only before the first line."""

    def forget(self, w: str) -> None:
        """Nothing."""
        self.paused = True


@pytest.mark.parametrize("at", [5.0, 10.5])
def test_a_step_that_came_too_late_decides_nothing(monkeypatch: pytest.MonkeyPatch, at: float) -> None:
    """Before it was done the model had come, or may have come, to where it does not allow it."""
    monkeypatch.setattr(Scripted, "lines", [("Worker-1", 1, at), ("Worker-1", 1, 12.0)])
    with pytest.raises(Undecided, match=r"the run of Forgetful went on while a step was done at .*refuse a step"):
        replay(Forgetful, [do("forget", w="Worker-1")])


def test_a_step_that_came_in_time_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Scripted, "lines", [("Worker-1", 1, 10.5), ("Worker-1", 2, 12.0)])
    replay(Forgetful, [do("forget", w="Worker-1")])
