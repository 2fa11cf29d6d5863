"""What a search over packed states leaves, whichever engine made it, and what is read out of it.

A packed state is a whole number from 0: the slots of a layout, each at its offset (`hacheck.compile.lowering.layout`).
An instance is an action with its arguments, by its index in `Subject.instances`. Where reductions are in use, states
here are reduced ones: each stands for all those that `Subject.reduce` maps to it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, TypeAlias

from msgspec import Struct

from hacheck.model.ir import Expression, Property, System
from hacheck.model.runs import State
from hacheck.model.types import Value

Occurrence: TypeAlias = tuple[int, tuple[Value, ...]]
"""An action by its index in `System.actions`, and the values of its parameters."""


SPEC_ERROR = ""
"""The key of steps that are an error of the spec."""


class Subject(Struct, frozen=True):
    """What was searched: the system, its instances, the names of the bounds that can cut a step, and how a state of
    the interpreter is reduced and packed. `exact`: what was found is a run of the system; else it may be none."""

    system: System
    instances: tuple[Occurrence, ...]
    bounds: tuple[str, ...]
    reduce: Callable[[State], int]
    exact: bool = True


class StatePath(Struct, frozen=True):
    """The packed states of a run, an initial one first, and the instances of its last steps, as far as they are
    known: `by` belongs to the end of `states`, and a step whose instance is not known has `None`."""

    states: Sequence[int]
    by: tuple[int | None, ...] = ()

    def then(self, states: Sequence[int], by: Sequence[int | None]) -> StatePath:
        """The run with more steps; `by` has one instance for each of `states`."""
        return StatePath([*self.states, *states], (*self.by, *by))


class Unconfirmed(Exception):
    """What was found is no run of the system: it forgets how far apart the values of counters are."""


class Findings(Protocol):
    """What a search leaves.

    `size`: distinct states found. `depth`: steps to the states found last. `stopped`: why the search ended before it
    had expanded every state it found; `None` if it did. `counts`: steps taken, by action. `bounds_reached`: steps
    beyond, by bound (as in `Subject.bounds`). `found`: for the key of each state or deadlock condition that was met, a
    packed state that meets it, among those at the fewest steps. `hits`: for the key of each step condition that was
    met, the states before and after such a step, the one before at the fewest steps. `errors`: a packed state at the
    fewest steps and an instance whose step there is an error of the spec; empty if there is none. `bytes_per_state`:
    bytes held for each state found, `None` where nobody counts. `traced`: by key, the shortest runs that were
    reconstructed while the search went on: they are known also where it was interrupted.
    """

    @property
    def size(self) -> int: ...
    @property
    def depth(self) -> int: ...
    @property
    def stopped(self) -> str | None: ...
    @property
    def counts(self) -> Sequence[int]: ...
    @property
    def bounds_reached(self) -> Sequence[int]: ...
    @property
    def found(self) -> Mapping[str, int]: ...
    @property
    def hits(self) -> Mapping[str, tuple[int, int]]: ...
    @property
    def errors(self) -> Sequence[tuple[int, int]]: ...
    @property
    def bytes_per_state(self) -> float | None: ...

    @property
    def traced(self) -> Mapping[str, StatePath]: ...

    def closest(self, key: str) -> Sequence[int]:
        """The states of the level of `found[key]` that meet the condition, as far as was seen of the level. Of a step
        condition the states before such a step, all of one level; of `SPEC_ERROR` those before an error of the spec.
        Never empty; of a deadlock condition and of `SPEC_ERROR` one is enough. Errors: `Cancelled`."""
        ...

    def path_to(self, targets: Sequence[int]) -> StatePath:
        """A shortest run to one of some states, which are all of one level; among the shortest, one with the fewest
        faults. Errors: `Cancelled`."""
        ...


class Lasso(Struct, frozen=True):
    """A fair run on which the goal never comes: its states from `loop` steps on repeat for ever. The last state is the
    one after `loop` steps again; where it *is* that one, the run stays there."""

    path: StatePath
    loop: int


class Valueless(Struct, frozen=True):
    """A state, at the end of a shortest run, in which an expression of the property has no value."""

    path: StatePath
    expression: Expression


class Undecided(Struct, frozen=True):
    """Why nobody knows, as a phrase to stand before the scope."""

    reason: str


BEYOND = Undecided("a run leaves the bounds before it reaches its goal")

LivenessVerdict: TypeAlias = Lasso | Valueless | Undecided | None
"""What is found out about an `eventually` or `leads_to` property; `None`: it holds."""

LivenessCheck: TypeAlias = Callable[[tuple[Property, ...]], Sequence[LivenessVerdict]]
"""Decides `eventually` and `leads_to` properties on a graph explored to its end: a verdict for each, in their order.
Where it has to stop early it says `Undecided` of those that are left."""
