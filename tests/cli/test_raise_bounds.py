"""`hacheck verify --raise-bounds`: what holds is tried again with each limit one higher."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hacheck import shipped
from hacheck.cli.checking import kept_trials, raised_bounds
from hacheck.cli.guard import ExitCode
from tests.cli.command import Ended, hacheck

SPEC = """system Counting "counters, a fault and an assumption"
param terms = 2 in 1..3 "a bound that is a setting"
param most = 3 in 1..3 "at the end of its range"
param odd = -1 in -1..1 "no number"
assumption calm = on "nobody hurries"
node S[2] ranked {
  term: counter up to terms = 0
  turn: counter up to 1 = 0
  hurried: bool = false
  durable died: bool = false
}
action elect(s: S) when s.term < most and odd < 0 do s.term := s.term + 1
action take_turn(s: S) do s.turn := s.turn + 1
environment action hurry(s: S) when up(s) only after not calm do s.hurried := true
faults { pause S up to 0 }
invariant few_terms: every s: S satisfies s.term <= 2
invariant one_turn: every s: S satisfies s.turn <= 1
invariant never_hurried: no s: S where s.hurried
invariant never_paused: no s: S where paused(s)
invariant alone "written for two": no s: S where s != S(1) and s != S(2)
invariant not_both: no s: S where s.term >= 3 and s.turn >= 2
invariant true_enough: every s: S satisfies s.term <= 3
reachable third_term: some s: S where s.term == 3
reachable second_term: some s: S where s.term == 2
check default expect third_term violated
"""

PAIR = """system Pair "two that know each other"
node S[2] symmetric { n: 0..1 = 0 }
action go(s: S) do s.n := 1
invariant small: every s: S satisfies s.n <= 1 and other(s) != s
check default expect all hold
"""


ENDLESS = """system Endless "a counter without an end"
param terms = 2 in 1..9
type Term = counter up to terms or more
node S { term: Term = 0  seen: Term = 0 }
action elect(s: S) do s.term := s.term + 1
action look(s: S) do s.seen := s.term
invariant not_ahead: S.seen <= S.term
check default expect all hold
"""

UNSURE = """system Unsure "a run that may be none: decided up to the number after all"
param terms = 2 in 1..9
type Term = counter up to terms or more
node S { a: Term = 0  b: Term = 0  left: 0..5 = 5  steps: 0..3 = 0 }
action lead(s: S) when s.left > 0 do
  s.left := s.left - 1
  s.a := s.a + 1
action follow(s: S) when s.left == 0 and s.steps < 3 do
  s.steps := s.steps + 1
  s.b := s.b + 1
