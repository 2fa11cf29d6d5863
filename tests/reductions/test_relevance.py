"""What nothing asked depends on is dropped, and nothing else."""

from __future__ import annotations

from hacheck.checker.explicit.property_conditions import pose
from hacheck.checker.explicit.reductions import Reductions, reduced
from hacheck.compile.lowering.blocks import Lowered
from hacheck.compile.lowering.system import lower
from hacheck.model.interpreter import Interpreter
from tests.reductions.test_symmetry import system_of

COUNTERS = """
system Counters "One thing leads to another."
node S {
  first: 0..2 = 0
  second: 0..2 = 0
  third: 0..2 = 0
}
ghost seen: set of 0..2 = {}
"""
GO = """
action go(s: S) when s.first < 2 do
  s.first := s.first + 1
  if s.first == 2 then s.second := 1 else s.second := 0
  s.third := s.second
  seen := seen with s.third
"""
ASKED = """
invariant about_first: no s: S where s.first == 2
invariant about_second: no s: S where s.second == 2
invariant about_third: no s: S where s.third == 2
invariant about_seen: not (1 in seen)
step_invariant falls: no s: S where s.third < old(s.third)
leads_to goes: (some s: S where s.second == 1) ~> (some s: S where s.first == 2)
deadlock_free on
check default
"""


def sliced(text: str, *names: str) -> tuple[Lowered, Reductions]:
    """The system without what the properties named do not depend on."""
    system = system_of(text)
    initial = Interpreter(system).initial_states()
    lowered = lower(system, initial)
    return reduced(lowered, pose(lowered, names), initial, symmetry=False)


def dropped(text: str, *names: str) -> set[str]:
    """The variables of which something is not needed."""
    return {item.title for item in sliced(text, *names)[1].dropped}


def test_only_what_leads_to_what_is_asked_is_kept() -> None:
    assert dropped(COUNTERS + GO + ASKED, "about_first") == {"S.second", "S.third", "seen"}
    assert dropped(COUNTERS + GO + ASKED, "about_second") == {"S.third", "seen"}
    assert dropped(COUNTERS + GO + ASKED, "about_third") == {"S.second", "seen"}
    assert dropped(COUNTERS + GO + ASKED, "about_seen") == {"S.second", "S.third"}


def test_steps_and_infinite_runs_are_asked_too() -> None:
    assert dropped(COUNTERS + GO + ASKED, "falls") == {"S.second", "seen"}
    assert dropped(COUNTERS + GO + ASKED, "goes") == {"S.third", "seen"}
    assert dropped(COUNTERS + GO + ASKED) == set()


def test_a_branch_that_makes_no_difference_needs_no_condition() -> None:
    text = (
        COUNTERS
        + """
    action go(s: S) when s.first < 2 do
      s.first := s.first + 1
      if s.second == 1 then s.third := 1 else seen := {}
    action turn(s: S) do s.second := if s.second == 1 then 0 else 1
    """
        + ASKED
    )
    assert dropped(text, "about_first") == {"S.second", "S.third"}


def test_what_decides_whether_a_step_is_cut_or_an_error_is_kept() -> None:
    ghost = "ghost steps: 0..1 = 0\n"
    counts = GO + "\n  steps := steps + 1"
    assert "steps" not in dropped(COUNTERS + ghost + counts + ASKED, "about_first")
    bounded = ghost.replace("0..1", "counter up to 1")
    assert "steps" not in dropped(COUNTERS + bounded + counts + ASKED, "about_first")


def test_a_step_that_must_be_seen_to_change_something_is_seen() -> None:
    assert dropped(COUNTERS + GO + ASKED, "on") == {"S.second", "S.third", "seen"}
    silent = GO + "\naction mark(s: S) when s.third == 0 do seen := {2}"
    assert dropped(COUNTERS + silent + ASKED, "on") == {"S.second"}
    assert "seen" in dropped(COUNTERS + silent + ASKED, "about_first")


def test_a_bag_is_kept_whole_and_a_part_with_what_says_that_it_is_there() -> None:
    text = """
    system Mail "Letters."
    record Letter { stamp: 0..1, text: 0..1 }
    node S { last: 0..1 = 0  box: bag of Letter up to 2 = {}  draft: Letter? = none }
    action write(s: S) do
      s.draft := Letter(stamp: 1, text: s.last)
      s.box := s.box with Letter(stamp: 0, text: s.last)
    action read(s: S) do
      s.last := if some l in s.box where l.text == 0 then 1 else 0
    invariant about_last: no s: S where s.last == 1
    invariant about_draft: no s: S where s.draft != none and value(s.draft).text == 1
    check default
    """
    assert dropped(text, "about_last") == {"S.draft"}
    lowered, found = sliced(text, "about_draft")
    assert {item.variable: item.bits for item in found.dropped} == {"S.draft": 1}
    names = {slot.name for slot in lowered.layout.slots if slot.fixed is None}
    assert {name for name in names if name.startswith("S.draft")} == {"S.draft[1]?", "S.draft[1].text"}


def test_what_is_dropped_takes_no_bits() -> None:
    whole, _ = sliced(COUNTERS + GO + ASKED)
    lowered, found = sliced(COUNTERS + GO + ASKED, "about_first")
    assert lowered.layout.width == whole.layout.width - sum(item.bits for item in found.dropped)
    assert lowered.layout.width == 2
