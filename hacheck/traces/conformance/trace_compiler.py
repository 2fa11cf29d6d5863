"""From a system that reads records to the functions in memory that follow logs: found compiled, or made now.

What is kept under the system's own text holds everything that following needs to know, so where it is found nothing is
lowered.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from hacheck.compile import (
    KERNEL_LEVELS,
    Artifact,
    ObjectCache,
    Source,
    Unit,
    build,
    compiled_kernels,
    described,
    key_of,
    link,
    pack,
)
from hacheck.compile.kernels import packed_states
from hacheck.model import ir
from hacheck.model.evaluation import StartError
from hacheck.model.interpreter import Interpreter
from hacheck.model.ir import Property
from hacheck.model.observing.record_layout import Observed
from hacheck.model.runs import State
from hacheck.traces.conformance.kernels import automaton_fields as k
from hacheck.traces.conformance.kernels import hidden_closure, state_sets, trace_loop
from hacheck.traces.conformance.record_words import bits_of, record_shape, record_slots, taken_slots, unlike
from hacheck.traces.conformance.trace_program import Compiled, LineActions
from hacheck.traces.findings import TracesError

if TYPE_CHECKING:  # what is found compiled is not lowered
    from hacheck.compile import Lowered, Mark


class _Wanted(Struct, frozen=True):
    """What is compiled: a system, the states that a trace may start in, if not its initial ones, the invariants looked
    at on the way, and whether with what no line depends on."""

    shape: Observed
    starts: Sequence[State] | None
    checked: Sequence[Property]
    whole: bool

    @property
    def text(self) -> str:
        """A text that differs for those that differ. The system of a shape has the records, so it says what they are
        and how many."""
        checked = tuple(replace(one, description="", source="", line=0) for one in self.checked)
        starts = None if self.starts is None else tuple(self.starts)
        return "\n".join(
            [f"{self.whole} {self.shape.merged}", repr(starts), repr(checked), described(self.shape.system)]
        )


def compiled(
    shape: Observed,
    starts: Sequence[State] | None = None,
    checked: Sequence[Property] = (),
    cache: ObjectCache | None = None,
    whole: bool = False,
    quick: bool = False,
) -> Compiled:
    """Compiles what follows logs of a system. `whole`: with what no line depends on, which is left out otherwise.
    `quick`: the logs are small, so compiling counts more than following them.

    `starts`: states of the system that a trace may start in, if not its initial ones. `checked`: invariants to look at
    on the way. Errors: `TracesError` where the system cannot begin, `CompilerError`.
    """
    cache = ObjectCache() if cache is None else cache
    wanted = _Wanted(shape, starts, checked, whole)
    key = key_of("conformance", wanted.text, KERNEL_LEVELS)
    load = partial(_loaded, wanted, cache, quick)
    return build(key, cache, shape.system, lower=partial(_lowered, wanted), emit=partial(_emitted, shape), load=load)


# ---- what is kept ----


def _loaded(wanted: _Wanted, cache: ObjectCache, quick: bool, artifact: Artifact) -> Compiled:
    shape, program, code = wanted.shape, artifact.programs[0], artifact.code[0]
    record, base = record_shape(shape, program.layout)
    taken = tuple(bits_of(program.layout, slot) for slot in taken_slots(shape, program.layout))
    names = tuple(one.name for one in wanted.checked)
    line_actions = None
    if len(artifact.programs) > 1:
        line_actions = LineActions(artifact.programs[1].notes, artifact.code[1])
    loops = _kernels(shape, base, program.words, record.words, cache, quick)
    return Compiled(shape, program, record, base, taken, artifact.starts, names, code, loops, line_actions)


def _kernels(
    shape: Observed, base: int, words: int, record: int, cache: ObjectCache, quick: bool
) -> Mapping[str, Callable[..., int]]:
    """The loops that work on sets of candidates; those that follow records too, where these are in one order."""
    constants = {"W": base, "RECORDS": words - base, "RECORD": record, "RING": shape.places + 1}
    constants |= {"PLACES": shape.places, "MOVE_WORDS": k.M_WINDOW + words - base}
    exported = {"empty": 1, "close": 2, "limited": 1}
    functions: Sequence[Callable[..., object]] = trace_loop.KERNELS
    if shape.merged:
        exported |= {"follow_parts": 5, "forget": 1}
    else:
        functions = (*packed_states.KERNELS, *state_sets.KERNELS, *hidden_closure.KERNELS)
    linked = link([compiled_kernels(functions, constants, exported, cache, quick)])
    return {name: linked.function(name, arguments) for name, arguments in exported.items()}


# ---- what is made ----


class _Form(Struct, frozen=True):
    """The lowered form, the conditions that get functions of their own, and the states that a trace may start in."""

    lowered: Lowered
    marks: Sequence[Mark]
    initial: Sequence[State]


def _lowered(wanted: _Wanted) -> _Form:
    """Errors: `TracesError` where the system cannot begin."""
    from hacheck.compile import Mark, lower, lower_condition, relevant

    shape = wanted.shape
    try:
        initial = Interpreter(shape.system).initial_states()
    except StartError as error:
        hint = "`hacheck verify` shows where the spec is wrong"
        raise TracesError(f"{shape.system.name} cannot begin: {error.message}", hint) from None
    if wanted.starts is not None:
        added = initial[0][len(wanted.starts[0]) :]
        initial = tuple((*state, *added) for state in wanted.starts)
    lowered = lower(shape.system, [*initial, unlike(shape, initial[0])], copies_max=1)
    conditions = [lower_condition(lowered, one.goal) for one in wanted.checked]
    graph = lowered.graph
    marks = [
        Mark(one.name, graph.and_(graph.not_(condition.error), graph.not_(condition.value)))
        for one, condition in zip(wanted.checked, conditions, strict=True)
    ]
    records = record_slots(shape, lowered.layout)
    kept = [*taken_slots(shape, lowered.layout), *(slot for group in records for slot in group)]
    slots = (graph.slot(slot, lowered.layout.slots[slot].high) for slot in kept)
    roots = [*(mark.wanted for mark in marks), *slots]
    return _Form(lowered if wanted.whole else relevant(lowered, roots), marks, initial)


def _emitted(shape: Observed, form: _Form) -> Source:
    from hacheck.compile import emit, levels_for

    apart = record_slots(shape, form.lowered.layout)
    emitted = [emit(form.lowered, marks=form.marks, apart=apart)]
    some = _line_actions(shape, form.lowered)
    if some is not None:
        emitted.append(emit(some, apart=apart))
    units = [Unit(one.program, [(one.ir, levels_for(one.ir))]) for one in emitted]
    starts = dict.fromkeys(pack(units[0].program.layout, state) for state in form.initial)
    return Source(units, tuple(starts))


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
