"""Several counterexamples of one property, which differ in what breaks, in their faults or in their actions.

The next ones are looked for without an action of a known one, with a fault less, or where another part of the property
breaks. So two that differ in the order of independent steps alone are one, as are all that only do more. Each is a
shortest one under what it goes without.
"""

from __future__ import annotations

import heapq
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import count

from msgspec import Struct
from msgspec.structs import replace

from hacheck.checker.blame.trial_system import FaultLimit, OtherGoal, Restriction, Without, trial_system
from hacheck.checker.blame.trials import SECONDS_MAX, TIME_IS_OVER, Searched, Subject, is_complete, is_violated, only
from hacheck.checker.blame.variant_system import bounded_counters
from hacheck.checker.described_run import fault_count
from hacheck.checker.engine import Answer, Limits, PropertyAnswer, Report
from hacheck.checker.explicit.native_engine import NativeEngine
from hacheck.model.counters.value_distances import unbounded
from hacheck.model.evaluation import EvaluationError
from hacheck.model.interpreter import Interpreter, replayed_by
from hacheck.model.ir import Binary, Expression, System, Unary
from hacheck.model.render_expression import show_expression
from hacheck.model.rewrite import conjunction, disjunction
from hacheck.model.runs import Run, State
from hacheck.wording import plural

FROM_STEPS = ("invariant", "lemma", "step")
"""Kinds of properties that a run violates whatever else is possible."""

FROM_STATES = ("invariant", "lemma")
"""Those of which it is known where a run has violated them for the first time."""


class OtherRun(Struct, frozen=True):
    """A counterexample besides the first one. `words`: how it differs from that."""

    run: Run
    words: str


class OtherRuns(Struct, frozen=True):
    """The counterexamples besides the first one, shortest first. `wanted`: how many there should have been.

    - `stopped`: why the search ended before it had as many, if a limit ended it.
    - `exhausted`: there are no others: every counterexample has all actions and faults of one that is known, and
      maybe more.
    """

    runs: tuple[OtherRun, ...]
    wanted: int
    stopped: str | None
    exhausted: bool
    seconds: float

    @property
    def words(self) -> str:
        """What is said below them; nothing where there are as many as the user wants."""
        if len(self.runs) >= self.wanted:
            return ""
        if self.stopped is not None:
            return f"no further counterexample was found before the search ended: {self.stopped}"
        if self.exhausted:
            return "no other counterexample within these bounds: each has all actions and faults of one shown"
        return "no further counterexample was found"


class Ingredients(Struct, frozen=True):
    """What distinguishes counterexamples: how often each fault happens, which other actions do, and which part of the
    property breaks, by its number."""

    faults: frozenset[tuple[int, int]]
    actions: frozenset[int]
    part: int


class _Excluded(Struct, frozen=True):
    """What a search goes without: of faults, by their actions, how many are left; actions; breaking parts."""

    faults: frozenset[tuple[int, int]] = frozenset()
    actions: frozenset[int] = frozenset()
    parts: frozenset[int] = frozenset()


def other_runs(subject: Subject, wanted: int, limits: Limits, report: Report, threads: int = 1) -> OtherRuns:
    """So many counterexamples besides the one that is known, if there are. `limits`: of each search;
    `wall_seconds_max`: of all together.

    Cost: for each counterexample found a compilation, and a search for each of its actions and kinds of faults."""
    return _Search(subject, wanted, limits, report, threads).found()


def parts_of(condition: Expression) -> list[Expression]:
    """Conditions that all hold where this one does, in the order in which they are evaluated."""
    match condition:
        case Binary("and", left, right):
            return [*parts_of(left), *parts_of(right)]
        case Binary("implies", left, right):
            return [Binary("implies", left, part) for part in parts_of(right)]
    return [condition]


