"""A plain command line is read as typer would read it, and everything else is left to typer."""

from __future__ import annotations

import functools
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest
import typer
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from hacheck.cli.command_line import Option, parameters_of, read, typed
from hacheck.cli.commands import COMMANDS
from tests.cli.command import hacheck

FUNCTIONS: dict[str, Callable[..., None]] = {
    command.name: getattr(import_module(command.module), command.function) for command in COMMANDS
}
LOOSE = ["spec.ha", "x", "-", "--", "-q", "-o", "-h", "--help", "--nothing", "-5", "", "a=b", "--check=", "--seed=1"]


def by_typer(name: str, words: list[str]) -> dict[str, Any] | None:
    """The arguments as typer understands the words; `None` if it refuses them, or shows help."""
    taken: list[dict[str, Any]] = []

    @functools.wraps(FUNCTIONS[name])
    def stub(**arguments: Any) -> None:
        taken.append(arguments)

    app = typer.Typer(context_settings={"help_option_names": ["-h", "--help"]})
    app.command()(typed(stub))
    ended = CliRunner().invoke(app, words)
    assert bool(taken) == (ended.exit_code == 0 and "Usage" not in ended.output)
    return taken[0] if taken else None


@st.composite
def command_lines(draw: st.DrawFn) -> tuple[str, list[str]]:
    """A command and words for it: mostly its own options with values, mostly complete."""
    name = draw(st.sampled_from(sorted(FUNCTIONS)))
    words: list[str] = []
    for item in parameters_of(FUNCTIONS[name]):
        times = draw(st.sampled_from([0, 0, 1, 1, 2]))
        for _ in range(times if isinstance(item.declared, Option) else 1):
            value = draw(st.sampled_from(["3", "0", "a", "a=b", "-", "007"]))
            if isinstance(item.declared, Option):
                said = draw(st.sampled_from(item.declared.names))
                joined = item.type is not bool and said.startswith("--") and draw(st.booleans())
                words += [said] if item.type is bool else [f"{said}={value}"] if joined else [said, value]
            else:
                words.append(value)
    for extra in draw(st.lists(st.sampled_from(LOOSE), max_size=draw(st.sampled_from([0, 0, 0, 2])))):
        words.insert(draw(st.integers(0, len(words))), extra)
    return name, words


@given(command_lines())
@settings(max_examples=150, deadline=None)
def test_what_is_read_is_what_typer_reads(line: tuple[str, list[str]]) -> None:
    name, words = line
    mine = read(FUNCTIONS[name], words)
    if mine is not None:
        theirs = by_typer(name, words)
        assert theirs is not None
        assert {key: value or None for key, value in mine.items()} == {k: v or None for k, v in theirs.items()}


@pytest.mark.parametrize(
    "words", [["x.ha"], ["x.ha", "--check", "a", "--check=b", "-q"], ["-", "--json", "-", "--runs"]]
)
def test_plain_lines_are_read(words: list[str]) -> None:
    assert read(FUNCTIONS["verify"], words) is not None


@pytest.mark.parametrize(
    "words",
    [
        ["a", "b"],
        ["a", "--help"],
        ["a", "--check"],
        ["a", "--json", "--runs"],
        ["a", "--nothing"],
        ["a", "--runs=1"],
    ],
)
def test_other_lines_are_left(words: list[str]) -> None:
    assert read(FUNCTIONS["verify"], words) is None


def test_a_line_that_lacks_what_is_required_is_left() -> None:
    assert read(FUNCTIONS["simulate"], []) is None
    assert read(FUNCTIONS["verify"], ["--all"]) is not None


def test_a_plain_command_loads_nothing_heavy() -> None:
    code = (
        "import sys; from hacheck.cli.main import run\n"
        "try: run(['verify', 'icestorm', '--check', 'smoke', '--engine', 'python'])\n"
        "except SystemExit: pass\n"
        "heavy = {'typer', 'pydantic', 'z3', 'hypothesis', 'pyspark', 'llvmlite', 'numpy', 'asyncio', 'pygments'}\n"
        "print('IMPORTED', *sorted(heavy & set(sys.modules)))\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout.split("IMPORTED")[1].split() == []


def test_the_command_itself_loads_no_engine() -> None:
    code = "import sys, hacheck.cli.main; print(*(name for name in sys.modules if name.startswith('hacheck')))"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(ended.stdout.split())
    assert loaded == {
        "hacheck",
        "hacheck.cli",
        "hacheck.cli.commands",
        "hacheck.cli.main",
        "hacheck.cli.command_line",
    }


def test_what_typer_refuses_is_refused_in_its_words() -> None:
    ended = hacheck("verify", "a", "--nothing")
    assert ended.code == 2
    assert "No such option: --nothing" in ended.err
