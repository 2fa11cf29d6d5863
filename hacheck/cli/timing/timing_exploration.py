"""Runs `hacheck timing`: examines what was given, explores every combination, shows the region."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping

from msgspec import Struct, field

from hacheck.checker.engine import Limits
from hacheck.checker.timing.constant_grid import GridRequest, explore
from hacheck.checker.timing.inequalities import region
from hacheck.checker.timing.time_constants import Constant, NotVaried, constant, count_of, time_constants
from hacheck.checker.verify import default_check, questions_of
from hacheck.cli import json_output
from hacheck.cli.console import error_console, output_console
from hacheck.cli.engines import Exploring, engine_for, z3_is_there
from hacheck.cli.guard import BadInput, ExitCode
from hacheck.cli.options import all_known
from hacheck.cli.progress import ProgressLine
from hacheck.cli.selection import one_system
from hacheck.cli.sources import load_specification
from hacheck.cli.timing import report
from hacheck.model.ir import System
from hacheck.model.language import Specification
from hacheck.supervise.interruption import Interruption
from hacheck.supervise.resources import memory_default

INTERVAL = re.compile(r"(\w+)(?:=([0-9]{1,15})\.\.([0-9]{1,15}))?")
NAMED_MAX = 3
"""So many settings of a spec are named as an example."""

DECIDABLE = ("invariant", "lemma", "step", "deadlock", "eventually", "leads_to")


class Request(Struct, frozen=True):
    """What the user wants of `timing`."""

    spec: str
    vary: tuple[str, ...] = ()
    check: str | None = None
    properties: tuple[str, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    points_max: int = 2000
    seconds_max: float | None = None
    runs: bool = False
    json: str | None = None
    no_color: bool = False


def time_spec(request: Request) -> ExitCode:
    """Explores the grid, shows what was found, and returns what the process is to return."""
    specification = load_specification(request.spec, no_color=request.no_color)
    grid = _grid(request, specification)
    z3_is_there()  # it is needed at the end, and exploring takes long
    target = None if request.json is None else json_output.open_target(request.json)
    to_stderr = target is not None and target.path is None
    console = (error_console if to_stderr else output_console)(no_color=request.no_color)
    begun = time.monotonic()
    console.print(report.title(specification, grid))
    found = _found(request, grid)
    for one in found:
        console.print(report.shown(console, grid, one, runs=request.runs))
    code = _code(grid, found)
    console.print(report.closing(grid, found, code, time.monotonic() - begun))
    if target is not None:
        target.write(report.timing_document(request.spec, grid, found, code))
    return code


def _grid(request: Request, specification: Specification) -> GridRequest:
    """Errors: `BadInput`, `Reported`."""
    system = one_system(specification, request.check, request.settings, no_color=request.no_color)
    name = request.check or default_check(specification)
    (question,) = (one for one in questions_of(specification) if one.name == name)
    constants = _constants(request, specification, {**dict(question.settings), **request.settings})
    if count_of(constants) > request.points_max:
        raise BadInput(
            f"{count_of(constants)} combinations are more than {request.points_max}",
            "narrow the intervals, such as --vary lease=2..5, or raise --points",
        )
    return GridRequest(
        specification, question, _properties(request, system, question.only), request.settings, constants
    )


def _constants(request: Request, specification: Specification, settings: Mapping[str, str]) -> tuple[Constant, ...]:
    given: dict[str, tuple[int, int] | None] = {}
    for text in request.vary:
        match = INTERVAL.fullmatch(text)
        if match is None:
            raise BadInput(f"--vary {text}: expected NAME or NAME=LOW..HIGH", "for example --vary lease=2..6")
        given[match[1]] = None if match[2] is None else (int(match[2]), int(match[3]))
    names = tuple(given) or time_constants(specification)
    if not names:
        numbers = [one.name for one in specification.parameters if one.kind == "param"]
        declared = " ".join(f"--vary {name}" for name in numbers[:NAMED_MAX])
        named = declared or "declare one: `param lease = 4 in 1..9`"
        raise BadInput("no lease or clock of this spec depends on a setting", f"name the settings: {named}")
    try:
        return tuple(constant(specification, name, given.get(name), settings) for name in names)
    except NotVaried as problem:
        raise BadInput(problem.reason, problem.hint) from None


def _properties(request: Request, system: System, only: tuple[str, ...]) -> tuple[str, ...]:
    decidable = [one.name for one in system.properties if one.kind in DECIDABLE]
    all_known("property", request.properties, decidable)
    wanted = request.properties or tuple(name for name in only if name in decidable) or tuple(decidable)
    if not wanted:
        raise BadInput("there is nothing to check: the spec has only `reachable` properties", "add an invariant")
    return wanted


def _found(request: Request, grid: GridRequest) -> list[report.Found]:
    line = ProgressLine(quiet=False, no_color=request.no_color)
    total = count_of(grid.constants)
    until = None if request.seconds_max is None else time.monotonic() + request.seconds_max
    with Interruption().watching() as interruption, line.shown("exploring"):

        def go_on(done: int) -> bool:
            line.update(lambda: f"{done} of {total} combinations")
            return not interruption.requested and (until is None or time.monotonic() < until)

        maps, refused = explore(grid, engine_for(Exploring()), Limits(memory_bytes_max=memory_default()), go_on)
        if refused and len(refused) == total:
            raise BadInput("the spec allows none of these combinations", next(iter(refused.values())))
        line.update(lambda: "looking for inequalities")
        return [report.Found(one, region(sorted(one.safe), sorted(one.violations))) for one in maps.values()]


def _code(grid: GridRequest, found: list[report.Found]) -> ExitCode:
    now = tuple(one.now for one in grid.constants)
    if any(now in one.map.violations for one in found):
        return ExitCode.NOT_AS_EXPECTED
    if all(now in one.map.safe for one in found):
        return ExitCode.AS_EXPECTED
    return ExitCode.UNDECIDED
