"""A run as commands show it: as a picture, or as a list of its steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from rich.console import Console, Group, RenderableType
from rich.text import Text

from hacheck.checker.blame.blamed import Blamed
from hacheck.checker.kept_fairness import kept_fairness, put_off
from hacheck.cli.checking.run_rendering import INITIALLY, fault_part, full_run, indented
from hacheck.cli.console import symbols
from hacheck.cli.page.report_data import changed_settings
from hacheck.cli.pictures.run_picture import run_picture
from hacheck.model.ir import Action, Property, System
from hacheck.model.language import Specification
from hacheck.model.runs import Run

PUT_OFF_MAX = 4
"""So many handlers are named that a run puts off for ever."""


def shown_run(
    console: Console,
    system: System,
    run: Run,
    about: Property | None,
    *,
    steps: bool = False,
    places: Callable[[Action], str] | None = None,
    blamed: Blamed | None = None,
) -> RenderableType:
    """The run as a picture, or with `steps` as a list of all that each step changed.

    `about`: the property that the run decides. `places`: where an action is declared, for one that cannot be completed.
    `blamed`: what it needs, if that was tried.
    """
    fairness = [] if about is None else _fairness_lines(kept_fairness(system, run, about))
    if about is not None and (waiting := put_off(system, run, about)):
        named = ", ".join(waiting[:PUT_OFF_MAX]) + (
            f" and {len(waiting) - PUT_OFF_MAX} more" if waiting[PUT_OFF_MAX:] else ""
        )
        fairness.append(f"put off for ever, as no `fair` names it: {named}")
    below: list[RenderableType] = [indented(Text(one), 0 if not steps else 2) for one in fairness]
    if steps:
        return Group(indented(full_run(console, system, run, about, INITIALLY, places), 2), *below)
    picture = run_picture(system, run, about, blamed)
    if run.error is not None:
        below.append(fault_part(system, run, symbols(console), places))
    return Group(picture, *below) if below else picture


def _fairness_lines(kept: Iterable[str]) -> list[str]:
    """A line for each way in which fairness is kept, with all that keep it so."""
    handlers: dict[str, list[str]] = {}
    for one in kept:
        handler, _, how = one.partition(": ")
        handlers.setdefault(how, []).append(handler)
    return [f"fairness kept by {', '.join(names)}: {how}" for how, names in handlers.items()]


def settings_line(system: System, specification: Specification) -> str:
    """Under which settings a run was found: those that are not at their defaults."""
    changed = [f"{name} = {value}" for name, value in changed_settings(system, specification).items()]
    return f"settings: {', '.join(changed)}" if changed else "settings: all at their defaults"
