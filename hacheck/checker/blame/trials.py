"""Blame: which single faults, assumptions, steps and ways of a guard a violation needs.

Each is tried without, in a search of its own within the bounds of the check. Only a complete search that finds no
violation says that something prevents it; one that was stopped says how many states it explored. See
`docs/decisions/0036-blame.md` for what "without" means.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from hacheck.checker.blame.trial_system import (
    FaultLimit,
    Restriction,
    Without,
    branched,
    narrowed,
    trial_system,
)
from hacheck.checker.described_run import call_of, fault_count, node_of
from hacheck.checker.engine import Answer, Limits, Report
from hacheck.checker.explicit.native_engine import NativeEngine
from hacheck.model.evaluation import EvaluationError
from hacheck.model.interpreter import Interpreter, replay
from hacheck.model.ir import Property, System
from hacheck.model.render_expression import show_expression
from hacheck.model.runs import Run
from hacheck.wording import plural

TrialKind: TypeAlias = Literal["fault", "assumption", "setting", "guard", "branch", "step"]
TrialOutcome: TypeAlias = Literal["prevents", "violated", "open"]

SECONDS_MAX = 120.0
"""So long all trials of a counterexample take together, unless the user says otherwise."""

TIME_IS_OVER = "the time is over"
"""Why a trial is open that more time could decide."""

FROM_A_STATE = ("invariant", "lemma", "step", "deadlock")
"""Kinds of properties that are violated after a prefix of a run exactly where the rest of it violates them."""


class Trial(Struct, frozen=True):
    """Something that is tried without. `words`: as a phrase that follows "with" or "without"; `steps`: the numbers of
    the steps of the counterexample that it concerns."""

    kind: TrialKind
    words: str
    steps: tuple[int, ...]


class TrialResult(Struct, frozen=True):
    """What became of a trial.

    - `prevents`: a complete search found no violation. `violated`: there still is one, of `length` steps with `faults`
      faults, the same run where `same`. `open`: no violation was found, and not everything was searched: `stopped`.
    - `states`: how many were explored. `implied`: nothing was, since what another trial forbids is less.
    """

    trial: Trial
    outcome: TrialOutcome
    states: int = 0
    length: int = 0
    faults: int = 0
    same: bool = False
    implied: bool = False
    stopped: str = ""

    @property
    def words(self) -> str:
        """What became of it, in a few words."""
        if self.outcome == "prevents":
            return (
                "not violated either (the search above covers it)"
                if self.implied
                else f"not violated (all {self.states:,} states explored)"
            )
        if self.outcome == "violated":
            if self.same:
                return "still violated, by the same run"
            faults = f", {plural(self.faults, 'fault')}" if self.faults else ""
            return f"still violated, in {plural(self.length, 'step')}{faults}"
        if self.states:
            return f"no violation within {plural(self.states, 'state')} ({self.stopped})"
        return f"not tried: {self.stopped}"


class Blame(Struct, frozen=True):
    """The results of all trials of one counterexample. `seconds`: how long they took."""

    results: tuple[TrialResult, ...]
    seconds: float

    @property
    def causes(self) -> tuple[TrialResult, ...]:
        """What a violation needs, each by itself."""
        return tuple(one for one in self.results if one.outcome == "prevents")


OtherSystem: TypeAlias = Callable[[str, str], System | None]
"""The system with an assumption `on` or `off`; `None` where there is none."""


class Subject(Struct, frozen=True):
    """A counterexample: the system as the check makes it, the property and the run. `assumptions`: every assumption of
    the spec with its value (`on`, `off`); `other`: the system with another value of one; `switches`: every switch, in
    the same way."""

    system: System
    asked: Property
    run: Run
    assumptions: tuple[tuple[str, str], ...] = ()
    other: OtherSystem | None = None
    switches: tuple[tuple[str, str], ...] = ()


def blame(subject: Subject, limits: Limits, report: Report, threads: int = 1) -> Blame:
    """Tries a counterexample without each part of it. `limits`: of each search; `wall_seconds_max`: of all together.

    Cost: a search for each fault, assumption, and action of the run; one compilation for all but assumptions.
    """
    return _Blaming(subject, limits, report, threads).blame()


class Planned(Struct, frozen=True):
    """A trial and the restriction under which it is searched."""

    trial: Trial
    restriction: Restriction


class _Plan(Struct, frozen=True):
    """The trials of a counterexample but for those with another system. By the action of each fault: it happens less
    often than in the run; it never happens; the run up to before one of its steps, without that one. Then guards,
    branches and actions."""

    fewer: dict[int, Planned]
    never: dict[int, Planned]
    single: dict[int, tuple[Planned, ...]]
    others: tuple[Planned, ...]

    @property
    def every(self) -> list[Planned]:
        """All of them."""
        single = (one for found in self.single.values() for one in found)
        return [*self.fewer.values(), *self.never.values(), *single, *self.others]


def trials_of(subject: Subject) -> list[Planned]:
    """Everything that a counterexample is tried without, but for assumptions."""
    return _plan(subject).every


def _plan(subject: Subject) -> _Plan:
    faults = _steps_of(subject, faults=True)
    single = {action: tuple(_single(subject, action, steps)) for action, steps in faults.items()}
    return _Plan(
        {action: _fewer(subject, action, steps) for action, steps in faults.items()},
        {action: _never(subject, action, steps) for action, steps in faults.items() if len(steps) > 1},
        single,
        (*_ways(subject), *_branches(subject), *_actions(subject)),
    )


def _steps_of(subject: Subject, *, faults: bool) -> dict[int, list[int]]:
    """The actions of the run that are faults, or those that are none, each with the numbers of its steps."""
    found: dict[int, list[int]] = {}
    for number, step in enumerate(subject.run.steps, start=1):
        if (subject.system.actions[step.action].kind == "fault") == faults:
            found.setdefault(step.action, []).append(number)
    return found


def _fewer(subject: Subject, action: int, steps: list[int]) -> Planned:
    if len(steps) == 1:
        return _never(subject, action, steps)
    name, most = subject.system.actions[action].name, len(steps) - 1
    words = f"with at most {most} of `{name}`, where the run has {len(steps)}"
    return Planned(Trial("fault", words, tuple(steps)), FaultLimit(action, most))


def _never(subject: Subject, action: int, steps: list[int]) -> Planned:
    words = f"without any `{subject.system.actions[action].name}`"
    return Planned(Trial("fault", words, tuple(steps)), FaultLimit(action, 0))


def _single(subject: Subject, action: int, steps: list[int]) -> Iterator[Planned]:
    """From the state before a fault, which then happens as often as in the rest of the run without this step."""
    if len(steps) < 2:
        return
    system, run = subject.system, subject.run
    for place, number in enumerate(steps):
        if not _decides(subject, number):
            continue
        before, step = run.states[number - 1], run.steps[number - 1]
        node = node_of(system.actions[action], step.arguments)
        what = call_of(system, before, step) + (f" of {node}" if node else "")
        trial = Trial("fault", f"without `{what}` at step {number}, from there on", (number,))
        yield Planned(trial, FaultLimit(action, len(steps) - 1 - place, before))


def _decides(subject: Subject, number: int) -> bool:
    """Whether the rest of a run from the state before a step decides the property, whatever came before: of `leads_to`
    only where nothing is owed there that came to be owed earlier. That `eventually` is violated says that its goal did
    not hold before, either."""
    asked, run = subject.asked, subject.run
    if asked.kind != "leads_to":
        return asked.kind in (*FROM_A_STATE, "eventually")
    interpreter, owed = Interpreter(subject.system), False
    for state in run.states[:number]:
        before = owed
        owed = (owed or interpreter.premise_holds(asked, state)) and not interpreter.holds(asked, state)
    return not before


def _ways(subject: Subject) -> Iterator[Planned]:
    """The conditions of guards that hold in several ways, without those that the run takes."""
    for restriction, used, steps in narrowed(subject.system, subject.run):
        name = subject.system.actions[restriction.action].name
        said = " or ".join(show_expression(one) for one in used)
        yield Planned(Trial("guard", f"if `{name}` did not happen where `{said}`", tuple(steps)), restriction)


def _branches(subject: Subject) -> Iterator[Planned]:
    """The branches that the run takes of each `if`, the other one taken instead."""
    for restriction, condition, steps in branched(subject.system, subject.run):
        name = subject.system.actions[restriction.action].name
        said = re.sub(r"(?<=\w)_\d+\b", "", show_expression(condition))  # names that lowering has numbered
        where = f"`{said}`" if restriction.taken else f"`{said}` is false"
        words = f"if `{name}` took the other branch where {where}"
        yield Planned(Trial("branch", words, tuple(steps)), restriction)


def _actions(subject: Subject) -> Iterator[Planned]:
    """The actions of the run that are no faults, each left out."""
    for action, steps in _steps_of(subject, faults=False).items():
        words = f"if `{subject.system.actions[action].name}` never happened"
        yield Planned(Trial("step", words, tuple(steps)), Without(action))


class _Blaming:
    def __init__(self, subject: Subject, limits: Limits, report: Report, threads: int) -> None:
        self.subject, self.report, self.threads = subject, report, threads
        self.system, self.run, self.name = subject.system, subject.run, subject.asked.name
        self.started = time.perf_counter()
        self.limits = limits
        most = limits.wall_seconds_max
        self.until = self.started + (SECONDS_MAX if most is None else most)
        self.is_interrupted = False

    def blame(self) -> Blame:
        """Everything, those first that say most."""
        plan = _plan(self.subject)
        listed = plan.every
        if not listed:
            return self.done(self.assumed())
        try:
            made = trial_system(self.system, [one.restriction for one in listed])
        except EvaluationError as error:
            stopped = f"a state of the run is none to begin in: {error.message}"
            return self.done([TrialResult(one.trial, "open", stopped=stopped) for one in listed] + self.assumed())
        starts = dict(zip(listed, made.starts, strict=True))

        def tried(one: Planned) -> TrialResult:
            before = one.restriction.start if isinstance(one.restriction, FaultLimit) else None
            return self.search(one.trial, made.system, starts[one], 0 if before is None else one.trial.steps[0] - 1)

        results: list[TrialResult] = []
        for action, fewer in plan.fewer.items():
            found = tried(fewer)
            results.append(found)
            singles = plan.single[action]
            if found.outcome == "prevents":
                results += [TrialResult(each.trial, "prevents", implied=True) for each in singles]
                continue
            results += [tried(plan.never[action])] if action in plan.never else []
            results += [tried(each) for each in singles]
        return self.done([*results, *self.assumed(), *(tried(one) for one in plan.others)])

    def done(self, results: Sequence[TrialResult]) -> Blame:
        """The results with the time that they took."""
        return Blame(tuple(results), time.perf_counter() - self.started)

    # ---- searches ----

    def search(self, trial: Trial, system: System, starts: frozenset[int] | None, skipped: int = 0) -> TrialResult:
        """What a search without something finds. `skipped`: so many steps of the counterexample come before it."""
        left = self.until - time.perf_counter()
        if self.is_interrupted or left <= 0:
            return TrialResult(trial, "open", stopped="interrupted" if self.is_interrupted else TIME_IS_OVER)
        engine = NativeEngine(threads=self.threads, stop_early=True, starts=starts)
        answer = engine.check(system, (self.name,), replace(self.limits, wall_seconds_max=left), self.report)
        self.is_interrupted = answer.coverage.stopped == "interrupted"
        return self.result_of(trial, system, answer, skipped)

    def result_of(self, trial: Trial, system: System, answer: Answer, skipped: int) -> TrialResult:
        """What the answer of a search says. Only a complete one says that something prevents the violation."""
        (found,) = (one for one in answer.properties if one.name == self.name)
        coverage = answer.coverage
        if found.verdict == "violated" and found.run is not None:
            mismatch = replay(system, found.run)
            assert mismatch is None, f"the run of a trial does not replay: {mismatch}"
            earlier = Run(self.run.initial, self.run.steps[:skipped])
            faults = fault_count(self.system, earlier) + fault_count(system, found.run)
            return TrialResult(trial, "violated", coverage.states, skipped + len(found.run.steps), faults)
        complete = coverage.complete and not coverage.omission and answer.error is None and not answer.unstartable
        # Where runs beyond the bound of a counter could not be confirmed, only those up to it were searched.
        complete = complete and not any(f"{counter} up to" in found.scope for counter in answer.endless)
        if found.verdict == "holds" and complete:
            return TrialResult(trial, "prevents", coverage.states)
        stopped = TIME_IS_OVER if time.perf_counter() >= self.until else coverage.stopped or found.scope
        return TrialResult(trial, "open", coverage.states, stopped=stopped)

    # ---- assumptions ----

    def assumed(self) -> list[TrialResult]:
        """Each assumption and each switch with its other value."""
        assumptions = [self.otherwise("assumption", name, value) for name, value in self.subject.assumptions]
        return [*assumptions, *(self.otherwise("setting", name, value) for name, value in self.subject.switches)]

    def otherwise(self, kind: Literal["assumption", "setting"], name: str, value: str) -> TrialResult:
        """The violation where an assumption or a switch that is on is off, or the other way round."""
        other = "off" if value == "on" else "on"
        what = f"the assumption `{name}` {other}" if kind == "assumption" else f"the setting `{name} = {other}`"
        trial = Trial(kind, f"with {what}", ())
        system = None if self.subject.other is None else self.subject.other(name, other)
        if system is None:
            return TrialResult(trial, "open", stopped="the spec has no such system")
        if all(one.name != self.name for one in system.properties):
            return TrialResult(trial, "open", stopped="the spec does not have the property then")
        if self.is_run_of(system):
            return TrialResult(trial, "violated", 0, len(self.run.steps), fault_count(self.system, self.run), same=True)
        return self.search(trial, system, None)

    def is_run_of(self, system: System) -> bool:
        """Whether the counterexample is a run of another system, and violates the same property there. That of an
        infinite run depends on what else is possible."""
        names = [(one.name, one.type) for one in self.system.variables]
        if names != [(one.name, one.type) for one in system.variables] or self.run.loop is not None:
            return False
        if self.subject.asked.kind == "deadlock" or [one.name for one in self.system.actions] != [
            one.name for one in system.actions
        ]:
            return False
        asked = next(one for one in system.properties if one.name == self.name)
        if asked.goal != self.subject.asked.goal or asked.kind not in FROM_A_STATE:
            return False
        return replay(system, self.run) is None
