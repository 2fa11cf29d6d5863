"""The parser reads what lark reads by the same grammar, and makes the same trees with the same places."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lark import Lark, UnexpectedInput
from lark import Token as LarkToken
from lark.lexer import PatternRE, TerminalDef

from hacheck.model.language.parse_tree import Token, Tree
from hacheck.model.language.parser import GRAMMAR, Unreadable, read
from tests.language.examples import examples

ROOT = Path(__file__).resolve().parents[2]
FILES = [*sorted((ROOT / "spec").glob("*.ha")), *sorted((ROOT / "bench").glob("*.ha"))]
DOCUMENTS = [ROOT / "docs" / "language.md", *sorted((ROOT / "tests" / "language" / "cases").glob("*.md"))]
TEXTS = [*(path.read_text(encoding="utf-8") for path in FILES), *(one.text for it in DOCUMENTS for one in examples(it))]
HEAD = 'system A "x"\n'


@cache
def peer() -> Lark:
    """Lark with the same grammar; made to read words to their ends, or `holds` would be `hold` and `s`."""
    grammar = GRAMMAR.read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", propagate_positions=True, maybe_placeholders=True, edit_terminals=whole_word)


def whole_word(terminal: TerminalDef) -> None:
    if terminal.pattern.type == "str" and terminal.pattern.value.isidentifier():
        terminal.pattern = PatternRE(terminal.pattern.value + r"\b")
        terminal.priority = 1


def of_lark(node: Any) -> object:
    if node is None:
        return None
    if isinstance(node, LarkToken):
        return node.type, str(node), (node.start_pos, node.end_pos, node.line)
    place = (0, 0, 0) if node.meta.empty else (node.meta.start_pos, node.meta.end_pos, node.meta.line)
    return str(node.data), [of_lark(child) for child in node.children], place


def of_ours(node: Tree | Token | None) -> object:
    if node is None:
        return None
    if isinstance(node, Token):
        return node.kind, node.text, node.place
    return node.data, [of_ours(child) for child in node.children], node.place


def height(node: Tree) -> int:
    return max((height(child) + 1 for child in node.children if isinstance(child, Tree)), default=0)


def compare(text: str) -> bool:
    """Fails when the two parsers do not agree; returns whether the text could be read."""
    expected, place = None, 0
    try:
        expected = peer().parse(text)
    except UnexpectedInput as failure:
        place = failure.pos_in_stream or 0
    if expected is None:
        with pytest.raises(Unreadable) as ours:
            read(text)
        assert ours.value.start == place
        return False
    found = read(text)
    assert of_ours(found.root) == of_lark(expected)
    assert found.root.height == height(found.root)
    assert [str(token) for token in found.tokens] == [str(token) for token in peer().lex(text)]
    return True


@pytest.mark.parametrize("text", TEXTS)
def test_specs_are_read_as_lark_reads_them(text: str) -> None:
    compare(text)


@given(st.sampled_from([text for text in TEXTS if len(text) < 3_000]), st.data())
@settings(max_examples=200, deadline=None)
def test_a_word_that_is_missing_is_missed_where_lark_misses_it(text: str, data: st.DataObject) -> None:
    tokens = [(token.start_pos or 0, token.end_pos or 0) for token in peer().lex(text)]
    start, end = data.draw(st.sampled_from(tokens))
    compare(text[:start] + " " + text[end:])


@pytest.mark.parametrize(
    ("text", "readable"),
    [
        ("param at = 1", True),  # a word of the language where it is none
        ("param x = 0x", False),
        ("param a = 1 -2 param b=1--2 type T=0..3 type S=-1..-a", True),
        ("check a expect all hold", True),
        ("invariant i: at most one x: bool where at\n  most one y: bool where x == y", True),
        ("define f = exactly", True),
        ("define f = exactly one x: bool where x", True),
        ("define f = (((((1)))))", True),
        ("define f = {} define g = [] define h(a: bool): bool = f", True),
        ("procedure p() do procedure q() do x := 1; y := 2 if x == y then { } else { halt; finish }", True),
        ("procedure p() do ;", False),
        ("# nothing but a comment", True),
    ],
)
def test_corners_are_read_as_lark_reads_them(text: str, readable: bool) -> None:
    assert compare(HEAD + text) == readable


@pytest.mark.parametrize("text", ["check a expect all holds", "procedure p() do if a thenb := 1", "onoff"])
def test_a_word_is_read_to_its_end(text: str) -> None:
    assert not compare(HEAD + text)


def test_open_brackets_are_told() -> None:
    text = HEAD + "procedure p() do x := (1 + [2]) if a then { b := ( }"
    with pytest.raises(Unreadable) as failure:
        read(text)
    assert [text[place] for place in failure.value.opened] == ["{", "("]
