"""The two meanings of the language agree: on random specs."""

from __future__ import annotations

import pytest

from hacheck.checker.engine import Limits
from hacheck.checker.explicit.portable.portable_engine import PortableEngine
from hacheck.model.language import Specification, load
from tests.meanings.exploring import compared, comparison
from tests.meanings.generator.program import seeded_program
from tests.meanings.old_mistakes import (
    COPY_LAST,
    FAULT_EXCLUDED,
    FIRST_LOST,
    GIVEN_BACK_FOR_ANOTHER,
    KEY_FORGOTTEN,
    STEP_OUTLIVES_NODE,
    Mistake,
)

STATES_MAX = 25
SEEDS = [range(first, first + 60) for first in range(5000, 5360, 60)]


def read(seed: int) -> Specification | None:
    """The random spec of a seed, unless it is refused."""
    program = seeded_program(seed)
    return load(program.text, "random.ha", program.read).specification


@pytest.mark.parametrize("seeds", SEEDS, ids=str)
def test_meanings_agree_on_random_specs(seeds: range) -> None:
    accepted = 0
    for seed in seeds:
        specification = read(seed)
        if specification is not None:
            accepted += 1
            found = compared(comparison(specification), STATES_MAX)
            assert found.differences == [], seed
    assert accepted >= 50


