"""Walks are runs: each step is one that the interpreter can take, and a walk ends where nothing more is possible."""

from __future__ import annotations

import numpy as np
import pytest

from hacheck import shipped
from hacheck.compile.lowering.layout import pack
from hacheck.model import ir
from hacheck.model.interpreter import EvaluationError, Interpreter, Taken
from hacheck.model.observing.line_writers import has_lines, logged
from hacheck.model.observing.record_layout import ObservingError
from hacheck.traces.simulation.line_variables import line_writing_system, points_of
from hacheck.traces.simulation.random_walk import NativeWalker, PortableWalker
from hacheck.traces.simulation.walk_lines import is_fixed
from hacheck.traces.simulation.walk_program import NoStart, compiled, initial_states
from tests.nightly import by_night, first_of
from tests.strategies.systems import seeded_system
from tests.traces.simulation.specs import EVERYTHING, system_of


def shipped_system(name: str) -> ir.System:
    """The system of a shipped spec that logs are compared with."""
    from hacheck.cli.sources import load_specification

    made = load_specification(name, no_color=True).instantiate({}, None, logs=True).system
    assert made is not None
    return logged(made, not has_lines(made))


def check_walks(system: ir.System, walker: NativeWalker, count: int, steps: int) -> int:
    """Follows walks by the interpreter, seen through the slots that the walk has. Returns how many steps there were."""
    interpreter = Interpreter(system)
    layout = walker.code.program.layout
    walked = walker.walk(0, count)
    assert walked.states is not None
    place = 0
    for states, length in zip(walked.states, walked.lengths.tolist(), strict=True):
        possible = {state for state in initial_states(system) if pack(layout, state) == states[0]}
        assert len(states) == length + 1
        for after in states[1:]:
            assert possible, "each state is one that the interpreter reaches"
            action, arguments = walker.instances[walked.by[place]]
            outcomes = (one for state in possible for one in interpreter.outcomes_with(action, arguments, state))
            reached = {one.step.state for one in outcomes if isinstance(one, Taken)}
            possible = {state for state in reached if pack(layout, state) == after}
            place += 1
        assert possible
        if length < steps:
            assert not any(isinstance(one, Taken) for state in possible for one in interpreter.outcomes(state))
    return place


@pytest.mark.parametrize("name", by_night(shipped.names(), lambda name: name.startswith("fiorano")))
def test_walks_of_shipped_specs_are_runs(name: str) -> None:
    system = shipped_system(name)
    shape = None if is_fixed(system) else line_writing_system(system)
    whole = system if shape is None else shape.system
    walker = NativeWalker(compiled(whole, shape), seed=5, steps=25, chunk=3, keeps=True)
    assert check_walks(whole, walker, 3, 25) == 75


@pytest.mark.parametrize("seed", first_of(range(30), 6))
def test_walks_of_random_systems_are_runs(seed: int) -> None:
    system = logged(seeded_system(seed), every_step=True)
    try:
        shape = None if seed % 2 and is_fixed(system) else line_writing_system(system)
        whole = system if shape is None else shape.system
        code = compiled(whole, shape)
    except (NoStart, EvaluationError, ObservingError):
        pytest.skip("it has no run, or draws several identities at once")
    walker = NativeWalker(code, seed=seed, steps=12, chunk=5, keeps=True)
    check_walks(whole, walker, 5, 12)


def test_a_walk_depends_on_its_number_only() -> None:
    shape = line_writing_system(system_of(EVERYTHING))
    code = compiled(shape.system, shape)
    together = NativeWalker(code, seed=9, steps=40, chunk=8).walk(0, 8)
    alone = NativeWalker(code, seed=9, steps=40, chunk=1)
    ends = np.cumsum(together.lengths)
    for number, end in enumerate(ends.tolist()):
        one = alone.walk(number, 1)
        assert one.by.tolist() == together.by[end - together.lengths[number] : end].tolist()
    other = NativeWalker(code, seed=10, steps=40, chunk=8).walk(0, 8)
    assert other.by.tolist() != together.by.tolist()


def test_every_possible_step_is_taken_equally_often() -> None:
    system = system_of(
        """
        system Choice "One of six."
        node N { n: 0..6 = 0 }
        action roll(n: N) when n.n == 0 do
          choose k: 1..6
          n.n := k
          log rolled(k: k)
        invariant fine: N.n <= 6
        """
    )
    shape = line_writing_system(system)
    walked = NativeWalker(compiled(shape.system, shape), seed=1, steps=3, chunk=6000).walk(0, 6000)
    assert walked.lengths.tolist() == [1] * 6000
    assert walked.content is not None
    _, columns = points_of(system)[1:]
    counts = np.bincount(walked.content[2], minlength=7)
    assert len(columns) == 1
    assert all(850 < count < 1150 for count in counts[counts > 0].tolist())
    assert (counts > 0).sum() == 6


def test_the_portable_program_walks_as_well() -> None:
    shape = line_writing_system(system_of(EVERYTHING))
    portable = PortableWalker(shape.system, shape, seed=2, steps=30)
    first, again = portable.walk(3, 4), portable.walk(3, 4)
    assert first.by.tolist() == again.by.tolist()
    assert first.lengths.tolist() == [30] * 4
    assert first.written is not None
    assert first.content is not None
    assert int(first.written.sum()) == len(first.content[0])
