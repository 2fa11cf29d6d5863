"""What is said of a check whose state space is large: what multiplies the states, which limit to lower first, and what
else there is to do."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from hacheck.checker.engine import Progress
from hacheck.checker.multipliers import SHOWN, Multiplier, multiplying
from hacheck.cli.console import seconds, size
from hacheck.model.ir import System
from hacheck.model.language import Specification
from hacheck.model.language.raised_limits import Raise, raises
from hacheck.wording import plural

KINDS = {"size": 4, "fault budget": 3, "bound": 2, "setting": 1}
"""Limits to lower, those first that multiply most, where nothing else decides."""


def lowered(specification: Specification, system: System, found: Sequence[Multiplier]) -> list[str]:
    """The limits to lower first, each as it is written: those that the variables which multiply most depend on."""
    values = dict(system.settings)
    limits = [one for one in raises(specification, values, True)[0] if _least(one) is not None]
    top = found[:SHOWN]

    def rank(one: Raise) -> tuple[int, int]:
        related = [place for place, each in enumerate(top) if _concerns(one, each)]
        return (related[0] if related else SHOWN, -KINDS.get(one.kind, 0))

    return [_lower(one) for one in sorted(limits, key=rank)][:SHOWN]


def _least(one: Raise) -> int | None:
    """The number that a limit may be lowered to; `None` where it is no number, or none that is lower makes sense."""
    if not one.before.isdecimal():
        return None
    low = int(one.before) - 1
    return low if low >= (0 if one.kind == "fault budget" else 1) else None


def _lower(one: Raise) -> str:
    low = _least(one)
    if one.setting:
        return f"--set {one.name}={low}"
    joint = "size" if one.kind == "size" else "up to"
    return f"{one.name} {joint} {low} ({Path(one.place).name})"


def _concerns(one: Raise, each: Multiplier) -> bool:
    """Whether a limit bounds a variable, by their names."""
    name = one.name.removeprefix("message.").removeprefix("capacity of ")
    parts = each.variable.replace("message.", "").replace("budget.", "").split(".")
    return name in parts or name == ".".join(parts[:2]) or (one.kind == "size" and name == parts[0])


def facts(
    specification: Specification | None, system: System, found: Sequence[Multiplier]
) -> Iterator[tuple[str, str]]:
    """What there is to say, as rows."""
    if not found:
        return
    yield "multiplies", multiplying(found)
    limits = [] if specification is None else lowered(specification, system, found)
    if limits:
        yield "lower first", ", or ".join(limits)


def notice(
    specification: Specification | None,
    system: System,
    check: str,
    progress: Progress,
    memory_max: int | None,
    spec: str,
) -> RenderableType:
    """What is printed once, while an exploration goes on that has become large."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="quiet", no_wrap=True)
    table.add_column(overflow="fold")
    for name, words in facts(specification, system, progress.multipliers):
        table.add_row(name, Text(words))
    simulate = shlex.join(["hacheck", "simulate", spec, "--check", check])
    table.add_row("or", Text(f"--time 60s ends with what was covered; {simulate} takes random runs"))
    if memory_max is not None:
        held = f"{size(progress.memory_bytes)} so far; it stops at {size(memory_max)} (--memory)"
        table.add_row("memory", Text(held))
    head = Text(
        f"check {check} is large: {plural(progress.states, 'state')} after {seconds(progress.wall_seconds)}, "
        f"{progress.frontier:,} of them not expanded yet",
        style="warn",
    )
    grid = Table.grid()
    grid.add_row(head)
    grid.add_row(Padding(table, (0, 0, 0, 2)))
    return grid
