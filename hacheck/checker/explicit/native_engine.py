"""The native engine: every reachable state, breadth first, with machine code and several threads."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import closing
from functools import partial
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from hacheck import __version__
from hacheck.checker.engine import DECIDED, Answer, Limits, Progress, Refused, Report
from hacheck.checker.explicit.answers import UNCONFIRMED, Explored, answer_of, no_start, unexplored
from hacheck.checker.explicit.native_program import Builder, Built, Unavailable
from hacheck.checker.explicit.property_conditions import goal_of, select
from hacheck.checker.explicit.reduction_data import reduction_notes, unreduced_notes
from hacheck.checker.explicit.search.breadth_first_search import Options, Search
from hacheck.checker.explicit.search.checkpoint import Keeping
from hacheck.checker.explicit.search.checkpoint_manifest import CheckpointError
from hacheck.checker.explicit.search.exploration import explore
from hacheck.checker.explicit.search.kernel_groups import Kernels
from hacheck.checker.explicit.search.levels import pieces
from hacheck.checker.explicit.search.search_limits import Bounds
from hacheck.checker.explicit.search.state_log import Log
from hacheck.checker.explicit.search_result import LivenessVerdict, Subject, Undecided
from hacheck.checker.explicit.stopwatch import RECONSTRUCTING, Stopwatch
from hacheck.checker.explicit.tier_up import TierUp, functions_of
from hacheck.checker.recheck_result import Recheck, Rechecked
from hacheck.compile.machine.object_cache import ObjectCache
from hacheck.model.evaluation import EvaluationError
from hacheck.model.initial_states import initial_states
from hacheck.model.ir import (
    Assign,
    Binary,
    Choose,
    Constant,
    Domain,
    If,
    Local,
    Property,
    Statement,
    System,
    Target,
    Variable,
)
from hacheck.model.types import Range
from hacheck.supervise.resources import process_bytes
from hacheck.supervise.task import Cancelled

NAME = "native"
UNSURE = Undecided("not checked: with hashes in place of states, an exit from a loop may be missing")
"""Why a search that may leave out states says nothing of infinite runs."""


class Prepared:
    """What a search of one system for the same properties needs, made by the first search and used by all others, which
    differ in where they begin. A search that is stopped while it is made leaves it to the next one."""

    def __init__(self, system: System, properties: tuple[str, ...]) -> None:
        self.system, self.properties = system, properties
        self._builder: Builder | None = None
        self._built: Built | None = None
        self._kernels: Kernels | None = None

    def builder(self, engine: NativeEngine, cache: ObjectCache, watch: Stopwatch) -> Builder:
        """What builds, which reports to this watch from now on."""
        if self._builder is None:
            self._builder = Builder(self.system, self.properties, engine.reductions, cache, watch, engine.optimise)
        self._builder.watch = watch
        return self._builder

    def code(self, engine: NativeEngine, builder: Builder) -> tuple[Built, Kernels]:
        """The functions of the system and those of the search. Errors: those of `Builder.for_search`."""
        if self._built is None:
            self._built = builder.for_search()
        if self._kernels is None:
            alone = engine.threads == 1
            self._kernels = Kernels(self._built.program.words, engine.fingerprint, alone, builder.cache)
        return self._built, self._kernels


class NativeEngine(Struct, frozen=True):
    """Decides every kind of property on the whole graph of reachable states.

    - `threads`: how many explore. Answers do not depend on it.
    - `fingerprint`: keep a hash of each state to know it again: less memory, and a state may be left out.
    - `stop_early`: stop once every property is decided by a run, instead of going on for the numbers of the whole
      graph.
    - `reductions`: explore one state of each orbit of symmetric ones, and only what a property reads.
    - `checkpoint`: the folder in which what is explored is kept; `resume`: go on from what is kept there.
    - `cache`: the folder for machine code; by default one of the user's.
    - `optimise`: code is made as good as can be before anything is explored, not only for a search that takes long.
    - `recheck`: has a second interpreter compute some of the states again.
    - `starts`: explore from these initial states alone, by their places among all in the interpreter's order.
    - `table_bits`: logarithm of the slots with which the set of states seen begins.
    """

    threads: int = 1
    fingerprint: bool = False
    stop_early: bool = False
    reductions: bool = True
    checkpoint: Path | None = None
    resume: bool = False
    cache: Path | None = None
    optimise: bool = False
    table_bits: int = 18
    recheck: Recheck | None = None
    starts: frozenset[int] | None = None

    def check(self, system: System, properties: tuple[str, ...], limits: Limits, report: Report) -> Answer:
        """Errors: none for anything a spec can contain; an `AssertionError` is a bug of ours. `MemoryError` where the
        machine has no room to begin."""
        return self.check_prepared(Prepared(system, properties), limits, report)

    def check_prepared(self, prepared: Prepared, limits: Limits, report: Report) -> Answer:
        """The same of a system for which an earlier search by this engine, but for its `starts`, has made the code."""
        system, properties = prepared.system, prepared.properties
        watch = Stopwatch(limits, report)
        builder = prepared.builder(self, ObjectCache(self.cache), watch)
        try:
            built, kernels = prepared.code(self, builder)
            if not built.initial:
                return no_start(system, properties)
            watch.supervised("compiling", lambda: kernels.search)
        except EvaluationError as error:
            return no_start(system, properties, f"an error of the spec {error.message}")
        except Cancelled as given_up:
            return unexplored(system, properties, given_up.reason)
        except Unavailable as unavailable:
            return self._elsewhere(unavailable.reason, system, properties, limits, report)
        with closing(TierUp(builder.optimised, built.quick_lines)) as tier_up_code:
            search = Search(
                functions_of(built),
                kernels,
                Options(self.threads, self.table_bits),
                Bounds(limits, report, watch.started),
            )
            search.better = tier_up_code.functions if built.quick_lines else None
            return self._confirmed(builder, self._explored(builder, built, search), limits, report)

    def _confirmed(self, builder: Builder, answer: Answer, limits: Limits, report: Report) -> Answer:
        """The answer, in which what may be no run is decided by exploring up to the bounds of the counters."""
        notes = [f"{counter} is explored up to its bound only: {'; '.join(why)}" for counter, why in builder.bounded]
        open_ones = tuple(found.name for found in answer.properties if found.scope == UNCONFIRMED)
        if open_ones:
            counters = " and ".join(one.counter for one in builder.distances)
            notes.append(
                f"{', '.join(open_ones)}: explored up to the bound of {counters} only; "
                "runs found beyond it may not exist"
            )
            again = replace(self, checkpoint=None, resume=False)
            bounded = again.check(replace(builder.given, endless=()), open_ones, _left(limits, builder.watch), report)
            found = {one.name: one for one in bounded.properties}
            answers = tuple(found.get(one.name, one) for one in answer.properties)
            answer = replace(answer, properties=answers, error=answer.error or bounded.error)
        return replace(answer, notes=(*answer.notes, *notes), endless=tuple(one.counter for one in builder.distances))

    def _explored(self, builder: Builder, built: Built, search: Search) -> Answer:
        """The answer of a search."""
        system, watch, properties = builder.system, builder.watch, select(builder.system, builder.properties)
        goal = goal_of(properties) if self.stop_early else None
        try:
            with watch.phase("exploring"):
                found = explore(
                    search,
                    system,
                    self._initial(built),
                    goal,
                    self._keeping(builder, built),
                    properties,
                    exact=not builder.distances,
                    measure=partial(self._measure, builder, built),
                    reconstructing=partial(watch.phase, RECONSTRUCTING),
                )
        except CheckpointError as error:
            raise Refused(str(error)) from None
        with closing(found) as log:
            instances, bounds = built.program.instances, built.program.bounds
            subject = Subject(builder.replayed, instances, bounds, built.reduce, exact=not builder.distances)
            omission = log.size**2 / 2**65 if self.fingerprint else 0.0
            check_liveness = partial(self._check_liveness, builder, search, log)
            if log.stopped not in (None, DECIDED):
                self._measure(builder, built, search)
            answer = answer_of(Explored(subject, properties, log, check_liveness, omission), watch)
            words = reduction_notes(built.reductions, log.size, self._stands_for(built, log, search.bounds))
            notes = answer.notes if log.trouble is None else (*answer.notes, log.trouble)
            answer = replace(answer, rechecked=self._rechecked(subject, log, watch))
        afterwards = 0.0 if answer.rechecked is None else answer.rechecked.seconds
        coverage = replace(
            answer.coverage,
            wall_seconds=watch.seconds() + search.seconds_before - afterwards,
            multipliers=search.bounds.multipliers if log.stopped else (),
        )
        return replace(
            answer,
            coverage=coverage,
            engine=NAME,
            threads=self.threads,
            reductions=(*words, *unreduced_notes(built.reductions, system)),
            notes=(*answer.notes, *notes),
        )

    def _initial(self, built: Built) -> tuple[int, ...]:
        """The states to begin with, packed."""
        if self.starts is None:
            return built.initial
        return tuple(state for place, state in enumerate(built.initial) if place in self.starts)

    def _rechecked(self, subject: Subject, log: Log, watch: Stopwatch) -> Rechecked | None:
        """What a second interpreter says of the states found."""
        if self.recheck is None:
            return None

        def go_on(states: int) -> bool:
            return watch.report(Progress(states, 0, log.depth, 0, watch.seconds(), process_bytes(), "re-checking"))

        with watch.phase("re-checking"):
            return self.recheck(subject, log, log.seconds, go_on)

    def _measure(self, builder: Builder, built: Built, search: Search) -> None:
        """Notes what makes the state space large, from states far apart in it."""
        if search.forgets:
            return
        from hacheck.checker.multipliers import SAMPLE, multipliers

        workers = [(worker.first, worker.next) for worker in search.workers.all]
        indices = [index for first, end in workers for index in range(first, end, max(search.size // SAMPLE, 1))]
        search.bounds.multipliers = multipliers(
            builder.system, built.program.layout, map(search.workers.state, indices)
        )

    def _keeping(self, builder: Builder, built: Built) -> Keeping | None:
        """What a checkpoint is for. One fits where states mean the same."""
        if self.checkpoint is None:
            return None
        identity = hashlib.sha256(f"{__version__} {builder.text} {built.program}".encode()).hexdigest()
        return Keeping(self.checkpoint, identity, self.resume)

    def _check_liveness(
        self, builder: Builder, search: Search, log: Log, properties: tuple[Property, ...]
    ) -> Sequence[LivenessVerdict]:
        """What there is to say about properties of infinite runs."""
        if self.fingerprint:
            return [UNSURE for _ in properties]
        from hacheck.checker.explicit import native_liveness

        try:
            return native_liveness.liveness_verdicts(builder, search, log, properties)
        except Cancelled as given_up:
            return [Undecided(f"not checked; stopped because {given_up.reason}") for _ in properties]

    def _elsewhere(
        self, reason: str, system: System, properties: tuple[str, ...], limits: Limits, report: Report
    ) -> Answer:
        """The answer of the portable engine, which is slower and knows neither hashes nor reductions."""
        from hacheck.checker.explicit.portable.portable_engine import PortableEngine

        chosen = system if self.starts is None else starting_in(system, self.starts)
        answer = PortableEngine(self.stop_early, self.recheck).check(chosen, properties, limits, report)
        return replace(answer, notes=(f"explored without machine code, which is slower: {reason}", *answer.notes))

    def _stands_for(self, built: Built, log: Log, bounds: Bounds) -> int | None:
        """How many states those explored stand for, if that can be counted."""
        if built.count_orbits is None:
            return None
        states, size = 0, log.words * 8
        try:
            for first, end in pieces(log.spans):
                states += built.count_orbits(log.address + first * size, end - first)
                bounds.poll("counting")
        except Cancelled:
            return None
        return states


def starting_in(system: System, places: frozenset[int]) -> System:
    """The system that begins in some of its initial states, by their places in the interpreter's order."""
    initial = initial_states(system)
    states = [state for place, state in enumerate(initial) if place in places]
    kind = Range(1, max(len(states), 1))
    chosen = Local("start$", kind)
    begun: list[Statement] = [Choose(chosen.name, Domain(kind, None, None))]
    for number, state in enumerate(states, start=1):
        pairs = zip(system.variables, state, strict=True)
        values = tuple(Assign(Target(Variable(one.name, one.type)), Constant(value, one.type)) for one, value in pairs)
        begun.append(If(Binary("==", chosen, Constant(number, kind)), values, ()))
    return replace(system, initial=tuple(begun))


def _left(limits: Limits, watch: Stopwatch) -> Limits:
    """The limits of a second exploration, after some time."""
    if limits.wall_seconds_max is None:
        return limits
    return replace(limits, wall_seconds_max=max(limits.wall_seconds_max - watch.seconds(), 0.0))
