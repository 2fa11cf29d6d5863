"""What verifying a spec has found, as the parts of its page about it."""

from __future__ import annotations

from msgspec import Struct

from hacheck.checker.described_run import run_title
from hacheck.checker.verify import CheckResult, PropertyResult
from hacheck.cli.checking.report import KINDS, extent, verdict_of
from hacheck.cli.document.prose import code, details, markdown, section_of, sections, sentence, table, uncommented
from hacheck.cli.document.stories import story
from hacheck.model.ir import System
from hacheck.model.language import Specification
from hacheck.wording import plural


class Findings(Struct, frozen=True):
    """The results of the checks that were run, and the names of those that run by request only."""

    results: tuple[CheckResult, ...]
    left_out: tuple[str, ...]


def property_rows(system: System, findings: Findings | None) -> list[str]:
    """The properties, each with its verdict in the first check that has most of them."""
    result = None if findings is None else _broadest(findings)
    answers = {} if result is None else {found.prop.name: found for found in result.properties}
    rows = []
    for item in system.properties:
        row = [code(item.name), KINDS[item.kind], sentence(item.description), item.source]
        if result is not None:
            row.append(verdict(result, answers[item.name]) if item.name in answers else "")
        rows.append(row)
    heads = ["property", "kind", "what it says", "source"]
    lines = table([*heads, f"in {code(result.check.name)}"] if result is not None else heads, rows)
    return lines if rows else ["Nothing."]


def _broadest(findings: Findings) -> CheckResult | None:
    """The first of the results that has most properties."""
    return max(findings.results, key=lambda result: len(result.properties), default=None)


def verdict(result: CheckResult, found: PropertyResult) -> str:
    """`holds`, `**violated** in 28 steps, 2 faults`, `reached in 12 steps`."""
    word = verdict_of(found)
    if found.answer.verdict == "violated":
        word = f"**{word}**"
    run = found.answer.run
    return word if run is None else f"{word} in {run_title(result.system, run)}"


def checks(specification: Specification, findings: Findings) -> list[str]:
    """Each check: its settings, how far it reaches, what holds, what does not, and the runs of that."""
    lines: list[str] = []
    titles = sections(specification.text)
    places = {check.name: check.line for check in specification.checks}
    heading = ""
    shown: set[str] = set()
    for result in findings.results:
        line = places.get(result.check.name, 0)
        title = section_of(line, titles)
        if title != heading:
            lines += [f"### {sentence(title.removeprefix('checks: ')).removesuffix('.')}", ""]
            heading = title
        lines += one_check(specification, result, comment_above(specification.text, line), shown)
    if findings.left_out:
        names = ", ".join(code(name) for name in findings.left_out)
        lines += [f"By request only, and not run for this page: {names}.", ""]
    return lines


def comment_above(text: str, line: int) -> str:
    """The comment that ends just above a line, as Markdown."""
    above: list[str] = []
    for before in reversed(text.splitlines()[: max(line - 1, 0)]):
        if not before.startswith("#") or before.startswith("# --"):
            break
        above.insert(0, uncommented(before))
    return markdown(above)


def one_check(specification: Specification, result: CheckResult, comment: str, shown: set[str]) -> list[str]:
    """One check. `shown`: the properties whose run is on the page; those shown here are added."""
    lines = [f"#### {code(result.check.name)}", ""]
    if result.check.description:
        lines += [sentence(result.check.description), ""]
    if comment:
        lines += [comment, ""]
    lines += [f"- {item}" for item in facts(specification, result)]
    lines.append("")
    for found, on_the_way in worth_showing(result, shown):
        run = found.answer.run
        assert run is not None, "only what has a run is worth showing"
        shown |= {found.prop.name, *(other.prop.name for other in on_the_way)}
        words = [f"<code>{found.prop.name}</code>: {run_title(result.system, run)}"]
        words += [f"on the way <code>{other.prop.name}</code>, in step {length(other)}" for other in on_the_way]
        lines += details("; ".join(words), story(result.system, run, found.prop))
    return lines


def facts(specification: Specification, result: CheckResult) -> list[str]:
    """Settings, faults and assumptions; what was explored; the verdicts."""
    system, coverage = result.system, result.answer.coverage
    defaults = {parameter.name: parameter.default for parameter in specification.parameters}
    settings = [f"{name} = {value}" for name, value in system.settings if defaults.get(name) != value]
    items = [f"settings: {', '.join(code(item) for item in settings) or 'all at their defaults'}"]
    items.append(f"faults: {'; '.join(system.faults) or 'none'}")
    items.append(f"explored: {extent(result).plain}: {plural(coverage.states, 'state')}, depth {coverage.depth}")
    meanings = dict(system.bounds)
    cuts = [f"{name} ({meanings[name]})" if meanings.get(name) else name for name, _ in coverage.bounds_reached]
    if cuts:
        items.append(f"bounds that were met: {'; '.join(sorted(cuts))}")
    by_verdict: dict[str, list[str]] = {}
    for found in result.properties:
        run = found.answer.run
        shown = f" ({run_title(system, run)})" if run is not None and found.answer.verdict == "violated" else ""
        surprise = {"expected": "", "unexpected": ", which is not expected", "undecided": ""}[found.outcome]
        by_verdict.setdefault(f"{verdict_of(found)}{surprise}", []).append(f"{code(found.prop.name)}{shown}")
    items += [f"{word}: {', '.join(names)}" for word, names in by_verdict.items()]
    if result.answer.error is not None:
        items.append("the spec has an error, see below")
    return items


ShownRun = tuple[PropertyResult, tuple[PropertyResult, ...]]
"""A violation whose run is shown, and those whose run is a part of it."""


def worth_showing(result: CheckResult, shown: set[str]) -> list[ShownRun]:
    """The violations whose run the page shows: of each property at least one, of each check at least the
    shortest. A run that is the beginning of another one is not shown again."""
    violated = [found for found in result.properties if found.answer.verdict == "violated" and found.answer.run]
    chosen = [found for found in violated if found.prop.name not in shown] or sorted(violated, key=length)[:1]
    longest_first = sorted(chosen, key=length, reverse=True)
    inside: dict[str, list[PropertyResult]] = {}
    for place, found in enumerate(longest_first):
        around = next((other for other in longest_first[:place] if begins(found, other)), None)
        if around is None:
            inside[found.prop.name] = []
        else:
            inside[around.prop.name].append(found)
    return [(found, tuple(inside[found.prop.name])) for found in chosen if found.prop.name in inside]


def length(found: PropertyResult) -> int:
    """The number of steps of its run."""
    return 0 if found.answer.run is None else len(found.answer.run.steps)


def begins(found: PropertyResult, other: PropertyResult) -> bool:
    """Whether the run of one violation is the beginning of that of another."""
    short, long = found.answer.run, other.answer.run
    if short is None or long is None:
        return False
    if short.loop is not None:
        return short == long
    return short.initial == long.initial and long.steps[: len(short.steps)] == short.steps


def overall(findings: Findings) -> str:
    """How many checks came out as the spec expects, in a sentence."""
    number = len(findings.results)
    fine = sum(result.outcome == "expected" for result in findings.results)
    if fine == number:
        return f"{plural(number, 'check')}, {'all ' if number > 1 else ''}as expected"
    return f"{plural(number, 'check')}, of which {fine} as expected"
