"""The native engine answers alike with reductions and without; the interpreter replays the runs it tells."""

from __future__ import annotations

import pytest

from hacheck.checker.engine import Answer, Limits, PropertyAnswer
from hacheck.checker.explicit.native_engine import NativeEngine
from hacheck.checker.explicit.portable.portable_engine import PortableEngine
from hacheck.checker.explicit.reduction_data import Dropped, Reductions, reduction_notes
from hacheck.model.ir import System
from hacheck.model.language import load
from hacheck.model.symmetry_types import SymmetryClass
from hacheck.model.types import Node
from tests.nightly import first_of
from tests.strategies.symmetric import symmetric_system

STATES_MAX = 2_000


@pytest.mark.parametrize("first", first_of(range(20_000, 20_030, 10)))
def test_reductions_change_no_answer(first: int) -> None:
    for seed in range(first, first + 10):
        system = symmetric_system(seed)
        whole = PortableEngine().check(system, (), Limits(states_max=STATES_MAX), lambda _: True)
        if not whole.coverage.complete:
            continue
        for names in ((), *((asked.name,) for asked in system.properties[:1])):
            answer = NativeEngine().check(system, names, Limits(), lambda _: True)
            assert_alike(system, whole, answer)


def assert_alike(system: System, whole: Answer, reduced: Answer) -> None:
    """Verdicts, lengths of finite runs, errors of the spec, bounds that cut, and alternatives that are not reached."""
    kinds = {asked.name: asked.kind for asked in system.properties}
    answers = {item.name: item for item in whole.properties}
    for item in reduced.properties:
        assert item.verdict == answers[item.name].verdict
        if kinds[item.name] not in ("eventually", "leads_to"):
            assert length(item) == length(answers[item.name])
    assert (reduced.error is None) == (whole.error is None)
    if reduced.error is not None and whole.error is not None:
        assert len(reduced.error.steps) == len(whole.error.steps)
    assert {name for name, _ in reduced.coverage.bounds_reached} == {name for name, _ in whole.coverage.bounds_reached}
    assert reduced.coverage.unreached == whole.coverage.unreached


def test_states_are_counted_in_words() -> None:
    found = Reductions((SymmetryClass(Node("S", 2, False), (1, 2)),))
    assert reduction_notes(found, 1, 1) == ("symmetry: S 1 and 2 are interchangeable, 1 state stands for 1",)
    assert reduction_notes(found, 3, 4) == ("symmetry: S 1 and 2 are interchangeable, 3 states stand for 4",)
    sliced = Reductions(dropped=(Dropped("S.second", 1, whole=True), Dropped("seen", 2, whole=False)))
    expected = ("sliced away: S.second, part of seen (3 bits), read by no checked property",)
    assert reduction_notes(sliced, 1) == expected


def length(item: PropertyAnswer) -> int | None:
    """Steps of the run told."""
    return None if item.run is None else len(item.run.steps)


@pytest.mark.parametrize(
    ("count", "claim", "said"),
    [
        (9, "some s: S where s.n == 0", "not by symmetry of Ss: only up to 8 nodes of a kind are exchanged"),
        (3, "(max s in all(S) by s.n).n == 0", "not by symmetry of Ss: i takes the first S where `max`"),
        (3, "some s: S where s.n == 0", ""),
    ],
)
def test_why_nodes_are_not_interchangeable_is_said(count: int, claim: str, said: str) -> None:
    text = (
        f"system Many\nnode S[{count}] symmetric {{ on: bool = false  n: 0..1 = 0 }}\n"
        f"action go(s: S) when not s.on do s.on := true\ninvariant i: {claim}\n"
    )
    specification = load(text, "many.ha").specification
    assert specification is not None
    system = specification.instantiate({}).system
    assert system is not None
    phrases = NativeEngine().check(system, (), Limits(), lambda _: True).reductions
    assert [one[: len(said)] for one in phrases if one.startswith("not ")] == [said] * bool(said)
    assert NativeEngine(reductions=False).check(system, (), Limits(), lambda _: True).reductions == ()


def test_the_other_of_a_pair_is_called_other() -> None:
    text = (
        "system Pair\nnode S[2] symmetric { on: bool = false }\n"
        "environment action go(s: S) when not other(s).on do s.on := true\n"
        "invariant i: no s: S where s.on and other(s).on\n"
    )
    specification = load(text, "pair.ha").specification
    assert specification is not None
    system = specification.instantiate({}).system
    assert system is not None
    assert NativeEngine().check(system, (), Limits(), lambda _: True).reductions == (
        "not by symmetry of Ss: go uses `other`, and 1 more reason",
    )
