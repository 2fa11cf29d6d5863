"""Lines of a system under test as the words that compiled code compares with a model's lines, one at a time."""

from __future__ import annotations

import json
from collections.abc import Mapping
from io import BytesIO
from typing import Any

import numpy as np
import pyarrow as pa
from msgspec import Struct
from pyarrow.json import ParseOptions, read_json

from hacheck.model.observing.record_layout import FIRST_NAME
from hacheck.traces.conformance.canonical_names import name_places
from hacheck.traces.conformance.record_encoding import NO_NODE, Encoder, Unmatchable
from hacheck.traces.conformance.trace_program import Bits, Compiled
from hacheck.traces.records import EVENT, FIELDS, NODE, FieldType, fields_type


class UnfitEvent(Exception):
    """A line of a system under test cannot be read; says why, and what to do."""

    __module__ = "hacheck.testing"  # where people find it


class Event(Struct, frozen=True):
    """A line that a system under test shows: who wrote it, what happened, and what of it the line shows.

    `node`: by its name, as `Server-1`; `-` for nobody. `fields`: numbers, words, truth values, or lists or sets of
    them; `None` is the same as `none`. `at`: when it was written, in seconds by the `clock` of the adapter, or any
    number that grows with every line; with it a line that is read after a step may have come before it.
    """

    node: str
    name: str
    fields: Mapping[str, Any] = {}
    at: float | None = None

    @property
    def text(self) -> str:
        """It in words."""
        shown = ", ".join(f"{name}: {_word(value)}" for name, value in self.fields.items())
        who = "" if self.node == NO_NODE else f"{self.node}: "
        return f"{who}{self.name}({shown})" if shown else f"{who}{self.name}"


class Line(Struct, frozen=True):
    """A line in words, after others. `names`: all that were shown so far; `unmatchable`: why no line of the model can
    be equal to it."""

    words: bytes
    names: tuple[str, ...]
    unmatchable: Unmatchable | None


class _Read(Struct, frozen=True):
    """A line by itself: its names numbered from `FIRST_NAME` on, as listed."""

    words: Any
    names: tuple[str, ...]
    unmatchable: Unmatchable | None


class Lines:
    """Reads lines, each kind once."""

    def __init__(self, compiled: Compiled) -> None:
        self._encoder = Encoder(compiled)
        self._names = name_places(compiled)
        self._known: dict[tuple[Any, ...], _Read | None] = {}
        self.unknown: dict[str, int] = {}
        """Events that the spec says nothing of, and how often each was shown."""

    def line(self, event: Event, names: tuple[str, ...]) -> Line | None:
        """A line after lines that have shown these names; `None` if the spec says nothing of such an event. Errors:
        `UnfitEvent`."""
        read = self._once(event)
        if read is None:
            self.unknown[event.name] = self.unknown.get(event.name, 0) + 1
            return None
        if not read.names:
            return Line(read.words.tobytes(), names, read.unmatchable)
        numbers = []
        for name in read.names:
            if name not in names:
                names = (*names, name)
            numbers.append(names.index(name) + FIRST_NAME)
        words = read.words.copy()
        for place in self._names:
            number = int(words[place.word]) >> place.shift & (1 << place.width) - 1
            if number >= FIRST_NAME:
                _put(words, place, numbers[number - FIRST_NAME])
        return Line(words.tobytes(), names, read.unmatchable)

    def knows(self, event: Event) -> bool:
        """Whether the spec says anything of such an event. Errors: `UnfitEvent`."""
        return self._once(event) is not None

    def _once(self, event: Event) -> _Read | None:
        fields = tuple((name, _plain(event, name, value)) for name, value in event.fields.items())
        # Python takes `True` for 1; lines do not.
        key = (event.node, event.name, fields, tuple(type(value) for _, value in fields))
        if key in self._known:
            return self._known[key]
        found = self._known[key] = self._read(event, dict(fields))
        return found

    def _read(self, event: Event, fields: Mapping[str, Any]) -> _Read | None:
        types = [(NODE, pa.string()), (EVENT, pa.string())]
        if fields:
            types.append((FIELDS, fields_type((name, _type(value)) for name, value in fields.items())))
        content = json.dumps({NODE: event.node, EVENT: event.name, **({FIELDS: fields} if fields else {})})
        # Made of Python's values it would load pandas, which takes longer than all the rest.
        table = read_json(BytesIO(content.encode()), parse_options=ParseOptions(explicit_schema=pa.schema(types)))
        self._encoder.forget()
        encoded = self._encoder.encode(table.to_batches()[0])
        if not len(encoded.rows):
            return None
        return _Read(encoded.words[0], tuple(self._encoder.names), encoded.unmatchables.get(0))


def _plain(event: Event, name: str, value: Any) -> Any:
    """A value of a field as traces have it. Errors: `UnfitEvent`."""
    match value:
        case None:
            return "none"
        case bool() | int() | float() | str():
            return value
        case list() | tuple() | set() | frozenset():
            items = sorted(value, key=str) if isinstance(value, (set, frozenset)) else value
            if all(type(item) is type(items[0]) and isinstance(item, (int, str)) for item in items):
                return tuple(items)
    raise UnfitEvent(
        f"`{name}` of `{event.name}` is {value!r}: a line shows numbers, words, truth values, and lists of these"
    )


def _type(value: Any) -> FieldType:
    """The type of a field with this value."""
    if isinstance(value, tuple):
        return FieldType.INTS if value and isinstance(value[0], int) else FieldType.STRINGS
    return {bool: FieldType.BOOL, int: FieldType.INT, float: FieldType.FLOAT}.get(type(value), FieldType.STRING)


def _put(words: Any, place: Bits, number: int) -> None:
    cleared = int(words[place.word]) & ~(((1 << place.width) - 1) << place.shift)
    words[place.word] = np.uint64(cleared | number << place.shift)


def _word(value: Any) -> str:
    match value:
        case None:
            return "none"
        case bool():
            return "true" if value else "false"
        case list() | tuple():
            return ", ".join(_word(item) for item in value)
        case set() | frozenset():
            return ", ".join(sorted(_word(item) for item in value))
    return str(value)
