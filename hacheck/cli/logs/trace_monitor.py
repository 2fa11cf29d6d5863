"""Carries out `hacheck monitor`: has a driver check traces as they come."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from hacheck.api.comparison import Checker, Compared
from hacheck.cli.console import output_console
from hacheck.cli.guard import BadInput, ExitCode
from hacheck.cli.logs.alert_delivery import Receivers, receivers
from hacheck.cli.logs.comparison_options import ComparisonOptions, what_is_compared
from hacheck.cli.logs.conformance import exit_code
from hacheck.cli.logs.conformance_report import show_summary, show_verdict
from hacheck.cli.logs.traces import words
from hacheck.cli.logs.traces_report import show_findings
from hacheck.cli.progress import ProgressLine
from hacheck.cli.sources import load_specification
from hacheck.model.observing.record_layout import ObservingError
from hacheck.supervise.interruption import Interruption
from hacheck.traces.conformance.trace_checker import TraceChecker
from hacheck.traces.drivers.contract import Outcome, Report
from hacheck.traces.drivers.contract import Progress as Far
from hacheck.traces.drivers.received_trace import Ends
from hacheck.traces.drivers.tail import Tailing, monitor_locally
from hacheck.traces.findings import Findings, TracesError
from hacheck.traces.records import FieldType, Order, TraceSchema
from hacheck.traces.simulation.line_variables import points_of
from hacheck.traces.simulation.record_values import field_types
from hacheck.wording import plural


class FollowedLogs(Struct, frozen=True):
    """What the user said of logs that are followed: how they are read, who gets alerts, where metrics are served."""

    adapter: str
    zone: str | None
    delay_seconds: float
    receivers: Receivers
    metrics: int | None


def logs_followed(
    adapter: str | None,
    zone: str | None,
    delay_seconds: float,
    webhook: str | None,
    command: str | None,
    metrics: int | None,
) -> FollowedLogs | None:
    """The logs that are followed, if there is an adapter. Errors: `BadInput` for an option that only they have."""
    if adapter is not None:
        return FollowedLogs(adapter, zone, delay_seconds, receivers(webhook, command), metrics)
    for name, value in {"--webhook": webhook, "--alert-command": command, "--metrics": metrics}.items():
        if value is not None:
            raise BadInput(f"{name} is for logs", "add --adapter NAME; without it FOLDER has files of JSON lines")
    return None


class MonitorRequest(Struct, frozen=True):
    """What the user wants of `monitor`."""

    spec: str
    folder: str
    results: str
    comparison: ComparisonOptions
    properties: tuple[str, ...]
    logs: FollowedLogs | None
    per_node: bool
    skew_ms: int
    capacity: int
    last: str | None
    idle_seconds: float
    once: bool
    engine: str
    master: str | None
    quiet: bool
    no_color: bool


class Watched(Struct, frozen=True):
    """What is watched, and by whom: the schema of the records, and when a trace is over."""

    checker: Checker
    schema: TraceSchema
    ends: Ends


def monitor_traces(request: MonitorRequest) -> ExitCode:
    """Checks traces until it is stopped. Returns what the process is to return."""
    specification = load_specification(request.spec, no_color=request.no_color, defaults_only=True)
    compared = what_is_compared(request.comparison, specification, request.properties, no_color=request.no_color)
    results = Path(request.results)
    if results.resolve().is_relative_to(Path(request.folder).resolve()):
        hint = "give a folder outside it: verdicts would be read as records"
        raise BadInput(f"--results {results}: lies in the folder that is watched", hint)
    try:
        results.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"{results}: cannot be created: {error.strerror}") from None
    if request.logs is not None:
        return logs_monitored(request, request.logs, compared, results)
    watched = what_is_watched(request, compared)
    findings = Findings()
    line = ProgressLine(quiet=request.quiet, no_color=request.no_color)
    with Interruption().watching() as interruption, line.shown("reading"):

        def report(far: Far) -> bool:
            line.update(lambda: f"{plural(far.records, 'record')}, {plural(far.traces, 'trace')} checked; Ctrl-C ends")
            return not interruption.requested

        try:
            outcome = by_driver(request, watched, results, findings, report)
        except TracesError as error:
            raise BadInput(error.message, error.hint) from None
        except ObservingError as error:
            raise BadInput(
                f"{request.spec}: {error}", "see `log` in docs/language.md: hacheck explain language"
            ) from None
    console = output_console(no_color=request.no_color)
    for verdict in outcome.shown:
        show_verdict(console, verdict, None, {one.name: one.description for one in compared.system.properties})
    show_summary(console, outcome, {})
    console.print(f"verdicts: {outcome.table}", markup=False, soft_wrap=True)
    if findings.total:
        show_findings(console, findings)
    code = exit_code(outcome, findings)
    return ExitCode.AS_EXPECTED if code == ExitCode.UNDECIDED and not outcome.counts.get("unknown") else code


def logs_monitored(request: MonitorRequest, logs: FollowedLogs, compared: Compared, results: Path) -> ExitCode:
    """Follows logs with an adapter. Errors: `BadInput`."""
    from hacheck.cli.logs.log_monitor import LiveRequest, monitor_logs

    live = LiveRequest(
        folder=Path(request.folder),
        results=results,
        adapter=logs.adapter,
        zone=logs.zone,
        skew_ms=request.skew_ms,
        capacity=request.capacity,
        delay_seconds=logs.delay_seconds,
        once=request.once,
        receivers=logs.receivers,
        metrics=logs.metrics,
        quiet=request.quiet,
        no_color=request.no_color,
    )
    try:
        return monitor_logs(live, compared)
    except TracesError as error:
        raise BadInput(error.message, error.hint) from None
    except ObservingError as error:
        raise BadInput(f"{request.spec}: {error}", "see `log` in docs/language.md: hacheck explain language") from None


def what_is_watched(request: MonitorRequest, compared: Compared) -> Watched:
    """The checker, and what records look like: as the lines of the spec do."""
    order = Order.PER_NODE if request.per_node else Order.TOTAL
    checker = TraceChecker(
        compared.system,
        order,
        skew_ns=request.skew_ms * 1_000_000,
        capacity=request.capacity,
        checked=compared.checked,
        rules=compared.rules,
        called=compared.called,
    )
    _, points, _ = points_of(compared.system)
    fields = {**given_fields(compared), **field_types(points)}
    schema = TraceSchema(tuple(fields.items()), order)
    last = words(request.last, "--last") or frozenset()
    return Watched(compared.checker(checker), schema, Ends(events=last, idle_seconds=request.idle_seconds))


def given_fields(compared: Compared) -> dict[str, FieldType]:
    """The fields that give settings, as they may be where no line shows them: lists where their size counts."""
    found = {}
    for one in compared.derived:
        if one.field is not None:
            value = dict(compared.system.settings)[one.setting]
            plain = FieldType.INT if value.lstrip("-").isdigit() else FieldType.STRING
            plain = FieldType.BOOL if value in ("on", "off") else plain
            found[one.field] = FieldType.INTS if one.counted else plain
    return found


def by_driver(request: MonitorRequest, watched: Watched, results: Path, findings: Findings, report: Report) -> Outcome:
    """Checks with the selected driver. Errors: `TracesError`, `ObservingError`."""
    place = Path(request.folder)
    if request.engine == "local":
        tailing = Tailing(
            place,
            watched.schema,
            watched.checker,
            verdicts=results / "verdicts.jsonl",
            checkpoint=results / "checkpoint.json",
            ends=watched.ends,
        )
        return monitor_locally(tailing, findings, report, once=request.once)
    from hacheck.traces.drivers.spark_session import end, session
    from hacheck.traces.drivers.spark_stream import Monitoring, monitor_on_spark

    spark = session(request.master)
    try:
        monitoring = Monitoring(
            place, watched.schema, watched.checker, results / "verdicts", results / "checkpoint", watched.ends
        )
        return monitor_on_spark(spark, monitoring, findings, report)
    finally:
        end(spark)
