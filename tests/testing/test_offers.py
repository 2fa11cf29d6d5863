"""What may be done is what the interpreter can do in a state that explains the lines."""

from __future__ import annotations

import random

import pytest

from hacheck.model import ir
from hacheck.model.interpreter import Interpreter, call
from hacheck.testing.driven_system import driven, methods_of
from hacheck.testing.line_encoding import Event
from hacheck.testing.offered_actions import Offers
from hacheck.testing.state_tracker import Track, Tracker
from tests.testing.specs import COUNTER, system_of

LOCKS = """
system Locks "Clients take one of two locks; who has crashed has none."
type Kind = { soft, hard }
node Client[2] { has: 0..2 = 0  kind: Kind? = none }
node Server { up_since: 0..1 = 0 }
environment action take(c: Client, which: 1..2, kind: Kind)
  when c.has == 0 and (every o: Client satisfies o.has != which)
do
  c.has := which
  c.kind := kind
  log taken(which: which) at c
environment action give(c: Client, kind: Kind?) when c.has != 0 and c.kind == kind do
  c.has := 0
  c.kind := none
environment action forget(c: Client) when c.has == 2 do
  c.has := 0
  c.kind := none
faults { crash Client up to 1 }
invariant fine: true
"""


def tracked(text: str, *names: str) -> tuple[Tracker, Offers]:
    """A system some of whose actions are driven."""
    base = system_of(text)
    chosen = methods_of(base, names)
    tracker = Tracker(driven(base, chosen))
    return tracker, Offers(tracker, chosen)


def expected(system: ir.System, states: set[tuple[object, ...]], drives: set[int]) -> set[str]:
    """The driven steps that the interpreter can take in any of the states."""
    interpreter = Interpreter(system)
    return {
        call(system, taken.action, taken.arguments)
        for state in states
        for taken, _ in interpreter.steps_with_lines(state)
        if taken.action in drives
    }


def closed(system: ir.System, states: set[tuple[object, ...]], hidden: set[str]) -> set[tuple[object, ...]]:
    """The states and those that steps without lines lead to."""
    interpreter = Interpreter(system)
    waiting = list(states)
    found = set(states)
    while waiting:
        for taken, _ in interpreter.steps_with_lines(waiting.pop()):
            if system.actions[taken.action].name in hidden and taken.state not in found:
                found.add(taken.state)
                waiting.append(taken.state)
    return found


@pytest.mark.parametrize("seed", range(4))
def test_moves_are_the_steps_of_the_interpreter(seed: int) -> None:
    tracker, offers = tracked(LOCKS, "take", "give", "crash", "restart")
    system, chance = tracker.system, random.Random(seed)
    drives = set(offers.methods)
    interpreter = Interpreter(system)
    states = set(interpreter.initial_states())
    track = tracker.start
    for _ in range(8):
        states = closed(system, states, {"forget"})
        moves = offers.at(track)
        assert {call(system, move.index, move.values) for move in moves} == expected(system, states, drives)
        assert [move.index for move in moves] == sorted(move.index for move in moves)
        move = chance.choice(moves)
        lines = [Event("-", move.event, move.arguments)]
        if move.method == "take":
            lines.append(Event(move.arguments["c"], "taken", {"which": move.arguments["which"]}))
        for line in lines:
            after = tracker.after(track, line)
            assert isinstance(after, Track)
            track = after
        states = {
            taken.state
            for state in states
            for taken, _ in interpreter.steps_with_lines(state)
            if (taken.action, taken.arguments) == (move.index, move.values)
        }


def test_moves_have_arguments_as_adapters_get_them() -> None:
    tracker, offers = tracked(LOCKS, "take", "give", "crash")
    moves = offers.at(tracker.start)
    texts = {move.step.text for move in moves}
    assert "take(c='Client-1', which=2, kind='hard')" in texts
    assert "crash(n='Client-2')" in texts
    assert not any(text.startswith("give") for text in texts)
    assert offers.at(tracker.start) is moves, "it is remembered"


def test_nothing_is_offered_while_lines_are_owed() -> None:
    tracker, offers = tracked(COUNTER, "count")
    (move,) = offers.at(tracker.start)
    track = tracker.after(tracker.start, Event("-", move.event, move.arguments))
    assert isinstance(track, Track)
    assert track.owing
    assert offers.at(track) == ()
