"""What the commands print does not drift.

Each file in `outputs/` begins with a command and holds what it prints in the folder `specs/`, what it says on
standard error, and its exit code. To add one, write the command alone and run `pytest tests/golden --update-golden`;
then read the difference. Times are scrubbed. What is printed goes to no terminal, so it is ASCII unless a command
begins with PYTHONIOENCODING=utf-8.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.cli.command import hacheck

HERE = Path(__file__).parent
OUTPUTS = sorted((HERE / "outputs").glob("*.txt"))
TIMES = (
    (re.compile(r"\b\d+(\.\d+)? s\b"), "T s"),
    (re.compile(r'"seconds": [\d.]+'), '"seconds": T'),
    (re.compile(r'"phases": \{[^}]*\}'), '"phases": {}'),
    (re.compile(r'"threads": \d+'), '"threads": N'),
    (re.compile(r'"bytes_per_state": [\d.]+'), '"bytes_per_state": N'),
    (re.compile(r"hacheck \d+\.\d+\.\d+\S*"), "hacheck V"),
    (re.compile(r'"hacheck": "[^"]*"'), '"hacheck": "V"'),
)


def scrubbed(text: str, folder: Path) -> str:
    """The text without what differs from run to run and from place to place."""
    text = text.replace(str(folder), "FOLDER")
    for pattern, instead in TIMES:
        text = pattern.sub(instead, text)
    return "\n".join(line.rstrip() for line in text.splitlines())


def printed(command: str, folder: Path) -> str:
    """What a command line prints, as it stands in its file."""
    words = shlex.split(command)
    variables = dict(word.split("=", 1) for word in words[: words.index("hacheck")])
    columns = int(variables.pop("COLUMNS", "80"))
    ended = hacheck(*words[words.index("hacheck") + 1 :], columns=columns, **variables)
    parts = [f"$ {command}", scrubbed(ended.out, folder)]
    if ended.err:
        parts += ["--- standard error", scrubbed(ended.err, folder)]
    return "\n".join([*parts, f"--- exit {ended.code}", ""])


@pytest.mark.parametrize("path", OUTPUTS, ids=lambda path: path.stem)
def test_command_prints_what_it_printed_before(
    path: Path, update_golden: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(HERE / "specs")
    expected = path.read_text(encoding="utf-8")
    command = expected.splitlines()[0].removeprefix("$ ")
    found = printed(command, HERE / "specs")
    assert "--- exit 4" not in found, found
    if update_golden:
        path.write_text(found, encoding="utf-8")
        return
    assert found == expected


def test_there_are_golden_outputs() -> None:
    assert len(OUTPUTS) >= 10
