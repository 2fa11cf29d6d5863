"""`hacheck audit --watch`: audits again each time a file is saved."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from rich.text import Text

from hacheck.api.errors import InputError
from hacheck.audit.source_files import files_below
from hacheck.cli.auditing.auditing import Request, audited
from hacheck.cli.checking.spec_watch import POLL_SECONDS, Watch
from hacheck.cli.console import output_console
from hacheck.cli.guard import BadInput, ExitCode, say_bad_input

Stamps = dict[Path, tuple[int, int]]


def stamps_of(paths: Sequence[str]) -> Stamps:
    """When each file was written, and how large it is."""
    found: Stamps = {}
    for path in files_below(paths):
        try:
            state = path.stat()
        except OSError:
            continue  # an editor replaces it just now
        found[path] = (state.st_mtime_ns, state.st_size)
    return found


def watch(request: Request) -> ExitCode:
    """Audits until Ctrl-C, and returns what the last round that came to its end returned."""
    if any(one == "-" for one in (request.json, request.report, request.sarif)):
        raise BadInput("--watch writes a file anew in each round", "name a file instead of -")
    code, console = ExitCode.UNDECIDED, output_console(no_color=request.no_color)
    while True:
        stamps = stamps_of(request.paths)
        with Watch(lambda: stamps_of(request.paths) != stamps).watching() as interruption:  # noqa: B023
            assert isinstance(interruption, Watch), "it is the one above"
            try:
                code = audited(request, interruption)[0]
            except BadInput as error:
                code = ExitCode.BAD_INPUT
                say_bad_input(error)
            except InputError as error:
                code = ExitCode.BAD_INPUT
                say_bad_input(BadInput(error.message, error.hint))
            if not interruption.requested:
                console.print(Text("\nwatching: audited again when a file is saved; Ctrl-C ends", "quiet"))
                console.file.flush()
            while not interruption.requested:
                time.sleep(POLL_SECONDS)
            if interruption.ended:
                return code
        console.print(Text(f"\n{time.strftime('%H:%M:%S')} saved", "head"))
