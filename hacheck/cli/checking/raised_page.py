"""The page `docs/bounds.md`: how far each claim of the shipped specs was pushed, and what refuted it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from hacheck.checker.limit_trials import ClaimResult, Trial, plan
from hacheck.checker.verify import questions_of
from hacheck.cli.checking.kept_trials import KeptTrials, Raised, explored_key, known
from hacheck.cli.checking.raised_reasons import Explained, Reason
from hacheck.cli.checking.raised_report import Pushed, grouped, pushed
from hacheck.model.language import Specification
from hacheck.model.language.raised_limits import Raise
from hacheck.wording import plural

INTRODUCTION = """# How far the verdicts reach

Every verdict holds within limits: bounds of counters and collections, numbers of nodes, budgets of faults, other
numbers among the settings, calls that are one step, and assumptions. On this page each limit of each check of the
shipped specs is raised by one, one at a time (an assumption is switched off), then all that held at once; each claim
that held is checked again. A claim that a raised limit refutes is no error of the tool: the verdict says within which
limits it holds. It says what to be careful about: the property needs that limit.

What refutes a claim is of one of four kinds, and each says something else:

- *A bound, size or other number of the settings*: the property needs that number. Most of these are findings; some say
  only that the property, or the setting, was written for one of something.
- *One fault more*: the check grants so many faults, and the protocol survives no more of them. What a protocol promises
  is promised for a number of faults, so this is the border of the promise, not a broken one.
- *Calls in more steps*: a call that was one step is a request, its service and an answer. A safety property that this
  refutes depends on nothing happening in between. A liveness property may need more than that: the fairness that a spec
  declares was written for calls that are one step, and does not cover the steps in between.
- *An assumption switched off*: the verdict relies on it, as the spec says beside the assumption. That it is refuted
  shows that the assumption is needed, and is no mere convenience.

A check in brackets expects the same property violated with that limit as high: without *compare* in the same variant of
the protocol and with no more of anything else. What no check shows has its reason below the table. `hacheck verify SPEC
--raise-bounds` does the same for one spec. This page is made by

    python bench/bounds.py --time 2h

which resumes where it stopped; `--page` writes the page without trying anything. A trial that ends at a limit of its
own (time, memory, number of states) is *not decided*; it is tried again by a run that gives it more.

"""

TITLES = (
    "spec",
    "checks",
    "claims",
    "trials",
    "all held",
    "refuted something",
    "met a limit",
    "not possible",
    "to be tried",
)
KINDS = ("limit", "fault", "granularity", "assumption")
REFUTED_TITLES = (
    "spec",
    "claims",
    "by a bound, size or setting",
    "by one fault more",
    "by calls in more steps",
    "without an assumption",
    "refutations",
    "shown by a check",
    "with a reason",
    "with neither",
)


def _head(titles: Sequence[str]) -> str:
    return f"| {' | '.join(titles)} |\n|---{'|--:' * (len(titles) - 1)}|\n"


LEGEND = """
A claim is one property of one check; checks that claim nothing, or were not looked at yet, are not counted. A trial
that refuted something may have met a limit as well. *Not possible*: the spec has no such system, such as one for pairs
with three nodes.

"""

REFUTED_LEGEND = """
Claims that are refuted, by the kind of limit; a claim can be in several of these columns. A refutation is a claim with
a trial that refutes it.

