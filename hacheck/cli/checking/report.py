"""What `hacheck verify` says of one check, apart from its runs: what was explored, and a row for each
property."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from hacheck.checker.described_run import run_title
from hacheck.checker.engine import DEPTH_REACHED
from hacheck.checker.explicit.coverage_text import unlikely
from hacheck.checker.lost_again import lost_again
from hacheck.checker.verify import (
    CheckResult,
    PropertyResult,
    at_the_start,
    no_step,
    not_reached,
    unexercised,
    unused_actions,
)
from hacheck.cli.checking import growth_report, recheck_report
from hacheck.cli.console import Symbols, seconds, size, symbols
from hacheck.model.interpreter import call
from hacheck.model.ir import Property, System
from hacheck.wording import plural

if TYPE_CHECKING:
    from hacheck.model.language import Specification

WIDE = 120
"""From this many columns on, descriptions stand beside instead of beneath."""

KINDS = {
    "invariant": "invariant",
    "lemma": "lemma",
    "step": "step invariant",
    "reachable": "reachable",
    "eventually": "eventually",
    "leads_to": "leads to",
    "deadlock": "no deadlock",
}
"""How each kind of property is called."""

MANY = 1_000_000
"""From this many states on, their size is shown."""

SCOPE_LONG = 40
"""From this many characters on a scope is not said again of the next property."""

CONDITION_LONG = 160
"""From this many characters on a condition is cut."""

INDENT = (0, 0, 0, 2)


def title(specification: Specification) -> RenderableType:
    """What is being checked."""
    line = Text.assemble((specification.name, "head"), f"  {specification.path}")
    return Group(line, Text(specification.description)) if specification.description else line


def run_heading(
    console: Console, what: str, length: str, style: str, about: Property | None = None, place: str = ""
) -> RenderableType:
    """What a run shows, how long it is, and the property in the words of the spec, which has it at `place`."""
    marks = symbols(console)
    mark = {"bad": marks.violated, "expected": marks.foreseen}.get(style, marks.holds)
    line = Text.assemble((f"{mark} {what}", style), f"  {length}")
    said = []
    if about is not None:
        said = [about.description, f"source: {about.source}" if about.source else ""]
    more = [Padding(Text(words, style="quiet"), INDENT) for words in (*said, place) if words]
    return Padding(Group(line, *more), INDENT)


def heading(console: Console, name: str, description: str) -> RenderableType:
    """The line that opens a check."""
    rule = Rule(
        Text.assemble(("check ", "quiet"), (name, "head")),
        align="left",
        style="quiet",
        characters=symbols(console).rule,
    )
    return Group(rule, Padding(Text(description), INDENT)) if description else rule


def vacuous(result: CheckResult) -> RenderableType | None:
    """That no step is possible, which properties were never exercised, and what comes to hold and may be lost; nothing
    where none is so."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="warn", no_wrap=True)
    table.add_column()
    if no_step(result):
        within = " within the bounds below" if result.answer.coverage.bounds_reached else ""
        words = f"possible in any initial state{within}: every verdict is about initial states only"
        table.add_row("no step", words)
    so_far = "" if result.answer.coverage.complete else " so far"
    for name, condition in unexercised(result):
        if len(condition) > CONDITION_LONG:
            condition = f"{condition[:CONDITION_LONG]}…"
        table.add_row(f"never exercised{so_far}", Text(f"{name}: its condition `{condition}` is never true"))
    for name in at_the_start(result):
        again = f"that it comes back is `leads_to {name}: not P ~> P`"
        table.add_row("never exercised", Text(f"{name}: it holds in each initial state, once and for all; {again}"))
    for name, run in lost_again(result):
        last = run.steps[-1]
        ended = f"{call(result.system, last.action, last.arguments)} can end it"
        again = f"that it comes back each time is `leads_to {name}: not P ~> P`"
        table.add_row("once", Text(f"{name}: {ended}, and `eventually` asks for once only; {again}"))
    return Padding(table, INDENT) if table.row_count else None


