"""The tables of `docs/sources/statements/`: what the documents say, statement by statement, and what carries it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

ROOT = Path(__file__).resolve().parents[2]
TABLES = ROOT / "docs" / "sources" / "statements"

KINDS = ("rules", "data", "properties", "checks", "settings", "tests", "code")
"""What can carry a statement. `rules`: actions, handlers, faults and procedures of a spec; `data`: whatever else is
declared there, fields as `Node.field`; `properties`, `checks`; `settings`: of a spec or of the reference
implementation; `tests`; `code`: modules, classes and functions of the reference implementation."""

MODEL_KINDS = ("rules", "data", "properties", "checks")
"""What only a spec has."""

KEYS = {"id", "section", "words", "kind", "carried_by", "not_behaviour"}


@dataclass(frozen=True, slots=True)
class Section:
    """A section of a document, in reading order. `without`: why it has no statement, or empty."""

    title: str
    without: str


@dataclass(frozen=True, slots=True)
class Statement:
    """One thing that a document says, in words of our own.

    `id`: `HAI-3.5` is the fifth statement of the third section. `kind`: whether it is about what happens or about what
    can be set. `carried_by`: claims by their kind. `not_behaviour`: why nothing needs to carry it, or empty.
    """

    id: str
    section: str
    words: str
    kind: Literal["behaviour", "configuration"]
    carried_by: Mapping[str, tuple[str, ...]]
    not_behaviour: str

    @property
    def claims(self) -> tuple[tuple[str, str], ...]:
        """All that is said to carry it, each with its kind."""
        return tuple((kind, claim) for kind in KINDS for claim in self.carried_by.get(kind, ()))

    @property
    def is_in_a_spec(self) -> bool:
        """Whether a spec says or asks it, be it by a setting."""
        return any(kind in MODEL_KINDS or (kind == "settings" and "::" not in claim) for kind, claim in self.claims)


@dataclass(frozen=True, slots=True)
class Document:
    """What one document says. `prefix`: what the ids of its statements begin with."""

    prefix: str
    title: str
    about: str
    sections: tuple[Section, ...]
    statements: tuple[Statement, ...]

    def of(self, section: Section) -> tuple[Statement, ...]:
        """The statements of a section."""
        return tuple(one for one in self.statements if one.section == section.title)


def paths() -> list[Path]:
    """The tables, one for each document."""
    return sorted(TABLES.glob("*.toml"))


def documents() -> list[Document]:
    """All tables."""
    return [read(path.read_text(encoding="utf-8")) for path in paths()]


def read(text: str) -> Document:
    """A table. Errors: `ValueError`, for keys that it must not have or lacks."""
    table = tomllib.loads(text)
    _expect(table, {"prefix", "document", "about", "section", "statement"}, set(), "the table")
    return Document(
        table["prefix"],
        table["document"],
        table["about"],
        tuple(_section(one) for one in table["section"]),
        tuple(_statement(one) for one in table["statement"]),
    )


def _section(given: dict[str, Any]) -> Section:
    _expect(given, {"title"}, {"without"}, str(given.get("title")))
    return Section(given["title"], given.get("without", ""))


def _statement(given: dict[str, Any]) -> Statement:
    name = str(given.get("id"))
    _expect(given, {"id", "section", "words", "kind"}, KEYS, name)
    carried = given.get("carried_by", {})
    _expect(carried, set(), set(KINDS), name)
    return Statement(
        given["id"],
        given["section"],
        given["words"],
        given["kind"],
        {kind: tuple(claims) for kind, claims in carried.items()},
        given.get("not_behaviour", ""),
    )


def _expect(given: dict[str, Any], needed: set[str], allowed: set[str], name: str) -> None:
    if missing := needed - set(given):
        raise ValueError(f"{name} lacks {', '.join(sorted(missing))}")
    if unknown := set(given) - needed - allowed:
        raise ValueError(f"{name} has {', '.join(sorted(unknown))}, which means nothing")
