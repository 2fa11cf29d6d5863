"""`--blame` of `verify` and `show`: what a violation needs, on small specs where that is known by construction."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hacheck.checker.blame.trials import Subject, blame
from hacheck.checker.engine import Limits
from hacheck.checker.explicit.portable.portable_engine import PortableEngine
from hacheck.model.language import load
from tests.cli.command import hacheck

PAIR = """system Pair "a standby takes over from a server that it cannot reach"
assumption fenced = off "a standby takes over only after the other server is down"
assumption calm = on "servers start in any order"
node Server[2] { state mode: { standby, active } = standby }
shared leader: Server? = none
action start(s: Server) when s.mode == standby and leader == none do
  leader := s
  s.mode := active
environment action take_over(s: Server, o: Server)
  when s != o and up(s) and s.mode == standby and leader == o and not connected(s, o)
  only after fenced implies not up(o)
do
  leader := s
  s.mode := active
faults {
  crash Server up to 1
  cut Server - Server up to 1
}
invariant one "never are two servers active": at most one s: Server where s.mode == active and up(s)
invariant calm_is_known: calm or not calm
"""

BOTH = """system Both "two servers crash; or, with `stops`, all is stopped in the fourth step"
param stops = 0 in 0..1
node Server[2] symmetric { state mode: { standby, active } = standby }
shared turns: 0..3 = 0
shared stopped: bool = false
action start(s: Server) when s.mode == standby and stops == 0 do s.mode := active
environment action turn() when stops == 1 and turns < 3 do turns := turns + 1
environment action stop() when turns == 3 do stopped := true
faults { crash Server up to 3 for good }
invariant some_up "a server is up": not stopped and some s: Server where up(s)
"""

WAITS = """system Waits
node Server[1] { state mode: { idle, done } = idle }
action serve(s: Server) when s.mode == idle do s.mode := done
faults { crash Server up to 1 for good }
eventually served "somebody serves": some s: Server where s.mode == done
  fair serve