invariant never_caught: S.left > 0 or S.a != S.b
check default expect all hold
"""


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of its own, and a cache of its own."""
    monkeypatch.setenv("HACHECK_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "counting.ha"
    path.write_text(SPEC, encoding="utf-8")
    return path


def found(path: Path, *options: str) -> tuple[Ended, Any]:
    """How the command ended, and the JSON of its first check."""
    ended = hacheck("verify", str(path), "--json", "out.json", *options, columns=200)
    return ended, json.loads(Path("out.json").read_text(encoding="utf-8"))["checks"][0]


def refutations(check: Any) -> dict[str, set[tuple[str, int]]]:
    """By property, the single limits that refute it, each with the length of the run."""
    return {
        one["name"]: {
            (limit["limits"][0]["name"], limit["steps"])
            for limit in one["raised"]["refuted_by"]
            if len(limit["limits"]) == 1
        }
        for one in check["properties"]
        if one["raised"] is not None
    }


EXPECTED = {
    "few_terms": {("terms", 3)},
    "one_turn": {("S.turn", 2)},
    "never_hurried": {("calm", 1)},
    "never_paused": {("pause S", 1)},
    "alone": {("S", 0)},
    "not_both": set(),
    "true_enough": set(),
    "third_term": {("terms", 3)},
}


@pytest.mark.parametrize("engine", ["native", "python"])
def test_each_claim_is_refuted_by_the_limit_that_it_needs_and_by_no_other(spec: Path, engine: str) -> None:
    ended, check = found(spec, "--raise-bounds", "--engine", engine)
    assert ended.code == ExitCode.AS_EXPECTED  # the check itself came out as it expects
    assert refutations(check) == EXPECTED
    assert next(one for one in check["properties"] if one["name"] == "second_term")["raised"] is None


def test_all_limits_that_held_are_raised_together_for_what_nothing_refuted(spec: Path) -> None:
    asked = "check default only not_both, true_enough expect all hold"
    spec.write_text(SPEC.replace("check default expect third_term violated", asked), encoding="utf-8")
    _, check = found(spec, "--raise-bounds")
    by_name = {one["name"]: one["raised"] for one in check["properties"] if one["raised"] is not None}
    (refuted,) = by_name["not_both"]["refuted_by"]
    assert {"terms", "S.turn"} <= {one["name"] for one in refuted["limits"]}
    assert "calm" not in {one["name"] for one in refuted["limits"]}
    assert refuted["steps"] == 5
    assert max(len(limits) for limits in by_name["true_enough"]["holds_with"]) == len(refuted["limits"])


def test_the_report_says_what_to_set_or_where_the_limit_stands(spec: Path) -> None:
    ended, _ = found(spec, "--raise-bounds")
    line = next(number for number, text in enumerate(SPEC.splitlines(), 1) if "turn: counter" in text)
    assert "hacheck verify " + str(spec) + " --check default --set terms=3" in ended.out
    assert f"S.turn up to 2 ({spec.name}:{line}) (bound): in 2 steps" in ended.out
    assert "calm = off (assumption): in 1 step" in ended.out
    assert "most: 3 is the end of its range 1..3" in ended.out
    assert "odd: -1 is negative" in ended.out
    again, repeated = found(spec, "--set", "terms=3", "--property", "few_terms")
    assert again.code == ExitCode.NOT_AS_EXPECTED
    assert len(repeated["properties"][0]["run"]) - 1 == 3


def test_what_was_found_is_said_by_the_ordinary_report_of_the_same_spec(spec: Path) -> None:
    before, check = found(spec)
    assert "limits raised by one" not in before.out
    assert check["raised"] is None
    found(spec, "--raise-bounds")
    after, check = found(spec)
    assert "refuted by" in after.out
    assert refutations(check) == EXPECTED
    spec.write_text("# a comment more\n" + SPEC, encoding="utf-8")
    assert refutations(found(spec)[1]) == EXPECTED
    spec.write_text(SPEC.replace("s.term <= 2", "s.term <= 1 or s.term == 2"), encoding="utf-8")
    assert found(spec)[1]["raised"] is None


def test_what_other_sources_of_hacheck_found_counts_as_none(spec: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found(spec, "--raise-bounds")
    monkeypatch.setattr(kept_trials, "sources_digest", lambda: "others")
    assert found(spec)[1]["raised"] is None


def test_a_damaged_file_of_what_was_found_counts_as_none(spec: Path, tmp_path: Path) -> None:
    found(spec, "--raise-bounds")
    (kept,) = (tmp_path / "cache" / "bounds").iterdir()
    for text in ("", "{", "[]", kept.read_text(encoding="utf-8").replace('"states"', '"stars"')):
        kept.write_text(text, encoding="utf-8")
        ended, check = found(spec)
        assert ended.code == ExitCode.AS_EXPECTED
        assert check["raised"] is None


def test_a_trial_is_run_once(spec: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, first = found(spec, "--raise-bounds")

    def refuse(*_: object) -> None:
        raise AssertionError("a trial was begun")

    monkeypatch.setattr(raised_bounds.ProcessPool, "begin", refuse)  # type: ignore[attr-defined]
    _, second = found(spec, "--raise-bounds")
    assert second["raised"] == first["raised"]


def test_with_a_hash_of_each_state_only_nothing_is_kept(spec: Path) -> None:
    found(spec, "--raise-bounds", "--fingerprint")
    assert found(spec)[1]["raised"] is None


def test_what_a_limit_leaves_undecided_is_named(spec: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(raised_bounds, "STATES_MAX", 3)
    ended, check = found(spec, "--raise-bounds", "--property", "true_enough")
    (one,) = check["properties"]
    limits = {limit["limits"][0]["name"] for limit in one["raised"]["not_decided"]}
    assert limits == {"calm", "terms", "S.turn", "pause S", "S"}
    assert not one["raised"]["holds_with"]
    assert "not decided" in ended.out
    assert "3 states reached" in ended.out
    monkeypatch.undo()  # with more states, what met a limit is tried again
    monkeypatch.setenv("HACHECK_CACHE_DIR", str(spec.parent / "cache"))
    monkeypatch.chdir(spec.parent)
    _, check = found(spec, "--raise-bounds", "--property", "true_enough")
    assert not check["properties"][0]["raised"]["not_decided"]


def test_without_time_nothing_is_tried_and_all_of_it_named(spec: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(raised_bounds, "TOTAL_SECONDS", 0.0)
    ended, check = found(spec, "--raise-bounds")
    assert check["raised"]["trials"] == []
    names = [limits[0]["name"] for limits in check["raised"]["not_tried"]]
    assert sorted(names) == ["S", "S.turn", "calm", "pause S", "terms"]
    assert "not tried  " in ended.out


def test_a_size_that_the_spec_cannot_have_is_not_possible(spec: Path) -> None:
    spec.write_text(PAIR, encoding="utf-8")
    ended, check = found(spec, "--raise-bounds")
    assert ended.code == ExitCode.AS_EXPECTED
    (trial,) = check["raised"]["trials"]
    assert trial["stopped"] == "not possible: `other` is for pairs; there are 3 Ss"
    assert trial["claims"] == {"small": "open"}
    assert "not decided" in ended.out


@pytest.mark.parametrize(
    ("text", "engine", "tried"),
    [(ENDLESS, "native", []), (ENDLESS, "python", ["terms"]), (UNSURE, "native", ["terms"])],
)
def test_the_number_of_a_counter_without_an_end_is_raised_only_where_a_claim_ends_there(
    spec: Path, text: str, engine: str, tried: list[str]
) -> None:
    spec.write_text(text, encoding="utf-8")
    ended, check = found(spec, "--raise-bounds", "--engine", engine)
    assert ended.code == ExitCode.AS_EXPECTED
    assert [one["limits"][0]["name"] for one in check["raised"]["trials"]] == tried
    assert ("terms" in {one["name"] for one in check["raised"]["not_raised"]}) == (not tried)


@pytest.mark.parametrize("engine", ["bmc", "induction", "simulation"])
def test_an_engine_that_does_not_explore_every_state_is_refused(spec: Path, engine: str) -> None:
    ended = hacheck("verify", str(spec), "--raise-bounds", "--engine", engine)
    assert ended.code == ExitCode.BAD_INPUT
    assert f"--raise-bounds is not for {engine}" in ended.err


def test_all_shipped_specs_can_be_tried(spec: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "specs"
    folder.mkdir()
    (folder / "counting.ha").write_text(SPEC, encoding="utf-8")
    (folder / "pair.ha").write_text(PAIR, encoding="utf-8")
    monkeypatch.setattr(shipped, "directory", lambda: folder)
    ended = hacheck("verify", "--all", "--raise-bounds", "--json", "all.json", "--jobs", "1")
    assert ended.code == ExitCode.AS_EXPECTED
    specs = json.loads(Path("all.json").read_text(encoding="utf-8"))["specs"]
    assert refutations(specs[0]["checks"][0]) == EXPECTED
    assert specs[1]["checks"][0]["raised"]["trials"]


def test_bounds_that_were_not_reached_are_named(spec: Path) -> None:
    ended, check = found(spec, "--set", "terms=3", "--property", "true_enough")
    assert {one["name"] for one in check["bounds_not_reached"]} == {"S.term"}
    assert "bounds    not reached: S.term up to 3" in ended.out
