"""What a test needs from a system under test: something that can be started, acted upon, and watched."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hacheck.testing.line_encoding import Event
from hacheck.testing.stimuli import Step
from hacheck.traces.conformance.follower import CAPACITY

if TYPE_CHECKING:
    from hacheck.testing.directed_runs import Directed
    from hacheck.testing.scenarios import Part

__all__ = ["Adapter", "Event"]


class Adapter:
    """A system under test, in terms of a model. To be subclassed; a new one is made for every run.

    A method that has the name of an action of the model makes the system do it: for `action acquire(c: Client)` it is
    `def acquire(self, c)`, for `crash Server` it is `def crash(self, n)` or, where the model has several kinds of nodes
    that crash, `def crash_Server(self, n)`. It gets the action's arguments by name: nodes as `"Server-1"`, enumerated
    values as words, numbers and truth values as they are, nothing as `None`. It returns `False` if it could not be done
    after all: the system has nothing to do it to. Whatever else it returns is passed over.

    An action that has the name of a method below, or of a word of Python, is driven by its name with `_` behind it: for
    `action stop(s: Server)` it is `def stop_(self, s)`. Where one method does them all, `drives` names the actions, and
    `act` does them.

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
    """The most states of the model that may explain a run at once; with more, a run is undecided."""

    drives: tuple[str, ...] = ()
    """The names of further actions that the test does, by `act`: as a method of theirs would be called."""

    besides: tuple[Step, ...] = ()
    """What a test may do at any moment, by `act`, of which the model sees nothing: faults that it is to take for
    hidden. Names of their own."""

    scenarios: Mapping[str, Sequence[Part]] = {}
    """What runs are to come to, by name: lines, actions, faults and `reachable`s of the spec in their order, with
    anything in between. Coverage says in how many runs each was met, and how far the best one came in one never met."""

    aims: Mapping[str, int] = {}
    """In how many runs a scenario is to be met, by name: the test goes on until then, up to ten times as long."""

    directed: Sequence[Directed] = ()
    """What a third of the runs begin with, more or less: steps, such as those of a run that failed once, or a
    `Counterexample` of the spec."""

    waits: tuple[float, ...] = (0.001, 0.01, 0.1, 1.0, 10.0)
    """Seconds that a test may let pass at once. None: time passes by itself."""

    def start(self) -> None:
        """Starts the system anew, in a state that the model begins in."""
        raise NotImplementedError(f"{type(self).__name__} has no `start`")

    def events(self) -> Iterable[Event]:
        """The lines that the system has shown since the last call, in the order in which they were
        written: events that the spec has a `log` or an `observe` for. Others are passed over."""
        raise NotImplementedError(f"{type(self).__name__} has no `events`")

    def clock(self) -> float:
        """The time now by the clock that `at` of the lines is of: that of the machine, in seconds since 1970. Called
        before and after each step, so that lines can be put before it, behind it, or on either side."""
        return time.time()

    def roles(self) -> Mapping[str, str]:
        """Which node plays which role now, as far as its lines say: `{"holder": "Worker-1"}`. What is done to a node
        that plays one is done, written down and repeated by role, `do("pause", n="holder")`: so it is the right one
        again where chance decides who that is."""
        return {}

    def wait(self, seconds: float) -> None:
        """Lets time pass, with all that happens in it: messages arrive, timers fire."""
        raise NotImplementedError(f"{type(self).__name__} has no `wait`; where time passes by itself say `waits = ()`")

    def act(self, action: str, arguments: Mapping[str, Any]) -> object:
        """Does an action that `drives` names, or one of `besides`. `False`: it could not be done after all."""
        raise NotImplementedError(f"{type(self).__name__} has no `act`, which does what `drives` names")

    def stop(self) -> None:
        """Ends the system. Called once for each `start`, also after an error."""

    @classmethod
    def finish(cls) -> None:
        """Ends what systems share. Called once after all runs of a test, also after an error."""

    def settle(self) -> str:
        """Ends all that is wrong, and lets the system recover for as long as it may take. Returns what it owes then and
        does not do, in words: that nobody serves; nothing if all is well. The last step of a run; without this method
        no run has it. Faults that the model can end by a method of the adapter, such as `restart` or `resume`, have
        been ended by it before."""
        return ""

    def story(self) -> str:
        """What is to be said of a run besides its lines, for people. Called once for each run that fails, before
        `stop`; where it raises, that is said instead."""
        return ""


OWN = frozenset(name for name in vars(Adapter) if not name.startswith("_"))
"""What every adapter has."""


def methods(adapter: type[Adapter]) -> frozenset[str]:
    """The names of the methods that an adapter has beyond those of every adapter, and of what else it drives."""
    own = frozenset(dir(adapter)) - OWN
    named = frozenset(name for name in own if not name.startswith("_") and callable(getattr(adapter, name)))
    return named | frozenset(adapter.drives)


def settles(adapter: type[Adapter]) -> bool:
    """Whether somebody said what a system owes when nothing is wrong."""
    return adapter.settle is not Adapter.settle


def does(adapter: Adapter, method: str, arguments: dict[str, Any]) -> bool:
    """Makes a system do something. Returns whether it did."""
    if method in adapter.drives:
        return adapter.act(method, arguments) is not False
    return getattr(adapter, method)(**arguments) is not False
