"""The native liveness decides as fairness is defined, and as the portable engine does."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from hacheck.checker.explicit.liveness import working_memory
from hacheck.checker.explicit.search_result import Lasso, LivenessVerdict, Undecided, Valueless
from hacheck.model.interpreter import EvaluationError, Interpreter, Taken
from hacheck.model.ir import Fairness, Property, System
from hacheck.model.language.specification import load
from hacheck.model.runs import Run
from tests.models.exploration import explore
from tests.native.liveness_worlds import World, give_up_after
from tests.nightly import first_of
from tests.properties.test_engine_liveness import assert_shows_it, graph_of, small_systems, verdict_of
from tests.strategies import seeded_system

STATES_MAX = 1_500
BYTES_PER_STATE = 57  # that liveness takes at most, besides lists


@pytest.mark.parametrize("first", first_of(range(0, 600, 100)))
def test_liveness_is_decided_as_defined(first: int) -> None:
    for seed, system in enumerate(small_systems(range(first, first + 100))):
        graph = graph_of(system)
        world = World(system, threads=1 + seed % 2, owners=1 + seed % 3)
        for asked, judgement in zip(system.properties, world.check_liveness(), strict=True):
            assert verdict(judgement) == verdict_of(system, graph, asked), (system, asked)
            if isinstance(judgement, Lasso):
                assert_shows_it(system, graph, asked, shown(world, judgement))


def verdict(judgement: LivenessVerdict) -> str:
    """In a word."""
    return "holds" if judgement is None else "violated" if isinstance(judgement, Lasso) else "unknown"


def shown(world: World, judgement: LivenessVerdict) -> Run:
    """The run that goes with it."""
    run = world.shown(judgement)
    assert run is not None
    return run


def larger_systems(first: int, count: int) -> Iterator[System]:
    """Random systems, asked about random sets of fair handlers."""
    for seed in range(first, first + count):
        system = seeded_system(seed, risky=False)
        live = [asked for asked in system.properties if asked.kind in ("eventually", "leads_to")]
        try:
            small = bool(live) and explore(system, STATES_MAX).complete
        except EvaluationError:
            continue
        if small:
            handlers = sorted({action.handler for action in system.actions})
            asked = []
            for number in range(8):
                fairness = tuple(
                    Fairness(handler, bool((seed + number * place) % 3 == 0))
                    for place, handler in enumerate(handlers)
                    if (seed >> place ^ number) % 2
                )
                asked.append(replace(live[number % len(live)], name=f"live {number}", fairness=fairness))
            yield replace(system, properties=tuple(asked))


def assert_fair(system: System, asked: Property, run: Run) -> None:
    """The loop of a run does what fairness asks, and no state from where the property waits on meets the goal."""
    interpreter = Interpreter(system)
    assert run.loop is not None
    loop = run.states[run.loop :]
    taken, enabled = set(), []
    for step in run.steps[run.loop :]:
        names = [name for name, _ in system.actions[step.action].parameters]
        actor = system.actions[step.action].actor
        taken.add((system.actions[step.action].handler, step.arguments[names.index(actor)] if actor else None))
    for state in loop:
        able = set()
        for outcome in interpreter.outcomes(state):
            found = outcome.step if isinstance(outcome, Taken) else outcome
            found = getattr(found, "error", found)
            action = system.actions[found.action]  # type: ignore[union-attr]
            names = [name for name, _ in action.parameters]
            arguments = found.arguments  # type: ignore[union-attr]
            able.add((action.handler, arguments[names.index(action.actor)] if action.actor else None))
        enabled.append(able)
    for item in asked.fairness:
        for constraint in {found for able in enabled for found in able if found[0] == item.handler}:
            passed_over = item.strong or all(constraint in able for able in enabled)
            assert constraint in taken or not passed_over
    goal = [interpreter.value(asked.goal, state) for state in run.states]
    waits_from = 0
    if asked.kind == "leads_to":
        waits_from = max(at for at in range(run.loop + 1) if interpreter.premise_holds(asked, run.states[at]))
    assert not any(goal[waits_from:])


def assert_alike(world: World) -> list[LivenessVerdict]:
    """The judgements are the portable engine's, with as many steps to the loop; the loops are fair."""
    given = world.check_liveness()
    for asked, native, portable in zip(world.system.properties, given, world.judge_portably(), strict=True):
        assert type(native) is type(portable), (world.system, asked)
        if isinstance(native, Lasso) and isinstance(portable, Lasso):
            assert native.loop == portable.loop
            assert_fair(world.system, asked, shown(world, native))
        elif isinstance(native, Valueless) and isinstance(portable, Valueless):
            assert native.expression == portable.expression
            assert len(native.path.states) == len(portable.path.states)
            assert shown(world, native)
        else:
            assert native == portable
    return given


