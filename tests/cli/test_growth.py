"""A check that grows too large says what multiplies its states, and which limit to lower first."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hacheck.checker.explicit.search import exploration, search_limits
from hacheck.cli.guard import ExitCode
from tests.cli.command import hacheck

GROWING = """system Growing
param terms = 4
node Server[3] {
  term: 0..terms = 0
  leads: bool = false
  heard: sequence of 0..terms up to 3 = []
}
message append(term: 0..terms) from Server to Server up to 2 queued
action lead(s: Server) when s.term < terms do
  s.term := s.term + 1
  s.leads := true
  for t in others(s) do send append(s.term) to t
on append(term) at s from f do
  s.heard := if size(s.heard) < 3 then s.heard with term else s.heard
faults { crash Server up to 1 }
invariant short: every s: Server satisfies size(s.heard) <= 3
check default
"""


@pytest.fixture
def growing(tmp_path: Path) -> Path:
    path = tmp_path / "growing.ha"
    path.write_text(GROWING, encoding="utf-8")
    return path


def states(path: Path) -> int:
    found = hacheck("verify", str(path)).out
    assert "every reachable state" in found
    (count,) = re.findall(r"explored +([\d,]+) states", found)
    return int(count.replace(",", ""))


def test_what_multiplies_and_what_to_lower_stand_in_the_report(growing: Path) -> None:
    ended = hacheck("verify", str(growing), "--states", "30000")
    assert ended.code == ExitCode.UNDECIDED
    said = " ".join(ended.out.split())
    (multiplies, lower) = re.findall(r"multiplies (.*?) lower first (.*?) cut at", said)[0]
    assert multiplies.startswith("message append: ")
    assert "on each of 6 links" in multiplies
    assert "Server.term: 5 values at each of 3 places" in multiplies
    assert lower.startswith("append up to 1 (growing.ha:8), or ")
    assert "Server size 2 (growing.ha:3)" in lower


def test_what_is_said_to_be_lowered_makes_the_check_smaller(growing: Path) -> None:
    small = GROWING.replace("terms = 4", "terms = 2").replace("up to 3", "up to 2").replace("< 3", "< 2")
    growing.write_text(small, encoding="utf-8")
    whole = states(growing)
    text = " ".join(hacheck("verify", str(growing), "--states", "500").out.split())
    limits = re.findall(r"lower first (.*?) reduced", text)[0].split(", or ")
    for one in limits:
        name, joint, number, line = re.findall(r"(.+) (up to|size) (\d+) \(growing.ha:(\d+)\)", one)[0]
        lines = small.splitlines()
        before = f"[{int(number) + 1}]" if joint == "size" else f"up to {int(number) + 1}"
        assert before in lines[int(line) - 1], name
        lines[int(line) - 1] = lines[int(line) - 1].replace(before, before.replace(str(int(number) + 1), number))
        changed = growing.with_name("changed.ha")
        changed.write_text("\n".join(lines) + "\n", encoding="utf-8")
        assert states(changed) < whole, one
    assert len(limits) >= 3


def test_a_large_check_says_so_while_it_runs(growing: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exploration, "LARGE_SECONDS", 0.0)
    monkeypatch.setattr(search_limits, "REPORT_SECONDS", 0.0)
    small = GROWING.replace("terms = 4", "terms = 1")
    growing.write_text(small, encoding="utf-8")
    said = " ".join(hacheck("verify", str(growing)).err.split())
    assert "check default is large: " in said
    assert "multiplies " in said
    assert "--time 60s ends with what was covered" in said
    assert f"hacheck simulate {growing} --check default takes random runs".replace(" ", "") in said.replace(" ", "")
    assert "(--memory)" in said
    assert "is large" not in hacheck("verify", str(growing), "--time", "60").err, "the user knows of limits"


def test_what_makes_runs_leave_the_bounds_is_named(tmp_path: Path) -> None:
    path = tmp_path / "counting.ha"
    path.write_text(
        "system Counting\n"
        "node Server { count: counter up to 3 = 0 }\n"
        "action count_on(s: Server) do s.count := s.count + 1\n"
        "eventually done: Server.count > 3\n"
        "  fair count_on\n",
        encoding="utf-8",
    )
    ended = hacheck("verify", str(path))
    assert ended.code == ExitCode.UNDECIDED
    said = " ".join(ended.out.split())
    assert "raise the bound `Server.count up to 3`" in said
    assert "where runs pass every bound, none is high enough" in said
    path.write_text(path.read_text(encoding="utf-8").replace("up to 3", "up to 4"), encoding="utf-8")
    assert hacheck("verify", str(path)).code == ExitCode.AS_EXPECTED
