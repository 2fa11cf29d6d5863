"""Long lines are broken between words on a terminal, and stay whole in files and pipes."""

from __future__ import annotations

import io

from rich.console import Console

from hacheck.cli.console import say
from hacheck.cli.running.simulation_story import drawn
from hacheck.impl.simulator.story import StoryLine

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


TOLD = [
    StoryLine(0, "start", "starts", "server-1"),
    StoryLine(1_000_000, "record", "leads(term: 1, followers: server-2, server-3)", "server-1"),
    StoryLine(2_000_000, "end", "ends; what it was writing is not written any more", "server-1"),
]


def test_words_of_a_drawing_go_on_beside_the_lines_of_the_living() -> None:
    rows = [row.plain for row in drawn(console(terminal=True, width=52), TOLD)]
    assert [row[14:] for row in rows[2:]] == [
        "  ●    server-1: leads(term: 1,",
        "  │    followers: server-2, server-3)",
        "  ✘    server-1 ends; what it was",
        "       writing is not written any more",
    ]


def test_names_of_a_drawing_go_on_beside_each_other() -> None:
    told = [StoryLine(0, "start", "starts", f"server-{number}") for number in (1, 2, 3)]
    head, more, *_ = (row.plain for row in drawn(console(terminal=True, width=60), told))
    assert (head[14:], more) == (" s1   s2   s3    s1 server-1, s2 server-2, s3", " " * 31 + "server-3")


def test_a_drawing_is_not_broken_where_there_is_no_room_or_no_terminal() -> None:
    for made in (console(terminal=True, width=30), console(terminal=False)):
        assert len(list(drawn(made, TOLD))) == 1 + len(TOLD)
