"""Actions of several steps are begun by a test and go on by themselves; a step that is half shown says what is due."""

from __future__ import annotations

from typing import ClassVar

import pytest

from hacheck.testing import Adapter, Disagreement, Event, do, replay
from hacheck.testing.driven_system import methods_of
from hacheck.testing.hypothesis_machine import run_state_machine
from hacheck.testing.tested_model import model_for
from tests.testing.services import FEW


class Pair(Adapter):
    """Two servers that do as the model says."""

    spec = "backup.ha"
    waits = ()
    told: ClassVar[bool] = True

    def start(self) -> None:
        """Starts them."""
        self._numbers = {"Server-1": 0, "Server-2": 0}
        self._shown: list[Event] = []

    def begin(self, s: str) -> None:
        """One leads from now on."""

    def add(self, s: str) -> None:
        """It adds, and tells the other one."""
        number = self._numbers[s] + 1
        self._numbers.update(dict.fromkeys(self._numbers, number) if self.told else {s: number})
        self._show(s, "added")

    def read(self, s: str) -> None:
        """One is asked."""
        self._show(s, "is_now")

    def put(self, s: str, number: int) -> None:
        """An operator writes a number."""
        self._numbers[s] = number
        self._show(s, "put")

    def events(self) -> list[Event]:
        """What they have shown."""
        shown, self._shown = self._shown, []
        return shown

    def _show(self, node: str, name: str) -> None:
        self._shown.append(Event(node, name, {"number": self._numbers[node]}))


class Forgetful(Pair):
    """The other one is not told."""

    told = False


class Careless(Pair):
    """Writes another number than it was given."""

    def put(self, s: str, number: int) -> None:
        """An operator writes a number."""
        super().put(s, number=2 - number)


def test_later_steps_are_not_done_by_the_test() -> None:
    system = model_for(Pair).system
    names = [action.name for action in system.actions]
    assert "add.store" in names
    assert [names[index] for index in methods_of(system, ["add"])] == ["add"]
    assert [names[index] for index in methods_of(system, ["add_store"])] == ["add.store"], "where it is asked for"


def test_a_service_that_does_all_steps_at_once_follows() -> None:
    run_state_machine(Pair, FEW)
    replay(Pair, [do("begin", s="Server-1"), do("add", s="Server-1"), do("read", s="Server-2")])


def test_what_a_driven_step_should_have_shown_is_told() -> None:
    steps = [do("begin", s="Server-1"), do("add", s="Server-1"), do("read", s="Server-2")]
    with pytest.raises(Disagreement) as found:
        replay(Forgetful, steps)
    told = str(found.value)
    assert told.startswith("Forgetful does not follow Backup: Server-2: is_now(number: 0)")
    assert "\n\nHere the model would have shown:\n  Server 2: is_now(number: 1)\n" in told
    assert "`number` would be 1 (`s.number`), and the line has 0" in told
    assert "\n\nTo see it again" in told
    assert "nothing more" not in told
    assert "without this line" not in told, "it is the step's first line that would have to go"


def test_arguments_that_would_fit_are_told() -> None:
    with pytest.raises(Disagreement) as found:
        replay(Careless, [do("put", s="Server-1", number=0)])
    told = str(found.value)
    assert "Here the model would have shown:\n  Server 1: put(number: 0)\n" in told
    assert "It would pass if the test had done `put` with another `number`.\n" in told


def test_where_it_was_noticed_is_not_told() -> None:
    with pytest.raises(Disagreement) as found:
        replay(Careless, [do("put", s="Server-1", number=0)])
    assert [entry.name for entry in found.traceback][1:] == ["replay"], "nothing of what is inside"
