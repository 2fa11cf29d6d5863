"""The `hacheck` command: how one of its subcommands is started, and how the process ends.

A plain command line loads the module of its command and nothing else; see `command_line`.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module

from hacheck.cli.command_line import Function, parameters_of, read
from hacheck.cli.commands import COMMANDS, ELSEWHERE, FORMER, OPTIONS_ELSEWHERE

GARBAGE_AFTER = 100_000
"""So many new objects before Python looks for garbage: models are made of many that stay, and none goes in circles."""


def run(words: Sequence[str]) -> None:
    """Runs a command line. Errors: ends in `SystemExit` with one of the exit codes of `guard.ExitCode`."""
    if words and words[0] in FORMER:
        print(f"`hacheck {words[0]}` is called `hacheck {FORMER[words[0]]}` now", file=sys.stderr)
        words = [FORMER[words[0]], *words[1:]]
    if words and words[0] in ELSEWHERE:
        print(f"error: hacheck has no command `{words[0]}`\n  = hint: {ELSEWHERE[words[0]]}", file=sys.stderr)
        sys.exit(2)
    if words and words[0].endswith(".ha"):
        print(f"error: hacheck has no command `{words[0]}`\n  = hint: hacheck verify {words[0]}", file=sys.stderr)
        sys.exit(2)
    if "_HACHECK_COMPLETE" not in os.environ:
        for command in COMMANDS:
            if words and words[0] == command.name:
                function = getattr(import_module(command.module), command.function)
                given = read(function, words[1:])
                if given is not None:
                    function(**given)
                _answer_options_of_others(command.name, function, words[1:])
    from hacheck.cli.app import app

    app(list(words), prog_name="hacheck")


def _answer_options_of_others(name: str, function: Function, words: Sequence[str]) -> None:
    """Ends the process where an option is that of another tool, and the command has it under another name."""
    known = {option for item in parameters_of(function) for option in getattr(item.declared, "names", ())}
    for word in words:
        option = word.partition("=")[0]
        meant = [one for one in OPTIONS_ELSEWHERE.get(option, ()) if one[0] in known]
        if option not in known and meant:
            ours, does = meant[0]
            print(f"error: hacheck {name} has no option `{option}`\n  = hint: {ours} {does}", file=sys.stderr)
            sys.exit(2)


def exit_code(words: Sequence[str]) -> int:
    """Runs a command line and says what the process is to return: one of the exit codes of `guard.ExitCode`."""
    try:
        run(words)
    except SystemExit as ending:
        # 130 is how the command-line library says Ctrl-C outside a command: nothing was decided.
        return 3 if ending.code == 130 else int(ending.code or 0)
    return 0


def is_own_process() -> bool:
    """Whether this process was started as the command, so that nothing else than its work happens in it."""
    return getattr(sys.modules.get("__main__"), "main", None) is main


def main() -> None:
    """Runs the command line of this process, and ends it."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the process that started us: nothing can be reported
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
    gc.set_threshold(GARBAGE_AFTER)
    code = exit_code(sys.argv[1:])
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    # At once: taking everything apart takes a tenth of a short run, and work that was given up cannot be waited for.
    os._exit(code)


if __name__ == "__main__":
    main()
