"""From a system and its properties to functions in memory: found compiled, or lowered and compiled now.

What is kept under the system's own text holds everything that a search needs to know, so where it is found nothing is
lowered. The functions for liveness are made, and kept, when liveness is checked and the search has come to its end.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from hacheck.checker.explicit.reduction_data import (
    NONE,
    Reductions,
    reduction_notes,
    reductions_from_json,
    reductions_to_json,
)
from hacheck.checker.explicit.stopwatch import Stopwatch
from hacheck.compile.artifact import Artifact, Source, Unit, build, compiled, described, loaded
from hacheck.compile.codegen.generated_program import Program, ProgramError
from hacheck.compile.codegen.word_layout import from_words, to_words
from hacheck.compile.lowering.layout import pack, pack_all
from hacheck.compile.machine.compiler import (
    KERNEL_LEVELS,
    QUICK_LEVELS,
    Levels,
    Linked,
    compile_object,
    is_available,
)
from hacheck.compile.machine.object_cache import Entry, ObjectCache, key_of
from hacheck.model.counters.value_distances import Distances, Followed, followed, representatives, unbounded
from hacheck.model.initial_states import initial_states
from hacheck.model.ir import System
from hacheck.model.runs import State

if TYPE_CHECKING:  # what is found compiled is not lowered
    from hacheck.checker.explicit.property_conditions import Questions
    from hacheck.compile.lowering.blocks import Lowered

Product = TypeVar("Product")

LONG_STATES = 10_000_000
"""With so many states, thorough code for liveness spares more time than it costs."""


class Unavailable(Exception):
    """No machine code can be made here. `reason`: why, as the end of a sentence."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Built(Struct, frozen=True):
    """What a search needs. `initial`: packed states. `functions`: as linked. `canonical`: an address or 0.
    `count_orbits`: how many states some stand for, if that can be counted. `reduce`: of a state of the interpreter
    the packed one that stands for it. `quick_lines`: of IR, compiled quickly; there could be better code,
    worth while for a long search."""

    program: Program
    initial: tuple[int, ...]
    reductions: Reductions
    functions: Linked
    canonical: int
    count_orbits: Callable[..., int] | None
    reduce: Callable[[State], int]
    quick_lines: int


class BuiltForLiveness(Struct, frozen=True):
    """`expand`: lists outcomes that are no step, too. `marks`: marking functions by key. `code`: what keeps them in
    memory."""

    program: Program
    expand: int
    marks: Mapping[str, Callable[..., int]]
    code: Linked


class Form(Struct, frozen=True):
    """The lowered form, the properties to check and what is left out."""

    lowered: Lowered
    questions: Questions
    reductions: Reductions
    initial: tuple[State, ...]


