"""Records come in portions that take some tenths of a second to judge, and every one comes once."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest

from hacheck.traces.drivers.record_portions import FIRST_ROWS, LEAST_ROWS, PORTION_SECONDS, paced


def portions(sizes: list[int], row_seconds: float) -> list[int]:
    """How many rows there are in each portion of batches of these sizes, where judging a row takes so long."""
    clock, number = [0.0], 0

    def batches() -> Iterator[pa.RecordBatch]:
        nonlocal number
        for size in sizes:
            yield pa.RecordBatch.from_pydict({"seq": list(range(number, number + size))})
            number += size

    found, seen = [], []
    for portion in paced(batches(), lambda: clock[0]):
        found.append(portion.num_rows)
        seen += portion.column("seq").to_pylist()
        clock[0] += portion.num_rows * row_seconds
    assert seen == list(range(sum(sizes)))
    return found


def test_quick_records_come_in_large_portions() -> None:
    assert portions([100_000], 1e-9) == [FIRST_ROWS * 2**n for n in range(7)] + [100_000 - 127 * FIRST_ROWS]


@pytest.mark.parametrize("row_seconds", [1e-4, 1e-3, 3e-3])
def test_slow_records_come_in_portions_of_some_tenths_of_a_second(row_seconds: float) -> None:
    settled = portions([40_000], row_seconds)[3:-1]
    assert settled
    assert all(PORTION_SECONDS / 4 <= rows * row_seconds <= PORTION_SECONDS for rows in settled)


def test_the_end_of_a_batch_says_nothing_of_how_quick_they_are() -> None:
    found = portions([FIRST_ROWS, 1, 1, 1, FIRST_ROWS], PORTION_SECONDS * 0.75 / FIRST_ROWS)
    assert found == [FIRST_ROWS, 1, 1, 1, FIRST_ROWS]


def test_however_slow_they_are_a_few_come_together() -> None:
    found = portions([10_000], 10.0)
    assert set(found[4:-1]) == {LEAST_ROWS}
