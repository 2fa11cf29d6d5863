"""The generated functions of a system, called with packed states as Python numbers."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass

from hacheck.compile.codegen.generated_program import Program
from hacheck.compile.codegen.successor_functions import STOP_BIT
from hacheck.compile.codegen.system_module import Emitted
from hacheck.compile.codegen.thread_notes import Notes, NotesArray
from hacheck.compile.codegen.word_layout import from_words, to_words
from hacheck.compile.machine.compiler import Levels, Linked, compile_object, link

GUARD = 0xDEAD_BEEF_DEAD_BEEF


@dataclass(frozen=True)
class Native:
    """Linked code, what it is about, and one thread's notes."""

    program: Program
    linked: Linked
    notes_array: NotesArray

    @property
    def notes(self) -> Notes:
        return self.program.notes

    def expand(self, states: Sequence[int]) -> list[list[tuple[int, int]]]:
        """For each state the instance and the state of each successor; an outcome that is no step is (instance, -1)."""
        program, words = self.program, self.program.words
        room = program.successors_max * len(states)
        out = array("Q", [GUARD] * ((room + 1) * words))
        tags = array("Q", [GUARD] * (room + 1))
        given = packed_words(states, words)
        arrays = given, out, tags, self.notes_array
        addresses = [item.buffer_info()[0] for item in arrays]
        count = self.linked.function("expand", 5)(addresses[0], len(states), *addresses[1:])
        assert count <= room
        assert all(word == GUARD for word in out[count * words :])
        assert given == packed_words(states, words)
        found: list[list[tuple[int, int]]] = [[] for _ in states]
        for index in range(count):
            place, instance = tags[index] >> 32, tags[index] & 0xFFFF_FFFF
            state = from_words(out[index * words : (index + 1) * words])
            if instance & STOP_BIT:
                assert program.lists_stops
                assert state == states[place]
                instance, state = instance & ~STOP_BIT, -1
            found[place].append((instance, state))
        return found

    def inspect(self, states: Sequence[int], by: Sequence[int]) -> None:
        """Asks the pending conditions of new states."""
        given, makers = packed_words(states, self.program.words), array("I", by)
        self.linked.function("inspect", 4)(
            given.buffer_info()[0], len(states), makers.buffer_info()[0], self.notes_array.buffer_info()[0]
        )

    def mark(self, number: int, states: Sequence[int]) -> list[bool]:
        """Where a condition holds."""
        given, marks = packed_words(states, self.program.words), bytearray(b"\x07" * len(states))
        bytes_array = array("B", marks)
        function = self.linked.function(f"mark_{number}", 3)
        function(given.buffer_info()[0], len(states), bytes_array.buffer_info()[0])
        assert set(bytes_array) <= {0, 1}
        return [bool(mark) for mark in bytes_array]


def packed_words(states: Sequence[int], words: int) -> array[int]:
    """States one after the other in memory."""
    return array("Q", [word for state in states for word in to_words(state, words)])


def linked(emitted: Emitted, levels: Levels | None = None) -> Native:
    """The functions, compiled as for a search unless told otherwise."""
    code = compile_object(emitted.ir, levels or Levels(None, 2))
    return Native(emitted.program, link([code]), emitted.program.notes.new())
