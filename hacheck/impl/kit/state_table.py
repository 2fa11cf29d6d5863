"""State machines as tables: the code runs the table, the tests walk it, `docs/state-machines.md` draws it.

A table maps a state and a cause to the next state. What is not in it cannot happen. A cause is whatever the protocol
decides by: a member of an enumeration, a sentence (where the code names the next state and the cause is its reason), or
a condition that is compared with what a node sees, the first one that applies being taken.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from enum import Enum
from typing import Generic, TypeVar

StateT = TypeVar("StateT", bound=Hashable)
CauseT = TypeVar("CauseT", bound=Hashable)

COMMON_MIN = 4
"""A cause that leads from so many states to one is written below the diagram instead of drawn."""


class StateTable(Generic[StateT, CauseT]):
    """A state machine. `title`: whose state it is. `source`: where that is written. `initial`: the first state.
    `rules`: names that the source gives to transitions, where it does."""

    __slots__ = ("_causes", "_next", "_pairs", "initial", "rules", "source", "title")

    def __init__(
        self,
        title: str,
        source: str,
        initial: StateT,
        transitions: Mapping[tuple[StateT, CauseT], StateT],
        rules: Mapping[tuple[StateT, CauseT], str] | None = None,
    ) -> None:
        self.title = title
        self.source = source
        self.initial = initial
        self.rules: Mapping[tuple[StateT, CauseT], str] = rules or {}
        self._next = dict(transitions)
        self._causes: dict[StateT, tuple[CauseT, ...]] = {}
        for state, cause in self._next:
            self._causes[state] = (*self._causes.get(state, ()), cause)
        self._pairs = {(state, following) for (state, _), following in self._next.items()}

    def __iter__(self) -> Iterator[tuple[StateT, CauseT, StateT]]:
        """All transitions: state, cause, next state."""
        return ((state, cause, following) for (state, cause), following in self._next.items())

    def next(self, state: StateT, cause: CauseT) -> StateT:
        """The state that a cause leads to. That the table has it is the caller's promise."""
        assert (state, cause) in self._next, f"{self.title}: in {state}, {cause} leads nowhere"
        return self._next[state, cause]

    def has(self, state: StateT, cause: CauseT) -> bool:
        """Whether a cause leads anywhere in a state."""
        return (state, cause) in self._next

    def leads(self, state: StateT, following: StateT) -> bool:
        """Whether any cause leads from one state to the other."""
        return (state, following) in self._pairs

    def causes(self, state: StateT) -> tuple[CauseT, ...]:
        """What leads anywhere in a state, in the order of the table."""
        return self._causes.get(state, ())

    @property
    def states(self) -> tuple[StateT, ...]:
        """Every state that can be reached from the first one, nearest first."""
        reached = [self.initial]
        for state in reached:
            reached += dict.fromkeys(
                following for (of, _), following in self._next.items() if of == state and following not in reached
            )
        return tuple(reached)

    @property
    def final(self) -> tuple[StateT, ...]:
        """States that nothing leads out of."""
        return tuple(state for state in self.states if not self.causes(state))

    # ---- drawing ----------------------------------------------------------------------------------------------------

    def mermaid(self) -> str:
        """The diagram, for Mermaid (`stateDiagram-v2`)."""
        ids = {state: f"s{number}" for number, state in enumerate(self.states)}
        common = self._common()
        lines = ["stateDiagram-v2", *(f'    state "{_words(state)}" as {ids[state]}' for state in ids)]
        lines.append(f"    [*] --> {ids[self.initial]}")
        labels: dict[tuple[StateT, StateT], list[str]] = {}
        for (state, cause), following in self._next.items():
            if (cause, following) not in common:
                rule = self.rules.get((state, cause), "")
                labels.setdefault((state, following), []).append(f"{rule}: {_words(cause)}" if rule else _words(cause))
        for (state, following), causes in labels.items():
            lines.append(f"    {ids[state]} --> {ids[following]} : {_label(causes)}")
        lines += (f"    {ids[state]} --> [*]" for state in self.final)
        return "\n".join(lines)

    def in_common(self) -> tuple[str, ...]:
        """What the diagram leaves out because it leads from many states to one: sentences."""
        lines = []
        for (cause, following), states in self._common().items():
            others = [state for state in self.states if state not in states and state != following]
            whence = "every state" if not others else f"every state but {', '.join(map(_words, others))}"
            lines.append(f"From {whence} to *{_words(following)}*: {_words(cause)}.")
        return tuple(lines)

    def _common(self) -> dict[tuple[CauseT, StateT], list[StateT]]:
        states: dict[tuple[CauseT, StateT], list[StateT]] = {}
        for (state, cause), following in self._next.items():
            states.setdefault((cause, following), []).append(state)
        return {pair: found for pair, found in states.items() if len(found) >= COMMON_MIN}


def _label(causes: list[str]) -> str:
    """The label of an arrow: Mermaid ends one at a colon or a semicolon."""
    return " / ".join(causes).replace(":", " -").replace(";", ",")


def _words(value: object) -> str:
    return str(value.value if isinstance(value, Enum) else value)
