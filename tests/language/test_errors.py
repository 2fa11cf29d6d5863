"""What is said about a wrong text: as many errors as there are, where they are, and what to write instead."""

from __future__ import annotations

import pytest

from hacheck.model.language import Diagnostic, load

HEAD = 'system A "x"\nnode Server[2] symmetric { mode: { idle, active } = idle  n: 0..3 = 0 }\n'


def found(body: str) -> list[tuple[str, str, str]]:
    """Code, the text it is about, and the hint of each diagnostic."""
    text = HEAD + body
    return [(one.code, text[one.span.start : one.span.end], one.hint or "") for one in diagnostics(body)]


def diagnostics(body: str) -> tuple[Diagnostic, ...]:
    return load(HEAD + body, "a.ha").diagnostics


def test_every_wrong_statement_of_a_body_is_reported_once() -> None:
    body = """action go(s: Server) do
  s.mod := active
  let x = s.mode + 1
  s.n := x
  if s.mode == actve then s.n := true
  step later:
  s.n := x + y
  send nothing() to s
"""
    assert [(code, at) for code, at, _ in found(body)] == [
        ("HA103", "mod"),
        ("HA104", "s.mode"),
        ("HA103", "actve"),
        ("HA103", "nothing"),
    ]


def test_errors_of_several_declarations_are_reported_together() -> None:
    body = """action one(s: Server) when s.n do s.n := 1
define wrong(s: Server) = s.mode + 1
invariant two: every s: Server satisfies s.k == 0
step_invariant three: old(Server) == 1
check four expect five violated
"""
    assert {code for code, _, _ in found(body)} == {"HA103", "HA104"}
    assert len(found(body)) >= 4


def test_one_slip_does_not_hide_the_next() -> None:
    body = """action one(s: Server) do s.n = 1
invariant two: at most one s: Server s.n == 1
reachable three: some s: Server where s.n == 2
action four(s: Server) when s.n = 1 do s.n := 2
"""
    assert found(body) == [
        ("HA005", "=", "an assignment is written `:=`"),
        ("HA005", "s", "write `at most one x: T where …`"),
        ("HA005", "=", "equality is written `==`"),
    ]


@pytest.mark.parametrize(
    ("body", "about", "hint"),
    [
        ("node Other[2] symetric { }", "symetric", "did you mean `symmetric`?"),
        ("action go(s: Server) do n := 1", "n", None),
        ("action go(s: Server) when n == 0 do s.n := 1", "n", "a field is written with its node: `s.n`"),
        ("invariant i: no s: Server where s.mode == activ", "activ", "did you mean `active`?"),
        ("invariant i: no s: Sever where s.n == 1", "Sever", "did you mean `Server`?"),
        ("message m() from Server to Server\naction go(s: Server) do call m() at other(s)", "m", "is a message"),
        ("operation m() from Server to Server\naction go(s: Server) do send m() to other(s)\n"
         "serve m() at s from t do s.n := 1", "m", "is an operation"),
        ("node S { o: 0..3? = none }\naction go(s: S) when s.o == 1 and s.o + 1 == 2 do s.o := 1", "s.o", "`value(…)`"),
        ("invariant i: no s: Server where s == Server(1)", "Server(1)", "ranked"),
        ("node S { a: 0..3 = 0 }\naction go(s: S) do other(s).a := 1", ".", None),
        ('invariant i "never closed: true', '"', 'add `"`'),
    ],
)  # fmt: skip
def test_error_says_where_and_what_to_write(body: str, about: str, hint: str | None) -> None:
    (_, at, said), *_ = found(body)
    assert at == about
    assert hint is None or hint in said


def test_second_declaration_points_at_the_first() -> None:
    (one,) = diagnostics("message m() from Server to Server\nmessage m() from Server to Server")
    text = HEAD + "message m() from Server to Server\nmessage m() from Server to Server"
    ((span, words),) = one.labels
    assert (text[span.start : span.end], words) == ("m", "first here")
    assert span.start < one.span.start


def test_knowledge_hidden_in_a_definition_points_at_its_use() -> None:
    body = "define alone(s: Server) = not up(other(s))\naction go(s: Server) when alone(s) do s.n := 1"
    (one,) = diagnostics(body)
    ((span, words),) = one.labels
    assert ((HEAD + body)[span.start : span.end], words) == ("alone(s)", "used here")


def test_faulty_definition_is_found_though_nobody_uses_it() -> None:
    assert found("define half(s: Server) = s.n and true")[0][:2] == ("HA104", "s.n")


