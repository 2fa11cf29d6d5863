"""What the README and the pages of `docs` say to type exists, and prints what they show."""

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
from tests.cli.command import hacheck
from tests.nightly import by_night

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^```[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
PROMPT = re.compile(r"^\s*\$\s+")
HACHECK = re.compile(r"^(?:\S*/|(?:uv run|uvx)\s+(?:--\S+\s+)*)?hacheck\s+(?=[a-z])")
PAGES = ("README.md", "docs/icestorm.md", "docs/install.md", "docs/proofs.md", "docs/verify.md")
"""The pages whose commands are run."""
QUICK = ("hacheck verify pair.ha", "hacheck conform pair ")
"""How those commands begin that every run of the tests tries; the others are tried by night."""
SPEC = re.compile(r"^```ha file=(\S+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
OPTION = re.compile(r"--[a-z][a-z-]*")


def text_of(page: str) -> str:
    """What stands on a page."""
    return (ROOT / page).read_text(encoding="utf-8")


def commands_of(text: str) -> tuple[str, ...]:
    """Every line that stands in a fence or between backticks, without prompt and comment."""
    fenced = [line for block in FENCE.findall(text) for line in block.splitlines()]
    inline = INLINE.findall(FENCE.sub("", text))
    return tuple(PROMPT.sub("", line).split(" #")[0].strip() for line in (*fenced, *inline))


def test_readme_names_the_two_commands_that_do_everything() -> None:
    assert {"make verify", "make test"} <= set(commands_of(text_of("README.md")))


def test_readme_is_two_screens() -> None:
    assert text_of("README.md").count("\n") <= 160


@pytest.mark.parametrize("page", PAGES)
def test_every_make_command_is_in_the_makefile(page: str) -> None:
    commands = commands_of(text_of(page))
    makefile = text_of("Makefile")
    targets = set(re.findall(r"^([a-z][a-z-]*):", makefile, re.MULTILINE))
    named = {word for command in commands if command.startswith("make ") for word in command.split()[1:]}
    assert {word for word in named if "=" not in word} <= targets


@pytest.mark.parametrize("page", PAGES)
def test_every_hacheck_command_is_understood(page: str) -> None:
    lines = [HACHECK.sub("", command) for command in commands_of(text_of(page)) if HACHECK.match(command)]
    assert lines, "the page shows no use of hacheck"
    assert [problem for line in lines if (problem := misunderstood(line))] == []


def test_example_of_a_spec_prints_what_stands_below_it(tmp_path: Path) -> None:
    text = text_of("docs/verify.md")
    ((name, spec),) = SPEC.findall(text)
    (tmp_path / name).write_text(spec, encoding="utf-8")
    ended = printed(f"hacheck verify {name} --runs", tmp_path)
    shown = FENCE.findall(text[text.index(spec) + len(spec) + 3 :])[0]
    assert untimed(shown) in untimed(ended)


def shown_below(text: str) -> dict[str, str]:
    """What a page shows below a command that stands alone, by the command."""
    found: dict[str, str] = {}
    command = ""
    for kind, block in re.findall(r"^```(\w*)[^\n]*\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        lines = [line for line in block.splitlines() if line.strip()]
        if not kind and command:
            found[command] = block
        command = lines[0] if kind == "sh" and len(lines) == 1 and lines[0].startswith("hacheck ") else ""
    return found


SHOWN = [(page, command) for page in PAGES for command in shown_below(text_of(page))]
"""The commands of which a page shows what they print."""


def test_commands_with_their_output_are_found() -> None:
    assert [(page, command.split()[1]) for page, command in SHOWN] == [
        ("README.md", "verify"),
        ("README.md", "conform"),
        ("docs/icestorm.md", "verify"),
        ("docs/icestorm.md", "verify"),
        ("docs/icestorm.md", "conform"),
        ("docs/proofs.md", "prove"),
    ]


@pytest.mark.parametrize(("page", "command"), by_night(SHOWN, lambda shown: shown[1].startswith(QUICK)))
def test_what_is_shown_below_a_command_is_what_it_prints(page: str, command: str, tmp_path: Path) -> None:
    """Times aside, and what a line of three dots leaves out."""
    specs = dict(SPEC.findall(text_of(page)))
    for name, spec in specs.items():
        (tmp_path / name).write_text(spec, encoding="utf-8")
    folder = tmp_path if command.split()[2] in specs else ROOT
    typed = command.replace("--certificate proof", f"--certificate {tmp_path / 'proof'}")
    lines = {line.strip() for line in untimed(printed(typed, folder)).splitlines()}
    shown = {line.strip() for line in untimed(shown_below(text_of(page))[command]).splitlines()}
    assert shown - {"", "…"} - lines == set()


def printed(command: str, folder: Path) -> str:
    """What a command prints in a folder."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        return hacheck(*shlex.split(command)[1:], PYTHONIOENCODING="utf-8").out
    finally:
        os.chdir(before)


def test_the_table_of_checks_has_every_check_of_the_spec(root: Path) -> None:
    text = text_of("docs/icestorm.md")
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
