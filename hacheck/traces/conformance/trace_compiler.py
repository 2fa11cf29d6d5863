"""From a system that reads records to the functions in memory that follow logs: found compiled, or made now.

What is kept under the system's own text holds everything that following needs to know, so where it is found nothing is
lowered.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hacheck.checker.explicit.native_program import described, levels_for
from hacheck.compile.codegen.generated_program import ProgramError, program_from_json, program_to_json
from hacheck.compile.kernels.compiled_kernels import compiled_kernels
from hacheck.compile.lowering.layout import pack
from hacheck.compile.machine.compiler import KERNEL_LEVELS, compile_object, link
from hacheck.compile.machine.object_cache import Entry, ObjectCache, key_of
from hacheck.model import ir
from hacheck.model.data import dataclass, replace
from hacheck.model.evaluation import StartError
from hacheck.model.interpreter import Interpreter
from hacheck.model.ir import Property
from hacheck.model.observing.record_layout import Observed
from hacheck.model.runs import State
from hacheck.traces.conformance.kernels import automaton_fields as k
from hacheck.traces.conformance.kernels import trace_loop as kernels
from hacheck.traces.conformance.record_layout import bits_of, record_shape, record_slots, taken_slots, unlike
from hacheck.traces.conformance.trace_program import Compiled, LineActions
from hacheck.traces.findings import TracesError

if TYPE_CHECKING:  # what is found compiled is not lowered
    from hacheck.compile.lowering.blocks import Lowered


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What is compiled: a system, the states that a trace may start in, if not its initial ones, the invariants looked
    at on the way, and whether with what no line depends on."""

    shape: Observed
    starts: Sequence[State] | None
    asked: Sequence[Property]
    whole: bool

    @property
    def text(self) -> str:
        """A text that differs for those that differ. The system of a shape has the records, so it says what they are
        and how many."""
        asked = tuple(replace(one, description="", source="", line=0) for one in self.asked)
        starts = None if self.starts is None else tuple(self.starts)
        return "\n".join([f"{self.whole} {self.shape.merged}", repr(starts), repr(asked), described(self.shape.system)])


def compiled(
    shape: Observed,
    starts: Sequence[State] | None = None,
    asked: Sequence[Property] = (),
    cache: ObjectCache | None = None,
    whole: bool = False,
) -> Compiled:
    """Compiles what follows logs of a system. `whole`: with what no line depends on, which is left out otherwise.

    `starts`: states of the system that a trace may start in, if not its initial ones. `asked`: invariants to look at on
    the way. Errors: `TracesError` where the system cannot begin, `CompilerError`.
    """
    cache = ObjectCache() if cache is None else cache
    wanted = _Wanted(shape, starts, asked, whole)
    key = key_of("conformance", wanted.text, KERNEL_LEVELS)
    return cache.found_or_made(key, lambda entry: _kept(entry, wanted, cache), lambda: _made(wanted))


# ---- what is kept ----


def _kept(entry: Entry, wanted: _Wanted, cache: ObjectCache) -> Compiled | None:
    shape, facts = wanted.shape, entry.facts
    try:
        program = program_from_json(facts["program"], shape.system)
        line_actions = None if facts["telling"] is None else program_from_json(facts["telling"], shape.system)
        packed = tuple(int(state, 16) for state in facts["initial"])
    except (ProgramError, KeyError, TypeError, ValueError):
        return None
    if len(entry.objects) != 1 + (line_actions is not None):
        return None
    record, base = record_shape(shape, program.layout)
    taken = tuple(bits_of(program.layout, slot) for slot in taken_slots(shape, program.layout))
    names = tuple(one.name for one in wanted.asked)
    code = link(entry.objects[:1])
    told = None if line_actions is None else LineActions(line_actions.notes, link(entry.objects[1:]))
    loops = _kernels(base, program.words, record.words, shape.places + 1, cache)
    return Compiled(shape, program, record, base, taken, packed, names, code, loops, told)


def _kernels(base: int, words: int, record: int, ring: int, cache: ObjectCache) -> Mapping[str, Callable[..., int]]:
    constants = {"W": base, "RECORDS": words - base, "RECORD": record, "RING": ring}
    constants |= {"PLACES": ring - 1, "MOVE_WORDS": k.M_WINDOW + words - base}
    exported = {"empty": 1, "close": 2, "cuts": 1, "follow_parts": 5, "forget": 1}
    linked = link([compiled_kernels(kernels.KERNELS, constants, exported, cache)])
    return {name: linked.function(name, arguments) for name, arguments in exported.items()}


# ---- what is made ----


def _made(wanted: _Wanted) -> Entry:
    """The code, and what belongs to it. Errors: `TracesError` where the system cannot begin, `CompilerError`."""
    from hacheck.compile.codegen.system_module import Mark, emit
    from hacheck.compile.lowering.cone_of_influence import relevant
    from hacheck.compile.lowering.system import lower, lower_condition

    shape = wanted.shape
    try:
        initial = Interpreter(shape.system).initial_states()
    except StartError as fault:
        hint = "`hacheck verify` shows where the spec is wrong"
        raise TracesError(f"{shape.system.name} cannot begin: {fault.message}", hint) from None
    if wanted.starts is not None:
        added = initial[0][len(wanted.starts[0]) :]
        initial = tuple((*state, *added) for state in wanted.starts)
    lowered = lower(shape.system, [*initial, unlike(shape, initial[0])], copies_max=1)
    conditions = [lower_condition(lowered, one.goal) for one in wanted.asked]
    graph = lowered.graph
    marks = [
        Mark(one.name, graph.and_(graph.not_(condition.error), graph.not_(condition.value)))
        for one, condition in zip(wanted.asked, conditions, strict=True)
    ]
    records = record_slots(shape, lowered.layout)
    kept = [*taken_slots(shape, lowered.layout), *(slot for group in records for slot in group)]
    slots = (graph.slot(slot, lowered.layout.slots[slot].high) for slot in kept)
    roots = [*(mark.wanted for mark in marks), *slots]
    lowered = lowered if wanted.whole else relevant(lowered, roots)
    emitted = emit(lowered, marks=marks, apart=record_slots(shape, lowered.layout))
    objects = [compile_object(emitted.ir, levels_for(emitted.ir))]
    facts: dict[str, Any] = {
        "program": program_to_json(emitted.program, shape.system),
        "initial": [f"{state:x}" for state in dict.fromkeys(pack(emitted.program.layout, one) for one in initial)],
        "telling": None,
    }
    some = _line_actions(shape, lowered)
    if some is not None:
        told = emit(some, apart=record_slots(shape, lowered.layout))
        objects.append(compile_object(told.ir, levels_for(told.ir)))
        facts["telling"] = program_to_json(told.program, shape.system)
    return Entry(tuple(objects), facts)


def _line_actions(shape: Observed, lowered: Lowered) -> Lowered | None:
    """What takes the steps of some actions. Only sets of candidates in one order are followed by it."""
    taken = {shape.taken_variable(stream) for stream in range(shape.streams)}
    writes = [
        any(isinstance(one, ir.Let) and one.name in taken for one in action.body) for action in shape.system.actions
    ]
    some = tuple(instance for instance in lowered.instances if writes[instance.action])
    if not shape.merged or not some or len(some) == len(lowered.instances):
        return None
    return replace(lowered, instances=some)
