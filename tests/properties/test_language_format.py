"""Formatting: the same declarations are read, a second time changes nothing, comments and lines stay."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct

from hacheck.model.language import Span
from hacheck.model.language.format import format_text
from hacheck.model.language.parse import parse
from hacheck.model.language.parser import read as read_tree
from tests.language.examples import examples

ROOT = Path(__file__).resolve().parents[2]
FILES = [*sorted((ROOT / "spec").glob("*.ha")), *sorted((ROOT / "bench").glob("*.ha"))]
DOCUMENTS = [ROOT / "docs" / "language.md", *sorted((ROOT / "tests" / "language" / "cases").glob("*.md"))]
EXAMPLES = [one for path in DOCUMENTS for one in examples(path)]
LIBRARIES = sorted({text for one in EXAMPLES for text in one.libraries.values()})
TEXTS = [*(path.read_text(encoding="utf-8") for path in FILES), *(one.text for one in EXAMPLES), *LIBRARIES]
READABLE = [text for text in TEXTS if not parse(text, "x.ha")[1]]


def without_spans(part: object) -> object:
    """A tree with its spans left out."""
    if isinstance(part, Span):
        return None
    if isinstance(part, tuple):
        return tuple(without_spans(item) for item in part)
    if isinstance(part, Struct):
        return (type(part), tuple(without_spans(getattr(part, name)) for name in part.__struct_fields__))
    return part


def read(text: str) -> object:
    file, diagnostics = parse(text, "x.ha")
    assert diagnostics == (), text
    return without_spans(file)


def comments(text: str) -> list[str]:
    return [line.rstrip() for line in re.findall(r"#[^\n]*", re.sub(r'"[^"\n]*"', "", text))]


@cache
def tokens(text: str) -> tuple[tuple[int, int], ...]:
    return tuple(token.place[:2] for token in read_tree(text).tokens)


def assert_well_formatted(text: str) -> None:
    made = format_text(text)
    assert read(made) == read(text)
    assert format_text(made) == made
    assert comments(made) == comments(text)
    assert not re.search(r"[ \t]+$", made, re.MULTILINE)
    assert "\n\n\n" not in made


@pytest.mark.parametrize("text", READABLE)
def test_spec_means_the_same_and_stays(text: str) -> None:
    assert_well_formatted(text)


def test_libraries_and_those_that_use_them_are_among_the_specs() -> None:
    assert any(text in READABLE for text in LIBRARIES)
    assert any(one.text in READABLE for one in EXAMPLES if one.libraries and "use " in one.text)


@given(st.sampled_from(READABLE), st.data())
@settings(max_examples=60)
def test_white_space_does_not_matter(text: str, data: st.DataObject) -> None:
    places = tokens(text)
    chosen = data.draw(st.lists(st.integers(0, len(places) - 1), max_size=12))
    blanks = data.draw(st.lists(st.sampled_from(["\n", "   ", "\t", "\n\n\n  ", " # aside\n"]), min_size=1, max_size=4))
    for number, index in enumerate(sorted(set(chosen), reverse=True)):
        text = text[: places[index][0]] + blanks[number % len(blanks)] + text[places[index][0] :]
    assert_well_formatted(text)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_shipped_specs_are_formatted(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert format_text(text) == text


def test_layout() -> None:
    text = """
system   A"x"
node S[ 2 ]symmetric{mode:{a,b}=a
n:0 .. 3=0}   # two
   # about go
action go( s:S )when s.mode==a and(s.n<-1 or
s.n in{ 1,2 })
do
if s.n==1 then{s.n:=s . n+1
s.mode:=b}else if s.n == 2
then s.n:=-1
let k=if s.n==0 then 1
else 2
"""
    assert (
        format_text(text)
        == """system A "x"
node S[2] symmetric { mode: { a, b } = a
  n: 0..3 = 0 }   # two
# about go
action go(s: S) when s.mode == a and (s.n < -1 or
    s.n in {1, 2})
do
  if s.n == 1 then { s.n := s.n + 1
    s.mode := b } else if s.n == 2
    then s.n := -1
  let k = if s.n == 0 then 1
    else 2
"""
    )


def test_ways_of_a_choice_stand_below_each_other() -> None:
    text = """system A "x"
node S { n: 0..2 = 0 }
define one =
  if S.n == 0 then 1
  else 2
define two = if S.n == 0
  then 1
  else if S.n == 1 then 3
  else 2
invariant i:
  if S.n == 0 then one == 1
  else two > 1
"""
    assert format_text(text) == text


def test_long_lines_stay() -> None:
    text = 'system A "x"\ndefine long = ' + " + ".join(["1"] * 100) + "\n"
    assert format_text(text) == text


def test_text_that_cannot_be_read_stays() -> None:
    assert format_text("system A { ") == "system A { "
