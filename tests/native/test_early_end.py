"""An exploration ends once every property is decided, and what it says is what exploring everything says."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from msgspec.structs import replace

from hacheck.checker.engine import DECIDED, Answer, Engine, Limits, Progress
from hacheck.checker.explicit.native_engine import NativeEngine
from hacheck.checker.explicit.portable.portable_engine import PortableEngine
from hacheck.checker.explicit.search import search_limits
from hacheck.checker.explicit.stopwatch import RECONSTRUCTING, Stopwatch
from hacheck.model.ir import FALSE, TRUE, Property, System
from tests.models.quorum_election import quorum_election
from tests.strategies import seeded_system

ENGINES = [NativeEngine(stop_early=True), NativeEngine(threads=2, stop_early=True), PortableEngine(stop_early=True)]


def answer(engine: Engine, system: System, properties: tuple[str, ...] = (), **limits: int) -> Answer:
    return engine.check(system, properties, Limits(**limits), lambda progress: True)


@pytest.mark.parametrize("engine", ENGINES, ids=["native", "two threads", "python"])
def test_random_systems_get_the_verdicts_and_runs_of_the_whole_graph(engine: Engine) -> None:
    ended, went_on = 0, 0
    for seed in range(24):
        system = seeded_system(seed)
        whole = answer(NativeEngine(), system, states_max=2_000)
        if not whole.coverage.complete or whole.unstartable:
            continue
        violated = tuple(one.name for one in whole.properties if one.run is not None and one.run.loop is None)
        kinds = {one.name: one.kind for one in system.properties}
        for names in ((), violated):
            found = answer(engine, system, names, states_max=2_000)
            expected = {one.name: one for one in whole.properties}
            for one in found.properties:
                assert one.verdict == expected[one.name].verdict, (seed, one.name)
                if kinds[one.name] not in ("eventually", "leads_to") and one.run is not None:
                    assert len(one.run.steps) == len(expected[one.name].run.steps)  # type: ignore[union-attr]
            if found.coverage.ended_early:
                ended += 1
                assert not found.coverage.complete
                assert all(one.run is not None for one in found.properties), "what holds needs every state"
            else:
                went_on += 1
    assert ended >= 3
    assert went_on >= 8


def test_one_property_that_holds_needs_every_state() -> None:
    asked = (
        Property("broken", "invariant", FALSE, None, (), "", "", 0),
        Property("kept", "invariant", TRUE, None, (), "", "", 0),
    )
    system = replace(quorum_election(2, 1, 0), properties=asked)
    states = answer(NativeEngine(), system).coverage.states
    assert answer(NativeEngine(stop_early=True), system).coverage.states == states
    early = answer(NativeEngine(stop_early=True), system, ("broken",)).coverage
    assert (early.complete, early.stopped) == (False, DECIDED)
    assert early.states < states


def test_a_property_of_infinite_runs_needs_every_state() -> None:
    asked = (
        Property("broken", "invariant", FALSE, None, (), "", "", 0),
        Property("ends", "eventually", FALSE, None, (), "", "", 0),
    )
    system = replace(quorum_election(2, 1, 0), properties=asked)
    for engine in (NativeEngine(stop_early=True), PortableEngine(stop_early=True)):
        found = answer(engine, system)
        assert found.coverage.complete
        assert [one.verdict for one in found.properties] == ["violated", "violated"]


def test_an_interrupted_exploration_keeps_every_violation_met_with_its_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_limits, "REPORT_SECONDS", 0.0)
    monkeypatch.setattr(search_limits, "GRACE_SECONDS", 0.0)
    asked = (
        Property("broken", "invariant", FALSE, None, (), "", "", 0),
        Property("kept", "invariant", TRUE, None, (), "", "", 0),
    )
    seen: list[Progress] = []

    def report(progress: Progress) -> bool:
        seen.append(progress)
        return not (progress.phase == "exploring" and progress.depth > 3)

    system = replace(quorum_election(3, 2, 1), properties=asked)
    found = NativeEngine(stop_early=True).check(system, (), Limits(), report)
    assert found.coverage.stopped == "interrupted"
    broken, kept = found.properties
    assert (broken.verdict, kept.verdict) == ("violated", "unknown")
    assert broken.run is not None
    assert not broken.run.steps
    assert seen[-1].violated == (("broken", 0),)


def test_a_run_that_is_put_together_while_the_search_goes_on_is_no_time_of_exploring(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What looks back is compiled for it the first time: counted as exploring, a small search seemed slow."""
    under_way: list[str] = []
    inside: list[tuple[str, ...]] = []
    phase = Stopwatch.phase

    @contextmanager
    def noted(watch: Stopwatch, name: str) -> Iterator[None]:
        under_way.append(name)
        inside.append(tuple(under_way))
        with phase(watch, name):
            yield
        under_way.pop()

    monkeypatch.setattr(Stopwatch, "phase", noted)
    broken = Property("broken", "invariant", FALSE, None, (), "", "", 0)
    found = answer(NativeEngine(), replace(quorum_election(2, 1, 0), properties=(broken,)))
    assert found.properties[0].run is not None
    assert ("exploring", RECONSTRUCTING) in inside
