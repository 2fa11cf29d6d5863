"""States that explain a log are sorted by the records that their steps took, and each is kept once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hacheck.traces.conformance import interleavings
from hacheck.traces.conformance.interleavings import distinct, distinct_counts

WORDS = st.integers(0, 3).map(lambda word: word * (2**62 + 1) % 2**64)


@given(st.integers(1, 4).flatmap(lambda width: st.lists(st.lists(WORDS, min_size=width, max_size=width), min_size=1)))
def test_each_state_is_kept_once(rows: list[list[int]]) -> None:
    states = np.array(rows, np.uint64)
    kept = [tuple(row) for row in distinct(states).tolist()]
    assert len(kept) == len(set(kept))
    assert set(kept) == set(map(tuple, rows))
    assert distinct(states[::-1]).tolist() == distinct(states).tolist(), "in an order of their own"


def test_states_that_have_the_same_number_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interleavings, "_MULTIPLIER", np.uint64(0))
    rows = [[1, 2], [3, 4], [1, 2], [5, 6], [3, 4]]
    assert distinct(np.array(rows, np.uint64)).tolist() == [[1, 2], [3, 4], [5, 6]]


@given(st.integers(1, 3).flatmap(lambda width: st.lists(st.tuples(*[st.integers(0, 3)] * width), min_size=1)))
def test_steps_are_sorted_by_what_they_took(rows: list[tuple[int, ...]]) -> None:
    found = [(tuple(way), mine.tolist()) for way, mine in distinct_counts(np.array(rows))]
    assert [way for way, _ in found] == sorted(set(rows))
    for way, mine in found:
        assert mine == [place for place, row in enumerate(rows) if row == way]
