"""How a command ends: the exit codes, the errors a user can cause, and the promise that nobody sees a
traceback."""

from __future__ import annotations

import errno
import os
import shlex
import sys
from collections.abc import Callable
from enum import IntEnum
from functools import wraps
from typing import ParamSpec

from hacheck.api.errors import InputError

Parameters = ParamSpec("Parameters")

SHOWN_MAX = 1000
"""How many characters of what the user gave are repeated in a message."""


class ExitCode(IntEnum):
    """What the process returns to its caller."""

    AS_EXPECTED = 0
    NOT_AS_EXPECTED = 1
    BAD_INPUT = 2
    UNDECIDED = 3
    OUR_BUG = 4


class BadInput(Exception):
    """Something the user gave cannot be used: what, and what to give instead."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class Reported(Exception):
    """The command is over and everything there is to say has been said; only the exit code is left."""

    def __init__(self, code: ExitCode) -> None:
        super().__init__(code.name)
        self.code = code


def guarded(command: Callable[Parameters, ExitCode]) -> Callable[Parameters, None]:
    """The command with every way it can end turned into an exit code and, where one is due, a message. It does not
    begin where it would write over what it reads."""

    from hacheck.cli.outputs import keep_apart

    @wraps(command)
    def run(*args: Parameters.args, **kwargs: Parameters.kwargs) -> None:
        def body() -> ExitCode:
            keep_apart(command, kwargs)
            return command(*args, **kwargs)

        raise SystemExit(_ending(body, unread=_UNREAD.get(command.__name__, 0)))

    run.__annotations__ = {**command.__annotations__, "return": "None"}
    return run


_UNREAD = {"verify": int(ExitCode.UNDECIDED), "audit": int(ExitCode.UNDECIDED)}
"""What a command returns when its reader leaves early, as `head` does, where not 0: a verdict nobody read is none."""


def _ending(body: Callable[[], ExitCode], *, unread: int) -> int:
    try:
        code = body()
        sys.stdout.flush()
        return int(code)
    except BadInput as error:
        say_bad_input(error)
        return int(ExitCode.BAD_INPUT)
    except InputError as error:
        say_bad_input(BadInput(error.message, error.hint))
        return int(ExitCode.BAD_INPUT)
    except Reported as reported:
        return int(reported.code)
    except BrokenPipeError:
        _leave_pipe()
        return unread
    except KeyboardInterrupt:
        _say("interrupted")
        return int(ExitCode.UNDECIDED)
    except OSError as error:
        return int(_of_system(error))
    except MemoryError:
        _say("out of memory; --memory sets a limit at which an exploration ends with what it has covered")
        return int(ExitCode.UNDECIDED)
    except ImportError as error:
        return int(_of_installation(error))
    except Exception as error:
        return int(_of_spec(error) or ExitCode.OUR_BUG)


def _of_system(error: OSError) -> ExitCode:
    """Says what the system does not do: of a name that it does not take, of output that has no room; else that it is
    a bug."""
    if error.errno in (errno.ENAMETOOLONG, errno.ELOOP, errno.EROFS, errno.ENOTDIR) and error.filename:
        say_bad_input(BadInput(f"{error.filename} cannot be used: {error.strerror}"))
    elif error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EIO):
        _say(f"cannot write the output: {error.strerror}")
    else:
        _say_bug(error)
        return ExitCode.OUR_BUG
    return ExitCode.BAD_INPUT


def _of_installation(error: ImportError) -> ExitCode:
    """Names the extra that brings a library which is not installed; else says that it is a bug."""
    from hacheck.extras import missing_extra

    missing = missing_extra(error)
    if missing is None:
        _say_bug(error)
        return ExitCode.OUR_BUG
    library, command = missing
    say_bad_input(BadInput(f"this command needs {library}, which is not installed", command))
    return ExitCode.BAD_INPUT


def _of_spec(error: Exception) -> ExitCode | None:
    """Says what is wrong with a spec that cannot begin, where an error means that; else that it is a bug."""
    from hacheck.model.evaluation import StartError

    if not isinstance(error, StartError):
        _say_bug(error)
        return None
    say_bad_input(BadInput(f"the system cannot begin: {error.message}", "`hacheck verify` shows where it is wrong"))
    return ExitCode.BAD_INPUT


def say_bad_input(error: BadInput) -> None:
    """Shows on standard error what cannot be used, and what to give instead."""
    from hacheck.cli.console import error_console

    console = error_console()
    console.print(f"[bold red]error[/]: {_plain(error.message)}", soft_wrap=True)
    if error.hint is not None:
        console.print(f"  [cyan]=[/] {_plain(error.hint)}", soft_wrap=True)


def _say(text: str) -> None:
    try:
        print(f"hacheck: {text}", file=sys.stderr)
    except OSError:  # nobody listens on stderr either
        pass


def _say_bug(error: Exception) -> None:
    """One line: what failed, in which version, under which command, and how to report it."""
    where, invariant = type(error).__name__, " ".join(str(error).split())
    command = shlex.join(["hacheck", *sys.argv[1:]])
    _say(
        f"internal error: {where}{': ' + invariant if invariant else ''} | version {version()}, Python "
        f"{sys.version.split()[0]} | {command} | This is a bug in hacheck, not in your spec; please report this "
        f"line{report_address()} together with the spec. With --debug it shows where it happened."
    )
    if "--debug" in sys.argv:
        import traceback

        traceback.print_exception(error)


def _leave_pipe() -> None:
    """The reader of our output has gone. Send what is still buffered nowhere, so that Python does not
    complain."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):  # stdout is no file, or is closed already
        pass


def _plain(text: str) -> str:
    """The text safe for a terminal and for rich's markup: control characters escaped, brackets kept."""
    from rich.markup import escape

    from hacheck.cli.console import visible

    text = text if len(text) <= SHOWN_MAX else f"{text[: SHOWN_MAX // 2]} … {text[-SHOWN_MAX // 2 :]}"
    return escape(visible(text))


def version() -> str:
    """The version of hacheck."""
    from hacheck import __version__

    return __version__


def report_address() -> str:
    """` to ADDRESS` from the package's own metadata, or nothing."""
    from importlib.metadata import PackageNotFoundError, metadata

    try:
        addresses = metadata("hacheck").get_all("Project-URL") or []
    except PackageNotFoundError:
        return ""
    for address in addresses:
        label, _, target = address.partition(",")
        if label.strip().lower() in ("bugs", "issues", "tracker", "repository", "source"):
            return f" to {target.strip()}"
    return ""
