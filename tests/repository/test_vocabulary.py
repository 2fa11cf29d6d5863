"""Code, messages and pages use the terms of the glossary."""

from __future__ import annotations

import io
import re
from collections import Counter

from tests.repository.vocabulary import (
    NAMES_OF_PLACES,
    ROOT,
    code_words_in,
    counts,
    found_in,
    left,
    names_in,
    too_little,
)

UPDATE = "python -m tests.repository.vocabulary --update"


def test_words_that_the_project_does_not_use_only_become_fewer() -> None:
    now, before = counts(), left()
    more = {
        f"{part}: {word}": (before.get(part, Counter())[word], count)
        for part, words in now.items()
        for word, count in words.items()
        if count > before.get(part, Counter())[word]
    }
    assert more == {}, "say it with the term of docs/glossary.md"
    assert now == before, f"there are fewer: {UPDATE}"


def test_words_are_found_in_names_sentences_and_phrases() -> None:
    text = "def is_told(crewMember): ...\n# whoever asks is Judged; the file says where: place.tell()\nit goes round\n"
    assert list(found_in(text)) == [(1, "told"), (1, "crew"), (2, "whoever"), (2, "judged"), (3, "goes round")]


def test_the_package_says_what_is_checked_wanted_or_requested() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}: {word}"
        for path in sorted((ROOT / "hacheck").rglob("*.py"))
        for number, word in (*code_words_in(path.read_text(encoding="utf-8")), *names_in(path))
    ]
    assert found == []
    assert [name for name in NAMES_OF_PLACES if not (ROOT / name).exists()] == []
    assert list(code_words_in('isAsked = 1  # nobody asked\nrecord("asked")')) == [(1, "asked"), (1, "asked")]


def test_names_that_say_too_little_are_found() -> None:
    text = "one_way = under_way = 1\nways_of = firstWay = 2  # any way\n"
    assert list(too_little(io.StringIO(text))) == [(2, "ways_of"), (2, "firstWay")]


def test_the_glossary_names_what_there_is() -> None:
    page = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    named = [one for one in re.findall(r"`([\w./]+)`", page) if "/" in one]
    assert len(named) > 60
    assert [one for one in named if not (ROOT / one).exists()] == []
