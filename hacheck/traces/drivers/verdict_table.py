"""Takes verdicts as they come: counts them, keeps the first that do not conform, writes the table."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from hacheck.atomic_files import beside
from hacheck.traces.conformance.verdicts import SCHEMA, Verdict, from_batch
from hacheck.traces.drivers.contract import SHOWN_MAX, BrokenKind, Outcome
from hacheck.traces.findings import TracesError

GROUP_ROWS = 65_536
"""So many verdicts are written at a time."""


class Tally:
    """Counts of verdicts, and those to be shown. See `Outcome` for what is counted."""

    def __init__(self) -> None:
        self.traces = self.records = self.unknown_lines = 0
        self.counts: Counter[str] = Counter()
        self.broken: dict[BrokenKind, Counter[str]] = {}
        self.settings: Counter[tuple[str, ...]] = Counter()
        self.events: Counter[str] = Counter()
        self._shown: list[Verdict] = []

    def add(self, verdicts: Any) -> None:
        """Counts a batch of verdicts."""
        kinds = verdicts.column("verdict")
        self.traces += verdicts.num_rows
        self.records += pc.sum(verdicts.column("records")).as_py() or 0
        self.counts.update(counted(kinds))
        self._add_broken(verdicts)
        settings = verdicts.column("settings")
        if len(settings.flatten()):
            self.settings.update(map(tuple, settings.to_pylist()))
        elif verdicts.num_rows:
            self.settings[()] += verdicts.num_rows
        broken = pc.equal(0, 1)
        for name in ("violated", "perhaps", "late", "excluded"):
            broken = pc.or_(broken, pc.greater(_lengths(verdicts, name), 0))
        others = verdicts.filter(pc.or_(pc.not_equal(kinds, "conforms"), broken))
        if others.num_rows:
            others = others.sort_by("trace_id").slice(0, SHOWN_MAX)
            self.show(from_batch(others))

    def _add_broken(self, verdicts: Any) -> None:
        plain: tuple[BrokenKind, ...] = ("violated", "perhaps")
        for kind in plain:
            places = verdicts.column(kind).flatten()  # each is `name@seq`
            if len(places):
                names = pc.list_element(pc.split_pattern(places, "@", max_splits=1), 0)
                self.broken.setdefault(kind, Counter()).update(counted(names))
        late = verdicts.column("late")
        if len(late.flatten()):
            for row in late.to_pylist():
                for name, sure in {(one["invariant"], one["sure"]) for one in row}:
                    self.broken.setdefault("late" if sure else "perhaps late", Counter())[name] += 1

    def show(self, verdicts: Iterable[Verdict]) -> None:
        """Keeps verdicts to be shown, as many as `SHOWN_MAX` allows."""
        shown = sorted([*self._shown, *verdicts], key=lambda verdict: verdict.trace_id.encode())
        self._shown = shown[:SHOWN_MAX]

    def to_json(self) -> dict[str, Any]:
        """All counts, without the verdicts to be shown: for another process."""
        return {
            "traces": self.traces,
            "records": self.records,
            "counts": dict(self.counts),
            "broken": {kind: dict(names) for kind, names in self.broken.items()},
            "settings": [[list(settings), number] for settings, number in self.settings.items()],
            "events": dict(self.events),
        }

    def merge(self, content: Mapping[str, Any]) -> None:
        """Adds the counts that `to_json` of another process gave."""
        self.traces += content["traces"]
        self.records += content["records"]
        self.counts.update(content["counts"])
        for kind, names in content["broken"].items():
            self.broken.setdefault(kind, Counter()).update(names)
        self.settings.update({tuple(settings): number for settings, number in content["settings"]})
        self.events.update(content["events"])

    def outcome(self, *, complete: bool, table: str | None = None, verdicts: Iterable[Any] = ()) -> Outcome:
        """The counts as what a driver returns."""
        return Outcome(
            complete,
            self.traces,
            self.records,
            dict(self.counts),
            tuple(self._shown),
            table,
            broken=self.broken,
            settings=self.settings,
            events=self.events,
            verdicts=tuple(verdicts),
            unknown_lines=self.unknown_lines,
        )


def _lengths(verdicts: Any, column: str) -> Any:
    """How many items each list of a column has."""
    return pc.list_value_length(verdicts.column(column))


def counted(words: Any) -> dict[str, int]:
    """How often each word occurs in an Arrow array."""
    return {item["values"]: item["counts"] for item in pc.value_counts(words).to_pylist()}


class VerdictTable:
    """Takes verdicts as they come: counts them, and where `path` is given writes them as a Parquet file, its rows in no
    particular order. The file is there when all is written; when the block ends with an error, or `keep` was not
    called, what was there before stays. `collect`: keep all verdicts in memory, in `collected`.

    Errors: `TracesError` where the file cannot be written.
    """

    def __init__(self, path: Path | None, *, collect: bool = False) -> None:
        self.tally = Tally()
        self.collected: list[Any] = []
        self._collect = collect
        self._path = path
        self._keep = False
        self._own = Path()
        self._writer: Any = None
        self._waiting: list[Any] = []
        self._rows = 0

    def __enter__(self) -> VerdictTable:
        import pyarrow.parquet as pq

        if self._path is not None:
            try:
                self._own = beside(self._path)
                self._writer = pq.ParquetWriter(self._own, SCHEMA)
            except OSError as error:
                raise self._unwritable(error) from None
        return self

    def add(self, verdicts: Any) -> None:
        """Writes a batch of verdicts."""
        self.tally.add(verdicts)
        if self._collect:
            self.collected.append(verdicts)
        if self._writer is not None:
            self._waiting.append(verdicts)
            self._rows += verdicts.num_rows
            if self._rows >= GROUP_ROWS:
                self._write()

    def _write(self) -> None:
        try:
            self._writer.write_table(pa.Table.from_batches(self._waiting, SCHEMA))
        except OSError as error:
            raise self._unwritable(error) from None
        self._waiting, self._rows = [], 0

    def keep(self) -> None:
        """Says that the table is complete."""
        self._keep = True

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._path is None:
            return
        try:
            if self._writer is not None:
                if kind is None and self._keep:
                    self._write()
                self._writer.close()
            if kind is None and self._keep:
                os.replace(self._own, self._path)
        except OSError as failure:
            raise self._unwritable(failure) from None
        finally:
            with suppress(OSError):
                os.unlink(self._own)

    def _unwritable(self, error: OSError) -> TracesError:
        return TracesError(f"{self._path}: cannot be written: {error.strerror or error}")


def as_message(verdicts: Any) -> bytes:
    """A batch of verdicts as bytes for another process."""
    return bytes(verdicts.serialize())


def from_message(content: bytes) -> Any:
    """The batch of verdicts in a message."""
    return pa.ipc.read_record_batch(pa.py_buffer(content), SCHEMA)
