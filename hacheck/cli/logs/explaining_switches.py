"""What `hacheck conform` shows of other settings: what would be reported without the spec's choices for logs, and, with
`--switches`, under which ones a trace that deviates would conform."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from hacheck.api.explaining_settings import (
    Change,
    Explained,
    OtherChoice,
    chosen_for_logs,
    explained,
    under_own_settings,
)
from hacheck.cli.logs.conformance_report import place
from hacheck.cli.logs.traces import opened
from hacheck.cli.progress import ProgressLine
from hacheck.supervise.interruption import Interruption
from hacheck.traces.conformance.verdicts import Verdict
from hacheck.traces.data.contradictions import MEANINGS
from hacheck.traces.findings import Findings
from hacheck.wording import plural

if TYPE_CHECKING:
    from hacheck.cli.logs.conformance import ConformRequest, ConformResult

TRACES_MAX = 3
"""So many deviating traces share the time, the first ones."""

RECORDS_MAX = 20_000
"""A longer trace is not checked again without what the spec chooses for logs."""


def show_switches(console: Console, found: ConformResult) -> None:
    """Looks for what would explain the traces that deviate, and prints it. Ctrl-C ends the search, not the report."""
    request = found.request
    deviating = [one for one in found.outcome.shown if one.kind == "deviates" and one.seq is not None][:TRACES_MAX]
    with _proceeding(request, "other settings", "would {} explain it?") as proceeding:
        for verdict in deviating:
            dataset = opened(request.traces, request.adapter, request.zone, Findings())
            seconds = request.switches / len(deviating)
            said = explained(found.compared, found.checker.base, dataset, verdict, seconds, proceeding)
            for text in lines_of(said):
                console.print(Padding(text, (0, 0, 0, 4)), soft_wrap=False)


def show_choices(console: Console, found: ConformResult) -> None:
    """Prints what the spec chooses for logs otherwise than the check does, if a trace deviates or a property is
    violated, and what would be reported of the first such traces without that."""
    chosen = chosen_for_logs(found.compared.specification, found.compared.check)
    if not chosen or not any(one.kind == "deviates" or one.violated for one in found.outcome.shown):
        return
    said = ", ".join(f"{name}={value}" for name, value in chosen.items())
    console.print(Text(f"the spec chooses for logs, other than check {found.compared.check}: {said}", style="quiet"))
    for verdict, other in found.others:
        console.print(Padding(choice_text(other, verdict), (0, 0, 0, 4)), soft_wrap=False)


def other_choices(found: ConformResult) -> list[tuple[Verdict, OtherChoice]]:
    """What would be reported of the first traces that deviate, or in which a property is violated, without each choice
    of the spec for logs. Ctrl-C ends the search, not the report."""
    request = found.request
    others: list[tuple[Verdict, OtherChoice]] = []
    wrong = [one for one in found.outcome.shown if one.kind == "deviates" or one.violated]
    with _proceeding(request, "without that", "what is reported with {}?") as proceeding:
        for verdict in [one for one in wrong if one.records <= RECORDS_MAX][:TRACES_MAX]:
            dataset = opened(request.traces, request.adapter, request.zone, Findings())
            every = under_own_settings(found.compared, found.checker.base, dataset, verdict, proceeding)
            others += [(verdict, other) for other in every]
    return others


@contextmanager
def _proceeding(request: ConformRequest, title: str, words: str) -> Iterator[Callable[[str], bool]]:
    """A function that says whether to go on with the next try, and shows it, put into `words`. Ctrl-C ends it."""
    line = ProgressLine(quiet=request.quiet, no_color=request.no_color)
    with Interruption().watching() as interruption, line.shown(title):

        def proceeding(what: str) -> bool:
            line.update(lambda: words.format(what))
            return not interruption.requested

        yield proceeding


def choice_text(other: OtherChoice, verdict: Verdict) -> Text:
    """What would be reported of a trace without a choice, beside what is."""
    text = Text.assemble(("with ", ""), (f"--set {other.setting}", "name"), " ", (verdict.trace_id, "head"))
    found = other.verdict
    if found.kind == "conforms":
        text.append(" would conform" if verdict.kind != "conforms" else " conforms, too")
    elif found.kind == "unknown":
        text.append(f" would be undecided: {found.reason}")
    elif verdict.kind == "deviates" and found.seq == verdict.seq:
        text.append(" deviates at the same record")
    else:
        text.append(" would deviate at ").append(place(found))
    ours, theirs = names_violated(verdict), names_violated(found)
    for words, names in ((", violating ", theirs - ours), (", without violating ", ours - theirs)):
        if names:
            text.append(words + ", ".join(sorted(names)))
    return text


def names_violated(verdict: Verdict) -> set[str]:
    """The properties of the model that a trace violates for sure."""
    return {one.partition("@")[0] for one in verdict.violated} - set(MEANINGS)


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
