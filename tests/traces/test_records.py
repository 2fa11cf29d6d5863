"""The record schema: its Arrow form, its header, and what it refuses."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

from hacheck.traces.records import (
    METADATA_KEY,
    STANDARD,
    FieldType,
    Order,
    SchemaError,
    TraceSchema,
    from_arrow,
    from_header,
    united,
)

EVERY_TYPE = TraceSchema(tuple((f"f_{kind.value}", kind) for kind in FieldType), Order.TOTAL)


def test_columns_stand_in_the_documented_order() -> None:
    names = ["trace_id", "node", "seq", "time", "event", "fields", "message", "causes", "file", "line"]
    assert EVERY_TYPE.arrow().names == names
    assert TraceSchema().arrow().names == [name for name in names if name != "fields"]


@pytest.mark.parametrize("schema", [TraceSchema(), EVERY_TYPE])
def test_schema_survives_arrow_and_the_header(schema: TraceSchema) -> None:
    assert from_arrow(schema.arrow()) == schema
    assert from_header(json.loads(json.dumps(schema.header()))) == schema


def test_smaller_integers_and_dictionaries_are_the_same_kind() -> None:
    columns = {name: kind for name, kind in STANDARD if name in ("trace_id", "node", "seq", "event")}
    columns |= {"event": pa.dictionary(pa.int8(), pa.string()), "seq": pa.int32(), "node": pa.large_string()}
    assert from_arrow(pa.schema(columns)) == TraceSchema()


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"seq": pa.string()}, "wrong_type"),
        ({"seq": pa.uint64()}, "wrong_type"),
        ({"event": None}, "missing_column"),
        ({"colour": pa.string()}, "extra_column"),
        ({"fields": pa.string()}, "wrong_type"),
        ({"fields": pa.struct({"at": pa.timestamp("ns")})}, "wrong_type"),
        ({"causes": pa.list_(pa.int64())}, "wrong_type"),
    ],
)
def test_columns_that_do_not_fit_are_named(change: dict[str, object], kind: str) -> None:
    columns = {name: type_ for name, type_ in (dict(STANDARD) | change).items() if type_ is not None}
    with pytest.raises(SchemaError) as raised:
        from_arrow(pa.schema(list(columns.items())))
    (problem,) = raised.value.problems
    assert problem[0] == kind
    assert next(iter(change)) in problem[1] or "field at" in problem[1]


@pytest.mark.parametrize(
    ("header", "kind", "named"),
    [
        ([], "header", "hacheck.traces"),
        ({"version": 1}, "header", "hacheck.traces"),
        ({"hacheck.traces": 2}, "version", "2"),
        ({"hacheck.traces": True}, "version", "True"),
        ({"hacheck.traces": 1, "ordre": "total"}, "header", "ordre"),
        ({"hacheck.traces": 1, "order": "best"}, "header", "best"),
        ({"hacheck.traces": 1, "fields": {"a": "text"}}, "header", "text"),
        ({"hacheck.traces": 1, "fields": []}, "header", "fields"),
    ],
)
def test_headers_that_say_nothing_sensible_are_refused(header: object, kind: str, named: str) -> None:
    with pytest.raises(SchemaError) as raised:
        from_header(header)
    assert [found for found, text in raised.value.problems if named in text] == [kind]


def test_metadata_that_is_no_json_is_refused() -> None:
    with pytest.raises(SchemaError, match="not JSON"):
        from_arrow(TraceSchema().arrow().with_metadata({METADATA_KEY: b"{"}))


def test_schemas_unite_where_types_and_order_agree() -> None:
    one = TraceSchema((("a", FieldType.INT), ("b", FieldType.BOOL)))
    two = TraceSchema((("c", FieldType.STRINGS), ("a", FieldType.INT)))
    assert united(one, two) == TraceSchema((*one.fields, ("c", FieldType.STRINGS)))


def test_schemas_that_disagree_do_not_unite() -> None:
    one = TraceSchema((("a", FieldType.INT),))
    with pytest.raises(SchemaError) as raised:
        united(one, TraceSchema((("a", FieldType.STRING),), Order.TOTAL))
    assert [kind for kind, _ in raised.value.problems] == ["incompatible", "incompatible"]
