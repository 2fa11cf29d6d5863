"""What a condition of a fault or of a time-out asks of the state is asked of the state, not when the file is read."""

from __future__ import annotations

import pytest

from hacheck.model.language import load
from tests.models.exploration import explore

# Conditions are about `O` and `P`, faults about `X` and `Y`. Each condition holds in some state, not in the first one.
START = """system Conditions "Faults that wait for something."
switch never = off
node O { n: 0..1 = 0 }
node P { }
node X[2] ranked { done: bool = false }
node Y { heard: 0..2 = 0 }
define gone = not up(O)
"""
NOTE = "message note() from O to P queued\non note() at p from o when never do\n"
SAY = "action say(o: O) when o.n == 0 do o.n := 1 send note() to P\n"
WRITE = "action write(o: O) when o.n == 0 do step wrote: o.n := 1\n"
LOCK = "lock L held by O\naction take(o: O) when o.n == 0 do acquire L then o.n := 1\n"
CLOCK = "clock O up to 1\n"

CONDITIONS = {
    "not up(O)": ("crash O up to 1 for good", ""),
    "no o: O where up(o)": ("crash O up to 1", ""),
    "paused(O)": ("pause O up to 1 for good", ""),
    "not (every o: O satisfies not paused(o))": ("pause O up to 1", ""),
    "not connected(O, P)": ("cut O - P up to 1", ""),
    "gone": ("crash O up to 1 for good", ""),
    "not never and not up(O)": ("crash O up to 1 for good", ""),
    "never or not up(O)": ("crash O up to 1 for good", ""),
    "O.n == 1": ("", "environment action begin() when O.n == 0 do O.n := 1\n"),
    "in_flight(note)": ("", NOTE + SAY),
    "under_way(note, O, P) != none": ("", NOTE + SAY),
    "running(O, write)": ("", WRITE),
    "running(O, write.wrote)": ("", WRITE),
    "holder(L) == O": ("", LOCK),
    "not free(L)": ("", LOCK),
    "holds(L, O)": ("", LOCK),
    "time() == 1": ("", CLOCK),
    "clock(O) == 1": ("", CLOCK),
}
MESSAGE = """message m() from X to Y up to 2
action send_it(x: X) when x == X(1) and not x.done do
  x.done := true
  send m() to Y
on m() at y from x do y.heard := y.heard + 1
"""
CALL = """operation ask() from X to Y returns bool {atomic} {timeout}
shared gave_up: bool = false
action call_it(x: X) when x == X(1) and not x.done do
  x.done := true
  call ask() at Y as r
  if r == none then gave_up := true
serve ask() at y from x do answer true
"""
ONE_STEP, IN_STEPS = CALL.format(atomic="atomic when true", timeout=""), CALL.format(atomic="", timeout="")
HELD = "lock M held by X\naction hold(x: X) when x == X(1) and not x.done do acquire M then x.done := true\n"

FAULTS = {
    "crash X": ("some x: X where not up(x)", ""),
    "wipe X": ("some x: X where not up(x)", ""),
    "blackout X": ("every x: X satisfies not up(x)", ""),
    "pause X": ("some x: X where paused(x)", ""),
    "cut X - Y": ("not connected(X(1), Y) and not connected(Y, X(1))", ""),
    "cut X -> Y": ("not connected(X(1), Y)", ""),
    "isolate X": ("not connected(X(1), Y) and not connected(X(1), X(2))", ""),
    "partition X": ("not connected(X(1), X(2))", ""),
    "partition X and Y": ("not connected(X(1), Y)", ""),
    "lose m": ("X(1).done and Y.heard == 0 and not in_flight(m)", MESSAGE),
    "lose ask": ("gave_up", IN_STEPS),
    "lose ask ": ("gave_up", ONE_STEP),
    "lose M": ("holds(M, X(1)) and free(M)", HELD),
    "duplicate m": ("Y.heard == 2", MESSAGE),
}
LATER = ("gave_up", "Y.heard == 2")
"""Effects that other steps may come before."""


def assert_happens(condition: str, line: str, effect: str, declarations: str) -> None:
    """The effect is found in some state; where it is there at once, by steps from where the condition holds."""
    makes, moves = CONDITIONS[condition]
    lines = ", ".join(one for one in (makes, line) if one)
    faults = f"faults {{ {lines} }}\n" if lines else ""
    asked = f"reachable happens: {effect}\n"
    if effect not in LATER:
        asked += f"step_invariant waits: ({effect}) and not old({effect}) implies old({condition})\n"
    loaded = load(START + declarations + moves + faults + asked, "conditions.ha")
    assert loaded.specification is not None, (condition, line, [one.message for one in loaded.diagnostics])
    system = loaded.specification.instantiate().system
    assert system is not None
    explored = explore(system)
    assert explored.complete
    assert set(explored.decided) == {"happens"}, (condition, line)


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("fault", FAULTS)
def test_fault_happens_once_its_condition_holds(fault: str, condition: str) -> None:
    effect, declarations = FAULTS[fault]
    assert_happens(condition, f"{fault} up to 1 when {condition}", effect, declarations)


@pytest.mark.parametrize("condition", CONDITIONS)
def test_action_happens_only_after_its_condition(condition: str) -> None:
    declarations = "action go(x: X) only after " + condition + " do x.done := true\n"
    assert_happens(condition, "", "some x: X where x.done", declarations)


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("atomic", ["", "atomic when true"])
def test_call_times_out_under_its_condition(atomic: str, condition: str) -> None:
    assert_happens(condition, "", "gave_up", CALL.format(atomic=atomic, timeout=f"timeout when {condition}"))


@pytest.mark.parametrize("condition", CONDITIONS)
def test_restart_waits_for_its_condition(condition: str) -> None:
    declarations = f"on restart of x: X only after {condition} do x.done := true\n"
    assert_happens(condition, "crash X up to 1", "some x: X where x.done", declarations)


@pytest.mark.parametrize(
    ("place", "declaration"),
    [
        ("atomic when", CALL.replace("{atomic} {timeout}", "atomic when {}")),
        ("durable if", "node Z {{ durable (if {}) n: 0..1 = 0 }}\n"),
        ("initial value", "shared s: bool = {}\n"),
    ],
)
@pytest.mark.parametrize("condition", ["up(O)", "paused(O)", "connected(O, P)", "time() == 1", "free(L)"])
def test_what_the_settings_decide_asks_nothing_of_the_state(condition: str, place: str, declaration: str) -> None:
    moves = LOCK if "L" in condition else CLOCK if "time" in condition else ""
    loaded = load(START + moves + declaration.format(condition), "conditions.ha")
    assert [one.code for one in loaded.diagnostics if one.severity == "error"] == ["HA110"], place
