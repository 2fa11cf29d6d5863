"""Words of the language that have another name now: an error names it, and `hacheck fmt --upgrade` writes it."""

from __future__ import annotations

import re

from msgspec import Struct

from hacheck.model.language.diagnostics import Diagnostic, Span
from hacheck.model.language.lexer import NAME
from hacheck.model.language.parser import Unreadable, read

WORDS = {"datagram": "queued", "transition": "step_invariant"}
"""The word of today for each old one."""


class OldWord(Struct, frozen=True):
    """An old word in a text, from `start` to `end`, and what it is called now."""

    start: int
    end: int
    new: str

    def diagnostic(self, text: str, path: str) -> Diagnostic:
        """The error."""
        message = f"`{text[self.start : self.end]}` is called `{self.new}` now"
        hint = f"`hacheck fmt --upgrade {path}` rewrites the file"
        return Diagnostic("HA009", message, Span(path, self.start, self.end), hint=hint)


def old_word(failure: Unreadable, text: str) -> OldWord | None:
    """The old word at which a text cannot be read on, if it is one: only where the old grammar had it, for elsewhere it
    is a name like any other."""
    if failure.kind == NAME and "QUEUED" in failure.wanted and failure.text == "datagram":
        return _at(failure.start, "datagram")
    places = [failure.start] if failure.kind == NAME else []
    places += [failure.before[1]] if failure.before[0] == NAME else []  # it has been taken for the name of a variable
    for place in places:
        if re.compile(r"transition\s+[A-Za-z_{]").match(text, place) and _begins_line(text, place):
            return _at(place, "transition")
    return None


def upgraded(text: str) -> str:
    """The text with the words of today; everything else is unchanged. Cost: it is read once for each old word."""
    while True:
        try:
            read(text)
        except Unreadable as failure:
            found = old_word(failure, text)
            if found is None:
                return text
            text = text[: found.start] + found.new + text[found.end :]
        else:
            return text


def _at(place: int, word: str) -> OldWord:
    return OldWord(place, place + len(word), WORDS[word])


def _begins_line(text: str, place: int) -> bool:
    return not text[text.rfind("\n", 0, place) + 1 : place].strip()
