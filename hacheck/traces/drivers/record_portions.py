"""Records in such portions that the checker reports some times a second, however long a trace takes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

from hacheck.supervise.slice_length import Pace

PORTION_SECONDS = 0.3
"""A portion is to take about so long."""

FIRST_ROWS = 512
LEAST_ROWS = 64


def paced(batches: Iterator[Any], clock: Callable[[], float] = time.perf_counter) -> Iterator[Any]:
    """The same records in the same order, in smaller batches where a batch takes long: twice as many at a time while
    they take less than a quarter of `PORTION_SECONDS`, half as many where they take longer than that. `clock`: in
    seconds."""
    pace = Pace(PORTION_SECONDS / 2, FIRST_ROWS, LEAST_ROWS, clock)
    for batch in batches:
        start = 0
        while start < batch.num_rows:
            rows = pace.amount
            pace.begin()
            portion = batch.slice(start, rows)
            yield portion
            pace.end(is_whole=portion.num_rows == rows)
            start += rows
