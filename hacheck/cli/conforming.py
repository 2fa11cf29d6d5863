"""Carries out `hacheck conform`: reads the traces, has them judged, and reports."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from hacheck.cli.conforming_report import show_summary, show_verdict, title
from hacheck.cli.console import error_console, output_console
from hacheck.cli.guard import BadInput, ExitCode, version
from hacheck.cli.json_output import open_target
from hacheck.cli.options import all_known
from hacheck.cli.progress import Interruption
from hacheck.cli.selection import default_check, questions_of
from hacheck.cli.sources import instantiate, load_specification
from hacheck.cli.tracing import Progress, Watched, opened, quarantine, words
from hacheck.cli.tracing_report import show_findings
from hacheck.model.data import dataclass, replace
from hacheck.model.observing.lines import has_lines, lines_of, logged, without_lines
from hacheck.model.observing.records import ObservingError
from hacheck.traces.checking import checked_batches
from hacheck.traces.conformance.checker import TraceChecker
from hacheck.traces.conformance.verdicts import SCHEMA, Verdict, from_batch
from hacheck.traces.findings import Findings, TracesError
from hacheck.traces.records import EVENT

if TYPE_CHECKING:
    from hacheck.model.ir import System
    from hacheck.model.language import Specification


@dataclass(frozen=True, slots=True)
class ConformRequest:
    """What the user asked of `conform`."""

    spec: str
    traces: str
    adapter: str | None
    zone: str | None
    check: str | None
    settings: Mapping[str, str]
    every_step: bool
    hidden: str | None
    skew_ms: int
    capacity: int
    any_start: int
    properties: tuple[str, ...]
    out: str | None
    json: str | None
    quarantine: str | None
    runs: bool
    quiet: bool
    no_color: bool


@dataclass(frozen=True, slots=True)
class Compared:
    """What the traces are compared with. `check`: whose settings; `every_step`: whether each step is a line; `events`:
    those that the lines of the system have; `asked`: the invariants looked at on the way."""

    system: System
    check: str
    every_step: bool
    events: frozenset[str]
    asked: tuple[str, ...]


def conform_traces(request: ConformRequest) -> ExitCode:
    """Compares the traces with the protocol, shows what was found, and returns what the process is to return."""
    specification = load_specification(request.spec, no_color=request.no_color)
    compared = what_is_compared(request, specification)
    target = None if request.json is None else open_target(request.json)
    table = None if request.out is None else open_target(request.out)
    if table is not None and (table.path is None or table.path.suffix != ".parquet"):
        raise BadInput(f"--out {request.out}: verdicts are a table", "give a .parquet file")
    try:
        with ExitStack() as stack:
            findings = Findings(quarantine(request.quarantine, stack))
            verdicts, seen, finished = judged(request, compared, findings)
    except TracesError as error:
        raise BadInput(error.message, error.hint) from None
    except ObservingError as error:
        raise BadInput(f"{request.spec}: {error}", "see `log` in docs/language.md") from None
    code = exit_code(verdicts, findings, finished)
    if table is not None and table.path is not None:
        write_table(table.path, verdicts)
    if target is not None:
        target.write(to_json(request, compared, verdicts, seen, findings, code))
    if request.json != "-":
        console = output_console(no_color=request.no_color)
        show_summary(console, verdicts, unknown_events(compared, seen), finished)
        if findings.total:
            show_findings(console, findings)
    return code


def what_is_compared(request: ConformRequest, specification: Specification) -> Compared:
    """The system whose steps write lines. Errors: `BadInput` or `Reported` for what is not there."""
    questions = [question.name for question in questions_of(specification)]
    if request.check is not None:
        all_known("check", (request.check,), questions)
    check = request.check or default_check(specification)
    all_known("setting", request.settings, [parameter.name for parameter in specification.parameters])
    system = instantiate(specification, request.settings, check, logs=True, no_color=request.no_color)
    every_step = request.every_step or not has_lines(system)
    hidden = words(request.hidden, "--hide") or frozenset()
    system = logged(system, every_step)
    known = frozenset(line.event for action in system.actions for line in lines_of(action))
    all_known("event", hidden, sorted(known))
    invariants = [one.name for one in system.properties if one.kind == "invariant"]
    asked = tuple(invariants) if request.properties == ("all",) else request.properties
    all_known("invariant", asked, invariants)
    return Compared(without_lines(system, hidden), check, every_step, known - hidden, asked)


def judged(request: ConformRequest, compared: Compared, findings: Findings) -> tuple[list[Verdict], Counter[str], bool]:
    """The verdict on each trace, how often each event was seen, and whether all traces were judged."""
    console = output_console(no_color=request.no_color)
    shows = request.json != "-"
    verdicts: list[Verdict] = []
    seen: Counter[str] = Counter()
    progress = Progress(error_console(no_color=request.no_color), quiet=request.quiet)
    with Interruption().watching() as interruption, progress.shown():
        dataset = opened(request.traces, request.adapter, request.zone, findings)
        checker = TraceChecker(
            compared.system,
            dataset.schema.order,
            skew_ns=request.skew_ms * 1_000_000,
            asked=compared.asked,
            capacity=request.capacity,
            any_start=request.any_start,
        )
        if shows and not request.quiet:
            console.print(title(request.spec, compared.check, compared.every_step, checker))
        batches = checked_batches(Watched(dataset, progress.read), findings)
        for batch in checker.check(counted(batches, seen, progress), lambda: not interruption.requested):
            for verdict in from_batch(batch):
                verdicts.append(damaged(verdict, findings))
                if shows and verdicts[-1].kind != "conforms":
                    show_verdict(console, verdicts[-1], compared.system if request.runs else None)
    return [damaged(verdict, findings) for verdict in verdicts], seen, not interruption.requested


def counted(batches: Iterable[Any], seen: Counter[str], progress: Progress) -> Iterator[Any]:
    """The batches, of which the events are counted."""
    for batch in batches:
        for pair in batch.column(EVENT).value_counts().to_pylist():
            seen[pair["values"]] += pair["counts"]
        progress.done(batch.num_rows)
        yield batch


def damaged(verdict: Verdict, findings: Findings) -> Verdict:
    """The verdict, which is none where records of the trace are missing or unreadable."""
    found = findings.damaged.get(verdict.trace_id)
    if found is None or verdict.kind == "unknown":
        return verdict
    return replace(verdict, kind="unknown", reason=f"records of it are missing or damaged: {found.message}")


def unknown_events(compared: Compared, seen: Counter[str]) -> dict[str, int]:
    """The events that the spec says nothing of, and how often they were there."""
    return {event: number for event, number in seen.most_common() if event not in compared.events}


def exit_code(verdicts: list[Verdict], findings: Findings, finished: bool) -> ExitCode:
    """What the process returns: what is wrong with the input counts most, then traces that deviate."""
    kinds = {verdict.kind for verdict in verdicts}
    if findings.total:
        return ExitCode.BAD_INPUT
    if "deviates" in kinds:
        return ExitCode.NOT_AS_EXPECTED
    return ExitCode.AS_EXPECTED if finished and kinds == {"conforms"} else ExitCode.UNDECIDED


def write_table(path: Path, verdicts: list[Verdict]) -> None:
    """Writes the verdicts as Parquet. Errors: `BadInput`."""
    from hacheck.traces.conformance.verdicts import to_batch

    try:
        pq.write_table(pa.Table.from_batches([to_batch(verdicts)] if verdicts else [], schema=SCHEMA), path)
    except OSError as error:
        raise BadInput(f"{path}: cannot be written: {error.strerror}") from None


def to_json(
    request: ConformRequest,
    compared: Compared,
    verdicts: list[Verdict],
    seen: Counter[str],
    findings: Findings,
    code: ExitCode,
) -> dict[str, Any]:
    """Everything found, as JSON."""
    counts = Counter(verdict.kind for verdict in verdicts)
    return {
        "hacheck": version(),
        "spec": request.spec,
        "check": compared.check,
        "settings": dict(compared.system.settings),
        "traces": request.traces,
        "lines": "every step" if compared.every_step else "as the spec says",
        "skew_ms": request.skew_ms,
        "exit_code": int(code),
        "counts": {kind: counts[kind] for kind in ("conforms", "deviates", "unknown")},
        "records": sum(seen.values()),
        "not_compared": unknown_events(compared, seen),
        "verdicts": [verdict_json(verdict) for verdict in verdicts],
        "findings": findings.to_json(),
    }


def verdict_json(verdict: Verdict) -> dict[str, Any]:
    """A verdict as JSON; its run as those of `verify` are written."""
    return asdict(verdict) | {"run": json.loads(verdict.run) if verdict.run else None}
