"""The portable engine: every reachable state, breadth first, with generated Python."""

from __future__ import annotations

import time
from dataclasses import dataclass

from hacheck.checker.engine import Answer, Coverage, Limits, PropertyAnswer, Report
from hacheck.checker.explicit.answers import Explored, answer_of
from hacheck.checker.explicit.portable.program import generate
from hacheck.checker.explicit.portable.search import search
from hacheck.checker.explicit.questions import pose, select
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
            return _no_start(system, properties, fault.message)
        lowered = lower(system, initial)
        questions = pose(lowered, properties)
        code = generate(lowered, questions.wanted)
        packed = [pack(lowered.layout, state) for state in initial]
        goal = questions.goal if self.stop_early else None
        log = search(code, packed, list(questions.finders), limits, report, goal)
        return answer_of(Explored(code, questions, log, time.perf_counter() - started))


def _no_start(system: System, properties: tuple[str, ...], message: str) -> Answer:
    """The answer where there is no initial state because finding one is an error of the spec."""
    reason = f"an error of the spec {message}"
    coverage = Coverage(0, 0, 0, 0.0, False, reason, (), (0,) * len(system.actions))
    asked = select(system, properties)
    return Answer(coverage, tuple(PropertyAnswer(item.name, "unknown", reason) for item in asked))
