"""The generated machine code does what the portable engine's functions say, and where these say too little what the
interpreter says."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from msgspec import Struct
from msgspec.structs import replace

from hacheck.checker.explicit.portable.condition_functions import wanted_by
from hacheck.checker.explicit.portable.python_program import Code, compiled, finding_source, generate
from hacheck.checker.explicit.property_conditions import NO_VALUE, Questions, pose
from hacheck.compile.codegen.basic_blocks import temp_kinds
from hacheck.compile.codegen.system_module import Mark, emit
from hacheck.compile.lowering.blocks import Branch, SearchTarget, SetTemp
from hacheck.compile.lowering.expression_graph import Graph
from hacheck.compile.lowering.layout import Layout, pack, unpack
from hacheck.compile.lowering.system import lower
from hacheck.model.interpreter import EvaluationError, Failed, Interpreter
from hacheck.model.ir import (
    FALSE,
    Assign,
    Binary,
    Choose,
    Constant,
    Domain,
    Expression,
    If,
    Local,
    Old,
    Require,
    System,
    Target,
    Unary,
    Variable,
)
from hacheck.model.language import Specification, load
from hacheck.model.types import Bool, Range, Set
from tests.models.small import action, asked, system
from tests.native.emitted import Native, linked
from tests.nightly import by_night, first_of
from tests.strategies import seeded_system, systems
from tests.strategies.costly import costly_system

ROOT = Path(__file__).parents[2]
SHIPPED = ("spec/icestorm.ha", "bench/quorum_election.ha")
CHECKS = [
    (path, name)
    for path in SHIPPED
    for name in re.findall(r"^check (\w+)", (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE)
]


@given(systems())
@settings(max_examples=40, deadline=None)
def test_compiled_system_does_what_the_portable_one_does(given_system: System) -> None:
    assert_same(given_system, 100)


@pytest.mark.parametrize("first", first_of(range(0, 160, 20)))
@pytest.mark.parametrize("copies_max", [1, 32])
def test_compiled_seeded_system_does_what_the_portable_one_does(first: int, copies_max: int) -> None:
    for seed in range(first, first + 20):
        assert_same(asking_more(seeded_system(seed, risky=seed % 2 == 0)), 150, copies_max)


@pytest.mark.parametrize(("path", "check"), by_night(CHECKS, lambda case: case[1] == "broken"))
def test_compiled_shipped_check_does_what_the_portable_one_does(path: str, check: str) -> None:
    instance = specification(path).instantiate(check=check)
    assert instance.system is not None
    assert_same(instance.system, 500)


@pytest.mark.parametrize("copies_max", [1, 4])
def test_numbers_at_the_border_of_a_word_are_as_the_portable_ones(copies_max: int) -> None:
    loaded = load(BORDERS, "borders.ha")
    assert loaded.specification is not None, loaded.diagnostics
    borders = loaded.specification.instantiate().system
    assert borders is not None
    assert_same(borders, 300, copies_max)


@pytest.mark.parametrize("copies_max", [1, 4])
def test_sets_of_more_than_a_word_are_as_the_portable_ones(copies_max: int) -> None:
    assert_same(wide_system(), 300, copies_max)


@pytest.mark.parametrize("words", [24, 25, 31])
def test_states_of_many_words_are_copied_as_the_portable_ones(words: int) -> None:
    numbers = [Variable(f"n{place}", Range(0, 2**60)) for place in range(words)]
    changed = [one for place, one in enumerate(numbers) if place % 7 == 3]
    more = [Assign(Target(one), Binary("+", one, Constant(1, Range(1, 1)))) for one in changed]
    below = [Require(Binary("<", changed[0], Constant(5, Range(0, 2**60))))]
    whole = system({one: place * 3 % 5 for place, one in enumerate(numbers)}, action(*below, *more))
    native = linked(emit(lower(whole, [tuple(2**60 - 1 for _ in numbers), tuple(0 for _ in numbers)])))
    assert native.program.words == words
    assert_same(whole, 20)


@pytest.mark.parametrize("first", first_of(range(0, 120, 12)))
@pytest.mark.parametrize("copies_max", [1, 8])
def test_conditions_of_costly_parts_are_as_the_portable_ones(first: int, copies_max: int) -> None:
    for seed in range(first, first + 12):
        assert_same(costly_system(seed), 60, copies_max)


def test_temporary_is_wide_enough_for_all_that_it_is_set_to() -> None:
    graph = Graph()
    signs = graph.make("sub", (graph.slot(0, 1), graph.slot(1, 1)), -1, 1)
    assert temp_kinds([(SetTemp(7, graph.one),)]) == {7: "i1"}
    assert temp_kinds([(SetTemp(7, signs), SetTemp(7, graph.zero))]) == {7: "i64"}
    assert temp_kinds([(SetTemp(7, graph.zero), Branch(graph.slot(0, 1), (SetTemp(7, signs),), ()))]) == {7: "i64"}


def test_step_condition_reads_what_the_step_leaves_alone() -> None:
    kept, changing = Variable("kept", Range(0, 3)), Variable("changing", Range(0, 3))
    step = action(Assign(Target(changing), Constant(2, Range(0, 3))))
    holds = asked("step", Binary("==", Old(kept), kept), "holds")
    fails = asked("step", Binary("<", changing, kept), "fails")
    whole = system({kept: 2, changing: 1}, step, properties=(holds, fails))
    assert_same(whole, 10)
    lowered = lower(whole, [(2, 1), (1, 1)])  # two initial states, so that nothing is a constant
    native = linked(emit(lowered, pose(lowered, ()).sought))
    native.expand([pack(native.program.layout, state) for state in ((2, 1), (1, 1))])
    noted = [native.notes.step_of(native.notes_array, number) for number in range(len(native.program.steps))]
    packed = [pack(native.program.layout, state) for state in ((2, 1), (2, 2))]
    assert dict(zip(native.program.steps, noted, strict=True)) == {"holds": None, "fails": tuple(packed)}


@cache
def specification(path: str) -> Specification:
    loaded = load((ROOT / path).read_text(encoding="utf-8"), path).specification
    assert loaded is not None
    return loaded


def asking_more(whole: System) -> System:
    """The system, asked too whether it gets stuck, and whether a variable ever changes."""
    changing = [Variable(variable.name, variable.type) for variable in whole.variables]
    still = [asked("step", Binary("==", Old(one), one), f"{one.name} stays") for one in changing]
    return replace(whole, properties=(*whole.properties, *still, asked("deadlock", FALSE, "goes on")))


# ---- systems with numbers that are wide ----

BORDERS = """
system Borders "sets of just a word and of a bit less, numbers below nothing and large ones"
node N[2] ranked {
  word: set of -3..60 = {}
  most: set of -3..59 = {-3, 59}
  low: -100..100 = 0
  big: 0..400000000 = 7
}
action add(n: N, x: 0..1) when size(n.word) < 3 do
  n.word := n.word with (if x == 0 then 60 else 0 - 3)
  n.most := if 60 in n.word then n.most with 59 else {x}
