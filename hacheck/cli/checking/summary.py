"""The last words of `hacheck verify`: which checks came out as expected, which did not, and which were not
run."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from hacheck.checker.verify import CheckResult, Question
from hacheck.cli.checking.recheck_report import differs
from hacheck.cli.checking.report import verdict_of
from hacheck.cli.console import seconds, symbols
from hacheck.cli.guard import ExitCode
from hacheck.wording import plural

STYLES = {"expected": "ok", "unexpected": "bad", "undecided": "warn"}
NAMED_MAX = 2
"""So many expected violations are named in the line of a check; of more there is the number."""

VERDICTS = {"expected": "as expected", "unexpected": "not as expected", "undecided": "undecided"}
LOUD = {"expected": "good", "unexpected": "bad", "undecided": "doubt"}


def exit_code(results: Sequence[CheckResult], *, all_ran: bool) -> ExitCode:
    """What the process returns: that a second interpreter says otherwise counts most, then an error of the spec, then a
    surprise, also where the user stopped after it, then that something is not known."""
    if differs(results):
        return ExitCode.OUR_BUG
    if any(result.has_error for result in results):
        return ExitCode.BAD_INPUT
    outcomes = {result.outcome for result in results}
    if "unexpected" in outcomes:
        return ExitCode.NOT_AS_EXPECTED
    unknown = not all_ran or "undecided" in outcomes or any(result.interrupted for result in results)
    return ExitCode.UNDECIDED if unknown else ExitCode.AS_EXPECTED


def summary(
    console: Console,
    results: Sequence[CheckResult],
    *,
    skipped: Sequence[str],
    left_out: Sequence[Question],
    spec: str,
) -> RenderableType:
    """A line for each check where there are several, the verdict over all, and how to run the rest."""
    marks = symbols(console)
    parts: list[RenderableType] = [Rule(style="quiet", characters=marks.rule)]
    if len(results) + len(skipped) > 1:
        parts.append(Padding(check_table(console, results, skipped), (0, 0, 0, 2)))
    parts.append(verdict_line(results, skipped))
    for check in left_out:
        said = f"  {check.description}" if check.description else ""
        parts.append(Text.assemble("not run: ", (check.name, "name"), (said, "quiet")))
    if left_out:
        parts.append(Text(f"  hacheck verify {spec} --check {left_out[0].name}", style="quiet"))
        if len(left_out) > 1:
            parts.append(Text(f"  hacheck verify {spec} --wide", style="quiet").append("   runs all of them"))
    return Group(*parts)


def check_table(console: Console, results: Sequence[CheckResult], skipped: Sequence[str]) -> RenderableType:
    """A row for each check."""
    marks = symbols(console)
    table = Table.grid(padding=(0, 2, 0, 0))
    for justify in ("left", "left", "right", "right", "left"):
        table.add_column(justify=justify, overflow="fold")
    mark = {"expected": marks.holds, "unexpected": marks.violated, "undecided": marks.unknown}
    for result in results:
        style = STYLES[result.outcome]
        coverage = result.answer.coverage
        table.add_row(
            Text(mark[result.outcome], style=style),
            Text(result.check.name, style="name"),
            "" if result.answer.reach else plural(coverage.states, "state"),  # an engine may count none
            seconds(coverage.wall_seconds),
            Text(remark(result), style=style if result.outcome != "expected" else ""),
        )
    for name in skipped:
        table.add_row(
            Text(marks.unknown, style="warn"), Text(name, style="name"), "", "", Text("not run", style="warn")
        )
    return table


def remark(result: CheckResult) -> str:
    """What stands out about a check, in a few words."""
    if differs([result]):
        return "the two interpreters differ, see above"
    if result.has_error:
        return "the spec has an error, see above"
    if not result.properties:
        return "nothing asked"
    words: list[str] = []
    for found in result.properties:
        if found.outcome == "unexpected":
            but = "" if found.expected == "holds" else ", but a violation is expected"
            words.append(f"{found.prop.name} {verdict_of(found)}{but}")
    undecided = [found.prop.name for found in result.properties if found.outcome == "undecided"]
    if undecided:
        more = f" and {len(undecided) - 3} more" if len(undecided) > 3 else ""
        words.append(f"undecided: {', '.join(undecided[:3])}{more}")
    if words:
        return "; ".join(words)
    expected = [found for found in result.properties if found.expected == "violated"]
    if not expected:
        return "all hold" if len(result.properties) > 1 else "holds"
    if len(expected) > NAMED_MAX:
        return f"{len(expected)} violated, as expected"
    named = ", ".join(found.prop.name for found in expected)
    return f"{named} {verdict_of(expected[0]) if len(expected) == 1 else 'violated'}, as expected"


def verdict_line(results: Sequence[CheckResult], skipped: Sequence[str]) -> Text:
    """How many checks came out how."""
    total = sum(result.answer.coverage.wall_seconds for result in results)
    if len(results) == 1 and not skipped:
        words = {"expected": "as expected", "unexpected": "not as expected", "undecided": "not decided"}
        return Text.assemble(
            f"check {results[0].check.name}: ",
            (words[results[0].outcome], LOUD[results[0].outcome]),
            f" ({remark(results[0]).removesuffix(', as expected')}), {seconds(total)}",
        )
    line = Text(f"{plural(len(results), 'check')}, {seconds(total)}: ")
    said = tally(results)
    if skipped:
        said.append((f"{len(skipped)} not run", "doubt"))
    return listed(line, said)


def tally(results: Sequence[CheckResult]) -> list[tuple[str, str]]:
    """How many checks came out how, each in words with a style."""
    count = {outcome: sum(result.outcome == outcome for result in results) for outcome in VERDICTS}
    return [(f"{count[outcome]} {words}", LOUD[outcome]) for outcome, words in VERDICTS.items() if count[outcome]]


def listed(line: Text, said: Sequence[tuple[str, str]]) -> Text:
    """The line with these words behind it, commas between them."""
    for index, (words, style) in enumerate(said):
        line.append(", " if index else "").append(words, style=style)
    return line
