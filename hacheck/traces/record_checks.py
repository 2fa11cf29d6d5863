"""Checks what only shows in sorted records: numbers of a trace that are missing or twice there, clocks that go back,
events and nodes that nobody knows. What comes out are the batches that kernels get.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from msgspec.structs import replace

from hacheck.traces.dataset import ROW, SOURCE, Located
from hacheck.traces.findings import Finding, Findings, Kind
from hacheck.traces.records import EVENT, FILE, LINE, NODE, SEQ, TIME, TRACE_ID
from hacheck.traces.sorted_records import MEMORY_BYTES, sorted_batches


class Expected(Struct, frozen=True):
    """What records are held to, where it is known. `clock_back_ns`: so far a node's clock may go back between one
    record and the next, as the lines of several threads do."""

    events: frozenset[str] | None = None
    nodes: frozenset[str] | None = None
    clock_back_ns: int = 0


def checked_batches(
    dataset: Located, findings: Findings, expected: Expected | None = None, *, memory_bytes: int = MEMORY_BYTES
) -> Iterator[Any]:
    """All good records of a dataset, in batches with the columns of `schema.arrow()`, sorted by (trace_id, seq), each
    number of a trace once. Whatever is wrong is a finding; the traces it is about are `findings.damaged`, which is
    complete when the last batch is out.

    Errors: `TracesError` when sorting runs out of room.
    """
    held_to = expected or Expected()
    back = max(held_to.clock_back_ns, dataset.clock_back_ns)
    held_to = replace(held_to, clock_back_ns=back)
    checker = Checker([file.name for file in dataset.files], held_to, findings)
    for batch in sorted_batches(dataset, findings, memory_bytes=memory_bytes):
        good = checker.checked(batch) if batch.num_rows else batch
        if good.num_rows:
            yield good.drop_columns([SOURCE, ROW]).cast(dataset.schema.arrow())


class Checker:
    """Checks sorted batches one after the other; of those before it keeps the last record and, for the trace that is
    open, the last time of each node."""

    def __init__(self, files: list[str], expected: Expected, findings: Findings) -> None:
        self._files = files
        self._expected = expected
        self._findings = findings
        self._trace: str | None = None
        self._seq = 0
        self._place = (0, 0)
        self._times: dict[str, int] = {}

    def checked(self, batch: Any) -> Any:
        """The batch without records that were quarantined."""
        starts = self._starts(batch)
        good = self._numbers(batch, starts)
        self._clocks(batch, starts)
        good &= self._known(batch, EVENT, self._expected.events, Kind.UNKNOWN_EVENT)
        good &= self._known(batch, NODE, self._expected.nodes, Kind.UNKNOWN_NODE)
        last = batch.num_rows - 1
        self._trace = batch.column(TRACE_ID)[last].as_py()
        self._seq = batch.column(SEQ)[last].as_py()
        self._place = (batch.column(SOURCE)[last].as_py(), batch.column(ROW)[last].as_py())
        return batch if good.all() else batch.filter(pa.array(good))

    def _starts(self, batch: Any) -> Any:
        """For each record whether it is the first of its trace."""
        traces = batch.column(TRACE_ID)
        starts = np.empty(batch.num_rows, bool)
        starts[0] = traces[0].as_py() != self._trace
        if batch.num_rows > 1:
            starts[1:] = _plain(pc.not_equal(traces.slice(1), traces.slice(0, batch.num_rows - 1)))
        return starts

    def _numbers(self, batch: Any, starts: Any) -> Any:
        """For each record whether it is the first with its number; others, and missing numbers, are reported."""
        numbers = _plain(batch.column(SEQ))
        before = np.concatenate(([self._seq], numbers[:-1]))
        before[starts] = 0
        for index in np.flatnonzero(numbers > before + 1).tolist():
            first, last = int(before[index]) + 1, int(numbers[index]) - 1
            missing = f"record {first:,} is" if first == last else f"records {first:,} to {last:,} are"
            self._add(batch, index, Kind.MISSING_SEQ, f"{missing} missing before this one")
        for index in np.flatnonzero(numbers < before).tolist():
            self._add(batch, index, Kind.SPLIT_TRACE, "its trace was over, or further, already")
        for index in np.flatnonzero(numbers == before).tolist():
            source, row = self._place
            if index:
                source, row = batch.column(SOURCE)[index - 1].as_py(), batch.column(ROW)[index - 1].as_py()
            message = f"record {int(numbers[index]):,} of its trace stands in {self._files[source]}:{row}, too"
            self._add(batch, index, Kind.DUPLICATE_SEQ, message)
        return numbers != before

    def _clocks(self, batch: Any, starts: Any) -> None:
        """Reports records whose time is before that of the record before them of the same node and trace."""
        times = batch.column(TIME)
        if times.null_count == batch.num_rows:
            self._times = {} if starts.any() else self._times
            return
        if not times.null_count and self._goes_forward(_plain(times), starts):
            self._note_times(batch, starts)
            return
        # The last times of the trace that is open stand before the batch, as records of run 0.
        open_nodes = list(self._times)
        nodes = pa.concat_arrays([pa.array(open_nodes, pa.string()), batch.column(NODE)]).dictionary_encode()
        codes, offset = _plain(nodes.indices), len(open_nodes)
        runs = np.concatenate((np.zeros(offset, np.int64), np.cumsum(starts)))
        open_times = np.array(list(self._times.values()), np.int64)
        values = np.concatenate((open_times, _plain(times.fill_null(0)).astype(np.int64, copy=False)))
        known = np.concatenate((np.ones(offset, bool), _plain(times.is_valid())))
        order = np.lexsort((codes, runs))  # which keeps the order of records where both are equal
        order = order[known[order]]
        same = (runs[order[1:]] == runs[order[:-1]]) & (codes[order[1:]] == codes[order[:-1]])
        back = values[order[:-1]] - values[order[1:]]
        wrong = np.flatnonzero(same & (back > self._expected.clock_back_ns))
        for at in wrong[np.argsort(order[wrong + 1])].tolist():
            index = int(order[at + 1]) - offset
            node = batch.column(NODE)[index].as_py()
            message = f"the clock of node {node!r} goes back by {int(back[at]) / 1e6:,.3f} ms"
            self._add(batch, index, Kind.TIME_BACKWARDS, message)
        lasts = order[np.concatenate((~same, [True]))]
        lasts = lasts[runs[lasts] == runs[-1]]
        self._times = {nodes.dictionary[codes[at]].as_py(): int(values[at]) for at in lasts.tolist()}

    def _goes_forward(self, times: Any, starts: Any) -> bool:
        """Whether no record is earlier than the one before it in its trace, of any node: then no clock goes back."""
        if not starts[0] and self._times and times[0] < max(self._times.values()):
            return False
        return not ((times[1:] < times[:-1]) & ~starts[1:]).any()

    def _note_times(self, batch: Any, starts: Any) -> None:
        """Notes the last time of each node in the trace that is open, whose records have theirs in order."""
        begins = np.flatnonzero(starts)
        first = int(begins[-1]) if len(begins) else 0
        nodes = batch.column(NODE).slice(first).dictionary_encode()
        lasts = np.full(len(nodes.dictionary), np.iinfo(np.int64).min, np.int64)
        np.maximum.at(lasts, _plain(nodes.indices), _plain(batch.column(TIME).slice(first)))
        found = dict(zip(nodes.dictionary.to_pylist(), lasts.tolist(), strict=True))
        self._times = found if len(begins) else self._times | found

    def _known(self, batch: Any, column: str, known: Collection[str] | None, kind: Kind) -> Any:
        """For each record whether its event (or node) is among those known; others are reported."""
        if known is None:
            return np.ones(batch.num_rows, bool)
        good = _plain(pc.is_in(batch.column(column), value_set=pa.array(sorted(known), pa.string())))
        for index in np.flatnonzero(~good).tolist():
            word = batch.column(column)[index].as_py()
            self._add(batch, index, kind, f"unknown {column} {word!r}")
        return good

    def _add(self, batch: Any, index: int, kind: Kind, message: str) -> None:
        """A finding at a record: where it stands, and where in a log it comes from."""
        origin, line = batch.column(FILE)[index].as_py(), batch.column(LINE)[index].as_py()
        name, row = self._files[batch.column(SOURCE)[index].as_py()], batch.column(ROW)[index].as_py()
        if origin is not None and (origin, line) != (name, row):
            message = f"{message}; from {origin}" + (f":{line}" if line is not None else "")
        self._findings.add(Finding(kind, message, name, row, batch.column(TRACE_ID)[index].as_py()))


def _plain(values: Any) -> Any:
    """An Arrow array without nulls as a numpy array."""
    return values.to_numpy(zero_copy_only=False)
