"""Logs for tests: written line by line, and read with an adapter."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hacheck.traces.adapters.adapter_files import load
from hacheck.traces.adapters.line_counts import Tally
from hacheck.traces.adapters.logs import LogDataset, open_logs
from hacheck.traces.findings import Findings
from hacheck.traces.record_checks import checked_batches

Told = tuple[str, str, dict[str, Any]]


def read_logs(place: Path, adapter: str, zone: str | None = None) -> tuple[list[dict[str, Any]], Tally, Findings]:
    """The records of logs, where their lines went, and what is wrong."""
    findings = Findings()
    dataset: LogDataset = open_logs(place, load(adapter), zone)
    rows = [row for batch in checked_batches(dataset, findings) for row in batch.to_pylist()]
    return rows, dataset.tally, findings


def told(row: dict[str, Any]) -> Told:
    """Node, event and fields of a record."""
    return row["node"], row["event"], {name: value for name, value in row["fields"].items() if value is not None}


def events(path: Path, adapter: str, *lines: str) -> list[Told]:
    """What some lines of a log are told to be; nothing may be wrong with them, and each must be accounted for."""
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    rows, tally, findings = read_logs(path, adapter)
    assert findings.first == []
    assert tally.lines == tally.accounted == len(lines)
    assert not tally.unknown
    return [told(row) for row in rows]
