"""What `hacheck verify` says of several checks: first what matters, then a screen for each unexpected result, one table
for all checks, and their scope once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from hacheck.checker.described_run import run_title
from hacheck.checker.explicit.reduction_data import NOT_REDUCED
from hacheck.checker.lost_again import lost_again
from hacheck.checker.verify import CheckResult, PropertyResult, at_the_start, unexercised, unused_actions
from hacheck.wording import plural

LISTED_MAX = 12
"""So many names at most are listed in a line of the scope."""


def headline(results: Sequence[CheckResult]) -> Text:
    """The sentence that matters: what is not as expected, else what was found as the spec expects it."""
    unexpected = [(one, found) for one in results for found in one.properties if found.outcome == "unexpected"]
    errors = [one for one in results if one.has_error]
    if errors:
        return Text(f"The spec has an error: it stops check {errors[0].check.name} in the middle of a run.", "bad")
    if unexpected:
        result, found = unexpected[0]
        more = len(unexpected) - 1
        text = Text(f"Not as expected: {_sentence(result, found)}", "bad")
        return text.append(f" {plural(more, 'more result')} not as expected.") if more else text
    undecided = [one for one in results if one.outcome == "undecided"]
    if undecided:
        return Text(f"Not decided: {_undecided(undecided)}", "doubt")
    expected = [(one, found) for one in results for found in one.properties if found.expected == "violated"]
    if not expected:
        return Text(f"Every property holds in all {plural(len(results), 'check')}, within their scope.", "good")
    result, found = expected[0]
    broken = len({one.check.name for one, _ in expected})
    text = Text(f"As the spec expects: {_sentence(result, found)}")
    return text.append(
        f" {broken} of {plural(len(results), 'check')} break a property that they expect to be broken; "
        f"everything else holds."
    )


def _undecided(results: Sequence[CheckResult]) -> str:
    """Which property of which check has no verdict, why, and what shows more."""
    result = results[0]
    open_ones = [found for found in result.properties if found.outcome == "undecided"]
    if not open_ones:
        return f"check {result.check.name}."
    reason = open_ones[0].answer.scope.partition(";")[0]
    others = len(open_ones) - 1 + sum(found.outcome == "undecided" for one in results[1:] for found in one.properties)
    more = f" ({plural(others, 'more result')} undecided)" if others else ""
    return f"{open_ones[0].prop.name} in check {result.check.name}: {reason}{more}. --details says more."


def _sentence(result: CheckResult, found: PropertyResult) -> str:
    """What came of one property, in the words of the spec."""
    run = found.answer.run
    meaning = found.prop.description or found.prop.name
    how = "does not hold" if found.answer.verdict == "violated" else "holds, and a violation is expected"
    if found.prop.kind == "reachable" and found.answer.verdict == "violated":
        how = "is never reached"
    length = f", in {run_title(result.system, run)}" if run is not None and found.answer.verdict == "violated" else ""
    return f"“{meaning}” {how} (check {result.check.name}{length})."


def scope(results: Sequence[CheckResult]) -> RenderableType:
    """How far the answers reach, once for all checks: bounds that were reached, assumptions, faults, reductions."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="quiet", no_wrap=True)
    table.add_column()
    for name, words in _rows(results):
        table.add_row(name, words)
    return Group(
        Text("scope", style="head"),
        Padding(table, (0, 0, 0, 2)),
        Text("  --details says this of each check, --runs draws every counterexample", style="quiet"),
    )


def _rows(results: Sequence[CheckResult]) -> Iterable[tuple[str, Text]]:
    count = len(results)
    complete = sum(one.answer.coverage.complete for one in results)
    early = sum(one.answer.coverage.ended_early for one in results)
    explored = "every reachable state within the bounds" if complete == count else f"{complete} of {count} completely"
    if early:
        explored += f"; {early} until every property was decided (--exhaustive explores the rest)"
    yield "explored", Text(explored, style="" if complete + early == count else "warn")
    bounds = Counter(_bound(name) for one in results for name, _ in one.answer.coverage.bounds_reached)
    if bounds:
        yield "bounds reached", Text(_counted(bounds, count))
    faults = Counter(line.partition(",")[0] for one in results for line in one.system.faults)
    yield "faults", Text(_counted(faults, count) if faults else "none")
    assumed = Counter(name for one in results for name, _ in one.system.assumptions)
    if assumed:
        yield "assuming", Text(_counted(assumed, count))
    symmetric = sum(any(not said.startswith(NOT_REDUCED) for said in one.answer.reductions) for one in results)
    if symmetric:
        yield "reduced", Text(f"{plural(symmetric, 'check')}, by symmetry and by slicing away what no property reads")
    never = [set(unused_actions(one)) for one in results if not one.answer.coverage.ended_early]
    if never and (idle := set.intersection(*never)):
        yield "never happened", Text(", ".join(sorted(idle)), style="warn")
    for name, checks in _checks_by_name(results, lambda one: (said for said, _ in unexercised(one))).items():
        yield "never exercised", Text(f"{name}: its condition is never true in {', '.join(checks)}", style="warn")
    for name, checks in _checks_by_name(results, at_the_start).items():
        yield "never exercised", Text(f"{name}: it holds in each initial state in {', '.join(checks)}", style="warn")
    for name, checks in _checks_by_name(results, lambda one: (said for said, _ in lost_again(one))).items():
        yield "once", Text(f"{name}: it comes to hold, and can be lost again, in {', '.join(checks)}", style="warn")
    for one in results:
        for note in one.answer.notes:
            yield "note", Text(f"check {one.check.name}: {note}", style="warn")


def _checks_by_name(
    results: Sequence[CheckResult], names: Callable[[CheckResult], Iterable[str]]
) -> dict[str, list[str]]:
    """The names that are said of some check, each with the checks of which it is said."""
    found: dict[str, list[str]] = {}
    for one in results:
        for name in names(one):
            found.setdefault(name, []).append(one.check.name)
    return found


def _bound(name: str) -> str:
    """A bound in words: `capacity of message.invitation` is `capacity of invitation`."""
    return name.replace("message.", "").replace("operation.", "")


def _counted(found: Counter[str], checks: int) -> str:
    """Names, with the number of checks where not all have them."""
    most = found.most_common(LISTED_MAX)
    said = [name if number == checks else f"{name} ({number})" for name, number in most]
    return ", ".join(said) + (f" and {len(found) - LISTED_MAX} more" if len(found) > LISTED_MAX else "")


__all__ = ["headline", "scope"]
