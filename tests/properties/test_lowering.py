"""The lowered form, printed as Python, has exactly the outcomes of the reference interpreter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from msgspec.structs import replace

from hacheck.checker.explicit.portable.python_program import Code, Wanted, generate
from hacheck.compile.lowering.layout import pack, slots_of, unpack
from hacheck.compile.lowering.lowered_text import lowered_text
from hacheck.compile.lowering.system import block_size, lower
from hacheck.model.interpreter import EvaluationError, Interpreter, StoppedAtBound, Taken
from hacheck.model.ir import (
    TRUE,
    Action,
    ActionKind,
    Assign,
    Binary,
    Conditional,
    Constant,
    Expression,
    If,
    Require,
    Statement,
    StateVariable,
    System,
    Target,
    Variable,
)
from hacheck.model.language import load
from hacheck.model.runs import State
from hacheck.model.types import Range, Set
from tests.models.quorum_election import quorum_election
from tests.models.small import action
from tests.models.small import system as small_system
from tests.nightly import first_of
from tests.strategies import seeded_system, systems
from tests.strategies.costly import costly_system

STATES_MAX = 60

# What the actions of `long_action` have in common behind their body: kind, actor, peer, handler, words, source, line.
NOBODYS: tuple[ActionKind, None, None, str, str, str, int] = ("protocol", None, None, "long", "", "", 0)


@given(systems())
@settings(max_examples=40)
def test_every_outcome_is_the_interpreters(system: System) -> None:
    assert_same_outcomes(system, copies_max=32)


@given(systems())
@settings(max_examples=25)
def test_every_outcome_is_the_interpreters_where_branches_merge(system: System) -> None:
    assert_same_outcomes(system, copies_max=1)


@pytest.mark.parametrize("first", first_of(range(0, 150, 50)))
@pytest.mark.parametrize("copies_max", [1, 32])
def test_every_outcome_of_seeded_systems_is_the_interpreters(first: int, copies_max: int) -> None:
    for seed in range(first, first + 50):
        assert_same_outcomes(seeded_system(seed), copies_max)


@pytest.mark.parametrize("first", first_of(range(0, 120, 20)))
@pytest.mark.parametrize("copies_max", [1, 4])
def test_every_outcome_of_nested_branches_is_the_interpreters(first: int, copies_max: int) -> None:
    for seed in range(first, first + 20):
        assert_same_outcomes(costly_system(seed), copies_max)


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
        assert sorted(slot for place in layout.places for slot in slots_of(place)) == list(range(len(layout.slots)))


WRITTEN_AND_CHOSEN = """system Case "A key that changes, and a choice in one of two branches, before more is done."
node S { kept: map 1..3 to 0..2 = 0  at: 1..3 = 1  n: 0..3 = 0  m: 0..3 = 0 }
action put(s: S) when s.n < 3 do
  s.kept[s.at] := s.n
  s.n := s.n + 1
action turn(s: S) do s.at := if s.at == 3 then 1 else s.at + 1
action pick(s: S) when s.m < 3 do
  if s.n > 0 then {
    if s.at > 1 then {
      choose v: 1..2
      s.kept[1] := v
    } else s.kept[1] := 0
  }
  s.m := s.m + 1