action sink(n: N) when n.low > -100 + 75 do n.low := n.low - 30 * (if 60 in n.word then 2 else 1)
action rise(n: N) when n.low < 0 do
  n.low := 0 - n.low
  n.big := if n.low > 20 then 400000000 - n.low else n.big * 3
action clear(n: N) when size(n.most) > 1 do
  n.most := {}
  n.word := n.word minus {60}
invariant bounded: every n: N satisfies n.low > -70 and n.big < 400000000
invariant apart: N(1).most != N(2).most or N(1).low - N(2).low < 50
step_invariant never_down: every n: N satisfies old(n.low) - n.low <= 30
check default expect all hold
"""


def wide_system() -> System:
    """Two sets over a hundred numbers, written on both sides of branches that meet again."""
    kind = Set(Range(0, 99))
    left, right, flag = Variable("left", kind), Variable("right", kind), Variable("flag", Bool())

    def number(value: int) -> Constant:
        return Constant(value, Range(0, 99))

    def some(*items: int) -> Constant:
        return Constant(frozenset(items), kind)

    def put(variable: Variable, value: Expression) -> Assign:
        return Assign(Target(variable), value)

    flip = action(put(flag, Unary("not", flag)), name="flip")
    drop = action(
        If(
            flag,
            (put(left, Binary("without", left, number(63))), put(right, Binary("union", right, some(2, 70)))),
            (put(left, Binary("without", left, number(99))),),
        ),
        If(
            Binary("in", number(64), left),
            (put(right, Binary("with", right, number(64))),),
            (put(right, Binary("minus", right, some(2))),),
        ),
        name="drop",
        guard=Binary("<", Constant(1, Range(0, 100)), Unary("size", left)),
    )
    give = action(
        put(left, Binary("intersect", Binary("union", left, right), some(1, 2, 63, 64, 65, 70))),
        name="give",
        guard=Unary("not", Binary("subset", right, left)),
    )
    take = action(
        Choose("x", Domain(Range(0, 99), right, None)),
        put(right, Binary("without", right, Local("x", Range(0, 99)))),
        name="take",
    )
    asked_of = (
        asked("invariant", Binary("in", number(1), left), "kept"),
        asked("invariant", Unary("not", Binary("==", left, some(1, 2, 64, 65, 70))), "never"),
        asked("reachable", Binary("==", right, some(2, 64, 70)), "met"),
        asked("step", Binary("subset", Old(right), right), "growing"),
    )
    start = {left: frozenset({1, 63, 64, 65, 99}), right: frozenset[int](), flag: False}
    return system(start, flip, drop, give, take, properties=asked_of)


# ---- one system, told twice ----


class Expanded(Struct, frozen=True):
    """A system's first states in the order of a search, as the portable engine has them. `by`: the instance that made
    each; `outcomes`: for each the instances with the state they lead to, -1 where an outcome is no step."""

    system: System
    code: Code
    questions: Questions
    states: list[int]
    by: list[int]
    outcomes: list[Counter[tuple[int, int]]]

    @property
    def layout(self) -> Layout:
        return self.code.lowered.layout


def assert_same(whole: System, states_max: int, copies_max: int = 1) -> None:
    """Everything that compiled functions return and note is as told by the portable ones."""
    try:
        initial = Interpreter(whole).initial_states()
    except EvaluationError:
        return
    lowered = lower(whole, initial, copies_max)
    questions = pose(lowered, ())
    code = generate(lowered, wanted_by(questions))
    expanded = explored(code, questions, [pack(lowered.layout, state) for state in initial], states_max)
    states = [sought for sought in questions.sought if sought.kind != "step"]
    marks = [Mark(sought.key, sought.wanted) for sought in states]
    for lists_stops in (False, True):
        native = linked(emit(lowered, questions.sought, questions.unblocking, marks, lists_stops))
        assert_same_outcomes(expanded, native, lists_stops)
        assert_same_notes(expanded, native)
    assert_same_conditions(expanded, native, states)


def explored(code: Code, questions: Questions, initial: list[int], states_max: int) -> Expanded:
    made_by = dict.fromkeys(initial, len(code.lowered.instances))
    outcomes: list[Counter[tuple[int, int]]] = []
    waiting = list(made_by)
    for state in waiting:
        found: list[int] = []
        by: list[int] = []
        stopped: list[int] = []
        for function in code.listing():
            function(state, found.append, by.append, stopped.append, stopped.append)
        steps = list(zip(by, found, strict=True))
        outcomes.append(Counter([*steps, *((instance, -1) for instance in stopped)]))
        for instance, successor in steps:
            if successor not in made_by and len(waiting) < states_max:
                made_by[successor] = instance
                waiting.append(successor)
    return Expanded(code.lowered.system, code, questions, waiting, list(made_by.values()), outcomes)


def translated(packed: int, source: Layout, target: Layout) -> int:
    """A state of one layout as the other has it."""
    return sum(
        (packed >> one.offset & (1 << one.width) - 1) << other.offset
        for one, other in zip(source.slots, target.slots, strict=True)
    )


def in_words(expanded: Expanded, native: Native) -> list[int]:
    """The states as compiled functions have them."""
    for state in expanded.states[:20]:
        same = pack(native.program.layout, unpack(expanded.layout, state))
        assert same == translated(state, expanded.layout, native.program.layout)
    return [translated(state, expanded.layout, native.program.layout) for state in expanded.states]


def assert_same_outcomes(expanded: Expanded, native: Native, lists_stops: bool) -> None:
    """The same instances lead to the same states, and the same of them are cut or an error."""
    states = in_words(expanded, native)
    packed: dict[int, int] = {-1: -1}
    batches = [states[:1], states[1:8], states[8:72], states[72:]]
    found = [outcomes for batch in batches if batch for outcomes in native.expand(batch)]
    for expected, outcomes in zip(expanded.outcomes, found, strict=True):
        for _, successor in outcomes:
            if successor not in packed:
                packed[successor] = translated(successor, native.program.layout, expanded.layout)
        same = Counter((instance, packed[successor]) for instance, successor in outcomes)
        assert same == (expected if lists_stops else Counter({one: n for one, n in expected.items() if one[1] >= 0}))


def assert_same_notes(expanded: Expanded, native: Native) -> None:
    """After the expansion of all states: numbers of steps and cuts, and the first of everything there is to note."""
    code, program, notes = expanded.code, native.program, native.notes
    counts, cuts = [0] * code.actions, [0] * len(code.bounds)
    faulty: list[int] = []
    unblocking: list[bool] = []
    hits: list[list[int]] = []
    for state in expanded.states:
        faults: list[tuple[int, int]] = []
        hit: list[list[tuple[int, int]]] = [[] for _ in range(code.watches)]
        alive = bytearray(1)
        for function in code.expand:
            function([state], set(), id, id, counts, cuts, faults, hit, alive)
        faulty += [state for _ in faults[:1]]
        unblocking.append(bool(alive[0]))
        hits.append([number for number, pairs in enumerate(hit) if pairs])
    assert notes.steps_of(native.notes_array) == counts
    assert dict(zip(program.bounds, notes.bounds_reached_of(native.notes_array), strict=True)) == dict(
        zip(code.bounds, cuts, strict=True)
    )
    assert_first_fault(expanded, native, faulty)
    dead = [state for state, alive in zip(expanded.states, unblocking, strict=True) if not alive]
    for number, sought in enumerate(sought for sought in expanded.questions.sought if sought.kind == "dead"):
        noted = notes.dead_of(native.notes_array, number)
        assert (None if noted is None else unpack(program.layout, noted)) == first(expanded, sought, dead)
    for number in range(len(program.steps)):
        firsts = [state for state, numbers in zip(expanded.states, hits, strict=True) if number in numbers]
        assert_first_step(expanded, native, number, firsts)


def first(expanded: Expanded, sought: SearchTarget, states: list[int]) -> object:
    """The first of some states that satisfies a condition, unpacked."""
    find = compiled(finding_source(expanded.code.lowered, sought.wanted), sought.key)["find"]
    found = find(states)
    return None if found is None else unpack(expanded.layout, found)


def assert_first_fault(expanded: Expanded, native: Native, faulty: list[int]) -> None:
    """The first state that has an error of the spec is noted, and of its instances that are one the first."""
    noted = native.notes.error_of(native.notes_array)
    if not faulty:
        assert noted is None
        return
    assert noted is not None
    state, instance = unpack(native.program.layout, noted[0]), noted[1]
    assert state == unpack(expanded.layout, faulty[0])
    interpreter = Interpreter(expanded.system)
    failing = [
        index
        for index, (action, arguments) in enumerate(native.program.instances)
        if any(isinstance(outcome, Failed) for outcome in interpreter.outcomes_with(action, arguments, state))
    ]
    assert instance == failing[0]


def assert_first_step(expanded: Expanded, native: Native, number: int, before: list[int]) -> None:
    """The first state is noted that has a step for which a condition holds, with such a step."""
    noted = native.notes.step_of(native.notes_array, number)
    if not before:
        assert noted is None
        return
    assert noted is not None
    state, successor = (unpack(native.program.layout, packed) for packed in noted)
    assert state == unpack(expanded.layout, before[0])
    place = expanded.states.index(before[0])
    assert any(target == pack(expanded.layout, successor) for _, target in expanded.outcomes[place])
    key = native.program.steps[number]
    interpreter = Interpreter(expanded.system)
    asked = next(item for item in expanded.system.properties if item.name == key.removeprefix(NO_VALUE))
    if key.startswith(NO_VALUE):
        with pytest.raises(EvaluationError):
            interpreter.holds_step(asked, state, successor)
    else:
        assert not interpreter.holds_step(asked, state, successor)


def assert_same_conditions(expanded: Expanded, native: Native, asked: list[SearchTarget]) -> None:
    """`inspect` notes the first state that satisfies each condition, `mark` all of them."""
    states, program = in_words(expanded, native), native.program
    for start in range(0, len(states), 50):
        native.inspect(states[start : start + 50], expanded.by[start : start + 50])
    for number, sought in enumerate(sought for sought in asked if sought.kind == "state"):
        noted = native.notes.state_of(native.notes_array, number)
        assert (None if noted is None else unpack(program.layout, noted)) == first(expanded, sought, expanded.states)
    for number, sought in enumerate(asked):
        find = compiled(finding_source(expanded.code.lowered, sought.wanted), sought.key)["find"]
        assert native.mark(number, states) == [find([state]) is not None for state in expanded.states]


def test_conditions_of_more_than_a_word_are_asked_until_they_are_hit() -> None:
    counted = Variable("counted", Range(0, 99))
    step = action(Assign(Target(counted), Binary("+", counted, Constant(1, Range(1, 1)))), name="count")
    bounded = replace(step, guard=Binary("<", counted, Constant(90, Range(0, 99))))
    for operator in ("==", "<="):  # hit in one state; hit in all that follow, too, of which the first is noted
        reached = [
            asked("reachable", Binary(operator, Constant(n, Range(0, 99)), counted), f"at {n}")
            for n in reversed(range(80))
        ]
        assert_same(system({counted: 0}, bounded, properties=reached), 200)


def test_what_is_joined_with_another_set_is_not_joined_with_the_set_that_is_written() -> None:
    kind = Set(Range(0, 3))
    own, other = Variable("own", kind), Variable("other", kind)

    def some(*items: int) -> Constant:
        return Constant(frozenset(items), kind)

    copy = action(Assign(Target(own), Binary("union", other, some(1))), name="copy")
    back = action(Assign(Target(other), Binary("union", some(0), own)), name="back")
    drop = action(Assign(Target(own), Binary("minus", own, some(1))), name="drop")
    clear = action(Assign(Target(other), some(2)), name="clear")
    without_one, without_two = Binary("minus", other, some(1)), Binary("minus", other, some(2))
    mix = action(Assign(Target(own), Binary("union", without_one, without_two)), name="mix")
    whole = system({own: frozenset({3}), other: frozenset({2})}, copy, back, drop, clear, mix)
    assert_same(asking_more(whole), 100)


def test_guards_that_read_several_words_are_as_the_portable_ones() -> None:
    numbers = [Variable(name, Range(0, (1 << 40) - 1)) for name in ("first", "second", "third")]
    steps = [
        action(Assign(Target(one), Binary("+", one, Constant(1, Range(1, 1)))), name=f"grow {one.name}")
        for one in numbers
    ]
    guarded = [
        replace(step, guard=Binary("<", one, Constant(most, one.type)))
        for most, step, one in zip((2, 3, 4), steps, numbers, strict=True)
    ]
    assert_same(system(dict.fromkeys(numbers, 0), *guarded), 100)
