"""From what a search found to what is answered."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from hacheck.checker.engine import Answer, Coverage, PropertyAnswer
from hacheck.checker.explicit.coverage_text import bound_counts, covered, stopped_short, unlikely, what_helps
from hacheck.checker.explicit.premises import PREMISE, premise_of
from hacheck.checker.explicit.property_conditions import NO_VALUE, modes_of, select
from hacheck.checker.explicit.run_reconstruction import run_along, run_and_step, run_into_error
from hacheck.checker.explicit.search_result import (
    BEYOND,
    SPEC_ERROR,
    Findings,
    Lasso,
    LivenessCheck,
    LivenessVerdict,
    StatePath,
    Subject,
    Unconfirmed,
    Undecided,
    Valueless,
)
from hacheck.checker.explicit.stopwatch import RECONSTRUCTING, Stopwatch
from hacheck.model.interpreter import EvaluationError, Interpreter
from hacheck.model.ir import Expression, Property, System
from hacheck.model.render_expression import show_expression
from hacheck.model.runs import Run, State
from hacheck.supervise.task import Cancelled
from hacheck.wording import plural

NOT_CHECKED = "not checked, because a step is an error of the spec"

UNCONFIRMED = "the run that was found need not exist: the search keeps only the order of counters that are far apart"
"""Why a property is undecided that would be decided by a run, where what is found need be none."""


class Explored(Struct, frozen=True):
    """A search that has ended: what was searched for, what was found, and what decides infinite runs.
    `omission`: the probability at most that a state was left out."""

    subject: Subject
    properties: tuple[Property, ...]
    findings: Findings
    check_liveness: LivenessCheck
    omission: float = 0.0

    @property
    def scope(self) -> str:
        """What a finished search covers."""
        scope = covered(self.subject.system, self.bounds_reached)
        return scope if not self.omission else f"{scope}; {unlikely(self.omission)}"

    @property
    def bounds_reached(self) -> tuple[tuple[str, int], ...]:
        """The bounds that were reached."""
        return bound_counts(self.findings.bounds_reached, self.subject.bounds)


def answer_of(explored: Explored, watch: Stopwatch) -> Answer:
    """The answer to every question, by the engine that made the watch."""
    with watch.phase(RECONSTRUCTING):
        error, answers = _answers(explored, watch)
    return Answer(coverage_of(explored, watch.seconds()), answers, error, phases=watch.phases())


def _answers(explored: Explored, watch: Stopwatch) -> tuple[Run | None, tuple[PropertyAnswer, ...]]:
    findings = explored.findings
    error = None
    undecided = None
    if findings.stopped is not None:
        undecided = stopped_short(findings.size, findings.depth, findings.stopped)
    if findings.errors:
        undecided = undecided or NOT_CHECKED
        try:
            error = run_into_error(explored.subject, _path(findings, SPEC_ERROR))
        except Cancelled as given_up:
            undecided = _untraced("an error of the spec", given_up)
        except Unconfirmed:
            undecided = UNCONFIRMED
    live = tuple(prop for prop in explored.properties if prop.kind in ("eventually", "leads_to"))
    verdicts: dict[str, LivenessVerdict] = {}
    if undecided is None and live:
        with watch.phase("checking liveness"):
            verdicts = dict(zip((prop.name for prop in live), explored.check_liveness(live), strict=True))
    return error, tuple(_answer(explored, prop, undecided, verdicts) for prop in explored.properties)


def coverage_of(explored: Explored, wall_seconds: float) -> Coverage:
    """What the search saw, and how long the check took."""
    findings = explored.findings
    unreached: dict[str, tuple[str, ...]] = {}
    for key, variable, member in modes_of(explored.subject.system):
        missing = () if key in findings.found else (member,)
        unreached[variable] = unreached.get(variable, ()) + missing
    return Coverage(
        states=findings.size,
        transitions=sum(findings.counts),
        depth=findings.depth,
        wall_seconds=wall_seconds,
        complete=findings.stopped is None,
        stopped=findings.stopped,
        bounds_reached=explored.bounds_reached,
        action_counts=tuple(findings.counts),
        unreached=tuple((variable, members) for variable, members in unreached.items() if members),
        unexercised=_unexercised(explored),
        bytes_per_state=findings.bytes_per_state,
        omission=explored.omission,
    )


def _unexercised(explored: Explored) -> tuple[tuple[str, str], ...]:
    """The properties that were not exercised, each with the condition that was never true."""
    conditions = ((prop.name, premise_of(prop)) for prop in explored.properties)
    return tuple(
        (name, show_expression(condition).removesuffix(" where true"))
        for name, condition in conditions
        if condition is not None and PREMISE + name not in explored.findings.found
    )


def no_start(system: System, properties: tuple[str, ...], reason: str | None = None) -> Answer:
    """The answer where there is no initial state to begin with: that is for who wrote the spec to mend."""
    found = reason or Interpreter(system).why_no_start()
    return replace(unexplored(system, properties, found), unstartable=True)


def unexplored(system: System, properties: tuple[str, ...], reason: str) -> Answer:
    """The answer where the search was given up before it began."""
    coverage = Coverage(0, 0, 0, 0.0, False, reason, (), (0,) * len(system.actions))
    selected = select(system, properties)
    scope = stopped_short(0, 0, reason)
    return Answer(coverage, tuple(PropertyAnswer(item.name, "unknown", scope) for item in selected))


def _answer(
    explored: Explored, prop: Property, undecided: str | None, verdicts: dict[str, LivenessVerdict]
) -> PropertyAnswer:
    name, scope = prop.name, explored.scope
    if prop.kind in ("eventually", "leads_to"):
        if undecided is not None:
            return PropertyAnswer(name, "unknown", undecided)
        try:
            return _liveness_answer(explored, prop, verdicts[name])
        except Unconfirmed:
            return PropertyAnswer(name, "unknown", UNCONFIRMED)
    try:
        run = _hit(explored, prop)
        if run is not None:
            steps = plural(len(run.steps), "step")
            if prop.kind == "reachable":
                return PropertyAnswer(name, "holds", f"reached after {steps}", run)
            return PropertyAnswer(name, "violated", f"after {steps}, the fewest possible", run)
        without = _hit(explored, prop, without_value=True)
    except Cancelled as given_up:
        met = "what decides it" if prop.kind == "reachable" else "a violation"
        return PropertyAnswer(name, "unknown", _untraced(met, given_up))
    except Unconfirmed:
        return PropertyAnswer(name, "unknown", UNCONFIRMED)
    if without is not None:
        return PropertyAnswer(name, "unknown", valueless(explored.subject.system, prop, prop.goal, without), without)
    if undecided is not None:
        return PropertyAnswer(name, "unknown", undecided)
    if prop.kind == "reachable":
        return PropertyAnswer(name, "violated", f"in no state of {scope}")
    return PropertyAnswer(name, "holds", scope)


def _liveness_answer(explored: Explored, prop: Property, verdict: LivenessVerdict) -> PropertyAnswer:
    """The answer to a property of infinite runs on a graph explored to its end."""
    subject, scope = explored.subject, explored.scope
    match verdict:
        case None:
            return PropertyAnswer(prop.name, "holds", scope)
        case Undecided() if verdict == BEYOND:
            why = f"{BEYOND.reason}: {what_helps(subject.system, explored.bounds_reached)}"
            return PropertyAnswer(prop.name, "unknown", f"{why}; {scope}")
        case Undecided(reason):
            return PropertyAnswer(prop.name, "unknown", f"{reason}; {scope}")
        case Valueless(path, expression):
            run = run_along(subject, path)
            return PropertyAnswer(prop.name, "unknown", valueless(subject.system, prop, expression, run), run)
        case Lasso(path, loop):
            run = run_along(subject, path, loop)
            assert run.loop is not None, "the run of a lasso has a loop"
            repeated, before = len(run.steps) - run.loop, f"after {plural(run.loop, 'step')}"
            if not repeated:
                return PropertyAnswer(prop.name, "violated", f"{before} the system may make no progress for ever", run)
            scope = f"{before} a loop of {plural(repeated, 'step')} may repeat for ever"
            return PropertyAnswer(prop.name, "violated", scope, run)


def _path(findings: Findings, key: str) -> StatePath:
    """The shortest run to where a condition was met. Errors: `Cancelled`."""
    traced = findings.traced.get(key)
    return findings.path_to(findings.closest(key)) if traced is None else traced


def _hit(explored: Explored, prop: Property, without_value: bool = False) -> Run | None:
    """The shortest run to where a property is decided; or to where it has no value."""
    subject, findings = explored.subject, explored.findings
    key = NO_VALUE + prop.name if without_value else prop.name
    if key in findings.found:
        return run_along(subject, _path(findings, key))
    if key not in findings.hits:
        return None
    interpreter = Interpreter(subject.system)

    def is_wanted(before: State, after: State) -> bool:
        try:
            return not interpreter.holds_step(prop, before, after) and not without_value
        except EvaluationError:
            return without_value

    return run_and_step(subject, _path(findings, key), is_wanted)


def valueless(system: System, prop: Property, expression: Expression, run: Run) -> str:
    """That a property is an error of the spec in the last state (or step) of a run."""
    interpreter, states = Interpreter(system), run.states
    try:
        if prop.kind == "step":
            interpreter.holds_step(prop, states[-2], states[-1])
        else:
            interpreter.value(expression, states[-1])
    except EvaluationError as error:
        return f"an error of the spec after {plural(len(run.steps), 'step')}: {error.message}"
    raise AssertionError(f"{prop.name} has a value after all")


def _untraced(what: str, given_up: Cancelled) -> str:
    return f"{what} was found, but the run to it was not reconstructed; stopped because {given_up.reason}"
