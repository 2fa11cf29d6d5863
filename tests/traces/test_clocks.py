"""Clocks that go back are found however records come in batches: compared with a plain look at one record at a time."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest

from hacheck.traces.dataset import ROW, SOURCE
from hacheck.traces.findings import Findings, Kind
from hacheck.traces.record_checks import Checker, Expected
from hacheck.traces.records import EVENT, FILE, LINE, NODE, SEQ, TIME, TRACE_ID

SCHEMA = pa.schema(
    [(TRACE_ID, pa.string()), (NODE, pa.string()), (SEQ, pa.int64()), (TIME, pa.int64()), (EVENT, pa.string()),
     (FILE, pa.string()), (LINE, pa.int64()), (SOURCE, pa.int32()), (ROW, pa.int64())]
)  # fmt: skip


def random_records(chance: random.Random) -> list[dict[str, Any]]:
    """Records of some traces; in most of them times go forward, in some they go back at times or are missing."""
    rows: list[dict[str, Any]] = []
    for trace in range(chance.randint(1, 4)):
        now, wild, unknown = 100, chance.random() < 0.4, chance.random() < 0.2
        for seq in range(1, chance.randint(2, 9)):
            now += chance.randint(-8, 8) if wild else chance.randint(0, 5)
            time = None if unknown and chance.random() < 0.5 else now
            node = chance.choice("abc")
            rows.append({TRACE_ID: f"t{trace}", NODE: node, SEQ: seq, TIME: time, EVENT: "tick", FILE: "f", LINE: seq,
                         SOURCE: 0, ROW: len(rows) + 1})  # fmt: skip
    return rows


def going_back(rows: list[dict[str, Any]], allowed: int) -> list[int]:
    """The rows whose time is before the last one of their node and trace."""
    last: dict[tuple[str, str], int] = {}
    found = []
    for row in rows:
        if row[TIME] is None:
            continue
        key = row[TRACE_ID], row[NODE]
        if key in last and last[key] - row[TIME] > allowed:
            found.append(row[ROW])
        last[key] = row[TIME]
    return found


@pytest.mark.parametrize("seed", range(300))
def test_clocks_that_go_back_are_found_however_records_are_cut_into_batches(seed: int) -> None:
    chance = random.Random(seed)
    rows, allowed = random_records(chance), chance.choice((0, 3))
    findings = Findings()
    checker = Checker(["f"], Expected(clock_back_ns=allowed), findings)
    at = 0
    while at < len(rows):
        size = chance.randint(1, 6)
        checker.checked(pa.RecordBatch.from_pylist(rows[at : at + size], SCHEMA))
        at += size
    found = [int(one.place.rpartition(":")[2]) for one in findings.first if one.kind == Kind.TIME_BACKWARDS]
    assert found == going_back(rows, allowed)
