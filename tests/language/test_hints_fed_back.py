"""What a hint says to write is accepted where it is written; and what follows from an error only is not said."""

from __future__ import annotations

import pytest

from hacheck.model.language import load

HEAD = """system A "x"
node Server[2] symmetric {
  state mode: { idle, active } = idle
  n: 0..3 = 0
  seen: map Server to 0..2 = 0
  votes: set of Server = {}
  acks: set of 1..2 = {}
  queue: sequence of 0..2 up to 3 = []
  last: 0..3? = none
}
message hi() from Server to Server
on hi() at s from t do s.n := 1
operation get() from Server to Server returns bool
serve get() at s from c do answer true
"""

CASES = [
    # what was written, what the hint says, what is then written
    (
        "action c(s: Server) do\n  call get() at each all(Server) without s as r\n  s.n := 1\n",
        "brackets stand around the set: `at each (all(Server) without …)`",
        "action c(s: Server) do\n  call get() at each (all(Server) without s) as r\n  s.n := 1\n",
    ),
    (
        "action c(s: Server) do send hi() to each all(Server) without s\n",
        "brackets stand around the set: `to each (all(Server) without …)`",
        "action c(s: Server) do send hi() to each (all(Server) without s)\n",
    ),
    (
        "invariant i: every s: Server satisfies size({ v in s.votes where v.n > 1 }) < 3\n",
        "write `{ v for v in s.votes where … }`",
        "invariant i: every s: Server satisfies size({ v for v in s.votes where v.n > 1 }) < 3\n",
    ),
    (
        "action c(s: Server, t: Server) when s != t do\n  let x = call get() at t\n  s.n := 1\n",
        "a call names its answer at its end: `call get() at t as x`",
        "action c(s: Server, t: Server) when s != t do\n  call get() at t as x\n  s.n := 1\n",
    ),
    (
        "action c(s: Server) do s.queue := s.queue[1..2]\n",
        "write `take(s.queue, 2)`: its first elements",
        "action c(s: Server) do s.queue := take(s.queue, 2)\n",
    ),
    (
        "action c(s: Server) do s.queue := s.queue[2..3]\n",
        "write `drop(take(s.queue, 3), 2 - 1)`",
        "action c(s: Server) do s.queue := drop(take(s.queue, 3), 2 - 1)\n",
    ),
    (
        "action c(s: Server) do s.queue := prefix(s.queue, 2)\n",
        "`take(x, n)`, `drop(x, n)`, `join(x, y)`",
        "action c(s: Server) do s.queue := join(take(s.queue, 2), [])\n",
    ),
    (
        "invariant i: { k for k in 0..2 where k > 0 } == {1, 2}\n",
        "a range is a type: `k: 0..…`",
        "invariant i: { k: 0..2 where k > 0 } == {1, 2}\n",
    ),
    (
        "action c(s: Server) do s.acks := s.acks with s.n\n",
        "of its elements, those that fit: `{ e for e: 1..2 where e in (…) }`",
        "action c(s: Server) do s.acks := { e for e: 1..2 where e in (s.acks with s.n) }\n",
    ),
    (
        "leads_to l: every s: Server satisfies (s.n == 1 ~> s.n == 2)\n",
        "`~>` stands once, in no brackets and under no `every`: `leads_to NAME: … ~> …`",
        "leads_to l: (some s: Server where s.n == 1) ~> (some s: Server where s.n == 2)\n",
    ),
    (
        "action c(s: Server) do s.seen := 0\n",
        "one value for every key: `each k: Server -> …`",
        "action c(s: Server) do s.seen := each k: Server -> 0\n",
    ),
    (
        "invariant i: every s: Server, v in s.votes union s.votes satisfies v.n >= 0\n",
        "brackets stand around the set: `in (s.votes union …)`",
        "invariant i: every s: Server, v in (s.votes union s.votes) satisfies v.n >= 0\n",
    ),
    (
        "action c(s: Server) do s.queue := s.queue + [1]\n",
        "`x with e`",
        "action c(s: Server) do s.queue := s.queue with 1\n",
    ),
    (
        "action c(s: Server) do append(s.queue, 1)\n",
        "write `x := x with e`",
        "action c(s: Server) do s.queue := s.queue with 1\n",
    ),
    (
        "action c(s: Server) do s.queue.append(1)\n",
        "write `s.queue := s.queue with …`",
        "action c(s: Server) do s.queue := s.queue with 1\n",
    ),
    (
        "action c(s: Server) do s.votes := s.votes.remove(s)\n",
        "write `s.votes := s.votes without …`",
        "action c(s: Server) do s.votes := s.votes without s\n",
    ),
    (
        "invariant i: every s: Server satisfies s.queue.length <= 3\n",
        "`size(x)`",
        "invariant i: every s: Server satisfies size(s.queue) <= 3\n",
    ),
    (
        "invariant i: every s: Server satisfies s.last < 3\n",
        "test it for `none`, and compare `value(…)`",
        "invariant i: every s: Server where s.last != none satisfies value(s.last) < 4\n",
    ),
    (
        "message to(active: 0..2) from Server to Server\n"
        "on to(active) at s from t when s.mode == active do s.n := 1\n"
        "action snd(s: Server, t: Server) when s != t do send to(1) to t\n",
        "`active` is a name of its own here and hides the word of Server.mode: give it another name",
        "message to(place: 0..2) from Server to Server\n"
        "on to(place) at s from t when s.mode == active do s.n := 1\n"
        "action snd(s: Server, t: Server) when s != t do send to(1) to t\n",
    ),
    (
        "action c(s: Server) do others(s).n := 1\n",
        "in an `environment action` write `for n in others(s) do n.FIELD := …`",
        "environment action c(s: Server) do\n  for n in others(s) do n.n := 1\n",
    ),
    ("action c(s: Server):\n  s.n := 1\n", "no colon", "action c(s: Server) do\n  s.n := 1\n"),
    (
        "param terms: 1..9 = 5\ninvariant i: terms > 0\n",
        "write `param NAME = 2 in 1..3`",
        "param terms = 5 in 1..9\ninvariant i: terms > 0\n",
    ),
    (
        "invariant i: false\ninvariant j: false\ncheck c expect i violated, j violated\n",
        "names stand together: `expect ONE, OTHER violated`",
        "invariant i: false\ninvariant j: false\ncheck c expect i, j violated\n",
    ),
    (
        "invariant i: false\ninvariant j: false\ncheck c expect i violated j violated\n",
        "names stand together: `expect ONE, OTHER violated`",
        "invariant i: false\ninvariant j: false\ncheck c expect i, j violated\n",
    ),
    (
        "procedure greet(s: Server) do send hi() to s\nenvironment action poke(s: Server) do greet(s)\n",
        "who sends is `action NAME(s: Server)`, which no `environment action` is",
        "procedure greet(s: Server) do send hi() to s\naction poke(s: Server) do greet(s)\n",
    ),
]


