"""The record schema: what one line of a trace says, in JSON lines, in Parquet and in Arrow batches.

A trace is what several nodes logged about one story. A record is one event at one node. `docs/traces.md` is the
reference; this module is the one place where the columns, their types and the version are written down.

The contract with the consumers of traces (the conformance kernel, Spark jobs): Arrow record batches with the columns
of `TraceSchema.arrow()`, all records of a trace one after another, in the order of `seq`; that is, sorted by
(trace_id, seq).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any

import pyarrow as pa
from msgspec import Struct

VERSION = 1
"""The version of the schema. It changes when old readers would misread new records."""

METADATA_KEY = b"hacheck.traces"
"""Under this key the metadata of a Parquet or Arrow schema holds a header, as JSON; JSON lines begin with one."""

TRACE_ID, NODE, SEQ, TIME, EVENT, FIELDS = "trace_id", "node", "seq", "time", "event", "fields"
MESSAGE, CAUSES, FILE, LINE = "message", "causes", "file", "line"

REQUIRED = (TRACE_ID, NODE, SEQ, EVENT)
"""Columns that every record has a value in."""


class FieldType(Enum):
    """The type of a field of events: its name in headers and adapters."""

    BOOL = "bool"
    INT = "int"
    FLOAT = "float"
    STRING = "string"
    INTS = "ints"
    STRINGS = "strings"


class Order(Enum):
    """What `seq` says about records of different nodes. Those of one node are always in the order of `seq`."""

    TOTAL = "total"
    """They happened in this order: one process saw all of them (a simulator, one log of one machine)."""
    PER_NODE = "per_node"
    """Nothing: only clocks, within their skew, and causes say which came first."""


ARROW_TYPES: Mapping[FieldType, Any] = {
    FieldType.BOOL: pa.bool_(),
    FieldType.INT: pa.int64(),
    FieldType.FLOAT: pa.float64(),
    FieldType.STRING: pa.string(),
    FieldType.INTS: pa.list_(pa.int64()),
    FieldType.STRINGS: pa.list_(pa.string()),
}
"""How a field is stored."""

STANDARD: tuple[tuple[str, Any], ...] = (
    (TRACE_ID, pa.string()),
    (NODE, pa.string()),
    (SEQ, pa.int64()),
    (TIME, pa.int64()),
    (EVENT, pa.string()),
    (MESSAGE, pa.string()),
    (CAUSES, pa.list_(pa.string())),
    (FILE, pa.string()),
    (LINE, pa.int64()),
)
"""Every column but `fields`, with its type. `time` is in nanoseconds since 1970-01-01 00:00 UTC."""


class SchemaError(Exception):
    """Records that do not fit the schema: each problem is a sentence, with the kind of finding that it is."""

    def __init__(self, problems: Iterable[tuple[str, str]]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(text for _, text in self.problems))


class TraceSchema(Struct, frozen=True):
    """What is known about all records of a set of traces: the fields of their events, by name, and their order."""

    fields: tuple[tuple[str, FieldType], ...] = ()
    order: Order = Order.PER_NODE
    version: int = VERSION

    def arrow(self) -> Any:
        """The Arrow schema: the standard columns, and a struct `fields` where events have any."""
        columns = [pa.field(name, kind, nullable=name not in REQUIRED) for name, kind in STANDARD]
        if self.fields:
            columns.insert(5, pa.field(FIELDS, fields_type(self.fields)))
        return pa.schema(columns, metadata={METADATA_KEY: json.dumps(self.header()).encode()})

    def header(self) -> dict[str, object]:
        """The schema as JSON: the first line of a file of JSON lines, the metadata of a Parquet file."""
        return {
            METADATA_KEY.decode(): self.version,
            "order": self.order.value,
            "fields": {name: kind.value for name, kind in self.fields},
        }

    def type_of(self, field: str) -> FieldType | None:
        """The type of a field, if events have it."""
        return dict(self.fields).get(field)


def fields_type(fields: Iterable[tuple[str, FieldType]]) -> Any:
    """The Arrow type of the column `fields`."""
    return pa.struct([pa.field(name, ARROW_TYPES[kind]) for name, kind in fields])


def from_header(header: object) -> TraceSchema:
    """The schema that a header declares. Errors: `SchemaError`, for another version, too."""
    if not isinstance(header, dict) or METADATA_KEY.decode() not in header:
        raise SchemaError([("header", f"a header is an object with the version under {METADATA_KEY.decode()!r}")])
    version = header[METADATA_KEY.decode()]
    if version != VERSION or isinstance(version, bool):
        raise SchemaError([("version", f"schema version {version!r}, where this hacheck reads {VERSION}")])
    problems = [("header", f"unknown key {key!r} in a header") for key in header if key not in TraceSchema().header()]
    names = header.get("fields", {})
    known = {kind.value: kind for kind in FieldType}
    orders = {order.value: order for order in Order}
    order = header.get("order", Order.PER_NODE.value)
    if not isinstance(order, str) or order not in orders:
        problems.append(("header", f"order {order!r}: there are {', '.join(orders)}"))
    if not isinstance(names, dict):
        raise SchemaError([*problems, ("header", "`fields` of a header maps names of fields to types")])
    for name, kind in names.items():
        if any("\ud800" <= char <= "\udfff" for char in name):
            problems.append(("header", f"the field {name!r} has half a character in its name"))
        elif not isinstance(kind, str) or kind not in known:
            problems.append(("header", f"type {kind!r} of the field {name!r}: there are {', '.join(known)}"))
    if problems:
        raise SchemaError(problems)
    return TraceSchema(tuple((name, known[kind]) for name, kind in names.items()), orders[order])


def from_arrow(schema: Any) -> TraceSchema:
    """The schema that an Arrow (or Parquet) schema declares; types may be wider or dictionaries of the same.

    Errors: `SchemaError` with every column that is missing, is none of ours, or has another type, and for another
    version.
    """
    metadata = schema.metadata or {}
    declared = TraceSchema()
    if METADATA_KEY in metadata:
        try:
            declared = from_header(json.loads(metadata[METADATA_KEY]))
        except ValueError:
            raise SchemaError([("header", "the metadata of the file is not JSON")]) from None
    types = dict(STANDARD)
    names = schema.names
    problems = [("missing_column", f"no column {name}") for name in REQUIRED if name not in names]
    problems += [("extra_column", f"unknown column {name}") for name in names if name not in (*types, FIELDS)]
    problems += [("extra_column", f"column {name} more than once") for name in {*names} if names.count(name) > 1]
    fields: list[tuple[str, FieldType]] = []
    for column in schema:
        if column.name in types and not same_kind(column.type, types[column.name]):
            problems.append(("wrong_type", f"column {column.name} is {column.type}, not {types[column.name]}"))
        if column.name == FIELDS and not pa.types.is_struct(column.type):
            problems.append(("wrong_type", f"column {FIELDS} is {column.type}, not a struct"))
        elif column.name == FIELDS:
            for item in column.type:
                kind = next((kind for kind, type_ in ARROW_TYPES.items() if same_kind(item.type, type_)), None)
                if kind is None:
                    problems.append(("wrong_type", f"field {item.name} is {item.type}, which is not a type of fields"))
                else:
                    fields.append((item.name, kind))
    if problems:
        raise SchemaError(problems)
    return TraceSchema(tuple(fields), declared.order)


def same_kind(found: Any, wanted: Any) -> bool:
    """Whether a stored type is the wanted one, or one whose every value it can hold: a smaller integer, a large
    string, a dictionary of strings."""
    if pa.types.is_dictionary(found):
        found = found.value_type
    if pa.types.is_list(wanted):
        is_list = pa.types.is_list(found) or pa.types.is_large_list(found)
        return is_list and same_kind(found.value_type, wanted.value_type)
    if wanted == pa.string():
        return bool(pa.types.is_string(found) or pa.types.is_large_string(found))
    if wanted == pa.int64():
        return bool(pa.types.is_integer(found) and found != pa.uint64())
    if wanted == pa.float64():
        return bool(pa.types.is_floating(found))
    return bool(found == wanted)


def united(first: TraceSchema, second: TraceSchema) -> TraceSchema:
    """The schema of records of both. Errors: `SchemaError` where they do not go together."""
    problems = []
    if first.order is not second.order:
        problems.append(("incompatible", f"order {second.order.value}, where other files have {first.order.value}"))
    types = dict(first.fields)
    for name, kind in second.fields:
        if types.setdefault(name, kind) is not kind:
            text = f"field {name} is {kind.value}, where other files have {types[name].value}"
            problems.append(("incompatible", text))
    if problems:
        raise SchemaError(problems)
    return TraceSchema(tuple(types.items()), first.order)
