"""Random specs use every production of the grammar and every function of the language in a step that is reached."""

from __future__ import annotations

from tests.meanings.coverage import covered_by, exempt
from tests.meanings.productions import every_item

COVERING = (
    *(13, 21, 29, 30, 35, 45, 49, 59, 69, 83, 95, 116, 125, 146, 167, 181, 185, 210),
    *(222, 223, 237, 250, 320, 331, 481, 487, 510, 512, 516),
)
"""Seeds whose specs are enough. Another generator needs others: `python -m tests.meanings --cover 700` finds some."""


def test_every_production_and_function_is_executed() -> None:
    wanted = {item for item in every_item() if exempt(item) is None}
    assert len(wanted) > 800
    covered = frozenset().union(*(covered_by(seed) for seed in COVERING))
    assert sorted(wanted - covered) == []
