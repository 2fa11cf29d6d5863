"""Walks at random, many at a time: by machine code, or by the portable program where there is none."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from msgspec import Struct

from hacheck.compile import ObjectCache, Region, is_available, pack
from hacheck.model.interpreter import Interpreter
from hacheck.model.ir import System
from hacheck.traces.simulation import random_numbers, walk_kernel
from hacheck.traces.simulation.line_variables import LineWritingSystem
from hacheck.traces.simulation.walk_program import Compiled, LineShape, Slot, compiled, initial_states, words_of

_WORD = 8


class Walked(Struct, frozen=True):
    """What some walks did, one after another.

    - `lengths`: steps of each walk (int64); `by`: the instance of each step (uint32);
    - `written`: for each step how many lines it wrote (uint8), `content`: of each line its point, its writer and its
      columns as ordinals (an array of int64 for each), where states have lines; else `None`;
    - `states`: of each walk its packed states, if the caller wants them.
    """

    lengths: Any
    by: Any
    written: Any | None
    content: tuple[Any, ...] | None
    states: tuple[tuple[int, ...], ...] | None = None


class Walker(Protocol):
    """Walks. `instances`: the action and the arguments of each instance."""

    instances: tuple[tuple[int, tuple[Any, ...]], ...]

    def walk(self, first: int, count: int) -> Walked:
        """The walks with these numbers: the same for the same system, seed and number, whatever other walks are
        made."""
        ...


def walker(
    system: System, shape: LineWritingSystem | None, seed: int, steps: int, chunk: int, cache: ObjectCache | None = None
) -> Walker:
    """What walks on this machine. Errors: `NoStart`; `CompilerError`."""
    if is_available():
        return NativeWalker(compiled(system, shape, cache), seed, steps, chunk)
    return PortableWalker(system, shape, seed, steps)


class NativeWalker:
    """Walks by machine code, up to `chunk` at a time. `keeps`: hands out the states as well."""

    def __init__(self, code: Compiled, seed: int, steps: int, chunk: int, keeps: bool = False) -> None:
        self.code, self.steps, self.keeps = code, steps, keeps
        self.instances = code.program.instances
        program, lines = code.program, code.lines
        size = program.words * _WORD
        most = max(chunk * steps, 1)
        places, words = (0, 0) if lines is None else (lines.places, lines.words)
        self._out = Region((program.successors_max + 1) * size)
        self._tags = Region((program.successors_max + 1) * _WORD)
        self._notes = program.notes.new()
        self._starts = np.array(list(words_of(code.starts, program.words)), np.uint64)
        self._state = np.zeros(program.words, np.uint64)
        self._by = np.zeros(most, np.uint32)
        self._lengths = np.zeros(chunk, np.int64)
        self._written = np.zeros(most if places else 1, np.uint8)
        self._content = Region(max(most * places * words * _WORD, _WORD))
        self._states = np.zeros((chunk * (steps + 1) if keeps else 1, program.words), np.uint64)
        control = np.zeros(len(walk_kernel.CONTROL), np.uint64)
        count = Slot(0, 0, 0) if lines is None else lines.count
        for place, value in {
            walk_kernel.EXPAND: code.code.address("expand"),
            walk_kernel.OUT: self._out.address,
            walk_kernel.TAGS: self._tags.address,
            walk_kernel.NOTES: self._notes.buffer_info()[0],
            walk_kernel.STATE: self._state.ctypes.data,
            walk_kernel.STARTS: self._starts.ctypes.data,
            walk_kernel.START_COUNT: len(self._starts),
            walk_kernel.KEY: random_numbers.key(seed, random_numbers.WALK),
            walk_kernel.STEPS: steps,
            walk_kernel.COUNT_WORD: count.offset // 64,
            walk_kernel.COUNT_SHIFT: count.offset % 64,
            walk_kernel.COUNT_MASK: (1 << count.width) - 1,
            walk_kernel.BY: self._by.ctypes.data,
            walk_kernel.LENGTHS: self._lengths.ctypes.data,
            walk_kernel.WRITTEN: self._written.ctypes.data,
            walk_kernel.CONTENT: self._content.address,
            walk_kernel.STATES: self._states.ctypes.data if keeps else 0,
        }.items():
            control[place] = value
        self._control = control

    def walk(self, first: int, count: int) -> Walked:
        """See `Walker`."""
        lines = self.code.walk(self._control.ctypes.data, first, count)
        lengths = self._lengths[:count].copy()
        total = int(lengths.sum())
        states = self._kept(lengths.tolist()) if self.keeps else None
        shape = self.code.lines
        if shape is None:
            return Walked(lengths, self._by[:total].copy(), None, None, states)
        whole = np.frombuffer(self._content.view(0, lines * shape.words * _WORD), np.uint64)
        content = tuple(_decoded(whole.reshape(lines, shape.words), slot) for slot in shape.slots)
        return Walked(lengths, self._by[:total].copy(), self._written[:total].copy(), content, states)

    def _kept(self, lengths: list[int]) -> tuple[tuple[int, ...], ...]:
        def packed(row: list[int]) -> int:
            return sum(word << 64 * place for place, word in enumerate(row))

        rows = self._states.reshape(-1, self.steps + 1, self.code.program.words)
        return tuple(
            tuple(packed(row) for row in rows[walk, : length + 1].tolist()) for walk, length in enumerate(lengths)
        )


def _decoded(words: Any, slot: Slot) -> Any:
    """What a slot holds in each row of words (int64)."""
    if not slot.width:
        return np.full(len(words), slot.fixed, np.int64)
    word, shift = divmod(slot.offset, 64)
    return ((words[:, word] >> np.uint64(shift)) & np.uint64((1 << slot.width) - 1)).astype(np.int64)


class PortableWalker:
    """Walks by the portable program. It takes the steps of a state in another order, so its walks are other ones."""

    def __init__(self, system: System, shape: LineWritingSystem | None, seed: int, steps: int) -> None:
        from hacheck.checker.explicit.portable.python_program import Wanted, generate
        from hacheck.compile import lower

        initial = initial_states(system)
        self._code = generate(lower(system, initial), Wanted())
        layout = self._code.lowered.layout
        self.instances = tuple((one.action, one.arguments) for one in self._code.lowered.instances)
        self._starts = [pack(layout, state) for state in initial]
        self._key, self._steps = random_numbers.key(seed, random_numbers.WALK), steps
        self._interpreter = Interpreter(system)
        self._lines = None if shape is None else _portable_lines(shape, layout)

    def walk(self, first: int, count: int) -> Walked:
        """See `Walker`."""
        by: list[int] = []
        lengths: list[int] = []
        written: list[int] = []
        rows: list[tuple[int, ...]] = []
        for trace in range(first, first + count):
            before = len(by)
            for state, instance in self._steps_of(trace):
                by.append(instance)
                if self._lines is not None:
                    found = self._lines(state)
                    written.append(len(found))
                    rows.extend(found)
            lengths.append(len(by) - before)
        steps = np.array(by, np.uint32)
        if self._lines is None:
            return Walked(np.array(lengths, np.int64), steps, None, None)
        content = np.array(rows, np.int64).reshape(len(rows), self._lines.width)
        columns = tuple(content[:, place].copy() for place in range(self._lines.width))
        return Walked(np.array(lengths, np.int64), steps, np.array(written, np.uint8), columns)

    def _steps_of(self, trace: int) -> Any:
        from hacheck.checker.explicit.portable.python_program import successors

        number = random_numbers.of_trace(self._key, trace)
        state = self._starts[random_numbers.below(random_numbers.mixed(number), len(self._starts))]
        for _ in range(self._steps):
            possible = successors(self._code, state)
            if not possible:
                return
            number = (number + random_numbers.STEP) & random_numbers.MASK
            state, instance = possible[random_numbers.below(random_numbers.mixed(number), len(possible))]
            yield state, instance


class _PortableLines:
    """Reads the lines out of a packed state."""

    def __init__(self, count: Slot, places: list[tuple[Slot, ...]], width: int) -> None:
        self._count, self._places, self.width = count, places, width

    def __call__(self, state: int) -> list[tuple[int, ...]]:
        return [
            tuple(_content(state, slot) for slot in place) for place in self._places[: _content(state, self._count)]
        ]


def _content(state: int, slot: Slot) -> int:
    return state >> slot.offset & (1 << slot.width) - 1 if slot.width else slot.fixed


def _portable_lines(shape: LineWritingSystem, layout: Any) -> _PortableLines:
    names = [variable.name for variable in shape.system.variables]

    def bits(place: Any) -> Slot:
        if place.slot is None:
            return Slot(0, 0, 0)
        slot = layout.slots[place.slot]
        return Slot(slot.offset, slot.width, 0) if slot.fixed is None else Slot(0, 0, slot.fixed)

    lines = [layout.places[names.index(name)] for name in shape.line_variables]
    places = [tuple(bits(line.items[number]) for line in lines) for number in range(shape.places)]
    return _PortableLines(bits(layout.places[names.index(shape.count_variable)]), places, len(lines))


__all__ = ["LineShape", "NativeWalker", "PortableWalker", "Walked", "Walker", "walker"]
