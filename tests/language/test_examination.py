"""Trying a spec under many settings finds what elaborating it under each of them finds."""

from __future__ import annotations

import itertools
import random
from functools import cache
from pathlib import Path

import pytest

from hacheck.model.language import Span, Specification, load
from hacheck.model.language.declarations import CheckDeclaration
from hacheck.model.language.elaborate import Elaboration, elaborate
from hacheck.model.language.parse import parse
from hacheck.model.language.settings_examination import Examination
from tests.language.examples import examples, loaded, shipped
from tests.nightly import by_night

ROOT = Path(__file__).resolve().parents[2]
FILES = [*sorted((ROOT / "spec").glob("*.ha")), *sorted((ROOT / "bench").glob("*.ha"))]
for_every_file = pytest.mark.parametrize(
    "path",
    by_night(FILES, lambda path: path.stem in ("fiorano_shared", "quorum_election")),
    ids=lambda path: path.stem,
)
DOCUMENTS = [ROOT / "docs" / "language.md", *sorted((ROOT / "tests" / "language" / "cases").glob("*.md"))]
CHOICES_MAX = 24
HERE = Span("a.ha", 0, 0)


@cache
def of_file(path: Path) -> Specification:
    read = shipped(path).specification
    assert read is not None
    return read


@cache
def of_documents() -> list[Specification]:
    """The examples that can be read."""
    found = [loaded(one).specification for path in DOCUMENTS for one in examples(path)]
    return [one for one in found if one is not None]


def choices(specification: Specification) -> list[dict[str, str]]:
    """The settings of the checks, each also with another value of one setting, some of them out of range."""
    dice = random.Random(1)
    written = [dict(check.settings) for check in specification.checks] or [{}]
    values = {"switch": ["on", "off"], "assumption": ["on", "off"], "param": ["0", "1", "2", "3"]}
    changed = [
        {**settings, one.name: value}
        for settings in written
        for one in specification.parameters
        for value in values[one.kind]
    ]
    dice.shuffle(changed)
    return [*written[:4], *changed[:CHOICES_MAX]]


def assert_examined_as_elaborated(specification: Specification) -> None:
    file, declarations = specification.file, specification.declarations
    examination = Examination(file, declarations, HERE)
    for settings in choices(specification):
        found = examination.mistakes(settings)
        assert found == elaborate(file, declarations, settings, HERE)[1], settings


@for_every_file
def test_examination_finds_what_elaboration_finds(path: Path) -> None:
    assert_examined_as_elaborated(of_file(path))


def test_examination_of_examples_finds_what_elaboration_finds() -> None:
    found = [one for one in of_documents() if one.parameters]
    assert len(found) > 10
    for one in found:
        assert_examined_as_elaborated(one)


DECIDED = """system Decided "what settings decide"
param n = 1 in 0..3
param m = 1 in 0..3
param kind = one in { one, two }
switch pair = off
switch kept = off
switch once = off
switch loud = off
switch guarded = off
type Small = 0..n
"""
BODIES = [
    # whether a name, a type or a way to call is there depends on what is declared before it
    "node S[(if pair then 2 else 3)] symmetric { a: Small = 0 }\naction f(s: S) do let o = other(s) s.a := 0",
    "node S { a: Small = 1 }\naction f(s: S) do s.a := 1",
    "node S { a: bool? = if pair then none else true }\naction f(s: S) when guarded do s.a := none",
    "node S[2] symmetric { durable (if kept) a: Small = 0  m: bool = false }\n"
    "message go(v: Small) from S to S up to n\naction f(s: S) when loud do send go(s.a) to each others(s)\n"
    "on go(v) at s from t do s.a := v",
    "node S[2] symmetric { a: bool = false }\noperation ask() from S to S atomic when once\n"
    "serve ask() at s from t do s.a := true\n"
    "action f(s: S) when guarded do for o in others(s) do { call ask() at o }",
    "node S[2] symmetric { a: bool = false }\noperation ask() from S to S atomic when kind == one and not pair\n"
    "serve ask() at s from t do s.a := true\naction f(s: S) do call ask() at other(s)\n"
    "invariant i: no s: S where running(s, f)",
    "node S[2] symmetric { a: bool = false }\naction f(s: S) when loud do s.a := true\n"
    "faults { crash S up to n when guarded  crash S up to 1 when pair }",
    "node S { a: 0..3 = 0 }\naction f(s: S) do var x = m x := 1 s.a := x",
    "identity G\nnode S[2] symmetric { g: G? = none  h: set of Small = {} }\n"
    "action f(s: S) when loud do s.g := fresh(G)\naction k(s: S) when guarded do s.h := {n}",
    # what faults there are decides what is wrong with hooks and fairness, and nothing about handlers
    "node S { a: Small = 0 }\naction f(s: S) do var x: 0..m - 1 = 0 x := 1 s.a := 0\n"
    "faults { crash S up to n when guarded  pause S up to m when loud }",
    "node S[(if pair then 2 else 3)] symmetric { a: Small = 0 }\naction f(s: S) do s.a := 0\n"
    "on restart of s: S do let o = other(s) s.a := 0\nfaults { crash S up to n when loud }",
    "node S[2] symmetric { a: Small = 0 }\naction f(s: S) do s.a := 0\n"
    "eventually e: every s: S satisfies s.a == 0\n  fair f, crash\nfaults { crash S up to 1 when loud }",
    "node S[2] symmetric { a: Small = 0  paused: Small = 0 }\noperation ask() from S to S atomic when once\n"
    "serve ask() at s from t do s.a := 1\naction f(s: S) do call ask() at other(s)\n"
    "invariant i: (no s: S where running(s, f)) and (every s: S satisfies s.paused == 0 or not up(s))\n"
    "faults { lose ask up to n when guarded and loud  cut S - S up to 1 when pair  pause S when loud }",
    "identity G\nnode S[2] symmetric { g: G? = none  a: Small = 0 }\n"
    "action f(s: S) when loud do s.g := fresh(G)\ninvariant i: no g: G where every s: S satisfies s.g == g\n"
    "action k(s: S) do if pair then s.g := none\nfaults { crash S up to n when guarded }",
    # lines of logs, and of faults that may not be there
    "node S { a: Small = 1 }\naction f(s: S) do let k = s.a step w: log done(k: k, m: m, loud: loud) s.a := 0\n"
    "observe gone of crash when kept shows a = old(n.a)\nobserve back of restart\nobserve slow of pause\n"
    "faults { crash S up to n when guarded  pause S up to m when loud }",
    "node S { a: Small = 0 }\naction f(s: S) do var k: { on_way, there } = there s.a := 0\n"
    "define far = on_way\nfaults { crash S up to n when guarded }",
]


