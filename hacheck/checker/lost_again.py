"""What comes to hold, as an `eventually` says, and may be lost later: the property promises once, and no more."""

from __future__ import annotations

from msgspec.structs import replace

from hacheck.checker.engine import Limits
from hacheck.checker.explicit.portable.random_walks import SimulationEngine
from hacheck.checker.verify import CheckResult, at_the_start
from hacheck.model.expressions import Binary, Old
from hacheck.model.ir import Property
from hacheck.model.runs import Run

WALKS = SimulationEngine(walks=30, steps=100)
"""A random walk soon loses what any step may end; what these do not meet is not reported."""


def lost_again(result: CheckResult) -> tuple[tuple[str, Run], ...]:
    """The properties `eventually` that hold, each with a run whose last step ends what had come to hold; without those
    that hold at the start. Cost: random walks, where there is such a property."""
    start = at_the_start(result)
    waiting = [one.prop for one in result.reported if one.prop.kind == "eventually" and one.answer.verdict == "holds"]
    kept = tuple(_stays(prop) for prop in waiting if prop.name not in start)
    if not kept:
        return ()
    answer = WALKS.check(replace(result.system, properties=kept), (), Limits(), lambda _: True)
    return tuple((found.name, found.run) for found in answer.properties if found.run is not None)


def _stays(prop: Property) -> Property:
    """The step invariant that what a property waits for stays."""
    return replace(prop, kind="step", goal=Binary("implies", Old(prop.goal), prop.goal), premise=None, fairness=())
