"""Which nodes and identities are alike, and why others are not."""

from __future__ import annotations

import pytest

from hacheck.checker.engine import Limits
from hacheck.checker.explicit.native_engine import NativeEngine
from hacheck.checker.explicit.portable.portable_engine import PortableEngine
from hacheck.checker.explicit.property_conditions import pose
from hacheck.checker.explicit.reductions import Reductions, reduced
from hacheck.compile.lowering.system import lower
from hacheck.model.interpreter import Interpreter
from hacheck.model.ir import System
from hacheck.model.language import load

VOTES = """
system Votes "Nodes of a kind that differ in nothing."
node Voter[3] symmetric { state mode: { idle, busy } = idle  voted: Voter? = none  votes: set of Voter = {} }
"""
GROUPS = """
system Groups "Names that are only compared."
identity Group up to 3
node Server[2] symmetric { group: Group? = none  known: set of Group = {} }
action found(s: Server) do s.group := fresh(Group)
"""


def system_of(text: str) -> System:
    """The system of a file's default settings."""
    loaded = load(text, "example.ha")
    assert loaded.specification is not None, loaded.diagnostics
    system = loaded.specification.instantiate().system
    assert system is not None
    return system


def reductions_of(text: str, names: tuple[str, ...] = ()) -> Reductions:
    """Who is alike in a system for the properties named."""
    system = system_of(text)
    initial = Interpreter(system).initial_states()
    lowered = lower(system, initial)
    return reduced(lowered, pose(lowered, names), initial, relevance=False)[1]


def symmetric(found: Reductions) -> dict[str, tuple[int, ...]]:
    """The members that are alike, by kind."""
    return {one.kind.name: one.members for one in found.symmetric}


def reasons(found: Reductions) -> dict[str, tuple[str, ...]]:
    """Why members of a kind are not, by kind."""
    return {one.kind: one.reasons for one in found.unlike}


def assert_same_answers(text: str) -> None:
    """With reductions and without, verdicts are the same, and runs are as long."""
    system = system_of(text)
    whole = PortableEngine().check(system, (), Limits(), lambda _: True)
    less = NativeEngine().check(system, (), Limits(), lambda _: True)
    assert less.coverage.states < whole.coverage.states
    for expected, found in zip(whole.properties, less.properties, strict=True):
        assert found.verdict == expected.verdict
        if expected.run is not None and expected.run.loop is None:
            assert found.run is not None
            assert len(found.run.steps) == len(expected.run.steps)


ALIKE = {
    "messages to each, votes counted": """
        message please() from Voter to Voter latest queued
        message yes() from Voter to Voter latest queued
        action stand(v: Voter) when v.voted == none do
          v.voted := v
          v.votes := {v}
          send please() to each others(v)
        on please() at v from c do
          if v.voted == none then {
            v.voted := c
            send yes() to c
          }
        on yes() at v from w do
          v.votes := v.votes with w
          if majority(v.votes) then v.mode := busy
        """,
    "a loop whose turns write each their own": """
        environment action reset(v: Voter) when v.mode == busy do
          for w in others(v) do {
            w.mode := idle
            w.voted := v
          }
        action begin(v: Voter) do v.mode := busy
        """,
    "a loop whose turns gather": """
        shared seen: set of Voter = {}
        shared total: 0..9 = 0
        environment action look(v: Voter) when total == 0 do
          for w in others(v) do
            if w.mode == idle then {
              seen := seen with w
              total := total + 1
            }
        action begin(v: Voter) do v.mode := busy
        """,
    "links that are cut both ways": """
        action begin(v: Voter) do v.mode := busy
        faults { cut Voter - Voter up to 2 }
        """,
    "a partition that tells each split once": """
        action begin(v: Voter) do v.mode := busy
        faults { partition Voter up to 1 }
        """,
}

QUIET = """
invariant quiet: no v: Voter, w: Voter where v != w and v.mode == busy and w.mode == busy
reachable some_busy: some v: Voter where v.mode == busy
check default
"""


@pytest.mark.parametrize("what", sorted(ALIKE))
def test_nodes_are_alike_with(what: str) -> None:
    text = VOTES + ALIKE[what] + QUIET
    found = reductions_of(text)
    assert symmetric(found) == {"Voter": (1, 2, 3)}, found.unlike
    assert found.exact
    assert_same_answers(text)


