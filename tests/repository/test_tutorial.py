"""`docs/tutorial.md` is as it says: its files are put into a folder, its commands run, and what they print is compared.

After a change of what is printed: `pytest tests/repository/test_tutorial.py --update-golden`, then read the difference.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.cli.command import Ended, hacheck
from tests.nightly import nightly

DOCUMENT = Path(__file__).parents[2] / "docs" / "tutorial.md"
FENCE = re.compile(r"^```(\w+) (\w+)(?:=(\S+))?\n(.*?)^```", re.MULTILINE | re.DOTALL)
PLAIN = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8", "PYTHONDONTWRITEBYTECODE": "1"}


class Block(NamedTuple):
    """A fenced block: its language, what it is, the file that it names, and its text."""

    language: str
    kind: str
    file: str
    text: str


BLOCKS = tuple(Block(*found) for found in FENCE.findall(DOCUMENT.read_text(encoding="utf-8")))
STAGES = [number for number, block in enumerate(BLOCKS) if block.kind in ("shown", "failure", "passed")]
"""The blocks that show what a command prints."""


def put(folder: Path, block: Block) -> None:
    """Writes a file, or changes it as a difference says."""
    path = folder / block.file
    if block.language != "diff":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text, encoding="utf-8")
        return
    old = "".join(line[1:] for line in block.text.splitlines(keepends=True) if line[0] != "+")
    new = "".join(line[1:] for line in block.text.splitlines(keepends=True) if line[0] != "-")
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{block.file}: {old!r}"
    path.write_text(text.replace(old, new), encoding="utf-8")


def folder_at(folder: Path, number: int) -> str:
    """Brings a folder to where a reader is at a block; the command that stands above it."""
    for block in BLOCKS[:number]:
        if block.kind == "file":
            put(folder, block)
    return BLOCKS[number - 1].text.strip()


def run(command: str, folder: Path) -> Ended:
    """Runs a command of the tutorial in a folder."""
    name, *words = shlex.split(command)
    assert name == "hacheck"
    before = Path.cwd()
    os.chdir(folder)
    try:
        return hacheck(*words, PYTHONIOENCODING="utf-8")
    finally:
        os.chdir(before)


def python(words: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs Python in a folder."""
    command = [sys.executable, *words]
    return subprocess.run(command, cwd=folder, env=PLAIN, capture_output=True, encoding="utf-8", check=False)


def untimed(text: str) -> str:
    """Without times, and without blanks at the ends of lines."""
    return re.sub(r"\b\d+\.\d\d s\b", "T s", "\n".join(line.rstrip() for line in text.splitlines())).strip()


def shown(kind: str) -> list[int]:
    """The numbers of the blocks of a kind."""
    return [number for number in STAGES if BLOCKS[number].kind == kind]


def test_the_tutorial_has_what_is_tested() -> None:
    assert [BLOCKS[number].kind for number in STAGES] == [
        "shown",
        "shown",
        "failure",
        "passed",
        "shown",
        "shown",
        "failure",
    ]
    assert [BLOCKS[number - 1].kind for number in STAGES] == ["run", "run", "pytest", "pytest", "run", "run", "pytest"]


def rewrite(number: int, text: str) -> None:
    """Puts what a command prints now into the document, unless only times differ."""
    if untimed(text) == untimed(BLOCKS[number].text):
        return
    document = DOCUMENT.read_text(encoding="utf-8")
    place = list(FENCE.finditer(document))[number]
    kept = text.strip("\n") + "\n"
    DOCUMENT.write_text(document[: place.start(4)] + kept + document[place.end(4) :], encoding="utf-8")


@pytest.mark.parametrize("number", shown("shown"))
def test_command_prints_what_stands_below_it(number: int, tmp_path: Path, update_golden: bool) -> None:
    ended = run(folder_at(tmp_path, number), tmp_path)
    if update_golden:
        rewrite(number, "\n".join(line.rstrip() for line in ended.out.splitlines()))
        return
    assert untimed(ended.out) == untimed(BLOCKS[number].text), ended.err
    expected = 0 if "2 as expected" in ended.out else 1
    assert ended.code == expected, "the tutorial names the exit codes"


@pytest.mark.parametrize("number", shown("failure"))
def test_failure_is_that_of_the_service(number: int, tmp_path: Path, update_golden: bool) -> None:
    """Carries out the test at the end of the report, as a reader may."""
    folder_at(tmp_path, number)
    report = BLOCKS[number].text
    again = report.split("To see it again:\n\n")[1]
    (tmp_path / "again.py").write_text(
        "\n".join(line[4:] for line in again.splitlines()) + "\n\ntry:\n    test_pair_service_again()\n"
        "except Exception as error:\n    print(error)\n",
        encoding="utf-8",
    )
    ended = python(["again.py"], tmp_path)
    if update_golden:
        rewrite(number, ended.stdout)
        return
    assert ended.stdout == report, ended.stderr


@nightly
@pytest.mark.parametrize("number", [*shown("failure"), *shown("passed")])
def test_pytest_finds_what_stands_below_it(number: int, tmp_path: Path) -> None:
    folder_at(tmp_path, number)
    ended = python(["-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"], tmp_path)
    if BLOCKS[number].kind == "passed":
        assert ended.returncode == 0, ended.stdout
        assert BLOCKS[number].text.strip() in ended.stdout
    else:
        assert ended.returncode == 1, ended.stdout
        assert BLOCKS[number].text.splitlines()[0] in ended.stdout.replace("Server-1: active", "Server-2: active")


def test_the_example_has_the_files_of_the_tutorial(tmp_path: Path) -> None:
    """As they are before the last section, in which a pause shows what the spec took for granted."""
    folder_at(tmp_path, STAGES[-2])
    example = DOCUMENT.parents[1] / "examples" / "pair"
    for path in (path for path in tmp_path.rglob("*") if path.is_file()):
        assert (example / path.relative_to(tmp_path)).read_text("utf-8") == path.read_text("utf-8")


def test_the_run_that_the_page_of_concepts_explains_is_that_of_the_tutorial(
    tmp_path: Path, update_golden: bool
) -> None:
    page = DOCUMENT.parent / "concepts.md"
    text = page.read_text(encoding="utf-8")
    (picture,) = re.findall(r"^```text\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    folder_at(tmp_path, STAGES[1])
    printed = run("hacheck verify pair.ha --check gives_up_late --runs", tmp_path).out
    if update_golden:
        (drawn,) = re.findall(r"^ +Server 1 +Server 2.*?here it breaks\n", printed, re.MULTILINE | re.DOTALL)
        page.write_text(text.replace(picture, drawn), encoding="utf-8")
        return
    assert picture in printed


def test_specs_of_the_tutorial_are_in_the_standard_layout(tmp_path: Path) -> None:
    for number, block in enumerate(BLOCKS):
        if block.language in ("ha", "diff") and block.file.endswith(".ha"):
            put(tmp_path, block)
            ended = run(f"hacheck fmt --check {block.file}", tmp_path)
            assert ended.code == 0, (number, ended.err)
