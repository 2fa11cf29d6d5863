"""What `hacheck timing` shows, and the document that it writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from hacheck.api.run_document import run_object
from hacheck.checker.described_run import run_title
from hacheck.checker.timing.constant_grid import GridRequest, Map
from hacheck.checker.timing.inequalities import Inequality
from hacheck.checker.timing.time_constants import Point
from hacheck.cli.checking.run_rendering import full_run, indented
from hacheck.cli.console import heading, seconds, symbols, visible
from hacheck.cli.guard import ExitCode, version
from hacheck.documents.timing import (
    OpenPoint,
    RegionInequality,
    TimedProperty,
    TimingDocument,
    UnsafePoint,
    VariedConstant,
)
from hacheck.wording import plural

if TYPE_CHECKING:
    from hacheck.model.language import Specification


class Found(Struct, frozen=True):
    """What is known of one property: what holds where, and the region, where it has the form of inequalities."""

    map: Map
    region: tuple[Inequality, ...] | None


def title(specification: Specification, grid: GridRequest) -> RenderableType:
    """Which spec, which check, and what is varied."""
    table = Table.grid(padding=(0, 2))
    for one in grid.constants:
        table.add_row(f"  {one.name}", str(one.now), f"tried from {one.low} to {one.high}", visible(one.description))
    return Group(heading(specification, grid.check.name), table, Text())


def shown(console: Console, grid: GridRequest, found: Found, *, runs: bool) -> RenderableType:
    """What is known of one property."""
    marks, now = symbols(console), tuple(one.now for one in grid.constants)
    name = Text(f"{found.map.name} ", "name")
    rows: list[RenderableType] = []
    if now in found.map.violations:
        name = Text.assemble((f"{marks.violated} ", "bad"), name, ("violated as the constants are now", "bad"))
    elif now in found.map.safe:
        name = Text.assemble((f"{marks.holds} ", "good"), name, "holds as the constants are now")
    else:
        name = Text.assemble((f"{marks.unknown} ", "doubt"), name, "is not decided as the constants are now")
    rows.append(name)
    rows.append(indented(_region(grid, found)))
    rows.append(indented(_room(grid, found)))
    worst = found.map.nearest(grid.constants)
    if worst is not None:
        violation = found.map.violations[worst]
        text = "now" if worst == now else f"nearest: {_point(grid, worst)}"
        rows.append(indented(Text(f"{text}: violated in {run_title(violation.system, violation.run)}", "quiet")))
        if runs or worst == now:
            about = next(one for one in violation.system.properties if one.name == found.map.name)
            rows.append(indented(full_run(console, violation.system, violation.run, about)))
    return Group(*rows, Text())


def _region(grid: GridRequest, found: Found) -> RenderableType:
    names = [one.name for one in grid.constants]
    if not found.map.violations:
        return Text(f"safe in all that were decided: {plural(len(found.map.safe), 'combination')}")
    if not found.map.safe:
        return Text(f"safe nowhere: {plural(len(found.map.violations), 'combination')}")
    if found.region is None:
        return Text("no few inequalities with small numbers describe the safe region; --json lists its points")
    lines = [Text("safe exactly where (of the explored combinations)")]
    lines += [Text(f"  {one.text(names)}", "head") for one in found.region]
    return Text("\n").join(lines)


def _room(grid: GridRequest, found: Found) -> RenderableType:
    lines = []
    for place, one in enumerate(grid.constants):
        interval = found.map.room(grid.constants, place)
        if interval is None:
            continue
        low, high = interval
        ends = [f"from {low}" if low > one.low else "", f"to {high}" if high < one.high else ""]
        text = " ".join(end for end in ends if end)
        lines.append(f"{one.name} alone may be {'any value that was tried' if not any(ends) else text}")
    if found.map.bounded:
        lines.append(f"{plural(len(found.map.bounded), 'combination')} safe as far as the bounds of the spec reach")
    if found.map.open:
        why = next(iter(found.map.open.values()))
        lines.append(f"{plural(len(found.map.open), 'combination')} not decided: {why}")
    return Text("\n".join(lines), "quiet")


def _point(grid: GridRequest, point: Point) -> str:
    changed = [f"{one.name} = {x}" for one, x in zip(grid.constants, point, strict=True) if x != one.now]
    return ", ".join(changed)


def closing(grid: GridRequest, found: list[Found], code: ExitCode, took: float) -> RenderableType:
    """How much was explored, and what to think of the constants as they are."""
    first = found[0].map
    explored = len(first.safe) + len(first.violations) + sum(why != "not explored" for why in first.open.values())
    text = {
        ExitCode.AS_EXPECTED: "safe as the constants are now",
        ExitCode.NOT_AS_EXPECTED: "not safe as the constants are now",
    }.get(code, "undecided as the constants are now")
    return Text(f"{plural(explored, 'combination')} explored, {seconds(took)}: {text}")


def timing_document(spec: str, grid: GridRequest, found: list[Found], code: ExitCode) -> TimingDocument:
    """Everything that was found."""
    names = [one.name for one in grid.constants]
    return TimingDocument(
        hacheck=version(),
        spec=spec,
        check=grid.check.name,
        exit_code=int(code),
        constants=[
            VariedConstant(name=one.name, low=one.low, high=one.high, now=one.now, description=one.description)
            for one in grid.constants
        ],
        properties=[_property(grid, one, names) for one in found],
    )


def _property(grid: GridRequest, found: Found, names: list[str]) -> TimedProperty:
    seen, now = found.map, tuple(one.now for one in grid.constants)
    worst = seen.nearest(grid.constants)
    violation = None if worst is None else seen.violations[worst]
    rooms = [seen.room(grid.constants, place) for place in range(len(names))]
    return TimedProperty(
        name=seen.name,
        holds_now=True if now in seen.safe else False if now in seen.violations else None,
        safe=[list(point) for point in sorted(seen.safe)],
        bounded=[list(point) for point in sorted(seen.bounded)],
        unsafe=[
            UnsafePoint(point=list(point), steps=len(one.run.steps)) for point, one in sorted(seen.violations.items())
        ],
        open=[OpenPoint(point=list(point), why=why) for point, why in sorted(seen.open.items())],
        region=None
        if found.region is None
        else [
            RegionInequality(coefficients=list(one.coefficients), bound=one.bound, text=one.text(names))
            for one in found.region
        ],
        room=None if None in rooms else [list(room) for room in rooms if room is not None],
        nearest_unsafe=None if worst is None else list(worst),
        run=None if violation is None else run_object(violation.system, violation.run),
    )
