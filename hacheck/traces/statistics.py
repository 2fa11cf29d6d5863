"""Figures about traces: how many, how long, over which time, and which events and nodes."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow.compute as pc

from hacheck.traces.records import EVENT, NODE, TIME, TRACE_ID

LENGTHS_MAX = 1_000_000
"""The median is that of so many traces, the first ones."""


class Statistics:
    """Adds up batches sorted by (trace_id, seq)."""

    def __init__(self) -> None:
        self.records = 0
        self.traces = 0
        self.events: Counter[str] = Counter()
        self.nodes: Counter[str] = Counter()
        self.first_time: int | None = None
        self.last_time: int | None = None
        self.without_time = 0
        self.shortest = self.longest = 0
        self._lengths: list[int] = []
        self._open: str | None = None
        self._length = 0

    def add(self, batch: Any) -> None:
        """Takes a batch into account."""
        self.records += batch.num_rows
        for column, counts in ((EVENT, self.events), (NODE, self.nodes)):
            for item in pc.value_counts(batch.column(column)):
                counts[item["values"].as_py()] += item["counts"].as_py()
        times = batch.column(TIME)
        self.without_time += times.null_count
        if times.null_count < batch.num_rows:
            ends = pc.min_max(times).as_py()
            self.first_time = ends["min"] if self.first_time is None else min(self.first_time, ends["min"])
            self.last_time = ends["max"] if self.last_time is None else max(self.last_time, ends["max"])
        traces = batch.column(TRACE_ID).dictionary_encode()
        names, codes = traces.dictionary, traces.indices.to_numpy(zero_copy_only=False)
        for code, count in zip(*np.unique(codes, return_counts=True), strict=True):
            self._trace(names[int(code)].as_py(), int(count))

    def _trace(self, trace_id: str, records: int) -> None:
        if trace_id == self._open:
            self._length += records
            return
        self.finish()
        self._open, self._length = trace_id, records

    def finish(self) -> None:
        """Closes the last trace."""
        if self._open is None:
            return
        self.traces += 1
        self.shortest = self._length if self.traces == 1 else min(self.shortest, self._length)
        self.longest = max(self.longest, self._length)
        if len(self._lengths) < LENGTHS_MAX:
            self._lengths.append(self._length)
        self._open = None

    @property
    def median(self) -> float:
        """The length of the trace in the middle, in records."""
        return float(np.median(self._lengths)) if self._lengths else 0.0

    def to_json(self) -> dict[str, object]:
        """All figures; times in nanoseconds since 1970."""
        return {
            "traces": self.traces,
            "records": self.records,
            "records_per_trace": {"min": self.shortest, "median": self.median, "max": self.longest},
            "first_time": self.first_time,
            "last_time": self.last_time,
            "without_time": self.without_time,
            "events": dict(self.events.most_common()),
            "nodes": dict(self.nodes.most_common()),
        }
