"""Numbers of lines as the values that records have: the types of fields, words, names, and Arrow columns of them.

What is said about values in `docs/traces.md` is done here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, assert_never

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from hacheck.compile import scalar
from hacheck.model import types as ty
from hacheck.model.types import (
    Bag,
    Bool,
    Enum,
    Identity,
    Map,
    Node,
    Option,
    Range,
    Record,
    Set,
    Type,
    Value,
    cardinality,
    sort_key,
)
from hacheck.traces.records import ARROW_TYPES, FieldType
from hacheck.traces.simulation import random_numbers
from hacheck.traces.simulation.line_variables import Column, Field, Point
from hacheck.traces.simulation.walk_lines import Lines

NO_NODE = "-"
"""The node of lines that are nobody's."""

_TABLE_MAX = 1 << 16  # ordinals of a type that are rendered all at once
_HEX = np.array([ord(digit) for digit in "0123456789abcdef"], np.uint8)
_DASHES = (8, 13, 18, 23)


def word(kind: Type, value: Value) -> str:
    """A value of a scalar type as a word."""
    if value is None:
        return "none"
    match kind:
        case Bool():
            return "true" if value else "false"
        case Range() | Enum():
            return str(value)
        case Node(name) | Identity(name):
            return f"{name}-{value}"
        case Option(element):
            return word(element, value)
        case Set() | Map() | Record() | ty.Sequence() | Bag():
            raise AssertionError(f"{kind} is no word")
        case _:
            assert_never(kind)


def own_type(field: Field) -> FieldType:
    """The type that a field has for itself."""
    kind = field.type
    if field.named:
        return FieldType.STRING
    match kind:
        case Bool():
            return FieldType.BOOL
        case Range() | Option(Range()) | Set(Range()):
            return FieldType.INT if isinstance(kind, Range) else FieldType.INTS
        case Set():
            return FieldType.STRINGS
        case _:
            return FieldType.STRING


def field_types(points: Iterable[Point]) -> dict[str, FieldType]:
    """The type of each field that lines of these points show, in the order of the text."""
    found: dict[str, FieldType] = {}
    for point in points:
        for field in point.fields:
            own = own_type(field)
            before = found.setdefault(field.name, own)
            if before is not own:
                is_set = isinstance(field.type, Set) or before is FieldType.STRINGS
                found[field.name] = FieldType.STRINGS if is_set else FieldType.STRING
    for name in [name for name, kind in found.items() if kind in (FieldType.STRING, FieldType.STRINGS)]:
        # A set may have come before anything that made it words.
        kinds = [field for point in points for field in point.fields if field.name == name]
        if any(isinstance(field.type, Set) for field in kinds):
            found[name] = FieldType.STRINGS
    return found


def rendered(kind: Type, value: Value, form: FieldType) -> Any:
    """A value, other than a name, in the form that its field has."""
    match form:
        case FieldType.BOOL:
            return bool(value)
        case FieldType.INT:
            return int(value)
        case FieldType.STRING:
            return word(kind, value)
        case FieldType.INTS:
            if isinstance(kind, Set):
                return sorted(value)
            return [] if value is None else [value]
        case FieldType.STRINGS:
            if isinstance(kind, Set):
                items = sorted(value, key=lambda item: sort_key(kind.element, item))
                return [word(kind.element, item) for item in items]
            return [word(kind, value)]
        case FieldType.FLOAT:
            raise AssertionError("no value of the language is a float")
        case _:
            assert_never(form)


# ---- names ----


class Names(Struct, frozen=True):
    """Makes names. `start`: where the numbers of the seed begin."""

    start: int

    def of(self, traces: Any, salt: int, numbers: Any) -> Any:
        """A name for each number of a trace (arrays of int64), other ones for another salt: texts as of UUIDs."""
        base = random_numbers.numbers(np.uint64(self.start), traces.astype(np.uint64)) ^ np.uint64(salt)
        high = random_numbers.numbers(base, numbers.astype(np.uint64) * np.uint64(2))
        low = random_numbers.numbers(base, numbers.astype(np.uint64) * np.uint64(2) + np.uint64(1))
        return _as_uuids(high, low)


