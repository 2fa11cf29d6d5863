"""The portable engine: every reachable state, breadth first, with generated Python."""

from __future__ import annotations

from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from hacheck.checker.engine import Answer, Limits, Progress, Report
from hacheck.checker.explicit.answers import Explored, answer_of, no_start, unexplored
from hacheck.checker.explicit.portable.breadth_first_search import search
from hacheck.checker.explicit.portable.condition_functions import Prepared, prepare
from hacheck.checker.explicit.portable.liveness_verdicts import check_liveness
from hacheck.checker.explicit.portable.portable_result import LogFindings, subject_of
from hacheck.checker.explicit.property_conditions import Questions, pose
from hacheck.checker.explicit.stopwatch import Stopwatch
from hacheck.checker.recheck_result import Recheck, Rechecked
from hacheck.compile.lowering.layout import pack
from hacheck.compile.lowering.system import lower
from hacheck.model.interpreter import EvaluationError, Interpreter
from hacheck.model.ir import System
from hacheck.model.runs import State
from hacheck.supervise.resources import process_bytes
from hacheck.supervise.task import Cancelled


class PortableEngine(Struct, frozen=True):
    """Decides every kind of property on the whole graph of reachable states.

    `stop_early`: stop once every property is decided by a run, instead of going on for the numbers of the whole graph.
    `recheck`: has a second interpreter compute some of the states again.
    """

    stop_early: bool = False
    recheck: Recheck | None = None

    def check(self, system: System, properties: tuple[str, ...], limits: Limits, report: Report) -> Answer:
        """Errors: none for anything a spec can contain; an `AssertionError` is a bug of ours."""
        watch = Stopwatch(limits, report)
        try:
            initial = watch.supervised("lowering", Interpreter(system).initial_states)
            if not initial:
                return no_start(system, properties)
            made = watch.supervised("lowering", partial(_made, system, properties, initial))
        except EvaluationError as error:
            return no_start(system, properties, f"an error of the spec {error.message}")
        except Cancelled as given_up:
            return unexplored(system, properties, given_up.reason)
        questions, prepared = made
        code = prepared.code
        packed = [pack(code.lowered.layout, state) for state in initial]
        goal = prepared.goal(questions.goal) if self.stop_early else None
        with watch.phase("exploring"):
            log = search(code, packed, list(prepared.finders), limits, report, goal, watch.started)
        findings = LogFindings(prepared, log)
        explored = Explored(subject_of(code), questions.properties, findings, partial(check_liveness, code, log))
        answer = replace(answer_of(explored, watch), engine="python")
        return answer if self.recheck is None else replace(answer, rechecked=self._rechecked(explored, findings, watch))

    def _rechecked(self, explored: Explored, findings: LogFindings, watch: Stopwatch) -> Rechecked:
        """What a second interpreter says of the states found."""
        assert self.recheck is not None

        def go_on(states: int) -> bool:
            return watch.report(Progress(states, 0, findings.depth, 0, watch.seconds(), process_bytes(), "re-checking"))

        searched = dict(watch.phases()).get("exploring", 0.0)
        with watch.phase("re-checking"):
            return self.recheck(explored.subject, findings, searched, go_on)


def _made(system: System, properties: tuple[str, ...], initial: tuple[State, ...]) -> tuple[Questions, Prepared]:
    lowered = lower(system, initial)
    questions = pose(lowered, properties)
    return questions, prepare(lowered, questions)
