"""An open spec: its text, what is wrong with it, what its names mean, and places as editors count them."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from urllib.parse import quote, unquote, urlparse

from hacheck.lsp.symbols import Index, index_of
from hacheck.model.language import load
from hacheck.model.language.declarations import File
from hacheck.model.language.diagnostics import Diagnostic, Span
from hacheck.model.language.parse import parse

Reader = Callable[[str], str | None]
"""The text of another file by its path; `None` where it cannot be read."""

WORD = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")


def path_of(uri: str) -> str:
    """The path that a URI names; of one that is no file, the URI itself."""
    found = urlparse(uri)
    return unquote(found.path) if found.scheme == "file" else uri


def uri_of(path: str) -> str:
    """The URI of a path."""
    return path if "://" in path else f"file://{quote(str(Path(path).absolute()))}"


class Lines:
    """A text by lines. Editors count a place by line and by UTF-16 units within it, both from 0."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts = [0, *(found.end() for found in re.finditer(r"\n", text))]

    def position(self, offset: int) -> tuple[int, int]:
        """The line and column of an offset in characters."""
        offset = max(0, min(offset, len(self.text)))
        low, high = 0, len(self.starts)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.starts[middle] <= offset else (low, middle)
        return low, _units(self.text[self.starts[low] : offset])

    def offset(self, line: int, column: int) -> int:
        """The offset of a place; places beyond a line are at its end, those beyond the text at the end of it."""
        if line >= len(self.starts):
            return len(self.text)
        start = self.starts[line]
        end = self.starts[line + 1] - 1 if line + 1 < len(self.starts) else len(self.text)
        taken = 0
        for place in range(start, end):
            if taken >= column:
                return place
            taken += _units(self.text[place])
        return end


def _units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


class SpecFile:
    """A spec as it is at one moment in an editor. What is costly is made when it is first used."""

    def __init__(self, uri: str, text: str, read: Reader) -> None:
        self.uri, self.path, self.text, self._read = uri, path_of(uri), text, read
        self.lines = Lines(text)

    @cached_property
    def parsed(self) -> tuple[File | None, tuple[Diagnostic, ...]]:
        """The declarations that can be read, and every syntax error."""
        return parse(self.text, self.path)

    @cached_property
    def findings(self) -> tuple[Diagnostic, ...]:
        """Everything that is wrong with the text, types included. Cost: up to a second for the largest specs. A library
        is read only: it means something where it is used."""
        file, found = self.parsed
        if file is None or file.library:
            return found
        return load(self.text, self.path, self._read).diagnostics

    @cached_property
    def first_findings(self) -> tuple[Diagnostic, ...]:
        """What is wrong with the text under the defaults of its settings. Cost: a part of that of `findings`."""
        file, found = self.parsed
        if file is None or file.library:
            return found
        return load(self.text, self.path, self._read, defaults_only=True).diagnostics

    @cached_property
    def libraries(self) -> dict[str, str]:
        """The texts of the libraries that the file uses, by path."""
        file, _ = self.parsed
        found: dict[str, str] = {}
        waiting = [] if file is None else [str(Path(self.path).parent / name) for name, _ in file.uses]
        while waiting:
            path = str(Path(waiting.pop()).resolve())
            text = None if path in found else self._read(path)
            if text is not None:
                found[path] = text
                library, _ = parse(text, path)
                waiting += [] if library is None else [str(Path(path).parent / name) for name, _ in library.uses]
        return found

    @cached_property
    def index(self) -> Index:
        """What the names mean, as far as the file can be read."""
        file, _ = self.parsed
        declarations = [] if file is None else list(file.declarations)
        for path, text in self.libraries.items():
            library, _ = parse(text, path)
            declarations += [] if library is None else list(library.declarations)
        return index_of(declarations)

    def lines_of(self, path: str) -> Lines | None:
        """The lines of this file or of a library."""
        if path == self.path:
            return self.lines
        text = self.libraries.get(str(Path(path).resolve()))
        return None if text is None else Lines(text)

    def written(self, span: Span) -> str:
        """What stands at a place of this file or of a library."""
        lines = self.lines_of(span.path)
        return "" if lines is None else lines.text[span.start : span.end]

    def word_before(self, offset: int) -> tuple[str, str]:
        """The beginning of a word that ends at a place, and the sign or word that stands before it."""
        start = offset
        while start > 0 and (self.text[start - 1].isalnum() or self.text[start - 1] == "_"):
            start -= 1
        before = self.text[:start].rstrip(" \t")
        found = re.search(r"([A-Za-z_][A-Za-z_0-9]*|\.|:|\S)$", before)
        return self.text[start:offset], found.group() if found else ""
