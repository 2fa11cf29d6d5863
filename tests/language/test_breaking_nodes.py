"""Which nodes a broken invariant is about."""

from __future__ import annotations

import pytest

from hacheck.model.breaking_nodes import breaking_nodes
from hacheck.model.interpreter import Interpreter
from hacheck.model.language import load

SERVERS = """system Servers "Servers 2 and 3 lead; server 1 is old."
node S[3] ranked { leads: bool = true  stale: bool = false }
initially do
  for s in all(S) where s == S(1) do {
    s.leads := false
    s.stale := true
  }
action rest(s: S) when not s.stale do s.stale := true
invariant asked: CONDITION
"""


@pytest.mark.parametrize(
    ("condition", "nodes"),
    [
        ("at most one s: S where s.leads", (2, 3)),
        ("exactly one s: S where s.leads", (2, 3)),
        ("every s: S satisfies s.leads", (1,)),
        ("no s: S where s.stale", (1,)),
        ("most s: S where s.stale", (2, 3)),
        ("not (most s: S where s.leads)", (2, 3)),
        ("not (every s: S satisfies s.leads or s.stale) or (no s: S where s.stale)", (1,)),
        ("(every s: S satisfies s.leads) and (no s: S where s.leads)", (1, 2, 3)),
        ("at most one s: S where s.stale", ()),
        ("every s: S satisfies s.leads or s.stale", ()),
        ("(every s: S satisfies s.stale) implies (every s: S satisfies s.leads)", ()),
        ("(some s: S where s.stale) implies (every s: S satisfies s.leads)", (1,)),
    ],
)
def test_nodes_that_break_an_invariant(condition: str, nodes: tuple[int, ...]) -> None:
    specification = load(SERVERS.replace("CONDITION", condition), "servers.ha").specification
    assert specification is not None
    system = specification.instantiate().system
    assert system is not None
    (state,) = Interpreter(system).initial_states()
    (asked,) = system.properties
    found = breaking_nodes(system, asked, state)
    assert set(found) == {("S", number) for number in nodes}
