"""A program is plain data: it comes back from JSON as it was, and JSON that is no program is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from hacheck.checker.explicit.property_conditions import pose
from hacheck.compile.codegen.generated_program import Program, ProgramError, program_from_json, program_to_json
from hacheck.compile.codegen.system_module import Mark, emit
from hacheck.compile.codegen.thread_notes import notes_for
from hacheck.compile.lowering.layout import pack, unpack
from hacheck.compile.lowering.system import lower
from hacheck.model.interpreter import EvaluationError, Interpreter
from hacheck.model.ir import System
from tests.models.quorum_election import quorum_election
from tests.strategies import seeded_system

ELECTION = quorum_election(3, 2, 1)


def program_of(system: System, lists_stops: bool = False) -> Program:
    lowered = lower(system, Interpreter(system).initial_states())
    questions = pose(lowered, ())
    marks = [Mark(sought.key, sought.wanted) for sought in questions.sought if sought.kind == "state"]
    return emit(lowered, questions.sought, questions.unblocking, marks, lists_stops).program


def test_program_comes_back_from_json() -> None:
    for seed in range(60):
        system = seeded_system(seed)
        try:
            program = program_of(system, lists_stops=seed % 2 == 0)
        except EvaluationError:
            continue
        text = json.dumps(program_to_json(program, system))
        assert program_from_json(json.loads(text), system) == program


def test_program_read_from_json_reads_states() -> None:
    program = program_from_json(program_to_json(program_of(ELECTION), ELECTION), ELECTION)
    for state in Interpreter(ELECTION).initial_states():
        assert unpack(program.layout, pack(program.layout, state)) == state


def changed(path: tuple[Any, ...], value: Any) -> Callable[[Any], Any]:
    """What puts another value at a path of the JSON."""

    def change(given: Any) -> Any:
        inner = given
        for step in path[:-1]:
            inner = inner[step]
        inner[path[-1]] = value
        return given

    return change


@pytest.mark.parametrize(
    "change",
    [
        lambda given: [given],
        lambda given: {name: value for name, value in given.items() if name != "words"},
        changed(("more",), 1),
        changed(("format",), 0),
        changed(("actions",), 1),
        changed(("words",), 7),
        changed(("words",), True),
        changed(("successors_max",), -1),
        changed(("successors_max",), 1.5),
        changed(("lists_stops",), 0),
        changed(("bounds",), "abc"),
        changed(("states", 0), 3),
        changed(("slots",), []),
        changed(("slots", 0, 1), 63),
        changed(("slots", 0), [0, 1]),
        changed(("slots", 0, 2), 99),
        changed(("slots", 0, 0), -1),
        changed(("instances", 0, 0), 99),
        changed(("instances", 0, 1), 99),
        changed(("instances", 0), [0]),
        changed(("instances",), {}),
        changed(("affected",), []),
        changed(("affected", 0), "-1"),
        changed(("affected", 0), "fffffffffffff"),
        changed(("affected", 0), 3),
    ],
)
def test_json_that_is_no_program_is_refused(change: Callable[[Any], Any]) -> None:
    given = json.loads(json.dumps(program_to_json(program_of(ELECTION), ELECTION)))
    with pytest.raises(ProgramError):
        program_from_json(change(given), ELECTION)


def test_program_of_another_system_is_refused() -> None:
    given = program_to_json(program_of(ELECTION), ELECTION)
    with pytest.raises(ProgramError):
        program_from_json(given, quorum_election(4, 2, 1))


def test_notes_are_apart() -> None:
    notes = notes_for(words=3, actions=2, bounds=1, conditions=70, deads=2, steps=2)
    taken = [notes.pending, notes.pending + 1, notes.events, notes.least_error, notes.alive]
    taken += [notes.steps, notes.steps + 1, notes.bounds_reached]
    taken += range(notes.error, notes.error + 2 + 3)
    for number in range(70):
        taken += range(notes.state_hit(number), notes.state_hit(number) + 4)
    for number in range(2):
        taken += range(notes.dead_hit(number), notes.dead_hit(number) + 4)
        taken += range(notes.step_hit(number), notes.step_hit(number) + 7)
    assert sorted(taken) == list(range(notes.size))


def test_new_notes_ask_everything_and_have_nothing() -> None:
    notes = notes_for(words=1, actions=2, bounds=1, conditions=65, deads=1, steps=1)
    array = notes.new()
    assert array[notes.pending : notes.pending + 2].tolist() == [(1 << 64) - 1, 1]
    assert notes.steps_of(array) == [0, 0]
    assert notes.bounds_reached_of(array) == [0]
    assert notes.error_of(array) is None
    assert {notes.state_of(array, number) for number in range(65)} == {None}
    assert notes.dead_of(array, 0) is None
    assert notes.step_of(array, 0) is None
    notes.drop(array, 64)
    notes.drop(array, 3)
    assert array[notes.pending : notes.pending + 2].tolist() == [(1 << 64) - 1 - 8, 0]
    notes.ask(array, 3)
    assert array[notes.pending] == (1 << 64) - 1


def test_error_is_noted_with_its_instance() -> None:
    notes = notes_for(2, 1, 0, 0, 0, 0)
    noted = notes.new()
    assert notes.error_of(noted) is None
    for place, content in enumerate((1, 7, 5, 9)):
        noted[notes.error + place] = content
    assert notes.error_of(noted) == (5 + (9 << 64), 7)
