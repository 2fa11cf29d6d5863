"""What `hacheck conform` shows: each trace that does not conform, and a summary."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.padding import Padding
from rich.rule import Rule
from rich.text import Text

from hacheck.checker.described_run import run_title
from hacheck.cli.checking.shown_runs import shown_run
from hacheck.cli.console import symbols
from hacheck.cli.logs.broken_stretches import broken_lines
from hacheck.model.ir import System
from hacheck.model.run_json import run_from_json
from hacheck.traces.conformance.trace_checker import TraceChecker
from hacheck.traces.conformance.verdicts import Verdict, seconds
from hacheck.traces.drivers.contract import BrokenKind, Outcome
from hacheck.traces.records import Order
from hacheck.wording import plural

EVENTS_SHOWN = 6

NO_NODE = "the model has no node"
"""How the reason begins where the log has a node name that the model does not have."""

BROKEN: Mapping[BrokenKind, str] = {
    "violated": "violated",
    "perhaps": "possibly violated, depending on what no line shows",
    "late": "broken for too long",
    "perhaps late": "possibly broken for too long, depending on what no line shows",
}
"""The words of the summary for each kind of broken property."""


def title(spec: str, check: str, given: Mapping[str, str], every_step: bool, checker: TraceChecker) -> Text:
    """The heading: what the traces are compared with. `given`: settings of the command line, which override the
    check's."""
    text = Text.assemble((spec, "head"), " under the settings of check ", (check, "name"))
    if given:
        text.append(f" with {', '.join(f'{name}={value}' for name, value in given.items())}")
    if every_step:
        text.append("; one record for each step")
    if checker.order == Order.PER_NODE:
        text.append(f"; clock skew at most {checker.skew_ns // 1_000_000} ms")
    for rule in checker.rules:
        text.append(f"; `{rule.name}` is restored within {seconds(rule.nanoseconds)}")
    return text


def show_verdict(
    console: Console,
    verdict: Verdict,
    system: System | None,
    descriptions: Mapping[str, str] | None = None,
    raw: str | None = None,
) -> None:
    """Prints a trace that does not conform, or in which a property may be violated: where it leaves the model, which
    condition fails there (or else what the model allows), the nearest conforming edit, and when what was broken.

    `system`: the system whose shortest run up to there is printed step by step; `None` for no run; `descriptions`: what
    the spec says of each property; `raw`: the line of the log at which it leaves the model, as it stands there."""
    marks, descriptions = symbols(console), descriptions or {}
    bad = verdict.kind == "deviates" or bool(verdict.violated)
    mark, style = (marks.violated, "bad") if bad else (marks.unknown, "warn")
    if verdict.kind == "conforms" and not (bad or verdict.perhaps or verdict.late):
        mark, style = marks.holds, "ok"
    console.print(Text.assemble((mark, style), " ", (verdict.trace_id, "head"), " ", (verdict.kind, style)))
    nowhere = verdict.seq is None and not verdict.compared
    lines = [] if raw is None else [Text(raw, style="quiet")]
    if verdict.kind != "conforms":
        lines += [Text(verdict.reason) if nowhere else Text.assemble(place(verdict), ": ", verdict.reason)]
    if verdict.reason.startswith(NO_NODE):
        lines.append(
            Text(
                f'map it to a node of the model: --node {verdict.node}=NODE, or "{verdict.node}" = "NODE" below [nodes]'
            ).append(" in the adapter")
        )
    lines += impossible_lines(verdict)
    if verdict.expected and not verdict.failing:
        lines.append(Text("the model would have allowed: " + "; ".join(verdict.expected)))
    if verdict.repair:
        lines.append(Text(mended(verdict)))
    lines += [Text(one.words) for one in verdict.late if one.words != verdict.reason]
    lines += broken_lines(verdict, descriptions)
    if verdict.settings:
        lines.append(Text(f"settings from its records: {', '.join(verdict.settings)}"))
    for line in lines:
        console.print(Padding(line, (0, 0, 0, 4)), soft_wrap=False)
    if system is not None and verdict.run:
        run = run_from_json(system, json.loads(verdict.run))
        heading = Text(f"shortest run of the model up to this record: {run_title(system, run)}")
        console.print(Padding(heading, (0, 0, 0, 4)))
        console.print(shown_run(console, system, run, None))


