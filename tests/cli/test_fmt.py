"""`hacheck fmt` rewrites specs in the one layout, or says that it would."""

from __future__ import annotations

from pathlib import Path

import pytest

from hacheck.cli.guard import ExitCode
from hacheck.model.language.format import format_text
from tests.cli.command import hacheck

UGLY = 'system   X "x"\nnode A[1]{state m:{a,b}=a}\ninvariant   i:every n:A satisfies n.m==a\n'


@pytest.fixture
def ugly(tmp_path: Path) -> Path:
    """A spec in a layout of its own."""
    path = tmp_path / "x.ha"
    path.write_text(UGLY)
    assert format_text(UGLY) != UGLY
    return path


def test_a_file_is_rewritten_once(ugly: Path) -> None:
    assert hacheck("fmt", str(ugly)).out == f"formatted {ugly}\n"
    assert ugly.read_text() == format_text(UGLY)
    again = hacheck("fmt", str(ugly))
    assert (again.code, again.out) == (ExitCode.AS_EXPECTED, "")


def test_with_check_nothing_is_written_and_the_exit_code_tells(ugly: Path) -> None:
    ended = hacheck("fmt", "--check", str(ugly))
    assert (ended.code, ended.out) == (ExitCode.NOT_AS_EXPECTED, f"would change {ugly}\n")
    assert ugly.read_text() == UGLY
    hacheck("fmt", str(ugly))
    assert hacheck("fmt", "--check", str(ugly)).code == ExitCode.AS_EXPECTED


def test_with_diff_what_would_change_is_shown(ugly: Path) -> None:
    ended = hacheck("fmt", "--diff", str(ugly))
    assert "-node A[1]{state m:{a,b}=a}\n" in ended.out
    assert f"+{format_text(UGLY).splitlines()[1]}\n" in ended.out
    assert ugly.read_text() == UGLY


def test_standard_input_goes_to_standard_output() -> None:
    assert hacheck("fmt", "-", stdin=UGLY).out == format_text(UGLY)


def test_a_text_with_syntax_errors_is_left_alone_and_the_others_are_formatted(ugly: Path) -> None:
    broken = ugly.with_name("broken.ha")
    broken.write_text('system X "x" node {')
    ended = hacheck("fmt", str(broken), str(ugly))
    assert ended.code == ExitCode.BAD_INPUT
    assert broken.read_text() == 'system X "x" node {'
    assert ugly.read_text() == format_text(UGLY)


def test_a_spec_that_means_nothing_can_still_be_formatted(ugly: Path) -> None:
    ugly.write_text(UGLY.replace("n.m==a", "n.k==a"))
    assert hacheck("fmt", str(ugly)).code == ExitCode.AS_EXPECTED


def test_a_shipped_spec_is_not_rewritten() -> None:
    ended = hacheck("fmt", "icestorm")
    assert ended.code == ExitCode.BAD_INPUT
    assert "not yours to rewrite" in ended.err


OLDER = """system Old "Two old words."   # transition and datagram stay here

node A { n: 0..2 = 0   datagram: bool = false }
node B { got: bool = false }
message note(x: bool) from A to B latest datagram "a datagram"
action go(a: A) when a.n < 2 do
  a.n := a.n + 1
  send note(a.datagram) to B
transition grows: every a: A satisfies old(a.n) <= a.n
transition falls "x": every a: A satisfies old(a.n) >= a.n
on note(x) at b from a do b.got := x
"""


def test_words_of_older_versions_are_replaced_and_nothing_else(tmp_path: Path) -> None:
    older = tmp_path / "older.ha"
    older.write_text(OLDER, encoding="utf-8")
    refused = hacheck("fmt", str(older))
    assert (refused.code, older.read_text(encoding="utf-8")) == (2, OLDER)
    for part in ("HA009", "`queued` now", "fmt --upgrade"):
        assert part in refused.err
    assert hacheck("fmt", "--upgrade", "--check", str(older)).code == 1
    assert hacheck("fmt", "--upgrade", str(older)).out == f"upgraded {older}\n"
    expected = OLDER.replace("latest datagram", "latest queued").replace("\ntransition", "\nstep_invariant")
    assert older.read_text(encoding="utf-8") == expected
    again = hacheck("fmt", "--upgrade", str(older))
    assert (again.code, again.out, older.read_text(encoding="utf-8")) == (0, "", expected)


def test_a_file_with_other_mistakes_is_not_upgraded(tmp_path: Path) -> None:
    older = tmp_path / "older.ha"
    older.write_text(OLDER.replace("n: 0..2 = 0", "n: = 0"), encoding="utf-8")
    before = older.read_bytes()
    assert hacheck("fmt", "--upgrade", str(older)).code == 2
    assert older.read_bytes() == before
