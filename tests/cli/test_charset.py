"""Which characters are written: Unicode on a terminal that shows it, ASCII everywhere else."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from hacheck.checker.pictures.charset import shows_unicode
from hacheck.cli.console import console_for
from tests.cli.command import hacheck

PAIR = str(Path(__file__).parents[1] / "golden" / "specs" / "pair.ha")


class Stream(io.TextIOWrapper):
    """What a command writes to: a terminal, or not."""

    def __init__(self, *, terminal: bool, encoding: str = "utf-8") -> None:
        self.written = io.BytesIO()
        super().__init__(self.written, encoding=encoding, write_through=True)
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal


LOCALES = ("LC_ALL", "LC_CTYPE", "LANG", "PYTHONIOENCODING")


@pytest.mark.parametrize(
    ("terminal", "encoding", "variables", "expected"),
    [
        (True, "utf-8", {}, True),
        (True, "utf-8", {"LANG": "en_GB.UTF-8"}, True),
        (True, "utf-8", {"LC_ALL": "C.UTF-8", "LANG": "C"}, True),
        (True, "utf-8", {"LC_ALL": "C", "LANG": "en_GB.UTF-8"}, False),
        (True, "utf-8", {"LC_ALL": "", "LC_CTYPE": "POSIX"}, False),
        (True, "iso8859-1", {"LANG": "de_DE"}, False),
        (False, "utf-8", {"LANG": "en_GB.UTF-8"}, False),
        (False, "utf-8", {"PYTHONIOENCODING": "utf-8"}, True),
        (False, "utf-8", {"PYTHONIOENCODING": ":replace"}, False),
        (False, "ascii", {"PYTHONIOENCODING": "ascii"}, False),
    ],
)
def test_terminals_get_unicode_and_everything_else_ascii(
    terminal: bool, encoding: str, variables: dict[str, str], expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in LOCALES:
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert shows_unicode(Stream(terminal=terminal, encoding=encoding)) == expected


def test_punctuation_is_written_in_ascii_and_words_of_a_spec_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONIOENCODING", raising=False)
    stream = Stream(terminal=False)
    console_for(stream).print("“Größe” → 1 …")
    assert stream.written.getvalue().decode() == '"Größe" -> 1 ..\n'


COMMANDS = [
    ("verify", PAIR, "--runs"),
    ("verify", PAIR, "--details"),
    ("verify", PAIR, "--steps"),
    ("verify", PAIR, "--check", "crashing", "--set", "crashes=2", "--property", "recovers", "--blame"),
    ("simulate", PAIR, "--seed", "3"),
    ("diagram", PAIR),
    ("list",),
    ("list", PAIR),
    ("explain", "HA104"),
]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_what_is_piped_is_ascii(words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONIOENCODING", raising=False)
    ended = hacheck(*words)
    assert ended.out
    assert ended.out.isascii(), [line for line in ended.out.splitlines() if not line.isascii()]
    assert ended.err.isascii(), ended.err