"""

WAYS = """system Ways
node Server[1] { state mode: { idle, ready, broken, done } = idle }
shared bad: bool = false
environment action begin(s: Server) when s.mode == idle do s.mode := ready
action spoil(s: Server) when s.mode == ready do s.mode := broken
action go(s: Server) when s.mode in {ready, broken} do s.mode := done
invariant never: no s: Server where s.mode == done
"""


def blamed(folder: Path, spec: str, asked: str, *options: str) -> dict[str, Any]:
    """The verdict on one property in the JSON of `verify --blame`, and what was printed under `shown`."""
    (folder / "small.ha").write_text(spec, encoding="utf-8")
    command = ("verify", f"{folder}/small.ha", "--property", asked, "--blame", "--json", f"{folder}/found.json")
    ended = hacheck(*command, *options)
    assert ended.code in (0, 1), ended.err
    content = json.loads((folder / "found.json").read_text(encoding="utf-8"))
    (found,) = content["checks"][0]["properties"]
    return {**found, "shown": " ".join(ended.out.split())}


def outcomes(found: dict[str, Any]) -> dict[str, str]:
    return {one["words"]: one["outcome"] for one in found["blame"]["trials"]}


def test_fault_and_assumption_that_prevent_a_violation_are_named(tmp_path: Path) -> None:
    found = blamed(tmp_path, PAIR, "one")
    assert outcomes(found) == {
        "without any `cut Server - Server`": "prevents",
        "with the assumption `fenced` on": "prevents",
        "with the assumption `calm` off": "violated",
        "if `start` never happened": "prevents",
        "if `take_over` never happened": "prevents",
    }
    assert "without any `cut Server - Server`: not violated (all 8 states explored)" in found["shown"]
    calm = next(one for one in found["blame"]["trials"] if "calm" in one["words"])
    assert (calm["same_run"], calm["length"], calm["faults"], calm["states"]) == (True, 3, 1, 0)
    assert found["good_run"] is None


def test_faults_that_are_needed_are_marked_in_the_picture(tmp_path: Path) -> None:
    found = blamed(tmp_path, BOTH, "some_up", "--set", "stops=0")
    assert found["shown"].count("(needed, says --blame)") == 2
    assert "Within the same bounds it is not violated with at most 1 of `crash Server`" in found["shown"]
    found = blamed(tmp_path, BOTH, "some_up", "--set", "stops=1")
    assert "(needed, says --blame)" not in found["shown"]


def test_a_number_is_tried_one_lower(tmp_path: Path) -> None:
    tried = outcomes(blamed(tmp_path, BOTH, "some_up", "--set", "stops=1"))
    assert tried["with the setting `stops = 0`"] == "violated"
    assert "with the setting `stops = -1`" not in outcomes(blamed(tmp_path, BOTH, "some_up", "--set", "stops=0"))


def test_one_of_two_equal_faults_is_not_enough(tmp_path: Path) -> None:
    found = blamed(tmp_path, BOTH, "some_up")
    faults = [one for one in found["blame"]["trials"] if one["kind"] == "fault"]
    assert [(one["words"], one["outcome"], one["implied"]) for one in faults] == [
        ("with at most 1 of `crash Server`, where the run has 2", "prevents", False),
        ("without `crash of Server 1` at step 1, from there on", "prevents", True),
        ("without `crash of Server 2` at step 2, from there on", "prevents", True),
    ]
    assert all(one["states"] == 0 for one in faults if one["implied"])


def test_fault_is_no_cause_where_there_is_another_way(tmp_path: Path) -> None:
    found = blamed(tmp_path, BOTH, "some_up", "--set", "stops=1")
    faults = [one for one in found["blame"]["trials"] if one["kind"] == "fault"]
    assert [(one["words"], one["outcome"], one["length"], one["faults"]) for one in faults] == [
        ("with at most 1 of `crash Server`, where the run has 2", "violated", 4, 0),
        ("without any `crash Server`", "violated", 4, 0),
        ("without `crash of Server 1` at step 1, from there on", "violated", 4, 0),
        ("without `crash of Server 2` at step 2, from there on", "violated", 5, 1),
    ]
    assert "does not prevent it" in found["shown"]
    assert "prevents the violation" not in found["shown"]


def test_search_that_did_not_end_prevents_nothing() -> None:
    loaded = load(PAIR, "pair.ha").specification
    assert loaded is not None
    system = loaded.instantiate().system
    assert system is not None
    asked = next(one for one in system.properties if one.name == "one")
    answer = PortableEngine().check(system, ("one",), Limits(), lambda _: True)
    run = answer.properties[0].run
    assert run is not None
    found = blame(Subject(system, asked, run), Limits(states_max=4), lambda _: True)
    (cut,) = [one for one in found.results if one.trial.kind == "fault"]
    assert cut.outcome == "open"
    assert cut.words.startswith("no violation within ")
    assert not found.causes
    stopped = blame(Subject(system, asked, run), Limits(wall_seconds_max=0.0), lambda _: True)
    assert {(one.outcome, one.words) for one in stopped.results} == {("open", "not tried: the time is over")}


def test_way_of_a_guard_that_the_run_takes_is_tried(tmp_path: Path) -> None:
    found = blamed(tmp_path, WAYS, "never")
    (tried,) = [one for one in found["blame"]["trials"] if one["kind"] == "guard"]
    assert tried["words"] == "if `go` did not happen where `s.mode == ready`"
    assert (tried["steps"], tried["outcome"], tried["length"]) == ([2], "violated", 3)


def test_infinite_run_needs_its_fault_and_has_a_good_run(tmp_path: Path) -> None:
    found = blamed(tmp_path, WAITS, "served")
    assert found["loop"] is not None
    assert outcomes(found) == {"without any `crash Server`": "prevents"}
    good = found["good_run"]
    assert (good["shared"], [one["words"] for one in good["differences"]]) == (0, ["serve at Server 1"])


ASKS = """system Asks "a server that hears yes leads, whether or not it was asked for long"
switch careful = off "a server asks before it leads"
switch quick = off "matters to nothing"
node Server[1] { state mode: { idle, leading, standby } = idle  heard: bool = false }
environment action hear(s: Server) when not s.heard do s.heard := true
action settle(s: Server) when s.mode == idle and not careful do
  if s.heard then s.mode := leading else s.mode := standby
action ask(s: Server) when s.mode == idle and careful and (quick or not quick) do s.mode := standby
invariant never "no server leads": no s: Server where s.mode == leading
"""


def test_switch_and_branch_that_prevent_a_violation_are_named(tmp_path: Path) -> None:
    found = blamed(tmp_path, ASKS, "never")
    assert outcomes(found) == {
        "with the setting `careful = on`": "prevents",
        "with the setting `quick = on`": "violated",
        "if `settle` took the other branch where `s.heard`": "prevents",
        "if `hear` never happened": "prevents",
        "if `settle` never happened": "prevents",
    }
    kinds = {one["words"]: one["kind"] for one in found["blame"]["trials"]}
    assert kinds["with the setting `careful = on`"] == "setting"
    assert "with the setting `careful = on`: not violated (all" in found["shown"]
    assert "each of these settings: quick = on" in found["shown"]


OWES = """system Owes "work that came while both servers were down is never done"
node Server[2] symmetric { state mode: { idle, busy } = idle }
shared work: bool = false
shared done: bool = false
environment action ask() when not work do work := true
action serve(s: Server) when work and not done do done := true
faults { crash Server up to 2 for good }
leads_to served "work is done": work ~> done
  fair serve