UNLIKE = {
    "the first of several": (
        """
        environment action pick(v: Voter) do
          let w = max x in others(v) by size(x.votes)
          w.mode := busy
        """,
        "pick takes the first Voter where `max` finds several",
    ),
    "a loop in which a turn sees another": (
        """
        environment action fill(v: Voter) when v.mode == idle do
          for w in others(v) do
            if no x: Voter where x.voted == v then w.voted := v
        """,
        "fill goes over Voters in their order: one turn may see or undo what another writes to Voter.voted",
    ),
    "a loop in which a turn undoes another": (
        """
        shared last: Voter? = none
        environment action fill(v: Voter) do for w in others(v) do last := w
        """,
        "fill goes over Voters in their order: one turn may see or undo what another writes to last",
    ),
    "a search that may fail later on": (
        """
        action vote(v: Voter) do v.voted := v
        environment action ask(v: Voter) when some w: Voter where value(w.voted) == v do v.mode := busy
        """,
        "ask may be an error or not, as the order of Voters decides",
    ),
    "fairness to each": (
        """
        action work(v: Voter) do v.mode := busy
        eventually all_busy: every v: Voter satisfies v.mode == busy
          fair work
        """,
        "all_busy asks that work is fair to each Voter",
    ),
}


@pytest.mark.parametrize("what", sorted(UNLIKE))
def test_nodes_are_not_alike_with(what: str) -> None:
    text, reason = UNLIKE[what]
    found = reductions_of(VOTES + text + QUIET)
    assert symmetric(found) == {}
    assert reasons(found)["Voter"] == (reason,)


RANKED = VOTES.replace("symmetric", "ranked")


def test_ranked_nodes_are_alike_where_nobody_asks_for_their_order() -> None:
    text = RANKED + "action go(v: Voter) do v.mode := busy"
    assert symmetric(reductions_of(text + QUIET)) == {"Voter": (1, 2, 3)}
    assert_same_answers(text + QUIET)
    asked = "invariant highest: no v: Voter, w: Voter where v < w and v.mode == busy and w.mode == idle"
    found = reductions_of(f"{text}\n{asked}{QUIET}")
    assert reasons(found) == {"Voter": ("highest compares Voters by their order",)}


def test_nodes_that_a_text_names_are_left_out() -> None:
    text = RANKED + "environment action go(v: Voter) when Voter(2).mode == idle do v.mode := busy" + QUIET
    assert symmetric(reductions_of(text)) == {"Voter": (1, 3)}
    assert_same_answers(text)


def test_a_property_that_names_all_but_one_leaves_none() -> None:
    text = RANKED + "action go(v: Voter) do v.mode := busy\n"
    text += "invariant two: Voter(1).mode == idle or Voter(2).mode == idle" + QUIET
    found = reductions_of(text)
    assert symmetric(found) == {}
    assert reasons(found)["Voter"] == ("two names one: Voter 1", "two names one: Voter 2")
    assert symmetric(reductions_of(text, ("quiet",))) == {"Voter": (1, 2, 3)}


def test_a_node_that_keeps_something_of_its_own_is_left_out() -> None:
    text = RANKED.replace("votes: set", "home: Voter = Voter(1)  votes: set")
    text += "action go(v: Voter) when v.home != v do v.mode := busy" + QUIET
    assert symmetric(reductions_of(text)) == {"Voter": (2, 3)}


def test_identities_that_are_compared_only_have_no_names() -> None:
    text = (
        GROUPS
        + """
    action meet(s: Server) when s.group != none do s.known := s.known with value(s.group)
    action drop(s: Server) do s.known := {}
    invariant strangers: no s: Server, t: Server where s != t and s.group != none and value(s.group) in t.known
    check default
    """
    )
    found = reductions_of(text)
    assert symmetric(found) == {"Server": (1, 2), "Group": (1, 2, 3)}
    assert not found.exact
    assert_same_answers(text)


def test_identities_that_are_keys_keep_their_names() -> None:
    text = GROUPS.replace("known: set of Group = {}", "heard: map Group to bool = false")
    text += "action hear(s: Server) when s.group != none do s.heard[value(s.group)] := true\ncheck default"
    assert reasons(reductions_of(text))["Group"][0] == "Server.heard has a place for each Group"


def test_identities_keep_their_names_where_a_step_may_change_only_these() -> None:
    text = GROUPS + "deadlock_free goes_on\ncheck default"
    assert reasons(reductions_of(text)) == {
        "Group": ("found may change nothing but a Group's name, and deadlocks are looked for",)
    }


def test_kinds_are_exchanged_independently() -> None:
    text = (
        VOTES
        + """
    node Client[2] symmetric { asked: Voter? = none }
    action ask(c: Client, v: Voter) when c.asked == none do c.asked := v
    action begin(v: Voter) do v.mode := busy
    """
        + QUIET
    )
    assert symmetric(reductions_of(text)) == {"Voter": (1, 2, 3), "Client": (1, 2)}
    assert_same_answers(text)
