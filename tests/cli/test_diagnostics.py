"""Diagnostics point at the place they are about, whatever is written there."""

from __future__ import annotations

import time
from io import StringIO

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from hacheck.cli.console import THEME
from hacheck.cli.diagnostics import SourceText, render, show_diagnostics
from hacheck.model.language import Diagnostic, Span

PATH = "spec/pair.ha"


def rendered(text: str, *found: Diagnostic, width: int = 80, **more: str) -> str:
    """The diagnostics as printed."""
    out = StringIO()
    show_diagnostics(Console(file=out, width=width, highlight=False, theme=THEME), found, {PATH: text, **more})
    return out.getvalue()


def at(text: str, part: str) -> Span:
    """The place of the first occurrence of some text."""
    start = text.index(part)
    return Span(PATH, start, start + len(part))


def test_shows_code_place_source_caret_label_and_hint() -> None:
    text = "system Pair\nnode Server[2] {\n  mode : { dead, active }\n}\nwhen s.mod == dead\n"
    found = Diagnostic(
        "HA102",
        "Server has no field `mod`",
        Span(PATH, text.index("mod ="), text.index("mod =") + 3),
        ((at(text, "mode :"), "its fields are here"),),
        "did you mean `mode`?",
    )
    assert rendered(text, found).rstrip() == (
        "error[HA102]: Server has no field `mod`\n"
        " --> spec/pair.ha:5:8\n"
        "  |\n"
        "3 |   mode : { dead, active }\n"
        "  |   ------ its fields are here\n"
        "4 | }\n"
        "5 | when s.mod == dead\n"
        "  |        ^^^\n"
        "  = hint: did you mean `mode`?\n"
        "\n"
        "1 error   hacheck explain HA102"
    )


def test_lines_far_apart_are_joined_by_dots() -> None:
    text = "one\n" + "filler\n" * 8 + "two\n"
    found = Diagnostic("HA101", "again", at(text, "two"), ((at(text, "one"), "first"),))
    assert " 1 | one\n   | --- first\n...\n10 | two\n   | ^^^\n" in rendered(text, found)


def test_a_span_of_several_lines_is_marked_where_it_begins_and_where_it_ends() -> None:
    text = "node Server {\n  a : bool\n}\n"
    found = Diagnostic("HA100", "all of it", Span(PATH, 0, len(text) - 1))
    shown = rendered(text, found)
    assert "1 | node Server {\n  | ^^^^^^^^^^^^^" in shown
    assert "3 | }\n  | ^" in shown


def test_a_line_of_ten_megabytes_is_clipped_around_the_span_and_costs_nothing() -> None:
    text = "x" * 5_000_000 + " bad " + "y" * 5_000_000
    begin = time.process_time()
    shown = rendered(text, Diagnostic("HA001", "here", at(text, "bad")))
    assert time.process_time() - begin < 1
    source, carets = shown.splitlines()[3:5]
    assert cell_len(source) <= 80
    assert source[carets.index("^") : carets.index("^") + 3] == "bad"
    assert carets.count("^") == 3


def test_tabs_wide_characters_and_escapes_keep_the_caret_in_place() -> None:
    text = "\t活動 \x1b[31m\u202e bad"
    source, carets = rendered(text, Diagnostic("HA001", "here", at(text, "bad"))).splitlines()[3:5]
    assert "\x1b" not in source
    assert "\\x1b[31m\\u202e" in source
    before = source[: source.index("bad")]
    assert cell_len(before) == carets.index("^")


def test_control_characters_in_messages_labels_and_paths_do_not_reach_the_terminal() -> None:
    evil = "\x1b]0;owned\x07\u202e"
    found = Diagnostic("HA001", evil, Span(evil, 0, 1), ((Span(evil, 0, 1), evil),), evil)
    out = StringIO()
    show_diagnostics(Console(file=out, width=80, theme=THEME), [found], {evil: "abc"})
    assert not {"\x1b", "\x07", "\u202e"} & set(out.getvalue())


def test_of_many_all_are_counted_and_fifty_shown() -> None:
    text = "a\n" * 60
    shown = rendered(text, *(Diagnostic("HA001", f"number {n}", Span(PATH, 2 * n, 2 * n + 1)) for n in range(60)))
    assert shown.count("error[HA001]") == 50
    assert "and 10 more" in shown
    assert "60 errors" in shown


def test_errors_come_before_warnings() -> None:
    warning = Diagnostic("HA002", "careful", Span(PATH, 0, 1), severity="warning")
    error = Diagnostic("HA001", "wrong", Span(PATH, 2, 3))
    shown = rendered("a b", warning, error)
    assert shown.index("wrong") < shown.index("careful")
    assert "1 error, 1 warning" in shown


def test_a_label_in_another_file_is_shown_with_that_file() -> None:
    found = Diagnostic("HA101", "again", Span(PATH, 0, 1), ((Span("lib.ha", 2, 3), "first here"),))
    shown = rendered("x", found, **{"lib.ha": "a\nb\n"})
    assert "::: lib.ha:2:1" in shown
    assert "- first here" in shown


def test_without_the_source_the_place_is_named() -> None:
    assert "--> gone.ha" in rendered("x", Diagnostic("HA001", "m", Span("gone.ha", 0, 1)))


@given(
    text=st.text(max_size=60),
    start=st.integers(-2, 70),
    length=st.integers(0, 70),
    width=st.integers(1, 200),
)
def test_any_span_in_any_text_can_be_shown(text: str, start: int, length: int, width: int) -> None:
    span = Span(PATH, start, start + length)
    found = Diagnostic("HA001", text, span, ((Span(PATH, length, start), text),), text)
    shown = render(found, {PATH: SourceText(text)}, width).plain
    assert not any(char != "\n" and not char.isprintable() for char in shown)
