"""Carries out `hacheck conform`: has the traces judged by a driver, and reports."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc
import pyarrow.parquet as pq

from hacheck.cli.conforming_report import show_summary, show_verdict, title
from hacheck.cli.console import error_console, output_console, plural
from hacheck.cli.guard import BadInput, ExitCode, version
from hacheck.cli.json_output import open_target
from hacheck.cli.options import all_known
from hacheck.cli.progress import Interruption
from hacheck.cli.selection import default_check, questions_of
from hacheck.cli.sources import instantiate, load_specification
from hacheck.cli.tracing import Progress, opened, quarantine, words
from hacheck.cli.tracing_report import show_findings
from hacheck.model.data import dataclass
from hacheck.model.observing.lines import has_lines, lines_of, logged, without_lines
from hacheck.model.observing.records import ObservingError
from hacheck.traces.conformance.checker import TraceChecker
from hacheck.traces.conformance.verdicts import Verdict, from_batch
from hacheck.traces.dataset import Dataset, Located
from hacheck.traces.drivers.contract import Outcome
from hacheck.traces.drivers.contract import Progress as Far
from hacheck.traces.drivers.local import Options, check_locally
from hacheck.traces.findings import Findings, TracesError
from hacheck.traces.records import EVENT, Order

if TYPE_CHECKING:
    from hacheck.model.ir import System
    from hacheck.model.language import Specification

SMALL_BYTES = 64_000_000
"""Less than this, in one order, is judged by one process: another would take longer to start."""

KINDS = ("violated", "perhaps")


@dataclass(frozen=True, slots=True)
class Comparison:
    """What the user asked traces to be compared with: under which check's settings and with which of the command line;
    whether a record stands for each step; which events leave no line."""

    check: str | None
    settings: Mapping[str, str]
    every_step: bool
    hidden: str | None


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
class Compared:
    """What the traces are compared with. `check`: whose settings; `every_step`: whether each step is a line; `events`:
    those that the lines of the system have; `asked`: the invariants looked at on the way."""

    system: System
    check: str
    every_step: bool
    events: frozenset[str]
    asked: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Judged:
    """What was found: by the driver; the table of verdicts, where it is asked for; for `violated` and `perhaps` how
    many traces violate each property; events that the spec says nothing of, and how often."""

    outcome: Outcome
    rows: tuple[Any, ...]
    violated: Mapping[str, Mapping[str, int]]
    not_compared: Mapping[str, int]


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
            show_verdict(console, verdict, compared.system if request.runs else None)
        show_summary(console, found.outcome, found.violated, found.not_compared)
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
        target = open_target(request.out)
        target.forget()
    elif path.exists():
        raise BadInput(f"--out {request.out}: exists", "Spark writes a new folder")
    return path


def what_is_compared(
    asked_for: Comparison, specification: Specification, properties: tuple[str, ...] = (), *, no_color: bool
) -> Compared:
    """The system whose steps write lines. Errors: `BadInput` or `Reported` for what is not there."""
    questions = [question.name for question in questions_of(specification)]
    if asked_for.check is not None:
        all_known("check", (asked_for.check,), questions)
    check = asked_for.check or default_check(specification)
    all_known("setting", asked_for.settings, [parameter.name for parameter in specification.parameters])
    system = instantiate(specification, asked_for.settings, check, logs=True, no_color=no_color)
    every_step = asked_for.every_step or not has_lines(system)
    hidden = words(asked_for.hidden, "--hide") or frozenset()
    system = logged(system, every_step)
    known = frozenset(line.event for action in system.actions for line in lines_of(action))
    all_known("event", hidden, sorted(known))
    invariants = [one.name for one in system.properties if one.kind == "invariant"]
    asked = tuple(invariants) if properties == ("all",) else properties
    all_known("invariant", asked, invariants)
    return Compared(without_lines(system, hidden), check, every_step, known - hidden, asked)


def judged(request: ConformRequest, compared: Compared, findings: Findings, table: Path) -> Judged:
    """The verdicts on all traces, and what else is said of them."""
    progress = Progress(error_console(no_color=request.no_color), quiet=request.quiet)
    with Interruption().watching() as interruption, progress.shown():

        def report(far: Far) -> bool:
            progress.tell(f"{far.phase}, {plural(far.records, 'record')}, {plural(far.traces, 'trace')} judged")
            return not interruption.requested

        dataset = opened(request.traces, request.adapter, request.zone, findings)
        checker = TraceChecker(
            compared.system,
            dataset.schema.order,
            skew_ns=request.skew_ms * 1_000_000,
            asked=compared.asked,
            capacity=request.capacity,
            any_start=request.any_start,
        )
        if request.json != "-" and not request.quiet:
            heading = title(request.spec, compared.check, compared.every_step, checker)
            output_console(no_color=request.no_color).print(heading)
        if request.engine == "spark":
            outcome = judged_on_spark(request, dataset, checker, findings, table, report)
        else:
            size = sum(file.size_bytes for file in dataset.files)
            workers = 1 if size < SMALL_BYTES and dataset.schema.order == Order.TOTAL else None
            outcome = check_locally(
                dataset, checker, findings, table=table, options=Options(workers=workers), report=report
            )
    if not outcome.complete:
        return Judged(outcome, (), {}, {})
    columns = None if request.json is not None else ["records", "compared", *KINDS]
    verdicts = pq.read_table(table, columns=columns)
    left_out = pc.sum(verdicts["records"]).as_py() != pc.sum(verdicts["compared"]).as_py()
    violated = {kind: Counter(name_of(one) for row in verdicts[kind].to_pylist() for one in row) for kind in KINDS}
    rows = tuple(verdicts.to_batches()) if request.json is not None else ()
    return Judged(outcome, rows, violated, unknown_events(dataset, compared) if left_out else {})


def judged_on_spark(
    request: ConformRequest,
    dataset: Located,
    checker: TraceChecker,
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
        return check_on_spark(spark, dataset, checker, findings, table=str(table.absolute()), report=report)
    finally:
        spark.stop()


def name_of(violation: str) -> str:
    """The property of `name@seq`."""
    return violation.partition("@")[0]


def unknown_events(dataset: Located, compared: Compared) -> dict[str, int]:
    """The events that the spec says nothing of, and how often they are there. Reads everything again."""
    seen: Counter[str] = Counter()
    for batch in dataset.located(Findings()):
        for pair in batch.column(EVENT).value_counts().to_pylist():
            seen[pair["values"]] += pair["counts"]
    return {event: number for event, number in seen.most_common() if event not in compared.events}


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