"""


def test_single_faults_of_an_infinite_run_are_tried_where_nothing_is_owed(tmp_path: Path) -> None:
    text = OWES.replace("symmetric ", "").replace("up to 2", "up to 3")
    found = blamed(tmp_path, text.replace("Server[2]", "Server[3]"), "served")
    assert found["loop"] is not None
    faults = [one for one in found["blame"]["trials"] if one["kind"] == "fault"]
    singles = [one for one in faults if "from there on" in one["words"]]
    assert singles
    crashes = faults[0]["steps"]
    assert faults[0]["outcome"] == "prevents"
    asked = next(number for number, row in enumerate(found["run"]) if row.get("action") == "ask")
    assert [one["steps"][0] for one in singles] == [number for number in crashes if number <= asked + 1]
    assert all(one["outcome"] == "prevents" for one in singles)


GOOD = """system Turns
node Server[2] { state mode: { idle, waiting, serving } = idle }
shared held: Server? = none
action ask(s: Server) when s.mode == idle do s.mode := waiting
action take(s: Server) when s.mode == waiting and held == none do
  held := s
  s.mode := serving
action stop(s: Server) when s.mode == serving do
  s.mode := idle
  held := none
environment action free() when held != none do held := none
invariant one "never do two servers serve": at most one s: Server where s.mode == serving
"""


def test_nearest_good_run_shares_most_and_marks_the_first_difference(tmp_path: Path) -> None:
    found = blamed(tmp_path, GOOD, "one")
    good = found["good_run"]
    assert good["shared"] >= 2
    assert good["differences"][0]["mark"] != "same"
    assert [one["words"] for one in good["differences"]][-1] == "take at Server 2"
    assert len(good["run"]) == good["length"] + 1
    assert "<- first difference" in found["shown"]
    assert "and the property holds." in found["shown"]


def test_saved_run_is_blamed_as_text_json_and_on_a_page(tmp_path: Path) -> None:
    (tmp_path / "pair.ha").write_text(PAIR, encoding="utf-8")
    found = f"{tmp_path}/found.json"
    assert hacheck("verify", f"{tmp_path}/pair.ha", "--json", found).code == 1
    text = hacheck("show", found, "--property", "one", "--blame")
    assert text.code == 0
    assert "prevents the violation" in text.out
    view = json.loads(hacheck("show", found, "--property", "one", "--blame", "--format", "json").out)
    assert {one["outcome"] for one in view["blame"]["trials"]} == {"prevents", "violated"}
    assert view["story"][-1]["rule"] == "blame"
    assert "without any `cut Server - Server`" in view["story"][-1]["text"]
    page = f"{tmp_path}/page.html"
    assert hacheck("show", found, "--property", "one", "--blame", "--report", page).code == 0
    assert "without any `cut Server - Server`" in Path(page).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("show", "FOUND", "--property", "one", "--time", "1m"), "--time goes with --blame"),
        (("show", "FOUND", "--property", "one", "--blame", "--format", "svg"), "has no room for it"),
        (("show", "FOUND", "--property", "led", "--blame"), "violates nothing"),
        (("verify", "--all", "--blame"), "--blame is about one spec"),
    ],
)
def test_blame_of_nothing_is_refused(tmp_path: Path, options: tuple[str, ...], problem: str) -> None:
    spec = PAIR.replace("invariant one", "reachable led: leader != none\ninvariant one")
    (tmp_path / "pair.ha").write_text(spec, encoding="utf-8")
    found = f"{tmp_path}/found.json"
    if "FOUND" in options:
        hacheck("verify", f"{tmp_path}/pair.ha", "--json", found)
    ended = hacheck(*(found if one == "FOUND" else one for one in options))
    assert ended.code == 2
    assert problem in " ".join(ended.err.split())


def test_expected_violations_are_blamed_only_by_name(tmp_path: Path) -> None:
    (tmp_path / "pair.ha").write_text(f"{PAIR}check default expect one violated\n", encoding="utf-8")
    ended = hacheck("verify", f"{tmp_path}/pair.ha", "--blame")
    assert ended.code == 0
    assert "there is no counterexample to try" in ended.out
    assert "prevents the violation" in hacheck("verify", f"{tmp_path}/pair.ha", "--property", "one", "--blame").out
