"""What is loaded, and when: the plug-in stands in every run of pytest of whoever has hacheck installed."""

from __future__ import annotations

import subprocess
import sys

HEAVY = ("hypothesis", "numpy", "pyarrow", "llvmlite", "lark", "duckdb", "rich", "typer", "hacheck.model")


def loaded_by(code: str, *asked: str) -> list[str]:
    """Which of these modules a program has loaded at its end."""
    whole = f"import sys\n{code}\nprint('LOADED', *[name for name in {asked!r} if name in sys.modules])"
    ended = subprocess.run([sys.executable, "-c", whole], capture_output=True, text=True, check=True)
    return ended.stdout.split("LOADED")[1].split()


def test_the_plug_in_loads_nothing_heavy() -> None:
    assert loaded_by("import hacheck.testing.plugin", *HEAVY, "pytest") == []


def test_tests_load_neither_pytest_nor_what_draws() -> None:
    code = "sys.modules['pytest'] = None\nfrom hacheck.testing import *\nassert ProcessAdapter and state_machine"
    assert loaded_by(code, "rich", "typer", "hacheck.cli", "duckdb", "pyspark") == []


def test_a_name_is_loaded_when_it_is_asked_for() -> None:
    assert loaded_by("from hacheck.testing import BadRun, do", "hypothesis") == []
    assert loaded_by("from hacheck.testing import state_machine", "hypothesis") == ["hypothesis"]


def test_the_command_line_does_not_load_hypothesis() -> None:
    code = "from hacheck.cli.main import run\ntry: run(['list'])\nexcept SystemExit: pass"
    assert loaded_by(code, "hypothesis", "hacheck.testing") == []
