"""Names numbered within each trace, by where they first appear in it.

The encoder numbers the names of a batch as it meets them, so the same story of other identities has other numbers.
In terms of its own numbers it is the same story, and what was worked out for one trace is known for the next.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from msgspec import Struct, field

from hacheck.model.observing.record_layout import FIRST_NAME
from hacheck.traces.conformance.trace_program import Bits, Compiled

_TRACE_SHIFT = 32  # a trace and a name in one number


def name_places(compiled: Compiled) -> tuple[Bits, ...]:
    """Where records have names."""
    columns = zip(compiled.shape.columns, compiled.record.content, strict=True)
    return tuple(place for column, place in columns if column.by_name and place is not None)


class CanonicalNames(Struct):
    """Renames the names of records. `known`: by the encoder's number that in its trace, of the trace whose end has not
    come; `numbered`: how many names it has had."""

    places: tuple[Bits, ...]
    known: dict[int, int] = field(default_factory=dict)
    numbered: int = 0

    def renamed(self, words: Any, traces: Any, goes_on: bool, open_end: bool) -> Any:
        """The words of records with other names. `traces`: by record, from 0 on in order, its trace; `goes_on`: the
        first is the one whose end had not come; `open_end`: that of the last has not come yet. Cost: linear."""
        if not goes_on:
            self.known, self.numbered = {}, 0
        if not self.places or not len(words):
            return words
        found = np.stack([self._numbers(words, place) for place in self.places], axis=1)
        shown = found >= FIRST_NAME
        keys = (traces.astype(np.int64)[:, None] << _TRACE_SHIFT | found)[shown]
        met = pa.array(keys).dictionary_encode()  # in the order of first appearance, so of traces
        each = met.dictionary.to_numpy(zero_copy_only=False)
        of, names = each >> _TRACE_SHIFT, each & ((1 << _TRACE_SHIFT) - 1)
        numbers = np.arange(len(each)) - np.searchsorted(of, of) + FIRST_NAME
        if goes_on:
            mine = int(np.searchsorted(of, 1))
            numbers[:mine] = [self._number(name) for name in names[:mine].tolist()]
        last = int(traces[-1])
        if not open_end:
            self.known, self.numbered = {}, 0
        elif last or not goes_on:
            since = int(np.searchsorted(of, last))
            pairs = zip(names[since:].tolist(), numbers[since:].tolist(), strict=True)
            self.known, self.numbered = dict(pairs), len(each) - since
        found[shown] = numbers[met.indices.to_numpy(zero_copy_only=False)]
        words = words.copy()
        for column, place in enumerate(self.places):
            kept = words[:, place.word] & np.uint64(~(((1 << place.width) - 1) << place.shift) & (1 << 64) - 1)
            words[:, place.word] = kept | found[:, column].astype(np.uint64) << np.uint64(place.shift)
        return words

    def forget_but(self, names: Mapping[str, int]) -> None:
        """Forgets the names that the encoder has forgotten."""
        kept = set(names.values())
        self.known = {name: number for name, number in self.known.items() if name in kept}

    def _number(self, name: int) -> int:
        number = self.known.get(name)
        if number is None:
            number = self.known[name] = self.numbered + FIRST_NAME
            self.numbered += 1
        return number

    def _numbers(self, words: Any, place: Bits) -> Any:
        return (words[:, place.word] >> np.uint64(place.shift) & np.uint64((1 << place.width) - 1)).astype(np.int64)
