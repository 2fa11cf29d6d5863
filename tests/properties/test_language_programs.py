"""Random `.ha` files mean something, the same to every engine, and need no local that is not kept."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hacheck.checker.explicit.native_engine import NativeEngine
from hacheck.checker.explicit.portable.portable_engine import PortableEngine
from hacheck.model.ir import System
from hacheck.model.language import load
from hacheck.model.language.format import format_text
from hacheck.model.system_text import parse_system, print_system
from tests.models.engines import EVERY, ExplicitEngine
from tests.models.exploration import Explored, explore
from tests.nightly import nightly
from tests.properties.agreement import assert_agrees
from tests.properties.keeping import assert_same
from tests.properties.scale import examples, seeds
from tests.strategies import Seeded, programs, random_program

STATES_MAX = 400


def system_of(text: str) -> System:
    read = load(text, "random.ha")
    assert read.specification is not None, (text, read.diagnostics)
    made = read.specification.instantiate().system
    assert made is not None
    return made


@cache
def explored(seed: int) -> tuple[System, Explored]:
    """A system, and all of it by the interpreter."""
    system = system_of(random_program(Seeded(seed)))
    return system, explore(system, STATES_MAX)


@given(programs())
@examples(15)
def test_engines_agree_with_the_interpreter(text: str) -> None:
    system = system_of(text)
    expected = explore(system, STATES_MAX)
    assume(expected.complete)
    assert_agrees(PortableEngine(), system, expected)
    assert_agrees(NativeEngine(reductions=False), system, expected)


@pytest.mark.parametrize("engine", EVERY)
@seeds(0, 45, together=9)
def test_engines_agree_with_the_interpreter_on_seeded_programs(seeds: range, engine: ExplicitEngine) -> None:
    for seed in seeds:
        assert_agrees(engine, *explored(seed))


@seeds(0, 60, together=10)
def test_dropped_locals_are_never_missed(seeds: range) -> None:
    """(A local that is kept for ever keeps the identity in it from being drawn again.)"""
    for seed in seeds:
        assert_same(random_program(Seeded(seed), identities=False))


@given(st.integers(0, 1_000_000))
@examples(30)
def test_text_forms_are_read_back(seed: int) -> None:
    text = random_program(Seeded(seed))
    system = system_of(text)
    assert parse_system(print_system(system)) == system
    assert system_of(format_text(text)) == system


@nightly
def test_random_programs_are_worth_exploring() -> None:
    """Most are explored as a whole, many have some size, and what is asked of many is decided."""
    found = [explored(seed)[1] for seed in range(45)]
    whole = [one for one in found if one.complete]
    assert len(whole) >= 25
    assert sum(one.states >= 20 for one in whole) >= 15
    assert sum(bool(one.decided) for one in whole) >= 15
