"""Carries out `hacheck cluster`: makes clusters, and has their keepers carry out the request."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from hacheck.cli.console import visible
from hacheck.cli.guard import BadInput, ExitCode
from hacheck.impl.runtime.children import DOWN, RUNNING
from hacheck.impl.runtime.control import Silent, ask, planned, start, stop_all
from hacheck.impl.runtime.folder import Folder
from hacheck.impl.runtime.keeper import Answer, Ask
from hacheck.impl.system import Refused


class Request(Struct, frozen=True):
    """What the command line asks for."""

    action: str
    names: tuple[str, ...]
    directory: str
    replicas: int | None
    clients: int | None
    settings: Mapping[str, str]
    record: str | None
    port: int
    foreground: bool
    cut_from: tuple[str, ...]
    one_way: bool


@contextmanager
def refusals() -> Iterator[None]:
    """What a cluster refuses is the caller's fault, or that of what it finds there."""
    try:
        yield
    except (Refused, Silent) as refused:
        raise BadInput(str(refused)) from None


def carried_out(request: Request) -> ExitCode:
    """Carries the request out, and returns what the process is to return. Errors: `BadInput`."""
    folder = Folder(Path(request.directory))
    with refusals():
        match request.action:
            case "start":
                return _start(request, folder)
            case "stop-all":
                return _stop_all(folder)
            case "status":
                answer = ask(folder, Ask("status"))
                _show(answer)
                return ExitCode.AS_EXPECTED if _well(answer) else ExitCode.NOT_AS_EXPECTED
        if not request.names and request.action != "heal":
            raise BadInput(f"{request.action} whom?", f"for example hacheck cluster {request.action} replica-1")
        wanted = Ask(request.action, request.names, request.cut_from, request.one_way)
        answer = ask(folder, wanted)
        if answer.wrong:
            raise BadInput(answer.wrong)
        _show(answer)
    return ExitCode.AS_EXPECTED


def _start(request: Request, folder: Folder) -> ExitCode:
    if len(request.names) != 1:
        raise BadInput("start which protocol? Name one", "for example hacheck cluster start icestorm")
    record = None if request.record is None else Path(request.record)
    try:
        cluster = planned(
            folder, request.names[0], request.replicas, request.clients, request.settings, record, request.port
        )
        keeper = start(folder, cluster, with_caller=request.foreground)
    except OSError as error:
        raise BadInput(f"{error.filename or folder.place}: {error.strerror}") from None
    _show(ask(folder, Ask("status")))
    if request.foreground:
        return _attend(folder, keeper)
    return ExitCode.AS_EXPECTED


def _attend(folder: Folder, keeper: subprocess.Popen[bytes]) -> ExitCode:
    """Stays until the cluster ends, or is to end."""
    # Both: a shell that starts it in the background has Ctrl-C ignored.
    previous = {number: signal.signal(number, _interrupt) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        print("Ctrl-C ends the cluster", flush=True)
        keeper.wait()
    except KeyboardInterrupt:
        _ended(stop_all(folder))
        keeper.wait()
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
    return ExitCode.AS_EXPECTED


def _interrupt(number: int, frame: object) -> None:
    raise KeyboardInterrupt


def _stop_all(folder: Folder) -> ExitCode:
    _ended(stop_all(folder))
    return ExitCode.AS_EXPECTED


def _ended(killed: int) -> None:
    print("all processes have ended" + (f"; {killed} had to be killed" if killed else ""))


def _well(answer: Answer) -> bool:
    return not answer.cuts and all(member.state == RUNNING for member in answer.members)


def _show(answer: Answer) -> None:
    """Who runs, and what is cut."""
    rows = [("member", "state", "process", "starts", "port")]
    for member in answer.members:
        state = f"{member.state}: {visible(member.why)}" if member.why else member.state
        starts = "-" if member.state == DOWN and not member.incarnation else str(member.incarnation + 1)
        rows.append((member.name, state, str(member.pid or "-"), starts, str(member.port or "-")))
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    for row in rows:
        print("  ".join(cell.ljust(wide) for cell, wide in zip(row, widths, strict=True)).rstrip())
    for one, other in answer.cuts:
        print(f"cut: what {one} sends to {other}")
