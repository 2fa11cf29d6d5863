"""Records as the words that compiled code compares with a model's lines.

A value that the model does not have at all makes its record one that no step can have written; which value, and whether
it is only a bound of the model that it exceeds, is said beside it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct, field

from hacheck.model.observing.record_layout import FIRST_EVENT, FIRST_NAME, NAME_MAX, NONE_NAME, Event, Field, Observed
from hacheck.model.types import Bool, Enum, Identity, Node, Option, Range, Set, Type
from hacheck.traces.conformance.trace_program import Bits, Compiled
from hacheck.traces.records import EVENT, FIELDS, NODE

NONE = "none"
"""How a record says that an option is nothing."""

NO_NODE = "-"
"""The node of lines that are nobody's."""

NODES_NAMED_MAX = 8
"""So many nodes of the model are named where a record names another one."""

_UNKNOWN = -1
_WRONG, _BOUND = -1, -2  # what no value is: not of the type at all; of a larger one of its kind
_TRAILING_NUMBER = re.compile(r"(.*?)([0-9]+)")
_NUMBER = re.compile(r"-?[0-9]+")


class Unmatchable(Struct, frozen=True):
    """A record that no line of the model can equal. `why`: "bound" where a larger model might have one, else "value"
    or "node"; `text`: as a sentence without its full stop."""

    row: int
    why: Literal["bound", "value", "node"]
    text: str


class Encoded(Struct, frozen=True):
    """The records of a batch whose events the model knows.

    `rows`: which of the batch they are; `words`: a row for each; `writers`: by record the place in `Observed.writers`
    (-1: unknown); `unmatchables` by place in `rows`.
    """

    rows: Any
    words: Any
    writers: Any
    unmatchables: Mapping[int, Unmatchable]