class Builder:
    """Builds for one check. `reduces`: whether reductions may be used. `optimise`: code is made as good as can be
    before anything is explored. `given`: the system as it is; `system`: what is explored; `replayed`: what runs are
    runs of. `distances`: the counters without an end; `bounded`: those that are explored up to a bound after all, and
    why. `text`: what is built, as far as it matters."""

    def __init__(
        self,
        system: System,
        properties: tuple[str, ...],
        reduces: bool,
        cache: ObjectCache,
        watch: Stopwatch,
        optimise: bool = False,
    ) -> None:
        self.given = system
        made = explored_form(system, reduces)
        self.system, self.distances, self.bounded = made.system, made.distances, made.bounded
        self.replayed = unbounded(system) if made.distances else made.system
        self.properties, self.reduces, self.optimise = properties, reduces, optimise
        self.cache, self.watch = cache, watch
        self.text = f"{properties} {reduces} {self.distances}\n{described(self.system)}"
        self._form: Form | None = None
        self._printed: list[str] = []
        self._quick: tuple[list[str], Entry] | None = None
        self._for_liveness: dict[bool, BuiltForLiveness] = {}

    def for_search(self) -> Built:
        """Optimised code, if it is kept; else, unless `optimise`, code that is compiled quickly.

        Errors: `EvaluationError` where a system cannot begin; `Cancelled`; `Unavailable`."""
        if not (availability := is_available()):
            raise Unavailable(availability.reason)
        optimised = key_of("search", self.text, KERNEL_LEVELS)
        found = self.cache.found(optimised, self._kept)
        if found is not None:
            return found
        key = optimised if self.optimise else key_of("search", self.text, QUICK_LEVELS)
        return self._built(key, partial(self._emitted, self.optimise), self._loaded)

    def optimised(self) -> Built:
        """The same optimised, by a thread of its own: nothing is used that others may be using, and no
        progress is reported. It is kept for the next time. Errors: those of `for_search` but `Cancelled`."""
        key = key_of("search", self.text, KERNEL_LEVELS)
        return self.cache.found_or_made(key, self._kept, self._compiled_again)

    def for_liveness(self, states: int) -> BuiltForLiveness:
        """For a graph of so many states. Errors: `Cancelled`."""
        optimise = self.optimise or states >= LONG_STATES
        if optimise not in self._for_liveness:
            key = key_of("liveness", self.text, levels_of(optimise))
            emit = partial(self._emitted_for_liveness, optimise)
            self._for_liveness[optimise] = self._built(key, emit, self._loaded_for_liveness)
        return self._for_liveness[optimise]

    def _built(self, key: str, emit: Callable[[Form], Source], load: Callable[[Artifact], Product | None]) -> Product:
        run = self.watch.supervised
        return build(key, self.cache, self.system, lower=self._lowered, emit=emit, load=load, run=run)

    # ---- what is kept ----

    def _kept(self, entry: Entry) -> Built | None:
        return loaded(self.system, entry, self._loaded)

    def _loaded(self, artifact: Artifact) -> Built | None:
        (program,), (functions,), initial = artifact.programs, artifact.code, artifact.starts
        if self._printed:
            self._quick, self._printed = (self._printed, artifact.entry), []
        try:
            reductions = reductions_from_json(artifact.facts["reductions"], self.system)
            quick = int(artifact.facts["quick_lines"])
        except (ProgramError, KeyError, TypeError, ValueError):
            return None
        if not reductions.permutes:
            return Built(program, initial, reductions, functions, 0, None, partial(pack, program.layout), quick)
        count = functions.function("count_orbits", 2) if reductions.exact else None
        reduce = _representative(program, functions.function("canonical", 2))
        if self.distances:
            reduce = _without_distances(self.system, self.distances, reduce)
        return Built(program, initial, reductions, functions, functions.address("canonical"), count, reduce, quick)

    def _loaded_for_liveness(self, artifact: Artifact) -> BuiltForLiveness:
        (program,), (code,) = artifact.programs, artifact.code
        marks = {key: code.function(f"mark_{number}", 3) for number, key in enumerate(program.marks)}
        return BuiltForLiveness(program, code.address("expand"), marks, code)

    # ---- what is made ----

    def _lowered(self) -> Form:
        if self._form is None:
            self._form = lowered_form(self.system, self.properties, self.reduces, self.distances)
        return self._form

    def _emitted(self, optimise: bool, form: Form) -> Source:
        from hacheck.compile.codegen.system_module import emit_in_parts

        parts = emit_in_parts(form.lowered, form.questions.sought, form.questions.unblocking)
        printed: list[str] = []

        def modules() -> Iterator[tuple[str, Levels]]:
            for text in parts.texts:
                printed.append(text)
                yield text, levels_of(optimise)
            if form.reductions.permutes:
                yield from _canonical(self.system, parts.program, form.reductions)

        def facts() -> Mapping[str, Any]:
            if not optimise:
                self._printed = printed
            lines = 0 if optimise else sum(text.count("\n") for text in printed)
            return {"reductions": reductions_to_json(form.reductions), "quick_lines": lines}

        starts = pack_all(parts.program.layout, form.initial)
        return Source([Unit(parts.program, modules())], starts, facts)

    def _compiled_again(self) -> Entry:
        """What was compiled quickly, in this process or an earlier one."""
        if self._quick is None:
            form = lowered_form(self.system, self.properties, self.reduces, self.distances)
            return compiled(self.system, self._emitted(True, form))
        texts, entry = self._quick
        better = [compile_object(text, KERNEL_LEVELS) for text in texts]
        return Entry((*better, *entry.objects[len(texts) :]), {**entry.facts, "quick_lines": 0})

    def _emitted_for_liveness(self, optimise: bool, form: Form) -> Source:
        from hacheck.checker.explicit.liveness.marked_states import conditions
        from hacheck.compile.codegen.system_module import Mark, emit_in_parts

        marks = [Mark(key, wanted) for key, wanted in conditions(form.lowered, form.questions.properties)]
        parts = emit_in_parts(form.lowered, marks=marks, lists_stops=True)
        return Source([Unit(parts.program, ((text, levels_of(optimise)) for text in parts.texts))])


