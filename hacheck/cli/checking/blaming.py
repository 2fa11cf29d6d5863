"""Blame as commands show it: what a counterexample needs, and the nearest good run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from hacheck.checker.blame.blamed import Blamed, blamed, heading, is_blamable
from hacheck.checker.blame.good_run import Difference, GoodRun
from hacheck.checker.blame.trials import Subject, TrialResult, variants_of
from hacheck.checker.engine import Limits, Progress
from hacheck.checker.sent_specification import sent
from hacheck.cli.checking.blamed_settings import ALONE_ACTIONS_MAX, Task, other_systems, tried_elsewhere
from hacheck.cli.checking.side_by_side import shared_limits
from hacheck.cli.progress import progress_display
from hacheck.model.ir import Property
from hacheck.model.language import Specification
from hacheck.model.runs import Run
from hacheck.supervise.interruption import Interruption
from hacheck.supervise.resources import usable_cores
from hacheck.wording import plural

BRIEF = ("branch", "setting")
"""Kinds of trials of which there are many, and that are not listed where they prevent nothing."""

STEPS_SHOWN = 12
"""Of more steps of the good run there is the number."""


def blame_run(
    errors: Console,
    specification: Specification,
    settings: Mapping[str, str],
    check: str | None,
    prop: Property,
    run: Run,
    limits: Limits,
    interruption: Interruption,
    *,
    threads: int | None = None,
    quiet: bool = False,
) -> Blamed | None:
    """What a counterexample needs; `None` where a run is none. `settings`: on top of those of the check. Where the
    systems of other settings take a while to be made, every second of them is tried in a process of its own."""
    if not is_blamable(prop, run):
        return None
    handlers = specification.known_handlers()
    system = specification.instantiate(settings, check, known=handlers).system
    if system is None:
        return None
    variants = variants_of(specification.parameters, dict(system.settings))
    threads = threads or usable_cores()
    with ExitStack() as opened:
        display = opened.enter_context(progress_display(errors, f"blame {prop.name}", quiet=quiet))
        elsewhere = None
        if len(system.actions) * len(variants) > ALONE_ACTIONS_MAX and usable_cores() > 1:
            threads, limits = max(threads // 2, 1), shared_limits(limits, 2)
            task = Task(sent(specification), dict(settings), check, prop, run, variants[1::2], limits, threads)
            elsewhere = opened.enter_context(tried_elsewhere(task, interruption))

        def report(progress: Progress) -> bool:
            display.update(progress)
            return not interruption.requested

        other = other_systems(specification, settings, check, handlers)
        return blamed(Subject(system, prop, run, variants, other), limits, report, threads, elsewhere)


def shown_blame(found: Blamed) -> RenderableType:
    """What prevents the violation and what does not, and the nearest good run."""
    results = found.blame.results
    parts: list[RenderableType] = []
    if not results:
        parts.append(Text("blame: the run has nothing to be tried without", style="quiet"))
    else:
        parts.append(Text(f"blame: each tried alone, within the same bounds ({heading(found.blame)})", style="head"))
    parts += _group("prevents the violation", "good", [one for one in results if _is_listed(one, "prevents")])
    needed = [one for one in results if one.outcome == "prevents" and one.trial.kind == "step"]
    if needed:
        names = ", ".join(one.trial.words.split("`")[1] for one in needed)
        parts.append(_line("steps that it needs: without one of these actions it is not violated", "good"))
        parts.append(Padding(Text(names), (0, 0, 0, 4)))
    parts += _needed_branches(results)
    listed = [one for one in results if one.outcome == "violated" and one.trial.kind not in BRIEF]
    brief = list(_brief(results))
    parts += (
        [_line("does not prevent it", "warn")]
        if brief and not listed
        else _group("does not prevent it", "warn", listed)
    )
    parts += brief
    parts += _group("undecided", "doubt", [one for one in results if one.outcome == "open"])
    parts += [Text(), *_good_run(found.good)]
    return Group(*parts)


def _is_listed(result: TrialResult, outcome: str) -> bool:
    return result.outcome == outcome and result.trial.kind not in ("step", "branch")


def _group(title: str, style: str, results: Sequence[TrialResult]) -> Iterator[RenderableType]:
    if results:
        yield _line(title, style)
    for one in results:
        yield Padding(Text.assemble(one.trial.words, (f": {one.words}", "quiet")), (0, 0, 0, 4))


def _needed_branches(results: Sequence[TrialResult]) -> Iterator[RenderableType]:
    """The branches that the violation needs, each with its steps."""
    needed = [one.trial for one in results if one.outcome == "prevents" and one.trial.kind == "branch"]
    if needed:
        yield _line("branches of `if` that it needs: with the other one taken it is not violated", "good")
    for trial in needed:
        said = trial.words.removeprefix("if ").replace(" took the other branch where ", ": ")
        word, steps = "step" if len(trial.steps) == 1 else "steps", ", ".join(map(str, trial.steps))
        yield Padding(Text.assemble(said, (f" ({word} {steps})", "quiet")), (0, 0, 0, 4))


def _brief(results: Sequence[TrialResult]) -> Iterator[RenderableType]:
    """How many branches and settings of those tried do not prevent the violation; of settings also which."""
    branches = sum(one.trial.kind == "branch" and one.outcome == "violated" for one in results)
    if branches:
        yield Padding(Text(f"{plural(branches, 'other way')} through an `if`"), (0, 0, 0, 4))
    settings = [one for one in results if one.trial.kind == "setting" and one.outcome == "violated"]
    if settings:
        names = ", ".join(one.trial.words.split("`")[1] for one in settings)
        yield Padding(Text(f"each of these settings: {names}"), (0, 0, 0, 4))


def _line(words: str, style: str) -> RenderableType:
    return Padding(Text(words, style=style), (0, 0, 0, 2))


def _good_run(found: GoodRun | None) -> Iterator[RenderableType]:
    """The nearest good run from its first difference on."""
    if found is None:
        yield Text("nearest good run: none found that differs in few steps", style="quiet")
        return
    shared = f"the same up to step {found.shared}, then" if found.shared else "it differs from the first step on:"
    yield Text.assemble(("nearest good run: ", "head"), shared)
    listed = found.differences[:STEPS_SHOWN]
    first = next((place for place, one in enumerate(listed) if one.mark != "same"), None)
    for place, one in enumerate(listed):
        yield Padding(_difference(one, is_first=place == first), (0, 0, 0, 2))
    if len(found.differences) > STEPS_SHOWN:
        yield _line(f"and {len(found.differences) - STEPS_SHOWN} more steps", "quiet")
    yield _line("and the property holds.", "good")


def _difference(one: Difference, *, is_first: bool) -> Text:
    sign, style = {"same": (" ", "quiet"), "added": ("+", "good"), "left out": ("-", "bad")}[one.mark]
    number = "" if one.number is None else str(one.number)
    said = {"same": "", "added": "" if one.number is None else "  (chosen otherwise)", "left out": "  (left out)"}[
        one.mark
    ]
    line = Text.assemble((f"{sign} {number:>3}  ", style), (one.words, style), (said, "quiet"))
    return line.append("  <- first difference", style="bad") if is_first else line
