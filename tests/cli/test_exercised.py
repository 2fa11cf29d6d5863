"""What a verdict says nothing about is said first: no step at all, or a property that is never exercised."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import hacheck

EXACT = ["native", "python"]
SPEC = """system Vacuous "x"
node S[2] { n: 0..2 = 0  m: 0..1 = 0  friends: set of S = {} }
shared unrelated: 0..1 = 0
action go(s: S) when s.n == 0 do s.n := 1
action on(s: S) when s.n == 1 do s.m := 1
action up(s: S) when s.n == 2 do
  s.n := 2
  s.friends := {s}
environment action outside() when unrelated == 1 do unrelated := 1
invariant met: every s: S satisfies s.m == 1 implies s.n == 1
invariant never: every s: S where s.n > 0 satisfies s.n == 2 implies s.m == 0
invariant of_nothing: every s: S satisfies every t in s.friends satisfies t.n == 0
invariant of_filtered: every s: S where s.n == 2 satisfies s.m == 0
invariant of_all: every s: S satisfies s.n < 2
invariant without: no s: S where s.n == 2
lemma also: (every s: S satisfies s.n == 2) implies (some s: S where s.m == 1)
step_invariant taken: every s: S satisfies old(s.n) == 0 and s.n == 1 implies s.m == 0
step_invariant untaken: every s: S satisfies old(s.n) == 1 and s.n == 2 implies s.m == 0
step_invariant before: every s: S satisfies old(s.n) == 2 implies s.m == 0
leads_to answered: (some s: S where s.n == 1) ~> (some s: S where s.n == 1)
leads_to unanswered: (some s: S where s.n == 2) ~> (some s: S where s.n == 1)
reachable moved: some s: S where s.n == 1
"""
NEVER = {"never", "of_nothing", "of_filtered", "also", "untaken", "unanswered"}


def checked(tmp_path: Path, text: str, *options: str) -> tuple[str, dict[str, Any]]:
    """What a check says, as text and as JSON."""
    spec, out = tmp_path / "vacuous.ha", tmp_path / "out.json"
    spec.write_text(text, encoding="utf-8")
    ended = hacheck("verify", str(spec), "--json", str(out), *options, columns=200)
    return ended.out, json.loads(out.read_text(encoding="utf-8"))["checks"][0]


@pytest.mark.parametrize("options", [(), ("--no-reductions",)])
@pytest.mark.parametrize("engine", EXACT)
def test_what_is_never_exercised_is_said_first(tmp_path: Path, engine: str, options: tuple[str, ...]) -> None:
    said, check = checked(tmp_path, SPEC, "--engine", engine, *options)
    assert {one["name"] for one in check["properties"] if one["never_exercised"] is not None} == NEVER
    assert {one["verdict"] for one in check["properties"]} == {"holds"}
    assert "never exercised  of_filtered: its condition `some s: S where s.n == 2` is never true" in said
    assert said.index("never exercised") < said.index("explored")
    assert "also: its condition" not in said, "a lemma that holds has no row"


@pytest.mark.parametrize("engine", EXACT)
def test_of_a_part_it_is_said_so_far(tmp_path: Path, engine: str) -> None:
    action = "node A { n: 0..9 = 0  m: 0..1 = 0 }\naction up(a: A) when a.n < 9 do\n  a.n := a.n + 1\n  a.m := 1\n"
    text = f'system Part "x"\n{action}invariant late: A.n == 9 implies A.m == 1\n'
    said, _ = checked(tmp_path, text, "--engine", engine, "--depth", "3")
    assert "never exercised so far  late: its condition `(A 1).n == 9` is never true" in said


@pytest.mark.parametrize("engine", EXACT)
def test_a_violated_property_was_exercised(tmp_path: Path, engine: str) -> None:
    text = SPEC + "invariant wrong: every s: S satisfies s.n == 1 implies s.friends != {}\n"
    said, check = checked(tmp_path, text, "--engine", engine)
    (wrong,) = [one for one in check["properties"] if one["name"] == "wrong"]
    assert (wrong["verdict"], wrong["never_exercised"]) == ("violated", None)
    assert "exercised  wrong" not in said


@pytest.mark.parametrize("engine", ["bmc", "induction"])
def test_who_does_not_explore_every_state_says_nothing(tmp_path: Path, engine: str) -> None:
    said, check = checked(tmp_path, SPEC, "--engine", engine, "--property", "never")
    assert "never exercised" not in said
    assert {one["never_exercised"] for one in check["properties"]} == {None}


def test_a_condition_keeps_nothing_that_is_sliced_away(tmp_path: Path) -> None:
    text = """system Sliced "x"
