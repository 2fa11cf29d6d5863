"""The generated machine code does what the portable engine's functions say, and where these say too little what the
interpreter says."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings

from hacheck.checker.explicit.native.functions import Mark, emit
from hacheck.checker.explicit.portable.finders import wanted_by
from hacheck.checker.explicit.portable.program import Code, compiled, finding_source, generate
from hacheck.checker.explicit.questions import FAULT, Questions, Sought, pose
from hacheck.model.ir import System
from hacheck.model.language import Specification, load
from hacheck.model.lowering.layout import Layout, pack, unpack
from hacheck.model.lowering.system import lower
from hacheck.model.semantics import EvaluationFault, Failed, Interpreter
from tests.native.emitted import Native, linked
from tests.strategies import seeded_system, systems

ROOT = Path(__file__).parents[2]
SHIPPED = ("spec/icestorm.ha", "bench/quorum_election.ha")
CHECKS = [
    (path, name)
    for path in SHIPPED
    for name in re.findall(r"^check (\w+)", (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE)
]


@given(systems())
@settings(max_examples=40, deadline=None)
def test_compiled_system_does_what_the_portable_one_does(system: System) -> None:
    assert_same(system, 100)


@pytest.mark.parametrize("first", range(0, 160, 20))
@pytest.mark.parametrize("copies_max", [1, 32])
def test_compiled_seeded_system_does_what_the_portable_one_does(first: int, copies_max: int) -> None:
    for seed in range(first, first + 20):
        assert_same(seeded_system(seed, risky=seed % 2 == 0), 100, copies_max)


@pytest.mark.parametrize(("path", "check"), CHECKS)
def test_compiled_shipped_check_does_what_the_portable_one_does(path: str, check: str) -> None:
    system = specification(path).instantiate(check=check).system
    assert system is not None
    assert_same(system, 1_500)


@cache
def specification(path: str) -> Specification:
    loaded = load((ROOT / path).read_text(encoding="utf-8"), path).specification
    assert loaded is not None
    return loaded


# ---- one system, told twice ----


@dataclass(frozen=True)
class Told:
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


def assert_same(system: System, states_max: int, copies_max: int = 1) -> None:
    """Everything that compiled functions return and note is as told by the portable ones."""
    try:
        initial = Interpreter(system).initial_states()
    except EvaluationFault:
        return
    lowered = lower(system, initial, copies_max)
    questions = pose(lowered, ())
    code = generate(lowered, wanted_by(questions))
    told = explored(code, questions, [pack(lowered.layout, state) for state in initial], states_max)
    states = [sought for sought in questions.sought if sought.kind != "step"]
    marks = [Mark(sought.key, sought.wanted) for sought in states]
    for lists_stops in (False, True):
        native = linked(emit(lowered, questions.sought, questions.lively, marks, lists_stops))
        assert_same_outcomes(told, native, lists_stops)
        assert_same_notes(told, native)
    assert_same_conditions(told, native, states)


def explored(code: Code, questions: Questions, initial: list[int], states_max: int) -> Told:
    made_by = dict.fromkeys(initial, len(code.lowered.instances))
    outcomes: list[Counter[tuple[int, int]]] = []
    waiting = list(made_by)
    for state in waiting:
        found: list[int] = []
        by: list[int] = []
        stopped: list[int] = []
        for function in code.listing():
            function(state, found.append, by.append, stopped.append)
        steps = list(zip(by, found, strict=True))
        outcomes.append(Counter([*steps, *((instance, -1) for instance in stopped)]))
        for instance, successor in steps:
            if successor not in made_by and len(waiting) < states_max:
                made_by[successor] = instance
                waiting.append(successor)
    return Told(code.lowered.system, code, questions, waiting, list(made_by.values()), outcomes)


def in_words(told: Told, native: Native) -> list[int]:
    """The states as compiled functions have them."""
    return [pack(native.program.layout, unpack(told.layout, state)) for state in told.states]


def assert_same_outcomes(told: Told, native: Native, lists_stops: bool) -> None:
    """The same instances lead to the same states, and the same of them are cut or an error."""
    states = in_words(told, native)
    packed: dict[int, int] = {-1: -1}
    batches = [states[:1], states[1:8], states[8:72], states[72:]]
    found = [outcomes for batch in batches if batch for outcomes in native.expand(batch)]
    for expected, outcomes in zip(told.outcomes, found, strict=True):
        for _, successor in outcomes:
            if successor not in packed:
                packed[successor] = pack(told.layout, unpack(native.program.layout, successor))
        same = Counter((instance, packed[successor]) for instance, successor in outcomes)
        assert same == (expected if lists_stops else Counter({one: n for one, n in expected.items() if one[1] >= 0}))


def assert_same_notes(told: Told, native: Native) -> None:
    """After the expansion of all states: numbers of steps and cuts, and the first of everything there is to note."""
    code, program, notes = told.code, native.program, native.notes
    counts, cuts = [0] * code.actions, [0] * len(code.bounds)
    faulty: list[int] = []
    lively: list[bool] = []
    hits: list[list[int]] = []
    for state in told.states:
        faults: list[tuple[int, int]] = []
        hit: list[list[tuple[int, int]]] = [[] for _ in range(code.watches)]
        alive = bytearray(1)
        for function in code.expand:
            function([state], set(), id, id, counts, cuts, faults, hit, alive)
        faulty += [state for _ in faults[:1]]
        lively.append(bool(alive[0]))
        hits.append([number for number, pairs in enumerate(hit) if pairs])
    assert notes.steps_of(native.notes_array) == counts
    assert dict(zip(program.bounds, notes.cuts_of(native.notes_array), strict=True)) == dict(
        zip(code.bounds, cuts, strict=True)
    )
    assert_first_fault(told, native, faulty)
    dead = [state for state, alive in zip(told.states, lively, strict=True) if not alive]
    for number, sought in enumerate(sought for sought in told.questions.sought if sought.kind == "dead"):
        noted = notes.dead_of(native.notes_array, number)
        assert (None if noted is None else unpack(program.layout, noted)) == first(told, sought, dead)
    for number in range(len(program.steps)):
        firsts = [state for state, numbers in zip(told.states, hits, strict=True) if number in numbers]
        assert_first_step(told, native, number, firsts)


def first(told: Told, sought: Sought, states: list[int]) -> object:
    """The first of some states that satisfies a condition, unpacked."""
    find = compiled(finding_source(told.code.lowered, sought.wanted), sought.key)["find"]
    found = find(states)
    return None if found is None else unpack(told.layout, found)


def assert_first_fault(told: Told, native: Native, faulty: list[int]) -> None:
    """The first state that has an error of the spec is noted, and of its instances that are one the first."""
    noted = native.notes.fault_of(native.notes_array)
    if not faulty:
        assert noted is None
        return
    assert noted is not None
    state, instance = unpack(native.program.layout, noted[0]), noted[1]
    assert state == unpack(told.layout, faulty[0])
    interpreter = Interpreter(told.system)
    failing = [
        index
        for index, (action, arguments) in enumerate(native.program.instances)
        if any(isinstance(outcome, Failed) for outcome in interpreter.outcomes_with(action, arguments, state))
    ]
    assert instance == failing[0]


def assert_first_step(told: Told, native: Native, number: int, before: list[int]) -> None:
    """The first state is noted that has a step for which a condition holds, with such a step."""
    noted = native.notes.step_of(native.notes_array, number)
    if not before:
        assert noted is None
        return
    assert noted is not None
    state, successor = (unpack(native.program.layout, packed) for packed in noted)
    assert state == unpack(told.layout, before[0])
    place = told.states.index(before[0])
    assert any(target == pack(told.layout, successor) for _, target in told.outcomes[place])
    key = native.program.steps[number]
    interpreter = Interpreter(told.system)
    asked = next(item for item in told.system.properties if item.name == key.removeprefix(FAULT))
    if key.startswith(FAULT):
        with pytest.raises(EvaluationFault):
            interpreter.holds_step(asked, state, successor)
    else:
        assert not interpreter.holds_step(asked, state, successor)


def assert_same_conditions(told: Told, native: Native, asked: list[Sought]) -> None:
    """`inspect` notes the first state that satisfies each condition, `mark` all of them."""
    states, program = in_words(told, native), native.program
    for start in range(0, len(states), 50):
        native.inspect(states[start : start + 50], told.by[start : start + 50])
    for number, sought in enumerate(sought for sought in asked if sought.kind == "state"):
        noted = native.notes.state_of(native.notes_array, number)
        assert (None if noted is None else unpack(program.layout, noted)) == first(told, sought, told.states)
    for number, sought in enumerate(asked):
        find = compiled(finding_source(told.code.lowered, sought.wanted), sought.key)["find"]
        assert native.mark(number, states) == [find([state]) is not None for state in told.states]
