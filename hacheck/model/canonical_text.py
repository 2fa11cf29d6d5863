"""Frozen data as a text that is the same in every process, so that it can be a key."""

from __future__ import annotations

import re

_SET_OF_WORDS = re.compile(r"frozenset\(\{((?:'[^'\\]*'|None)(?:, (?:'[^'\\]*'|None))*)\}\)")
_OTHER_SET = re.compile(r"frozenset\(\{[^0-9}]")


def text_of(data: object) -> str | None:
    """A text that differs for different data; `None` where sets in it have an order that differs between processes,
    which that of words has, and that is not known here. Cost: some 10 ns a character."""
    text = _SET_OF_WORDS.sub(lambda found: f"{{{sorted(found[1].split(', '))}}}", repr(data))
    return None if _OTHER_SET.search(text) else text
