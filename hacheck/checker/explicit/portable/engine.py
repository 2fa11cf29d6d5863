"""The portable engine: every reachable state, breadth first, with generated Python."""

from __future__ import annotations

import time
from functools import partial

from hacheck.checker.engine import Answer, Limits, Report
from hacheck.checker.explicit.answers import Explored, answer_of, no_start
from hacheck.checker.explicit.portable.finders import prepare
from hacheck.checker.explicit.portable.findings import LogFindings, subject_of
from hacheck.checker.explicit.portable.liveness import judge
from hacheck.checker.explicit.portable.search import search
from hacheck.checker.explicit.questions import pose
from hacheck.model.data import dataclass
from hacheck.model.ir import System
from hacheck.model.lowering.layout import pack
from hacheck.model.lowering.system import lower
from hacheck.model.semantics import EvaluationFault, Interpreter


@dataclass(frozen=True, slots=True)
class PortableEngine:
    """Decides every kind of property on the whole graph of reachable states.

    `stop_early`: stop once every invariant, step invariant, deadlock and reachable property asked is decided by a
    run, instead of going on for the numbers of the whole graph.
    """

    stop_early: bool = False

    def check(self, system: System, properties: tuple[str, ...], limits: Limits, report: Report) -> Answer:
        """Errors: none for anything a spec can contain; an `AssertionError` is a bug of ours."""
        started = time.perf_counter()
        try:
            initial = Interpreter(system).initial_states()
        except EvaluationFault as fault:
            return no_start(system, properties, f"an error of the spec {fault.message}")
        lowered = lower(system, initial)
        questions = pose(lowered, properties)
        prepared = prepare(lowered, questions)
        packed = [pack(lowered.layout, state) for state in initial]
        goal = prepared.goal(questions.goal) if self.stop_early else None
        log = search(prepared.code, packed, list(prepared.finders), limits, report, goal)
        seconds = time.perf_counter() - started
        subject, findings = subject_of(prepared.code), LogFindings(prepared, log)
        return answer_of(Explored(subject, questions.asked, findings, partial(judge, prepared.code, log)), seconds)