class Encoder(Struct):
    """Writes records in words. `names`: the number of each name that is remembered; `numbered`: how many names got a
    number so far."""

    compiled: Compiled
    names: dict[str, int] = field(default_factory=dict)
    numbered: int = 0

    @property
    def shape(self) -> Observed:
        """The observed system."""
        return self.compiled.shape

    def encode(self, batch: Any) -> Encoded:
        """The records of a batch. Errors: none; what does not fit is in the result."""
        events = {event.name: number for number, event in enumerate(self.shape.events, start=FIRST_EVENT)}
        codes = _mapped(batch.column(EVENT), lambda word: events.get(word, 0))
        rows = np.flatnonzero(codes)
        codes = codes[rows]
        work = _Words(self.compiled, len(rows))
        taken = batch.take(pa.array(rows)) if len(rows) < batch.num_rows else batch
        writers = _mapped(taken.column(NODE), self.writer)
        self._fields(taken, codes, work)
        for number, event in enumerate(self.shape.events, start=FIRST_EVENT):
            for row in () if event.written else np.flatnonzero(codes == number).tolist():
                text = f"the spec writes `{event.name}` under other settings only"
                work.unmatchables[row] = Unmatchable(row, "value", text)
        for row in np.flatnonzero(writers == _UNKNOWN).tolist():  # last: whatever else is wrong with it, it is nobody's
            node = taken.column(NODE)[row].as_py()
            work.unmatchables[row] = Unmatchable(row, "node", f"the model has no node `{node}`; it has {self._nodes()}")
        work.put(self.compiled.record.writer, np.where(writers == _UNKNOWN, 0, writers + 1))
        codes = codes.copy()
        codes[list(work.unmatchables)] = 0
        work.put(self.compiled.record.event, codes)
        return Encoded(rows, work.words, writers, work.unmatchables)

    def writer(self, node: str) -> int:
        """The place of a node in `Observed.writers`: by its number, and by its kind where there are several."""
        if node == NO_NODE:
            return len(self.shape.writers) - 1
        node = self.compiled.called.get(node, node)
        found = [
            place
            for place, writer in enumerate(self.shape.writers)
            if writer is not None and self._is_called(writer[0], writer[1], node)
        ]
        return found[0] if len(found) == 1 else _UNKNOWN

    def _nodes(self) -> str:
        """The names of the nodes that a record may name, not all where they are many."""
        names = [f"{writer[0]}-{writer[1]}" for writer in self.shape.writers if writer is not None]
        more = f" and {len(names) - NODES_NAMED_MAX} more" if len(names) > NODES_NAMED_MAX else ""
        return f"{', '.join(names[:NODES_NAMED_MAX])}{more}"

    def _is_called(self, kind: str, number: int, word: str) -> bool:
        parts = _TRAILING_NUMBER.fullmatch(word)
        return parts is not None and int(parts[2]) == number and self.is_kind(kind, parts[1])

    def is_kind(self, kind: str, word: str) -> bool:
        """Whether a node of this kind may be called so, before its number: by its kind, or, where there is no other
        kind, by anything."""
        kinds = {writer[0].lower() for writer in self.shape.writers if writer is not None}
        said = word.strip(" -_.#").lower()
        return said == kind.lower() or (kinds == {kind.lower()} and said not in kinds)

    def _fields(self, batch: Any, codes: Any, work: _Words) -> None:
        if FIELDS not in batch.schema.names:
            return
        shown = batch.column(FIELDS)
        present = {shown.type.field(place).name: place for place in range(shown.type.num_fields)}
        for number, event in enumerate(self.shape.events, start=FIRST_EVENT):
            mine = np.flatnonzero(codes == number)
            if not len(mine):
                continue
            for one in event.fields:
                if one.name in present:
                    values = pc.struct_field(shown, [present[one.name]])
                    own = values if len(mine) == len(codes) else values.take(pa.array(mine))
                    self._field(event, one, own, mine, work)

    def _field(self, event: Event, one: Field, values: Any, rows: Any, work: _Words) -> None:
        record = self.compiled.record
        if values.null_count:
            valid = np.asarray(values.is_valid())
            rows, values = rows[valid], values.filter(pa.array(valid))
        if not len(rows):
            return
        given, content = record.given[one.column], record.content[one.column]
        held = self.shape.columns[one.column].type
        kind = held.element if isinstance(held, Option) else held
        if one.by_name:
            texts, single = _as_text(values)
            for place in np.flatnonzero(~single).tolist():
                text = f"`{one.name}` of `{event.name}` is {values[place].as_py()}, which is not a name"
                work.unmatchables[int(rows[place])] = Unmatchable(int(rows[place]), "value", text)
            work.put(content, _mapped(texts, self.named), rows)
            return
        numbers = _ordinals(kind, one, values, self)
        wrong = np.flatnonzero(numbers < 0)
        for place in wrong.tolist():
            value = values[place].as_py()
            text = f"`{one.name}` of `{event.name}` is {value}, which the model does not have"
            work.unmatchables[int(rows[place])] = Unmatchable(
                int(rows[place]), "bound" if numbers[place] == _BOUND else "value", text
            )
        numbers = np.maximum(numbers, 0)
        if isinstance(kind, Set):
            work.put(given, np.ones(len(rows), np.int64), rows)
            work.put(content, numbers, rows)
        else:
            work.put(content, numbers + 1, rows)

    def forget(self) -> None:
        """Forgets all names: nothing is followed that has seen one."""
        self.names, self.numbered = {}, 0

    def forget_but(self, words: Any) -> None:
        """Forgets the names that some records do not have."""
        kept: set[int] = set()
        for column, place in zip(self.shape.columns, self.compiled.record.content, strict=True):
            if column.by_name and place is not None:
                numbers = (words[:, place.word] >> np.uint64(place.shift)) & np.uint64((1 << place.width) - 1)
                kept.update(np.unique(numbers).tolist())
        self.names = {name: number for name, number in self.names.items() if number in kept}

    def named(self, name: str) -> int:
        """The number of a name."""
        if name == NONE:
            return NONE_NAME
        number = self.names.get(name)
        if number is None:
            number = self.names[name] = self.numbered + FIRST_NAME
            self.numbered += 1
        assert number <= NAME_MAX, "a name has a number"
        return number


class _Words:
    """The words of some records."""

    def __init__(self, compiled: Compiled, count: int) -> None:
        self.words = np.zeros((count, compiled.record.words), np.uint64)
        self.unmatchables: dict[int, Unmatchable] = {}

    def put(self, place: Bits | None, numbers: Any, rows: Any = None) -> None:
        """Writes a number into each record, or into some."""
        if place is None:
            return
        moved = numbers.astype(np.uint64) << np.uint64(place.shift)
        if rows is None:
            self.words[:, place.word] |= moved
        else:
            self.words[rows, place.word] |= moved


def _mapped(values: Any, number: Callable[[Any], int]) -> Any:
    """A number for each value, looked up once for each value that there is."""
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    encoded = values if pa.types.is_dictionary(values.type) else values.dictionary_encode()
    numbers = np.array([number(word) for word in encoded.dictionary.to_pylist()], np.int64)
    return numbers[encoded.indices.to_numpy(zero_copy_only=False)] if len(numbers) else np.zeros(0, np.int64)