def facts(
    result: CheckResult, defaults: Mapping[str, str], specification: Specification | None = None
) -> RenderableType:
    """Settings, faults and assumptions; how much was explored; what cut it short."""
    system, coverage = result.system, result.answer.coverage
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="quiet", no_wrap=True)
    table.add_column()
    settings = [f"{name} = {value}" for name, value in system.settings if defaults.get(name) != value]
    table.add_row("settings", ", ".join(settings) or "all at their defaults")
    table.add_row("faults", "\n".join(system.faults) or "none")
    for index, (name, meaning) in enumerate(system.assumptions):
        table.add_row("assuming" if index == 0 else "", Text.assemble((name, "name"), f"  {meaning}"))
    if result.answer.reach:
        table.add_row("search by Z3", f"{result.answer.reach}, {seconds(coverage.wall_seconds)}")
        if coverage.stopped not in (None, DEPTH_REACHED):
            table.add_row("", Text(f"stopped: {coverage.stopped}", style="warn"))
        for note in result.answer.notes:
            table.add_row("note", Text(note, style="warn"))
        return Padding(table, INDENT)
    table.add_row(
        "explored",
        f"{plural(coverage.states, 'state')}, {plural(coverage.transitions, 'step')}, "
        f"depth {coverage.depth}, {seconds(coverage.wall_seconds)}",
    )
    rest = Text("; --exhaustive explores the rest", style="quiet") if coverage.ended_early else Text()
    table.add_row("", extent(result).append_text(rest))
    for name, words in growth_report.facts(specification, system, coverage.multipliers):
        table.add_row(name, Text(words))
    if coverage.bytes_per_state is not None and coverage.states >= MANY:
        held = size(round(coverage.bytes_per_state * coverage.states))
        table.add_row("memory", f"{held}, {coverage.bytes_per_state:.0f} bytes a state")
    meanings = dict(system.bounds)
    for index, (bound, count) in enumerate(coverage.bounds_reached):
        meaning = meanings.get(bound, "")
        said = f": {meaning}" if meaning else ""
        name = bound.replace("message.", "").replace("operation.", "")
        table.add_row("cut at" if index == 0 else "", f"{name}{said} ({plural(count, 'step')} not taken)")
    spare = [meaning for name, meaning in not_reached(result) if not name.startswith("calls of ")]
    if spare:
        table.add_row("bounds", f"not reached: {'; '.join(spare)}")
    for index, phrase in enumerate(result.answer.reductions):
        table.add_row("reduced" if index == 0 else "", phrase)
    if result.answer.rechecked is not None:
        table.add_row("rechecked", recheck_report.words(result.answer.rechecked))
    for note in result.answer.notes:
        table.add_row("note", Text(note, style="warn"))
    return Padding(table, INDENT)


def extent(result: CheckResult) -> Text:
    """How far the exploration reaches, in one phrase."""
    coverage = result.answer.coverage
    if coverage.ended_early:
        return Text("until every property was decided, not all states")
    if not coverage.complete:
        return Text(f"stopped before the end: {coverage.stopped or 'not every state was visited'}", style="warn")
    words = "every reachable state within the bounds below" if coverage.bounds_reached else "every reachable state"
    if coverage.omission:
        return Text(f"{words}; {unlikely(coverage.omission)}", style="warn")
    return Text(words, style="" if coverage.bounds_reached else "ok")


NO_PROPERTY = "no property to check: without an invariant or another property, only errors of the spec itself are found"


def no_property() -> RenderableType:
    """What is said of a check without properties."""
    return Padding(Text(NO_PROPERTY, style="warn"), INDENT)


def properties(console: Console, result: CheckResult) -> RenderableType:
    """A row for each property: verdict, kind, scope, and what it says in the words of the spec."""
    if console.width >= WIDE:
        return _wide_properties(console, result)
    widths = [
        max(len(cell) for cell in column)
        for column in zip(*((*_cells(found), "") for found in result.reported), strict=True)
    ]
    parts: list[RenderableType] = []
    said = first = ""
    for found in result.reported:
        mark, style = mark_of(found, symbols(console))
        cells = _cells(found)
        name, verdict, kind = (cell.ljust(width) for cell, width in zip(cells, widths, strict=False))
        line = Text.assemble((mark, style), " ", (name, "name"), "  ", (verdict, style), f"  {kind}")
        scope = f"{scope_of(result.system, found)}{expectation(found)}"
        fits = 4 + sum(widths) + 8 + len(scope) <= console.width
        parts.append(line.append(f"  {scope}") if fits else line)
        if found.prop.description:
            parts.append(Padding(Text(found.prop.description, style="quiet"), INDENT))
        if not fits:
            same = scope == said and found.answer.run is None
            parts.append(Padding(Text(f"the same reason as for {first}" if same else scope), INDENT))
            if not same:
                said, first = scope, found.prop.name
    return Padding(Group(*parts, *_untold(result)), INDENT)


