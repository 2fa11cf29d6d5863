"""The interface every engine has: a system, a question and limits go in; an answer that says what it covers comes out.

Engines print nothing. They call `report` now and then, at least every quarter of a second, and stop when it returns
`False` (that is how Ctrl-C is obeyed).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from msgspec import Struct

from hacheck.model.ir import System
from hacheck.model.runs import Run

if TYPE_CHECKING:
    from hacheck.checker.multipliers import Multiplier
    from hacheck.checker.recheck_result import Rechecked

DEPTH_REACHED = "the depth limit was reached"
"""Why an exploration ended that has a limit on depth."""

DECIDED = "every property is decided"
"""Why an exploration ended that had nothing more to decide."""

VerdictKind = Literal["holds", "violated", "unknown", "not-inductive"]


class Limits(Struct, frozen=True):
    """Where an exploration gives up; `None` is no limit. Reaching one ends in `unknown`."""

    states_max: int | None = None
    wall_seconds_max: float | None = None
    memory_bytes_max: int | None = None
    depth_max: int | None = None


class Progress(Struct, frozen=True):
    """How far a check is: distinct states found, steps taken, breadth-first level, states waiting, seconds since its
    start, bytes the process holds. `phase`: what is being done ("lowering", "compiling", "exploring", "checking
    liveness", "reconstructing the run"). `violated`: the properties for which a counterexample is known already, each
    with its number of steps. `multipliers`: what makes the state space large, once it is.
    """

    states: int
    transitions: int
    depth: int
    frontier: int
    wall_seconds: float
    memory_bytes: int
    phase: str = "exploring"
    violated: tuple[tuple[str, int], ...] = ()
    multipliers: tuple[Multiplier, ...] = ()


Report: TypeAlias = Callable[[Progress], bool]
"""Called with the progress so far; returns whether to go on."""


class PropertyAnswer(Struct, frozen=True):
    """What is known about one property.

    `holds`: within `scope`, a phrase such as "every reachable state (exhaustive)". For `reachable` properties `holds`
    means reached, and `run` is the shortest witness. `violated`: `run` is a shortest violation, replayed by the
    interpreter (for an unreachable `reachable` property there is none). `unknown`: `scope` says why and how far; `run`,
    if there is one, leads to where the property has no value, which is an error of the spec.
    `not-inductive`: `cti` are states that nothing shown forbids and a step from them that breaks the property; its
    first state is no initial one, and need not be reachable.
    """

    name: str
    verdict: VerdictKind
    scope: str
    run: Run | None = None
    cti: Run | None = None


class Coverage(Struct, frozen=True):
    """What an exploration saw.

    `complete`: every reachable state was expanded. `stopped`: else why not ("1000000 states reached", "interrupted",
    or `DECIDED`). Where it is not complete, all numbers are of the part that was explored.
    `bounds_reached`: for each bound that was reached, the steps beyond it. `action_counts`: steps taken, by index in
    `System.actions`. `unreached`: for each mode variable, the members that no reachable state has. `unexercised`: the
    properties that say nothing of any state explored, each with the condition that was never true in one
    (`premise_of`). `bytes_per_state`: memory held for each state, where it was counted. `omission`: the probability at
    most that a state was taken for one already seen and left out, 0 where states are compared in full.
    `multipliers`: what makes the state space large, where a limit or Ctrl-C ended the exploration.
    """

    states: int
    transitions: int
    depth: int
    wall_seconds: float
    complete: bool
    stopped: str | None
    bounds_reached: tuple[tuple[str, int], ...]
    action_counts: tuple[int, ...]
    unreached: tuple[tuple[str, tuple[str, ...]], ...] = ()
    unexercised: tuple[tuple[str, str], ...] = ()
    bytes_per_state: float | None = None
    omission: float = 0.0
    multipliers: tuple[Multiplier, ...] = ()

    @property
    def ended_early(self) -> bool:
        """Whether the exploration ended because every property was decided, with states left to explore."""
        return self.stopped == DECIDED


class Answer(Struct, frozen=True):
    """Everything one check found. `error`: the shortest run into a step that is an error of the spec, if any; then
    every property not violated is `unknown`.

    `reductions`: what was not explored because it is like something explored, a phrase for each reduction.
    `engine`, `threads`: who explored. `phases`: what the time was spent on, with seconds for each. `notes`: what else
    the user has to know about how the answer came to be, a sentence each. `reach`: what was looked at, of an engine
    that counts no states. `unstartable`: nothing was explored, because
    there is no initial state or finding one is an error of the spec. `lemmas`: those that were found and with which it
    was shown, each as a spec may say it. `endless`: the counters that were followed without an end. `rechecked`: what a
    second interpreter said of it, where the user wanted a recheck.
    """

    coverage: Coverage
    properties: tuple[PropertyAnswer, ...]
    error: Run | None = None
    reductions: tuple[str, ...] = ()
    engine: str = ""
    threads: int = 1
    phases: tuple[tuple[str, float], ...] = ()
    notes: tuple[str, ...] = ()
    reach: str = ""
    unstartable: bool = False
    lemmas: tuple[str, ...] = ()
    endless: tuple[str, ...] = ()
    rechecked: Rechecked | None = None


class Refused(Exception):
    """Something that the user wants besides the answer cannot be done: what, where, why, and what to do."""


class Engine(Protocol):
    """Decides the properties of a system by name (empty: all of them)."""

    def check(self, system: System, properties: tuple[str, ...], limits: Limits, report: Report) -> Answer:
        """Errors: none for anything a spec can contain; `Refused` for what else the user wants; an `AssertionError` is
        a bug of ours."""
        ...
