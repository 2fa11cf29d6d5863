"""`hacheck explain`: what words of the language and terms of the glossary mean."""

from __future__ import annotations

import pytest

from hacheck.model.language.word_reference import functions, reference, terms, words_of_the_language
from tests.cli.command import hacheck


def test_every_word_of_the_language_and_every_term_is_explained() -> None:
    for word in words_of_the_language() | set(terms()):
        found = reference(word)
        assert found is not None, word
        assert found.form or found.terms or found.passages or found.example, word
        assert found.sentence() or found.example or found.form, word


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("leads_to", "Write `leads_to NAME: … ~> … fair all`."),
        ("every", "Write `every x: T satisfies …`, or of some of them `every x: T where … satisfies …`."),
        ("take", "| `take(s, n)`, `drop(s, n)` | the first `n` elements; all but the first `n` |"),
        ("paused", "`paused`"),
        ("acknowledged to clients", "marks what clients have been"),
        ("lasso", "**lasso**: An infinite run: a stem, then a cycle."),
        ("step_invariant", "**step invariant**: Holds of every step"),
        ("Knowledge Rule", "**knowledge rule**:"),
    ],
)
def test_what_is_said_of_a_word(word: str, said: str) -> None:
    found = reference(word)
    assert found is not None
    assert said in found.markdown()


def test_of_a_table_only_the_rows_of_the_word_are_quoted() -> None:
    found = reference("take")
    assert found is not None
    assert "`join(s, t)` | the elements of" not in found.markdown()


def test_an_action_of_a_words_name_is_no_example_of_the_word() -> None:
    for word in functions():
        found = reference(word)
        assert found is not None
        assert not found.example or f"{word}(" in found.example.replace(f"action {word}(", "")


def test_the_command_explains_a_word_and_offers_like_ones() -> None:
    said = hacheck("explain", "leads_to", PYTHONIOENCODING="utf-8").out
    assert "~>" in said
    assert "## Properties" in said
    ended = hacheck("explain", "lead_to")
    assert ended.code == 2
    assert "did you mean leads_to" in ended.err