def impossible_lines(verdict: Verdict) -> list[Text]:
    """Which transition would have written the record, and what is false for it in the nearest state."""
    if not verdict.failing:
        return []
    lines = [Text.assemble(("would have been written by "), (verdict.transition, "name"), "; in the nearest state:")]
    lines += [Text(f"  {one}") for one in verdict.failing]
    if verdict.assumption:
        lines.append(Text.assemble("  the assumption ", (verdict.assumption, "name"), " alone forbids it"))
    return lines


def mended(verdict: Verdict) -> str:
    """The nearest conforming edit, and how many records it would explain."""
    edit = {
        "wrong field": f"if {verdict.repair_text} were right",
        "extra line": verdict.repair_text,
        "missing line": f"with {verdict.repair_text}",
    }[verdict.repair or "extra line"]
    if not verdict.repair_records:  # leaving out the last record is the only edit that explains no further one
        return f"{edit}, the trace would conform"
    next_records = "record" if verdict.repair_records == 1 else f"{verdict.repair_records:,} records"
    return f"{edit}, the next {next_records} would be explained"


def place(verdict: Verdict) -> Text:
    """The record at which a trace leaves the model."""
    if verdict.seq is None:
        return Text("at its end")
    text = Text.assemble((f"{verdict.node} {verdict.event}", "name"))
    where = f"{verdict.file}:{verdict.line}" if verdict.file else f"record {verdict.seq}"
    return text.append(f" ({where})")


def counted(counts: Mapping[str, int]) -> Text:
    """The number of traces by verdict; empty where there are none."""
    said = (("conforms", "conform", "ok"), ("deviates", "deviate", "bad"), ("unknown", "undecided", "doubt"))
    shown = [Text(f"{counts[kind]:,} {word}", style=style) for kind, word, style in said if counts.get(kind)]
    return Text(", ").join(shown)


def by_trace(counts: Mapping[str, int]) -> str:
    """In how many traces something occurs, by its name."""
    return ", ".join(f"{name} in {plural(number, 'trace')}" for name, number in sorted(counts.items()))


def show_summary(console: Console, outcome: Outcome, unknown: Mapping[str, int], unread: Sequence[str] = ()) -> None:
    """Prints the number of traces by verdict, the properties that were violated, the settings that records gave, and
    the events that were not compared: `unknown`. `unread`: files that no adapter reads."""
    console.print(Rule(style="quiet", characters=symbols(console).rule))
    counts = outcome.counts
    line = Text(f"{plural(outcome.traces, 'trace')}, {plural(outcome.records, 'record')}: ")
    console.print(line.append(counted(counts) or Text("no trace was checked", style="doubt")))
    if outcome.before:
        line = Text(f"reported by earlier runs: {plural(sum(outcome.before.values()), 'trace')}: ")
        console.print(line.append(counted(outcome.before)))
    shown = sum(verdict.kind != "conforms" for verdict in outcome.shown)
    more = sum(counts.get(kind, 0) for kind in ("deviates", "unknown")) - shown
    if more > 0:
        console.print(Text(f"{more:,} more do not conform; --out verdicts.parquet writes all verdicts", style="quiet"))
    for kind, name in BROKEN.items():
        if outcome.broken.get(kind):
            console.print(Text(f"{name}: {by_trace(outcome.broken[kind])}"))
    settings: Counter[str] = Counter()
    for given, number in outcome.settings.items():
        settings.update(dict.fromkeys(given, number))
    if settings:
        console.print(Text(f"settings from records: {by_trace(settings)}", style="quiet"))
    if unknown:
        total = plural(sum(unknown.values()), "record")
        some = ", ".join(f"{event} {number:,}" for event, number in list(unknown.items())[:EVENTS_SHOWN])
        rest = f" and {len(unknown) - EVENTS_SHOWN} more" if len(unknown) > EVENTS_SHOWN else ""
        console.print(Text(f"not compared, because the spec has no such event: {total} ({some}{rest})", style="quiet"))
        if sum(unknown.values()) >= outcome.records:
            console.print(Text("nothing was compared: do these logs belong to this spec?", style="warn"))
    if unread:
        some = ", ".join(unread[:EVENTS_SHOWN])
        rest = f" and {len(unread) - EVENTS_SHOWN} more" if len(unread) > EVENTS_SHOWN else ""
        console.print(Text(f"not read, because no adapter knows them: {some}{rest}", style="quiet"))
    if outcome.unknown_lines:
        lines = plural(outcome.unknown_lines, "line")
        console.print(Text(f"of no known kind: {lines} of the logs; hacheck traces validate lists them", style="quiet"))
    if not outcome.complete:
        console.print(Text("interrupted: some traces have no verdict", style="warn"))
