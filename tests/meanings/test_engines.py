"""The engines agree on random specs that use every word of the language."""

from __future__ import annotations

from pathlib import Path

import pytest

from hacheck.model.language import load
from tests.meanings.engines import disagreements
from tests.meanings.exploring import compared, comparison
from tests.meanings.generator.program import seeded_program
from tests.nightly import first_of

TOGETHER = 20


@pytest.mark.parametrize("first", first_of(range(7_000, 8_000, TOGETHER), 2))
def test_engines_agree_on_random_specs(first: int, tmp_path: Path) -> None:
    compared_systems = 0
    for seed in range(first, first + TOGETHER):
        program = seeded_program(seed)
        specification = load(program.text, "random.ha", program.read).specification
        if specification is None:
            continue
        two = comparison(specification)
        found = compared(two, 25)
        more = disagreements(two.system, found.states if found.complete else None, tmp_path)
        if more is not None:
            compared_systems += 1
            assert list(more) == [], seed
    assert compared_systems > TOGETHER // 2