"""


@pytest.mark.parametrize("copies_max", [1, 2, 32])
def test_what_comes_behind_a_key_that_changes_or_a_choice_is_done_as_well(copies_max: int) -> None:
    loaded = load(WRITTEN_AND_CHOSEN, "case.ha")
    assert loaded.specification is not None, loaded.diagnostics
    whole = loaded.specification.instantiate().system
    assert whole is not None
    assert_same_outcomes(whole, copies_max)


def assert_same_outcomes(system: System, copies_max: int) -> None:
    """In the first states of the search, by action, arguments and next state, and as often."""
    interpreter = Interpreter(system)
    try:
        initial = interpreter.initial_states()
    except EvaluationError:
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
            case StoppedAtBound(action, arguments, _, _):
                yield action, arguments, "no step"
            case _:
                yield outcome.error.action, outcome.error.arguments, "no step"


def generated_outcomes(code: Code, packed: int) -> Counter[tuple[object, ...]]:
    """What can happen in a state by the generated code. Every next state is packed in the one way there is."""
    layout, instances = code.lowered.layout, code.lowered.instances
    found: list[int] = []
    by: list[int] = []
    stopped: list[int] = []
    for function in code.listing():
        function(packed, found.append, by.append, stopped.append, stopped.append)
    assert [pack(layout, unpack(layout, state)) for state in found] == found
    steps: Counter[tuple[object, ...]] = Counter(
        (instances[index].action, instances[index].arguments, unpack(layout, state))
        for state, index in zip(found, by, strict=True)
    )
    steps.update((instances[index].action, instances[index].arguments, "no step") for index in stopped)
    return steps


def test_lowered_form_reads_like_the_model() -> None:
    system = quorum_election(2, 1, 0)
    lowered = lower(system, Interpreter(system).initial_states())
    text = lowered_text(lowered)
    assert "DropReq(i: Replica 1, j: Replica 2) when req[1][2]\n  step req[1][2] := 0\n" in text
    # without crashes every replica is always up, and none sends to itself
    assert text.startswith("18 bits\n    0 +1   0..1      req[1][2]\n")


@pytest.mark.parametrize("length", [50, 250])
@pytest.mark.parametrize("shape", ["checked", "divided", "required"])
def test_long_actions_are_lowered_in_linear_size(shape: str, length: int) -> None:
    system = long_action(shape, length)
    lowered = lower(system, Interpreter(system).initial_states())
    assert sum(block_size(instance.block) for instance in lowered.instances) <= 30 * length
    assert_same_outcomes(system, copies_max=4)


def long_action(shape: str, length: int) -> System:
    """One action of many statements on four bits, each of which may fail, divide the path, or block."""
    bit = Range(0, 1)
    bits = [Variable(f"bit{place}", bit) for place in range(4)]
    one = Constant(1, Range(1, 1))
    body: list[Statement] = []
    for place in range(length):
        a, b, c, d = (bits[(place * factor + shift) % 4] for factor, shift in ((1, 0), (3, 1), (1, 2), (1, 3)))
        if shape == "checked":
            body.append(Assign(Target(a), Binary("-", one, Binary("*", b, Binary("-", Binary("+", c, d), a)))))
        elif shape == "divided":
            body.append(If(Binary("==", a, b), (Assign(Target(c), b),), (Assign(Target(d), one),)))
        else:
            body.append(Assign(Target(a), Binary("-", one, b)))
            body.append(Require(Binary("or", Binary("==", a, b), Binary("==", c, Constant(place % 2, bit)))))
    flips = [
        Action(f"flip{place}", (), TRUE, (Assign(Target(at), Binary("-", one, at)),), *NOBODYS)
        for place, at in enumerate(bits)
    ]
    return replace(
        quorum_election(2, 1, 0),
        variables=tuple(StateVariable(at.name, bit, 0, None, "shared") for at in bits),
        actions=(Action("long", (), TRUE, tuple(body), *NOBODYS), *flips),
        properties=(),
    )


@pytest.mark.parametrize("levels", [30, 150])
def test_deep_expressions_are_computed_step_by_step(levels: int) -> None:
    small = Range(0, 3)
    first, second, total = Variable("first", small), Variable("second", small), Variable("total", Range(0, 6))
    value: Expression = first
    for level in range(levels):
        reached = Binary("==", value, Constant(level % 4, small))
        value = Conditional(reached, second, Constant((level + 1) % 4, small))
    again = Conditional(Binary("==", value, second), first, Constant(3, small))
    sum_of_both = Conditional(Binary("==", total, Constant(6, total.type)), total, Binary("+", value, again))
    deep = action(Assign(Target(first), value), Assign(Target(second), again), name="deep")
    added = action(Assign(Target(total), Binary("+", value, again)), name="added")
    later = action(Assign(Target(first), value), Assign(Target(total), sum_of_both), name="later")
    marks = Variable("marks", Set(small))
    one, other = Constant(frozenset({1}), marks.type), Constant(frozenset({2}), marks.type)
    marked = Binary("union", marks, Conditional(Binary("==", value, second), one, other))
    mark = action(Assign(Target(marks), marked), name="mark")
    initial = {first: 0, second: 1, total: 0, marks: frozenset({0})}
    assert_same_outcomes(small_system(initial, deep, added, later, mark), 32)
