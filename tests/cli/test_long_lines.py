"""Long lines are broken between words on a terminal, and stay whole in files and pipes."""

from __future__ import annotations

import io

from rich.console import Console

from hacheck.cli.console import say

LINE = "  lines that the code never wrote: one, two, three, four"


def console(*, terminal: bool, width: int = 40) -> Console:
    return Console(file=io.StringIO(), force_terminal=terminal, width=width, no_color=True, legacy_windows=False)


def said(made: Console) -> list[str]:
    assert isinstance(made.file, io.StringIO)
    return made.file.getvalue().splitlines()


def test_a_terminal_gets_whole_words() -> None:
    made = console(terminal=True)
    say(made, LINE)
    assert said(made) == ["  lines that the code never wrote:", "    one, two, three, four"]


def test_a_pipe_gets_one_line() -> None:
    made = console(terminal=False)
    say(made, LINE)
    assert said(made) == [LINE]


def test_a_short_line_is_as_it_was() -> None:
    made = console(terminal=True)
    say(made, "  [bold] is no markup here")
    assert said(made) == ["  [bold] is no markup here"]
