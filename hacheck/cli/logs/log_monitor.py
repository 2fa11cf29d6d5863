"""Carries out `hacheck monitor --adapter`: follows logs while they are written, shows how it stands, raises alerts."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from rich.console import Group
from rich.table import Table
from rich.text import Text

from hacheck.api.comparison import Compared
from hacheck.cli.console import error_console, output_console, visible
from hacheck.cli.guard import BadInput, ExitCode
from hacheck.cli.logs.alert_delivery import Delivery, Receivers
from hacheck.cli.logs.conformance_report import show_verdict
from hacheck.cli.logs.monitor_metrics import Figures, MetricsServer
from hacheck.cli.progress import is_live
from hacheck.supervise.interruption import Interruption
from hacheck.traces.adapters.adapter_files import load
from hacheck.traces.adapters.log_extent import needed_skew_ns
from hacheck.traces.adapters.logs import LogDataset, logs_in
from hacheck.traces.conformance.verdicts import Verdict
from hacheck.traces.drivers.live_monitor import Alert, LiveMonitor, Watch
from hacheck.traces.findings import FreshFindings
from hacheck.wording import plural

if TYPE_CHECKING:
    from rich.live import Live

POLL_SECONDS = 0.05
ALERTS_SHOWN = 8
WORDS = {"violated": "bad", "deviates": "bad", "possible": "warn", "distance": "warn", "finding": "warn"}


class LiveRequest(Struct, frozen=True):
    """What the user wants of a monitor of logs."""

    folder: Path
    results: Path
    adapter: str
    zone: str | None
    skew_ms: int
    capacity: int
    delay_seconds: float
    once: bool
    receivers: Receivers
    metrics: int | None
    quiet: bool
    no_color: bool


def monitor_logs(request: LiveRequest, compared: Compared) -> ExitCode:
    """Follows logs until it is stopped. Returns what the process is to return. Errors: `TracesError`, `BadInput`."""
    if not request.folder.is_dir():
        raise BadInput(f"{request.folder}: no such folder", "create the folder that logs will be written into")
    adapter = load(request.adapter)
    present = LogDataset(logs_in(request.folder, adapter), adapter, request.zone)
    skew_ms = request.skew_ms + needed_skew_ns(present) // 1_000_000
    base = compared.base(present.schema.order, skew_ms=skew_ms, capacity=request.capacity, any_start=0)
    watch = Watch(
        request.folder,
        adapter,
        request.zone,
        present.schema,
        compared.checker(base),
        request.results,
        request.delay_seconds,
    )
    findings = FreshFindings()
    with ExitStack() as stack:
        interruption = stack.enter_context(Interruption().watching())
        monitor = LiveMonitor(watch, findings)
        delivery = Delivery(request.receivers, monitor.undelivered() if request.receivers else (), monitor.delivered)
        stack.callback(delivery.close)
        server = None
        if request.metrics is not None:
            server = MetricsServer(request.metrics)
            stack.callback(server.close)
            if not request.quiet:
                error_console(no_color=request.no_color).print(
                    f"metrics: http://127.0.0.1:{server.port}/metrics", markup=False, highlight=False
                )
        screen = stack.enter_context(shown(request))
        _follow(request, monitor, delivery, server, screen, lambda: not interruption.requested)
        delivery.close()
        if request.receivers:
            monitor.note_delivered(delivery.delivered)
    return _end(request, compared, monitor, delivery)


def _follow(
    request: LiveRequest,
    monitor: LiveMonitor,
    delivery: Delivery,
    server: MetricsServer | None,
    screen: Screen,
    goes_on: Callable[[], bool],
) -> None:
    """Looks for new lines until it is stopped; with `--once`, until there are none."""
    while goes_on():
        now = time.time()
        raised = monitor.step(now, goes_on)
        ends = request.once and raised is None
        if ends:
            raised = monitor.step(now, goes_on, last=True)
        if raised:
            delivery.add(raised)
            screen.alerts(raised)
        if request.receivers:
            monitor.note_delivered(delivery.delivered)
        figures = Figures(
            monitor.records,
            monitor.findings.total,
            dict(monitor.alerts),
            monitor.raised - delivery.delivered if request.receivers else 0,
            now,
            {name: trace.now for name, trace in monitor.traces.items()},
        )
        if server is not None:
            server.figures = figures
        screen.update(figures, delivery.failure)
        if ends:
            return
        if raised is None:
            time.sleep(POLL_SECONDS)


def _end(request: LiveRequest, compared: Compared, monitor: LiveMonitor, delivery: Delivery) -> ExitCode:
    """Shows how each trace stands, and says what the process returns."""
    console = output_console(no_color=request.no_color)
    verdicts = monitor.verdicts()
    descriptions = {one.name: one.description for one in compared.system.properties}
    for verdict in verdicts:
        if verdict.kind != "conforms" or verdict.violated or verdict.perhaps:
            show_verdict(console, verdict, None, descriptions)
        for line in _inevitable(monitor, verdict):
            console.print(Text(f"    {line}"), soft_wrap=True)
    records = plural(monitor.records, "record")
    console.print(f"{plural(len(verdicts), 'trace')}, {records}: {_counts(verdicts)}", markup=False)
    console.print(f"alerts: {request.results / 'alerts.jsonl'}", markup=False, soft_wrap=True)
    if delivery.failure:
        console.print(Text(f"not delivered, and tried again at the next start: {delivery.failure}", style="warn"))
    if any(one.kind == "deviates" or one.violated for one in verdicts):
        return ExitCode.NOT_AS_EXPECTED
    if monitor.findings.total:
        return ExitCode.BAD_INPUT
    return ExitCode.UNDECIDED if any(one.kind == "unknown" for one in verdicts) else ExitCode.AS_EXPECTED


def _inevitable(monitor: LiveMonitor, verdict: Verdict) -> Iterator[str]:
    """At which record the violation of each property became inevitable."""
    for name in dict.fromkeys(one.partition("@")[0] for one in verdict.violated):
        place = monitor.traces[verdict.trace_id].inevitable_at(name)
        if place is not None:
            yield f"{name} was inevitable after {place.words}, unless something else failed or was repaired"


def _counts(verdicts: list[Verdict]) -> str:
    kinds = {"conforms": "conform", "deviates": "deviate", "unknown": "undecided"}
    counted = [(sum(one.kind == kind for one in verdicts), word) for kind, word in kinds.items()]
    return ", ".join(f"{number} {word}" for number, word in counted if number) or "none checked"


class Screen:
    """What is seen while logs are followed: a table that is kept up to date, where there is a terminal; else alerts."""

    def __init__(self, request: LiveRequest, live: Live | None) -> None:
        self._request, self._live = request, live
        self._console = error_console(no_color=request.no_color)
        self._last: deque[Alert] = deque(maxlen=ALERTS_SHOWN)

    def alerts(self, raised: list[Alert]) -> None:
        """Shows alerts."""
        self._last.extend(raised)
        if self._live is None and not self._request.quiet:
            for one in raised:
                self._console.print(alert_line(one), soft_wrap=True)

    def update(self, figures: Figures, failure: str) -> None:
        """Shows how it stands, or not: it may be called often."""
        if self._live is not None:
            self._live.update(Group(table_of(figures), *map(alert_line, self._last), *_failing(failure)))


def table_of(figures: Figures) -> Table:
    """A row for each trace and property: how many faults away from being broken it is, and by which."""
    table = Table(box=None, pad_edge=False, show_edge=False)
    for name in ("trace", "records", "states", "property", "distance"):
        table.add_column(name, justify="right" if name in ("records", "states") else "left", overflow="fold")
    for name, now in figures.traces.items():
        states = f"{now.states:,}" if now.explained else ("too many" if now.full else "none")
        head = (visible(name), f"{now.records:,}", Text(states, style="" if now.explained else "bad"))
        rows = [
            (name, Text(visible(one.words), style="bad" if one.broken else "warn" if one.fewest == 0 else ""))
            for name, one in now.distances.items()
        ]
        for number, (name, words) in enumerate(rows or [("", Text(""))]):
            table.add_row(*(head if not number else ("", "", "")), name, words)
    return table


def alert_line(alert: Alert) -> Text:
    """An alert in one line."""
    place = f" ({alert.file}:{alert.line})" if alert.file and alert.line is not None else ""
    trace = f"{visible(alert.trace)}: " if alert.trace else ""
    return Text.assemble(
        (f"{alert.at[11:23]} ", "quiet"),
        (f"{alert.kind} ", WORDS[alert.kind]),
        f"{trace}{visible(alert.message)}{place if alert.kind in ('distance', 'finding', 'deviates') else ''}",
    )


def _failing(failure: str) -> list[Text]:
    return [Text(f"alerts are not delivered: {visible(failure)}", style="warn")] if failure else []


@contextmanager
def shown(request: LiveRequest) -> Iterator[Screen]:
    """The screen, as long as the block runs."""
    console = error_console(no_color=request.no_color)
    if request.quiet or not is_live(console):
        yield Screen(request, None)
        return
    from rich.live import Live

    with Live(console=console, transient=True, refresh_per_second=20, redirect_stdout=False) as live:
        yield Screen(request, live)
