"""Replaces the names in records, the same one always by the same: hosts, files, traces, messages, and chosen fields.

What a comparison needs stays: events, times, the order of records, and the number at the end of a node's name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from typing import Any

import pyarrow as pa

from hacheck.traces.findings import TracesError
from hacheck.traces.records import (
    CAUSES,
    FIELDS,
    FILE,
    MESSAGE,
    NODE,
    TRACE_ID,
    FieldType,
    TraceSchema,
)

_NUMBERED = re.compile(r"(.*?)([0-9]+)", re.DOTALL)


class AnonymousNames:
    """New names for old ones, numbered in the order in which these come."""

    def __init__(self, schema: TraceSchema, fields: Collection[str], kept: Collection[str] = ()) -> None:
        """`fields`: those whose texts are names; `kept`: words before the number of a node that are not secret, such as
        the kinds of nodes of a spec. Errors: `TracesError` for a field that there is not, or that has no text."""
        types = dict(schema.fields)
        for name in sorted(fields):
            if types.get(name) not in (FieldType.STRING, FieldType.STRINGS):
                texts = sorted(one for one, kind in types.items() if kind in (FieldType.STRING, FieldType.STRINGS))
                why = "has no text" if name in types else "is no field of these records"
                raise TracesError(f"field {name} {why}", f"fields with texts: {', '.join(texts) or 'none'}")
        self._fields, self._kept = frozenset(fields), {word.lower() for word in kept}
        self._known: dict[tuple[str, str], str] = {}
        self._counts: dict[str, int] = {}
        self._nodes: dict[str, str] = {}

    def learn(self, batches: Iterator[Any]) -> None:
        """Takes note of all names of nodes, which fields may have before their node writes a record."""
        for batch in batches:
            for word in batch.column(NODE).unique().to_pylist():
                self.node(word)

    def replaced(self, batches: Iterator[Any]) -> Iterator[Any]:
        """The same records with other names."""
        for batch in batches:
            for name, change in (
                (NODE, self.node),
                (TRACE_ID, lambda word: self._named("trace", word)),
                (FILE, lambda word: self._named("file", word) if word else word),
                (MESSAGE, lambda word: self._named("message", word)),
                (CAUSES, lambda word: self._named("message", word)),
                (FIELDS, self._value),
            ):
                if name in batch.schema.names:
                    batch = self._column(batch, name, change)
            yield batch

    def node(self, word: str) -> str:
        """The new name of a node: `node-3` for a host that ends in 3, so that it is still the third of its kind."""
        if word in ("", "-"):  # no node wrote it
            return word
        if word not in self._nodes:
            numbered = _NUMBERED.fullmatch(word)
            if numbered is None:
                self._nodes[word] = f"node-{_letters(self._number('unnumbered', word))}"
            else:
                stem = numbered[1].strip(" -_.#").lower()
                new = stem if stem in self._kept else f"node{_letters(self._number('stem', stem), first='')}"
                self._nodes[word] = f"{new}-{int(numbered[2])}"
        return self._nodes[word]

    def _value(self, word: str) -> str:
        """The new name of a text in a field: that of a node, where it is one."""
        return self._nodes.get(word) or self._named("name", word)

    def _named(self, kind: str, word: str) -> str:
        return f"{kind}-{self._number(kind, word)}"

    def _number(self, kind: str, word: str) -> int:
        key = kind, word
        if key not in self._known:
            self._counts[kind] = self._counts.get(kind, 0) + 1
            self._known[key] = str(self._counts[kind])
        return int(self._known[key])

    def _column(self, batch: Any, name: str, change: Callable[[str], str]) -> Any:
        at = batch.schema.get_field_index(name)
        column, kind = batch.column(at), batch.schema.field(at).type
        if name == FIELDS:
            changed = [None if row is None else self._fields_of(row) for row in column.to_pylist()]
        else:
            changed = [_each(value, change) for value in column.to_pylist()]
        return batch.set_column(at, batch.schema.field(at), pa.array(changed, kind))

    def _fields_of(self, row: dict[str, Any]) -> dict[str, Any]:
        return {name: _each(value, self._value) if name in self._fields else value for name, value in row.items()}


def _each(value: Any, change: Callable[[str], str]) -> Any:
    if value is None:
        return None
    return [change(one) for one in value] if isinstance(value, list) else change(value)


def _letters(number: int, first: str = "a") -> str:
    """`first`, `b`, `c`, … for 1, 2, 3, …: no digits, which would be the number of a node."""
    found, rest = "", number - 1
    if not rest:
        return first
    while rest:
        rest, digit = divmod(rest, 26)
        found = chr(ord("a") + digit) + found
    return found
