"""What other languages write is told with what is written here, at the place where it stands."""

from __future__ import annotations

import pytest

from hacheck.model.language import load

HEAD = """system A "x"
node Server[2] symmetric { mode: { idle, active } = idle  n: 0..3 = 0  other_one: Server? = none }
action go(s: Server) when s.n < 3 do s.n := s.n + 1
faults { crash Server up to 1 }
"""
SOMEBODY = "(some s: Server where s.n == 1)"


def found(body: str) -> list[tuple[str, str, str]]:
    """Code, the text it is about, and the hint of each diagnostic."""
    text = HEAD + body
    return [(one.code, text[one.span.start : one.span.end], one.hint or "") for one in load(text, "a.ha").diagnostics]


SIGNS = [
    ("s.n <> 1", "HA005", "<>", "write `!=`"),
    ("s.n !== 1", "HA005", "!==", "write `!=`"),
    ("s.n ≠ 1", "HA004", "≠", "write `!=`"),
    ("s.n === 1", "HA005", "===", "write `==`"),
    ("s.n =< 1", "HA005", "=<", "write `<=`"),
    ("s.n == 1 && true", "HA004", "&&", "write `and`"),
    ("s.n == 1 || true", "HA004", "||", "write `or`"),
    ("s.n == 1 \\/ true", "HA004", "\\/", "write `or`"),
    ("s.n == 1 \u2228 true", "HA004", "\u2228", "write `or`"),
    ("!(s.n == 1)", "HA004", "!", "write `not`"),
    ("s.n == 1 -> true", "HA005", "->", "write `implies`"),
    ("s.n == 1 => true", "HA005", "=>", "write `implies`"),
    ("(s.n == 1) <=> true", "HA005", "<=>", "equality is written `==`"),
    ("s.n / 2 == 0", "HA004", "/", "there is no division"),
    ("s.n % 2 == 0", "HA004", "%", "there is no remainder"),
    ("s.n mod 2 == 0", "HA005", "mod", "there is no remainder"),
    ("s.n ** 2 == 0", "HA005", "**", "there are no powers"),
    ("(s.n == 1) ? true : false", "HA005", "?", "`if … then … else …`"),
    ("s.n == 1.5", "HA005", "5", "numbers are whole"),
    ('s.mode == "idle"', "HA005", '"idle"', "a text is not a value"),
    ("s.mode == 'idle'", "HA004", "'", "a text stands in"),
    ("s.n' == 1", "HA004", "'", "`old(x)`"),
]


@pytest.mark.parametrize(("condition", "code", "about", "hint"), SIGNS)
def test_sign_of_another_language_is_one_error_that_says_what_to_write(
    condition: str, code: str, about: str, hint: str
) -> None:
    ((found_code, at, said),) = found(f"invariant i: every s: Server satisfies {condition}")
    assert (found_code, at) == (code, about)
    assert hint in said


@pytest.mark.parametrize(
    ("body", "about", "hint"),
    [
        (f"leads_to l: {SOMEBODY} -> {SOMEBODY}", "->", "write `~>`"),
        (f"leads_to l: {SOMEBODY} => {SOMEBODY}", "=>", "write `~>`"),
        (f"leads_to l: (true -> true) ~> {SOMEBODY}", "->", "write `implies`"),
        (f"leads_to l: {SOMEBODY} ~> true -> true", "->", "write `implies`"),
        ("invariant i: forall s: Server, s.n == 0", "forall", "write `every x: T satisfies …`"),
        ("invariant i: forall(s: Server) s.n == 0", "forall", "write `every x: T satisfies …`"),
        ("invariant i: for all s: Server satisfies s.n == 0", "for all", "write `every x: T satisfies …`"),
        ("invariant i: all s: Server satisfies s.n == 0", "all", "write `every x: T satisfies …`"),
        ("invariant i: exists s in Server: s.n == 0", "exists", "write `some x: T where …`"),
        ("invariant i: any s: Server where s.n == 0", "any", "write `some x: T where …`"),
        ("invariant i: some (s: Server) where s.n == 0", "(", "no brackets: `some x: T where …`"),
        ("invariant i: no s: Server where max(s.n, 1) == 2", "(", "it is `larger(…, …)`"),
        ("invariant i: no s: Server where count(s.n) == 2", "(", "`count x: T where …`"),
        ("invariant i: no s: Server where some(s.other_one) == s", "(", "`x == y`"),
        ("// a comment", "//", "a comment begins with `#`"),
        ("/* a comment */", "/*", "a comment begins with `#`"),
        ("-- a comment", "--", "a comment begins with `#`"),
        ("action to(s: Server) do s.n += 1", "+=", "`n := n + 1`"),
        ("action to(s: Server) do s.n++", "++", "`n := n + 1`"),
        ("action to(s: Server) do s.n := s.n mod 2", "mod", "there is no remainder"),
        ("action to(s: Server) when s.n := 1 do s.n := 2", ":", "equality is written `==`"),
        ("action to(s: Server) do let x := 1", "=", "a value is given by `=`"),
        ("action to(s: Server) do let x == 1", "=", "a value is given by `=`"),
        ("define f == 1", "=", "a value is given by `=`"),
        ("define f := 1", "=", "a value is given by `=`"),
        ("check c with x == 2 expect all hold", "=", "a value is given by `=`"),
        ("node Disk { n: 0..3 := 0 }", ":=", "a value is given by `=`"),
        ("node Disk { n: 0..3 == 0 }", "=", "a value is given by `=`"),
    ],
)
def test_word_or_sign_of_another_language_says_what_to_write(body: str, about: str, hint: str) -> None:
    ((_, at, said),) = found(body)
    assert at == about
    assert hint in said


