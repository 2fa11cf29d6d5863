"""XML as entries: elements by their names without prefixes, attributes as `@name`. Entities are refused."""

from __future__ import annotations

from typing import Any
from xml.parsers import expat

from hacheck.audit.entries import Entry, Unreadable

DEPTH_MAX = 200
"""So deep elements may be nested."""


class _Open:
    """An element that has not ended."""

    def __init__(self, name: str, line: int, attributes: list[Entry]) -> None:
        self.name, self.line, self.inner = name, line, attributes
        self.text: list[str] = []

    def ended(self) -> Entry:
        text = "".join(self.text).strip()
        return Entry(self.name, text or None, self.line, tuple(self.inner))


def read_xml(text: str, file: str) -> tuple[Entry, ...]:
    """The elements of a document. Errors: `Unreadable`, also for a document that declares an entity."""
    parser = expat.ParserCreate()
    stack = [_Open("", 0, [])]

    def start(name: str, attributes: dict[str, str]) -> None:
        if len(stack) > DEPTH_MAX:
            raise Unreadable(file, parser.CurrentLineNumber, f"elements are nested more than {DEPTH_MAX} deep")
        line = parser.CurrentLineNumber
        of_element = [
            Entry(f"@{_local(key)}", value, line) for key, value in attributes.items() if not key.startswith("xmlns")
        ]
        stack.append(_Open(_local(name), line, of_element))

    def end(name: str) -> None:
        element = stack.pop().ended()
        stack[-1].inner.append(element)

    def refuse(*given: Any) -> int:
        raise Unreadable(
            file, parser.CurrentLineNumber, "declares an entity, which is not expanded", "write its text in its place"
        )

    def characters(data: str) -> None:
        stack[-1].text.append(data)

    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = characters
    parser.EntityDeclHandler = parser.UnparsedEntityDeclHandler = refuse
    parser.ExternalEntityRefHandler = refuse
    try:
        parser.Parse(text.encode("utf-8"), True)
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code) or "not well-formed"
        raise Unreadable(file, error.lineno, f"is no XML: {reason}", "the product would not read it either") from None
    return tuple(stack[0].inner)


def _local(name: str) -> str:
    return name.rpartition(":")[2]
