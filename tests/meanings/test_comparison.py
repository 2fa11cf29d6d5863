"""The two meanings of the language agree: on random specs."""

from __future__ import annotations

import pytest

from hacheck.model.language import Specification, load
from tests.meanings.exploring import compared, comparison
from tests.meanings.generator.program import seeded_program
from tests.meanings.old_mistakes import FAULT_EXCLUDED, KEY_FORGOTTEN, Mistake

STATES_MAX = 25
SEEDS = [range(first, first + 12) for first in range(95, 167, 12)]


def read(seed: int) -> Specification | None:
    """The random spec of a seed, unless it is refused."""
    program = seeded_program(seed)
    return load(program.text, "random.ha", program.read).specification


@pytest.mark.parametrize("seeds", SEEDS, ids=str)
def test_meanings_agree_on_random_specs(seeds: range) -> None:
    accepted = 0
    for seed in seeds:
        specification = read(seed)
        if specification is not None:
            accepted += 1
            found = compared(comparison(specification), STATES_MAX)
            assert found.differences == [], seed
    assert accepted >= 10


KEY = """system Key "A local used as a key only."
node A[2] { done: bool = false  second: bool = false }
shared g: map bool to 0..1 = 0
action go(a: A) when not a.done do
  choose q: bool
  a.done := true
  step one:
  a.second := q
  step two:
  g[q] := 1
"""
NOT_UP = """system NotUp "A fault after another."
node A { }
node B { }
faults { crash A up to 1 for good, crash B up to 1 for good when not up(A) }
invariant b_stays_up: up(B)
"""


@pytest.mark.parametrize(("mistake", "text"), [(KEY_FORGOTTEN, KEY), (FAULT_EXCLUDED, NOT_UP)], ids=lambda one: "")
def test_a_mistake_that_was_made_once_is_noticed(mistake: Mistake, text: str) -> None:
    specification = load(text, "mistake.ha").specification
    assert specification is not None
    assert compared(comparison(specification), 200).differences == []
    with mistake.made():
        assert compared(comparison(specification), 200).differences
