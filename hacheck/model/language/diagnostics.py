"""What is wrong with a `.ha` text, as data; rendering is the command line's."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Literal

from hacheck.model.data import dataclass, field


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of one file: offsets in characters, `end` exclusive. `line`: the line it begins on, counted from 1;
    0 where nobody has counted."""

    path: str
    start: int
    end: int
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Diagnostic:
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
    close = get_close_matches(word, sorted(set(known)), n=3, cutoff=0.6)
    return f"did you mean {' or '.join(f'`{name}`' for name in close)}?" if close else None
