"""The engines agree on random specs that use every word of the language."""

from __future__ import annotations

from pathlib import Path

import pytest

from hacheck.model.language import load
from tests.meanings import __main__ as command
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


def test_an_engine_that_fails_is_reported_and_the_other_seeds_are_compared(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def failing(system: object, states: object, cache: object) -> None:
        raise KeyError((5, 65))

    monkeypatch.setattr(command, "disagreements", failing)
    failed = command.compare(range(7_000, 7_004), 5, 30.0, "python")
    said = capsys.readouterr().out
    assert failed == said.count("KeyError: (5, 65)") == said.count("seed 70") > 1
