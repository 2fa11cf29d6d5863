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
    story = [" ".join(line.split()) for line in hacheck("verify", str(spec), "--json", str(found)).out.splitlines()]
    start = story.index("0 initially")
    assert story[start : start + 6] == [
        "0 initially",
        "every Server clock = 0",
        "1 Server 1 clock",
        "a node's clock goes on",
        "clock 0 → 1",
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