@pytest.mark.parametrize(
    ("condition", "about", "hint"),
    [
        ("s.other_one == null", "null", "write `none`"),
        ("s.n == 0 or True", "True", "write `true`"),
        ("s.other_one == some(s)", "some", "`x == y`"),
        ("s.other_one == Some(s)", "Some", "`x == y`"),
        ("len(s.n) == 0", "len", "`size(…)`"),
    ],
)
def test_name_of_another_language_says_what_to_write(condition: str, about: str, hint: str) -> None:
    ((code, at, said),) = found(f"invariant i: every s: Server satisfies {condition}")
    assert (code, at) == ("HA103", about)
    assert hint in said


@pytest.mark.parametrize(
    ("clause", "about", "hint"),
    [
        ("fair all, restart, resume", ",", "write `fair restart, resume` as a clause of its own"),
        ("fair all of Server, restart", ",", "write `fair restart` as a clause of its own"),
        ("strongly fair all, restart", ",", "write `strongly fair restart` as a clause of its own"),
        ("fair all and restart", "and", "write `fair restart` as a clause of its own"),
        ("fair all except go, restart", "restart", "write `fair restart` as a clause of its own"),
        ("fair restart, all", "all", "write `fair all` as a clause of its own"),
    ],
)
def test_all_handlers_and_repairs_are_two_clauses(clause: str, about: str, hint: str) -> None:
    ((_, at, said),) = found(f"eventually e: {SOMEBODY}\n  {clause}")
    assert (at, said) == (about, hint)
    assert found(f"eventually e: {SOMEBODY}\n  fair all\n  fair restart") == []


@pytest.mark.parametrize(
    ("ranked", "hint"),
    [
        ("symmetric", "there are 2 Disks: write `every d: Disk satisfies …`, `some d: Disk where …`"),
        ("ranked", "there are 2 Disks: write `every d: Disk satisfies …`, `some d: Disk where …` or `Disk(1)`"),
    ],
)
def test_kind_of_several_nodes_is_no_node(ranked: str, hint: str) -> None:
    body = f"node Disk[2] {ranked} {{ n: 0..3 = 0 }}\ninvariant i: Disk.n == 0"
    assert found(body) == [("HA103", "Disk", hint)]


def test_kind_that_acts_is_told_with_the_one_that_acts() -> None:
    body = "action to(server: Server) do server.n := Server.n"
    assert found(body) == [
        (
            "HA103",
            "Server",
            "there are 2 Servers: the one that acts is `server`; of each, `for s: Server do …`; "
            "the set of all is `all(Server)`",
        )
    ]


def test_words_of_other_languages_are_names_where_a_name_may_stand() -> None:
    assert found("define mod = 1\ndefine all = mod\ninvariant i: all == 1\ninvariant exists: all == mod") == []
    ((_, about, hint),) = found('invariant i "for all s in it, forall (s in it": 1 2')
    assert (about, hint) == ("2", "")
    ((_, about, hint),) = found("node Disk { mod: 0..3 = 0 }\ninvariant i: Disk.mod 2")
    assert (about, hint) == ("2", "")


def test_a_name_of_a_block_is_said_to_end_with_it() -> None:
    text = (
        "system Block\nnode S { n: 0..1 = 0 }\noperation put() from S to S returns bool atomic when true\n"
        "serve put() at s from c do answer true\naction a(s: S) do\n  if s.n == 0 then\n    call put() at s as copied\n"
        "  if copied == true then s.n := 1\naction b(s: S) do s.n := if copied == true then 1 else 0\n"
        "action c(s: S) do\n  for t: S do s.n := 0\n  t.n := 1\n"
    )
    found = [(text.count("\n", 0, one.span.start) + 1, one.hint or "") for one in load(text, "block.ha").diagnostics]
    (here, of_block), (elsewhere, general), (below, of_loop) = found
    assert (here, elsewhere, below) == (8, 9, 12)
    assert of_block.startswith("that of line 7 is known to the end of its block")
    assert general.startswith("a name is bound")
    assert of_loop.startswith("that of line 11 is known to the end of its block, or of its only statement")
