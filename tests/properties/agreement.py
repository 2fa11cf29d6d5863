"""What it means that an engine agrees with plain search by the reference interpreter."""

from __future__ import annotations

from hacheck.checker.engine import Answer, Limits
from hacheck.checker.explicit.portable.portable_engine import PortableEngine
from hacheck.model.interpreter import replay
from hacheck.model.ir import Property, System
from tests.models.engines import ExplicitEngine
from tests.models.exploration import Explored


def assert_agrees(engine: ExplicitEngine, system: System, expected: Explored) -> None:
    """Verdicts and lengths of runs; where all states are explored, also states, transitions, depth, cuts and counts by
    action."""
    if not expected.complete:
        return
    answer = engine.check(system, (), Limits(), lambda _: True)
    if not expected.states:
        why = "there is no initial state" if expected.fault_depth is None else "an error of the spec at the start"
        assert answer.unstartable
        assert str(answer.coverage.stopped).startswith(why)
        return
    if isinstance(engine, PortableEngine) or not engine.reductions:
        assert_same_coverage(answer, expected)
    for asked in system.properties:
        assert_same_verdict(system, asked, answer, expected)
    assert_same_fault(system, answer, expected)


def assert_same_coverage(answer: Answer, expected: Explored) -> None:
    """The same graph was explored."""
    coverage = answer.coverage
    found = coverage.states, coverage.transitions, coverage.depth
    assert found == (expected.states, expected.transitions, expected.depth)
    assert dict(coverage.bounds_reached) == expected.cuts
    assert coverage.action_counts == expected.action_counts


def assert_same_verdict(system: System, asked: Property, answer: Answer, expected: Explored) -> None:
    """Properties of states and steps are decided alike, by runs of the same length."""
    given = next(item for item in answer.properties if item.name == asked.name)
    if asked.kind in ("eventually", "leads_to"):
        return
    decided = "holds" if asked.kind == "reachable" else "violated"
    depth = expected.decided.get(asked.name)
    if depth is None:
        assert given.verdict != decided or given.run is None
        assert (given.verdict == "unknown") == (answer.error is not None or "error of the spec" in given.scope)
    else:
        assert given.verdict == decided
        assert given.run is not None
        assert len(given.run.steps) == depth
    if given.run is not None:
        assert replay(system, given.run) is None


def assert_same_fault(system: System, answer: Answer, expected: Explored) -> None:
    """An error of the spec is found where there is one, and as early. (The search by the interpreter evaluates no
    properties of infinite runs.)"""
    finite = [
        item
        for item, asked in zip(answer.properties, system.properties, strict=True)
        if asked.kind not in ("eventually", "leads_to")
    ]
    valueless = [item for item in finite if "an error of the spec after" in item.scope]
    hidden = [item for item in finite if item.run is not None and item not in valueless]
    depths = [len(item.run.steps) for item in valueless if item.run is not None]
    if answer.error is not None:
        assert replay(system, answer.error) is None
        depths.append(len(answer.error.steps))
    if expected.fault_depth is None:
        assert depths == []
    elif not hidden:
        assert min(depths) == expected.fault_depth
