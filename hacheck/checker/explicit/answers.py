"""From what a search saw to what is answered."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

from hacheck.checker.engine import Answer, Coverage, PropertyAnswer
from hacheck.checker.explicit.portable.liveness import judge_liveness
from hacheck.checker.explicit.portable.program import Code
from hacheck.checker.explicit.portable.search import Log
from hacheck.checker.explicit.portable.ways import way_to
from hacheck.checker.explicit.questions import FAULT, Questions
from hacheck.checker.explicit.runs import run_along, run_into_fault
from hacheck.checker.explicit.scopes import covered, cut_counts, stopped_short
from hacheck.model.ir import Property
from hacheck.model.runs import Run
from hacheck.model.semantics import EvaluationFault, Interpreter


@dataclass(frozen=True, slots=True)
class Explored:
    """A search that has ended, with the program and the questions it ran with."""

    code: Code
    questions: Questions
    log: Log
    wall_seconds: float

    @property
    def cuts(self) -> tuple[tuple[str, int], ...]:
        """The bounds that cut steps."""
        return cut_counts(self.log, self.code.bounds)


def answer_of(explored: Explored) -> Answer:
    """The answer to every question."""
    log, code, questions = explored.log, explored.code, explored.questions
    fault = None
    if log.faults:
        state, index = log.faults[0]
        fault = run_into_fault(code, way_to(code, log, [state]), index)
    undecided = None if log.stopped is None else stopped_short(log, log.stopped)
    if undecided is None and fault is not None:
        undecided = "not judged, because a step is an error of the spec"
    answers = tuple(_answer(explored, asked, undecided) for asked in questions.asked)
    return Answer(coverage_of(explored), answers, fault)


def coverage_of(explored: Explored) -> Coverage:
    """What the search saw."""
    log = explored.log
    unreached: dict[str, tuple[str, ...]] = {}
    for key, variable, member in explored.questions.modes:
        missing = () if key in log.found else (member,)
        unreached[variable] = unreached.get(variable, ()) + missing
    return Coverage(
        states=len(log.order),
        transitions=sum(log.counts),
        depth=log.depth,
        wall_seconds=explored.wall_seconds,
        complete=log.stopped is None,
        stopped=log.stopped,
        cuts=explored.cuts,
        action_counts=tuple(log.counts),
        unreached=tuple((variable, members) for variable, members in unreached.items() if members),
    )


def _answer(explored: Explored, asked: Property, undecided: str | None) -> PropertyAnswer:
    system, log = explored.code.lowered.system, explored.log
    if asked.kind in ("eventually", "leads_to"):
        if undecided is not None:
            return PropertyAnswer(asked.name, "unknown", undecided)
        return judge_liveness(explored.code, log, asked, covered(system, explored.cuts))
    run = _hit(explored, asked.name)
    if run is not None:
        steps = f"{len(run.steps)} step{'s' * (len(run.steps) != 1)}"
        if asked.kind == "reachable":
            return PropertyAnswer(asked.name, "holds", f"reached after {steps}", run)
        return PropertyAnswer(asked.name, "violated", f"after {steps}, the fewest possible", run)
    without = _hit(explored, FAULT + asked.name)
    if without is not None:
        return PropertyAnswer(asked.name, "unknown", _valueless(explored, asked, without), without)
    if undecided is not None:
        return PropertyAnswer(asked.name, "unknown", undecided)
    scope = covered(system, explored.cuts)
    if asked.kind == "reachable":
        return PropertyAnswer(asked.name, "violated", f"in no state of {scope}")
    return PropertyAnswer(asked.name, "holds", scope)


def _hit(explored: Explored, key: str) -> Run | None:
    """The shortest run to where a question's condition was met."""
    code, log, questions = explored.code, explored.log, explored.questions
    if key in log.found:
        return run_along(code, way_to(code, log, _alike(explored, key)))
    hits = log.hits[questions.steps.index(key)] if key in questions.steps else []
    if not hits:
        return None
    before, after = hits[0]
    return run_along(code, way_to(code, log, [before]).then([after], [None]))


def _alike(explored: Explored, key: str) -> list[int]:
    """The states of the level in which a condition was first met that meet it."""
    log = explored.log
    first = log.order.index(log.found[key])
    level = bisect_right(log.levels, first)
    end = log.levels[level] if level < len(log.levels) else len(log.order)
    finder = next(finder for finder in explored.questions.finders if finder.key == key)
    if finder.dead_only:
        return [log.found[key]]
    return [state for state in log.order[first:end] if finder.find([state]) is not None]


def _valueless(explored: Explored, asked: Property, run: Run) -> str:
    """That a property is an error of the spec in the last state (or step) of a run."""
    interpreter, states = Interpreter(explored.code.lowered.system), run.states
    try:
        if asked.kind == "step":
            interpreter.holds_step(asked, states[-2], states[-1])
        else:
            interpreter.value(asked.goal, states[-1])
    except EvaluationFault as fault:
        return f"an error of the spec after {len(run.steps)} steps: {fault.message}"
    raise AssertionError(f"{asked.name} has a value after all")