NEVER_CLOSED = {
    "action one(s: Server) when s.n == 0 do\n  if s.n == 0 then {\n    s.n := 1\n": ("{", "}", "then {"),
    "node Other[2] {\n  a: 0..3 = 0\n  ghost b: bool = false\n": ("{", "}", "[2] {"),
    "faults {\n  crash Server up to 1\n": ("{", "}", "faults {"),
    "record Pair {\n  a: bool\n": ("{", "}", "Pair {"),
    "define one = (1 + 2\n": ("(", ")", "= ("),
    "define two = {1, [2\n": ("[", "]", "{1, ["),
}
FOLLOWING = [
    "action two(s: Server) when s.n == 1 do s.n := 2",
    "lock L held by Server",
    "message m(a: bool) from Server to Server",
    "check c expect all hold",
    "define f = 1",
    "faults { crash Server }",
]


@pytest.mark.parametrize("following", FOLLOWING)
@pytest.mark.parametrize("body", NEVER_CLOSED)
def test_bracket_that_is_never_closed_is_one_error_at_the_bracket(body: str, following: str) -> None:
    opening, closing, until = NEVER_CLOSED[body]
    whole = f"{body}\n{following}\nidentity Late\nassumption x = wrong\n"
    text = HEAD + whole
    one, *others = diagnostics(whole)
    assert (one.code, one.span.start) == ("HA005", text.index(until) + len(until) - 1)
    assert text[one.span.start : one.span.end] == opening
    ((next_one, _),) = one.labels
    word = following.split()[0]
    assert one.hint == f"add `{closing}` before `{word}`"
    assert next_one.start == text.index(following)
    assert [(other.code, text[other.span.start : other.span.end]) for other in others] == [("HA005", "wrong")]


@pytest.mark.parametrize("body", NEVER_CLOSED)
def test_bracket_that_is_open_at_the_end_is_one_error_at_the_bracket(body: str) -> None:
    opening, closing, _ = NEVER_CLOSED[body]
    assert found(body) == [("HA005", opening, f"add `{closing}`")]


@pytest.mark.parametrize(
    ("body", "about", "hint"),
    [
        ("lock L held by Server\naction go(s: Server) do\n  acquire L\n  s.n := 1", "s", "`acquire LOCK then"),
        ("lock L held by Server\naction go(s: Server) do\n  acquire L\naction to(s: Server) do s.n := 1", "action",
         "`acquire LOCK then"),
        ("action go(s: Server) do if s.n == 0 then s.n := 1 elif s.n == 1 then s.n := 2", "elif", "write `else if`"),
        ("action go(s: Server) do\n  s.n == 1", "==", "an assignment is written `:=`"),
        ("action go(s: Server) do\n  other(s).n := 1", ".", "write `for n in others(s) do n.FIELD := …`"),
        ("node Disk { n: 0..2 durable = 0 }", "=", "stand before the field's name"),
        ("node Disk { n: 0..2 durable (if true) = 0 }", "=", "stand before the field's name"),
        ("switch x = false", "false", "write `off`"),
        ("assumption x = true", "true", "write `on`"),
        ("action go(s: Server) do if s.n == 0 { s.n := 1 }", "{", "`then` stands before it"),
        ("action go(s: Server) do { s.n := 1 }", "{", "a body has no braces of its own"),
        ("action go(s: Server) do if s.n == 0 then { s.n := 1 } }", "}", "there is no `{` that it closes"),
        ("action go(s: Server) when s.n == 0\n  s.n := 1", "s", "`do` stands before what is done"),
        ("invariant i: every s: Server satisfies s.n == 0\ncheck c expect all holds", "holds", "`hold`"),
    ],
)  # fmt: skip
def test_slip_of_the_pen_is_one_error_that_says_what_to_write(body: str, about: str, hint: str) -> None:
    ((code, at, said),) = found(body)
    assert (code, at) == ("HA005", about)
    assert hint in said


def test_declaration_that_is_not_finished_does_not_take_the_next_one_with_it() -> None:
    body = "define half =\naction go(s: Server) do s.n := 1\ndefine other = 1 +\ninvariant i: half == other"
    assert [(code, at) for code, at, _ in found(body)] == [("HA005", "action"), ("HA005", "invariant")]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("action go(s: Server) do s.mode := 3", "this is the number 3, where Server.mode is needed"),
        ("action go(s: Server) when s.n do s.n := 1", "this is 0..3, where bool is needed"),
        ("define f = 1 union 2", "`union` needs sets, this is the number 1"),
        ("define f = 1 == true", "the number 1 and bool are never equal"),
    ],
)
def test_number_is_told_as_the_number(body: str, message: str) -> None:
    assert [one.message for one in diagnostics(body) if one.code == "HA104"] == [message]
