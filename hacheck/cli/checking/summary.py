"""The last words of `hacheck verify`: which checks came out as expected, which did not, and which were not
run."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.text import Text

from hacheck.checker.verify import CheckResult, Question
from hacheck.cli.checking.recheck_report import differs
from hacheck.cli.checking.report import verdict_of
from hacheck.cli.console import Symbols, seconds, symbols
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
    wall_seconds: float,
) -> RenderableType:
    """A line for each check where there are several, the verdict over all, and how to run the rest. `wall_seconds`:
    from the begin of the first check to the end of the last."""
    marks = symbols(console)
    parts: list[RenderableType] = [Rule(style="quiet", characters=marks.rule)]
    if len(results) + len(skipped) > 1:
        parts.append(Padding(check_table(console, results, skipped), (0, 0, 0, 2)))
        parts.append(Text(f"  {meaning_of_marks(results, marks)}", style="quiet"))
    parts.append(verdict_line(results, skipped, wall_seconds))
    if left_out:
        parts.append(Text(f"not run, by request only: {', '.join(check.name for check in left_out)}"))
        parts.append(Text(f"  hacheck verify {spec} --check {left_out[0].name}", style="quiet"))
        if len(left_out) > 1:
            parts.append(Text(f"  hacheck verify {spec} --wide", style="quiet").append("   runs all of them"))
    return Group(*parts)


def check_table(console: Console, results: Sequence[CheckResult], skipped: Sequence[str]) -> RenderableType:
    """A row for each check. Where the remark of one has no room beside it, it stands beneath."""
    marks = symbols(console)
    names = [result.check.name for result in results] + list(skipped)
    width = max(map(len, names), default=0)
    lines: list[RenderableType] = []
    for result in results:
        mark, style = _check_mark(result, marks)
        coverage = result.answer.coverage
        states = "" if result.answer.reach else plural(coverage.states, "state")  # an engine may count none
        line = Text.assemble((mark, style), "  ", (result.check.name.ljust(width), "name"), f"  {states:>16}  ").append(
            f"{seconds(coverage.wall_seconds):>7}  "
        )
        words = remark(result)
        room = console.width - 2 - line.cell_len
        if result.outcome == "expected" and len(words) > room:
            words = brief_remark(result)
        if len(words) > room:
            lines += [line, Padding(Text(words, style=style), (0, 0, 0, 6))]
        else:
            lines.append(line.append(words, style=style if result.outcome != "expected" else ""))
    for name in skipped:
        lines.append(
            Text.assemble(
                (marks.unknown, "warn"),
                "  ",
                (name.ljust(width), "name"),
                ("  not run: ended by Ctrl-C before it began", "warn"),
            )
        )
    return Group(*lines)


def meaning_of_marks(results: Sequence[CheckResult], marks: Symbols) -> str:
    """What the marks in front of the checks mean: of those that occur."""
    found = {_check_mark(result, marks)[0] for result in results}
    meanings = {
        marks.holds: "all hold",
        marks.foreseen: "counterexamples found, as the spec expects",
        marks.violated: "not as expected",
        marks.unknown: "undecided",
    }
    return "   ".join(f"{mark} {meaning}" for mark, meaning in meanings.items() if mark in found)


def _check_mark(result: CheckResult, marks: Symbols) -> tuple[str, str]:
    """The mark of a check and its style; one that found what it expects to be violated has its own."""
    if result.outcome != "expected":
        return {"unexpected": marks.violated, "undecided": marks.unknown}[result.outcome], STYLES[result.outcome]
    if any(found.expected == "violated" for found in result.properties):
        return marks.foreseen, "expected"
    return marks.holds, "ok"


def brief_remark(result: CheckResult) -> str:
    """The same for a check that came out as expected, in fewer words."""
    expected = sum(found.expected == "violated" for found in result.properties)
    return f"{expected} violated" if expected else remark(result)


def remark(result: CheckResult) -> str:
    """What stands out about a check, in a few words."""
    if differs([result]):
        return "the two interpreters differ, see above"
    if result.has_error:
        return "the spec has an error, see above"
    if not result.properties:
        return "no property to check"
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


def verdict_line(results: Sequence[CheckResult], skipped: Sequence[str], wall_seconds: float) -> Text:
    """How many checks came out how, and how long they took: one alone, or all together."""
    if len(results) == 1 and not skipped:
        words = {"expected": "as expected", "unexpected": "not as expected", "undecided": "not decided"}
        return Text.assemble(
            f"check {results[0].check.name}: ",
            (words[results[0].outcome], LOUD[results[0].outcome]),
            f" ({remark(results[0]).removesuffix(', as expected')}), "
            f"{seconds(results[0].answer.coverage.wall_seconds)}",
        )
    line = Text(f"{plural(len(results), 'check')}, {seconds(wall_seconds)}: ")
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
