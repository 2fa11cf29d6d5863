"""What all threads noted together: counts, and the first of everything that was met.

The search goes level by level, so what is met first is met at the fewest steps; all of that level counts the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from msgspec import Struct, field

from hacheck.checker.explicit.search_result import SPEC_ERROR
from hacheck.compile.codegen.generated_program import Program
from hacheck.compile.codegen.thread_notes import Notes, NotesArray

_Hit = TypeVar("_Hit")


class Tally(Struct):
    """Read and written only while no thread works.

    - `places`: where things are in the notes.
    - `counts`, `bounds_reached`: what was counted before these notes were begun.
    - `found`, `hits`, `error`: as in `Findings`, of what was met so far.
    - `met_at`: by key (`SPEC_ERROR` for an error of the spec) at how many steps it was met: for conditions of steps and
      deadlocks, and errors, the state before.
    """

    program: Program
    places: Notes
    notes: Sequence[NotesArray]
    counts: list[int]
    bounds_reached: list[int]
    found: dict[str, int] = field(default_factory=dict)
    hits: dict[str, tuple[int, int]] = field(default_factory=dict)
    error: tuple[int, int] | None = None
    met_at: dict[str, int] = field(default_factory=dict)

    def all_counts(self) -> list[int]:
        """Steps by action."""
        return _sums(self.counts, [self.places.steps_of(notes) for notes in self.notes])

    def all_bounds_reached(self) -> list[int]:
        """Cut outcomes by bound."""
        return _sums(self.bounds_reached, [self.places.bounds_reached_of(notes) for notes in self.notes])

    def gather(self, level: int, new_level: int) -> None:
        """Takes down what was met since: by steps from states of a level, in states of a new level."""
        program, places = self.program, self.places
        for number, key in enumerate(program.states):
            if key not in self.found:
                states = _noted(places.state_of(notes, number) for notes in self.notes)
                if states:
                    self.found[key], self.met_at[key] = min(states), new_level
        for number, key in enumerate(program.deads):
            if key not in self.found:
                states = _noted(places.dead_of(notes, number) for notes in self.notes)
                if states:
                    self.found[key], self.met_at[key] = min(states), level
        for number, key in enumerate(program.steps):
            if key not in self.hits:
                steps = _noted(places.step_of(notes, number) for notes in self.notes)
                if steps:
                    self.hits[key], self.met_at[key] = min(steps), level
        if self.error is None:
            errors = _noted(places.error_of(notes) for notes in self.notes)
            if errors:
                self.error, self.met_at[SPEC_ERROR] = min(errors), level
        self.ask_no_more()

    def ask_no_more(self) -> None:
        """Has no thread look for what is met."""
        program, places = self.program, self.places
        for notes in self.notes:
            for number, key in enumerate(program.states):
                if key in self.found:
                    places.drop(notes, number)
            for number, key in enumerate(program.deads):
                if key in self.found:
                    notes[places.dead_hit(number)] = 1
            for number, key in enumerate(program.steps):
                if key in self.hits:
                    notes[places.step_hit(number)] = 1
            if self.error is not None:
                notes[places.error] = 1

    def has_met(self, keys: frozenset[str]) -> bool:
        """Whether all of these were met."""
        return keys <= self.met_at.keys()


def tally_of(program: Program, notes: Sequence[NotesArray]) -> Tally:
    """A tally with nothing in it yet."""
    return Tally(program, program.notes, notes, [0] * program.actions, [0] * len(program.bounds))


def _noted(hits: Iterable[_Hit | None]) -> list[_Hit]:
    return [hit for hit in hits if hit is not None]


def _sums(before: Sequence[int], more: Sequence[Sequence[int]]) -> list[int]:
    return [sum(column) for column in zip(before, *more, strict=True)]