def levels_of(optimise: bool) -> Levels:
    """How optimised generated code is compiled before anything is explored."""
    return KERNEL_LEVELS if optimise else QUICK_LEVELS


def printed(system: System, reduces: bool = True) -> str:
    """The LLVM IR of the functions that explore a system for all its properties, which reductions they rest on, and
    why others are not made."""
    from hacheck.compile.codegen.system_module import emit

    made = explored_form(system, reduces)
    form = lowered_form(made.system, (), reduces, made.distances)
    emitted = emit(form.lowered, form.questions.sought, form.questions.unblocking)
    unlike = (f"{one.kind}s are not symmetric: {'; '.join(one.reasons)}" for one in form.reductions.unlike)
    head = [f"; {line}" for line in (*reduction_notes(form.reductions, 0), *unlike)]
    return "\n".join([*head, emitted.ir])


def explored_form(system: System, reduces: bool) -> Followed:
    """What is explored of a system. Counters without an end have one where nothing may be reduced."""
    if not system.endless:
        return Followed(system, (), ())
    return followed(system) if reduces else Followed(replace(system, endless=()), (), ())


def lowered_form(
    system: System, properties: tuple[str, ...], reduces: bool, distances: tuple[Distances, ...] = ()
) -> Form:
    """The lowered form and the properties to check. `distances`: the counters that it follows without an end.

    Errors: `EvaluationError` where the system cannot begin."""
    from hacheck.checker.explicit.property_conditions import pose
    from hacheck.checker.explicit.reductions import reduced
    from hacheck.compile.lowering.system import lower

    initial = initial_states(system)
    lowered = lower(system, initial, copies_max=1)
    questions, reductions = pose(lowered, properties), NONE
    if reduces:
        lowered, reductions = reduced(lowered, questions, initial, distances=distances)
    return Form(lowered, questions, reductions, initial)


def _canonical(system: System, program: Program, reductions: Reductions) -> Iterator[tuple[str, Levels]]:
    """The function that finds representatives, and the one that counts whom they stand for."""
    from hacheck.checker.explicit.symmetry.canonical_states import canonicaliser
    from hacheck.compile.kernels.to_llvm import kernel_ir_of_source

    texts = canonicaliser(system, program.layout, reductions.symmetric, reductions.distances)
    constants = {"W": program.words}
    yield kernel_ir_of_source(texts.canonical, constants, ["canonical"]), KERNEL_LEVELS
    if reductions.exact:
        yield kernel_ir_of_source(texts.counting, constants, ["count_orbits"]), KERNEL_LEVELS


def _representative(program: Program, canonical: Callable[..., int]) -> Callable[[State], int]:
    """Packs a state and replaces it by its representative."""
    content = array("Q", bytes(8 * program.words))

    def reduce(state: State) -> int:
        for place, word in enumerate(to_words(pack(program.layout, state), program.words)):
            content[place] = word
        canonical(content.buffer_info()[0], 1)
        return from_words(content)

    return reduce


def _without_distances(
    system: System, distances: tuple[Distances, ...], reduce: Callable[[State], int]
) -> Callable[[State], int]:
    """Reduces states of the real system; -1 of one that no explored state stands for."""

    representative = representatives(system, distances)

    def whole(state: State) -> int:
        found = representative.of(state)
        return -1 if found is None else reduce(found)

    return whole
