"""Carries out `hacheck traces`: reads the records once, gives them to whoever wants them, and reports."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TextIO

from rich.console import Console

from hacheck.cli.console import error_console, output_console, plural
from hacheck.cli.guard import BadInput, ExitCode, version
from hacheck.cli.json_output import open_target
from hacheck.cli.tracing_report import show_findings, show_statistics, show_tally
from hacheck.model.data import dataclass
from hacheck.traces.adapters.loading import load
from hacheck.traces.adapters.logs import LogDataset, open_logs
from hacheck.traces.checking import Expected, checked_batches
from hacheck.traces.dataset import Located, open_traces
from hacheck.traces.findings import Findings, TracesError
from hacheck.traces.statistics import Statistics
from hacheck.traces.writing import write_clustered, writing

PROGRESS_SECONDS = 5.0
"""How often a line is written where there is no terminal."""


@dataclass(frozen=True, slots=True)
class TracesRequest:
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
    json: str | None
    quiet: bool
    no_color: bool


def look(request: TracesRequest) -> ExitCode:
    """Does what is asked for. Errors: `BadInput` where nothing can be read, or written."""
    if request.action in ("convert", "cluster") and request.out is None:
        raise BadInput(f"{request.action}: where to?", "add --out night.parquet, or a folder for cluster")
    if request.action not in ("convert", "cluster") and request.out is not None:
        raise BadInput(f"{request.action} writes no traces", "leave --out away, or use convert or cluster")
    if request.zone is not None and request.adapter is None:
        raise BadInput("--time-zone is for logs", "traces have times in UTC; for logs add --adapter NAME")
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
        findings = Findings(_quarantine(request, stack))
        dataset = opened(request, findings)
        console = error_console(no_color=request.no_color)
        watched = _watched(checked_batches(dataset, findings, expected), console, quiet=request.quiet)
        written = _written(request, dataset, _counted(watched, statistics))
    statistics.finish()
    code = ExitCode.BAD_INPUT if findings.total else ExitCode.AS_EXPECTED
    tally = dataset.tally if isinstance(dataset, LogDataset) else None
    if target is not None:
        content = {"hacheck": version(), "action": request.action, "place": request.place, "exit_code": int(code)}
        content |= {"schema": dataset.schema.header(), "findings": findings.to_json()}
        content |= {"traces": statistics.to_json(), "lines": None if tally is None else tally.to_json()}
        target.write(content | written)
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


def opened(request: TracesRequest, findings: Findings) -> Located:
    """The records at the place asked for. Errors: `TracesError`."""
    place = Path(request.place)
    if request.adapter is None:
        return open_traces(place, findings)
    zone = request.zone
    if zone is not None:
        from zoneinfo import ZoneInfo

        try:
            ZoneInfo(zone)
        except (ValueError, OSError, KeyError):
            raise BadInput(f"no time zone {zone!r}", "write UTC, or a name such as Europe/Berlin") from None
    return open_logs(place, load(request.adapter), zone)


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
        raise BadInput(f"{name} {text}: names nothing", f"for example {name} started,stopped")
    return known


def _quarantine(request: TracesRequest, stack: ExitStack) -> TextIO | None:
    if request.quarantine is None:
        return None
    target = open_target(request.quarantine)
    if target.path is None:
        raise BadInput("--quarantine -: findings are shown there already", "give a file, or use --json -")
    stream = stack.enter_context(target.path.open("w", encoding="utf-8"))
    return stream


def _counted(batches: Iterable[Any], statistics: Statistics) -> Iterator[Any]:
    for batch in batches:
        statistics.add(batch)
        yield batch


def _written(request: TracesRequest, dataset: Located, batches: Iterator[Any]) -> dict[str, Any]:
    """Reads all batches, and writes them where that is asked for; returns what to report of it."""
    if request.action == "convert" and request.out is not None:
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


def _watched(batches: Iterable[Any], console: Console, *, quiet: bool) -> Iterator[Any]:
    """The batches; how many records have come is shown meanwhile, on standard error."""
    begun, records = time.monotonic(), 0
    with ExitStack() as stack:
        tell: Callable[[str], object] = lambda text: None  # noqa: E731
        every = PROGRESS_SECONDS
        if not quiet and console.is_terminal and not console.is_dumb_terminal:
            status = stack.enter_context(console.status("reading"))
            tell, every = status.update, 0.2
        elif not quiet:
            tell = lambda text: console.print(text, markup=False, soft_wrap=True)  # noqa: E731
        due = begun + every
        for batch in batches:
            records += batch.num_rows
            if time.monotonic() >= due:
                due = time.monotonic() + every
                rate = records / (time.monotonic() - begun)
                tell(f"{plural(records, 'record')}, {rate:,.0f}/s")
            yield batch
    sys.stderr.flush()
