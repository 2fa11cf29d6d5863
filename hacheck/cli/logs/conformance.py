"""Carries out `hacheck conform`: has the traces checked by a driver, and reports."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

from msgspec import Struct, structs

from hacheck.api import conformance
from hacheck.api.comparison import Checker, Compared, system_under, unchecked, unknown_events, writers_of
from hacheck.api.conform_document import conform_document
from hacheck.api.explaining_settings import OtherChoice
from hacheck.api.trace_comparison import stamp_skew_ms
from hacheck.api.trace_junit import junit
from hacheck.cli.console import output_console
from hacheck.cli.guard import BadInput, ExitCode
from hacheck.cli.json_output import open_target
from hacheck.cli.logs.comparison_options import ComparisonOptions, what_is_compared
from hacheck.cli.logs.conformance_on_spark import (
    Elsewhere,
    SparkOptions,
    checked_on_spark,
    elsewhere,
    is_elsewhere,
    table_on_spark,
)
from hacheck.cli.logs.conformance_report import show_summary, show_verdict, title
from hacheck.cli.logs.explaining_switches import other_choices, show_choices, show_switches
from hacheck.cli.logs.raw_lines import raw_line
from hacheck.cli.logs.traces import opened, quarantine
from hacheck.cli.logs.traces_report import show_findings
from hacheck.cli.main import is_own_process
from hacheck.cli.progress import ProgressLine
from hacheck.cli.sources import load_specification
from hacheck.documents.records import ConformDocument
from hacheck.model.ir import System
from hacheck.model.language import Specification
from hacheck.model.observing.record_layout import ObservingError
from hacheck.supervise.interruption import Interruption
from hacheck.traces.arrow_without_pandas import leave_pandas_out
from hacheck.traces.conformance.verdicts import Verdict
from hacheck.traces.data.contradictions import MEANINGS
from hacheck.traces.data.data_verdicts import data_rules_of
from hacheck.traces.dataset import Located
from hacheck.traces.drivers.contract import Outcome
from hacheck.traces.drivers.contract import Progress as Far
from hacheck.traces.drivers.local import Options, check_locally
from hacheck.traces.drivers.log_verdicts import LogVerdicts
from hacheck.traces.findings import Findings, TracesError
from hacheck.traces.records import Order
from hacheck.wording import plural

SMALL_BYTES = 64_000_000
"""Less than this, in one order, is checked by one process: another would take longer to start."""

HERE_BYTES = 256_000
"""Less than this is checked in this process."""


class ConformRequest(Struct, frozen=True):
    """What the user wants of `conform`."""

    spec: str
    traces: str
    adapter: str | None
    zone: str | None
    comparison: ComparisonOptions
    skew_ms: int
    capacity: int
    any_start: int
    engine: str
    properties: tuple[str, ...]
    strict: bool
    out: str | None
    json: str | None
    quarantine: str | None
    runs: bool
    quiet: bool
    no_color: bool
    report: str | None = None
    junit: str | None = None
    switches: int = 0
    spark: SparkOptions = SparkOptions()


class ConformResult(Struct, frozen=True):
    """What was found, for the terminal and as JSON. `compared`: what the traces were compared with; `checker`: by what;
    `not_compared`: the records of each event that the spec does not know; `unread`: files in the folder of logs that no
    adapter reads; `others`: what would be reported of the first traces that deviate, or violate a property, without
    what the spec chooses for logs."""

    request: ConformRequest
    compared: Compared
    checker: Checker
    outcome: Outcome
    findings: Findings
    not_compared: Mapping[str, int]
    unread: tuple[str, ...] = ()
    others: tuple[tuple[Verdict, OtherChoice], ...] = ()

    @property
    def descriptions(self) -> Mapping[str, str]:
        """What the spec says of each property."""
        return {**MEANINGS, **{one.name: one.description for one in self.compared.system.properties}}

    @property
    def exit_code(self) -> ExitCode:
        """What the process returns."""
        return exit_code(self.outcome, self.findings, strict=self.request.strict)

    def system_of(self, verdict: Verdict) -> System:
        """The system that a trace was compared with, under the settings that its records gave."""
        return system_under(self.checker, verdict.settings)


def conform_traces(request: ConformRequest) -> ExitCode:
    """Compares the traces with the protocol, shows what was found, and returns what the process is to return."""
    if request.engine == "local" and is_own_process():
        leave_pandas_out()
    specification = load_specification(request.spec, no_color=request.no_color, defaults_only=True)
    compared = what_is_compared(request.comparison, specification, request.properties, no_color=request.no_color)
    target = None if request.json is None else open_target(request.json)
    page = None if request.report is None else open_target(request.report)
    suite = None if request.junit is None else open_target(request.junit)
    try:
        with ExitStack() as stack:
            findings = Findings(quarantine(request.quarantine, stack))
            found = check_traces(request, compared, findings, table_of(request))
            if not reads_elsewhere(request):
                found = structs.replace(found, others=tuple(other_choices(found)))
            if target is not None:
                target.write(document_of(found))
            if suite is not None:
                suite.save(junit(document_of(found), strict=request.strict))
            if page is not None:
                page.save(report_of(found, specification))
    except TracesError as error:
        raise BadInput(error.message, error.hint) from None
    except ObservingError as error:
        raise BadInput(f"{request.spec}: {error}", "see `log` in docs/language.md: hacheck explain language") from None
    if request.json != "-":
        show_result(found)
        if request.switches:
            show_switches(output_console(no_color=request.no_color), found)
    return refused(found) or found.exit_code


def refused(found: ConformResult) -> ExitCode | None:
    """Says which properties that the user selected could not be checked, if there are any and nothing is violated."""
    missing = unchecked(found.compared, found.checker, found.outcome)
    if not missing or found.request.properties == ("all",) or found.exit_code == ExitCode.NOT_AS_EXPECTED:
        return None
    name, number = next(iter(missing.items()))
    message = f"`{name}` cannot be checked in {plural(number, 'trace')}: what it reads, their records leave empty"
    raise BadInput(message, "the spec's `trace` block says which records give the settings that it needs")


def report_of(found: ConformResult, specification: Specification) -> str:
    """The page that `--report` asks for. The records are read again: what was compared is no longer there."""
    from hacheck.cli.page.conform_data import conform_report

    request = found.request
    return conform_report(specification, found, opened(request.traces, request.adapter, request.zone, Findings()))


def show_result(found: ConformResult) -> None:
    """Prints the traces that do not conform, the summary, and what is wrong with the records."""
    console = output_console(no_color=found.request.no_color)
    for verdict in found.outcome.shown:
        system = found.system_of(verdict) if found.request.runs else None
        raw = None
        if verdict.kind != "conforms" and found.request.adapter is not None:
            raw = raw_line(found.request.traces, verdict.file, verdict.line)
        show_verdict(console, verdict, system, found.descriptions, raw)
    show_summary(console, found.outcome, found.not_compared, found.unread)
    show_choices(console, found)
    if found.findings.total:
        show_findings(console, found.findings)


def table_of(request: ConformRequest) -> str | None:
    """Where the table of verdicts is written, if it is requested. Errors: `BadInput` where it cannot be."""
    if request.out is None:
        return None
    if request.engine == "spark":
        return table_on_spark(request.out)
    if is_elsewhere(request.out):
        raise BadInput(f"--out {request.out}: not on this machine", "give a file here, or add --engine spark")
    if Path(request.out).suffix != ".parquet":
        raise BadInput(f"--out {request.out}: expected a .parquet file", "for example --out verdicts.parquet")
    open_target(request.out)
    return request.out


def reads_elsewhere(request: ConformRequest) -> bool:
    """Whether Spark reads traces that are not on this machine."""
    return request.engine == "spark" and is_elsewhere(request.traces)


def check_traces(request: ConformRequest, compared: Compared, findings: Findings, table: str | None) -> ConformResult:
    """The verdicts on all traces."""
    line = ProgressLine(quiet=request.quiet, no_color=request.no_color)
    with Interruption().watching() as interruption, line.shown("reading"):

        def report(far: Far) -> bool:
            line.update(lambda: words_of(far))
            return not interruption.requested

        dataset: Located | Elsewhere
        if reads_elsewhere(request):
            dataset, skew_ms = elsewhere(request), request.skew_ms
        else:
            dataset = opened(request.traces, request.adapter, request.zone, findings)
            skew_ms = request.skew_ms + stamp_skew_ms(dataset)
        size = HERE_BYTES if isinstance(dataset, Elsewhere) else sum(file.size_bytes for file in dataset.files)
        base = compared.base(
            dataset.schema.order,
            skew_ms=skew_ms,
            capacity=request.capacity,
            any_start=request.any_start,
            quick=size < HERE_BYTES,
        )
        checker = compared.checker(base)
        if request.json != "-" and not request.quiet:
            heading = title(request.spec, compared.check, compared.given, compared.every_step, base)
            output_console(no_color=request.no_color).print(heading)
        if request.engine == "spark":
            collect = collects(request)
            outcome = checked_on_spark(request, dataset, checker, findings, table, report, collect=collect)
        else:
            assert not isinstance(dataset, Elsewhere), "only Spark reads it"
            workers = 1 if size < SMALL_BYTES and dataset.schema.order == Order.TOTAL else None
            completed = LogVerdicts(dataset, base.skew_ns)
            collect, options = collects(request), Options(workers=workers, here=size < HERE_BYTES)
            outcome = check_locally(
                dataset,
                checker,
                findings,
                table=None if table is None else Path(table),
                collect=collect,
                options=options,
                report=report,
                completed=completed,
            )
            for finding in completed.absences(lambda settings: writers_of(system_under(checker, settings))):
                findings.add(finding)
    rules = None if isinstance(dataset, Elsewhere) else data_rules_of(dataset)
    not_compared = unknown_events(outcome, compared, checker, frozenset() if rules is None else rules.own_events)
    return ConformResult(
        structs.replace(request, skew_ms=skew_ms),
        compared,
        checker,
        outcome,
        findings,
        not_compared,
        getattr(dataset, "unread", ()),
    )


def words_of(far: Far) -> str:
    """How far a driver is, in words. Spark counts tasks while it works, and records only at the end."""
    share = f" {far.done} of {far.total}" if far.total > 1 else ""
    counted = f", {plural(far.records, 'record')}, {plural(far.traces, 'trace')} checked" if far.records else ""
    trace = (
        f", {100 * far.trace_done // far.trace_total} % of a trace of {far.trace_total:,}" if far.trace_total else ""
    )
    return f"{far.phase}{share}{counted}{trace}"


def collects(request: ConformRequest) -> bool:
    """Whether every verdict is needed at the end, not only those that are printed."""
    return (request.json or request.report or request.junit) is not None


def exit_code(outcome: Outcome, findings: Findings, *, strict: bool = False) -> ExitCode:
    """What the process returns; `strict`: see `hacheck.api.conformance.exit_code`."""
    return ExitCode(conformance.exit_code(outcome, findings, strict=strict))


def document_of(found: ConformResult) -> ConformDocument:
    """Everything found, as `--json` writes it."""
    request, compared = found.request, found.compared
    return conform_document(
        spec=request.spec,
        traces=request.traces,
        compared=compared,
        skew_ms=request.skew_ms,
        exit_code=found.exit_code,
        outcome=found.outcome,
        not_compared=found.not_compared,
        findings=found.findings,
        without_choices=[(verdict.trace_id, other) for verdict, other in found.others],
    )
