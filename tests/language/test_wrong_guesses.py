"""What a new user writes at first: each guess is one error, whose hint leads to what is then read."""

from __future__ import annotations

import re

import pytest

from hacheck.model.language import load

HEAD = """system Pair "two servers, one address"
node Server[2] symmetric {
  state mode: { standby, active } = standby
  term: 0..3 = 0
  seen: map Server to 0..2 = 0
  votes: set of Server = {}
  queue: sequence of 0..2 up to 3 = []
  last: 0..3? = none
}
lock Disk held by Server
message advert(t: 0..3) from Server to Server
operation ask(n: 0..2) from Server to Server returns bool
on advert(t) at s from m do s.term := t
serve ask(n) at s from m do answer n > 0
action take_over(s: Server) "no advert" when s.mode == standby do s.mode := active
invariant one: at most one s: Server where s.mode == active
"""
DO = "action b(s: Server) do "
EVERY = "invariant two: every s: Server satisfies "
SOMEBODY = "(some s: Server where s.mode == active)"
PUT = (
    "operation put(n: 0..2) from Server to Server returns bool\nserve put(n) at s from m do answer true\n"
    "action b(s: Server) do call put(1) at other(s) as x"
)
RECEIVED = (
    "message b() from Server to Server\non b() at s from m do s.term := 1\n"
    + DO.replace("b(", "c(")
    + "send b() to other(s)"
)
RESTARTED = "on restart of s: Server do s.term := 1\nfaults { crash Server up to 1 }"
WHEN = "action b(s: Server) when s.term == 1 and s.mode == active do s.term := 2"
TWO = "invariant two: every s: Server, t: Server satisfies s == t"
COUNTED = "invariant two: (count s: Server where s.term == 1) <= 1"
ONE = "invariant two: at most one s: Server where s.term == 1"

