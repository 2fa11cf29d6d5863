"""Records as the words that compiled code compares with a model's lines.

A value that the model does not have at all makes its record one that no step can have written; which value, and whether
it is only a bound of the model that it exceeds, is told beside it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hacheck.model.data import dataclass, field
from hacheck.model.observing.records import FIRST_EVENT, NAME_MAX, Event, Field, Observed
from hacheck.model.types import Bool, Enum, Identity, Node, Option, Range, Set, Type
from hacheck.traces.conformance.program import Bits, Compiled
from hacheck.traces.records import EVENT, FIELDS, NODE

NONE = "none"
"""How a record says that an option is nothing."""

NOBODY = "-"
"""The node of lines that are nobody's."""

_UNKNOWN = -1
_TRAILING_NUMBER = re.compile(r"(.*?)(\d+)")


@dataclass(frozen=True, slots=True)
class Misfit:
    """A record that no line of the model can equal. `why`: "bound" where a larger model might have one, else "value"
    or "node"; `text`: as a sentence without its full stop."""

    row: int
    why: Literal["bound", "value", "node"]
    text: str


@dataclass(frozen=True, slots=True)
class Encoded:
    """The records of a batch whose events the model knows.

    `rows`: which of the batch they are; `words`: a row for each; `writers`: by record the place in `Observed.writers`
    (-1: unknown); `misfits` by place in `rows`.
    """

    rows: Any
    words: Any
    writers: Any
    misfits: Mapping[int, Misfit]


@dataclass(slots=True)
class Encoder:
    """Writes records in words. `names`: the number of each name seen so far, by the type that it is a name of."""

    compiled: Compiled
    names: dict[str, int] = field(default_factory=dict)

    @property
    def shape(self) -> Observed:
        """The observed system."""
        return self.compiled.shape

    def encode(self, batch: Any) -> Encoded:
        """The records of a batch. Errors: none; what does not fit is told in the result."""
        events = {event.name: number for number, event in enumerate(self.shape.events, start=FIRST_EVENT)}
        codes = _mapped(batch.column(EVENT), lambda word: events.get(word, 0))
        rows = np.flatnonzero(codes)
        codes = codes[rows]
        work = _Words(self.compiled, len(rows))
        taken = batch.take(pa.array(rows)) if len(rows) < batch.num_rows else batch
        writers = _mapped(taken.column(NODE), self.writer)
        for row in np.flatnonzero(writers == _UNKNOWN).tolist():
            node = taken.column(NODE)[row].as_py()
            work.misfits[row] = Misfit(row, "node", f"the model has no node `{node}`")
        self._fields(taken, codes, work)
        work.put(self.compiled.record.writer, np.where(writers == _UNKNOWN, 0, writers + 1))
        codes = codes.copy()
        codes[list(work.misfits)] = 0
        work.put(self.compiled.record.event, codes)
        return Encoded(rows, work.words, writers, work.misfits)

    def writer(self, node: str) -> int:
        """The place of a node in `Observed.writers`: by its number, and by its kind where there are several."""
        if node == NOBODY:
            return len(self.shape.writers) - 1
        found = [
            place
            for place, writer in enumerate(self.shape.writers)
            if writer is not None and self._is_called(writer[0], writer[1], node)
        ]
        return found[0] if len(found) == 1 else _UNKNOWN

    def _is_called(self, kind: str, number: int, word: str) -> bool:
        parts = _TRAILING_NUMBER.fullmatch(word)
        if parts is None or int(parts[2]) != number:
            return False
        kinds = {writer[0].lower() for writer in self.shape.writers if writer is not None}
        said = parts[1].strip(" -_.#").lower()
        return (
            said == kind.lower()
            or (len(kinds) == 1 and said not in kinds)
            or (said not in kinds and not said and len(kinds) == 1)
        )

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
                    self._field(event, one, values.take(pa.array(mine)), mine, work)

    def _field(self, event: Event, one: Field, values: Any, rows: Any, work: _Words) -> None:
        record = self.compiled.record
        valid = np.asarray(values.is_valid())
        rows, values = rows[valid], values.filter(pa.array(valid))
        if not len(rows):
            return
        given, content = record.given[one.column], record.content[one.column]
        held = self.shape.columns[one.column].type
        kind = held.element if isinstance(held, Option) else held
        if one.by_name:
            numbers = _mapped(_as_text(values), lambda name: self.named(one, name))
            work.put(content, numbers, rows)
            return
        numbers = self._numbers(kind, one, values)
        wrong = np.flatnonzero(numbers < 0)
        for place in wrong.tolist():
            value = values[place].as_py()
            bound = isinstance(one.type, Range) and isinstance(value, int)
            text = f"`{one.name}` of `{event.name}` is {value}, which the model does not have"
            work.misfits[int(rows[place])] = Misfit(int(rows[place]), "bound" if bound else "value", text)
        numbers = np.maximum(numbers, 0)
        if isinstance(kind, Set):
            work.put(given, np.ones(len(rows), np.int64), rows)
            work.put(content, numbers, rows)
        else:
            work.put(content, numbers + 1, rows)

    def _numbers(self, kind: Type, one: Field, values: Any) -> Any:
        if one.optional:
            return _optional_numbers(kind, one.type, values)
        return _ordinals(kind, one.type, values, self)

    def named(self, one: Field, name: str) -> int:
        """The number of a name."""
        if name == NONE:
            return 0
        number = self.names.setdefault(name, len(self.names) + 1)
        assert number <= NAME_MAX, "a name has a number"
        return number