class _Search:
    def __init__(self, subject: Subject, wanted: int, limits: Limits, report: Report, threads: int) -> None:
        self.system, self.prop, self.first = subject.system, subject.prop, subject.run
        self.wanted, self.limits, self.report, self.threads = wanted, limits, report, threads
        self.parts = parts_of(self.prop.goal) if self.prop.kind in FROM_STATES else []
        self.interpreter = Interpreter(unbounded(self.system))
        self.bounded = bounded_counters(self.system)
        self.started = time.perf_counter()
        self.until = self.started + (SECONDS_MAX if limits.wall_seconds_max is None else limits.wall_seconds_max)
        self.stopped: str | None = None
        self.is_complete = True
        self.tried: set[_Excluded] = {_Excluded()}

    def found(self) -> OtherRuns:
        """The shortest first: what comes next is found without something of what is known."""
        order = count()
        waiting: list[tuple[int, int, int, Run, _Excluded]] = []
        known = {self.ingredients(self.first)}
        found: list[Run] = []

        def expand(run: Run, without: _Excluded) -> None:
            for more, excluded in self.searches(run, without):
                heapq.heappush(waiting, (len(more.steps), fault_count(self.system, more), next(order), more, excluded))

        expand(self.first, _Excluded())
        while waiting and len(found) < self.wanted:
            *_, run, excluded = heapq.heappop(waiting)
            if (what := self.ingredients(run)) not in known:
                known.add(what)
                found.append(run)
            if len(found) < self.wanted:
                expand(run, excluded)
        exhausted = self.is_complete and self.stopped is None and self.prop.kind in FROM_STEPS
        seconds = time.perf_counter() - self.started
        others = tuple(OtherRun(run, self.difference(run)) for run in found)
        return OtherRuns(others, self.wanted, self.stopped, exhausted, seconds)

    def searches(self, run: Run, without: _Excluded) -> Iterator[tuple[Run, _Excluded]]:
        """The shortest counterexamples, each without one more thing of a known one."""
        trials = [one for one in self.without_more(run, without) if one not in self.tried]
        self.tried.update(trials)
        if not trials or self.is_over():
            return
        try:
            made = trial_system(only(self.system, self.prop.name), [self.restrictions(one) for one in trials])
        except EvaluationError as error:
            self.stopped = error.message
            return
        searched = Searched(made.system, self.prop.name)
        self.is_complete &= searched.bounded <= self.bounded
        for trial, starts in zip(trials, made.starts, strict=True):
            if self.is_over():
                return
            more = self.shortest(searched, starts)
            if more is not None:
                yield more, trial

    def without_more(self, run: Run, without: _Excluded) -> Iterator[_Excluded]:
        """What a search may go without besides: of liveness nothing that has to be fair, and of a deadlock faults only,
        as the absence of another action may be what violates these."""
        what = self.ingredients(run)
        for action, times in sorted(what.faults):
            kept = frozenset(one for one in without.faults if one[0] != action)
            yield replace(without, faults=kept | {(action, times - 1)})
        fair = {one.handler for one in self.prop.fairness}
        for action in sorted(what.actions):
            is_free = self.prop.kind in ("eventually", "leads_to") and self.system.actions[action].handler not in fair
            if self.prop.kind in FROM_STEPS or is_free:
                yield replace(without, actions=without.actions | {action})
        if len(self.parts) > 1:
            yield replace(without, parts=without.parts | {what.part})

    def restrictions(self, without: _Excluded) -> Sequence[Restriction]:
        """How a search is restricted to what goes without this."""
        made: list[Restriction] = [FaultLimit(action, most) for action, most in sorted(without.faults)]
        made += [Without(action) for action in sorted(without.actions)]
        if without.parts:
            broken = [conjunction(*self.parts[:part], Unary("not", self.parts[part])) for part in sorted(without.parts)]
            made.append(OtherGoal(disjunction(self.prop.goal, *broken), self.prop.goal))
        return made

    def shortest(self, searched: Searched, starts: frozenset[int]) -> Run | None:
        """The shortest counterexample from some starts, as a run of the system itself."""
        engine = NativeEngine(threads=self.threads, stop_early=True, starts=starts)
        limits = replace(self.limits, wall_seconds_max=self.until - time.perf_counter())
        answer = engine.check_prepared(searched.prepared, limits, self.report)
        (found,) = (one for one in answer.properties if one.name == self.prop.name)
        if found.verdict != "violated" or found.run is None:
            self.note_end(answer, found)
            return None
        run = within(self.system, found.run)
        mismatch = replayed_by(self.interpreter, run)
        assert mismatch is None, f"the run of a search does not replay: {mismatch}"
        return run

    def note_end(self, answer: Answer, found: PropertyAnswer) -> None:
        """What it says of all other runs that a search found none."""
        coverage = answer.coverage
        if coverage.stopped == "interrupted":
            self.stopped = "interrupted"
        elif not coverage.complete:
            self.stopped = TIME_IS_OVER if time.perf_counter() >= self.until else coverage.stopped
        elif found.verdict != "holds" or not is_complete(answer, found):
            self.is_complete = False

    def is_over(self) -> bool:
        """Whether nothing more is searched."""
        if self.stopped is None and time.perf_counter() >= self.until:
            self.stopped = TIME_IS_OVER
        return self.stopped is not None and self.stopped in ("interrupted", TIME_IS_OVER)

    # ---- what distinguishes them ----

    def ingredients(self, run: Run) -> Ingredients:
        """What distinguishes a counterexample from others."""
        times = Counter(step.action for step in run.steps)
        faults = frozenset((one, many) for one, many in times.items() if self.system.actions[one].kind == "fault")
        others = frozenset(one for one in times if self.system.actions[one].kind != "fault")
        return Ingredients(faults, others, self.broken(run))

    def broken(self, run: Run) -> int:
        """The first part of the property that does not hold at the end of a run."""
        for number, part in enumerate(self.parts):
            if is_violated(self.interpreter, replace(self.prop, goal=part), run):
                return number
        return 0

    def difference(self, run: Run) -> str:
        """How a counterexample differs from the first one."""
        names = [action.name for action in self.system.actions]
        first, this = self.ingredients(self.first), self.ingredients(run)
        before, now = dict(first.faults), dict(this.faults)
        said = []
        for sign, some, others in (("without", before, now), ("with", now, before)):
            gone = [one for one in some if one not in others]
            actions = first.actions - this.actions if sign == "without" else this.actions - first.actions
            if listed := [names[one] for one in (*sorted(gone), *sorted(actions))]:
                said.append(f"{sign} {', '.join(dict.fromkeys(listed))}")
        said += [
            f"{names[one]} {plural(now[one], 'time')} instead of {many}"
            for one, many in sorted(before.items())
            if one in now and now[one] != many
        ]
        if this.part != first.part:
            said.append(f"what breaks is {show_expression(self.parts[this.part])}")
        return "; ".join(said)


def within(system: System, run: Run) -> Run:
    """A run of a system with more variables behind its own as a run of the system."""

    def cut(state: State) -> State:
        return state[: len(system.variables)]

    steps = tuple(replace(step, state=cut(step.state)) for step in run.steps)
    return replace(run, initial=cut(run.initial), steps=steps)
