"""Carries out `hacheck traces`: reads the records once, hands them to the action, and reports."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TextIO

from msgspec import Struct

from hacheck.atomic_files import replacing
from hacheck.cli.console import output_console
from hacheck.cli.guard import BadInput, ExitCode, version
from hacheck.cli.json_output import open_target
from hacheck.cli.logs.traces_report import show_findings, show_statistics, show_tally
from hacheck.cli.progress import ProgressLine
from hacheck.documents.document import from_dict
from hacheck.documents.records import TracesDocument
from hacheck.traces.adapters.adapter_files import load
from hacheck.traces.adapters.logs import LogDataset, open_logs
from hacheck.traces.anonymous_names import AnonymousNames
from hacheck.traces.dataset import Located, open_traces, place_of
from hacheck.traces.findings import Findings, TracesError
from hacheck.traces.record_checks import Expected, checked_batches
from hacheck.traces.statistics import Statistics
from hacheck.traces.trace_writers import write_clustered, writing
from hacheck.wording import plural


class TracesRequest(Struct, frozen=True):
    """What the command line asks for."""

    action: str
    place: str
    adapter: str | None
    zone: str | None
    events: str | None
    nodes: str | None
    clock_back_ms: int
    quarantine: str | None
    out: str | None
    part_records: int
    anonymised: tuple[str, ...] | None
    kept: tuple[str, ...]
    json: str | None
    quiet: bool
    no_color: bool


def look(request: TracesRequest) -> ExitCode:
    """Carries the request out. Errors: `BadInput` where nothing can be read, or written."""
    if request.action in ("convert", "cluster") and request.out is None:
        raise BadInput(f"{request.action}: --out is missing", "add --out night.parquet, or a folder for cluster")
    if request.action not in ("convert", "cluster") and request.out is not None:
        raise BadInput(
            f"{request.action} writes no traces: --out does not apply", "leave it out, or use convert or cluster"
        )
    if request.action != "convert" and request.anonymised is not None:
        raise BadInput("--anonymise is for convert", "hacheck traces convert PLACE --anonymise FIELDS --out FILE")
    if request.zone is not None and request.adapter is None:
        raise BadInput("--time-zone is for logs: traces have times in UTC", "for logs add --adapter NAME")
    try:
        return _look(request)
    except TracesError as error:
        raise BadInput(error.message, error.hint) from None


def _look(request: TracesRequest) -> ExitCode:
    expected = Expected(
        events=words(request.events, "--events"),
        nodes=words(request.nodes, "--nodes"),
        clock_back_ns=request.clock_back_ms * 1_000_000,
    )
    target = None if request.json is None else open_target(request.json)
    statistics = Statistics()
    with ExitStack() as stack:
        findings = Findings(quarantine(request.quarantine, stack))
        dataset = opened(request.place, request.adapter, request.zone, findings)
        line = ProgressLine(quiet=request.quiet, no_color=request.no_color)
        stack.enter_context(line.shown("reading"))
        progress = _Far(line)
        batches = checked_batches(Watched(dataset, progress.read), findings, expected)
        written = _written(request, dataset, _counted(batches, statistics, progress))
    statistics.finish()
    code = ExitCode.BAD_INPUT if findings.total else ExitCode.AS_EXPECTED
    tally = dataset.tally if isinstance(dataset, LogDataset) else None
    if target is not None:
        content = {"hacheck": version(), "action": request.action, "place": request.place, "exit_code": int(code)}
        content |= {"schema": dataset.schema.header(), "findings": findings.to_json()}
        content |= {"traces": statistics.to_json(), "lines": None if tally is None else tally.to_json()}
        target.write(from_dict(TracesDocument, content | written))
    if request.json == "-" or (request.quiet and not findings.total):
        return code
    out = output_console(no_color=request.no_color)
    show_statistics(out, statistics, whole=request.action == "stats")
    if tally is not None:
        show_tally(out, tally)
    for name, value in written.items():
        out.print(f"{name}: {value}" if name == "out" else f"{name}: {value:,}", markup=False, soft_wrap=True)
    show_findings(out, findings)
    return code


def opened(place: str, adapter: str | None, zone: str | None, findings: Findings) -> Located:
    """The records at a place, or in the logs there. Errors: `TracesError`, `BadInput` for an unknown time zone."""
    if adapter is None:
        return open_traces(place_of(place), findings)
    if zone is not None:
        from zoneinfo import ZoneInfo

        try:
            ZoneInfo(zone)
        except (ValueError, OSError, KeyError):
            raise BadInput(f"unknown time zone {zone!r}", "write UTC, or a name such as Europe/Berlin") from None
    return open_logs(place_of(place), load(adapter), zone)


def words(text: str | None, name: str) -> frozenset[str] | None:
    """The words of `a,b,c`, or of the lines of the file in `@FILE`. Errors: `BadInput`."""
    if text is None:
        return None
    if not text.startswith("@"):
        found = text.split(",")
    else:
        try:
            found = Path(text[1:]).read_text(encoding="utf-8").splitlines()
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise BadInput(f"{name} {text}: cannot be read: {reason}") from None
    known = frozenset(word.strip() for word in found if word.strip())
    if not known:
        raise BadInput(f"{name} {text}: the list is empty", f"for example {name} started,stopped")
    return known


def quarantine(file: str | None, stack: ExitStack) -> TextIO | None:
    """Where everything that is wrong is written, if the user wants that. Errors: `BadInput`."""
    if file is None:
        return None
    target = open_target(file)
    if target.path is None:
        raise BadInput("--quarantine -: expected a file", "findings are on stdout already; --json - has them, too")
    try:
        own = stack.enter_context(replacing(target.path))
        return stack.enter_context(own.open("w", encoding="utf-8"))
    except OSError as error:
        raise BadInput(f"{file}: cannot be written: {error.strerror}") from None


def _counted(batches: Iterable[Any], statistics: Statistics, progress: _Far) -> Iterator[Any]:
    for batch in batches:
        statistics.add(batch)
        progress.done(batch.num_rows)
        yield batch


def _written(request: TracesRequest, dataset: Located, batches: Iterator[Any]) -> dict[str, Any]:
    """Reads all batches, and writes them where the user wants that; returns what to report of it."""
    if request.action == "convert" and request.out is not None:
        if request.anonymised is not None:
            names = AnonymousNames(dataset.schema, request.anonymised, request.kept)
            names.learn(dataset.located(Findings()))
            batches = names.replaced(batches)
        with writing(Path(request.out), dataset.schema) as writer:
            for batch in batches:
                writer.write(batch)
        return {"out": request.out}
    if request.action == "cluster" and request.out is not None:
        parts = write_clustered(batches, Path(request.out), dataset.schema, part_records=request.part_records)
        return {"out": request.out, "files": len(parts)}
    for _ in batches:
        pass
    return {}


class Watched:
    """Records whose number is reported as they are read."""

    def __init__(self, dataset: Located, report: Callable[[int], None]) -> None:
        self.files = dataset.files
        self.schema = dataset.schema
        self.in_order = dataset.in_order
        self.clock_back_ns = dataset.clock_back_ns
        self._dataset = dataset
        self._report = report

    def located(self, findings: Findings) -> Iterator[Any]:
        """As that of the records themselves."""
        for batch in self._dataset.located(findings):
            self._report(batch.num_rows)
            yield batch


class _Far:
    """How many records were read, and how many of them were sorted and looked at."""

    def __init__(self, line: ProgressLine) -> None:
        self._line = line
        self._read = self._done = 0

    def read(self, records: int) -> None:
        """So many records more were read."""
        self._read += records
        self._line.update(lambda: f"{plural(self._read, 'record')} read")

    def done(self, records: int) -> None:
        """So many records more were looked at."""
        self._done += records
        self._line.update(lambda: f"{self._done:,} of {plural(self._read, 'record')} checked")
