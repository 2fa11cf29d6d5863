"""The page `docs/bounds.md`: how far each claim of the shipped specs was pushed, and what refuted it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hacheck.checker.raising import ClaimResult, Trial, plan
from hacheck.checker.verify import questions_of
from hacheck.cli.checking.kept_trials import KeptTrials, Raised, explored_key, known
from hacheck.cli.checking.raised_report import Pushed, grouped, pushed
from hacheck.cli.console import plural
from hacheck.model.data import dataclass
from hacheck.model.language import Specification
from hacheck.model.language.limits import Raise

INTRODUCTION = """# How far the verdicts reach

Every verdict holds within limits: bounds of counters and collections, numbers of nodes, budgets of faults, other
numbers among the settings, calls that are one step, and assumptions. On this page each limit of each check of the
shipped specs is raised by one, one at a time (an assumption is switched off), then all that held at once; each claim
that held is checked again. A claim that a raised limit refutes is no error of the tool: the verdict says within which
limits it holds. It says what to be careful about: the property needs that limit.

`hacheck verify SPEC --raise-bounds` does the same for one spec. This page is made by

    python bench/bounds.py --time 2h

which resumes where it stopped; `--page` writes the page without trying anything. A trial that ends at a limit of its
own (of time, memory or states) is *not decided*.

"""

TITLES = (
    "spec",
    "checks",
    "claims",
    "trials",
    "to the end",
    "to be tried",
    "refuted by a bound, size or setting",
    "by one fault more",
    "without an assumption",
)
HEAD = f"| {' | '.join(TITLES)} |\n|---{'|--:' * (len(TITLES) - 1)}|\n"

LEGEND = """
A claim is one property of one check; checks that claim nothing, or were not looked at yet, are not counted. Those
refuted are counted by the kind of limit that refutes them: a bound, size or setting; one fault more; an assumption
switched off. A claim can be in several of these columns.

"""

COLUMNS = """| check | claim | holds with | refuted by | not decided |
|---|---|---|---|---|
"""

NAMED_MAX = 4
"""Of more limits under which a claim holds there is the number."""


@dataclass(frozen=True, slots=True)
class Protocol:
    """A spec with the trials kept for it, perhaps of an earlier text of it."""

    name: str
    specification: Specification
    kept: KeptTrials
    is_current: bool


def page(protocols: Sequence[Protocol]) -> str:
    """The whole page."""
    rows = []
    sections = []
    for one in protocols:
        checks = _checks(one)
        rows.append(_row(one, checks))
        sections.append(_section(one, checks))
    return INTRODUCTION + HEAD + "".join(rows) + LEGEND + "\n".join(sections)


def _checks(protocol: Protocol) -> list[tuple[str, Raised]]:
    """The checks of a spec that claim something, with what is known of their trials."""
    found = []
    for question in questions_of(protocol.specification):
        explored = protocol.kept.explored.get(explored_key(question))
        if explored is None:
            continue
        planned = plan(protocol.specification, explored)
        if planned.trials:
            found.append((question.name, known(protocol.kept, planned) or Raised(planned, (), planned.trials)))
    return found


def _row(protocol: Protocol, checks: Sequence[tuple[str, Raised]]) -> str:
    """A spec in the table of all."""
    claims = [one for _, raised in checks for one in pushed(raised)]
    found = [result for _, raised in checks for _, result in raised.found]
    kinds = [kinds_of(one) for one in claims]
    cells = (
        f"[{protocol.name}](#{protocol.name})",
        len(checks),
        len(claims),
        len(found),
        sum(not one.stopped for one in found),
        sum(len(raised.not_begun) for _, raised in checks),
        *(sum(kind in one for one in kinds) for kind in ("limit", "fault", "assumption")),
    )
    return "| " + " | ".join(f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in cells) + " |\n"


def kinds_of(one: Pushed) -> set[str]:
    """By which kinds of limits a claim is refuted."""
    return {kind_of(trial) for trial, _ in one.refuted}


def kind_of(trial: Trial) -> str:
    """What the limits of a trial allow: an assumption less, faults more, or neither."""
    kinds = {one.kind for one in trial.raises}
    if "assumption" in kinds:
        return "assumption"
    return "fault" if "fault budget" in kinds else "limit"


def _section(protocol: Protocol, checks: Sequence[tuple[str, Raised]]) -> str:
    """A spec with its checks: a row for the claims of a check of which there is the same to say."""
    lines = [f"## {protocol.name}\n\n"]
    if not protocol.is_current:
        lines.append("Tried before the last change of the spec.\n\n")
    questions = questions_of(protocol.specification)
    unexplored = sum(explored_key(one) not in protocol.kept.explored for one in questions)
    if unexplored:
        lines.append(f"Not looked at yet: {unexplored} of {plural(len(questions), 'check')}.\n\n")
    rows = [row for name, raised in checks if raised.found for row in _rows(name, raised)]
    lines += [COLUMNS, *rows] if rows else ["Nothing was tried yet.\n"]
    return "".join(lines)


def _rows(check: str, raised: Raised) -> Iterable[str]:
    name = f"`{check}`"
    for names, one in grouped(pushed(raised)):
        cells = (
            name,
            ", ".join(f"`{item}`" for item in names),
            _held(one),
            "; ".join(_refuted(trial, result) for trial, result in one.refuted) or "-",
            ", ".join(_words(trial.raises) for trial, _ in one.unknown) or "-",
        )
        yield "| " + " | ".join(cells) + " |\n"
        name = ""


def _held(one: Pushed) -> str:
    singles = [trial.raises for trial in one.held if len(trial.raises) == 1]
    words = ", ".join(map(_words, singles)) if len(singles) <= NAMED_MAX else plural(len(singles), "limit")
    if one.together:
        words += f", {len(one.together)} at once"
    return words or "-"


def _refuted(trial: Trial, result: ClaimResult) -> str:
    faults = f", {plural(result.faults, 'fault')}" if result.faults else ""
    return f"{_words(trial.raises)} in {plural(result.steps, 'step')}{faults}"


def _words(raises: Sequence[Raise]) -> str:
    """Limits without the lines at which they stand, which change with every edit."""
    if len(raises) > NAMED_MAX:
        return f"{len(raises)} at once"
    return " and ".join(
        f"`{one.name} = {one.after}`" if one.setting else f"`{one.name}` {one.after} instead of {one.before}"
        for one in raises
    )
