"""The comparison with TLC: which texts it compares, and that only a finished exploration counts."""

from __future__ import annotations

import pytest
from tlc import MODELS, PAIRS, TEXTS, states_of

FINISHED = """\
Model checking completed. No error has been found.
  Estimates of the probability that TLC did not check all reachable states
2496351 states generated, 724274 distinct states found, 0 states left on queue.
"""


def test_every_text_is_compared() -> None:
    assert {path.stem for path in TEXTS.glob("*.tla")} == {pair.module for pair in PAIRS}
    assert [pair for pair in PAIRS if not (TEXTS / f"{pair.module}.cfg").exists()] == []
    assert [pair for pair in PAIRS if not (MODELS / f"{pair.spec}.ha").exists()] == []


def test_states_of_a_finished_exploration() -> None:
    assert states_of(FINISHED) == 724_274


@pytest.mark.parametrize(
    "output",
    [
        FINISHED.replace("No error has been found", "Error: Invariant exclusive is violated"),
        FINISHED.replace("0 states left", "42769 states left"),
        "Error: Could not find module",
    ],
)
def test_anything_else_is_no_count(output: str) -> None:
    with pytest.raises(RuntimeError, match="did not explore everything"):
        states_of(output)
