"""Reads logs while they are written: what is new in each file, also where a file is rotated or cut back.

A file is known by its device and number: one that has another is a new file, and what was still written to the old one
is read first, where it still is in its folder. An entry of a text log may go on in the next line, so the last one of a
file waits until another begins, or until nothing came for `HOLD_SECONDS`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from hacheck.traces.adapters.description import Adapter
from hacheck.traces.adapters.line_counts import Tally
from hacheck.traces.adapters.logs import LogFile, logs_in
from hacheck.traces.adapters.streams import Stream, StreamMemory
from hacheck.traces.findings import Finding, Findings, Kind
from hacheck.traces.records import FILE, LINE, TRACE_ID, FieldType

HOLD_SECONDS = 0.3
STEP_BYTES = 4 << 20
"""So much of a file is read in one step."""

Identity = tuple[int, int]


class FilePosition(Struct, frozen=True):
    """How far a file was read: its device and number, the bytes that are done with, and the number of the next line;
    `memory`: what its lines said about those to come."""

    device: int
    number: int
    offset: int = 0
    line: int = 1
    memory: StreamMemory = StreamMemory()


class TailedRecord(Struct, frozen=True):
    """A record, the trace it belongs to, and its time in the order of its file, in nanoseconds."""

    trace_id: str
    when: int
    columns: dict[str, Any]


class TailedLogs:
    """The logs in a folder. `positions`: how far each was read, by path; `behind`: whether the last step left more in a
    file than it read."""

    def __init__(
        self,
        place: Path,
        adapter: Adapter,
        zone: str | None,
        fields: Mapping[str, FieldType],
        positions: Mapping[str, FilePosition],
        findings: Findings,
    ) -> None:
        self._place, self._adapter, self._zone, self._fields = place, adapter, zone, fields
        self.positions = dict(positions)
        self._findings = findings
        self._streams: dict[str, Stream] = {}
        self._changed: dict[str, tuple[int, float]] = {}
        self.tally = Tally()
        self.behind = False

    def step(self, now: float, *, last: bool = False) -> list[TailedRecord]:
        """The records that are new. `now`: in seconds; `last`: no more is written, so nothing is waited for."""
        found: list[TailedRecord] = []
        self.behind = False
        for log in logs_in(self._place, self._adapter):
            path = log.file.path
            try:
                found += self._of_file(log, path, now, last)
            except OSError as error:
                if not isinstance(error, FileNotFoundError):  # it was rotated away this moment
                    self._findings.add(Finding(Kind.UNREADABLE, f"cannot be read: {error.strerror}", log.file.name))
        return found

    def _of_file(self, log: LogFile, path: Path, now: float, last: bool) -> Iterator[TailedRecord]:
        key = str(path)
        status = path.stat()
        identity = status.st_dev, status.st_ino
        position = self.positions.get(key)
        found: list[TailedRecord] = []
        if position is not None and (position.device, position.number) != identity:
            old = self._moved(path, (position.device, position.number))
            while old is not None and (rest := list(self._read(log, old, self.positions[key], now, last=True))):
                found += rest
            position = FilePosition(*identity, memory=self.positions[key].memory)
        elif position is not None and status.st_size < position.offset:
            position = FilePosition(*identity, memory=position.memory)
        position = FilePosition(*identity) if position is None else position
        found += self._read(log, path, position, now, last=last)
        return iter(found)

    def _moved(self, path: Path, identity: Identity) -> Path | None:
        """Where a file is that had this name before."""
        for other in sorted(path.parent.iterdir()):
            if other.name.startswith(path.name) and other != path:
                status = other.stat()
                if (status.st_dev, status.st_ino) == identity:
                    return other
        return None

    def _read(
        self, log: LogFile, path: Path, position: FilePosition, now: float, *, last: bool
    ) -> Iterator[TailedRecord]:
        """The records of the lines that are new in a file, from a position on, which is put down for its log."""
        key = str(log.file.path)
        stream = self._stream(log, position)
        with path.open("rb") as file:
            file.seek(position.offset)
            data = file.read(STEP_BYTES)
        self.behind = self.behind or len(data) == STEP_BYTES
        whole = data[: data.rfind(b"\n") + 1]
        rows = whole.split(b"\n")[:-1]
        if rows and not last and not self._is_quiet(key, position.offset + len(data), now):
            rows = rows[: self._complete(stream, rows)]
        if not rows:
            self.positions.setdefault(key, position)
            if self.positions[key].number != position.number:
                self.positions[key] = position
            return
        numbered = [(position.line + at, row.removesuffix(b"\r")) for at, row in enumerate(rows)]
        self.tally.lines += len(rows)
        records = [(one.when, one.line, one.columns) for one in stream.more(log.file.name, 0, numbered)]
        done = sum(len(row) + 1 for row in rows)
        self.positions[key] = FilePosition(
            position.device, position.number, position.offset + done, position.line + len(rows), stream.memory()
        )
        for when, line, columns in records:
            own = columns.get(TRACE_ID, log.trace_id)
            yield TailedRecord(own, when, columns | {FILE: log.file.name, LINE: line, TRACE_ID: own})

    def _is_quiet(self, key: str, size: int, now: float) -> bool:
        """Whether nothing came to a file for a while."""
        before = self._changed.get(key)
        if before is None or before[0] != size:
            self._changed[key] = (size, now)
            return False
        return now - before[1] >= HOLD_SECONDS

    def _complete(self, stream: Stream, rows: list[bytes]) -> int:
        """How many of some lines are in entries that are over."""
        if self._adapter.json is not None:
            return len(rows)
        return next((at for at in range(len(rows) - 1, 0, -1) if stream.begins_entry(rows[at])), 0)

    def _stream(self, log: LogFile, position: FilePosition) -> Stream:
        key = str(log.file.path)
        if key not in self._streams:
            written = log.file.path.stat().st_mtime_ns
            zone = self._zone or log.adapter.line.zone
            known = (log.adapter, self._fields, zone, log.node, log.trace_id, self.tally, self._findings)
            self._streams[key] = Stream(*known, None, written)
            self._streams[key].remember(position.memory)
        return self._streams[key]
