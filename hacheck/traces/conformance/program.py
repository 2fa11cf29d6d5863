"""The machine code that follows logs of a system, and how records are written for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from hacheck.checker.explicit.native.codegen.functions import Emitted, Mark, emit
from hacheck.checker.explicit.native.codegen.notes import Notes
from hacheck.checker.explicit.native.codegen.program import Program
from hacheck.checker.explicit.native.kernels.objects import compiled_kernels
from hacheck.checker.explicit.native.machine.cache import ObjectCache, key_of
from hacheck.checker.explicit.native.machine.compiler import KERNEL_LEVELS, Linked, compile_object, link
from hacheck.model import ir
from hacheck.model.data import dataclass, field, replace
from hacheck.model.ir import Property
from hacheck.model.lowering.blocks import Lowered
from hacheck.model.lowering.layout import Cell, Flagged, Layout, pack, slots_of, unpack
from hacheck.model.lowering.relevance import relevant
from hacheck.model.lowering.system import lower, lower_condition
from hacheck.model.observing.records import PREFIX, Observed
from hacheck.model.runs import State
from hacheck.model.semantics import Interpreter
from hacheck.model.types import Option, Range, Set, Value, values
from hacheck.traces.conformance.kernels import following as kernels
from hacheck.traces.conformance.kernels import known as k

WORD_BITS = 64


@dataclass(frozen=True, slots=True)
class Bits:
    """Where a number is in the words of a record: `width` bits from bit `shift` of word `word`."""

    word: int
    shift: int
    width: int


@dataclass(frozen=True, slots=True)
class RecordShape:
    """How a record is written in words. Of a column that nothing compares there are no bits.

    - `words`: of a record; `event`, `writer`: their numbers;
    - `given`, `content`: by column, whether there is a value, and the value's ordinal (of a name, its number).
    """

    words: int
    event: Bits | None
    writer: Bits | None
    given: tuple[Bits | None, ...]
    content: tuple[Bits | None, ...]


@dataclass(frozen=True, slots=True)
class Telling:
    """Code that takes only the steps of actions that may write lines, and where it notes what."""

    notes: Notes
    code: Linked


@dataclass(frozen=True, slots=True)
class Compiled:
    """What follows logs. `expand` and `marks` are the addresses of generated functions.

    - `base`: words that say what is so; `program.words`: with those of the records that a candidate sees;
    - `taken`: by stream, where a candidate says how many of its records the last step took;
    - `starts`: the states, packed, that a trace may start in; `asked`: the properties that have marks;
    - `telling`: the actions that may write lines by themselves, where there are others and traces are in one order;
    - `called`: the model's name of a node, as `Server-1`, by what records call it.
    """

    shape: Observed
    program: Program
    record: RecordShape
    base: int
    taken: tuple[Bits, ...]
    starts: tuple[int, ...]
    asked: tuple[str, ...]
    objects: tuple[bytes, ...]
    code: Linked
    kernels: Mapping[str, Callable[..., int]]
    telling: Telling | None = None
    called: Mapping[str, str] = field(default_factory=dict)

    def state(self, packed: int) -> State:
        """The state of the system itself that a candidate has."""
        whole = unpack(self.program.layout, packed)
        names = [variable.name for variable in self.shape.system.variables]
        return tuple(value for name, value in zip(names, whole, strict=True) if not name.startswith(PREFIX))


def compiled(
    shape: Observed,
    starts: Sequence[State] | None = None,
    asked: Sequence[Property] = (),
    cache: ObjectCache | None = None,
    whole: bool = False,
) -> Compiled:
    """Compiles what follows logs of a system. `whole`: with what no line depends on, which is left out otherwise.

    `starts`: states of the system that a trace may start in, if not its initial ones. `asked`: invariants to look at on
    the way. Errors: `EvaluationFault` where the system cannot begin, `CompilerError`.
    """
    cache = ObjectCache() if cache is None else cache
    initial = Interpreter(shape.system).initial_states()
    if starts is not None:
        added = initial[0][len(starts[0]) :]
        initial = tuple((*state, *added) for state in starts)
    lowered = lower(shape.system, [*initial, _other(shape, initial[0])], copies_max=1)
    conditions = [lower_condition(lowered, one.goal) for one in asked]
    graph = lowered.graph
    marks = [
        Mark(one.name, graph.and_(graph.not_(condition.fault), graph.not_(condition.value)))
        for one, condition in zip(asked, conditions, strict=True)
    ]
    kept = [*_taken(shape, lowered.layout), *(slot for group in _groups(shape, lowered.layout) for slot in group)]
    slots = (graph.slot(slot, lowered.layout.slots[slot].high) for slot in kept)
    roots = [*(mark.wanted for mark in marks), *slots]
    lowered = lowered if whole else relevant(lowered, roots)
    emitted = emit(lowered, marks=marks, apart=_groups(shape, lowered.layout))
    program = emitted.program
    record, base = _record_shape(shape, program.layout)
    objects = _objects(emitted, cache)
    code = link(list(objects))
    taken = tuple(_bits(program.layout, slot) for slot in _taken(shape, program.layout))
    packed = tuple(dict.fromkeys(pack(program.layout, state) for state in initial))
    asked_names = tuple(one.name for one in asked)
    loops = _kernels(base, program.words, record.words, shape.places + 1, cache)
    telling = _telling(shape, lowered, cache)
    return Compiled(shape, program, record, base, taken, packed, asked_names, objects, code, loops, telling)


def _telling(shape: Observed, lowered: Lowered, cache: ObjectCache) -> Telling | None:
    """What takes the steps of some actions. Only sets of candidates in one order are followed by it."""
    taken = {shape.taken_variable(stream) for stream in range(shape.streams)}
    writes = [
        any(isinstance(one, ir.Let) and one.name in taken for one in action.body) for action in shape.system.actions
    ]
    some = tuple(instance for instance in lowered.instances if writes[instance.action])
    if not shape.merged or not some or len(some) == len(lowered.instances):
        return None
    emitted = emit(replace(lowered, instances=some), apart=_groups(shape, lowered.layout))
    return Telling(emitted.program.notes, link(list(_objects(emitted, cache))))


def _objects(emitted: Emitted, cache: ObjectCache) -> tuple[bytes, ...]:
    """The code of a module."""
    key = key_of("conformance", emitted.ir, KERNEL_LEVELS)
    found = cache.lookup(key)
    if found is not None:
        return tuple(found.objects)
    made = compile_object(emitted.ir)
    cache.store(key, [made])
    return (made,)


def _kernels(base: int, words: int, record: int, ring: int, cache: ObjectCache) -> Mapping[str, Callable[..., int]]:
    constants = {"W": base, "RECORDS": words - base, "RECORD": record, "RING": ring}
    constants |= {"PLACES": ring - 1, "MOVE_WORDS": k.M_WINDOW + words - base}
    exported = {"empty": 1, "close": 2, "cuts": 1, "follow_parts": 5, "forget": 1}
    linked = link([compiled_kernels(kernels.KERNELS, constants, exported, cache)])
    return {name: linked.function(name, arguments) for name, arguments in exported.items()}


# ---- where records are ----


def _other(shape: Observed, state: State) -> State:
    """A state in which every record says something else, so that none is taken for a constant."""
    names = {
        name
        for stream in range(shape.streams)
        for place in range(shape.places)
        for name in shape.record_variables(stream, place)
    }
    pairs = zip(shape.system.variables, state, strict=True)
    return tuple(_last(variable.type) if variable.name in names else value for variable, value in pairs)


def _last(kind: Any) -> Value:
    if isinstance(kind, Option):
        return _last(kind.element)
    if isinstance(kind, Range):
        return kind.high
    if isinstance(kind, Set):
        return frozenset(values(kind.element))
    *_, last = values(kind)
    return last


def _places(shape: Observed, layout: Layout) -> dict[str, Any]:
    return {variable.name: place for variable, place in zip(shape.system.variables, layout.places, strict=True)}


def _groups(shape: Observed, layout: Layout) -> list[list[int]]:
    """The slots of each record, those of one stream one after another."""
    places = _places(shape, layout)
    return [
        [slot for name in shape.record_variables(stream, place) for slot in slots_of(places[name])]
        for stream in range(shape.streams)
        for place in range(shape.places)
    ]


def _taken(shape: Observed, layout: Layout) -> Iterator[int]:
    places = _places(shape, layout)
    for stream in range(shape.streams):
        yield from slots_of(places[shape.taken_variable(stream)])


def _bits(layout: Layout, slot: int) -> Bits:
    if not layout.slots[slot].width:  # it is always the same
        return Bits(0, 0, 0)
    word, shift = divmod(layout.slots[slot].offset, WORD_BITS)
    return Bits(word, shift, layout.slots[slot].width)


def _record_shape(shape: Observed, layout: Layout) -> tuple[RecordShape, int]:
    """How a record is written, and where the first one is in a candidate."""
    groups = [[slot for slot in group if layout.slots[slot].width] for group in _groups(shape, layout)]
    first = min(layout.slots[slot].offset for group in groups for slot in group) // WORD_BITS
    end = max(layout.slots[slot].offset + layout.slots[slot].width for group in groups for slot in group)
    words = (-(-end // WORD_BITS) - first) // len(groups)
    places = _places(shape, layout)
    event, writer, *columns = shape.record_variables(0, 0)

    def place(slot: int | None) -> Bits | None:
        if slot is None or not layout.slots[slot].width:
            return None
        bits = _bits(layout, slot)
        return Bits(bits.word - first, bits.shift, bits.width)

    def only(name: str) -> Bits | None:
        found = places[name]
        assert isinstance(found, Cell), f"{name} is one number"
        return place(found.slot)

    given: list[Bits | None] = []
    content: list[Bits | None] = []
    for name in columns:
        found = places[name]
        if isinstance(found, Flagged):
            assert isinstance(found.inner, Cell), f"{name} is a set"
            given.append(place(found.flag))
            content.append(place(found.inner.slot))
        else:
            given.append(None)
            content.append(only(name))
    return RecordShape(words, only(event), only(writer), tuple(given), tuple(content)), first
