"""The lowered form, printed as Python, has exactly the outcomes of the reference interpreter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import given, settings

from hacheck.checker.explicit.program import Code, Wanted, generate
from hacheck.model.ir import System
from hacheck.model.lowering.layout import pack, unpack
from hacheck.model.lowering.system import lower
from hacheck.model.runs import State
from hacheck.model.semantics import CutShort, EvaluationFault, Interpreter, Taken
from tests.models.quorum_election import quorum_election
from tests.strategies import seeded_system, systems

STATES_MAX = 60


@given(systems())
@settings(max_examples=60)
def test_every_outcome_is_the_interpreters(system: System) -> None:
    assert_same_outcomes(system, copies_max=32)


@given(systems())
@settings(max_examples=40)
def test_every_outcome_is_the_interpreters_where_branches_merge(system: System) -> None:
    assert_same_outcomes(system, copies_max=1)


@pytest.mark.parametrize("first", range(0, 150, 50))
@pytest.mark.parametrize("copies_max", [1, 32])
def test_every_outcome_of_seeded_systems_is_the_interpreters(first: int, copies_max: int) -> None:
    for seed in range(first, first + 50):
        assert_same_outcomes(seeded_system(seed), copies_max)


def test_slots_that_never_change_take_no_bits() -> None:
    system = quorum_election(3, 3, 1)
    lowered = lower(system, Interpreter(system).initial_states())
    assert lowered.layout.width == 55  # no replica sends to itself
    assert {slot.name for slot in lowered.layout.slots if slot.fixed is not None} >= {
        "req[1][1]",
        "rep[3][3]",
    }


def test_bit_ranges_do_not_overlap() -> None:
    for seed in range(100):
        system = seeded_system(seed)
        layout = lower(system, ()).layout
        taken = 0
        for slot in layout.slots:
            bits = (1 << slot.width) - 1 << slot.offset
            assert taken & bits == 0
            assert slot.fixed is not None or slot.high < 1 << slot.width
            taken |= bits
        assert taken == (1 << layout.width) - 1


def assert_same_outcomes(system: System, copies_max: int) -> None:
    """In the first states of the search, by action, arguments and next state, and as often."""
    interpreter = Interpreter(system)
    try:
        initial = interpreter.initial_states()
    except EvaluationFault:
        return
    code = generate(lower(system, initial, copies_max), Wanted())
    for state in first_states(interpreter, initial):
        packed = pack(code.lowered.layout, state)
        assert unpack(code.lowered.layout, packed) == state
        assert generated_outcomes(code, packed) == Counter(interpreted_outcomes(interpreter, state))


def first_states(interpreter: Interpreter, initial: tuple[State, ...]) -> Iterator[State]:
    """The states found first, breadth first."""
    seen = dict.fromkeys(initial)
    waiting = list(initial)
    for number, state in enumerate(waiting):
        if number == STATES_MAX:
            return
        yield state
        for outcome in interpreter.outcomes(state):
            if isinstance(outcome, Taken) and outcome.step.state not in seen:
                seen[outcome.step.state] = None
                waiting.append(outcome.step.state)


def interpreted_outcomes(interpreter: Interpreter, state: State) -> Iterator[tuple[object, ...]]:
    """What can happen in a state by the reference interpreter."""
    for outcome in interpreter.outcomes(state):
        match outcome:
            case Taken(step):
                yield step.action, step.arguments, step.state
            case CutShort(action, arguments, _, _):
                yield action, arguments, "no step"
            case _:
                yield outcome.fault.action, outcome.fault.arguments, "no step"


def generated_outcomes(code: Code, packed: int) -> Counter[tuple[object, ...]]:
    """What can happen in a state by the generated code. Every next state is packed in the one way there is."""
    layout, instances = code.lowered.layout, code.lowered.instances
    found: list[int] = []
    by: list[int] = []
    stopped: list[int] = []
    for function in code.listing():
        function(packed, found.append, by.append, stopped.append)
    assert [pack(layout, unpack(layout, state)) for state in found] == found
    steps: Counter[tuple[object, ...]] = Counter(
        (instances[index].action, instances[index].arguments, unpack(layout, state))
        for state, index in zip(found, by, strict=True)
    )
    steps.update((instances[index].action, instances[index].arguments, "no step") for index in stopped)
    return steps
