"""What an executor does with raw lines of logs: it writes those of one trace to files of its own, and reads these with
the adapter as `hacheck conform` reads a folder.

So nothing is understood otherwise than on one machine: clocks, time zones, entries of several lines, nodes named in
file names, records of clients beside them. The files are gone when the trace has its verdict.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from msgspec.structs import replace

from hacheck.api.comparison import Checker, system_under, writers_of
from hacheck.spark.check_records import NO_TRACE, KeptValues, findings_table
from hacheck.traces.adapters.description import Adapter
from hacheck.traces.adapters.log_extent import needed_skew_ns
from hacheck.traces.adapters.logs import LogDataset, LogFile, matched
from hacheck.traces.conformance.verdicts import Verdict, from_batch, to_batch
from hacheck.traces.dataset import TraceFile
from hacheck.traces.drivers.columns import pruned
from hacheck.traces.drivers.log_verdicts import LogVerdicts
from hacheck.traces.drivers.trace_verdicts import with_damage
from hacheck.traces.findings import Finding, Findings, FreshFindings, Kind
from hacheck.traces.record_checks import Checker as RecordChecker
from hacheck.traces.record_checks import Expected
from hacheck.traces.records import FILE, LINE, TRACE_ID
from hacheck.traces.sorted_records import sorted_batches

TEXT = "text"
"""The column of raw lines."""

GAP_MAX = 1_000_000
"""Lines that are left out before one are blank ones in its file, so that numbers stay what they are; not more."""

UNREAD = "no adapter reads files of this name"


class LogFolder(Struct):
    """The lines of one trace, in files on this machine. `number`: of the trace in the task; `dataset`: nothing where no
    file is one of the adapter's logs; `findings`: what is wrong with its lines."""

    number: int
    trace_id: str
    place: Path
    dataset: LogDataset | None
    findings: Findings

    @property
    def is_coarse(self) -> bool:
        """Whether stamps are cut off to whole seconds."""
        return self.dataset is not None and needed_skew_ns(self.dataset) > 0

    def records(self, wanted: tuple[str, ...]) -> Iterator[Any]:
        """The good records, sorted, with the columns that a checker asks for. The id of their trace begins with
        `number`, so that no two folders have traces of one name."""
        if self.dataset is None:
            return
        columns = pruned(self.dataset.schema, wanted)
        held_to = Expected(clock_back_ns=self.dataset.clock_back_ns)
        checker = RecordChecker([file.name for file in self.dataset.files], held_to, self.findings)
        for batch in sorted_batches(self.dataset, self.findings):
            good = checker.checked(batch) if batch.num_rows else batch
            if good.num_rows:
                own = good.column(TRACE_ID).cast(pa.string())
                named = pc.binary_join_element_wise(str(self.number), own, "/")
                good = good.set_column(good.schema.get_field_index(TRACE_ID), TRACE_ID, named)
                yield good.select(list(columns.for_checker))

    def remove(self) -> None:
        """Removes its files."""
        shutil.rmtree(self.place, ignore_errors=True)


class LineReader(Struct, frozen=True):
    """Makes folders of logs from raw lines. `zone`: that of clocks, where it is not the adapter's."""

    adapter: Adapter
    zone: str | None

    def folders(self, batches: Iterable[Any], place: Path, new: type[Findings]) -> Iterator[LogFolder]:
        """The traces of batches that are sorted by (trace_id, file, line), each in a folder below `place`; `new` makes
        what takes their findings."""
        rows = ((row[TRACE_ID], row) for batch in batches for row in batch.to_pylist())
        for number, (trace_id, lines) in enumerate(groupby(rows, key=lambda pair: pair[0])):
            own = place / str(number)
            own.mkdir()
            yield self._folder(LogFolder(number, trace_id, own, None, new()), [row for _, row in lines])

    def _folder(self, made: LogFolder, rows: list[dict[str, Any]]) -> LogFolder:
        if made.trace_id == NO_TRACE:
            made.findings.add(Finding(Kind.WRONG_VALUE, "lines without a trace_id", "lines", records=len(rows)))
            return made
        names = {row[FILE]: _parts(row[FILE]) for row in rows if row[FILE]}
        shared = _shared([parts[:-1] for parts in names.values()])
        logs: list[LogFile] = []
        for file, lines in groupby(rows, key=lambda row: row[FILE]):
            below = "/".join(names[file][shared:]) if file else ""
            adapter = self._adapter_of(below, alone=len(names) == 1)
            if adapter is None:
                made.findings.add(Finding(Kind.UNREADABLE, UNREAD, f"{made.trace_id}: {file}", records=0))
                continue  # it damages no trace: it is none of its logs
            path = made.place / str(len(logs))
            self._write(path, file, list(lines), made)
            node = (matched(below, adapter) or {}).get("node") or adapter.node
            kept = TraceFile(path, file, False, path.stat().st_size)
            logs.append(LogFile(kept, made.trace_id, node, adapter))
        if any(log.adapter is self.adapter for log in logs):
            made.dataset = LogDataset(tuple(logs), self.adapter, self.zone)
        return made

    def _adapter_of(self, below: str, *, alone: bool) -> Adapter | None:
        """What reads a file: by its name, or because the trace has no other."""
        every = (*self.adapter.beside, self.adapter)
        named = next((one for one in every if matched(below, one) is not None), None)
        return self.adapter if named is None and alone else named

    def _write(self, path: Path, name: str, rows: list[dict[str, Any]], made: LogFolder) -> None:
        """The lines of a file, each at its number."""
        at = 0
        with path.open("w", encoding="utf-8", errors="surrogateescape", newline="") as file:
            for row in rows:
                if row[LINE] is None:  # a whole file
                    file.write(row[TEXT] or "")
                    continue
                gap = row[LINE] - at - 1
                if at and not 0 <= gap <= GAP_MAX:
                    message = f"line {row[LINE]:,} comes after line {at:,}"
                    made.findings.add(Finding(Kind.WRONG_VALUE, message, name, row[LINE], made.trace_id))
                elif at or gap <= GAP_MAX:
                    file.write("\n" * max(gap, 0))
                file.write(f"{row[TEXT] or ''}\n")
                at = row[LINE]


