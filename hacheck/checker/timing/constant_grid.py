"""Every combination of constants, explored one after the other; what holds where."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from msgspec import Struct, field

from hacheck.checker.engine import Engine, Limits
from hacheck.checker.timing.time_constants import Constant, Point, points
from hacheck.checker.verify import Prepared, Question, run_check
from hacheck.model.interpreter import replay
from hacheck.model.ir import System
from hacheck.model.language import Specification
from hacheck.model.runs import Run


class Violation(Struct, frozen=True):
    """A run that breaks a property, and the system it is a run of."""

    system: System
    run: Run


class Map(Struct):
    """What came out for one property. `bounded`: safe only as far as a bound of the exploration reaches; `violations`:
    the shortest run of each unsafe point; `open`: why a point is not decided."""

    name: str
    safe: list[Point] = field(default_factory=list)
    bounded: list[Point] = field(default_factory=list)
    violations: dict[Point, Violation] = field(default_factory=dict)
    open: dict[Point, str] = field(default_factory=dict)

    def room(self, constants: Sequence[Constant], place: int) -> tuple[int, int] | None:
        """The interval around its value in which one constant may be changed alone, as far as was explored; `None` if
        the property does not hold as the constants are now."""
        now = tuple(one.now for one in constants)
        safe = set(self.safe)
        if now not in safe:
            return None
        low = high = now[place]
        while (*now[:place], high + 1, *now[place + 1 :]) in safe:
            high += 1
        while (*now[:place], low - 1, *now[place + 1 :]) in safe:
            low -= 1
        return low, high

    def nearest(self, constants: Sequence[Constant]) -> Point | None:
        """The unsafe point nearest to what the constants are now, the one with the shortest run of several."""
        now = tuple(one.now for one in constants)

        def far(point: Point) -> tuple[int, int]:
            steps = len(self.violations[point].run.steps)
            return sum(abs(a - b) for a, b in zip(point, now, strict=True)), steps

        return min(self.violations, key=far, default=None)


class GridRequest(Struct, frozen=True):
    """What is explored: a check of a spec, and the properties. `settings`: those that are fixed."""

    specification: Specification
    check: Question
    properties: tuple[str, ...]
    settings: Mapping[str, str]
    constants: tuple[Constant, ...]


def explore(
    request: GridRequest, engine: Engine, limits: Limits, go_on: Callable[[int], bool]
) -> tuple[dict[str, Map], dict[Point, str]]:
    """What holds where, by property, and points that are no setting of the spec, with what it says of them. `go_on`:
    called before each point with how many are done; where it says no, the others are open."""
    maps = {name: Map(name) for name in request.properties}
    refused: dict[Point, str] = {}
    for done, point in enumerate(points(request.constants)):
        if not go_on(done):
            for found in maps.values():
                found.open[point] = "not explored"
            continue
        named = {one.name: str(value) for one, value in zip(request.constants, point, strict=True)}
        instance = request.specification.instantiate({**request.settings, **named}, request.check.name)
        if instance.system is None:
            refused[point] = instance.diagnostics[0].message
            continue
        _note(maps, point, instance.system, request, engine, limits, partial(go_on, done))
    return maps, refused


def _note(
    maps: dict[str, Map],
    point: Point,
    system: System,
    request: GridRequest,
    engine: Engine,
    limits: Limits,
    go_on: Callable[[], bool],
) -> None:
    result = run_check(Prepared(request.check, system, request.properties), engine, limits, lambda _: go_on(), replay)
    if result.has_error:
        for found in maps.values():
            found.open[point] = "the spec has an error under these settings"
        return
    for one in result.properties:
        found = maps[one.prop.name]
        answer = one.answer
        if answer.verdict == "violated" and answer.run is not None:
            found.violations[point] = Violation(system, answer.run)
        elif answer.verdict == "holds":
            found.safe.append(point)
            if result.answer.coverage.bounds_reached:
                found.bounded.append(point)
        else:
            found.open[point] = answer.scope
