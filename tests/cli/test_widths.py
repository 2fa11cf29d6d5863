"""On a terminal of 80 columns no command prints a longer line, except a command to copy, which stands alone on its line
and whole."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from unittest.mock import patch

import pytest

from hacheck.cli.main import exit_code
from tests.cli.command import hacheck

ROOT = Path(__file__).parents[2]
PAIR = "tests/golden/specs/pair.ha"
WIDTH = 80


class Terminal(io.TextIOWrapper):
    """A stream that says it is a terminal."""

    def __init__(self) -> None:
        self.written = io.BytesIO()
        super().__init__(self.written, encoding="utf-8", write_through=True)

    def isatty(self) -> bool:
        return True


def shown(*words: str) -> list[str]:
    """The lines that a command shows on a terminal."""
    out = Terminal()
    variables = {"COLUMNS": str(WIDTH), "LINES": "40", "NO_COLOR": "1", "TERM": "xterm", "LC_ALL": "C.UTF-8"}
    with (
        patch.dict(os.environ, variables),
        patch.object(sys, "stdout", out),
        patch.object(sys, "argv", ["hacheck", *words]),
    ):
        exit_code(words)
    return out.written.getvalue().decode().splitlines()


COMMANDS = [
    "list",
    "list icestorm",
    "list tests/golden/specs/pair.ha",
    "explain",
    "explain HA104",
    "explain leads_to",
    f"verify {PAIR}",
    f"verify {PAIR} --runs --witnesses",
    f"verify {PAIR} --details",
    f"verify {PAIR} --check naive --steps",
    f"verify {PAIR} --check crashing --set crashes=2 --property recovers",
    f"verify {PAIR} --check naive --property one_active --blame",
    f"verify {PAIR} --states 5",
    "verify fiorano_shared --check one_address --runs",
    "verify icestorm_clients --check cut_off --runs",
    f"simulate {PAIR} --seed 3",
    "simulate icestorm --seed 3 --steps 40",
    f"diagram {PAIR}",
    "diagram fiorano_shared",
    f"why {PAIR} --check leased --property one_active",
    "conform examples/pair/pair.ha examples/pair/logs --adapter examples/pair/pair.toml",
    "check-impl fiorano-shared --deviations 0",
    "simulate-impl qpid --seeds 2",
    "simulate-impl icestorm --seeds 1 --faults chaos",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_no_line_is_wider_than_the_terminal(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    lines = shown(*command.split())
    assert lines, "something is shown"
    assert [line for line in lines if len(line) > WIDTH and not line.strip().startswith("hacheck ")] == []


@pytest.mark.parametrize("command", ["show {}", "show {} --steps", "show {} --blame"])
def test_a_saved_run_fits_as_well(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    found = tmp_path / "found.json"
    hacheck("verify", PAIR, "--check", "naive", "--property", "one_active", "--quiet", "--json", str(found))
    lines = shown(*command.format(found).split())
    assert [line for line in lines if len(line) > WIDTH and not line.strip().startswith("hacheck ")] == []