KEY = """system Key "A local used as a key only."
node A[2] { done: bool = false  second: bool = false }
shared g: map bool to 0..1 = 0
action go(a: A) when not a.done do
  choose q: bool
  a.done := true
  step one:
  a.second := q
  step two:
  g[q] := 1
"""
NOT_UP = """system NotUp "A fault after another."
node A { }
node B { }
faults { crash A up to 1 for good, crash B up to 1 for good when not up(A) }
invariant b_stays_up: up(B)
"""
FIFO = """system Fifo "Messages that are equal."
node A { durable sent: 0..3 = 0 }
node B { }
message m(x: 1..2) from A to B fifo up to 4
action go(a: A) when a.sent < 3 do
  a.sent := a.sent + 1
  send m(if a.sent == 2 then 2 else 1) to B
on m(x) at b from a do require false
"""
FREED_LATE = """system FreedLate "A lock that is held for a process that has ended."
node A { had: bool = false }
lock L held by A freed late
action take(a: A) when not a.had do
  acquire L then a.had := true else a.had := false
action give(a: A) do release L
faults { crash A up to 1 }
"""
HALTED = """system Halted "A node that calls itself, and halts."
node S { durable after: bool = false }
operation stop() from S to S atomic when true
serve stop() at s from c do halt
action go(s: S) when not s.after do
  call stop() at s
  s.after := true
"""
ANSWERED = """system Answered "A service that answers, and halts."
switch at_once = on "the call is one step"
node C { heard: bool = false  unheard: bool = false }
node S { }
operation ask() from C to S returns bool
  atomic when at_once
serve ask() at s from c do
  answer true
  halt
action go(c: C, s: S) when not c.heard and not c.unheard do
  call ask() at s as a
  if a == none then c.unheard := true else c.heard := true
reachable an_answer_is_heard: some c: C where c.heard
reachable an_answer_is_lost: some c: C where c.unheard
check default expect all hold
check in_steps with at_once = off expect all hold
"""
LOSING = FIFO + "faults { lose m up to 1 }\n"
COPYING = FIFO + "faults { duplicate m up to 1 }\n"
NOTICED = """system Noticed "A node that notices a loss while it believes to hold the lock."
node A { noticed: bool = false }
lock L held by A
action take(a: A) when not a.noticed do acquire L then { } else { }
on lost L at a when holds(L, a) do a.noticed := true
faults { lose L up to 1 }
reachable a_loss_is_noticed: some a: A where a.noticed
"""
ASKED_WITH = """system AskedWith "An identity that nobody holds after the call that it was sent with."
identity Id up to 1
node C { calls: 0..2 = 0 }
node S { }
operation ask(i: Id) from C to S returns bool atomic when true
serve ask(i) at s from c do answer true
action go(c: C) when c.calls == 0 do
  call ask(fresh(Id)) at S
  call ask(fresh(Id)) at S as a
  c.calls := 2
reachable both_calls_are_made: some c: C where c.calls == 2
"""
NOT_ANSWERED = """system NotAnswered "A loss of an answer that was never given."
node C { done: bool = false }
node S { }
operation ask() from C to S returns bool atomic when true
serve ask() at s from c do require true
action go(c: C) when not c.done do
  call ask() at S as a
  c.done := true
faults { lose ask up to 1 }
"""
RULED_OUT = """system RuledOut "A fault that the settings rule out."
switch bridged = off "there are bridges"
node S[2] { n: 0..1 = 0 }
action go(s: S, t: S) when s != t and s.n == 0 do s.n := 1
faults {
  bridge S when 0 in all_numbers and bridged
  cut S -> S
}
shared all_numbers: set of 0..1 = {}
"""
OWN_THREAD = """system OwnThread "A service of several steps that is called in one step while its thread is busy."
node C { done: bool = false }
node S { n: 0..2 = 0 }
operation ask() from C to S returns bool atomic when true
serve ask() at s from c do
  s.n := 2
  step between:
  answer true
action busy(s: S) when s.n == 0 do
  s.n := 1
  step waiting:
  s.n := 2
action go(c: C) when not c.done do
  call ask() at S as a
  c.done := true
"""
ANSWERED_BY_ALL = """system AnsweredByAll "What one node has answered is held while the next one answers."
identity Id up to 1
node S[2] { n: 0..1 = 0 }
operation ask() from S to S returns Id atomic when true
serve ask() at s from m do
  answer fresh(Id)
action go(s: S) when s.n == 0 do
  call ask() at each all(S)
  s.n := 1
invariant never_answered: no s: S where s.n == 1
"""
ASKED_APART = """system AskedApart "Two threads of a node wait for the same operation at different nodes."
node A { one: bool = false  several: bool = false }
node B[2] ranked { }
operation ask() from A to B returns bool
action ask_one(a: A)
  when not a.one
  thread first
do
  a.one := true
  call ask() at B(1)
action ask_several(a: A)
  when not a.several
  thread second
do
  a.several := true
  call ask() at each { b: B where b == B(2) }
serve ask() at b from a do answer true
faults { crash B up to 1 for good }
reachable both: some a: A where a.one and a.several
"""
NEVER_DOWN = """system NeverDown "A local that is read only to see that a node is up, of a kind that never goes down."
node A[2] { at: 0..2 = 0 ghost was_down: bool = false }
node B { }
action go(a: A) when a.at == 0 do
  a.at := 1
  var kept: A = a
  step later:
  a.was_down := not up(kept)
  a.at := 2
faults { crash B up to 1 for good }
invariant never_down: no a: A where a.was_down
"""
AGREED = [NEVER_DOWN, ASKED_APART, ANSWERED_BY_ALL, NOTICED, ASKED_WITH, NOT_ANSWERED, RULED_OUT, OWN_THREAD]
MADE_ONCE = [
    (KEY_FORGOTTEN, KEY),
    (FAULT_EXCLUDED, NOT_UP),
    (FIRST_LOST, LOSING),
    (COPY_LAST, COPYING),
    (GIVEN_BACK_FOR_ANOTHER, FREED_LATE),
    (STEP_OUTLIVES_NODE, HALTED),
]


@pytest.mark.parametrize(("mistake", "text"), [pytest.param(*one, id=one[0].name) for one in MADE_ONCE])
def test_a_mistake_that_was_made_once_is_noticed(mistake: Mistake, text: str) -> None:
    specification = load(text, "mistake.ha").specification
    assert specification is not None
    assert compared(comparison(specification), 200).differences == []
    with mistake.made():
        assert compared(comparison(specification), 200).differences


@pytest.mark.parametrize("text", AGREED, ids=lambda text: text.split()[1])
def test_meanings_agree_on_what_they_once_differed_in(text: str) -> None:
    specification = load(text, "agreed.ha").specification
    assert specification is not None
    found = compared(comparison(specification), 500)
    assert found.complete
    assert found.differences == []
    instance = specification.instantiate()
    assert instance.system is not None
    answer = PortableEngine().check(instance.system, (), Limits(), lambda _: True)
    assert all(one.verdict in ("holds", "reachable") for one in answer.properties)


def test_answer_of_a_service_that_halts_may_arrive_or_be_lost() -> None:
    specification = load(ANSWERED, "answered.ha").specification
    assert specification is not None
    for check in ("default", "in_steps"):
        found = compared(comparison(specification, check), 200)
        assert found.complete
        assert found.differences == []
