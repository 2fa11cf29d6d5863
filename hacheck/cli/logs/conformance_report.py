"""What `hacheck conform` shows: each trace that does not conform, and a summary."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping

from rich.console import Console
from rich.padding import Padding
from rich.rule import Rule
from rich.text import Text

from hacheck.checker.steps import run_title
from hacheck.cli.checking.runs import full_run
from hacheck.cli.console import plural, symbols
from hacheck.model.ir import System
from hacheck.model.run_json import run_from_json
from hacheck.traces.conformance.trace_checker import TraceChecker
from hacheck.traces.conformance.verdicts import Verdict, seconds
from hacheck.traces.drivers.contract import BrokenKind, Outcome
from hacheck.traces.records import Order

EVENTS_SHOWN = 6

NO_NODE = "the model has no node"
"""How the reason begins where a log calls a node otherwise than the model does."""

BROKEN: Mapping[BrokenKind, str] = {
    "violated": "violated",
    "perhaps": "perhaps violated, as hidden steps may have been",
    "late": "broken for too long",
    "perhaps late": "perhaps broken for too long, as hidden steps may have been",
}
"""What is said of properties, by what was wrong with them."""


def title(spec: str, check: str, given: Mapping[str, str], every_step: bool, checker: TraceChecker) -> Text:
    """What is compared with what. `given`: settings of the command line, which come before those of the check."""
    text = Text.assemble((spec, "head"), " under the settings of check ", (check, "name"))
    if given:
        text.append(f" with {', '.join(f'{name}={value}' for name, value in given.items())}")
    if every_step:
        text.append("; a record stands for each step")
    if checker.order == Order.PER_NODE:
        text.append(f"; nodes' clocks differ by {checker.skew_ns // 1_000_000} ms at most")
    for rule in checker.rules:
        text.append(f"; `{rule.name}` is restored within {seconds(rule.nanoseconds)}")
    return text


def show_verdict(console: Console, verdict: Verdict, system: System | None) -> None:
    """A trace that does not conform: where it leaves the model, what the model allows, what would mend it. `system`:
    whose run up to there is told step by step, if that is asked for."""
    marks = symbols(console)
    bad = verdict.kind == "deviates"
    mark, style = (marks.violated, "bad") if bad else (marks.unknown, "warn")
    console.print(Text.assemble((mark, style), " ", (verdict.trace_id, "head"), " ", (verdict.kind, style)))
    nowhere = verdict.seq is None and not verdict.compared
    lines = [Text(verdict.reason) if nowhere else Text.assemble(place(verdict), ": ", verdict.reason)]
    if verdict.reason.startswith(NO_NODE):
        lines.append(Text(f"say how the model calls it: --node {verdict.node}=NODE"))
    if verdict.expected:
        lines.append(Text("the model would have allowed: " + "; ".join(verdict.expected)))
    if verdict.repair:
        lines.append(Text(mended(verdict)))
    lines += [Text(one.words) for one in verdict.late if one.words != verdict.reason]
    if verdict.settings:
        lines.append(Text(f"under settings that its records give: {', '.join(verdict.settings)}"))
    if verdict.violated:
        lines.append(Text(f"violated on the way: {', '.join(verdict.violated)}"))
    for line in lines:
        console.print(Padding(line, (0, 0, 0, 4)), soft_wrap=False)
    if system is not None and verdict.run:
        run = run_from_json(system, json.loads(verdict.run))
        console.print(Padding(Text(f"a shortest run up to there: {run_title(system, run)}"), (0, 0, 0, 4)))
        console.print(Padding(full_run(console, system, run, None), (0, 0, 0, 4)))


def mended(verdict: Verdict) -> str:
    """The cheapest change after which a trace goes on, and how far."""
    if not verdict.repair_records:  # a line that is left out is the only change that explains no other one
        return f"the trace conforms {verdict.repair_text}"
    article = "an" if verdict.repair.startswith("e") else "a"
    further = plural(verdict.repair_records, "more record")
    return f"{further} explained with {article} {verdict.repair}: {verdict.repair_text}"


def place(verdict: Verdict) -> Text:
    """The record at which a trace stopped."""
    if verdict.seq is None:
        return Text("at its end")
    text = Text.assemble((f"{verdict.node} {verdict.event}", "name"))
    where = f"{verdict.file}:{verdict.line}" if verdict.file else f"record {verdict.seq}"
    return text.append(f" ({where})")


def counted(counts: Mapping[str, int]) -> Text:
    """How many traces came out how; nothing where there are none."""
    said = (("conforms", "conform", "ok"), ("deviates", "deviate", "bad"), ("unknown", "undecided", "doubt"))
    shown = [Text(f"{counts[kind]:,} {word}", style=style) for kind, word, style in said if counts.get(kind)]
    return Text(", ").join(shown)


def by_trace(counts: Mapping[str, int]) -> str:
    """In how many traces something occurs, by its name."""
    return ", ".join(f"{name} in {plural(number, 'trace')}" for name, number in sorted(counts.items()))


def show_summary(console: Console, outcome: Outcome, unknown: Mapping[str, int]) -> None:
    """Prints the number of traces by verdict, the properties that were violated, the settings that records gave, and
    the events that were not compared: `unknown`."""
    console.print(Rule(style="quiet", characters=symbols(console).rule))
    counts = outcome.counts
    line = Text(f"{plural(outcome.traces, 'trace')}, {plural(outcome.records, 'record')}: ")
    console.print(line.append(counted(counts) or Text("none judged", style="doubt")))
    if outcome.before:
        line = Text(f"judged before, and told then: {plural(sum(outcome.before.values()), 'trace')}: ")
        console.print(line.append(counted(outcome.before)))
    more = sum(counts.get(kind, 0) for kind in ("deviates", "unknown")) - len(outcome.shown)
    if more > 0:
        console.print(Text(f"{more:,} more of these are in the table: --out verdicts.parquet", style="quiet"))
    for kind, name in BROKEN.items():
        if outcome.broken.get(kind):
            console.print(Text(f"{name}: {by_trace(outcome.broken[kind])}"))
    settings: Counter[str] = Counter()
    for given, number in outcome.settings.items():
        settings.update(dict.fromkeys(given, number))
    if settings:
        console.print(Text(f"settings that records gave: {by_trace(settings)}", style="quiet"))
    if unknown:
        total = plural(sum(unknown.values()), "record")
        some = ", ".join(f"{event} {number:,}" for event, number in list(unknown.items())[:EVENTS_SHOWN])
        rest = f" and {len(unknown) - EVENTS_SHOWN} more" if len(unknown) > EVENTS_SHOWN else ""
        console.print(Text(f"not compared, for the spec says nothing of it: {total} ({some}{rest})", style="quiet"))
        if sum(unknown.values()) >= outcome.records:
            console.print(
                Text("so nothing was compared at all: are these logs of what the spec is about?", style="warn")
            )
    if not outcome.complete:
        console.print(Text("interrupted: not every trace was judged", style="warn"))
