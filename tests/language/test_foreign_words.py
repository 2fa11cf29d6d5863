"""Words of other languages get what is written here, and what is written in a hint is itself read."""

from __future__ import annotations

import re

import pytest

from hacheck.model.language import load
from hacheck.model.language.foreign_words import DECLARATIONS, STATEMENTS

HEAD = """system A "x"
node Server[2] symmetric { mode: { idle, active } = idle  n: 0..3 = 0 }
message hello() from Server to Server
lock Lock held by Server
action go(s: Server) when s.n < 3 do send hello() to other(s)
on hello() at s from p do s.n := 1
"""
STATEMENTS_HERE = {"var", "let", "while", "if", "for", "send", "call", "step"}
"""Words that begin a statement here, too."""


def found(body: str) -> list[tuple[str, str, str]]:
    """Code, the text it is about, and the hint of each error."""
    text = HEAD + body
    read = load(text, "a.ha").diagnostics
    return [(one.code, text[one.span.start : one.span.end], one.hint or "") for one in read if one.severity == "error"]


@pytest.mark.parametrize("word", DECLARATIONS)
@pytest.mark.parametrize(
    "rest", [" one: no s: Server where s.n == 3", " X = 3", " { }", ' "other.ha"', " x(s: Server) do s.n := 1"]
)
@pytest.mark.parametrize("before", ["", "invariant i: no s: Server where s.n == 3\n", "type Number = 0..3\n"])
def test_word_that_begins_a_declaration_elsewhere(word: str, rest: str, before: str) -> None:
    if word in STATEMENTS_HERE and not before:
        pytest.skip("goes on with the body before it")
    first, *_ = found(before + word + rest)
    assert first == ("HA005", word, DECLARATIONS[word])


@pytest.mark.parametrize("word", STATEMENTS)
@pytest.mark.parametrize("rest", [" hello", " 3", " s.n == 1", ""])
def test_word_that_begins_a_statement_elsewhere(word: str, rest: str) -> None:
    assert found(f"action b(s: Server) do {word}{rest}")[0] == ("HA005", word, STATEMENTS[word])


@pytest.mark.parametrize(
    ("body", "about", "hint"),
    [
        ("check c expect one holds", "holds", "expect all hold"),
        ("check c expect one fails", "fails", "write `violated`"),
        ("action b(s: Server) do send hello to other(s)", "to", "`()`"),
        ("action b(s: Server) { s.n := 1 }", "{", "begins with `do`"),
        ("node Disk { m: enum { a, b } = a }", "{", "`{ a, b }`"),
        ("on timeout at s do s.n := 1", "at", "a timer is an action"),
        ("on receive hello() at s from p do s.n := 1", "hello", "write `on MESSAGE(…) at n from m do …`"),
        ("invariant i for all b: Server: b.n == 0", "for", "a colon stands between"),
        ("faults { partition, crash Server up to 1 }", ",", "`partition T`"),
        ("action b(s: Server) do self.n := 1", "self", "the node that acts has a name"),
        ("invariant i: self.n == 1", "self", "the node that acts has a name"),
    ],
)
def test_clause_of_another_language(body: str, about: str, hint: str) -> None:
    ((_, at, said),) = found(body)
    assert at == about
    assert hint in said


def test_words_of_other_languages_are_names_where_a_name_may_stand() -> None:
    assert found("define wait = 1\ndefine property = wait\ninvariant always: property == 1") == []
    assert found("procedure kill(s: Server) do s.n := 2\naction b(s: Server) do kill(s)") == []


