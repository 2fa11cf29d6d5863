"""What compiled functions say of small systems, beside what the portable engine's functions say of them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from msgspec.structs import replace

from hacheck.checker.explicit.property_conditions import pose
from hacheck.compile.codegen.system_module import Mark, emit
from hacheck.compile.lowering.system import lower
from hacheck.model.interpreter import EvaluationError, Interpreter
from hacheck.model.ir import System
from hacheck.model.language import load
from tests.mutation.corpus import Case, specifications
from tests.native.test_emission import BORDERS, asking_more, assert_same, wide_system
from tests.strategies import seeded_system
from tests.strategies.costly import costly_system

STATES_MAX = 60
COPIES_MAX = 4
TEXT_MAX = 60_000
"""Systems with more code than this take too long to compile for every mutant."""


def native_cases(seeds: int) -> Iterator[Case]:
    """Systems with wide numbers and sets, random ones, and what the documented specs and random ones mean."""
    loaded = load(BORDERS, "borders.ha").specification
    assert loaded is not None
    borders = loaded.instantiate().system
    assert borders is not None
    many = replace(borders, properties=tuple(replace(borders.properties[0], name=f"p{n}") for n in range(70)))
    systems = {"borders": borders, "wide": wide_system(), "many properties": many}
    systems |= {f"system {seed}": asking_more(seeded_system(seed)) for seed in range(seeds)}
    systems |= {f"costly conditions {seed}": costly_system(seed) for seed in range(seeds // 3)}
    systems |= {name: made for name, one in specifications(seeds) if (made := one.instantiate().system) is not None}
    for name, whole in systems.items():
        for copies_max in (1, COPIES_MAX):
            text = emitted(whole, copies_max)
            if len(text) < TEXT_MAX:
                yield Case(f"{name}, {copies_max} copies", partial(_compared, whole, copies_max, text), text)


def emitted(whole: System, copies_max: int) -> str:
    """The code of a system as text; nothing where it has no state to begin in."""
    try:
        initial = Interpreter(whole).initial_states()
    except EvaluationError:
        return ""
    lowered = lower(whole, initial, copies_max)
    questions = pose(lowered, ())
    marks = [Mark(sought.key, sought.wanted) for sought in questions.sought if sought.kind != "step"]
    texts = [emit(lowered, questions.sought, questions.unblocking, marks, stops).ir for stops in (False, True)]
    return "\n".join(map(str, texts))


def _compared(whole: System, copies_max: int, before: str) -> str:
    """The same text where the same code is made, or code that does the same."""
    if emitted(whole, copies_max) != before:
        assert_same(whole, STATES_MAX, copies_max)
    return before
