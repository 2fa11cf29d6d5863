"""What the README tells people to type exists, and prints what it shows."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from hacheck.model.language import load
from tests.nightly import by_night

FENCE = re.compile(r"^```[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
PROMPT = re.compile(r"^\s*\$\s+")
HACHECK = re.compile(r"^(?:\S*/|(?:uv run|uvx)\s+(?:--\S+\s+)*)?hacheck\s+(?=[a-z])")
SHOWN = {"verify", "conform", "prove", "timing"}
"""The subcommands of which the README shows what they print."""
OPTION = re.compile(r"--[a-z][a-z-]*")


@pytest.fixture(scope="module")
def commands(root: Path) -> tuple[str, ...]:
    """Every line of the README that stands in a fence or between backticks, without prompt and comment."""
    text = (root / "README.md").read_text(encoding="utf-8")
    fenced = [line for block in FENCE.findall(text) for line in block.splitlines()]
    inline = INLINE.findall(FENCE.sub("", text))
    return tuple(PROMPT.sub("", line).split(" #")[0].strip() for line in (*fenced, *inline))


def test_readme_names_the_two_commands_that_do_everything(commands: tuple[str, ...]) -> None:
    assert {"make verify", "make test"} <= set(commands)


def test_every_make_command_is_in_the_makefile(commands: tuple[str, ...], root: Path) -> None:
    makefile = (root / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z][a-z-]*):", makefile, re.MULTILINE))
    named = {word for command in commands if command.startswith("make ") for word in command.split()[1:]}
    assert {word for word in named if "=" not in word} <= targets


def test_every_hacheck_command_is_understood(commands: tuple[str, ...]) -> None:
    lines = [HACHECK.sub("", command) for command in commands if HACHECK.match(command)]
    assert lines, "the README shows no use of hacheck"
    assert [problem for line in lines if (problem := misunderstood(line))] == []


def test_example_of_a_spec_prints_what_stands_below_it(root: Path, tmp_path: Path) -> None:
    text = (root / "README.md").read_text(encoding="utf-8")
    (spec,) = re.findall(r"^```ha\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    (tmp_path / "standby.ha").write_text(spec, encoding="utf-8")
    command = [sys.executable, "-m", "hacheck", "verify", "standby.ha", "--runs"]
    plain = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}
    run = subprocess.run(command, capture_output=True, encoding="utf-8", env=plain, cwd=tmp_path, check=False)
    assert run.returncode == 0, run.stderr
    shown = FENCE.findall(text[text.index(spec) + len(spec) + 3 :])[0]
    assert untimed(shown) in untimed(run.stdout)


def shown_below(text: str) -> dict[str, str]:
    """What the README shows below a command that stands alone, by the command."""
    found: dict[str, str] = {}
    command = ""
    for kind, block in re.findall(r"^```(\w*)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        lines = [line for line in block.splitlines() if line.strip()]
        if not kind and command:
            found[command] = block
        command = lines[0] if kind == "sh" and len(lines) == 1 and lines[0].startswith("hacheck ") else ""
    return found


def test_commands_with_their_output_are_found(root: Path) -> None:
    shown = shown_below((root / "README.md").read_text(encoding="utf-8"))
    assert {command.split()[1] for command in shown} == SHOWN


@pytest.mark.parametrize("subcommand", by_night(sorted(SHOWN), lambda name: name in ("conform", "verify")))
def test_what_is_shown_below_a_command_is_what_it_prints(root: Path, subcommand: str, tmp_path: Path) -> None:
    """Times aside, and what a line of three dots leaves out."""
    shown = shown_below((root / "README.md").read_text(encoding="utf-8"))
    ((command, block),) = [pair for pair in shown.items() if pair[0].split()[1] == subcommand]
    words = [word if word != "proof" else str(tmp_path) for word in shlex.split(command)[1:]]
    plain = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}
    run = subprocess.run(
        [sys.executable, "-m", "hacheck", *words],
        capture_output=True,
        encoding="utf-8",
        env=plain,
        cwd=root,
        check=False,
    )
    printed = {line.strip() for line in untimed(run.stdout).splitlines()}
    shown_lines = {line.strip() for line in untimed(block).splitlines()} - {"", "…"}
    assert shown_lines <= printed


def test_the_table_of_checks_has_every_check_of_the_spec(root: Path) -> None:
    text = (root / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^  [✔◇]  (\S+) +[\d,]+ states", text, re.MULTILINE)
    found = load((root / "spec" / "icestorm.ha").read_text(encoding="utf-8"), "icestorm.ha").specification
    assert found is not None
    names = [check.name for check in found.checks if not check.by_request]
    assert [name[: len(row)] for name, row in zip(names, rows, strict=True)] == rows  # a long name is folded
    assert f"{len(rows)} checks," in text


def untimed(text: str) -> str:
    """The text without times and without blanks at the ends of lines."""
    return re.sub(r"\b\d+(\.\d+)? s\b", "T s", "\n".join(line.rstrip() for line in text.splitlines())).strip()


def misunderstood(arguments: str) -> str | None:
    """What in the arguments of a `hacheck` command the installed program does not know, if anything."""
    subcommand, *rest = shlex.split(arguments)
    known = help_of(subcommand)
    if known is None:
        return f"hacheck {arguments}: there is no `{subcommand}`"
    options = {match[0] for word in rest if (match := OPTION.match(word))}
    unknown = sorted(options - set(OPTION.findall(known)))
    return f"hacheck {arguments}: {subcommand} has no {', '.join(unknown)}" if unknown else None


@cache
def help_of(subcommand: str) -> str | None:
    """What `hacheck SUBCOMMAND --help` prints, or `None` when there is no such subcommand."""
    command = [sys.executable, "-m", "hacheck", subcommand, "--help"]
    plain = {**os.environ, "COLUMNS": "200", "NO_COLOR": "1", "TERM": "dumb"}
    run = subprocess.run(command, capture_output=True, text=True, env=plain, check=False)
    return run.stdout if run.returncode == 0 else None


def test_unknown_subcommand_or_option_is_noticed() -> None:
    assert misunderstood("verify spec/icestorm.ha --json -") is None
    assert misunderstood("verfy spec/icestorm.ha") is not None
    assert misunderstood("verify spec/icestorm.ha --jsn -") is not None