DECLARED = [
    ("type Mode = a | b", "`{ a, b }`", "type Mode = { a, b }"),
    ("type Mode = enum a, b", "`{ a, b }`", "type Mode = { a, b }"),
    ("type Mode = enum(a, b)", "`{ a, b }`", "type Mode = { a, b }"),
    ("type Mode = (a, b)", "`{ a, b }`", "type Mode = { a, b }"),
    ("type Mode { a, b }", "`type NAME = { a, b }`", "type Mode = { a, b }"),
    ("type Term: 0..3", "`type NAME = { a, b }`", "type Term = 0..3"),
    ("node Box { m: a | b = a }", "`{ a, b }`", "node Box { m: { a, b } = a }"),
    ("node Box { m: enum a, b = a }", "`{ a, b }`", "node Box { m: { a, b } = a }"),
    ("shared m: a | b = a", "`{ a, b }`", "shared m: { a, b } = a"),
    ("node Box", "`node NAME[2] {", "node Box[2] { n: 0..3 = 0 }"),
    ("node Box(2) { n: 0..3 = 0 }", "`node NAME[2] {", "node Box[2] { n: 0..3 = 0 }"),
    ("node Box[1..2] { n: 0..3 = 0 }", "how many there are is one number", "node Box[2] { n: 0..3 = 0 }"),
    ("node Box[many] { n: 0..3 = 0 }", "`param NAME = 2 in", "param k = 2 in 1..3\nnode Box[k] { n: 0..3 = 0 }"),
    ("node Box { n = 0 }", "{ n: 0..3 = 0  m", "node Box { n: 0..3 = 0 }"),
    ("node Box { int n = 0 }", "{ n: 0..3 = 0  m", "node Box { n: 0..3 = 0 }"),
    ("node Box { var n: 0..3 = 0 }", "{ n: 0..3 = 0  m", "node Box { n: 0..3 = 0 }"),
    ("node Box { n: int = 0 }", "`0..3`", "node Box { n: 0..3 = 0 }"),
    ("node Box { n: 0 to 3 = 0 }", "`0..3`", "node Box { n: 0..3 = 0 }"),
    ("node Box { n: [0..3] = 0 }", "without brackets", "node Box { n: 0..3 = 0 }"),
    ("node Box { n: 0..3, m: 0..3 }", "one after the other", "node Box { n: 0..3  m: 0..3 }"),
    ("node Box { n: 0..3; m: 0..3; }", "one after the other", "node Box { n: 0..3  m: 0..3 }"),
    ("node Box { l: list of 0..3 = [] }", "`sequence of T up to 3`", "node Box { l: sequence of 0..3 up to 3 = [] }"),
    ("node Box { l: Server[] = [] }", "`sequence of T up to 3`", "node Box { l: sequence of Server up to 3 = [] }"),
    ("node Box { l: set<Server> = {} }", "`set of T`", "node Box { l: set of Server = {} }"),
    ("record Entry { n: 0..3; m: 0..3 }", "`,` between", "record Entry { n: 0..3, m: 0..3 }"),
    ("record Entry(n: 0..3)", "`record NAME {", "record Entry { n: 0..3 }"),
    ("shared x = 0", "`shared NAME: 0..3 = 0`", "shared x: 0..3 = 0"),
    ("global x: 0..3 = 0", "`shared n: 0..3 = 0`", "shared x: 0..3 = 0"),
    ("param n in 1..3", "`param NAME = 2 in 1..3`", "param n = 2 in 1..3"),
    ("param n = 1..3", "`param NAME = 2 in 1..3`", "param n = 2 in 1..3"),
    ("switch x", "`switch NAME = on`", "switch x = on"),
    ("assumption fast: true", "`assumption NAME = on`", "assumption fast = on"),
    ('assumption "the lease is shorter" = on', "`assumption NAME = on`", 'assumption fast = on "the lease is shorter"'),
    ("lock L", "`lock NAME held by T`", "lock L held by Server"),
    ("clock c", "`clock NAME up to 10`", "clock Server up to 10"),
    ("message hi from Server to Server", "`message NAME(n", "message hi() from Server to Server"),
    ("message hi(): Server -> Server", "`message NAME(n", "message hi() from Server to Server"),
    ("message hi() Server to Server", "from A to B", "message hi() from Server to Server"),
    ("operation put(n: 0..2): bool", "returns bool`", PUT),
    (
        "operation put(n: 0..2) from Server to Server -> bool",
        "`returns bool`",
        PUT,
    ),
]
HEADS = [
    ("on advert at s do s.term := 1", "`on MESSAGE(…) at n from m do …`", RECEIVED),
    ("on advert(t) from m at s do s.term := 1", "`on MESSAGE(…) at n from m do …`", RECEIVED),
    ("on crash of s: Server do s.term := 1", "`on restart of n: T do …`", RESTARTED),
    ("on restart s: Server do s.term := 1", "`on restart of n: T do …`", "on restart of s: Server do s.term := 1"),
    ("serve ask(n) at s do answer true", "`serve OPERATION(…) at n from m do answer …`", PUT),
    ("action b(s in Server) do s.term := 2", "`action NAME(n: T)", DO + "s.term := 2"),
    ("action b(Server s) do s.term := 2", "`action NAME(n: T)", DO + "s.term := 2"),
    ("action b(s) do s.term := 2", "`action NAME(n: T)", DO + "s.term := 2"),
    ("action b do s.term := 2", "`action NAME(n: T)", DO + "s.term := 2"),
    (
        "environment b(s: Server) do s.term := 1",
        "`environment action",
        "environment action b(s: Server) do s.term := 1",
    ),
    ("action b(s: Server) if s.term == 1 do s.term := 2", "`when …`", WHEN),
    ("action b(s: Server) requires s.term == 1 do s.term := 2", "`when …`", WHEN),
    ("action b(s: Server) where s.term == 1 do s.term := 2", "`when …`", WHEN),
    ("action b(s: Server) when s.term == 1, s.mode == active do s.term := 2", "`when a and b`", WHEN),
    ("action b(s: Server) when s.term == 1 and when s.mode == active do s.term := 2", "`when a and b`", WHEN),
    ("action b(s: Server) after 3 do s.term := 2", "`only after …`", WHEN),
    (
        'action b(s: Server) do s.term := 2 "takes over"',
        "behind its name",
        'action b(s: Server) "takes over" do s.term := 2',
    ),
    (
        "procedure p(s: Server): s.term := 1",
        "`procedure NAME(n: T) do …`",
        "procedure p(s: Server) do s.term := 1\n" + DO + "p(s)",
    ),
    (
        "define f(n) = n.term",
        "`define NAME(n: T) = …`",
        "define f(n: Server) = n.term\ninvariant i: no s: Server where f(s) > 3",
    ),
    ("faults: crash Server up to 1", "`faults { crash T up to 1", "faults { crash Server up to 1 }"),
    ("faults { crash Server 1 }", "`faults { crash T up to 1", "faults { crash Server up to 1 }"),
    ("faults { crash Server, at most 1 }", "`faults { crash T up to 1", "faults { crash Server up to 1 }"),
    ("faults { kill Server up to 1 }", "`crash NODE up to 1`", "faults { crash Server up to 1 }"),
    ("faults { drop advert up to 1 }", "`lose MESSAGE up to 1`", "faults { lose advert up to 1 }"),
    ("faults { disconnect Server up to 1 }", "`cut A - B up to 1`", "faults { cut Server - Server up to 1 }"),
    ("faults { freeze Server up to 1 }", "`pause NODE up to 1`", "faults { pause Server up to 1 }"),
    ("faults { delay advert up to 1 }", "no fault is needed", "faults { }"),
]
DONE = [
    ("x := call ask(1) at other(s)", "`call OPERATION(…) at n as x`", "call ask(1) at other(s) as x"),
    ("let x = ask(1)", "`call ask(…) at n as x`", "call ask(1) at other(s) as x"),
    ("ask(1) at other(s)", "`call OPERATION(…) at n as x`", "call ask(1) at other(s) as x"),
    ("call ask(1) to other(s)", "`call OPERATION(…) at n as x`", "call ask(1) at other(s) as x"),
    ("call other(s).ask(1)", "`call OPERATION(…) at n as x`", "call ask(1) at other(s) as x"),
    ("send advert(1) at other(s)", "`send MESSAGE(…) to n`", "send advert(1) to other(s)"),
    ("send other(s) advert(1)", "`send MESSAGE(…) to n`", "send advert(1) to other(s)"),
    ("send(other(s), advert(1))", "`send MESSAGE(…) to n`", "send advert(1) to other(s)"),
    ("send advert(t = 1) to other(s)", "before a colon", "send advert(t: 1) to other(s)"),
    ("send advert(1) to all", "to each others(s)", "send advert(1) to each others(s)"),
    (
        "send advert(1) to all Server s.term := 1",
        "`send MESSAGE(…) to each all(NODE)`",
        "send advert(1) to each all(Server)",
    ),
    ("send advert(1) to others(s)", "`to each …`", "send advert(1) to each others(s)"),
    ("if s.term == 1: s.term := 2", "`if … then … else …`", "if s.term == 1 then s.term := 2"),
    ("if s.term == 1 then s.term := 2 end", "no `end`", "if s.term == 1 then s.term := 2"),
    ("for (t in others(s)) s.term := 1", "`for n in others(s) do …`", "for t in others(s) do s.term := 1"),
    ("for t in Server do s.term := 1", "`for s: Server do …`", "for t: Server do s.term := 1"),
    ("while s.term < 2 { s.term := 2 }", "`while … do { … }`", "while s.term < 2 do { s.term := 2 step more: }"),
    ("begin s.term := 1 end", "no `begin`", "s.term := 1"),
    ("try s.term := 1", "gives `none`", "s.term := 1"),
    ("match s.mode { }", "`if … then … else …`", "if s.mode == active then s.term := 1"),
    ("switch s.mode { }", "`if … then … else if …`", "if s.mode == active then s.term := 1"),
    ("goto other", "`action` with a `when`", "s.mode := active"),
    ("unchanged s.term", "leave it out", "s.mode := active"),
    ("atomic { s.term := 1 }", "a body is one step", "s.term := 1"),
    ("step: s.term := 1", "`step NAME when …:`", "s.mode := active step two when s.term == 0: s.term := 1"),
    ("lock Disk", "`acquire LOCK then …`", "acquire Disk then s.term := 1"),
    ('log "took over"', "`log EVENT(FIELD: …)`", "log took_over() at s"),
    ('print("took over")', "`log EVENT(FIELD: …)`", "log took_over() at s"),
    ("log took_over", "`log EVENT(FIELD: …)`", "log took_over() at s"),
    ("s.term := random(0, 3)", "`choose x: 0..3`", "choose x: 0..3 s.term := x"),
    ("s.term := choose(0..3)", "`choose x: T`", "choose x: 0..3 s.term := x"),
    ("s.term := choose x in 0..3", "`choose x: T`", "choose x: 0..3 s.term := x"),
    ("any x: 0..3 s.term := x", "`choose x: T`", "choose x: 0..3 s.term := x"),
    ("s.term := if s.term > 1 then 1", "has an `else`", "s.term := if s.term > 1 then 1 else 0"),
    ("s.seen := {}", "`each k: Server -> …`", "s.seen := each k: Server -> 0"),
    ("s.queue := s.queue[1:2]", "`take(x, 2)`", "s.queue := take(s.queue, 2)"),
    ("s.queue := pop(s.queue)", "`rest(x)`", "s.queue := rest(s.queue)"),
    ("s.queue := s.queue[1]", "written `[…]`", "s.queue := [s.queue[1]]"),
    ("s.votes := s.votes | {s}", "`x union y`", "s.votes := s.votes union {s}"),
    ("s.votes := s.votes.union({s})", "`x union y`", "s.votes := s.votes union {s}"),
]
CLAIMED = [
    (EVERY + "s.mode is active", "`==`", EVERY + "s.mode == active"),
    (EVERY + "s.votes contains s", "`e in x`", EVERY + "s in s.votes"),
    (EVERY + "s.votes.contains(s)", "`e in x`", EVERY + "s in s.votes"),
    (EVERY + "#s.votes == 1", "`size(…)`", EVERY + "size(s.votes) == 1"),
    (EVERY + "s.term in 0..2", "`0 <= n and n <= 2`", EVERY + "0 <= s.term and s.term <= 2"),
    (EVERY + "s.term in [0..2]", "`0 <= n and n <= 2`", EVERY + "0 <= s.term and s.term <= 2"),
    (EVERY + "0 <= s.term <= 2", "`a <= b and b <= c`", EVERY + "0 <= s.term and s.term <= 2"),
    (EVERY + "s.mode in (standby, active)", "`{ a, b }`", EVERY + "s.mode in { standby, active }"),
    (EVERY + "if s.mode == active then s.term > 0", "`a implies b`", EVERY + "s.mode == active implies s.term > 0"),
    (EVERY + "s.up", "`up(…)`", EVERY + "up(s)"),
    (EVERY + "alive(s)", "`up(n)`", EVERY + "up(s)"),
    (EVERY + "s.crashed", "`not up(n)`", EVERY + "not up(s)"),
    (EVERY + "s.votes >= majority", "`majority(…)`", EVERY + "majority(s.votes)"),
    (EVERY + "size(s.votes) >= quorum", "`majority(SET)`", EVERY + "majority(s.votes)"),
    (EVERY + "exists(s.last)", "`x != none`", EVERY + "s.last != none"),
    (EVERY + "s.last is none", "`==`", EVERY + "s.last == none"),
    (EVERY + "s.mode == mode.active", "a field is written with its node", EVERY + "s.mode == active"),
    ("invariant two: s.term < 4", "`some x: T where …`", EVERY + "s.term < 4"),
    ("invariant two: every s, t: Server satisfies s == t", "each has its type", TWO),
    ("invariant two: every s: Server, every t: Server satisfies s == t", "each has its type", TWO),
    ("invariant two: every s: Server where s.term == 1", "`every x: T satisfies …`", EVERY + "s.term == 1"),
    (
        "invariant two: every s: Server where s.mode == active and s.term == 1",
        "`every x: T where … satisfies …`",
        "invariant two: every s: Server where s.mode == active satisfies s.term == 1",
    ),
    (
        "invariant two: every s: Server where s.mode == active, n: 0..3 where n > 0 satisfies s.term < n",
        "`every x: T, y: U where … satisfies …`",
        "invariant two: every s: Server, n: 0..3 where s.mode == active and n > 0 satisfies s.term < n",
    ),
    (
        "invariant two: no a: Server where a.mode == active, b: Server where b.mode == active and a != b",
        "one `where` for all",
        "invariant two: no a: Server, b: Server where a.mode == active and b.mode == active and a != b",
    ),
    ("invariant two: s.term == 1 for all s: Server", "`every x: T satisfies …`", EVERY + "s.term == 1"),
    (
        "invariant two: at most one s: Server where s.mode == active for every n: 0..2",
        "`every x: T satisfies …`",
        "invariant two: every n: 0..2 satisfies at most one s: Server where s.mode == active",
    ),
    ("invariant two: every s: Server: s.term == 1", "`every x: T satisfies …`", EVERY + "s.term == 1"),
    ("invariant two: every s: Server | s.term == 1", "`every x: T satisfies …`", EVERY + "s.term == 1"),
    (
        "invariant two: no s: Server satisfies s.term == 1",
        "`no x: T where …`",
        "invariant two: no s: Server where s.term == 1",
    ),
    ("invariant two: no two s: Server where s.term == 1", "`at most one x: T where …`", ONE),
    ("invariant two: at most 1 s: Server where s.term == 1", "`at most one x: T where …`", ONE),
    (
        "invariant two: exactly 1 s: Server where s.term == 1",
        "`exactly one x: T where …`",
        ONE.replace("at most", "exactly"),
    ),
    (
        "invariant two: at least one s: Server where s.term == 1",
        "`some x: T where …`",
        "invariant two: some s: Server where s.term == 1",
    ),
    ("invariant two: count s: Server where s.term == 1 <= 1", "`(count x: T where …) <= 1`", COUNTED),
    (
        "invariant two: |{ s: Server where s.term == 1 }| <= 1",
        "`size(…)`",
        "invariant two: size({ s: Server where s.term == 1 }) <= 1",
    ),
    (
        "invariant two: size({ s in Server where s.term == 1 }) <= 1",
        "`{ s: Server where … }`",
        "invariant two: size({ s: Server where s.term == 1 }) <= 1",
    ),
    (
        "invariant two: size({ s: Server | s.term == 1 }) <= 1",
        "`{ x: T where … }`",
        "invariant two: size({ s: Server where s.term == 1 }) <= 1",
    ),
    (
        "invariant two: sum(s.term for s in Server) <= 3",
        "`sum x: T by …`",
        "invariant two: (sum s: Server by s.term) <= 3",
    ),
    ("invariant two: Server 1.term == 1", "`NODE(1)`", EVERY + "s.term == 1"),
    ("invariant two: server1.term == 1", "`every s: Server satisfies …`", EVERY + "s.term == 1"),
    (
        'invariant "never two": at most one s: Server where s.term == 1',
        '`invariant NAME "…": …`',
        'invariant two "never two": true',
    ),
    ("invariant two = true", '`invariant NAME "…": …`', "invariant two: true"),
    ("invariant two { true }", '`invariant NAME "…": …`', "invariant two: true"),
    ("invariant two: always no s: Server where s.term == 3", "in every state", TWO),
    ("invariant two: [] (no s: Server where s.term == 3)", "in every state", TWO),
    (f"eventually e: <> {SOMEBODY}", "`eventually NAME: …`", f"eventually e: {SOMEBODY}"),
    (f"eventually e: always {SOMEBODY[1:-1]}", "`leads_to NAME: true ~> …`", f"leads_to e: true ~> {SOMEBODY}"),
    (f"eventually e: {SOMEBODY[1:-1]} within 3", "no time is counted", f"eventually e: {SOMEBODY} fair all"),
    (f"eventually e: {SOMEBODY} fair", "fair all`", f"eventually e: {SOMEBODY} fair all"),
    (f"eventually e: {SOMEBODY} assuming fair all", "`fair all` stands alone", f"eventually e: {SOMEBODY} fair all"),
    (f"leads_to e: true leads_to {SOMEBODY}", "~> …", f"leads_to e: true ~> {SOMEBODY}"),
    (f"leadsto e: true ~> {SOMEBODY}", "did you mean `leads_to`", f"leads_to e: true ~> {SOMEBODY}"),
    (f"{SOMEBODY} ~> {SOMEBODY}", "a property has a name", f"leads_to e: {SOMEBODY} ~> {SOMEBODY}"),
    ("check c { expect all hold }", "expect all hold`", "check c expect all hold"),
    ("check c: expect all hold", "expect all hold`", "check c expect all hold"),
    ("check c expects all hold", "did you mean `expect`", "check c expect all hold"),
    ("check c expect all to hold", "expect all hold`", "check c expect all hold"),
    ("check c expect one", "`expect NAME violated`", "check c expect one violated"),
    ("check c expect not one", "`expect NAME violated`", "check c expect one violated"),
    ("check c with crash Server up to 2", "`check NAME with PARAM = 1", "check c expect all hold"),
]
GUESSES = [
    *DECLARED,
    *HEADS,
    *((DO + wrong, hint, DO + right) for wrong, hint, right in DONE),
    *CLAIMED,
]


def errors(body: str) -> list[tuple[str, str]]:
    """Code and hint of each error."""
    found = load(HEAD + body + "\n", "a.ha").diagnostics
    return [(one.code, one.hint or "") for one in found if one.severity == "error"]


@pytest.mark.parametrize(("wrong", "hint"), [(wrong, hint) for wrong, hint, _ in GUESSES])
def test_a_wrong_guess_is_one_error_that_says_what_to_write(wrong: str, hint: str) -> None:
    ((code, said),) = errors(wrong)
    assert code in ("HA004", "HA005", "HA102", "HA103", "HA104", "HA107")
    assert hint in said


@pytest.mark.parametrize("right", sorted({right for _, _, right in GUESSES}))
def test_what_the_hints_say_is_read(right: str) -> None:
    assert errors(right) == []


def test_there_are_as_many_guesses_as_a_new_user_made_and_more() -> None:
    assert len({re.sub(r"\s+", " ", wrong) for wrong, _, _ in GUESSES}) >= 150


def test_a_spec_that_can_be_read_gets_no_hint_of_these() -> None:
    assert (
        errors("param k = 2 in 1..3\ndefine is = 1\ninvariant contains: k > is\ntype enum = 0..3\nshared e: enum = 0")
        == []
    )