def _as_text(values: Any) -> tuple[Any, Any]:
    """Names as texts, and which of the values are one name: a list may be of one."""
    if pa.types.is_list(values.type) or pa.types.is_large_list(values.type):
        single = np.asarray(pc.equal(pc.list_value_length(values), 1))
        items = [str(value[0]) if len(value) == 1 else NONE for value in values.to_pylist()]
        return pa.array(items, pa.string()), single
    every = np.ones(len(values), bool)
    if pa.types.is_string(values.type) or pa.types.is_dictionary(values.type):
        return values, every
    return values.cast(pa.string()), every


def _ordinals(kind: Type, one: Field, values: Any, encoder: Encoder) -> Any:
    """The ordinal of each value in the type of its column; where it has none `_WRONG` or `_BOUND`."""
    own = one.type
    if isinstance(kind, Range) and isinstance(own, Range) and pa.types.is_integer(values.type):
        numbers = values.cast(pa.int64()).to_numpy(zero_copy_only=False)
        least = own.low + one.optional
        inside = (numbers >= least) & (numbers <= own.high)
        return np.where(inside, np.where(inside, numbers, least) - kind.low, _BOUND)
    if _is_list(values.type):
        return np.array([_in_list(kind, one, value, encoder) for value in values.to_pylist()], np.int64)
    if isinstance(kind, Set):
        return _mapped(values, lambda value: _mask(kind, [] if value == NONE else [value], encoder))
    return _mapped(values, lambda value: _single(kind, one, value, encoder))


def _is_list(kind: Any) -> bool:
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind))


def _in_list(kind: Type, one: Field, value: list[Any], encoder: Encoder) -> int:
    """The ordinal of what is written as a list: a set, or a value alone, or of an option none or one."""
    if isinstance(kind, Set):
        # Only an option is a set of enumerated words to which no word `none` belongs.
        nothing = value == [NONE] and _ordinal(kind.element, NONE, encoder) < 0
        return _mask(kind, [] if nothing else value, encoder)
    if one.optional and not value:
        return _single(kind, one, NONE, encoder)
    return _single(kind, one, value[0], encoder) if len(value) == 1 else _WRONG


def _single(kind: Type, one: Field, value: Any, encoder: Encoder) -> int:
    """The ordinal of a value alone."""
    own = one.type
    if not isinstance(kind, Range) or not isinstance(own, Range):
        return _ordinal(kind, value, encoder)
    if one.optional and value == NONE:
        return own.low - kind.low
    number = _whole(value)
    if number is None:
        return _WRONG
    return number - kind.low if own.low + one.optional <= number <= own.high else _BOUND


def _ordinal(kind: Type, value: Any, encoder: Encoder) -> int:
    match kind:
        case Bool():
            known = {"false": 0, "true": 1}
            return int(value) if isinstance(value, bool) else known.get(str(value).lower(), _WRONG)
        case Range(low, high):
            number = _whole(value)
            if number is None:
                return _WRONG
            return number - low if low <= number <= high else _BOUND
        case Enum(_, members):
            return members.index(value) if value in members else _WRONG
        case Node(name, size):
            text = encoder.compiled.called.get(str(value), str(value))
            number = _node_number(name, f"{name}-{text}" if text.isdigit() else text, encoder)
            if number is None:
                return _WRONG
            return number - 1 if 1 <= number <= size else _BOUND
        case Identity(name, size):
            number = _whole(str(value).removeprefix(f"{name}-"))
            if number is None:
                return _WRONG
            return number - 1 if 1 <= number <= size else _BOUND
        case Option(element):
            if value is None or value == NONE:
                return 0
            inner = _ordinal(element, value, encoder)
            return inner if inner < 0 else inner + 1
        case _:
            return _WRONG


def _node_number(kind: str, word: str, encoder: Encoder) -> int | None:
    """The number of a node of this kind by what it is called; `None` if it is called as no such node is."""
    parts = _TRAILING_NUMBER.fullmatch(word)
    return int(parts[2]) if parts is not None and encoder.is_kind(kind, parts[1]) else None


def _whole(value: Any) -> int | None:
    """A number that is written as such, or in digits."""
    if isinstance(value, bool):
        return None
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    if isinstance(value, int):
        return value
    return int(value) if isinstance(value, str) and _NUMBER.fullmatch(value) else None


def _mask(kind: Set, items: list[Any], encoder: Encoder) -> int:
    """The bit mask of a set, or of an option: of one value, or empty."""
    mask = 0
    for item in items:
        number = _ordinal(kind.element, item, encoder)
        if number < 0:
            return number
        mask |= 1 << number
    return mask
