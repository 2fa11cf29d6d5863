"""An invariant is looked at after every line, however many lines come at once, and whatever the adapter does then."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hacheck.testing import Adapter, Disagreement, Event, do, replay
from hacheck.testing.hypothesis_machine import run_state_machine
from hacheck.testing.run_options import OPTIONS, Options
from tests.testing.services import FEW

BOTH = [("Worker-1", "entered"), ("Worker-2", "entered"), ("Worker-1", "left"), ("Worker-2", "left")]


class Workers(Adapter):
    """Two workers that enter and leave by themselves; nobody looks before both have left."""

    spec = "mutex.ha"
    invariants = ("one_inside",)
    waits = (1.0,)
    at_once = 4

    def start(self) -> None:
        """Nobody has worked."""
        self._left: list[Event] = []

    def wait(self, seconds: float) -> None:
        """Both work."""
        self._left = [Event(node, name, {}) for node, name in BOTH]

    def events(self) -> Iterator[Event]:
        """As many lines as are handed over at once."""
        shown, self._left = self._left[: self.at_once], self._left[self.at_once :]
        yield from shown


class OneByOne(Workers):
    """The same lines, a line at a time."""

    at_once = 1


@pytest.fixture(autouse=True)
def _kept_here(tmp_path: Path) -> Iterator[None]:
    token = OPTIONS.set(Options(runs=tmp_path / "runs"))
    yield
    OPTIONS.reset(token)


@pytest.mark.parametrize("adapter", [Workers, OneByOne])
def test_what_is_violated_and_mended_between_two_looks_is_found(adapter: type[Adapter]) -> None:
    with pytest.raises(Disagreement) as found:
        run_state_machine(adapter, FEW)
    assert found.value.violated == ("one_inside",)
    shown = [(one.node, one.name) for one in found.value.entries if isinstance(one, Event)]
    assert shown == BOTH[:2], "the run ends at the line behind which it is violated"


def test_it_is_found_when_the_run_is_done_again() -> None:
    with pytest.raises(Disagreement):
        replay(Workers, [do("wait", seconds=1.0)])
    replay(Workers, [])
