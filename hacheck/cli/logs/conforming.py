"""Carries out `hacheck conform`: has the traces judged by a driver, and reports."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pyarrow.parquet as pq

from hacheck.cli.console import output_console, plural
from hacheck.cli.guard import BadInput, ExitCode, version
from hacheck.cli.json_output import open_target
from hacheck.cli.logs.comparing import Compared, Comparison, Judge, events_of, system_under, what_is_compared
from hacheck.cli.logs.conforming_report import show_summary, show_verdict, title
from hacheck.cli.logs.tracing import opened, quarantine
from hacheck.cli.logs.tracing_report import show_findings
from hacheck.cli.progress import Interruption
from hacheck.cli.progress_line import ProgressLine
from hacheck.cli.sources import load_specification
from hacheck.model.data import dataclass
from hacheck.model.observing.records import ObservingError
from hacheck.traces.conformance.checker import TraceChecker
from hacheck.traces.conformance.verdicts import Verdict, from_batch
from hacheck.traces.dataset import Dataset, Located
from hacheck.traces.drivers.contract import Outcome
from hacheck.traces.drivers.contract import Progress as Far
from hacheck.traces.drivers.local import Options, check_locally
from hacheck.traces.findings import Findings, TracesError
from hacheck.traces.records import EVENT, Order

SMALL_BYTES = 64_000_000
"""Less than this, in one order, is judged by one process: another would take longer to start."""

KINDS = ("violated", "perhaps", "late", "perhaps late")


@dataclass(frozen=True, slots=True)
class ConformRequest:
    """What the user asked of `conform`."""

    spec: str
    traces: str
    adapter: str | None
    zone: str | None
    comparison: Comparison
    skew_ms: int
    capacity: int
    any_start: int
    engine: str
    master: str | None
    properties: tuple[str, ...]
    out: str | None
    json: str | None
    quarantine: str | None
    runs: bool
    quiet: bool
    no_color: bool


@dataclass(frozen=True, slots=True)
class Judged:
    """What was found: by the driver; the table of verdicts, where it is asked for; by what was wrong (`KINDS`) in how
    many traces it was with each property; events that the spec says nothing of, and how often; how many traces gave
    which settings; who judged."""

    outcome: Outcome
    rows: tuple[Any, ...]
    violated: Mapping[str, Mapping[str, int]]
    not_compared: Mapping[str, int]
    settings: Mapping[str, int]
    judge: Judge


def conform_traces(request: ConformRequest) -> ExitCode:
    """Compares the traces with the protocol, shows what was found, and returns what the process is to return."""
    specification = load_specification(request.spec, no_color=request.no_color)
    compared = what_is_compared(request.comparison, specification, request.properties, no_color=request.no_color)
    target = None if request.json is None else open_target(request.json)
    try:
        with ExitStack() as stack:
            findings = Findings(quarantine(request.quarantine, stack))
            found = judged(request, compared, findings, table_of(request, stack))
            code = exit_code(found.outcome, findings)
            if target is not None:
                target.write(to_json(request, compared, found, findings, code))
    except TracesError as error:
        raise BadInput(error.message, error.hint) from None
    except ObservingError as error:
        raise BadInput(f"{request.spec}: {error}", "see `log` in docs/language.md") from None
    if request.json != "-":
        console = output_console(no_color=request.no_color)
        for verdict in found.outcome.shown:
            system = system_under(found.judge, verdict.settings) if request.runs else None
            show_verdict(console, verdict, system)
        show_summary(console, found.outcome, found.violated, found.not_compared, found.settings)
        if findings.total:
            show_findings(console, findings)
    return code


def table_of(request: ConformRequest, stack: ExitStack) -> Path:
    """Where the table of verdicts is written. Errors: `BadInput` where it cannot be."""
    if request.out is None:
        return Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hacheck-verdicts-"))) / "verdicts.parquet"
    path = Path(request.out)
    if request.engine == "local":
        if path.suffix != ".parquet":
            raise BadInput(f"--out {request.out}: verdicts are a table", "give a .parquet file")
        open_target(request.out)
    elif path.exists():
        raise BadInput(f"--out {request.out}: exists", "Spark writes a new folder")
    return path


def judged(request: ConformRequest, compared: Compared, findings: Findings, table: Path) -> Judged:
    """The verdicts on all traces, and what else is said of them."""
    line = ProgressLine(quiet=request.quiet, no_color=request.no_color)
    with Interruption().watching() as interruption, line.shown("reading"):

        def report(far: Far) -> bool:
            line.tell(lambda: f"{far.phase}, {plural(far.records, 'record')}, {plural(far.traces, 'trace')} judged")
            return not interruption.requested

        dataset = opened(request.traces, request.adapter, request.zone, findings)
        checker = TraceChecker(
            compared.system,
            dataset.schema.order,
            skew_ns=request.skew_ms * 1_000_000,
            asked=compared.asked,
            capacity=request.capacity,
            any_start=request.any_start,
            rules=compared.rules,
            called=compared.called,
        )
        judge = compared.judge(checker)
        if request.json != "-" and not request.quiet:
            heading = title(request.spec, compared.check, compared.given, compared.every_step, checker)
            output_console(no_color=request.no_color).print(heading)
        if request.engine == "spark":
            outcome = judged_on_spark(request, dataset, judge, findings, table, report)
        else:
            size = sum(file.size_bytes for file in dataset.files)
            workers = 1 if size < SMALL_BYTES and dataset.schema.order == Order.TOTAL else None
            outcome = check_locally(
                dataset, judge, findings, table=table, options=Options(workers=workers), report=report
            )
    if not outcome.complete:
        return Judged(outcome, (), {}, {}, {}, judge)
    columns = None if request.json is not None else ["records", "compared", "violated", "perhaps", "late", "settings"]
    verdicts = pq.read_table(table, columns=columns)
    settings = Counter(text for row in verdicts["settings"].to_pylist() for text in row)
    left_out = pc.sum(verdicts["records"]).as_py() != pc.sum(verdicts["compared"]).as_py()
    not_compared: dict[str, int] = {}
    if left_out:
        ways = {tuple(row) for row in verdicts["settings"].to_pylist()} or {()}
        known = {one.event for one in compared.derived}.union(*(events_of(system_under(judge, way)) for way in ways))
        not_compared = unknown_events(dataset, known)
    rows = tuple(verdicts.to_batches()) if request.json is not None else ()
    return Judged(outcome, rows, broken_in(verdicts), not_compared, settings, judge)


def broken_in(verdicts: Any) -> dict[str, Counter[str]]:
    """In how many traces each property was broken, by what was wrong with it."""
    found: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
    for kind in ("violated", "perhaps"):
        found[kind].update(name_of(one) for row in verdicts[kind].to_pylist() for one in row)
    for row in verdicts["late"].to_pylist():
        for sure, kind in ((True, "late"), (False, "perhaps late")):
            found[kind].update({one["invariant"] for one in row if one["sure"] == sure})
    return found


def judged_on_spark(
    request: ConformRequest,
    dataset: Located,
    judge: Judge,
    findings: Findings,
    table: Path,
    report: Callable[[Far], bool],
) -> Outcome:
    """The same on Spark. Errors: `BadInput` for logs, which only this machine reads; `DriverError`."""
    from hacheck.traces.drivers.spark_batch import check_on_spark
    from hacheck.traces.drivers.spark_session import session

    if not isinstance(dataset, Dataset):
        hint = f"hacheck traces convert {request.traces} --adapter {request.adapter} --out traces.parquet"
        raise BadInput("logs are read on one machine, traces by Spark", hint)
    spark = session(request.master)
    try:
        return check_on_spark(spark, dataset, judge, findings, table=str(table.absolute()), report=report)
    finally:
        spark.stop()


def name_of(violation: str) -> str:
    """The property of `name@seq`."""
    return violation.partition("@")[0]


def unknown_events(dataset: Located, known: Collection[str]) -> dict[str, int]:
    """The events that the spec says nothing of, and how often they are there. Reads everything again."""
    seen: Counter[str] = Counter()
    for batch in dataset.located(Findings()):
        for pair in batch.column(EVENT).value_counts().to_pylist():
            seen[pair["values"]] += pair["counts"]
    return {event: number for event, number in seen.most_common() if event not in known}


def exit_code(outcome: Outcome, findings: Findings) -> ExitCode:
    """What the process returns: what is wrong with the input counts most, then traces that deviate."""
    if findings.total:
        return ExitCode.BAD_INPUT
    if outcome.counts.get("deviates"):
        return ExitCode.NOT_AS_EXPECTED
    undecided = outcome.counts.get("unknown") or not outcome.complete or not outcome.traces
    return ExitCode.UNDECIDED if undecided else ExitCode.AS_EXPECTED


def to_json(
    request: ConformRequest, compared: Compared, found: Judged, findings: Findings, code: ExitCode
) -> dict[str, Any]:
    """Everything found, as JSON."""
    counts = found.outcome.counts
    return {
        "hacheck": version(),
        "spec": request.spec,
        "check": compared.check,
        "settings": dict(compared.system.settings),
        "traces": request.traces,
        "lines": "every step" if compared.every_step else "as the spec says",
        "skew_ms": request.skew_ms,
        "within_ns": {rule.name: rule.nanoseconds for rule in compared.rules},
        "exit_code": int(code),
        "complete": found.outcome.complete,
        "counts": {kind: counts.get(kind, 0) for kind in ("conforms", "deviates", "unknown")},
        "records": found.outcome.records,
        "not_compared": found.not_compared,
        "verdicts": [verdict_json(verdict) for batch in found.rows for verdict in from_batch(batch)],
        "findings": findings.to_json(),
    }


def verdict_json(verdict: Verdict) -> dict[str, Any]:
    """A verdict as JSON; its run as those of `verify` are written."""
    return asdict(verdict) | {"run": json.loads(verdict.run) if verdict.run else None}
