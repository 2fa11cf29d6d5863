"""Phrases that messages of all parts share."""

from __future__ import annotations

from collections.abc import Iterable


def plural(number: int, noun: str) -> str:
    """`1 step`, `2 steps`, `12,345 states`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def near_words(word: str, known: Iterable[str], *, most: int, likeness: float) -> list[str]:
    """The known words that are most like a word, the likest first; arguments and cost as of `did_you_mean`."""
    from difflib import get_close_matches

    return get_close_matches(word, list(dict.fromkeys(known)), n=most, cutoff=likeness)


def did_you_mean(word: str, known: Iterable[str], *, most: int = 3, likeness: float = 0.6, quote: str = "`") -> str:
    """The question whether one of the known words was meant that are most like an unknown one; empty where none is.

    `most`: how many are named; `likeness`: from 0 (anything) to 1 (the same). Cost: in all lengths of the words.
    """
    near = near_words(word, known, most=most, likeness=likeness)
    return f"did you mean {' or '.join(f'{quote}{name}{quote}' for name in near)}?" if near else ""