def _shared(folders: list[tuple[str, ...]]) -> int:
    """How many parts all paths begin with."""
    first, *others = folders or [()]
    same = 0
    while same < len(first) and all(one[: same + 1] == first[: same + 1] for one in others):
        same += 1
    return same


def _parts(file: str) -> tuple[str, ...]:
    """The parts of a path or URL."""
    path = unquote(urlsplit(file).path) if "://" in file or file.startswith("file:") else file
    return tuple(part for part in PurePosixPath(path).parts if part not in ("/", "..", "."))


class CheckLines(Struct, frozen=True):
    """A stage: from raw lines, whole traces sorted by (trace_id, file, line), to verdicts. `checkers`: that of stamps
    with parts of a second, and that of stamps without; `kept`: the columns that go on to the verdicts."""

    reader: LineReader
    checkers: tuple[Checker, Checker]
    kept: Any

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """The table of verdicts."""
        kept = KeptValues(self.kept)
        with tempfile.TemporaryDirectory(prefix="hacheck-lines-") as place:
            folders = self.reader.folders(map(kept.take, batches), Path(place), Findings)
            for is_coarse, group in groupby(folders, key=lambda one: one.is_coarse):
                for trace_id, verdict in _verdicts(self.checkers[is_coarse], group):
                    yield kept.beside(to_batch([verdict]), [trace_id])


def _verdicts(checker: Checker, folders: Iterable[LogFolder]) -> Iterator[tuple[str, Verdict]]:
    """The verdicts on the traces of some folders, each with the id that its lines had: objects may name traces of
    their own. The files of a folder are removed as soon as all its verdicts are there."""
    waiting: dict[int, LogFolder] = {}
    said: set[int] = set()

    def records() -> Iterator[Any]:
        for folder in folders:
            waiting[folder.number] = folder
            yield from folder.records(checker.columns)

    for batch in checker.check(records()):
        for verdict in from_batch(batch):
            number, _, own = verdict.trace_id.partition("/")
            folder = waiting[int(number)]
            yield folder.trace_id, _completed(checker, folder, replace(verdict, trace_id=own))
            said.add(folder.number)
            for over in [one for one in waiting if one < folder.number]:
                yield from _silent(waiting.pop(over), said)
    for folder in waiting.values():
        yield from _silent(folder, said)


def _completed(checker: Checker, folder: LogFolder, verdict: Verdict) -> Verdict:
    """The verdict with what data contradict, what damage there is, and which logs are missing."""
    assert folder.dataset is not None, "it has had records"
    logs = LogVerdicts(folder.dataset, checker.base.skew_ns)
    batch = with_damage(logs.amended(to_batch([verdict])), folder.findings, set())
    (found,) = from_batch(batch)
    absent = logs.absences(lambda settings: writers_of(system_under(checker, settings)))
    reason = "; ".join(one.message for one in absent)
    if reason and not found.reason:
        found = replace(found, reason=reason)
    own = found.trace_id
    return found if own == folder.trace_id else replace(found, trace_id=f"{folder.trace_id}/{own}")


def _silent(folder: LogFolder, said: set[int]) -> Iterator[tuple[str, Verdict]]:
    """The verdict on a folder of which no record was checked; removes its files."""
    if folder.number not in said:
        yield folder.trace_id, _without_records(folder)
    folder.remove()


def _without_records(folder: LogFolder) -> Verdict:
    wrong = folder.findings.damaged.get(folder.trace_id)
    if folder.trace_id == NO_TRACE:
        reason = folder.findings.unplaced[0].message
    elif folder.dataset is None:
        reason = f"none of its files is one of the adapter's logs: {UNREAD}"
    elif wrong is not None:
        reason = f"the trace is damaged: {wrong.message} ({wrong.place})"
    elif quiet := from_batch(LogVerdicts(folder.dataset, 0).quiet(())):
        return quiet[0]
    else:
        reason = "no line of it can be read"
    return Verdict(folder.trace_id, "unknown", 0, 0, reason)


class FindLines(Struct, frozen=True):
    """A stage: from raw lines, whole traces sorted by (trace_id, file, line), to what is wrong with them."""

    reader: LineReader

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """The table of findings."""
        with tempfile.TemporaryDirectory(prefix="hacheck-lines-") as place:
            for folder in self.reader.folders(batches, Path(place), FreshFindings):
                assert isinstance(folder.findings, FreshFindings), "the folders were made with it"
                for _ in folder.records(()):
                    yield from findings_table(folder.findings)
                yield from findings_table(folder.findings)
                folder.remove()
