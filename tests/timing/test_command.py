"""`hacheck timing`: what was explored, the region, the way to its edge, and what cannot be varied."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from unittest.mock import patch

import pytest

from tests.cli.command import hacheck
from tests.nightly import nightly

LEASE = str(Path(__file__).parents[2] / "examples" / "timing" / "lease.ha")

TIMER = """system Timer "A worker stops some ticks before its lease ends, and may be slow."
param lease = 3 in 1..4 "how long a lease lives"
param work = 1 in 0..4 "how long work takes"
param size = 2 in 2..3 "how many"
switch careful = off "it does not begin what may take too long"
node Worker { age: 0..9 = 0  busy: bool = false  until: 0..9 = 0 }
environment action begin(w: Worker)
  when not w.busy and w.age < lease and (careful implies w.age + work < lease)
do
  w.busy := true
  w.until := w.age + work
environment action tick(w: Worker) when w.busy and w.age < w.until do w.age := w.age + 1
environment action end(w: Worker) when w.busy and w.age == w.until do w.busy := false
invariant in_time "no work after the lease": Worker.busy implies Worker.age < lease
reachable works: Worker.busy
"""


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "timer.ha"
    path.write_text(TIMER)
    return path


def test_the_region_is_told_and_the_way_to_its_edge(spec: Path) -> None:
    ended = hacheck("timing", str(spec), "--vary", "lease", "--vary", "work", "--set", "work=0", "--no-color")
    assert ended.code == 0, ended.err
    assert "safe exactly where (of the explored combinations)\n      work <= 0\n" in ended.out
    assert "work alone may be to 0" in ended.out
    assert "lease alone may be any value that was tried" in ended.out
    assert "nearest: work = 1: violated in" in ended.out
    assert "20 combinations explored" in ended.out


def test_without_z3_it_says_what_to_install(spec: Path) -> None:
    with patch.dict(sys.modules, {"z3": None}):
        ended = hacheck("timing", str(spec), "--vary", "lease")
    assert ended.code == 2
    assert "Z3 is not installed: pip install 'hacheck[prove]'" in ended.err


def test_unsafe_constants_are_told_with_their_worst_schedule(spec: Path) -> None:
    ended = hacheck("timing", str(spec), "--vary", "work=0..2", "--no-color")
    assert ended.code == 1, ended.err
    assert "in_time violated as the constants are now" in ended.out
    assert "now: violated in" in ended.out
    assert "initially" in ended.out
    assert "not safe as the constants are now" in ended.out


def test_a_region_that_is_everything_is_said_to_be_so(spec: Path) -> None:
    ended = hacheck("timing", str(spec), "--vary", "lease", "--vary", "work=1..2", "--set", "careful=on", "--no-color")
    assert ended.code == 0, ended.err
    assert "safe in all that were decided: 8 combinations" in ended.out


def test_json_has_every_point(spec: Path) -> None:
    ended = hacheck("timing", str(spec), "--vary", "lease", "--vary", "work", "--json", "-")
    found = json.loads(ended.out)
    (property_,) = found["properties"]
    assert ended.code == found["exit_code"] == 1
    assert sorted(property_["safe"]) == [[lease, 0] for lease in range(1, 5)]
    assert len(property_["unsafe"]) == 16
    assert property_["region"][0]["told"] == "work <= 0"
    assert property_["nearest_unsafe"] == [3, 1]
    assert property_["run"]


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ((), "no lease or clock of this spec depends on a setting"),
        (("--vary", "leese"), "unknown setting `leese`"),
        (("--vary", "lease=3..2"), "lease=3..2 is empty"),
        (("--vary", "careful"), "careful is not a number with an interval in the spec"),
        (("--vary", "lease=0..9"), "lease=0..9 is not within 1..4"),
        (("--vary", "lease=1..2"), "lease is 3, which is not from 1 to 2"),
        (("--vary", "lease=x"), "--vary lease=x: expected NAME or NAME=LOW..HIGH"),
        (("--vary", "lease", "--points", "2"), "4 combinations are more than 2"),
        (("--vary", "lease", "--property", "works"), "works"),
    ],
)
def test_what_cannot_be_varied_is_an_error(spec: Path, words: tuple[str, ...], error: str) -> None:
    ended = hacheck("timing", str(spec), *words)
    assert ended.code == 2
    assert error in ended.err
    assert "Traceback" not in ended.err


def test_leases_and_clocks_say_what_is_varied(tmp_path: Path) -> None:
    path = tmp_path / "lease.ha"
    path.write_text(
        'system Leases "A lease, and clocks that may be off."\n'
        'param skew = 0 in 0..2 "ticks a clock may be wrong"\n'
        'param life = 2 in 1..2 "ticks a lease lives"\n'
        'param other = 1 in 0..1 "something else"\n'
        "node Server[2] symmetric { tries: 0..1 = 0 }\n"
        "clock Server up to 3 skew skew\n"
        "lock Lease held by Server lease life ticks\n"
        "action take(s: Server) when other == 1 do acquire Lease then s.tries := 1\n"
        "invariant one: at most one s: Server where holds(Lease, s)\n"
    )
    ended = hacheck("timing", str(path), "--no-color")
    assert ended.code == 0, ended.err
    assert "skew <= 0" in ended.out
    assert "other" not in ended.out
    assert "safe as far as the bounds of the spec reach" in ended.out


def test_example_is_as_it_expects() -> None:
    ended = hacheck("verify", LEASE, "--quiet")
    assert ended.code == 0, ended.out


@nightly
def test_region_of_the_example() -> None:
    """It takes half a minute."""
    ended = hacheck(
        "timing", LEASE, "--vary", "margin=0..3", "--vary", "pause=0..2", "--vary", "drift=0..2", "--no-color"
    )
    assert ended.code == 0, ended.err
    assert "      pause + drift <= margin\n    margin alone" in ended.out
