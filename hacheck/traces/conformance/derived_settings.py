"""What the records of a trace say of the settings that it is to be checked under."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct, field

from hacheck.model.language.log_settings import FromRecord
from hacheck.traces.conformance.verdict_reasons import place_of
from hacheck.traces.conformance.verdicts import Verdict
from hacheck.traces.records import EVENT, FIELDS

HELD_MAX = 10_000
"""So many records of a trace in one order are held back until they have said what they give."""

Chosen: TypeAlias = tuple[tuple[str, str], ...]
"""Settings, in the order in which the spec says where they come from."""


class Contradiction(Struct, frozen=True):
    """A record that gives a setting another value than one before it, or one that comes too late."""

    reason: str
    place: Mapping[str, Any]

    def on(self, trace_id: str, records: int) -> Verdict:
        """The verdict on its trace."""
        return Verdict(trace_id, "unknown", records, 0, self.reason, **self.place)


class DerivedSettings(Struct):
    """What the records of a trace say of its settings, as far as they were read. `fixed`: as it was checked so far."""

    derived: tuple[FromRecord, ...]
    values: dict[str, str] = field(default_factory=dict)
    wrong: Contradiction | None = None
    fixed: bool = False

    def read(self, batch: Any) -> None:
        """Takes note of records of the trace."""
        column = batch.column(EVENT)
        for rule in self.derived:
            if self.wrong is not None:
                return
            rows = np.flatnonzero(_equal(column, rule.event))
            for row, value in zip(rows.tolist(), _values(batch, rows, rule), strict=True):
                if value is not None:
                    self._take(rule, value, batch, row)

    def _take(self, rule: FromRecord, value: str, batch: Any, row: int) -> None:
        known = self.values.get(rule.setting)
        if known == value or self.wrong is not None:
            return
        if known is not None:
            reason = f"{rule.words} gives {rule.setting} = {value}, and another record {known}"
        elif self.fixed:
            reason = f"{rule.words} gives {rule.setting} = {value} only after {HELD_MAX:,} records of the trace"
        else:
            self.values[rule.setting] = value
            return
        self.wrong = Contradiction(reason, place_of(batch, row))

    @property
    def chosen(self) -> Chosen:
        """The settings that are known."""
        names = dict.fromkeys(rule.setting for rule in self.derived)
        return tuple((name, self.values[name]) for name in names if name in self.values)

    @property
    def complete(self) -> bool:
        """Whether there is nothing more that they could say."""
        return all(rule.setting in self.values for rule in self.derived)


def _equal(column: Any, event: str) -> Any:
    """Which of some words are an event."""
    if pa.types.is_dictionary(column.type):
        codes = [at for at, word in enumerate(column.dictionary.to_pylist()) if word == event]
        return np.isin(column.indices.to_numpy(zero_copy_only=False), codes)
    return np.array([word == event for word in column.to_pylist()], bool)


def _values(batch: Any, rows: Any, rule: FromRecord) -> list[str | None]:
    """What some records give a setting, as a setting is written; `None` for nothing."""
    if rule.field is None or not len(rows):
        return [rule.value] * len(rows)
    column = batch.column(FIELDS) if FIELDS in batch.schema.names else None
    place = -1 if column is None else column.type.get_field_index(rule.field)
    if place < 0:
        return [None] * len(rows)
    shown = pc.struct_field(column, [place]).take(pa.array(rows)).to_pylist()
    return [None if one is None else _written(one, rule) for one in shown]


def _written(found: Any, rule: FromRecord) -> str:
    """A value as a setting is written."""
    if rule.counted:
        return str(len(found)) if isinstance(found, list) else "1"
    return ("on" if found else "off") if isinstance(found, bool) else str(found)
