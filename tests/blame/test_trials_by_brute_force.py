"""On random systems each trial comes out as a plain search by the interpreter says, and each good run is one."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from hacheck.checker.blame.good_run import nearest_good_run
from hacheck.checker.blame.trial_system import FaultLimit, Narrowed, OtherBranch, OtherGoal, Restriction, Without
from hacheck.checker.blame.trials import Subject, TrialResult, blame, trials_of
from hacheck.checker.engine import Limits, Progress
from hacheck.checker.explicit.portable.portable_engine import PortableEngine
from hacheck.model import ir
from hacheck.model.evaluation import EvaluationError
from hacheck.model.interpreter import Failed, Interpreter, Taken, replay
from hacheck.model.runs import Run, State, Step
from hacheck.model.types import Bool
from tests.properties.scale import seeds
from tests.strategies import seeded_system

STATES_MAX = 3_000
SAFETY = ("invariant", "lemma", "step")


class TooMany(Exception):
    """The system is too large for this test, or has an error of the spec."""


def go_on(_: Progress) -> bool:
    return True


def shortest(
    system: ir.System,
    asked: ir.Property,
    allowed: Callable[[State, Step], bool],
    counted: int,
    most: int,
    starts: list[State],
) -> int | None:
    """The length of a shortest violation among steps that are allowed, with at most so many of one action."""
    interpreter = Interpreter(system)
    level = [(state, 0) for state in starts]
    seen = set(level)
    length = 0
    if asked.kind != "step" and any(not interpreter.holds(asked, state) for state in starts):
        return 0
    while level:
        length += 1
        following = []
        for state, used in level:
            for outcome in interpreter.outcomes(state):
                if isinstance(outcome, Failed):
                    raise TooMany
                if not isinstance(outcome, Taken) or not allowed(state, outcome.step):
                    continue
                after = outcome.step.state, used + (outcome.step.action == counted)
                if after[1] > most:
                    continue
                if asked.kind == "step":
                    if not interpreter.holds_step(asked, state, after[0]):
                        return length
                elif not interpreter.holds(asked, after[0]):
                    return length
                if after not in seen:
                    seen.add(after)
                    following.append(after)
        if len(seen) > STATES_MAX:
            raise TooMany
        level = following
    return None


def other_way(system: ir.System, action: int, place: int, taken: bool) -> ir.System:
    """The system in which a branch of an `if` has the statements of the other one."""
    numbers = iter(range(1_000))

    def changed(some: tuple[ir.Statement, ...]) -> tuple[ir.Statement, ...]:
        return tuple(one if not isinstance(one, ir.If | ir.ForEach) else inner(one) for one in some)

    def inner(one: ir.If | ir.ForEach) -> ir.Statement:
        if isinstance(one, ir.ForEach):
            return replace(one, body=changed(one.body))
        number = next(numbers)
        made = replace(one, then=changed(one.then), otherwise=changed(one.otherwise))
        if number != place:
            return made
        return replace(made, then=made.otherwise) if taken else replace(made, otherwise=made.then)

    actions = list(system.actions)
    actions[action] = replace(actions[action], body=changed(actions[action].body))
    return replace(system, actions=tuple(actions))


def asks_inside(action: ir.Action) -> ir.Action:
    """The action with its guard as an `if` in its body: where it is false, nothing changes."""
    always = ir.Constant(value=True, type=Bool())
    return replace(action, guard=always, body=(ir.If(action.guard, action.body, ()),))


def expected(system: ir.System, asked: ir.Property, restriction: Restriction) -> int | None:
    """The length of a shortest violation under a restriction, from where it starts."""
    interpreter = Interpreter(system)
    starts = list(interpreter.initial_states())
    match restriction:
        case FaultLimit(action, most, start):
            begun = starts if start is None else [start]
            return shortest(system, asked, lambda _, __: True, action, most, begun)
        case Without(action):
            return shortest(system, asked, lambda _, step: step.action != action, -1, 0, starts)
        case OtherBranch(action, place, taken):
            return shortest(other_way(system, action, place, taken), asked, lambda _, __: True, -1, 0, starts)
        case OtherGoal():
            raise AssertionError("blame tries no other property")
        case Narrowed(action, _, left):

            def allowed(state: State, step: Step) -> bool:
                if step.action != action:
                    return True
                names = (name for name, _ in system.actions[action].parameters)
                return bool(interpreter.value(left, state, locals=dict(zip(names, step.arguments, strict=True))))

            return shortest(system, asked, allowed, -1, 0, starts)


def counterexample(system: ir.System, asked: ir.Property) -> Run | None:
    answer = PortableEngine().check(system, (asked.name,), Limits(states_max=STATES_MAX), go_on)
    if answer.error is not None or not answer.coverage.complete:
        return None
    return answer.properties[0].run if answer.properties[0].verdict == "violated" else None


def compare(subject: Subject, result: TrialResult, restriction: Restriction) -> None:
    """Errors: `TooMany`, `EvaluationError` where the system is none for this test."""
    wanted = expected(subject.system, subject.prop, restriction)
    if wanted is None:
        assert result.outcome == "prevents", (result, restriction)
        return
    assert result.outcome == "violated", (result, restriction)
    before = 0
    if isinstance(restriction, FaultLimit) and restriction.start is not None:
        before = result.trial.steps[0] - 1
    assert result.length == wanted + before, (result, restriction)


def check_good_run(system: ir.System, asked: ir.Property, run: Run) -> bool:
    good = nearest_good_run(system, run, asked, go_on)
    if good is None:
        return False
    assert replay(system, good.run) is None
    assert good.run.steps[: good.shared] == run.steps[: good.shared]
    assert good.run.steps[good.shared : good.shared + 1] != run.steps[good.shared : good.shared + 1]
    interpreter = Interpreter(system)
    for before, step in zip(good.run.states, good.run.steps, strict=False):
        if asked.kind == "step":
            assert interpreter.holds_step(asked, before, step.state)
        else:
            assert interpreter.holds(asked, step.state)
    assert (good.run.steps[-1].action, good.run.steps[-1].arguments) == (run.steps[-1].action, run.steps[-1].arguments)
    return True


@seeds(91_000, 480, together=60)
def test_trials_agree_with_a_plain_search(seeds: range) -> None:
    kinds: set[tuple[str, str]] = set()
    for seed in seeds:
        system = seeded_system(seed, risky=False)
        fault = replace(system.actions[-1], kind="fault")
        system = replace(system, actions=(*system.actions[:-1], fault))
        if seed % 2:
            system = replace(system, actions=tuple(asks_inside(one) for one in system.actions))
        for asked in system.properties:
            if asked.kind not in SAFETY:
                continue
            try:
                run = counterexample(system, asked)
                if run is None or not run.steps:
                    continue
                subject = Subject(system, asked, run)
                listed = {one.trial: one.restriction for one in trials_of(subject)}
                for restriction in listed.values():
                    expected(system, asked, restriction)
            except (TooMany, EvaluationError):
                continue
            found = blame(subject, Limits(), go_on)
            assert found.results
            for result in found.results:
                compare(subject, result, listed[result.trial])
                kinds.add((result.trial.kind, result.outcome))
            if check_good_run(system, asked, run):
                kinds.add(("good", "run"))
            break
    assert len(kinds) > 3
