"""Which columns are read at all: those that the checker reads, and those that checking records needs."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from msgspec import Struct

from hacheck.traces.dataset import ROW, SOURCE
from hacheck.traces.records import EVENT, FIELDS, FILE, LINE, NODE, SEQ, TIME, TRACE_ID, TraceSchema

CHECKED = (TRACE_ID, NODE, SEQ, TIME, EVENT, FILE, LINE)
"""What checking reads: `file` and `line` for saying where a bad record comes from."""


class Columns(Struct, frozen=True):
    """The part of a schema that is read. `schema` has only the fields that are; `read`: the columns, in order;
    `for_checker`: those of them that the checker gets."""

    schema: TraceSchema
    read: tuple[str, ...]
    for_checker: tuple[str, ...]

    @property
    def arrow(self) -> Any:
        """The Arrow schema of what is read."""
        whole = self.schema.arrow()
        return pa.schema([whole.field(name) for name in self.read])

    @property
    def located(self) -> Any:
        """The same with the place of each record."""
        return self.arrow.append(pa.field(SOURCE, pa.int32())).append(pa.field(ROW, pa.int64()))

    @property
    def stored(self) -> tuple[str, ...]:
        """The columns as a Parquet file names them, each field on its own."""
        fields = [f"{FIELDS}.{name}" for name, _ in self.schema.fields] if FIELDS in self.read else []
        return (*(name for name in self.read if name != FIELDS), *fields)


def pruned(schema: TraceSchema, wanted: tuple[str, ...]) -> Columns:
    """What is read of records of a schema for a checker that asks for some columns.

    A field that no record has is left out; without any field, so is the column `fields`. `ValueError`: a column that
    the record schema does not have, which is the checker's mistake.
    """
    prefix = FIELDS + "."
    chosen = {name.removeprefix(prefix) for name in wanted if name.startswith(prefix)}
    plain = {name for name in wanted if not name.startswith(prefix)}
    fields = schema.fields if FIELDS in plain else tuple(item for item in schema.fields if item[0] in chosen)
    part = TraceSchema(fields, schema.order, schema.version)
    names = part.arrow().names
    unknown = plain - {*names, FIELDS}
    if unknown:
        raise ValueError(f"the record schema has no column {', '.join(sorted(unknown))}")
    for_checker = tuple(name for name in names if name in plain or (name == FIELDS and chosen))
    return Columns(part, tuple(name for name in names if name in CHECKED or name in for_checker), for_checker)
