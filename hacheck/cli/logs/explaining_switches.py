"""What `hacheck conform --switches` shows: under which other settings a trace that deviates would conform."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from hacheck.api.explaining_settings import Change, Explained, explained
from hacheck.cli.logs.traces import opened
from hacheck.cli.progress import ProgressLine
from hacheck.supervise.interruption import Interruption
from hacheck.traces.conformance.trace_checker import TraceChecker
from hacheck.traces.findings import Findings
from hacheck.wording import plural

if TYPE_CHECKING:
    from hacheck.cli.logs.conformance import ConformResult

TRACES_MAX = 3
"""So many deviating traces share the time, the first ones."""


def show_switches(console: Console, found: ConformResult) -> None:
    """Looks for what would explain the traces that deviate, and prints it. Ctrl-C ends the search, not the report."""
    request = found.request
    deviating = [one for one in found.outcome.shown if one.kind == "deviates" and one.seq is not None][:TRACES_MAX]
    base = found.checker if isinstance(found.checker, TraceChecker) else found.checker.base
    line = ProgressLine(quiet=request.quiet, no_color=request.no_color)
    with Interruption().watching() as interruption, line.shown("other settings"):

        def proceeding(what: str) -> bool:
            line.update(lambda: f"would {what} explain it?")
            return not interruption.requested

        for verdict in deviating:
            dataset = opened(request.traces, request.adapter, request.zone, Findings())
            seconds = request.switches / len(deviating)
            said = explained(found.compared, base, dataset, verdict, seconds, proceeding)
            for text in lines_of(said):
                console.print(Padding(text, (0, 0, 0, 4)), soft_wrap=False)


def lines_of(found: Explained) -> list[Text]:
    """What was found for a trace, in words."""
    name = Text(found.trace_id, style="head")
    lines = [Text.assemble(name, " conforms with ", (one.words, "name"), _about(one)) for one in found.explaining]
    if not lines:
        lines.append(
            Text.assemble(name, f": none of {plural(found.tried, 'other setting')} tried explains the whole log")
        )
        if found.farthest is not None:
            change, records = found.farthest
            most = f"{plural(records, 'more record')} would be explained with "
            lines.append(Text.assemble(most, (change.words, "name"), _about(change)))
    if not found.complete:
        lines.append(Text("the time was over before every single setting was tried: give more --switches SECONDS"))
    return lines


def _about(change: Change) -> str:
    return f": {change.about}" if change.about else ""
