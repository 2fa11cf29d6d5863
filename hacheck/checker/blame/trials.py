"""Blame: which single faults, assumptions, steps and ways of a guard a violation needs.

Each is tried without, in a search of its own within the bounds of the check. Only a complete search that finds no
violation says that something prevents it; one that was stopped says how many states it explored. See
`docs/decisions/0036-blame.md` for what "without" means.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
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
from hacheck.checker.blame.variant_system import bounded_counters, can_join, variant_system
from hacheck.checker.described_run import call_of, fault_count, node_of
from hacheck.checker.engine import Answer, Limits, PropertyAnswer, Report
from hacheck.checker.explicit.native_engine import NativeEngine, Prepared
from hacheck.model.counters.value_distances import unbounded
from hacheck.model.evaluation import EvaluationError
from hacheck.model.interpreter import Interpreter, replay, replayed_by
from hacheck.model.ir import FALSE, Property, System
from hacheck.model.language import Parameter
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


class Variant(Struct, frozen=True):
    """Another value of an assumption, a switch or a number of the spec. `optional`: there may be no such value."""

    kind: Literal["assumption", "setting"]
    name: str
    value: str
    optional: bool = False

    @property
    def trial(self) -> Trial:
        """The trial of it."""
        what = f"assumption `{self.name}` {self.value}"
        if self.kind == "setting":
            what = f"setting `{self.name} = {self.value}`"
        return Trial(self.kind, f"with the {what}", ())


def variants_of(parameters: Sequence[Parameter], values: Mapping[str, str]) -> tuple[Variant, ...]:
    """The other value of each assumption and each switch, and of each number the one below. More than a number allows
    is no question of what a violation needs."""
    found = []
    for one in parameters:
        value = values[one.name]
        if value in ("on", "off"):
            kind: Literal["assumption", "setting"] = "assumption" if one.kind == "assumption" else "setting"
            found.append(Variant(kind, one.name, "off" if value == "on" else "on"))
        elif re.fullmatch(r"-?\d+", value):
            found.append(Variant("setting", one.name, str(int(value) - 1), optional=True))
    return tuple(sorted(found, key=lambda one: (one.kind != "assumption", one.optional)))


OtherSystem: TypeAlias = Callable[[Variant], System | None]
"""The system with another value of a setting; `None` where there is none."""


class Subject(Struct, frozen=True):
    """A counterexample: the system as the check makes it, the property and the run. `variants`: with which other values
    of settings it is tried; `other`: the system with one of these."""

    system: System
    prop: Property
    run: Run
    variants: tuple[Variant, ...] = ()
    other: OtherSystem | None = None


class Elsewhere(Struct, frozen=True):
    """Variants of a counterexample that are tried elsewhere at the same time. `results`: waits for what came of them;
    it is called when all the rest is tried."""

    variants: tuple[Variant, ...]
    results: Callable[[], Mapping[Variant, TrialResult]]


def blame(
    subject: Subject, limits: Limits, report: Report, threads: int = 1, elsewhere: Elsewhere | None = None
) -> Blame:
    """Tries a counterexample without each part of it. `limits`: of each search; `wall_seconds_max`: of all together.

    Cost: a search for each fault, setting, and action of the run; an elaboration for each setting; a compilation for
    settings with the same variables and one for all the rest, and one for each other setting.
    """
    return _Blaming(subject, limits, report, threads, elsewhere).blame()


def variants_tried(subject: Subject, limits: Limits, report: Report, threads: int = 1) -> dict[Variant, TrialResult]:
    """The trials with other settings alone, of those that there are."""
    return _Blaming(subject, limits, report, threads).varied()


class Planned(Struct, frozen=True):
    """A trial and the restriction under which it is searched."""

    trial: Trial
    restriction: Restriction


class _Plan(Struct, frozen=True):
    """The trials of a counterexample but for those of settings. By the action of each fault: it happens less
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
    """Everything that a counterexample is tried without, but for settings."""
    return _plan(subject).every


