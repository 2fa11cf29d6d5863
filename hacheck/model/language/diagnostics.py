"""What is wrong with a `.ha` text, as data; rendering is the command line's."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from hacheck.wording import did_you_mean


class Span(Struct, frozen=True):
    """A stretch of one file: offsets in characters, `end` exclusive. `line`: the line it begins on, counted from 1;
    0 where nobody has counted."""

    path: str
    start: int
    end: int
    line: int = 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Span) and self._extent == other._extent

    def __hash__(self) -> int:
        return hash(self._extent)

    @property
    def _extent(self) -> tuple[str, int, int]:
        """What makes a span: the line follows from it."""
        return self.path, self.start, self.end


class Diagnostic(Struct, frozen=True):
    """One finding. `code` is explained in `codes`; `labels` point at further places; `hint` says what to write."""

    code: str
    message: str
    span: Span
    labels: tuple[tuple[Span, str], ...] = ()
    hint: str | None = None
    severity: Literal["error", "warning"] = "error"


class SpecError(Exception):
    """Ends the treatment of one declaration; the pass over the declarations collects its diagnostic."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


def error(code: str, message: str, span: Span, hint: str | None = None, *labels: tuple[Span, str]) -> SpecError:
    """A `SpecError` to be raised."""
    return SpecError(Diagnostic(code, message, span, labels, hint))


def near(word: str, known: Iterable[str]) -> str | None:
    """A hint that names the known words most like an unknown one."""
    return did_you_mean(word, sorted(set(known))) or None
