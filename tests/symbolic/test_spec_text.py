"""Conditions that are printed as text of a spec mean the same when a spec contains that text.

Facts are what found lemmas are made of. Each fact of a system, and its opposite, is printed, pasted into the spec as a
lemma, read, and compared with the fact in states of the system: in all of a small one, along walks in a shipped one.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from hacheck import shipped
from hacheck.checker.symbolic.lemma_candidates import ClaimPrinter
from hacheck.checker.symbolic.lemma_facts import facts
from hacheck.model import ir
from hacheck.model.interpreter import Interpreter, Taken
from hacheck.model.language import Specification, load
from hacheck.model.runs import State
from hacheck.model.spec_conditions import spec_text
from hacheck.model.types import Map
from tests.nightly import first_of

LEASE = """
system Leased "Who holds the lease serves."
node Store { }
node Node[2] symmetric { primary: bool = false }
clock Node up to 3
lock Leader on Store held by Node lease 1 ticks
action lead(n: Node) when not n.primary do
  acquire Leader then { n.primary := true }
action follow(n: Node) when n.primary and not holds(Leader, n) do
  n.primary := false
invariant served: at most one n: Node where n.primary and holds(Leader, n)
check default expect all hold
"""

SKEWED = LEASE.replace("up to 3", "up to 3 skew 1").replace("symmetric", "ranked")

MIXED = """
system Mixed "A bit of everything that a fact may be about."
type Mode = { idle, a, b }
record Stamp { by: Server?  n: 0..2 }
identity Group
node Host { beat: bool = false }
node Server[2] symmetric {
  mode: Mode = idle
  synced disk: 0..1 = 0
  peer: Server? = none
  seen: set of Server = {}
  stamp: Stamp? = none
  list: sequence of Mode up to 2 = []
  group: Group? = none
  marks: map bool to 0..1 = 0
  view known of Host.beat
}
shared total: 0..2 = 0
shared flags: map Server to bool = false
lock Door on Host held by Server freed late
message ping(n: 0..1) from Server to Server unordered up to 2
message beat() from Host to Server latest
operation ask(n: 0..1) from Server to Host returns bool
action note(s: Server) when s.mode == idle do
  s.mode := a
  s.disk := 1
  s.peer := other(s)
  s.seen := s.seen with other(s)
  s.stamp := Stamp(s, 1)
  step later:
  sync s.disk
  s.list := s.list with b
  s.marks[true] := 1
  flags[s] := true
  send ping(1) to other(s)
action close(s: Server) when s.mode == a do
  acquire Door then { s.mode := b }
action name(s: Server) when s.mode == b and s.group == none do
  s.group := fresh(Group)
  call ask(1) at Host as heard
action ring(h: Host) when not h.beat do
  h.beat := true
  send beat() to each all(Server)
