"""What `hacheck traces` shows: figures, where the lines of logs went, and what is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from hacheck.cli.console import symbols, visible
from hacheck.traces.adapters.line_counts import Tally
from hacheck.traces.findings import MEANINGS, Findings
from hacheck.traces.statistics import Statistics
from hacheck.wording import plural

PLACES_MAX = 5
"""So many findings of each kind are shown."""

KINDS_MAX = 12
"""So many kinds of unknown lines are shown."""


def show_statistics(console: Console, statistics: Statistics, *, whole: bool) -> None:
    """How many traces and records there are; with `whole` all figures."""
    traces = plural(statistics.traces, "trace")
    nodes = plural(len(statistics.nodes), "node")
    console.print(f"{traces}, {plural(statistics.records, 'record')} of {nodes}", soft_wrap=True)
    if not whole or not statistics.records:
        return
    lengths = f"{statistics.shortest:,} to {statistics.longest:,}, median {statistics.median:,.0f}"
    console.print(f"records per trace: {lengths}", soft_wrap=True)
    if statistics.first_time is not None and statistics.last_time is not None:
        span = f"{instant(statistics.first_time)} to {instant(statistics.last_time)}"
        console.print(f"time: {span}", soft_wrap=True)
    if statistics.without_time:
        console.print(f"without a time: {plural(statistics.without_time, 'record')}", soft_wrap=True)
    _counts(console, "event", statistics.events)
    _counts(console, "node", statistics.nodes)


def instant(nanoseconds: int) -> str:
    """A time as people write it, in UTC, to the microsecond."""
    try:
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=nanoseconds // 1_000)
    except OverflowError:
        return f"{nanoseconds:,} ns"
    return moment.strftime("%Y-%m-%d %H:%M:%S.%f UTC")


def _counts(console: Console, what: str, counts: Mapping[str, int]) -> None:
    table = Table(box=None, pad_edge=False, show_header=True, header_style="head")
    table.add_column(what)
    table.add_column("records", justify="right")
    for name, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        table.add_row(_plain(name), f"{count:,}")
    console.print()
    console.print(table)


def show_tally(console: Console, tally: Tally) -> None:
    """Where every line of the logs went."""
    parts = [
        (tally.events.total(), "in events"),
        (tally.continued, "belong to the line above"),
        (tally.nothing.total(), "mean nothing"),
        (tally.unknown.total(), "of unknown kinds"),
        (tally.blank, "blank"),
        (tally.findings, "wrong"),
    ]
    counted = ", ".join(f"{count:,} {what}" for count, what in parts if count)
    console.print(f"{plural(tally.lines, 'line')} of logs: {counted or 'none'}", soft_wrap=True)
    for name, count in tally.nothing.most_common():
        console.print(f"  [quiet]mean nothing:[/] {count:,} {_plain(name)}", soft_wrap=True)
    for kind, count in tally.unknown.most_common(KINDS_MAX):
        console.print(f"  [quiet]unknown:[/] {count:,} like: {_plain(kind)}", soft_wrap=True)
    if len(tally.unknown) > KINDS_MAX:
        console.print(f"  [quiet]unknown:[/] {plural(len(tally.unknown) - KINDS_MAX, 'kind')} more; see --json")


def show_findings(console: Console, findings: Findings) -> None:
    """What is wrong, by kind, with the first places of each."""
    marks = symbols(console)
    if not findings.total:
        console.print(f"[ok]{marks.holds}[/] no finding", soft_wrap=True)
        return
    for kind, count in findings.counts.most_common():
        console.print(f"[bad]{marks.violated}[/] {count:,} {_plain(kind.value)}: {MEANINGS[kind]}", soft_wrap=True)
        shown = [finding for finding in findings.first if finding.kind is kind][:PLACES_MAX]
        for finding in shown:
            trace = "" if finding.trace_id is None else f" (trace {finding.trace_id})"
            console.print(f"    {_plain(finding.place)}: {_plain(finding.message + trace)}", soft_wrap=True)
        if count > len(shown):
            console.print(f"    and {count - len(shown):,} more; --quarantine FILE writes all", soft_wrap=True)
    left_out = plural(findings.quarantined, "record")
    damaged = plural(len(findings.damaged), "trace")
    console.print(f"{left_out} left out, {damaged} damaged", soft_wrap=True)


def _plain(text: str) -> str:
    shown = visible(text).replace("\n", " ")
    return escape(shown if len(shown) <= 400 else f"{shown[:399]}…")