"""

COLUMNS = """| check | claim | holds with | refuted by | not decided |
|---|---|---|---|---|
"""

NAMED_MAX = 4
"""Of more limits under which a claim holds there is the number."""


class Protocol(Struct, frozen=True):
    """A spec with the trials kept for it, perhaps of an earlier text of it."""

    name: str
    specification: Specification
    kept: KeptTrials
    is_current: bool
    reasons: tuple[Reason, ...] = ()


def page(protocols: Sequence[Protocol]) -> str:
    """The whole page."""
    rows, refuted, sections = [], [], []
    for one in protocols:
        checks = checks_of(one)
        explained = Explained(one.specification, one.reasons)
        rows.append(_row(one, checks))
        refuted.append(_refuted_row(one, checks, explained))
        sections.append(_section(one, checks, explained))
    tables = _head(TITLES) + "".join(rows) + LEGEND + _head(REFUTED_TITLES) + "".join(refuted) + REFUTED_LEGEND
    return INTRODUCTION + tables + "\n".join(sections)


def checks_of(protocol: Protocol) -> list[tuple[str, Raised]]:
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
    """A spec in the table of trials."""
    found = [result for _, raised in checks for _, result in raised.found]
    return _cells(
        f"[{protocol.name}](#{protocol.name})",
        len(checks),
        sum(len(pushed(raised)) for _, raised in checks),
        len(found),
        sum(one.held for one in found),
        sum(bool(one.refuted) for one in found),
        sum(one.limited for one in found),
        sum(bool(one.stopped) and not one.limited for one in found),
        sum(len(raised.not_begun) for _, raised in checks),
    )


def _refuted_row(protocol: Protocol, checks: Sequence[tuple[str, Raised]], explained: Explained) -> str:
    """A spec in the table of what was refuted."""
    claims = [one for _, raised in checks for one in pushed(raised)]
    kinds = [kinds_of(one) for one in claims]
    found = refutations(checks)
    shown = sum(explained.shown(*one) is not None for one in found)
    neither = sum(explained.shown(*one) is None and explained.reason(*one) is None for one in found)
    return _cells(
        protocol.name,
        sum(bool(one) for one in kinds),
        *(sum(kind in one for one in kinds) for kind in KINDS),
        len(found),
        shown,
        len(found) - shown - neither,
        neither,
    )


def _cells(*cells: str | int) -> str:
    return "| " + " | ".join(f"{cell:,}" if isinstance(cell, int) else cell for cell in cells) + " |\n"


def refutations(checks: Sequence[tuple[str, Raised]]) -> list[tuple[str, Trial, str]]:
    """The checks, trials and claims of everything that was refuted."""
    return [(name, trial, one.name) for name, raised in checks for one in pushed(raised) for trial, _ in one.refuted]


def kinds_of(one: Pushed) -> set[str]:
    """By which kinds of limits a claim is refuted."""
    return {kind_of(trial) for trial, _ in one.refuted}


def kind_of(trial: Trial) -> str:
    """What the limits of a trial allow: an assumption less, faults more, calls in more steps, or none of them."""
    kinds = {one.kind for one in trial.raises}
    if "assumption" in kinds:
        return "assumption"
    if "fault budget" in kinds:
        return "fault"
    return "granularity" if "granularity" in kinds else "limit"


def _section(protocol: Protocol, checks: Sequence[tuple[str, Raised]], explained: Explained) -> str:
    """A spec with its checks: a row for the claims of a check of which there is the same to say."""
    lines = [f"## {protocol.name}\n\n"]
    if not protocol.is_current:
        lines.append("Tried before the last change of the spec.\n\n")
    questions = questions_of(protocol.specification)
    unexplored = sum(explored_key(one) not in protocol.kept.explored for one in questions)
    if unexplored:
        lines.append(f"Not looked at yet: {unexplored} of {plural(len(questions), 'check')}.\n\n")
    rows = [row for name, raised in checks if raised.found for row in _rows(name, raised, explained)]
    lines += [COLUMNS, *rows] if rows else ["Nothing was tried yet.\n"]
    if reasons := _reasons(checks, explained):
        lines += ["\nWhat no check shows:\n\n", *reasons]
    return "".join(lines)


def _rows(check: str, raised: Raised, explained: Explained) -> Iterable[str]:
    name = f"`{check}`"
    for names, one in grouped(pushed(raised)):
        refuted = [
            f"{_refuted(trial, result)}{_shown(names, check, trial, explained)}" for trial, result in one.refuted
        ]
        unknown = ", ".join(_words(trial.raises) for trial, _ in one.unknown)
        claims = ", ".join(f"`{item}`" for item in names)
        yield _cells(name, claims, _held(one), "; ".join(refuted) or "-", unknown or "-")
        name = ""


def _shown(claims: Sequence[str], check: str, trial: Trial, explained: Explained) -> str:
    """The checks that show what a trial refutes, in brackets."""
    found = {shown for claim in claims if (shown := explained.shown(check, trial, claim))}
    ordered = sorted(found, key=lambda one: (not one.is_within, one.check))
    names = [f"`{one.check}`" if one.is_within else f"compare `{one.check}`" for one in ordered]
    return f" ({', '.join(names)})" if names else ""


def _reasons(checks: Sequence[tuple[str, Raised]], explained: Explained) -> list[str]:
    """A line for each reason that is needed, with the claims that have it."""
    claims: dict[Reason, list[str]] = {}
    for check, trial, claim in refutations(checks):
        if explained.shown(check, trial, claim) is None and (reason := explained.reason(check, trial, claim)):
            names = claims.setdefault(reason, [])
            if claim not in names:
                names.append(claim)
    return [
        f"- `{one.limit}` ({', '.join(f'`{name}`' for name in names)}): {one.text}\n" for one, names in claims.items()
    ]


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