on ping(n) at s from t do s.seen := s.seen with t
on beat() at s from h do total := total + (if total < 2 then 1 else 0)
serve ask(n) at h from s do answer true
faults { crash Server up to 1, pause Server up to 1, cut Server - Server up to 1 }
invariant fine: total <= 2
check default expect all hold
"""


def specification_of(text: str, path: str = "spec.ha") -> Specification:
    """What a text says."""
    loaded = load(text, path, lambda name: Path(name).read_text(encoding="utf-8"))
    assert loaded.specification is not None, loaded.diagnostics
    return loaded.specification


def system_of(text: str, path: str = "spec.ha", check: str | None = None) -> ir.System:
    """The system of a text."""
    made = specification_of(text, path).instantiate({}, check)
    assert made.system is not None, made.diagnostics
    return made.system


def said(system: ir.System, most: int | None = None) -> Iterator[tuple[ir.Expression, str | None]]:
    """Facts and their opposites, about all members, and each as text of a spec. `most`: so many facts, by chance."""
    known = facts(system)
    printer = ClaimPrinter(system, known)
    every = range(len(known))
    chosen = every if most is None else random.Random(1).sample(every, min(most, len(known)))
    for number in chosen:
        for holds in (True, False):
            claim = printer.claim(((number, holds),))
            if claim is not None:
                yield printer.condition(claim)


def states_of(system: ir.System, walks: int | None) -> list[State]:
    """States of a system: all, or those along so many random walks of 40 steps."""
    interpreter = Interpreter(system)
    first = list(interpreter.initial_states())
    chance = random.Random(1)
    seen = dict.fromkeys(first)
    if walks is None:
        queue = list(first)
        for state in queue:
            for after in _next(interpreter, state):
                if after not in seen and len(seen) < 3_000:
                    seen[after] = None
                    queue.append(after)
        return list(seen)
    for _ in range(walks):
        state = chance.choice(first)
        for _ in range(40):
            ways = _next(interpreter, state)
            if not ways:
                break
            state = chance.choice(ways)
            seen[state] = None
    return list(seen)


def _next(interpreter: Interpreter, state: State) -> list[State]:
    return [one.step.state for one in interpreter.outcomes(state) if isinstance(one, Taken)]


def assert_texts_mean_the_same(text: str, path: str, most: int | None, walks: int | None) -> tuple[int, int]:
    """Returns how many conditions have a text, and how many have none."""
    system = system_of(text, path)
    conditions = list(said(system, most))
    sayable = [(goal, words) for goal, words in conditions if words is not None]
    lines = [f"lemma pasted_{number}: {words}" for number, (_, words) in enumerate(sayable)]
    pasted = system_of("\n".join((text, *lines, "")), path)
    assert [one.name for one in pasted.variables] == [one.name for one in system.variables]
    goals = {one.name: one.goal for one in pasted.properties}
    states = states_of(system, walks)
    interpreter = Interpreter(pasted)
    for number, (goal, words) in enumerate(sayable):
        both = ir.Binary("==", goal, goals[f"pasted_{number}"])
        wrong = next((state for state in states if not interpreter.value(both, state)), None)
        assert wrong is None, f"{words} is not the same as {goal} in {wrong}"
    return len(sayable), len(conditions) - len(sayable)


SMALL = {"lease": (LEASE, None, 14), "skew": (SKEWED, None, 14), "mixed": (MIXED, 6, 278)}


@pytest.mark.parametrize(("text", "walks", "sayable"), SMALL.values(), ids=SMALL)
def test_every_fact_that_has_a_text_is_what_the_text_says(text: str, walks: int | None, sayable: int) -> None:
    assert assert_texts_mean_the_same(text, "spec.ha", None, walks)[0] == sayable


@pytest.mark.parametrize("path", first_of(shipped.specs(), 2), ids=lambda path: path.stem)
def test_facts_of_shipped_specs_are_what_their_texts_say(path: Path) -> None:
    sayable, _ = assert_texts_mean_the_same(path.read_text(encoding="utf-8"), str(path), 60, 3)
    assert sayable > 20


def test_belief_in_a_lease_has_no_text_but_holding_it_has() -> None:
    system = system_of(LEASE)
    (believed,) = [one for one in system.variables if one.name == "lock.Leader.believed"]
    (kind,) = [one for one in system.nodes if one.name == "Node"]
    belief = ir.Index(ir.Variable(believed.name, believed.type), ir.Local("n", kind))
    assert spec_text(system, ir.Quantified("some", "n", ir.Domain(kind, None, None), belief)) is None
    texts = [text for _, text in said(system) if text is not None]
    assert "no a: Node where holds(Leader, a)" in texts
    assert "no a: Node where not holds(Leader, a)" in texts


def test_a_name_that_the_spec_uses_is_not_used_again() -> None:
    system = system_of(MIXED)
    (kind,) = [one for one in system.nodes if one.name == "Server"]
    (mode,) = [one for one in system.variables if one.name == "Server.mode"]
    assert isinstance(mode.type, Map)
    of_a = ir.Index(ir.Variable(mode.name, mode.type), ir.Local("a", kind))
    is_a = ir.Binary("==", of_a, ir.Constant("a", mode.type.value))
    text = spec_text(system, ir.Quantified("every", "a", ir.Domain(kind, None, None), is_a))
    assert text == "every c: Server satisfies c.mode == a"
