"""The lines of a text log as entries: a line with a head, and the lines that belong to it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from hacheck.traces.adapters.description import LineRule
from hacheck.traces.findings import TEXT_MAX

LINES_MAX = 1_000
"""So many lines of an entry are kept; further ones (of a stack trace, a dump) are counted."""


_NO_TEXT = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
"""Bytes that no text has; escape sequences of colours are text."""


class Entry(Struct, frozen=True):
    """One message of a log. `line`: the number of its first line; `parts`: the groups of its head; `message`: what
    comes after the head; `more`: the lines that belong to it; `more_count`: how many these are in the log. `torn`:
    another head came before the line was over. `is_text`: its first line has no byte that no text has; `is_utf8`: it is
    UTF-8."""

    line: int
    parts: dict[str, str]
    message: str
    more: tuple[str, ...] = ()
    more_count: int = 0
    torn: bool = False
    is_text: bool = True
    is_utf8: bool = True

    @property
    def whole(self) -> str:
        """The message with its further lines, without what these are indented by."""
        return "\n".join([self.message, *(line.strip() for line in self.more)])


class Stray(Struct, frozen=True):
    """A line without a head that belongs to no entry. `continues`: it would, but nothing is above it. `is_text`,
    `is_utf8`: as of an entry."""

    line: int
    text: str
    continues: bool
    is_text: bool = True
    is_utf8: bool = True


def entries(
    lines: Iterable[tuple[int, bytes]], rule: LineRule, is_time: Callable[[str], bool]
) -> Iterator[Entry | Stray]:
    """The entries of a log, and lines that are in none. Lines of blanks below an entry belong to it. `is_time`: whether
    a text is a time stamp: what looks like a head in the middle of a line, and has none, is part of the message."""
    assert rule.head is not None, "texts have heads"
    open_entry: Entry | None = None
    more: list[str] = []
    count = 0
    for number, raw in lines:
        text = raw[: TEXT_MAX * 10].decode("utf-8", errors="backslashreplace")
        found = _taken_apart(number, text, rule.head, is_time)
        is_text = _NO_TEXT.search(raw) is None
        is_utf8 = raw.isascii() or _is_utf8(raw)
        if found and not (is_text and is_utf8):
            found[-1] = replace(found[-1], is_text=is_text, is_utf8=is_utf8)
        if not found and open_entry is not None and _continues(text, rule.continuation):
            count += 1
            if count <= LINES_MAX:
                more.append(text)
            continue
        if open_entry is not None and found and _is_cut_off(found[0], rule.continuation):
            # The process died in a further line of this entry, whose first line is whole.
            count += 1
            more.append(found[0].message)
            found = found[1:]
        if open_entry is not None:
            yield _closed(open_entry, more, count)
            open_entry, more, count = None, [], 0
        if not found:
            yield Stray(number, text, _continues(text, rule.continuation), is_text, is_utf8)
            continue
        yield from found[:-1]
        open_entry = found[-1]
    if open_entry is not None:
        yield _closed(open_entry, more, count)


def _closed(entry: Entry, more: list[str], count: int) -> Entry:
    return replace(entry, more=tuple(more), more_count=count)


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _taken_apart(number: int, text: str, head: re.Pattern[str], is_time: Callable[[str], bool]) -> list[Entry]:
    """The entries that begin on a line: one, or none; two where a process died while it wrote, and its successor went
    on in the same line."""
    found: list[Entry] = []
    match = head.match(text)
    if match is None:
        later = _later_head(text, 1, head, is_time)
        if later is None:
            return []
        found.append(Entry(number, {}, text[: later.start()], torn=True))
        match = later
    while True:
        later = _later_head(text, match.end(), head, is_time)
        parts = {name: value for name, value in match.groupdict().items() if value is not None}
        message = text[match.end() : later.start() if later else None]
        found.append(Entry(number, parts, message, torn=later is not None))
        if later is None:
            return found
        match = later


def _later_head(text: str, start: int, head: re.Pattern[str], is_time: Callable[[str], bool]) -> re.Match[str] | None:
    """A head that begins somewhere later in a line, with a time."""
    while (found := head.search(text, start)) is not None and not is_time(found["time"]):
        start = found.start() + 1
    return found


def _is_cut_off(entry: Entry, continuation: re.Pattern[str] | None) -> bool:
    """Whether it is no entry but a line that belongs to the one above, with a head behind it."""
    return entry.torn and not entry.parts and _continues(entry.message, continuation)


def _continues(text: str, continuation: re.Pattern[str] | None) -> bool:
    return not text.strip() or (continuation is not None and continuation.match(text) is not None)
