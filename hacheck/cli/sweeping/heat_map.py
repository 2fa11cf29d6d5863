"""Heat maps of a sweep as data: where each property holds, where not, and by a run of which length.

With one setting that is varied a map has a row for each property; with more, each property has maps of its own, the
first setting down, the second across, and one for each combination of the others. A property that holds in every task
of a check needs no map.
"""

from __future__ import annotations

from itertools import product
from typing import Literal

from msgspec import Struct

from hacheck.checker.sweep.sweep_plan import settings_text
from hacheck.checker.sweep.sweep_task import Found
from hacheck.cli.sweeping.sweep_table import Swept

Tone = Literal["holds", "violated", "unknown", "absent"]


class Cell(Struct, frozen=True):
    """A property under the settings of a task. `length`: steps of the run that shows the verdict; `at_most`: whether
    there may be a shorter one; `why`: what to say of it at length."""

    tone: Tone
    length: int | None = None
    at_most: bool = False
    why: str = ""

    def text(self, holds: str, violated: str, unknown: str, at_most: str) -> str:
        """The mark, with these signs, and the length of the run."""
        mark = {"holds": holds, "violated": violated, "unknown": unknown, "absent": ""}[self.tone]
        length = "" if self.length is None else f" {at_most if self.at_most else ''}{self.length}"
        return mark + length


class HeatMap(Struct, frozen=True):
    """`down`, `across`: what rows and columns are values of."""

    title: str
    down: str
    across: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]


class Picture(Struct, frozen=True):
    """All heat maps, and for each check the properties that hold in each of its tasks."""

    maps: tuple[HeatMap, ...]
    holding: tuple[tuple[str, tuple[str, ...]], ...]

    @property
    def lengths(self) -> tuple[int, int]:
        """The length of the shortest and the longest violation in it; zeros where there is none."""
        found = [
            cell.length
            for one in self.maps
            for _, cells in one.rows
            for cell in cells
            if cell.tone == "violated" and cell.length is not None
        ]
        return (min(found), max(found)) if found else (0, 0)


def picture(swept: Swept) -> Picture:
    """The heat maps of a sweep."""
    maps: list[HeatMap] = []
    holding: list[tuple[str, tuple[str, ...]]] = []
    for check in swept.checks:
        cells = _cells(swept, check)
        fine = tuple(name for name, own in cells.items() if all(cell.tone == "holds" for cell in own.values()))
        rest = {name: own for name, own in cells.items() if name not in fine}
        if fine:
            holding.append((check, fine))
        maps += _maps(swept, check, rest)
    return Picture(tuple(maps), tuple(holding))


def _cells(swept: Swept, check: str) -> dict[str, dict[tuple[str, ...], Cell]]:
    """The cells of a check, by property and the values of its task."""
    tasks = [number for number, task in enumerate(swept.tasks) if task.check == check]
    names = dict.fromkeys(
        found.name for number in tasks if number in swept.results for found in swept.results[number].properties
    )
    made: dict[str, dict[tuple[str, ...], Cell]] = {name: {} for name in names or ("every property",)}
    for number in tasks:
        values = tuple(value for _, value in swept.tasks[number].varied)
        result = swept.results.get(number)
        found = {one.name: one for one in result.properties} if result is not None else {}
        for name, own in made.items():
            one = found.get(name)
            if one is not None:
                own[values] = _cell(one, swept.reason(number, one))
            elif found:
                own[values] = Cell("absent", why="not a property under these settings")
            else:
                own[values] = Cell("unknown", why=swept.reason(number))
    return made


def _cell(found: Found, reason: str) -> Cell:
    tone: Tone = "unknown"
    if found.verdict == "holds":
        tone = "holds"
    elif found.verdict == "violated":
        tone = "violated"
    return Cell(tone, found.steps, found.follows_from is not None, reason or found.scope)


def _maps(swept: Swept, check: str, cells: dict[str, dict[tuple[str, ...], Cell]]) -> list[HeatMap]:
    axes = swept.axes
    if not cells:
        return []
    if len(axes) == 1:
        rows = tuple((name, tuple(own[(value,)] for value in axes[0].values)) for name, own in cells.items())
        return [HeatMap(f"check {check}", "", axes[0].name, axes[0].values, rows)]
    down, across, *others = axes
    found = []
    for name, own in cells.items():
        for rest in product(*(axis.values for axis in others)):
            given = settings_text((axis.name, value) for axis, value in zip(others, rest, strict=True))
            title = f"check {check}: {name}" + (f", {given}" if given else "")
            rows = tuple((value, tuple(own[value, other, *rest] for other in across.values)) for value in down.values)
            found.append(HeatMap(title, down.name, across.name, across.values, rows))
    return found