class _Words:
    """The words of some records."""

    def __init__(self, compiled: Compiled, count: int) -> None:
        self.words = np.zeros((count, compiled.record.words), np.uint64)
        self.misfits: dict[int, Misfit] = {}

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
    """A number for each value, asked for once for each value that there is."""
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    encoded = values if pa.types.is_dictionary(values.type) else values.dictionary_encode()
    numbers = np.array([number(word) for word in encoded.dictionary.to_pylist()], np.int64)
    return numbers[encoded.indices.to_numpy(zero_copy_only=False)] if len(numbers) else np.zeros(0, np.int64)


def _as_text(values: Any) -> Any:
    return (
        values if pa.types.is_string(values.type) or pa.types.is_dictionary(values.type) else values.cast(pa.string())
    )


def _ordinals(kind: Type, own: Type, values: Any, encoder: Encoder) -> Any:
    """The ordinal of each value in the type of its column, -1 where it has none or is not of the field's own type."""
    if isinstance(kind, Set):
        return _masks(kind, values, encoder)
    if isinstance(kind, Range) and isinstance(own, Range) and pa.types.is_integer(values.type):
        numbers = values.cast(pa.int64()).to_numpy(zero_copy_only=False)
        return np.where((numbers < own.low) | (numbers > own.high), -1, numbers - kind.low)
    return _mapped(values, lambda value: _ordinal(kind, own, value, encoder))


def _ordinal(kind: Type, own: Type, value: Any, encoder: Encoder) -> int:
    match kind:
        case Bool():
            return int(value) if isinstance(value, bool) else {"false": 0, "true": 1}.get(str(value).lower(), -1)
        case Range(low, _):
            number = _whole(value)
            inside = number is not None and (not isinstance(own, Range) or own.low <= number <= own.high)
            return number - low if number is not None and inside else -1
        case Enum(_, members):
            return members.index(value) if value in members else -1
        case Node(name, _):
            place = encoder.writer(str(value) if not str(value).isdigit() else f"{name}-{value}")
            writer = None if place == _UNKNOWN else encoder.shape.writers[place]
            return writer[1] - 1 if writer is not None and writer[0] == name else -1
        case Identity():
            number = _whole(value)
            return number - 1 if number is not None and 1 <= number <= kind.size else -1
        case _:
            return -1


def _optional_numbers(kind: Type, own: Type, values: Any) -> Any:
    """The same of options of a number, which are a list of one or none, `none`, or the number itself."""
    assert isinstance(kind, Range), "a column of numbers"
    assert isinstance(own, Range), "a field that is a number"
    found = []
    for value in values.to_pylist():
        item = (value[0] if len(value) == 1 else NONE) if isinstance(value, list) else value
        number = own.low if item == NONE else _whole(item)
        fits = number is not None and own.low <= number <= own.high and not (item != NONE and number == own.low)
        found.append(number - kind.low if number is not None and fits else -1)
    return np.array(found, np.int64)


def _whole(value: Any) -> int | None:
    try:
        return int(value)
    except (TypeError, ValueError):
        return None


def _masks(kind: Set, values: Any, encoder: Encoder) -> Any:
    """The bit masks of sets, or of options: a word alone is a set of one, `none` the empty one."""
    masks = np.zeros(len(values), np.int64)
    for place, value in enumerate(values.to_pylist()):
        items = value if isinstance(value, list) else [] if value == NONE else [value]
        mask = 0
        for item in items:
            number = _ordinal(kind.element, kind.element, item, encoder)
            if number < 0:
                mask = -1
                break
            mask |= 1 << number
        masks[place] = mask
    return masks