FORMS = {
    "n := …": "action b(s: Server) do s.n := 1",
    "step NAME when …:": "action b(s: Server) do step two when s.n == 1: s.n := 2",
    "step NAME:": "action b(s: Server) do step two: s.n := 2",
    "choose NAME: T": "action b(s: Server) do choose x: Server if x == s then s.n := 1",
    "answer …": "operation ask() from Server to Server returns bool\nserve ask() at s from p do answer true\n"
    "action b(s: Server) do call ask() at other(s) as x",
    "on MESSAGE(…) at n from m do …": "message bye(x: bool) from Server to Server\non bye(x) at n from m do n.n := 1\n"
    "action b(s: Server) do send bye(true) to other(s)",
    "action NAME(s: T) when … do …": "action b(s: Server) when s.n == 0 do s.n := 1",
    "send MESSAGE(…) to each others(s)": "action b(s: Server) do send hello() to each others(s)",
    "send MESSAGE(…) to …": "action b(s: Server) do send hello() to other(s)",
    "define NAME(n: T) = …": "define f(n: Server) = n.n == 1\ninvariant i: no s: Server where f(s)",
    "procedure NAME(n: T) do …": "procedure p(n: Server) do n.n := 1\naction b(s: Server) do p(s)",
    "define NAME = 2": "define f = 2\ninvariant i: no s: Server where s.n == f",
    "param NAME = 2 in 1..3": "param k = 2 in 1..3\ninvariant i: no s: Server where s.n == k",
    "assumption NAME = on": "assumption a = on\naction b(s: Server) when a do s.n := 1",
    "invariant NAME: …": "invariant i: no s: Server where s.n == 3",
    "reachable NAME: …": "reachable i: some s: Server where s.n == 3",
    "eventually NAME: …": "eventually i: some s: Server where s.n == 3",
    "leads_to NAME: … ~> …": "leads_to i: true ~> (some s: Server where s.n == 3)",
    "fair all": "leads_to i: true ~> (some s: Server where s.n == 3) fair all",
    "fair …": "leads_to i: true ~> (some s: Server where s.n == 3) fair go",
    "strongly fair …": "leads_to i: true ~> (some s: Server where s.n == 3) strongly fair go",
    "strongly fair NAME": "leads_to i: true ~> (some s: Server where s.n == 3) strongly fair go",
    "faults { crash T up to 1, lose MESSAGE up to 1 }": "faults { crash Server up to 1, lose hello up to 1 }",
    "faults { crash T up to 1 }": "faults { crash Server up to 1 }",
    "faults { lose MESSAGE up to 1 }": "faults { lose hello up to 1 }",
    "node NAME { n: 0..3 = 0 }": "node Disk { n: 0..3 = 0 }\naction b(d: Disk) when d.n < 2 do d.n := 1",
    "node NAME { … }": "node Disk { n: 0..3 = 0 }\naction b(d: Disk) when d.n < 2 do d.n := 1",
    "shared n: 0..3 = 0": "shared k: 0..3 = 0\naction b(s: Server) when k == 0 do s.n := 1",
    "initially do …": "initially do for s: Server do s.n := 1",
    "type NAME = { a, b }": "type Colour = { a, b }\nshared c: Colour = a\ninvariant i: c == a",
    "record NAME { n: 0..3 }": "record R { n: 0..3 }\nshared c: R? = none\ninvariant i: c == none",
    "check NAME with … expect all hold": "param k = 2 in 1..3\ninvariant i: k < 3\ncheck c with k = 1 expect all hold",
    "halt": "action b(s: Server) when s.n == 3 do halt\nfaults { crash Server up to 1 }",
    "{ }": "action b(s: Server) do if s.n == 1 then { } else s.n := 1",
    "require …": "action b(s: Server) do require s.n == 1",
    "acquire LOCK then …": "action b(s: Server) do acquire Lock then s.n := 1",
    "release LOCK": "action b(s: Server) do release Lock",
    "if … then … else …": "action b(s: Server) do if s.n == 0 then s.n := 1 else s.n := 2",
    "call OPERATION(…) at n as x": "operation ask() from Server to Server returns bool\n"
    "serve ask() at s from p do answer true\naction b(s: Server) do call ask() at other(s) as x",
    "while … do …": "action b(s: Server) do while s.n < 2 do { s.n := s.n + 1 step more: }",
}
"""Each form that a hint writes, in a text that is read. Forms that are a word, or need a file, are not here."""
WORDS = {"begin", "end", "when", "none", "do", "if", "serve", "=", "≠", 'use "FILE.ha"', 'system NAME "…"', "action"}


def test_every_form_that_a_hint_writes_is_read() -> None:
    hints = {*DECLARATIONS.values(), *STATEMENTS.values()}
    written = {form for hint in hints for form in re.findall(r"`([^`]+)`", hint)}
    assert written - WORDS == set(FORMS)


@pytest.mark.parametrize("form", FORMS)
def test_form_of_a_hint_is_read(form: str) -> None:
    assert found(FORMS[form]) == []