@pytest.mark.parametrize("first", first_of(range(3_000, 3_400, 100)))
def test_judgements_and_lengths_are_those_of_the_portable_engine(first: int) -> None:
    verdicts = set()
    for seed, system in enumerate(larger_systems(first, 50)):
        world = World(system, threads=1 + seed % 2, owners=1 + seed % 3)
        verdicts |= {verdict(item) for item in assert_alike(world)}
    assert verdicts == {"holds", "violated", "unknown"}


VALUELESS = """
system Valueless "A property that looks for what may not be there."
node S { n: 0..3 = 0  seen: 0..3? = none }
action count(s: S) when s.n < 3 do
  s.n := s.n + 1
  if s.n == 2 then s.seen := s.n
leads_to in_goal: S.n == 1 ~> value(S.seen) == 2
leads_to in_premise: S.n != 0 and value(S.seen) == 2 ~> S.n == 3
leads_to in_neither: S.n == 1 ~> S.n == 3
eventually at_start: value(S.seen) == 2
"""


def test_an_error_of_the_spec_in_a_goal_or_premise_is_found_as_early() -> None:
    loaded = load(VALUELESS, "valueless.ha", lambda _: None)
    assert loaded.specification is not None, loaded.diagnostics
    system = loaded.specification.instantiate({}, None).system
    assert system is not None
    found = assert_alike(World(system, owners=2))
    lengths = [len(item.path.states) - 1 if isinstance(item, Valueless) else None for item in found]
    assert lengths == [0, 1, None, 0]


def test_without_room_for_lists_the_same_is_found() -> None:
    for seed, system in enumerate(larger_systems(3_400, 40)):
        world = World(system, threads=1 + seed % 2, owners=1 + seed % 2)
        assert len(world.subject.instances) <= 64
        world.room = BYTES_PER_STATE * len(world.log.order)
        assert_alike(world)


def test_without_room_nothing_is_judged() -> None:
    system = next(larger_systems(3_000, 100))
    world = World(system, room=BYTES_PER_STATE * len(World(system).log.order) - 1)
    undecided = Undecided("not checked; stopped because no memory is left")
    assert world.check_liveness() == [undecided] * len(system.properties)


def test_without_address_space_nothing_is_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(next(larger_systems(3_000, 100)))

    def refuse(size: int, huge: bool = True) -> None:
        raise MemoryError(f"no address space for {size:,} bytes")

    monkeypatch.setattr(working_memory, "Region", refuse)
    undecided = Undecided("not checked; stopped because no memory is left")
    assert world.check_liveness() == [undecided] * len(world.system.properties)


def test_the_kernels_say_the_same_as_python() -> None:
    for system in larger_systems(3_000, 12):
        assert World(system).check_liveness() == World(system, interpreted=True).check_liveness()


def test_it_can_be_interrupted_at_any_time() -> None:
    worlds = (World(system) for system in larger_systems(3_000, 100))
    world = next(world for world in worlds if any(isinstance(item, Lasso) for item in world.check_liveness()))
    pulses = 0
    while True:
        judged = world.check_liveness(give_up_after(pulses))
        undecided = [item for item in judged if isinstance(item, Undecided) and "interrupted" in item.reason]
        if not undecided:
            break
        assert all(item.reason.endswith("stopped because interrupted") for item in undecided)
        pulses += 1
    assert pulses > 10
    assert any(isinstance(item, Lasso) for item in judged)
