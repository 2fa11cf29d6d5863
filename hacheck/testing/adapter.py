"""What a test needs from a system under test: something that can be started, acted upon, and watched."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from hacheck.testing.encoding import Event
from hacheck.traces.conformance.following import CAPACITY

__all__ = ["Adapter", "Event"]


class Adapter:
    """A system under test, in terms of a model. To be subclassed; a new one is made for every run.

    A method that has the name of an action of the model makes the system do it: for `action acquire(c: Client)` it is
    `def acquire(self, c)`, for `crash Server` it is `def crash(self, n)` or, where the model has several kinds of nodes
    that crash, `def crash_Server(self, n)`. It gets the action's arguments by name: nodes as `"Server-1"`, enumerated
    values as words, numbers and truth values as they are, nothing as `None`. It returns `False` if it could not be done
    after all: the system has nothing to do it to. Whatever else it returns is passed over.

    Actions without such a method are the system's own: the test waits for them, and the model may take them whenever
    it explains a line.
    """

    spec: str | Path = ""
    """The model: a `.ha` file, beside the adapter's own or relative to the current folder, or a shipped spec's name."""

    check: str | None = None
    """Under the settings of which of its checks; without, of `default`. Those of its `trace` come before them."""

    settings: Mapping[str, object] = {}
    """Further settings, which come before all others."""

    invariants: tuple[str, ...] | None = None
    """The invariants looked at on the way; without, all that the check does not expect to be violated."""

    called: Mapping[str, str] = {}
    """The model's names of nodes, as `Server-1`, by what the system's lines call them."""

    capacity: int = CAPACITY
    """The most states of the model that may explain a run at once; with more, nobody can tell whether it is right."""

    waits: tuple[float, ...] = (0.001, 0.01, 0.1, 1.0, 10.0)
    """Seconds that a test may let pass at once. None: time passes by itself."""

    def start(self) -> None:
        """Starts the system anew, in a state that the model begins in."""
        raise NotImplementedError(f"{type(self).__name__} has no `start`")

    def events(self) -> Iterable[Event]:
        """The lines that the system has shown since this was asked the last time, in the order in which they were
        written: events that the spec has a `log` or an `observe` for. Others are passed over."""
        raise NotImplementedError(f"{type(self).__name__} has no `events`")

    def wait(self, seconds: float) -> None:
        """Lets time pass, with all that happens in it: messages arrive, timers fire."""
        raise NotImplementedError(f"{type(self).__name__} has no `wait`; where time passes by itself say `waits = ()`")

    def stop(self) -> None:
        """Ends the system. Called once for each `start`, also after an error."""

    def story(self) -> str:
        """What is to be said of a run besides its lines, for people, when it fails."""
        return ""


def methods(adapter: type[Adapter]) -> frozenset[str]:
    """The names of the methods that an adapter has beyond those of every adapter."""
    own = frozenset(dir(adapter)) - frozenset(dir(Adapter))
    return frozenset(name for name in own if not name.startswith("_") and callable(getattr(adapter, name)))


def does(adapter: Adapter, method: str, arguments: dict[str, Any]) -> bool:
    """Makes a system do something. Returns whether it did."""
    return getattr(adapter, method)(**arguments) is not False
