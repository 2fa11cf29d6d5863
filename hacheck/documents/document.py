"""What all documents have in common: their kind, their version, and the hacheck that wrote them."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, TypeVar

import msgspec

Json: TypeAlias = Any
"""Data that the standard library's JSON encoder takes: a recursive type that Python cannot narrow usefully."""

Kind = TypeVar("Kind", bound=msgspec.Struct)


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a document."""


class Document(msgspec.Struct, frozen=True, kw_only=True, tag_field="document"):
    """The base of all documents. `document` (the kind) comes first; `hacheck`: the version of hacheck that wrote it."""

    version: Literal[1] = 1
    hacheck: str

    def to_dict(self) -> dict[str, Json]:
        """The document as plain data, keys in their order."""
        built: dict[str, Json] = msgspec.to_builtins(self)
        return built


def from_dict(kind: type[Kind], content: Json) -> Kind:
    """The document, or the part of one, that plain data is.

    Errors: `msgspec.ValidationError`, with the place, where it is none.
    """
    return msgspec.convert(content, type=kind)
