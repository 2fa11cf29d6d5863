"""A local is kept for the later step that reads it, whatever the statement and the place of its only use."""

from __future__ import annotations

import pytest

from hacheck.model.language import load
from tests.models.exploration import explore

# Each handler has a local `q` that is either of two servers, and a later step uses it once. What that use leaves in the
# state is `left(t)`: it must be possible for both servers, and for no other reason than that `q` was this server.
SPEC = """system Kept "A local that one later step reads."
type Slot = {{ first, second }}
type Heard = map Server to bool
define nobody: Heard = each s: Server -> false
record Pair {{ server: Server, done: bool }}
node Server[2] ranked {{ }}
node A {{
  done: bool = false
  own: map Server to bool = false
  nested: map Slot to bool = false
  best: Server? = none
  chosen: set of Server = {{}}
  pair: Pair = Pair(Server(1), false)
  taken: bool = false
}}
node B {{ heard: Server? = none }}
shared outside: map Server to bool = false
ghost history: map Server to bool = false
shared deep: map Slot to Pair = Pair(Server(1), false)
message hello(of: Server) from A to B
message to_server() from A to Server
operation ask(of: Server) from A to B returns bool atomic when true
operation wait_for(of: Server) from A to B returns bool
operation ask_server() from A to Server returns bool atomic when true
operation wait_for_server() from A to Server returns bool
shared greeted: map Server to bool = false
on hello(of) at b from a do b.heard := of
on to_server() at s from a do greeted[s] := true
serve ask(of) at b from a do
  b.heard := of
  answer true
serve wait_for(of) at b from a do
  b.heard := of
  answer true
serve ask_server() at s from a do
  greeted[s] := true
  answer true
serve wait_for_server() at s from a do
  greeted[s] := true
  answer true
procedure mark(s: Server) do greeted[s] := true
define is_first(s: Server): bool = s == Server(1)
{handler}
reachable left_first: {left_first}
reachable left_second: {left_second}
invariant not_both: not (({left_first}) and ({left_second}))
"""

BINDERS = {
    "choose": "action go(a: A) when not a.done do a.done := true choose q: Server step one: {use}",
    "parameter": "action go(a: A, q: Server) when not a.done do a.done := true step one: {use}",
    "let": "action go(a: A, p: Server) when not a.done do a.done := true let q = p step one: {use}",
    "var": "action go(a: A, p: Server) when not a.done do a.done := true var q: Server = p step one: {use}",
    "assigned": "action go(a: A, p: Server) when not a.done do a.done := true var q: Server = Server(1) "
    "if p == Server(2) then q := Server(2) step one: {use}",
    "two steps later": "action go(a: A, q: Server) when not a.done do a.done := true step one: step two: {use}",
    "one of two ways": "action go(a: A, q: Server) when not a.done do a.done := true choose way: bool step one: "
    "if way then {{ step two: {use} }} else {{ step three: }}",
    "loop": "action go(a: A, p: Server) when not a.done do a.done := true "
    "for q in {{ s: Server where s == p }} do {{ step one: {use} }}",
    "loop before the end": "action go(a: A, q: Server) when not a.done do a.done := true "
    "for other in {{ s: Server where s != q }} do {{ step one: }} {use}",
    "while": "action go(a: A, q: Server) when not a.done do a.done := true var more = true "
    "while more do {{ more := false step one: }} {use}",
    "answer": "action go(a: A) when not a.done do a.done := true call which() at C as r step one: "
    "if r != none then {{ let q = value(r) step two: {use} }}\n"
    "node C {{ }} operation which() from A to C returns Server\n"
    "serve which() at c from a do choose s: Server answer s",
    "received": "node C {{ sent: bool = false }} message begin(q: Server) from C to A\n"
    "action begin_it(c: C) when not c.sent do c.sent := true choose s: Server send begin(s) to A\n"
    "on begin(q) at a from c do a.done := true step one: {use}",
    "sender": "node Client {{ }} message begin() from Server to A\n"
    "shared sent: bool = false\n"
    "environment action never() when false do sent := true\n"
    "action begin_it(s: Server) when not A_done do A_done := true send begin() to A\n"
    "shared A_done: bool = false\n"
    "on begin() at a from q do a.done := true step one: {use}",
}

