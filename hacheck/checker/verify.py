"""Runs the checks of a specification and says of each whether it came out as the specification expects.

Every run an engine hands out is replayed here by the reference interpreter before anyone sees it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from hacheck.checker.engine import Answer, Engine, Limits, PropertyAnswer, Report
from hacheck.compile.lowering.dead_actions import impossible
from hacheck.model.counters.value_distances import bound_of, unbounded
from hacheck.model.evaluation import StartError
from hacheck.model.initial_states import initial_states
from hacheck.model.interpreter import Interpreter, Taken
from hacheck.model.ir import Property, System
from hacheck.model.property_names import declared_name, expanded, is_named
from hacheck.model.runs import Run

if TYPE_CHECKING:
    from hacheck.checker.blame.blamed import Blamed
    from hacheck.checker.blame.other_runs import OtherRuns
    from hacheck.model.language import Specification

Expectation = Literal["holds", "violated"]
Outcome = Literal["expected", "unexpected", "undecided"]

Replay = Callable[[System, Run], str | None]
"""Replays a run by the reference interpreter; returns what does not fit, or `None`."""


class Question(Struct, frozen=True):
    """What a check asks: settings, the properties (all if `only` is empty), and those expected to be violated.

    `by_request`: run only when named.
    """

    name: str
    description: str = ""
    settings: tuple[tuple[str, str], ...] = ()
    only: tuple[str, ...] = ()
    expect_violated: tuple[str, ...] = ()
    by_request: bool = False


def questions_of(specification: Specification) -> tuple[Question, ...]:
    """The checks of a specification; one that asks everything at the defaults where it has none."""
    if not specification.checks:
        return (Question("default", "The spec has no check of its own: every property, at the defaults."),)
    return tuple(
        Question(
            check.name,
            check.description,
            check.settings,
            check.only,
            check.expect_violated,
            check.by_request,
        )
        for check in specification.checks
    )


def default_check(specification: Specification) -> str:
    """The check that counts where none is named: the one called `default`, else the first that needs no request."""
    return min(questions_of(specification), key=lambda item: (item.name != "default", item.by_request)).name


class RunDoesNotReplay(AssertionError):
    """An engine reported a run that the model does not have. This is always a bug of ours."""


class PropertyResult(Struct, frozen=True):
    """One property: what it asks, what was found, and what the specification expects of it. `blamed`: what its
    counterexample needs, where that was tried; `others`: other counterexamples, where the user wants several."""

    prop: Property
    answer: PropertyAnswer
    expected: Expectation
    blamed: Blamed | None = None
    others: OtherRuns | None = None

    @property
    def outcome(self) -> Outcome:
        """Whether the verdict is the expected one; `unknown` and `not-inductive` decide nothing."""
        if self.answer.verdict not in ("holds", "violated"):
            return "undecided"
        return "expected" if self.answer.verdict == self.expected else "unexpected"

    @property
    def without_value(self) -> bool:
        """Whether the property means nothing where its run ends, such as `value(none)`: an error of the spec."""
        return self.answer.verdict == "unknown" and self.answer.run is not None


class CheckResult(Struct, frozen=True):
    """One check block: the system it means, what the engine found, and how that compares. `named`: the properties
    selected by name, where not all were."""

    check: Question
    system: System
    answer: Answer
    properties: tuple[PropertyResult, ...]
    named: tuple[str, ...] = ()

    @property
    def reported(self) -> tuple[PropertyResult, ...]:
        """The properties to speak of: all but the lemmas that hold and were not selected by name."""
        return tuple(
            found
            for found in self.properties
            if found.prop.kind != "lemma" or found.outcome != "expected" or found.prop.name in self.named
        )

    @property
    def outcome(self) -> Outcome:
        """`unexpected` when a property came out otherwise or the spec has an error; else `undecided` when
        some is."""
        outcomes = {result.outcome for result in self.properties}
        if "unexpected" in outcomes or self.has_error:
            return "unexpected"
        return "undecided" if "undecided" in outcomes else "expected"

    @property
    def has_error(self) -> bool:
        """Whether the spec itself has an error: a step, a property, or the very beginning, that means nothing."""
        answer = self.answer
        return answer.error is not None or answer.unstartable or any(found.without_value for found in self.properties)

    @property
    def interrupted(self) -> bool:
        """Whether the exploration was stopped from outside."""
        return self.answer.coverage.stopped == "interrupted"


class Prepared(Struct, frozen=True):
    """A check ready to run: its system, and the selected properties (empty: all)."""

    check: Question
    system: System
    properties: tuple[str, ...]


def properties_of(check: Question, system: System, named: tuple[str, ...]) -> tuple[Property, ...]:
    """The properties that a check decides: those named (by the user or its `only`), or all. Where it expects a
    violation, lemmas that nobody named are left out: what breaks a property may well break what it rests on."""
    if named:
        return tuple(one for one in system.properties if is_named(one.name, named))
    if not check.expect_violated:
        return system.properties
    return tuple(one for one in system.properties if one.kind != "lemma" or one.name in check.expect_violated)


def run_check(prepared: Prepared, engine: Engine, limits: Limits, report: Report, replay: Replay) -> CheckResult:
    """Decides a check's properties (`properties_of`), replays every run of the answer, and compares with what the check
    expects.

    Errors: `RunDoesNotReplay` when the answer holds a run that the model does not have, or leaves out a
    property.
    """
    system = prepared.system
    names = expanded(prepared.properties, [one.name for one in system.properties])
    answer = engine.check(system, names, limits, report)
    for name, run in runs_of(answer):
        if (mismatch := replay(system, run)) is not None:
            raise RunDoesNotReplay(f"the run of {name} does not replay: {mismatch}")
    answers = {found.name: found for found in answer.properties}
    results = []
    for prop in properties_of(prepared.check, system, prepared.properties):
        if prop.name not in answers:
            raise RunDoesNotReplay(f"the engine gave no answer for {prop.name}")
        results.append(PropertyResult(prop, answers[prop.name], _expected(prepared.check, prop.name, answers)))
    return CheckResult(prepared.check, unbounded(system), answer, tuple(results), prepared.properties)


def _expected(check: Question, name: str, answers: Mapping[str, PropertyAnswer]) -> Expectation:
    """What a check expects of a property. Where it expects a violation of one that is checked for several values, one
    of them does."""
    if not is_named(name, check.expect_violated):
        return "holds"
    if name in check.expect_violated or answers[name].verdict == "violated":
        return "violated"
    others = [one for other, one in answers.items() if declared_name(other) == declared_name(name)]
    return "holds" if any(one.verdict == "violated" for one in others) else "violated"


def runs_of(answer: Answer) -> list[tuple[str, Run]]:
    """Every run of an answer with the name of what it shows."""
    runs = [(found.name, found.run) for found in answer.properties if found.run is not None]
    return runs if answer.error is None else [*runs, ("the error of the spec", answer.error)]


def unused_actions(result: CheckResult) -> tuple[str, ...]:
    """The names of actions that took part in no step of the exploration, in the order of the system, without those that
    cannot under these settings, as the text shows. None of an exploration that ended before as everything was decided:
    they may well happen in the rest."""
    if result.answer.coverage.ended_early:
        return ()
    counts = result.answer.coverage.action_counts
    idle = [number for number, count in enumerate(counts) if count == 0]
    try:
        never = impossible(result.system, initial_states(result.system)) if idle else frozenset()
    except StartError:  # then nothing happens at all, and the answer says why
        return ()
    return tuple(result.system.actions[number].name for number in idle if number not in never)


def no_step(result: CheckResult) -> bool:
    """Whether a finished exploration took no step, the system has none from any initial state, and no `deadlock_free`
    says where it may rest. Cost: the outcomes of the initial states, where no step was taken."""
    coverage = result.answer.coverage
    if not coverage.complete or coverage.transitions or result.answer.reach or result.has_error:
        return False
    if any(found.prop.kind == "deadlock" for found in result.properties):
        return False
    interpreter = Interpreter(result.system)  # actions that no property depends on are not explored
    starts = initial_states(result.system)
    return not any(isinstance(outcome, Taken) for state in starts for outcome in interpreter.outcomes(state))


def unexercised(result: CheckResult) -> tuple[tuple[str, str], ...]:
    """The properties that hold only because they say nothing of any state explored, each with the condition that was
    never true."""
    verdicts = {found.prop.name: found.answer.verdict for found in result.reported}
    never = result.answer.coverage.unexercised
    return tuple((name, condition) for name, condition in never if verdicts.get(name, "violated") != "violated")


def at_the_start(result: CheckResult) -> tuple[str, ...]:
    """The properties `eventually` that hold because each initial state is what they wait for: what comes later they say
    nothing of. Cost: the initial states, where there is such a property."""
    waiting = [one.prop for one in result.reported if one.prop.kind == "eventually" and one.answer.verdict == "holds"]
    if not waiting:
        return ()
    interpreter, starts = Interpreter(result.system), initial_states(result.system)
    return tuple(prop.name for prop in waiting if all(interpreter.holds(prop, start) for start in starts))


def not_reached(result: CheckResult) -> tuple[tuple[str, str], ...]:
    """The bounds that cut no step of a finished exploration, each with its meaning: they limit no verdict of it."""
    if not result.answer.coverage.complete or result.answer.reach:
        return ()
    met = {name for name, _ in result.answer.coverage.bounds_reached} | set(result.answer.endless)
    room = {bound_of(name) for name in result.system.endless}
    return tuple((name, meaning) for name, meaning in result.system.bounds if name not in met | room)