def _untold(result: CheckResult) -> list[RenderableType]:
    """That the lemmas without a row hold."""
    count = len(result.properties) - len(result.reported)
    if not count:
        return []
    words = "1 lemma holds" if count == 1 else f"{count} lemmas hold"
    return [Text(f"{words}, too; --property NAME shows one", style="quiet")]


def _cells(found: PropertyResult) -> tuple[str, str, str]:
    return found.prop.name, verdict_of(found), KINDS[found.prop.kind]


def _wide_properties(console: Console, result: CheckResult) -> RenderableType:
    """The same as a table with a column for everything."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="quiet")
    for title in ("", "property", "verdict", "kind", "scope", "meaning"):
        table.add_column(title, ratio={"scope": 2, "meaning": 3}.get(title))
    said = first = ""
    for found in result.reported:
        mark, style = mark_of(found, symbols(console))
        name, verdict, kind = _cells(found)
        whole = f"{scope_of(result.system, found)}{expectation(found)}"
        scope = f"the same reason as for {first}" if whole == said and len(whole) > SCOPE_LONG else whole
        if whole != said:
            said, first = whole, name
        meaning = Text(found.prop.description, style="quiet")
        cells = (Text(mark, style=style), Text(name, style="name"), Text(verdict, style=style), kind, scope)
        table.add_row(*cells, meaning)
    return Padding(Group(table, *_untold(result)), INDENT)


def mark_of(found: PropertyResult, marks: Symbols) -> tuple[str, str]:
    """The mark of a verdict and its style: what matters is whether it is the expected one."""
    match found.outcome:
        case "expected" if found.expected == "violated":
            return marks.foreseen, "expected"
        case "expected":
            return marks.holds, "ok"
        case _ if found.without_value or found.outcome == "unexpected":
            return marks.violated, "bad"
        case _:
            return marks.unknown, "warn"


def verdict_of(found: PropertyResult) -> str:
    """The verdict in a word."""
    verdict = found.answer.verdict
    if found.without_value:
        return "no value"
    if verdict == "not-inductive":
        return "not inductive"
    if found.prop.kind == "reachable":
        return {"holds": "reached", "violated": "unreachable"}.get(verdict, verdict)
    return verdict


def expectation(found: PropertyResult) -> str:
    """What is to be said about what was expected: nothing where a property that should hold does."""
    if found.expected == "holds" or found.outcome == "undecided":
        return ""
    return ", as expected" if found.outcome == "expected" else ", but a violation is expected"


def scope_of(system: System, found: PropertyResult) -> str:
    """How far the verdict reaches; for a run its length."""
    run = found.answer.run
    if run is None:
        return found.answer.scope.removeprefix("in no state of ")  # that much "unreachable" says already
    return f"in {run_title(system, run)}"


def how_to_see(result: CheckResult) -> RenderableType:
    """How to see the runs of expected violations, which have one line each."""
    words = f"to see the runs of expected violations: --check {result.check.name} --runs"
    return Padding(Text(words, style="quiet"), (1, 0, 0, 2))


def unused(specification: Specification, result: CheckResult) -> RenderableType | None:
    """Actions that never happened and modes never reached; nothing when there are none or too little was
    seen."""
    if result.answer.coverage.ended_early:  # what the rest would show is not known
        return None
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="warn", no_wrap=True)
    table.add_column()
    names = unused_actions(result)
    so_far = "" if result.answer.coverage.complete else " so far"
    if names:
        places = {action.name: specification.place_of(action) for action in reversed(result.system.actions)}
        said = (f"{name} ({places[name]})" if places[name] else name for name in names)
        table.add_row(f"never happened{so_far}", Text(", ".join(said)))
    for variable, members in result.answer.coverage.unreached:
        if members:
            table.add_row(f"never reached{so_far}", Text(f"{variable} = {', '.join(members)}"))
    return Padding(table, INDENT) if table.row_count else None
