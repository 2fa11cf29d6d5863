"""Random specs use every production of the grammar and every function of the language in a step that is reached."""

from __future__ import annotations

from tests.meanings.coverage import covered_by, exempt
from tests.meanings.productions import every_item

COVERING = (
    *(29, 30, 40, 53, 61, 78, 81, 145, 187, 220, 222, 259, 305, 344, 375, 402, 448, 471, 501, 622, 703, 707),
    *(719, 736, 780, 789, 809, 912, 944, 1121),
)
"""Seeds whose specs are enough. Another generator needs others: `python -m tests.meanings --cover 700` finds some."""


def test_every_production_and_function_is_executed() -> None:
    wanted = {item for item in every_item() if exempt(item) is None}
    assert len(wanted) > 800
    covered = frozenset().union(*(covered_by(seed) for seed in COVERING))
    assert sorted(wanted - covered) == []
