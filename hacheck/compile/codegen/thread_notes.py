"""What the generated functions note for one thread: where in an array of 64-bit words it is, and how to read it.

The functions add to it for as long as the array lives; nothing in it is ever reset by them but bits of `pending`.
"""

from __future__ import annotations

from array import array
from itertools import accumulate
from typing import TypeAlias

from msgspec import Struct

from hacheck.compile.codegen.word_layout import WORD_BITS, from_words

NotesArray: TypeAlias = "array[int]"
"""The array itself; `array.buffer_info()[0]` is the address that generated functions take."""

_NONE = (1 << WORD_BITS) - 1


class Notes(Struct, frozen=True):
    """Where things are, as indices of words.

    - `pending`: a bit for each state condition that is still evaluated, 64 to a word;
    - `events`, `least_error`, `alive`: what `expand` keeps between the states of a call;
    - `steps`: how many steps, by action; `bounds_reached`: how many outcomes were cut, by bound;
    - `error`: whether there was an error of the spec; the instance; the state before it;
    - `states`, `deads`: for each condition whether there was a hit, and the state;
    - `step_hits`: for each step condition whether there was a hit, the states before and after.
    """

    words: int
    conditions: int
    pending: int
    events: int
    least_error: int
    alive: int
    steps: int
    bounds_reached: int
    error: int
    states: int
    deads: int
    step_hits: int
    size: int

    # ---- places ----

    def state_hit(self, number: int) -> int:
        """Where the hit of a state condition is."""
        return self.states + number * (1 + self.words)

    def dead_hit(self, number: int) -> int:
        """Where the hit of a deadlock condition is."""
        return self.deads + number * (1 + self.words)

    def step_hit(self, number: int) -> int:
        """Where the hit of a step condition is."""
        return self.step_hits + number * (1 + 2 * self.words)

    # ---- arrays ----

    def new(self) -> NotesArray:
        """An array with nothing noted and every condition pending."""
        notes = array("Q", bytes(8 * self.size))
        for number in range(self.conditions):
            self.ask(notes, number)
        notes[self.least_error] = _NONE
        return notes

    def ask(self, notes: NotesArray, number: int) -> None:
        """Makes a state condition pending."""
        notes[self.pending + number // WORD_BITS] |= 1 << number % WORD_BITS

    def drop(self, notes: NotesArray, number: int) -> None:
        """Makes a state condition no longer pending."""
        notes[self.pending + number // WORD_BITS] &= ~(1 << number % WORD_BITS)

    def steps_of(self, notes: NotesArray) -> list[int]:
        """How many steps there were, by action."""
        return notes[self.steps : self.bounds_reached].tolist()

    def bounds_reached_of(self, notes: NotesArray) -> list[int]:
        """How many outcomes were cut, by bound."""
        return notes[self.bounds_reached : self.error].tolist()

    def error_of(self, notes: NotesArray) -> tuple[int, int] | None:
        """The first error of the spec: the packed state before it, and the instance."""
        if not notes[self.error]:
            return None
        return self._packed(notes, self.error + 2), notes[self.error + 1]

    def state_of(self, notes: NotesArray, number: int) -> int | None:
        """The first packed state in which a state condition held."""
        place = self.state_hit(number)
        return self._packed(notes, place + 1) if notes[place] else None

    def dead_of(self, notes: NotesArray, number: int) -> int | None:
        """The first packed deadlock in which a condition held."""
        place = self.dead_hit(number)
        return self._packed(notes, place + 1) if notes[place] else None

    def step_of(self, notes: NotesArray, number: int) -> tuple[int, int] | None:
        """The first step for which a condition held: the packed states before and after."""
        place = self.step_hit(number)
        if not notes[place]:
            return None
        return self._packed(notes, place + 1), self._packed(notes, place + 1 + self.words)

    def _packed(self, notes: NotesArray, place: int) -> int:
        return from_words(notes[place : place + self.words])


def notes_for(words: int, actions: int, bounds: int, conditions: int, deads: int, steps: int) -> Notes:
    """The notes of a program: words of a state; how many actions, bounds and conditions of each kind there are."""
    sizes = (
        max(1, -(-conditions // WORD_BITS)),
        1,
        1,
        1,
        actions,
        bounds,
        2 + words,
        conditions * (1 + words),
        deads * (1 + words),
        steps * (1 + 2 * words),
    )
    return Notes(words, conditions, *accumulate(sizes, initial=0))
