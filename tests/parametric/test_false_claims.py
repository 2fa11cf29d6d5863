"""What is wrong at some size is not proved of every size, and what is wrong at hand is not proved at all: exploring
refutes each claim here, at the size that is said."""

from __future__ import annotations

import pytest

from hacheck.checker.engine import Limits
from hacheck.checker.explicit.native_engine import NativeEngine
from hacheck.checker.parametric.encoding_context import Unsupported
from hacheck.model.language import load
from tests.parametric.proofs import proof_of, wanted

SIZED = """system Sized "What a server may do depends on how many there are."
param n = 3 in 1..9
param k = 2 in 1..9
define six = 6
define over(x: 0..9): bool = n > x
type Upto = 0..n
node Other[2] symmetric { x: bool = false }
node Server[n] symmetric { bad: bool = FIRST }
action go(s: Server) when GUARD do s.bad := true
action mend(s: Server) when s.bad do s.bad := false
FAULTS
invariant ok: CLAIM
"""
USUAL = {"FIRST": "false", "GUARD": "s.bad", "FAULTS": "", "CLAIM": "no s: Server where s.bad"}

DECIDED_BY_SIZE = {
    "the size of a set of all": {"GUARD": "size(all(Server)) > 7"},
    "how many there are": {"GUARD": "(count t: Server where true) > 7"},
    "a setting beside a definition": {"GUARD": "k > six"},
    "the number of nodes beside a definition": {"GUARD": "n > six"},
    "a definition with a parameter": {"GUARD": "over(6)"},
    "a function": {"GUARD": "n > larger(6, 1)"},
    "a choice of numbers up to a setting": {"GUARD": "some x: 0..k where x > 6"},
    "how many numbers there are in a type": {"GUARD": "(count x: Upto where true) > 8"},
    "what is claimed": {"CLAIM": "size(all(Server)) < 7"},
    "what is claimed, counted": {"CLAIM": "(count s: Server where true) < 7"},
    "what is so at first": {"FIRST": "size(all(Server)) > 6"},
    "whether there is a fault": {
        "FAULTS": "faults { crash Server up to 1 when size(all(Server)) > 6 }",
        "CLAIM": "every s: Server satisfies up(s)",
    },
}
"""What stands in `SIZED` for each of its words. All claims hold of three servers, and not of eight."""

AT_HAND = {
    "a turn writes at another key than its own": """
node Server[3] symmetric { peer: Server? = none }
shared told: map Server to bool = false
action set(s: Server, t: Server) when s != t do s.peer := t
environment action go() do
  for x: Server where x.peer != none do {
    var y: Server = x
    if x.peer != none then y := value(x.peer)
    told[y] := true
  }
lemma not_oneself: no s: Server where s.peer == s
invariant ok: no s: Server where told[s]
""",
    "a turn adds at another key than its own": """
node Server[3] symmetric { peer: Server? = none }
shared told: map Server to set of Server = {}
environment action set(s: Server, t: Server) when s != t do s.peer := t
environment action go() do
  for x: Server where x.peer != none do {
    var y = x
    y := value(x.peer)
    told[y] := told[y] with x
  }
lemma not_oneself: no s: Server where s.peer == s
invariant ok: every s: Server satisfies told[s] == {}
""",
    "a turn needs what another has made true": """
node Server[3] symmetric { }
shared last: Server? = none
shared done: bool = false
shared bad: bool = false
environment action set(x: Server) do last := x
environment action go() when last != none and not done do
  for x: Server do {
    require last != x or done
    done := true
  }
  bad := true
invariant ok: not bad
""",
    "two of a kind in a bag": """
node Server[3] symmetric { bad: bool = false  got: bag of 0..1 up to 2 = {} }
action one(s: Server) do s.got := s.got with 1
action go(s: Server) when not (at most one x in s.got where x == 1) do s.bad := true
invariant ok: no s: Server where s.bad
""",
    "one of a kind in a bag": """
node Server[3] symmetric { bad: bool = false  got: bag of 0..1 up to 2 = {} }
action one(s: Server) do s.got := s.got with 1
action go(s: Server) when s.got != {} and not (exactly one x in s.got where x == 1) do s.bad := true
invariant ok: no s: Server where s.bad
""",
    "a map over numbers beside one that is named": """
node Server[3] symmetric { on: bool = false }
shared last: 0..5 = 2
shared seen: map 0..2 to bool = false
environment action go() do
  seen := (each k: 0..2 -> false)
  seen[last] := true
lemma two: last == 2
invariant ok: seen != (each k: 0..2 -> k > 1) or last == 5
""",
}
"""Claims that do not hold of what the text says, as it stands."""


def refuted(text: str, **settings: str) -> bool:
    """Whether exploring refutes the claim `ok`."""
    specification = load(text, "false.ha").specification
    assert specification is not None
    system = specification.instantiate(settings).system
    assert system is not None
    (answer,) = NativeEngine().check(system, ("ok",), Limits(), lambda _: True).properties
    return answer.verdict == "violated"


def is_proved(text: str, searched: bool) -> bool:
    try:
        return proof_of(wanted(text, None), seconds=20, searched=searched).proved
    except Unsupported:
        return False


@pytest.mark.parametrize("title", DECIDED_BY_SIZE)
def test_what_sizes_decide_is_not_proved_of_every_size(title: str) -> None:
    text = SIZED
    for word, told in {**USUAL, **DECIDED_BY_SIZE[title]}.items():
        text = text.replace(word, told)
    assert not refuted(text), "it holds at the size at hand"
    assert refuted(text, n="8", k="8")
    assert not is_proved(text, searched=False)


def test_a_literal_number_of_nodes_decides_no_less() -> None:
    text = SIZED
    for word, told in {**USUAL, **DECIDED_BY_SIZE["the size of a set of all"]}.items():
        text = text.replace(word, told)
    three, eight = text.replace("Server[n]", "Server[3]"), text.replace("Server[n]", "Server[8]")
    assert (refuted(three), refuted(eight)) == (False, True)
    assert not is_proved(three, searched=False)


@pytest.mark.parametrize("title", AT_HAND)
def test_what_is_wrong_at_hand_is_not_proved(title: str) -> None:
    text = f'system Wrong "{title}"{AT_HAND[title]}'
    assert refuted(text)
    assert not is_proved(text, searched=False)