node A { n: 0..1 = 0  m: 0..1 = 0 }
action one(a: A) do a.n := 1
action other(a: A) do a.m := 1
invariant trivial: A.m == 1 implies A.n == 1 or A.n == 0
"""
    _, check = checked(tmp_path, text)
    assert check["states"] == 1
    assert not check["no_step_possible"], "steps that no property depends on are steps"
    assert check["properties"][0]["never_exercised"] is None


STILL = 'system Still "x"\nnode A { n: 0..1 = 0 }\naction go(a: A) when a.n == 1 do a.n := 0\n'


@pytest.mark.parametrize("engine", EXACT)
def test_no_step_at_all_is_said_first(tmp_path: Path, engine: str) -> None:
    said, check = checked(tmp_path, STILL + "invariant never: A.n == 0\n", "--engine", engine)
    assert check["no_step_possible"]
    assert said.index("no step") < said.index("explored")


def test_where_the_spec_says_that_it_may_rest_nothing_is_said(tmp_path: Path) -> None:
    said, check = checked(tmp_path, STILL + "deadlock_free rests except A.n == 0\n")
    assert not check["no_step_possible"]
    assert "no step" not in said


def test_steps_that_no_property_depends_on_are_steps(tmp_path: Path) -> None:
    text = STILL + "shared m: 0..1 = 0\nenvironment action other() do m := 1\ninvariant never: A.n == 0\n"
    said, check = checked(tmp_path, text)
    assert not check["no_step_possible"]
    assert "no step" not in said


def test_what_holds_at_the_start_is_no_promise_for_later(tmp_path: Path) -> None:
    text = (
        'system Once "x"\nnode S { on_duty: bool = true }\naction a(s: S) do s.on_duty := not s.on_duty\n'
        "eventually on: S.on_duty fair all\neventually off: not S.on_duty fair all\n"
        "eventually broken: S.on_duty and not S.on_duty fair all\n"
    )
    out, _ = checked(tmp_path, text)
    assert (
        "on: it holds in each initial state, once and for all; that it comes back is `leads_to on: not P ~> P`" in out
    )
    assert out.count("it holds in each initial state") == 1
    both = text + "check one expect broken violated\ncheck two only on, off expect all hold\n"
    assert "on: it holds in each initial state in one, two" in checked(tmp_path, both)[0]


def test_what_comes_to_hold_and_can_be_lost_is_said_with_the_step_that_ends_it(tmp_path: Path) -> None:
    text = (
        'system Once "x"\nnode S { on_duty: bool = false  done: bool = false }\n'
        "action start(s: S) when not s.on_duty do s.on_duty := true s.done := true\n"
        "action stop(s: S) when s.on_duty do s.on_duty := false\n"
        "eventually on: S.on_duty fair start\neventually finished: S.done fair start\n"
        "leads_to comes_back: not S.on_duty ~> S.on_duty fair start\n"
    )
    out, _ = checked(tmp_path, text)
    again = "that it comes back each time is `leads_to on: not P ~> P`"
    assert f"once  on: stop(s: S 1) can end it, and `eventually` asks for once only; {again}" in out
    assert "finished: " not in out, "what stays is what was asked for"
    both = text + "check one only on, finished expect all hold\ncheck two only on expect all hold\n"
    assert "on: it comes to hold, and can be lost again, in one, two" in checked(tmp_path, both)[0]
