"""What takes the steps of a walk: machine code of a system, found compiled or made now, or the portable program."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from hacheck.compile import (
    KERNEL_LEVELS,
    Artifact,
    Cell,
    Group,
    Layout,
    Linked,
    ObjectCache,
    Program,
    Source,
    Unit,
    build,
    compiled_kernels,
    described,
    key_of,
    link,
    pack,
    scalar,
    slots_of,
)
from hacheck.model.interpreter import EvaluationError, Interpreter
from hacheck.model.ir import System
from hacheck.model.runs import State
from hacheck.model.types import Value
from hacheck.traces.simulation import walk_kernel
from hacheck.traces.simulation.line_variables import LineWritingSystem

if TYPE_CHECKING:  # what is found compiled is not lowered
    from hacheck.compile import Lowered

WORD_BITS = 64


class NoStart(Exception):
    """The system has no run; says why."""


class Slot(Struct, frozen=True):
    """Where a number is: `width` bits from bit `offset` on, or nowhere, since it is always `fixed`."""

    offset: int
    width: int
    fixed: int


class LineShape(Struct, frozen=True):
    """How states have the lines of a step.

    - `count`: where it says how many; `first`, `words`: in which word the first line begins, and words of a line;
    - `places`: how many lines there may be;
    - `slots`: where, from the beginning of a line, its point, its writer and its columns are.
    """

    count: Slot
    first: int
    words: int
    places: int
    slots: tuple[Slot, ...]


class Compiled(Struct, frozen=True):
    """Code that walks. `starts`: packed; `lines`: `None` where no line depends on more than its step."""

    program: Program
    starts: tuple[int, ...]
    lines: LineShape | None
    code: Linked
    walk: Callable[..., int]


def initial_states(system: System) -> tuple[State, ...]:
    """The initial states. Errors: `NoStart`."""
    try:
        found = Interpreter(system).initial_states()
    except EvaluationError as fault:
        raise NoStart(f"{system.name} cannot begin: {fault.message}") from None
    if not found:
        raise NoStart(f"{system.name} has no initial state under these settings")
    return found


def compiled(system: System, shape: LineWritingSystem | None, cache: ObjectCache | None = None) -> Compiled:
    """Compiles what walks. `shape`: what the system writes into its states, if it does.

    Errors: `NoStart`; `CompilerError`.
    """
    cache = ObjectCache() if cache is None else cache
    key = key_of("simulation", f"{'' if shape is None else shape.line_variables}\n{described(system)}", KERNEL_LEVELS)
    load = partial(_loaded, shape, cache)
    return build(key, cache, system, lower=partial(_lowered, system, shape), emit=_emitted, load=load)


def _loaded(shape: LineWritingSystem | None, cache: ObjectCache, artifact: Artifact) -> Compiled:
    (program,), (code,) = artifact.programs, artifact.code
    lines = None if shape is None else line_shape(shape, program.layout)
    constants = {
        "W": program.words,
        "LINES": 0 if lines is None else lines.places,
        "LINE": 0 if lines is None else lines.words,
        "FIRST": 0 if lines is None else lines.first,
    }
    loops = link([compiled_kernels(walk_kernel.KERNELS, constants, walk_kernel.EXPORTED, cache)])
    return Compiled(program, artifact.starts, lines, code, loops.function("walk", walk_kernel.EXPORTED["walk"]))


class _Form(Struct, frozen=True):
    """The lowered form, the slots of each line, and the states that a walk may start in."""

    lowered: Lowered
    lines: Sequence[Sequence[int]]
    initial: Sequence[State]


def _lowered(system: System, shape: LineWritingSystem | None) -> _Form:
    from hacheck.compile import lower, relevant

    initial = initial_states(system)
    # With a state in which every line says something else nothing of a line is taken for a constant.
    seen = initial if shape is None else (*initial, _other(shape, initial[0]))
    lowered = lower(system, seen, copies_max=1)
    lines = [] if shape is None else _groups(shape, lowered.layout)
    kept = [slot for line in lines for slot in line]
    if shape is not None:
        kept += slots_of(_place(shape, lowered.layout, shape.count_variable))
    graph = lowered.graph
    lowered = relevant(lowered, [graph.slot(slot, lowered.layout.slots[slot].high) for slot in kept])
    return _Form(lowered, lines, initial)


def _emitted(form: _Form) -> Source:
    from hacheck.compile import emit, levels_for

    emitted = emit(form.lowered, apart=form.lines)
    starts = dict.fromkeys(pack(emitted.program.layout, state) for state in form.initial)
    return Source([Unit(emitted.program, [(emitted.ir, levels_for(emitted.ir))])], tuple(starts))


# ---- where lines are ----


def _place(shape: LineWritingSystem, layout: Layout, name: str) -> Any:
    names = [variable.name for variable in shape.system.variables]
    return layout.places[names.index(name)]


def _groups(shape: LineWritingSystem, layout: Layout) -> list[list[int]]:
    """The slots of each line."""
    places = [_place(shape, layout, name) for name in shape.line_variables]
    return [[slot for place in places for slot in slots_of(place.items[number])] for number in range(shape.places)]


def _other(shape: LineWritingSystem, state: State) -> State:
    """A state in which every line shows the last value of everything."""
    names = (shape.count_variable, *shape.line_variables)
    pairs = zip(shape.system.variables, state, strict=True)
    return tuple(_last(variable.type) if variable.name in names else value for variable, value in pairs)


def _last(kind: Any) -> Value:
    from hacheck.model.types import Map, cardinality

    if isinstance(kind, Map):
        return tuple(_last(kind.value) for _ in range(cardinality(kind.key)))
    return scalar(kind, cardinality(kind) - 1)


def line_shape(shape: LineWritingSystem, layout: Layout) -> LineShape:
    """How the states of a layout have lines."""

    def bits(place: Any, base: int) -> Slot:
        assert isinstance(place, Cell), "what a line shows is one number"
        if place.slot is None:
            return Slot(0, 0, 0)
        slot = layout.slots[place.slot]
        if slot.fixed is not None or not slot.width:
            return Slot(0, 0, slot.fixed or 0)
        return Slot(slot.offset - base, slot.width, 0)

    groups = [[layout.slots[slot] for slot in group if layout.slots[slot].width] for group in _groups(shape, layout)]
    filled = [slot for group in groups for slot in group]
    first = min((slot.offset for slot in filled), default=0) // WORD_BITS
    end = max((slot.offset + slot.width for slot in filled), default=0)
    words = (-(-end // WORD_BITS) - first) // len(groups) if filled else 0
    slots = []
    for name in shape.line_variables:
        place = _place(shape, layout, name)
        assert isinstance(place, Group), f"{name} is a map from places"
        slots.append(bits(place.items[0], first * WORD_BITS))
    return LineShape(bits(_place(shape, layout, shape.count_variable), 0), first, words, shape.places, tuple(slots))


def words_of(starts: Sequence[int], words: int) -> Iterator[list[int]]:
    """The words of packed states."""
    for start in starts:
        yield [start >> WORD_BITS * word & (1 << WORD_BITS) - 1 for word in range(words)]
