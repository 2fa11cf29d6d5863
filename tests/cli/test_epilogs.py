"""What stands below a command's help fits the terminal, and what belongs together stays so."""

from __future__ import annotations

import importlib
import pkgutil

import pytest

import hacheck.cli.commands
from hacheck.cli.app import laid_out

TEXT = """
[bold]Examples[/]

  hacheck sim icestorm          a hundred runs
  hacheck sim icestorm -n 2     two runs

[bold]Exit codes[/]

  0 kept   1 broken   2 bad input"""

NARROW = """
[bold]Examples[/]

  hacheck sim icestorm
      a hundred runs
  hacheck sim icestorm -n 2
      two runs

[bold]Exit codes[/]

  0 kept   1 broken
  2 bad input"""


def test_wide_lines_stay_as_they_are() -> None:
    assert laid_out(TEXT, 46) == TEXT


def test_narrow_lines_are_broken_where_their_parts_meet() -> None:
    assert laid_out(TEXT, 30) == NARROW


@pytest.mark.parametrize("command", [module.name for module in pkgutil.iter_modules(hacheck.cli.commands.__path__)])
def test_no_command_has_lines_that_are_too_long(command: str) -> None:
    text = getattr(importlib.import_module(f"hacheck.cli.commands.{command}"), "EPILOG", "")
    assert all(len(line) <= 78 for line in laid_out(text, 78).split("\n"))
    for words in (text, laid_out(text, 200)):
        assert laid_out(words, 78).split() == text.split()
