"""`hacheck verify --watch`: verifies a spec again each time it is saved, and says what has changed since.

The process stays, so that nothing has to be loaded anew. Files are looked at ten times a second: this works on every
file system, costs nothing that can be measured, and needs no library.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import FrameType

from msgspec import Struct
from rich.console import Console
from rich.text import Text

from hacheck.api.errors import InputError
from hacheck.checker.verify import CheckResult
from hacheck.cli.checking.report import verdict_of
from hacheck.cli.checking.request import Request
from hacheck.cli.checking.verification import verified
from hacheck.cli.console import output_console, symbols
from hacheck.cli.guard import BadInput, ExitCode, Reported, say_bad_input
from hacheck.cli.outputs import with_libraries
from hacheck.cli.sources import find_spec
from hacheck.supervise.interruption import Interruption
from hacheck.wording import plural

POLL_SECONDS = 0.1

Stamps = Mapping[Path, tuple[int, int] | None]
"""When each file was written and how large it is; `None` for one that is not there."""


def stamps_of(spec: str) -> Stamps:
    """The spec and its libraries as they are on disk. One that an editor replaces is missing for a moment."""
    return {path: _stamp(path) for path in with_libraries(spec)}


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


class Watch(Interruption):
    """Asks the work to stop on Ctrl-C, or when a file is no more as it was."""

    def __init__(self, has_changed: Callable[[], bool]) -> None:
        self.ended = False
        """Whether Ctrl-C was pressed."""
        self._has_changed = has_changed
        self._next_look = 0.0
        self._changed = False

    @property
    def requested(self) -> bool:
        """Whether the work is to stop."""
        if not (self.ended or self._changed) and time.monotonic() >= self._next_look:
            self._next_look = time.monotonic() + POLL_SECONDS
            self._changed = self._has_changed()
        return self.ended or self._changed

    @requested.setter
    def requested(self, value: bool) -> None:
        self.ended = value

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.ended:
            raise KeyboardInterrupt
        self.ended = True


class Verdicts(Struct, frozen=True):
    """What a round came to: the verdict of each property, and the number of states of each check."""

    properties: Mapping[tuple[str, str], str]
    states: Mapping[str, int]


def verdicts_of(results: Sequence[CheckResult]) -> Verdicts:
    """The verdicts of results, by check and property; the length of the run belongs to a verdict."""
    properties: dict[tuple[str, str], str] = {}
    for result in results:
        for found in result.properties:
            run = found.answer.run
            length = "" if run is None else f" in {plural(len(run.steps), 'step')}"
            properties[result.check.name, found.prop.name] = verdict_of(found) + length
    return Verdicts(properties, {result.check.name: result.answer.coverage.states for result in results})


def changes(before: Verdicts, after: Verdicts, arrow: str) -> list[str]:
    """What is otherwise than before, a line each: verdicts first, then what is new or gone, then counts."""
    old, new = before.properties, after.properties
    lines = [
        f"{name} ({check}): {old[check, name]} {arrow} {verdict}"
        for (check, name), verdict in new.items()
        if (check, name) in old and old[check, name] != verdict
    ]
    lines += [f"new: {name} ({check}): {verdict}" for (check, name), verdict in new.items() if (check, name) not in old]
    lines += [f"gone: {name} ({check})" for check, name in old if (check, name) not in new]
    lines += [
        f"{check}: {before.states[check]:,} {arrow} {plural(states, 'state')}"
        for check, states in after.states.items()
        if before.states.get(check, states) != states
    ]
    return lines


def watch(request: Request) -> ExitCode:
    """Verifies until Ctrl-C, and returns what the last round that came to its end returned.

    Errors: `BadInput` where there is no file to watch.
    """
    if request.spec == "-":
        raise BadInput("--watch needs a file to look at", "name the spec instead of -")
    if any(one == "-" for one in (request.json, request.report, request.ci.junit, request.ci.sarif)):
        raise BadInput("--watch writes a file anew in each round", "name a file instead of -")
    find_spec(request.spec)
    before: Verdicts | None = None
    code = ExitCode.UNDECIDED
    console = output_console(no_color=request.no_color)
    while True:
        stamps = stamps_of(request.spec)
        with Watch(lambda: stamps_of(request.spec) != stamps).watching() as interruption:  # noqa: B023
            assert isinstance(interruption, Watch), "it is the one above"
            found = _round(request, interruption, later=before is not None)
            if found is not None and not interruption.requested:
                code, results = found
                after = verdicts_of(results)
                _show_changes(console, before, after)
                before = after
                request = _later(request)
            elif found is None:
                code = ExitCode.BAD_INPUT
            if not interruption.requested:
                _say_waiting(console, request.spec)
            while not interruption.requested:
                time.sleep(POLL_SECONDS)
            if interruption.ended:
                return code
        console.print()
        console.print(Text(f"{time.strftime('%H:%M:%S')} saved", style="head"))


def _later(request: Request) -> Request:
    """Later rounds show only what is not as expected: the rest was shown."""
    from msgspec.structs import replace

    return replace(request, quiet=True)


def _round(request: Request, interruption: Interruption, *, later: bool) -> tuple[ExitCode, list[CheckResult]] | None:
    """One round; `None` where the spec has errors, which are shown: they are waited over. `later`: only the checks that
    run are looked at, since reading a large spec under the settings of all of them takes longer than a check."""
    try:
        return verified(request, interruption, examined=not later)
    except Reported:
        return None
    except BadInput as error:
        say_bad_input(error)
    except InputError as error:
        say_bad_input(BadInput(error.message, error.hint))
    return None


def _show_changes(console: Console, before: Verdicts | None, after: Verdicts) -> None:
    if before is None:
        return
    lines = changes(before, after, symbols(console).arrow)
    console.print(Text("since the last run: " + ("" if lines else "nothing changed"), style="head"))
    for line in lines:
        console.print(Text(f"  {line}"))


def _say_waiting(console: Console, spec: str) -> None:
    console.print(Text(f"\nwatching {spec}: verified again when it is saved; Ctrl-C ends", style="quiet"))
    console.file.flush()