def _plan(subject: Subject) -> _Plan:
    faults = _steps_of(subject, faults=True)
    single = {action: tuple(_single(subject, action, steps)) for action, steps in faults.items()}
    return _Plan(
        {action: _fewer(subject, action, steps) for action, steps in faults.items()},
        {action: _never(subject, action, steps) for action, steps in faults.items() if len(steps) > 1},
        single,
        (*_guards(subject), *_branches(subject), *_actions(subject)),
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
    prop, run = subject.prop, subject.run
    if prop.kind != "leads_to":
        return prop.kind in (*FROM_A_STATE, "eventually")
    interpreter, owed = Interpreter(subject.system), False
    for state in run.states[:number]:
        before = owed
        owed = (owed or interpreter.premise_holds(prop, state)) and not interpreter.holds(prop, state)
    return not before


def _guards(subject: Subject) -> Iterator[Planned]:
    """The conditions of guards that have several alternatives, without those that the run takes."""
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
    def __init__(
        self, subject: Subject, limits: Limits, report: Report, threads: int, elsewhere: Elsewhere | None = None
    ) -> None:
        self.subject, self.report, self.threads, self.elsewhere = subject, report, threads, elsewhere
        self.system, self.run, self.name = subject.system, subject.run, subject.prop.name
        self.started = time.perf_counter()
        self.limits, self.searched = limits, Searched(self.system, self.name)
        most = limits.wall_seconds_max
        self.until = self.started + (SECONDS_MAX if most is None else most)
        self.is_interrupted = False

    def blame(self) -> Blame:
        """Everything, those first that say most."""
        plan = _plan(self.subject)
        listed = plan.every
        if not listed:
            return self.done([], self.varied(), [])
        try:
            made = trial_system(only(self.system, self.name), [(one.restriction,) for one in listed])
        except EvaluationError as error:
            stopped = f"a state of the run is none to begin in: {error.message}"
            return self.done([TrialResult(one.trial, "open", stopped=stopped) for one in listed], self.varied(), [])
        starts = dict(zip(listed, made.starts, strict=True))
        prepared = Searched(made.system, self.name)

        def tried(one: Planned) -> TrialResult:
            before = one.restriction.start if isinstance(one.restriction, FaultLimit) else None
            return self.search(one.trial, prepared, starts[one], 0 if before is None else one.trial.steps[0] - 1)

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
        return self.done(results, self.varied(), [tried(one) for one in plan.others])

    def done(
        self, faults: Sequence[TrialResult], varied: Mapping[Variant, TrialResult], others: Sequence[TrialResult]
    ) -> Blame:
        """All results, with those from elsewhere, and the time that they took."""
        if self.elsewhere is not None:
            varied = {**varied, **self.elsewhere.results()}
        settings = (varied[one] for one in self.subject.variants if one in varied)
        return Blame((*faults, *settings, *others), time.perf_counter() - self.started)

    # ---- searches ----

    def search(
        self, trial: Trial, searched: Searched, starts: frozenset[int] | None = None, skipped: int = 0
    ) -> TrialResult:
        """What a search without something finds. `skipped`: so many steps of the counterexample come before it."""
        if (stopped := self.stopped()) is not None:
            return TrialResult(trial, "open", stopped=stopped)
        engine = NativeEngine(threads=self.threads, stop_early=True, starts=starts)
        limits = replace(self.limits, wall_seconds_max=self.until - time.perf_counter())
        answer = engine.check_prepared(searched.prepared, limits, self.report)
        self.is_interrupted = answer.coverage.stopped == "interrupted"
        return self.result_of(trial, searched, answer, skipped)

    def stopped(self) -> str | None:
        """Why nothing more is tried, if that is so."""
        if self.is_interrupted:
            return "interrupted"
        return TIME_IS_OVER if time.perf_counter() >= self.until else None

    def result_of(self, trial: Trial, searched: Searched, answer: Answer, skipped: int) -> TrialResult:
        """What the answer of a search says. Only a complete one says that something prevents the violation."""
        (found,) = (one for one in answer.properties if one.name == self.name)
        coverage = answer.coverage
        if found.verdict == "violated" and found.run is not None:
            mismatch = replayed_by(searched.interpreter, found.run)
            assert mismatch is None, f"the run of a trial does not replay: {mismatch}"
            earlier = Run(self.run.initial, self.run.steps[:skipped])
            faults = fault_count(self.system, earlier) + fault_count(searched.system, found.run)
            return TrialResult(trial, "violated", coverage.states, skipped + len(found.run.steps), faults)
        complete = is_complete(answer, found)
        # Where a trial makes a counter one that cannot be followed, less was searched than for the counterexample.
        if (bounded := searched.bounded - self.searched.bounded) and complete:
            stopped = f"{' and '.join(sorted(bounded))} is explored up to its bound only"
            return TrialResult(trial, "open", coverage.states, stopped=stopped)
        if found.verdict == "holds" and complete:
            return TrialResult(trial, "prevents", coverage.states)
        stopped = TIME_IS_OVER if time.perf_counter() >= self.until else coverage.stopped or found.scope
        return TrialResult(trial, "open", coverage.states, stopped=stopped)

    # ---- settings ----

    def varied(self) -> dict[Variant, TrialResult]:
        """The violation with other values of settings; what differs in its steps only is searched in one system."""
        results: dict[Variant, TrialResult | None] = {}
        waiting: dict[Variant, System] = {}
        elsewhere = () if self.elsewhere is None else self.elsewhere.variants
        for variant in self.subject.variants:
            if variant in elsewhere:
                continue
            found = self.varied_at_once(variant)
            if isinstance(found, System):
                waiting[variant] = found
            results[variant] = None if isinstance(found, System) else found
        joined = {one: system for one, system in waiting.items() if can_join(self.system, system, self.name)}
        if len(joined) > 1:
            results |= self.varied_together(joined)
        for variant, system in waiting.items():
            found = results[variant]
            if found is None or (found.outcome == "open" and self.stopped() is None and self.limits.states_max is None):
                results[variant] = self.search(variant.trial, Searched(system, self.name))
        return {variant: one for variant, one in results.items() if one is not None}

    def varied_at_once(self, variant: Variant) -> System | TrialResult | None:
        """What is known without a search, else the system to search; `None` where there is no such value."""
        if (stopped := self.stopped()) is not None:
            return TrialResult(variant.trial, "open", stopped=stopped)
        system = None if self.subject.other is None else self.subject.other(variant)
        if system is None:
            nothing = TrialResult(variant.trial, "open", stopped="the spec has no such system")
            return None if variant.optional else nothing
        if variant.optional and system.faults != self.system.faults:
            return None  # how often there are faults is tried of each fault
        if all(one.name != self.name for one in system.properties):
            return TrialResult(variant.trial, "open", stopped="the spec does not have the property then")
        if self.is_run_of(system):
            faults = fault_count(self.system, self.run)
            return TrialResult(variant.trial, "violated", 0, len(self.run.steps), faults, same=True)
        return system

    def varied_together(self, systems: Mapping[Variant, System]) -> dict[Variant, TrialResult]:
        """The same by searches of one system."""
        try:
            made = variant_system(tuple(systems.values()), self.name)
        except EvaluationError:
            made = None
        if made is None:
            return {}
        searched = Searched(made.system, self.name)
        pairs = zip(systems, made.starts, strict=True)
        return {variant: self.search(variant.trial, searched, starts) for variant, starts in pairs}

    def is_run_of(self, system: System) -> bool:
        """Whether the counterexample is a run of another system, and violates the same property there. That of an
        infinite run depends on what else is possible."""
        if [one.name for one in self.system.variables] != [one.name for one in system.variables]:
            return False
        if self.subject.prop.kind not in ("invariant", "lemma", "step") or self.run.loop is not None:
            return False
        if [one.name for one in self.system.actions] != [one.name for one in system.actions]:
            return False
        prop = next(one for one in system.properties if one.name == self.name)
        if prop.kind != self.subject.prop.kind or replay(only(system, self.name, self.run), self.run) is not None:
            return False
        return is_violated(Interpreter(system), prop, self.run)


def is_complete(answer: Answer, found: PropertyAnswer) -> bool:
    """Whether a search for a property explored every state, each in full."""
    if not answer.coverage.complete or answer.coverage.omission or answer.error is not None or answer.unstartable:
        return False
    # Where runs beyond the bound of a counter could not be confirmed, only those up to it were searched.
    return not any(f"{counter} up to" in found.scope for counter in answer.endless)


class Searched:
    """A system in which trials are searched, compiled once."""

    def __init__(self, system: System, name: str) -> None:
        self.system = only(system, name)
        self.prepared = Prepared(self.system, (name,))

    @cached_property
    def bounded(self) -> frozenset[str]:
        """The counters without an end that can be explored up to a bound only."""
        return bounded_counters(self.system)

    @cached_property
    def interpreter(self) -> Interpreter:
        """What replays its runs."""
        return Interpreter(unbounded(self.system))


def only(system: System, name: str, run: Run | None = None) -> System:
    """The system with one of its properties, and without what no step and no property depends on. `run`: of the actions
    only those of its steps ever happen, which is all that replaying it needs."""
    kept = tuple(one for one in system.properties if one.name == name)
    actions = system.actions
    if run is not None:
        used = {step.action for step in run.steps}
        actions = tuple(
            one if number in used else replace(one, guard=FALSE, body=()) for number, one in enumerate(actions)
        )
    return replace(system, actions=actions, properties=kept, observations=(), definitions=(), promises=())


def is_violated(interpreter: Interpreter, prop: Property, run: Run) -> bool:
    """Whether the last step of a run, or the state after it, violates a property of states or steps."""
    try:
        if prop.kind == "step":
            return bool(run.steps) and not interpreter.holds_step(prop, run.states[-2], run.states[-1])
        return not interpreter.holds(prop, run.states[-1])
    except EvaluationError:
        return False