@pytest.mark.parametrize("body", BODIES)
def test_nothing_that_settings_decide_is_passed_over(body: str) -> None:
    """All choices of all settings, in several orders, are tried by one examination and each by itself."""
    file, mistakes = parse(DECIDED + body, "a.ha")
    assert file is not None
    assert mistakes == ()
    words = ("pair", "kept", "once", "loud", "guarded")
    every = [
        {"n": n, "m": m, "kind": kind, **dict(zip(words, values, strict=True))}
        for n, m, kind in [("0", "1", "one"), ("1", "1", "one"), ("1", "2", "one"), ("2", "1", "two")]
        for values in itertools.product(("on", "off"), repeat=len(words))
    ]
    alone = [elaborate(file, file.declarations, given, HERE)[1] for given in every]
    assert any(not found for found in alone)
    for seed in range(3):
        order = random.Random(seed).sample(range(len(every)), len(every))
        examination = Examination(file, file.declarations, HERE)
        assert [examination.mistakes(every[index]) for index in order] == [alone[index] for index in order]


def test_check_that_is_wrong_in_what_it_decides_is_found() -> None:
    body = "node S[2] symmetric { a: Small = 0 }\naction f(s: S) when loud do let o = other(s) s.a := 0\n"
    checks = "check a with loud = on\ncheck b with guarded = on\ncheck c with n = 4\n"
    read = load(DECIDED + body + checks, "a.ha")
    assert [(one.code, one.message) for one in read.diagnostics] == [("HA141", "`n` must be in 0..3, not 4")]
    ((span, words),) = read.diagnostics[0].labels
    assert words == "under the settings of this check"
    file, _ = parse(DECIDED + body + checks, "a.ha")
    assert file is not None
    named = {one.name.text: one.name.span for one in file.declarations if isinstance(one, CheckDeclaration)}
    assert span == named["c"]


def assert_no_guess_matters(specification: Specification) -> None:
    file, declarations = specification.file, specification.declarations
    for given in [dict(check.settings) for check in specification.checks[:2]] or [{}]:
        alone = elaborate(file, declarations, given, HERE)
        assert alone[0] is not None
        for size in (0, 1, 5, 40):
            guess = [(name, known + size) for name, known in specification.pools]
            assert elaborate(file, declarations, given, HERE, guess) == alone


@for_every_file
def test_system_does_not_depend_on_the_sizes_that_pools_are_guessed_to_need(path: Path) -> None:
    assert_no_guess_matters(of_file(path))


def test_examples_do_not_depend_on_the_sizes_that_pools_are_guessed_to_need() -> None:
    found = [one for one in of_documents() if one.pools]
    assert len(found) > 5
    for one in found:
        assert_no_guess_matters(one)


FILLED = """system Boxes
param tries = 1
type Kind = { one, two }
node Box[2] {
  held: Kind? = none
}
action fill(b: Box)
  when b.held in {none, one}
do
  b.held := two
faults {
  crash Box up to tries
}
invariant calm: no b: Box where b.held == one
check few with tries = 1
check many with tries = 2
"""


def test_check_with_other_faults_is_not_elaborated_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """It was, where a set of an optional word was looked into: how many values that has depends on no identities."""
    elaborated: list[None] = []
    whole = Elaboration.elaborate_rest
    monkeypatch.setattr(
        Elaboration, "elaborate_rest", lambda self, found: elaborated.append(None) or whole(self, found)
    )
    assert load(FILLED, "filled.ha").diagnostics == ()
    assert len(elaborated) == 1
