"""Random walks with the generated code: one run for a seed, and an engine that samples runs."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from functools import partial

from msgspec import Struct, field

from hacheck.checker.engine import Answer, Coverage, Limits, Progress, PropertyAnswer, Report, VerdictKind
from hacheck.checker.explicit.answers import no_start, valueless
from hacheck.checker.explicit.portable.portable_result import subject_of
from hacheck.checker.explicit.portable.python_program import (
    Code,
    Wanted,
    compiled,
    finding_source,
    generate,
    successors,
)
from hacheck.checker.explicit.property_conditions import NO_VALUE, select
from hacheck.checker.explicit.run_reconstruction import run_along, run_into_error
from hacheck.checker.explicit.search_result import StatePath
from hacheck.compile.lowering.layout import pack
from hacheck.compile.lowering.system import lower, lower_condition
from hacheck.model.interpreter import EvaluationError, Interpreter
from hacheck.model.ir import Property, System
from hacheck.model.runs import Run
from hacheck.supervise.resources import process_bytes

_REPORT_SECONDS = 0.2
_REPORT_STEPS = 1_000
"""A walk calls `report` after each so many steps, and may be stopped there."""


class Walk(Struct, frozen=True):
    """The packed states of a walk, and the instance of each step. `erroneous`: the places of states from which a
    step is an error of the spec."""

    states: list[int]
    by: list[int]
    erroneous: list[int]


def simulate(system: System, seed: int, steps: int) -> Run | None:
    """A run of at most so many steps, each chosen among the possible ones with equal chance; shorter where nothing
    more is possible, with a fault where an error of the spec is why; `None` without an initial state. The same for the
    same system and seed, in every process.

    Errors: `EvaluationError` when an initial value or statement is an error of the spec.
    """
    initial = Interpreter(system).initial_states()
    if not initial:
        return None
    code = generate(lower(system, initial), Wanted())
    packed = [pack(code.lowered.layout, state) for state in initial]
    walk = _walk(code, packed, random.Random(seed), steps)
    path = StatePath(walk.states, tuple(walk.by))
    stuck_in_error = len(walk.by) < steps and len(walk.by) in walk.erroneous
    return (run_into_error if stuck_in_error else run_along)(subject_of(code), path)


def _walk(
    code: Code, initial: list[int], chance: random.Random, steps: int, go_on: Callable[[], bool] = lambda: True
) -> Walk:
    walk = Walk([initial[chance.randrange(len(initial))]], [], [])
    for step in range(steps):
        if step and step % _REPORT_STEPS == 0 and not go_on():
            break
        possible = successors(code, walk.states[-1], lambda _: walk.erroneous.append(len(walk.by)))
        if not possible:
            break
        state, instance = possible[chance.randrange(len(possible))]
        walk.states.append(state)
        walk.by.append(instance)
    return walk


def _path(walk: Walk, length: int) -> StatePath:
    """The first steps of a walk, so many."""
    return StatePath(walk.states[: length + 1], tuple(walk.by[:length]))


class SimulationEngine(Struct, frozen=True):
    """Looks for violations on random walks: what it finds is a violation, what it does not find is unknown.

    `walks` of at most `steps` steps each, or of as many as the limit on depth says, from the seeds `seed`, `seed` + 1,
    …; limits end it sooner. Invariants and `reachable` are evaluated in every state on the way, step invariants of
    every step; other properties stay unknown. Errors of the spec that a walk could have met are reported.
    """

    walks: int = 1_000
    steps: int = 200
    seed: int = 0

    def check(self, system: System, properties: tuple[str, ...], limits: Limits, report: Report) -> Answer:
        """Errors: none for anything a spec can contain; an `AssertionError` is a bug of ours."""
        selected = select(system, properties)
        try:
            initial = Interpreter(system).initial_states()
        except EvaluationError as error:
            return no_start(system, properties, f"an error of the spec {error.message}")
        if not initial:
            return no_start(system, properties)
        lowered = lower(system, initial)
        code = generate(lowered, Wanted())
        sampling = _Sampling(code, _finders(code, selected), limits, report, self)
        sampling.run([pack(lowered.layout, state) for state in initial])
        return sampling.answer(selected)


def _finders(code: Code, properties: tuple[Property, ...]) -> dict[str, Callable[[Walk], int | None]]:
    """For each property that a walk can decide, the number of steps after which it does; under `NO_VALUE` and its name,
    after which it has no value."""
    lowered, graph = code.lowered, code.lowered.graph
    finders: dict[str, Callable[[Walk], int | None]] = {}
    for question in properties:
        if question.kind not in ("invariant", "lemma", "reachable", "step"):
            continue
        on_steps = question.kind == "step"
        condition = lower_condition(lowered, question.goal, on_steps)
        wanted = condition.value if question.kind == "reachable" else graph.not_(condition.value)
        sought = {question.name: graph.and_(graph.not_(condition.error), wanted)}
        if condition.error is not graph.zero:
            sought[NO_VALUE + question.name] = condition.error
        for name, node in sought.items():
            find = compiled(finding_source(lowered, node, on_steps), question.name)["find"]
            finders[name] = partial(_step_place if on_steps else _state_place, find)
    return finders


def _state_place(find: Callable[[list[int]], int | None], walk: Walk) -> int | None:
    state = find(walk.states)
    return None if state is None else walk.states.index(state)


def _step_place(find: Callable[[list[tuple[int, int]]], int | None], walk: Walk) -> int | None:
    pairs = list(zip(walk.states, walk.states[1:], strict=False))
    for place, pair in enumerate(pairs):
        if find([pair]) is not None:
            return place + 1
    return None


class _Sampling(Struct):
    code: Code
    finders: dict[str, Callable[[Walk], int | None]]
    limits: Limits
    report: Report
    engine: SimulationEngine
    seen: set[int] = field(default_factory=set)
    counts: list[int] = field(default_factory=list)
    found: dict[str, Run] = field(default_factory=dict)
    error: Run | None = None
    depth: int = 0
    walks: int = 0
    stopped: str | None = None
    started: float = field(default_factory=time.perf_counter)
    reported: float = field(default_factory=time.perf_counter)

    def run(self, initial: list[int]) -> None:
        self.counts = [0] * self.code.actions
        limit = self.limits.depth_max
        steps = self.engine.steps if limit is None else limit
        while self.stopped is None:
            chance = random.Random(self.engine.seed + self.walks)
            walk = _walk(self.code, initial, chance, steps, lambda: self.reason() is None)
            self.walks += 1
            self.seen.update(walk.states)
            self.depth = max(self.depth, len(walk.by))
            for index in walk.by:
                self.counts[self.code.lowered.instances[index].action] += 1
            self.inspect(walk)
            self.stopped = self.reason()

    def inspect(self, walk: Walk) -> None:
        for name in [name for name in self.finders if name not in self.found]:
            length = self.finders[name](walk)
            if length is not None:
                self.found[name] = run_along(subject_of(self.code), _path(walk, length))
        if self.error is None and walk.erroneous:
            self.error = run_into_error(subject_of(self.code), _path(walk, walk.erroneous[0]))

    def reason(self) -> str | None:
        """Why to stop here, if there is a reason."""
        limits, now = self.limits, time.perf_counter()
        if self.walks >= self.engine.walks:
            return f"{self.walks:,} samples taken"
        if limits.wall_seconds_max is not None and now - self.started >= limits.wall_seconds_max:
            return f"{limits.wall_seconds_max:g} seconds passed"
        if limits.states_max is not None and len(self.seen) >= limits.states_max:
            return f"{limits.states_max:,} states reached"
        if limits.memory_bytes_max is not None and process_bytes() >= limits.memory_bytes_max:
            return f"{limits.memory_bytes_max / 2**20:,.0f} MiB of memory used"
        if now - self.reported < _REPORT_SECONDS:
            return None
        self.reported = now
        seconds = now - self.started
        seen = Progress(len(self.seen), sum(self.counts), self.depth, 0, seconds, process_bytes())
        return None if self.report(seen) else "interrupted"

    def answer(self, properties: tuple[Property, ...]) -> Answer:
        seconds = time.perf_counter() - self.started
        samples = f"{self.walks:,} sample{'s' * (self.walks != 1)} of up to {self.depth:,} steps"
        coverage = Coverage(
            len(self.seen), sum(self.counts), self.depth, seconds, False, self.stopped, (), tuple(self.counts)
        )
        answers = tuple(self.answer_to(question, samples) for question in properties)
        return Answer(coverage, answers, self.error, engine="simulation")

    def answer_to(self, question: Property, samples: str) -> PropertyAnswer:
        """What the samples say of one property."""
        run = self.found.get(question.name)
        if run is not None:
            verdict: VerdictKind = "holds" if question.kind == "reachable" else "violated"
            return PropertyAnswer(question.name, verdict, samples, run)
        run = self.found.get(NO_VALUE + question.name)
        if run is not None:
            scope = valueless(self.code.lowered.system, question, question.goal, run)
            return PropertyAnswer(question.name, "unknown", scope, run)
        return PropertyAnswer(question.name, "unknown", samples)