USES = {
    "value": ("a.best := q", "A.best == {t}"),
    "key of a shared map": ("outside[q] := true", "outside[{t}]"),
    "key of a ghost": ("history[q] := true", "history[{t}]"),
    "key of an own map": ("a.own[q] := true", "A.own[{t}]"),
    "part of a key": ("a.nested[if q == Server(1) then first else second] := true", "A.nested[{slot}]"),
    "path after a key": (
        "deep[if q == Server(1) then first else second].done := true",
        "deep[{slot}].done",
    ),
    "part of a record": ("a.pair.server := q a.pair.done := true", "A.pair == Pair({t}, true)"),
    "condition": ("if q == Server(1) then a.best := Server(1) else a.best := Server(2)", "A.best == {t}"),
    "defined": ("if is_first(q) then a.best := Server(1) else a.best := Server(2)", "A.best == {t}"),
    "conditional value": ("a.best := if q == Server(1) then Server(1) else Server(2)", "A.best == {t}"),
    "domain of a loop": ("for s in {{q}} do outside[s] := true", "outside[{t}]"),
    "condition of a loop": ("for s: Server where s == q do outside[s] := true", "outside[{t}]"),
    "body of a loop": ("for s: Server do if s == q then outside[s] := true", "outside[{t}]"),
    "key in a loop": ("for s: Server do outside[q] := true", "outside[{t}]"),
    "domain of a choice": ("choose s in {{q}} a.best := s", "A.best == {t}"),
    "condition of a choice": ("choose s: Server where s == q a.best := s", "A.best == {t}"),
    "requirement": ("choose s: Server require s == q a.best := s", "A.best == {t}"),
    "argument of a message": ("send hello(q) to B", "B.heard == {t}"),
    "receiver": ("send to_server() to q", "greeted[{t}]"),
    "receivers": ("send to_server() to each {{q}}", "greeted[{t}]"),
    "argument of an atomic call": ("call ask(q) at B", "B.heard == {t}"),
    "argument of a call": ("call wait_for(q) at B", "B.heard == {t}"),
    "callee at once": ("call ask_server() at q", "greeted[{t}]"),
    "callees at once": ("call ask_server() at each {{q}}", "greeted[{t}]"),
    "callee": ("call wait_for_server() at q", "greeted[{t}]"),
    "callees": ("call wait_for_server() at each {{q}}", "greeted[{t}]"),
    "argument of a procedure": ("mark(q)", "greeted[{t}]"),
    "condition of a step": ("choose s: Server step late when s == q: a.best := s", "A.best == {t}"),
    "another local": ("let r = q a.best := r", "A.best == {t}"),
    "another local's key": ("var m: Heard = nobody m[q] := true a.own := m", "A.own[{t}]"),
    "a kept local's key": ("var m: Heard = nobody m[q] := true step late: a.own := m", "A.own[{t}]"),
    "an element": ("a.chosen := a.chosen with q", "{t} in A.chosen"),
}


def spec(binder: str, use: str) -> str:
    """The spec in which a local bound in this way has this as its only use."""
    statement, left = USES[use]
    handler = BINDERS[binder].format(use=statement.format())
    first = left.format(t="Server(1)", slot="first")
    second = left.format(t="Server(2)", slot="second")
    return SPEC.format(handler=handler, left_first=first, left_second=second)


@pytest.mark.parametrize("binder", BINDERS)
def test_local_is_kept_for_its_only_use(binder: str) -> None:
    forgotten = []
    for use in USES:
        loaded = load(spec(binder, use), "kept.ha")
        assert loaded.specification is not None, (use, [one.message for one in loaded.diagnostics])
        system = loaded.specification.instantiate().system
        assert system is not None
        explored = explore(system)
        assert explored.complete
        assert explored.fault_depth is None
        if set(explored.decided) != {"left_first", "left_second"}:
            forgotten.append(use)
    assert forgotten == []