def salt_of(text: str) -> int:
    """A number for a text."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")


def _as_uuids(high: Any, low: Any) -> Any:
    """Texts of 36 characters for pairs of words, of version 4 and variant 1 as their format has it."""
    high = (high & np.uint64(0xFFFFFFFFFFFF0FFF)) | np.uint64(0x4000)
    low = (low & np.uint64(0x3FFFFFFFFFFFFFFF)) | np.uint64(0x8000000000000000)
    shifts = np.arange(60, -4, -4, dtype=np.uint64)
    digits = np.concatenate(
        [(half[:, None] >> shifts[None, :]) & np.uint64(15) for half in (high, low)], axis=1
    ).astype(np.uint8)
    texts = np.full((len(high), 36), ord("-"), np.uint8)
    texts[:, [place for place in range(36) if place not in _DASHES]] = _HEX[digits]
    offsets = np.arange(0, 36 * (len(high) + 1), 36, dtype=np.int32)
    buffers = [None, pa.py_buffer(offsets.tobytes()), pa.py_buffer(texts.tobytes())]
    return pa.StringArray.from_buffers(len(high), buffers[1], buffers[2])


# ---- columns ----


class LineColumns(Struct, frozen=True):
    """Renders lines as Arrow columns. `points`: with the fields that are shown; `forms`: the type of each field."""

    points: tuple[Point, ...]
    columns: tuple[Column, ...]
    forms: Mapping[str, FieldType]
    names: Names

    def writers(self, lines: Lines) -> tuple[Any, list[str]]:
        """Who wrote each line, as a place among all who may; and these, the first of whom is nobody."""
        words: list[str] = [NO_NODE]
        first = np.zeros(max(len(self.points), 1), np.int64)
        begins: dict[Node, int] = {}
        for number, point in enumerate(self.points):
            kind = point.writer
            if kind is not None:
                if kind not in begins:
                    begins[kind] = len(words) - 1
                    words += [word(kind, value) for value in range(1, kind.size + 1)]
                first[number] = begins[kind]
        return np.where(lines.writer == 0, 0, first[lines.point] + lines.writer), words

    def nodes(self, lines: Lines) -> Any:
        """Who wrote each line."""
        return chosen(*self.writers(lines))

    def events(self, lines: Lines) -> Any:
        """What happened."""
        words = list(dict.fromkeys(point.event for point in self.points))
        place = np.array([words.index(point.event) for point in self.points], np.int64)
        return chosen(place[lines.point], words)

    def fields(self, lines: Lines, first: int) -> Any:
        """The struct of all fields. `first`: the number of the first trace."""
        field_columns = [self.field(name, form, lines, first) for name, form in self.forms.items()]
        return pa.StructArray.from_arrays(field_columns, names=list(self.forms))

    def field(self, name: str, form: FieldType, lines: Lines, first: int) -> Any:
        """One field, null where a line does not show it."""
        showing = [
            (number, field) for number, point in enumerate(self.points) for field in point.fields if field.name == name
        ]
        if form in (FieldType.INT, FieldType.BOOL):
            return self._numbers(form, showing, lines)
        words: list[Any] = []
        place = np.full(len(lines.point), -1, np.int64)
        named = []
        for number, field in showing:
            rows = np.flatnonzero(lines.point == number)
            ordinals = lines.shown[field.column][rows]
            if field.named:
                named.append((rows, ordinals, field))
            else:
                place[rows] = self._placed(words, field, form, ordinals)
        plain = chosen(place, words, ARROW_TYPES[form])
        return plain if not named else self._with_names(plain, named, lines, first, form)

    def _numbers(self, form: FieldType, showing: Sequence[tuple[int, Field]], lines: Lines) -> Any:
        content = np.zeros(len(lines.point), np.int64)
        missing = np.ones(len(lines.point), np.bool_)
        for number, field in showing:
            kind = self.columns[field.column].type
            low = kind.low if isinstance(kind, Range) else 0
            if len(self.points) == 1:
                content, missing = lines.shown[field.column] + low, np.zeros(len(lines.point), np.bool_)
                continue
            rows = np.flatnonzero(lines.point == number)
            content[rows] = lines.shown[field.column][rows] + low
            missing[rows] = False
        values = content != 0 if form is FieldType.BOOL else content
        return pa.array(values, ARROW_TYPES[form], mask=missing)

    def _placed(self, words: list[Any], field: Field, form: FieldType, ordinals: Any) -> Any:
        """The places in `words`, which grow, of some ordinals."""
        kind = self.columns[field.column].type
        begin = len(words)
        if cardinality(kind) <= min(_TABLE_MAX, max(len(ordinals), 64)):
            words += [rendered(kind, scalar(kind, number), form) for number in range(cardinality(kind))]
            return ordinals + begin
        found, places = np.unique(ordinals, return_inverse=True)
        words += [rendered(kind, scalar(kind, number), form) for number in found.tolist()]
        return places.reshape(-1) + begin

    def _with_names(
        self, plain: Any, named: Sequence[tuple[Any, Any, Field]], lines: Lines, first: int, form: FieldType
    ) -> Any:
        """A field of which some lines show names."""
        texts, rows = [], []
        for places, ordinals, field in named:
            kind = self.columns[field.column].type
            salt = salt_of(repr(field.type.element if isinstance(field.type, Option) else field.type))
            low = kind.low if isinstance(kind, Range) else 0
            made = self.names.of(lines.trace[places] + first, salt, ordinals + low)
            if isinstance(field.type, Option) or isinstance(kind, Option):
                made = pc.if_else(pa.array(ordinals == 0), pa.scalar("none"), made)
            texts.append(made)
            rows.append(places)
        whole = pa.concat_arrays([_plain(plain), *(self._listed(made, form) for made in texts)])
        place = np.arange(len(plain))
        begin = len(plain)
        for places in rows:
            place[places] = begin + np.arange(len(places))
            begin += len(places)
        return whole.take(pa.array(place))

    def _listed(self, texts: Any, form: FieldType) -> Any:
        if form is not FieldType.STRINGS:
            return texts
        return pa.ListArray.from_arrays(pa.array(np.arange(len(texts) + 1, dtype=np.int32)), texts)


def chosen(places: Any, words: Sequence[Any], kind: Any = None) -> Any:
    """The words at some places, null where a place is -1; texts as a dictionary, each text in it once."""
    kind = pa.string() if kind is None else kind
    narrow = places.astype(np.int32)
    missing = narrow < 0
    indices = pa.array(narrow, mask=missing) if missing.any() else pa.array(narrow)
    if kind == pa.string():
        distinct = {item: number for number, item in enumerate(dict.fromkeys(words))}
        if len(distinct) != len(words):
            renumbered = np.array([distinct[item] for item in words], np.int32)
            fitting = np.where(missing, 0, narrow)
            indices = pa.array(renumbered[fitting] if len(words) else fitting, mask=missing)
        return pa.DictionaryArray.from_arrays(indices, pa.array(list(distinct), kind))
    return pa.array(list(words), kind).take(indices)


def _plain(values: Any) -> Any:
    return values.dictionary_decode() if pa.types.is_dictionary(values.type) else values
