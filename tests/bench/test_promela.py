"""What is printed as Promela is well formed; where Spin is installed, it finds the same states and steps, no others."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from promela import promela
from promela_text import NotInPromela
from spin import Verified, missing, verifier
from systems import system_of

from hacheck.checker.engine import Answer, Limits
from hacheck.checker.explicit.portable.portable_engine import PortableEngine
from hacheck.model.interpreter import Interpreter
from hacheck.model.ir import FALSE, Assign, Choose, Constant, Domain, Local, Require, System, Target, Variable
from hacheck.model.types import Bool, Enum, Range, Set
from tests.models import small
from tests.models.quorum_election import REFERENCE
from tests.nightly import first_of, nightly
from tests.strategies import seeded_system

ROOT = Path(__file__).resolve().parents[2]
UNOPTIMISED = ("-O0", "-DSAFETY", "-DNOREDUCE")

needs_spin = pytest.mark.skipif(missing() is not None, reason=f"{missing()}")


def found_by_spin(system: System, folder: Path) -> Verified:
    """What Spin finds, without its own steps: it chooses among several initial states by a step from one more state,
    and counts its start as a step."""
    verified = verifier(promela(system), folder, UNOPTIMISED).run(slots=18)
    starts = len(set(Interpreter(system).initial_states()))
    chosen = (1, starts) if starts > 1 else (0, 0)
    return Verified(verified.states - chosen[0], verified.steps - chosen[1] - 1, verified.vector_bytes, verified.cost)


def found_by_hacheck(system: System) -> Answer:
    """What the portable engine finds; every question is left out, so that nothing ends the search early."""
    return PortableEngine().check(system, (), Limits(), lambda _: True)


@needs_spin
@pytest.mark.parametrize("size", [(2, 2, 1), (3, 1, 1)], ids=str)
def test_spin_finds_the_reference_counts(size: tuple[int, int, int], tmp_path: Path) -> None:
    settings = dict(zip(("replicas", "terms", "crashes"), map(str, size), strict=True))
    verified = found_by_spin(system_of(ROOT / "bench" / "quorum_election.ha", settings=settings), tmp_path)
    assert (verified.states, verified.steps) == REFERENCE[size][:2]


@needs_spin
@pytest.mark.parametrize("check", [pytest.param("stamp_wiped", marks=nightly)])
def test_spin_finds_the_states_of_icestorm(check: str, tmp_path: Path) -> None:
    system = system_of(ROOT / "spec" / "icestorm.ha", check)
    coverage = found_by_hacheck(system).coverage
    assert coverage.complete
    verified = found_by_spin(system, tmp_path)
    assert (verified.states, verified.steps) == (coverage.states, coverage.transitions)


@needs_spin
@pytest.mark.parametrize("seed", first_of(range(4_000, 4_016), 4))
def test_spin_finds_the_states_of_random_systems(seed: int, tmp_path: Path) -> None:
    system = seeded_system(seed, risky=False)
    coverage = found_by_hacheck(system).coverage
    assert coverage.complete
    verified = found_by_spin(system, tmp_path)
    assert (verified.states, verified.steps) == (coverage.states, coverage.transitions)


@needs_spin
def test_spin_starts_in_every_initial_state(tmp_path: Path) -> None:
    number, flag = Variable("number", Range(0, 9)), Variable("flag", Bool())
    choices = Choose("x", Domain(Range(0, 9), None, None)), Assign(Target(number), Local("x", Range(0, 9)))
    step = small.action(Assign(Target(flag), Constant(True, Bool())))
    system = small.system({number: 0, flag: False}, step, initial=choices)
    verified = found_by_spin(system, tmp_path)
    assert (verified.states, verified.steps) == (20, 20)


def test_every_name_is_declared_once() -> None:
    text = promela(system_of(ROOT / "spec" / "icestorm.ha", "smoke"))
    declared = re.findall(r"^(?:bit|unsigned|hidden byte|hidden short|hidden int) (\w+)", text, re.MULTILINE)
    assert len(declared) == len(set(declared))
    body = re.sub(r"/\*.*?\*/", "", text[text.index("active proctype") :])
    used = set(re.findall(r"\b[stmwx]\d*_?\w*\d\w*\b", body))
    assert used
    assert used <= set(declared)


def test_names_that_differ_in_signs_only_stay_apart() -> None:
    marks = Variable("a b", Range(0, 1)), Variable("a.b", Range(0, 1)), Variable("a_b", Range(0, 1))
    steps = [
        small.action(Assign(Target(mark), Constant(1, Range(0, 1))), name=f"step{number}")
        for number, mark in enumerate(marks)
    ]
    text = promela(small.system(dict.fromkeys(marks, 0), *steps))
    assert re.findall(r"^bit (\w+)", text, re.MULTILINE) == ["s_a_b", "s_a_b__2", "s_a_b__3"]


def test_system_that_cannot_start_is_refused() -> None:
    number = Variable("number", Range(0, 1))
    with pytest.raises(NotInPromela, match="no initial state"):
        promela(small.system({number: 0}, small.action(), initial=(Require(FALSE),)))


def test_number_that_promela_lacks_is_refused() -> None:
    wide = Set(Enum("Letter", tuple(f"l{number}" for number in range(40))))
    letters = Variable("letters", wide)
    body = Assign(Target(letters), Constant(frozenset({"l39"}), wide))
    with pytest.raises(NotInPromela, match="does not fit"):
        promela(small.system({letters: frozenset()}, small.action(body)))
