"""Help is there for every command, with examples, and comes at once."""

from __future__ import annotations

import subprocess
import sys

import pytest

from hacheck.cli.commands.simulate_impl import PROTOCOL
from hacheck.cli.guard import version
from hacheck.impl.systems import names
from tests.cli.command import hacheck

COMMANDS = (
    "verify",
    "audit",
    "sweep",
    "prove",
    "why",
    "timing",
    "check-impl",
    "conform",
    "monitor",
    "simulate",
    "traces",
    "simulate-impl",
    "cluster",
    "admin",
    "show",
    "explore",
    "diagram",
    "list",
    "inspect",
    "doc",
    "fmt",
    "explain",
)


def test_the_first_page_names_every_command() -> None:
    shown = hacheck("--help").out
    assert all(f" {command} " in shown for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command: str) -> None:
    ended = hacheck(command, "--help")
    assert ended.code == 0
    assert "Usage: hacheck" in ended.out


def test_help_names_every_protocol_whose_code_can_be_run() -> None:
    assert PROTOCOL.partition(";")[0].split(", ") == list(names())


@pytest.mark.parametrize(
    "command",
    [
        "verify",
        "audit",
        "sweep",
        "prove",
        "why",
        "timing",
        "check-impl",
        "conform",
        "monitor",
        "simulate",
        "traces",
        "simulate-impl",
        "cluster",
        "admin",
        "show",
        "explore",
        "diagram",
        "inspect",
        "doc",
        "fmt",
    ],
)
def test_commands_with_options_show_examples(command: str) -> None:
    assert f"  hacheck {command} " in hacheck(command, "--help", columns=120).out.split("Examples")[1]


def test_help_of_verify_lists_the_exit_codes() -> None:
    shown = " ".join(hacheck("verify", "--help", columns=120).out.split())
    for code in ("0 as expected", "1 not as expected", "2 bad input", "3 undecided", "4 a bug in hacheck"):
        assert code in shown


def test_without_arguments_there_is_help() -> None:
    assert "Usage: hacheck" in hacheck().out


def test_the_version_is_printed() -> None:
    assert hacheck("--version").out == f"hacheck {version()}\n"


@pytest.mark.parametrize(("former", "now"), [(("version",), ("--version",)), (("sim", "-h"), ("simulate-impl", "-h"))])
def test_former_names_still_work_and_say_so(former: tuple[str, ...], now: tuple[str, ...]) -> None:
    ended = hacheck(*former)
    assert ended.out == hacheck(*now).out
    assert ended.err == f"`hacheck {former[0]}` is called `hacheck {now[0]}` now\n"


def test_an_unknown_command_is_bad_input() -> None:
    assert hacheck("verfy").code == 2


def test_completion_is_offered() -> None:
    assert "--install-completion" in hacheck("--help").out


def test_help_imports_neither_engine_nor_language() -> None:
    code = (
        "import sys\n"
        "from hacheck.cli.main import exit_code\n"
        "exit_code(['--help'])\n"
        "print('IMPORTED', *sorted(name for name in sys.modules if name.startswith('hacheck')))\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    imported = ended.stdout.split("IMPORTED")[1].split()
    beside = {"hacheck", "hacheck.api", "hacheck.api.errors", "hacheck.wording"}
    assert not [name for name in imported if not name.startswith("hacheck.cli") and name not in beside]
    heavy = {"hacheck.cli.checking.verification", "hacheck.cli.console", "hacheck.cli.diagrams.explored_diagram"}
    assert not heavy & set(imported)
