"""What `hacheck verify` says of a check whose limits were raised: for each property how far it was pushed, what refuted
it, and what was not tried."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence

from msgspec import Struct
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from hacheck.checker.limit_trials import ClaimResult, Trial, TrialResult
from hacheck.cli.checking.kept_trials import Raised
from hacheck.cli.console import symbols
from hacheck.model.language.raised_limits import Raise
from hacheck.wording import plural

INDENT = (0, 0, 0, 2)
NAMED_MAX = 12
"""Of more limits that were raised together there is the number."""


class Pushed(Struct, frozen=True):
    """How far one property was pushed. `held`: the trials in which it still holds; `refuted`: those that refute it, the
    shortest run first; `unknown`: those that did not decide it."""

    name: str
    held: tuple[Trial, ...]
    refuted: tuple[tuple[Trial, ClaimResult], ...]
    unknown: tuple[tuple[Trial, TrialResult], ...]

    @property
    def together(self) -> tuple[Raise, ...]:
        """The most limits that were raised at once and did not refute it."""
        several = [trial.raises for trial in self.held if len(trial.raises) > 1]
        return max(several, key=len, default=())


def pushed(raised: Raised) -> tuple[Pushed, ...]:
    """Each property of a check with what its trials found."""
    names = raised.plan.trials[0].claims if raised.plan.trials else ()
    return tuple(_pushed(name, raised.found) for name in names)


def _pushed(name: str, found: Sequence[tuple[Trial, TrialResult]]) -> Pushed:
    held, refuted, unknown = [], [], []
    for trial, result in found:
        for one in result.claims:
            if one.name != name:
                continue
            if one.claim == "holds":
                held.append(trial)
            elif one.claim == "refuted":
                refuted.append((trial, one))
            else:
                unknown.append((trial, result))
    refuted.sort(key=lambda pair: pair[1].steps)
    return Pushed(name, tuple(held), tuple(refuted), tuple(unknown))


def grouped(properties: Iterable[Pushed]) -> list[tuple[list[str], Pushed]]:
    """Properties of which there is the same to say, by their names."""
    groups: dict[object, tuple[list[str], Pushed]] = {}
    for one in properties:
        refuted = tuple((trial.raises, result.steps, result.faults) for trial, result in one.refuted)
        unknown = tuple(trial.raises for trial, _ in one.unknown)
        key = (refuted, tuple(trial.raises for trial in one.held), unknown)
        groups.setdefault(key, ([], one))[0].append(one.name)
    return list(groups.values())


def section(console: Console, raised: Raised, command: Sequence[str], title: str = "") -> RenderableType | None:
    """All there is to say of one check; nothing where it claims nothing. `command`: the words that run this check, to
    which those that raise a limit are added. `title`: what is raised, where that does not stand just above."""
    if not raised.plan.trials:
        return None
    marks = symbols(console)
    head = f"{title}, limits raised by one  " if title else "limits raised by one  "
    parts: list[RenderableType] = [Text.assemble((head, "quiet"), counted(raised))]
    for names, one in grouped(pushed(raised)):
        good = not one.refuted
        mark, style = (marks.holds, "ok") if good and one.held else (marks.violated, "bad")
        if good and not one.held:
            mark, style = marks.unknown, "warn"
        parts.append(Text.assemble((f"{mark} ", style), (", ".join(names), "name")))
        parts.append(Padding(_facts(one, command), (0, 0, 0, 4)))
    if raised.not_begun or raised.plan.fixed:
        parts.append(Padding(_not_tried(raised), INDENT))
    return Padding(Group(*parts), (1, 0, 0, 2))


def counted(raised: Raised) -> str:
    """How many trials there were, and how they ended."""
    trials = len(raised.found)
    refuting = sum(bool(result.refuted) for _, result in raised.found)
    finished = sum(not result.stopped for _, result in raised.found)
    return f"{plural(trials, 'trial')}, {finished} to the end; {refuting} refute something"


def _facts(one: Pushed, command: Sequence[str]) -> RenderableType:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="quiet", no_wrap=True)
    table.add_column()
    for trial, result in one.refuted:
        table.add_row("refuted by", Text.assemble((refutation(trial, result), "bad")))
        if all(item.setting for item in trial.raises):
            table.add_row("", Text(shlex.join([*command, *settings_of(trial)]), style="quiet"))
    singles = [trial.raises[0].words for trial in one.held if len(trial.raises) == 1]
    if singles:
        table.add_row("holds with", Text(f"each of: {', '.join(singles)}" if len(singles) > 1 else singles[0]))
    if one.together:
        table.add_row("and with", Text(combined(one.together)))
    if one.unknown:
        table.add_row("not decided", Text(undecided(one), style="warn"))
    return table


def combined(raises: Sequence[Raise]) -> str:
    """Limits that were raised at once."""
    if len(raises) > NAMED_MAX:
        return f"{len(raises)} of them together"
    return f"{len(raises)} of them together: {', '.join(one.words for one in raises)}"


def refutation(trial: Trial, result: ClaimResult) -> str:
    """What refutes a claim: the limits, and the length of the run."""
    faults = f", {plural(result.faults, 'fault')}" if result.faults else ""
    kinds = ", ".join(dict.fromkeys(one.kind for one in trial.raises))
    return f"{trial.words} ({kinds}): in {plural(result.steps, 'step')}{faults}"


def undecided(one: Pushed) -> str:
    """The trials that did not decide something, by the reason."""
    reasons: dict[str, list[str]] = {}
    for trial, result in one.unknown:
        words = trial.words if len(trial.raises) == 1 else f"{len(trial.raises)} together"
        reasons.setdefault(result.stopped or "no verdict", []).append(words)
    return "; ".join(f"{', '.join(words)}: {why}" for why, words in reasons.items())


def settings_of(trial: Trial) -> list[str]:
    """The words of a command line that raise the limits of a trial."""
    return [word for one in trial.raises if one.setting for word in ("--set", f"{one.name}={one.after}")]


def _not_tried(raised: Raised) -> RenderableType:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="quiet", no_wrap=True)
    table.add_column()
    if raised.not_begun:
        words = ", ".join(trial.words for trial in raised.not_begun)
        table.add_row("not tried", Text(words, style="warn"))
    if raised.plan.fixed:
        table.add_row("not raised", Text("; ".join(f"{one.name}: {one.reason}" for one in raised.plan.fixed)))
    return table
