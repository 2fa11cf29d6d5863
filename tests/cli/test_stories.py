"""What happens to a node is told in a story at the node, in the words of the spec."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.command import hacheck

CLOCKS = """system Clocks "One clock is ahead of the other."
node Server[2] symmetric { state mode: { early, late } = early }
clock Server up to 3 skew 1
action notice(s: Server) when clock(s) == 2 do s.mode := late
invariant never "a clock is never ahead": no s: Server where clock(s) > time()
"""


def test_clock_of_a_node_is_told_as_a_field_of_it(tmp_path: Path) -> None:
    spec, found = tmp_path / "clocks.ha", tmp_path / "found.json"
    spec.write_text(CLOCKS)
    printed = hacheck("verify", str(spec), "--steps", "--json", str(found)).out
    story = [" ".join(line.split()) for line in printed.splitlines()]
    start = story.index("0 initially")
    assert story[start : start + 6] == [
        "0 initially",
        "every Server clock = 0",
        "1 Server 1 clock",
        "a node's clock goes on",
        "clock 0 -> 1",
        "so time 0",
    ]
    assert story[start + 6] == "clock of Server Server 1: 1, Server 2: 0"
    (asked,) = json.loads(found.read_text())["checks"][0]["properties"]
    assert (asked["run"][1]["node"], asked["run"][1]["changes"]) == ("Server 1", ["Server 1.clock: 0 -> 1"])


def test_clock_in_a_guard_reads_as_in_the_spec(tmp_path: Path) -> None:
    spec = tmp_path / "clocks.ha"
    spec.write_text(CLOCKS)
    shown = hacheck("diagram", str(spec)).out
    assert "clock(s) == 2" in shown
    assert "clock.Server" not in shown


def test_step_that_cannot_be_completed_is_told_with_its_place(tmp_path: Path) -> None:
    spec, found, run = tmp_path / "over.ha", tmp_path / "found.json", tmp_path / "run.json"
    spec.write_text('system Over "x"\nnode S { n: 0..1 = 0 }\naction go(s: S) do\n  s.n := s.n + 1\n')
    beneath = ["x next, go cannot be completed: S 1.n would be 2, outside 0..1", f"{spec}:3"]
    for command in (
        ("verify", str(spec), "--json", str(found)),
        ("simulate", str(spec), "--json", str(run)),
        ("show", str(found)),
    ):
        lines = [line.strip() for line in hacheck(*command, columns=400).out.splitlines()]
        assert lines[lines.index(beneath[0]) :][:2] == beneath
    fault = json.loads(found.read_text())["checks"][0]["fault"]
    assert (fault["message"], fault["place"]) == ("S 1.n would be 2, outside 0..1", f"{spec}:3")
