"""Properties of infinite runs, within a bound: a lasso is found where there is one, as short as can be, no other."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hacheck.checker.engine import Limits, PropertyAnswer
from hacheck.checker.symbolic.bounded_model_checking import BoundedEngine
from hacheck.model.ir import System
from tests.cli.command import Ended, hacheck
from tests.nightly import first_of
from tests.properties.test_engine_liveness import graph_of, small_systems, verdict_of
from tests.symbolic.infinite_runs import Steps, assert_violates, shortest_lasso
from tests.symbolic.test_induction import system_of

RELAY = """system Relay "A token goes round, and who has it may rest."
node Server[2] symmetric { rested: bool = false }
param last = 3 in 2..9
shared turn: 0..last = 0
action pass(s: Server) do turn := if turn == last then 0 else turn + 1
action rest(s: Server) when turn == last do s.rested := true
eventually comes "it comes to the last": turn == last
  fair pass
eventually all_rest: every s: Server satisfies s.rested
  FAIR
check default expect VIOLATED
"""

DEPTH = 5
TOGETHER = 30


def check(system: System, depth: int, reductions: bool) -> dict[str, PropertyAnswer]:
    """The answers by name."""
    answer = BoundedEngine(depth, reductions).check(system, (), Limits(), lambda _: True)
    return {found.name: found for found in answer.properties} if answer.error is None else {}


@pytest.mark.parametrize("first", first_of(range(0, 900, TOGETHER)))
def test_lassos_are_those_of_the_definition_and_as_short(first: int) -> None:
    found = 0
    for system in small_systems(range(first, first + TOGETHER)):
        known, graph = Steps(system), graph_of(system)
        exact, smaller = check(system, DEPTH, False), check(system, DEPTH, True)
        for asked in system.properties if exact else ():
            given = exact[asked.name]
            expected = shortest_lasso(known, asked, DEPTH)
            assert (given.run is not None) == (expected is not None), (system, asked, given.scope)
            if given.run is not None:
                found += 1
                assert given.verdict == "violated"
                assert len(given.run.steps) == expected, (system, asked)
                assert_violates(system, asked, given.run)
            elif given.verdict == "holds" or "passes a bound" in given.scope:
                assert given.verdict == verdict_of(system, graph, asked), (system, asked)
            assert given.verdict in ("violated", "unknown", "holds")
            fewer = smaller[asked.name]
            if given.run is not None or fewer.run is not None:
                assert fewer.run is not None
                assert_violates(system, asked, fewer.run)
                assert expected is None or len(fewer.run.steps) == expected, (system, asked)
    assert found or first, "some are violated"  # of few seeds perhaps none


def relay(tmp_path: Path, fairness: str, expected: str, *options: str) -> Ended:
    """What the command says of a token that goes round, if somebody may rest only while it is at the last place."""
    path = tmp_path / "relay.ha"
    path.write_text(RELAY.replace("FAIR", fairness).replace("VIOLATED", expected), encoding="utf-8")
    return hacheck("verify", str(path), "--engine", "bmc", *options, columns=120)


def test_a_handler_that_is_disabled_now_and_then_may_be_put_off_for_ever(tmp_path: Path) -> None:
    """Weak fairness does not help who can go on only while the token is there; strong fairness does."""
    ended = relay(tmp_path, "fair all", "all_rest violated", "--depth", "4", "--property", "all_rest", "--runs")
    assert ended.code == 0, ended.out
    assert "all_rest  violated" in ended.out
    ended = relay(tmp_path, "strongly fair all", "all hold", "--depth", "5")
    assert ended.code == 3, ended.out
    assert "not violated up to depth 5" in ended.out


def test_a_loop_longer_than_the_depth_is_not_found(tmp_path: Path) -> None:
    asked = ("--property", "all_rest", "--set", "last=6")
    assert relay(tmp_path, "fair all", "all_rest violated", "--depth", "6", *asked).code == 3
    ended = relay(tmp_path, "fair all", "all_rest violated", "--depth", "7", *asked, "--json", "-")
    (check,) = json.loads(ended.out)["checks"]
    (found,) = check["properties"]
    assert (found["verdict"], len(found["run"]), found["loop"]) == ("violated", 8, 0)


def test_without_fairness_a_run_may_stay_where_it_is(tmp_path: Path) -> None:
    ended = relay(tmp_path, "fair pass", "all_rest violated", "--depth", "2", "--property", "comes")
    assert ended.code == 3, ended.out
    text = RELAY.replace("  fair pass\n", "").replace("FAIR", "fair all").replace("VIOLATED", "comes violated")
    path = tmp_path / "unfair.ha"
    path.write_text(text, encoding="utf-8")
    ended = hacheck("verify", str(path), "--engine", "bmc", "--depth", "1", "--property", "comes", "--json", "-")
    (check,) = json.loads(ended.out)["checks"]
    (found,) = check["properties"]
    assert (found["verdict"], len(found["run"]), found["loop"]) == ("violated", 1, 0)


def test_where_every_run_ends_and_a_bound_forbids_a_step_nobody_knows() -> None:
    """All runs end, so everything was seen; but where the counter is full a step was cut."""
    text = """system Counting
node Server { count: counter up to 3 = 0 }
action count_on(s: Server) do s.count := s.count + 1
eventually done: Server.count > 3
  fair count_on
check default expect all hold
"""
    answer = check(system_of(text), 9, True)["done"]
    assert answer.verdict == "unknown"
    assert "raise the bound" in answer.scope


def test_a_goal_without_a_value_is_told() -> None:
    text = """system Absent
node Server { next: Server? = Server(1)  left: 0..2 = 2 }
action drop(s: Server) when s.left > 0 do
  s.left := s.left - 1
  s.next := if s.left == 1 then s.next else none
eventually meets: every s: Server satisfies value(s.next) != s
  fair drop
check default expect all hold
"""
    answer = check(system_of(text), 5, True)["meets"]
    assert answer.verdict == "unknown"
    assert "an error of the spec after 2 steps" in answer.scope
    assert answer.run is not None


def test_a_premise_that_is_the_goal_is_both() -> None:
    system = system_of("""system Idle "Both sides are true, whatever holds."
node Server[2] { busy: bool = false }
action turn(s: Server) do s.busy := not s.busy
leads_to true_again: (true or (some s: Server where s.busy)) ~> (true or (no s: Server where s.busy))
""")
    assert check(system, DEPTH, True)["true_again"].verdict == "unknown"


def test_properties_that_are_fair_for_different_arguments_are_asked_together() -> None:
    """Each has the answer that it has alone: what is enabled for one value of an argument may not be for another."""
    system = system_of("""system Serving
node Client[2] ranked { served: bool = false }
environment action serve(c: Client) when c == Client(2) or (some d: Client where d.served) do c.served := true
eventually any: some c: Client where c.served
  fair serve
eventually first: Client(1).served
  fair serve
eventually each: Client(1).served
  fair serve(c)
""")
    for reductions in (False, True):
        together = check(system, DEPTH, reductions)
        found = {name: given.verdict for name, given in together.items()}
        assert found == {"any": "unknown", "first": "violated", "each": "unknown"}
        run = together["first"].run
        assert run is not None
        assert len(run.steps) == 2, "it serves the other, again and again"
        assert_violates(system, system.properties[1], run)