def errors(body: str) -> list[tuple[str, str, str]]:
    """Code, the text it is about, and the hint of each error."""
    text = HEAD + body
    return [
        (one.code, text[one.span.start : one.span.end], one.hint or "")
        for one in load(text, "a.ha").diagnostics
        if one.severity == "error"
    ]


@pytest.mark.parametrize(("wrong", "hint", "right"), CASES, ids=[str(number) for number in range(len(CASES))])
def test_hint_says_what_is_accepted(wrong: str, hint: str, right: str) -> None:
    found = errors(wrong)
    assert len(found) == 1, found
    assert hint in found[0][2]
    assert errors(right) == []


def test_a_send_in_a_procedure_is_refused_where_it_is_performed() -> None:
    ((code, about, _),) = errors(
        "procedure greet(s: Server) do send hi() to s\nenvironment action poke(s: Server) do greet(s)\n"
    )
    assert (code, about) == ("HA122", "greet(s)")


@pytest.mark.parametrize(
    "body",
    [
        "invariant one: every s: Server satisfie s.n == 1\ncheck default expect one violated\n",
        'invariant invariant one "never two": 1 == 2\ncheck default expect one violated\n',
        "operation put(n: 0..2) from Server to Server returns bool\n"
        "action c(s: Server, t: Server) when s != t do\n  call put(1) at t as r\n  s.n := 1\n"
        "serve put(n) at s from c do\n  s.n = n\n  answer true\n",
        "node Other[2 { x: 0..2 = 0 }\naction a(o: Other) do o.x := 1\n",
        "record Entry { term 0..2 }\ntype Log = sequence of Entry up to 2\n",
        "define high(n: 0..3 = n > 2\ninvariant i: every s: Server satisfies not high(s.n)\n",
    ],
)
def test_a_declaration_that_cannot_be_read_brings_no_other_error(body: str) -> None:
    assert [code for code, _, _ in errors(body)] in (["HA005"], ["HA004"])


def test_what_is_missing_for_another_reason_is_still_said() -> None:
    found = errors("invariant one: every s: Server satisfie s.n == 1\ncheck default expect two violated\n")
    assert [code for code, _, _ in found] == ["HA005", "HA142"]


def test_types_stand_in_any_order() -> None:
    body = """type Log = sequence of Entry up to 2
record Entry { mark: Mark, at: Place }
record Place { number: 0..2 }
type Mark = { old, new }
node Holder[1] { log_: Log = [] }
action add(h: Holder) when size(h.log_) < 2 do h.log_ := h.log_ with Entry(new, Place(1))
"""
    assert errors(body.replace(", at", "  at")) == []


def test_a_type_that_is_made_of_itself_is_refused() -> None:
    found = errors("record A { b: B }\nrecord B { a: A }\nnode H[1] { n: 0..1 = 0 }\n")
    assert [code for code, _, _ in found] == ["HA109"]


@pytest.mark.parametrize(
    "call",
    ["take(s.votes, 1)", "take(s.queue)", "drop(s.queue, s.votes)", "join(s.queue, s.votes)", "join(s.queue, [s])"],
)
def test_wrong_arguments_of_functions_of_sequences_are_refused(call: str) -> None:
    assert [code for code, _, _ in errors(f"action c(s: Server) do s.queue := {call}\n")] in (["HA104"], ["HA108"])
