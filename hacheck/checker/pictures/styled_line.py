"""A line of text whose characters have styles, for terminals to show in colour and for all others as it is."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby


class StyledLine:
    """Characters with a style each: words such as `bold red`, or nothing."""

    __slots__ = ("chars", "styles")

    def __init__(self, words: str = "", style: str = "") -> None:
        self.chars = list(words)
        self.styles = [style] * len(words)

    @property
    def plain(self) -> str:
        """The line without its styles."""
        return "".join(self.chars)

    def append(self, words: str, style: str = "") -> StyledLine:
        """Adds words at the end."""
        self.chars += words
        self.styles += [style] * len(words)
        return self

    def append_line(self, other: StyledLine) -> StyledLine:
        """Adds another line at the end."""
        self.chars += other.chars
        self.styles += other.styles
        return self

    def stylize(self, style: str, start: int = 0, end: int | None = None) -> None:
        """Adds a style to some of the characters."""
        for place in range(start, len(self.chars) if end is None else min(end, len(self.chars))):
            self.styles[place] = f"{self.styles[place]} {style}".strip()

    def rstrip(self) -> None:
        """Takes blanks off the end."""
        length = len(self.plain.rstrip())
        del self.chars[length:], self.styles[length:]

    def spans(self) -> Iterator[tuple[str, str]]:
        """The pieces of one style each, in order: words and style."""
        for style, pairs in groupby(zip(self.chars, self.styles, strict=True), key=lambda pair: pair[1]):
            yield "".join(char for char, _ in pairs), style
