"""What is said of a name that is known in a block of the same handler, and not where it is read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from hacheck.model.language import declarations as d
from hacheck.model.language.diagnostics import Diagnostic

UNKNOWN = re.compile(r"there is no `(\w+)` (?:here|to assign)")


def with_blocks(diagnostics: Iterable[Diagnostic], file: d.File, text: str) -> Iterator[Diagnostic]:
    """The same diagnostics; those of names that a block above has declared say so. `text`: of the file."""
    starts = [one.span.start for one in file.declarations]
    for one in diagnostics:
        unknown = UNKNOWN.fullmatch(one.message) if one.code == "HA103" else None
        start = max((start for start in starts if start <= one.span.start), default=None)
        if unknown is None or start is None or one.span.path != file.name.span.path:
            yield one
            continue
        above = text[start : one.span.start]
        declared = list(re.finditer(rf"\b(?:as|let|var|choose|for)\s+{unknown[1]}\b", above))
        if not declared:
            yield one
            continue
        line = text.count("\n", 0, start + declared[-1].start()) + 1
        hint = f"that of line {line} is known to the end of its block, or of its only statement: declare it outside"
        yield replace(one, hint=hint)
