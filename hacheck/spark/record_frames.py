"""A DataFrame of records, with the columns that are read, by name, and their types checked before any job starts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from msgspec import Struct
from msgspec.structs import replace

from hacheck.api.errors import InputError
from hacheck.traces.drivers.columns import Columns, pruned
from hacheck.traces.records import FIELDS, REQUIRED, SEQ, STANDARD, TIME, TRACE_ID, Order, SchemaError, from_arrow

RECORD = ("record",)
"""How findings call the place of a record of a DataFrame, whose number there is its `seq`."""

KEPT = "_kept_"
"""What the names of columns begin with that go on to the verdicts, while they travel beside records."""

HINTS = {
    SEQ: "number the records of each trace: row_number().over(Window.partitionBy('trace_id').orderBy('time'))",
    TRACE_ID: "one story of the system has one id: a cluster's day, a job",
}


class RecordFrame(Struct, frozen=True):
    """Records that are to be checked. `frame`: what it has of `columns`, and the columns that are kept."""

    frame: Any
    columns: Columns


def grouped(frame: Any, partitions: int | None, *order: str) -> Any:
    """The rows with each trace in one partition, sorted by trace, then as given."""
    spread = frame.repartition(TRACE_ID) if partitions is None else frame.repartition(partitions, TRACE_ID)
    return spread.sortWithinPartitions(TRACE_ID, *order)


def record_frame(df: Any, needed: Sequence[str] | None, order: Order, keep: Sequence[str]) -> RecordFrame:
    """What is read of a DataFrame. `needed`: the columns of the checker, all where it is `None`; `keep`: those that go
    on to the verdicts. Errors: `InputError` for a column that is missing or has another type."""
    from pyspark.sql import functions as f

    require_columns(df, (*REQUIRED, *keep))
    given = _given(df)
    schema = replace(_schema(df.select(*given.values())), order=order)
    columns = pruned(schema, tuple(given) if needed is None else tuple(needed))
    read = []
    for field in columns.arrow:
        column = given.get(field.name)
        if column is None:
            continue  # it has nothing anywhere, and need not travel
        if field.name == FIELDS and field.type != schema.arrow().field(FIELDS).type:
            wanted = f.struct(*(column.getField(one.name).alias(one.name) for one in field.type))
            column = f.when(column.isNotNull(), wanted)
        elif field.name == TRACE_ID:  # all that belong to no trace in one place
            column = f.coalesce(column, f.lit(""))
        read.append(column.alias(field.name))
    return RecordFrame(df.select(*read, *kept_columns(keep)), columns)


def require_columns(df: Any, names: Sequence[str]) -> None:
    """Errors: `InputError` for the first column that is not there."""
    for name in names:
        if name not in df.columns:
            raise InputError(f"no column `{name}`", HINTS.get(name, f"the DataFrame has {', '.join(df.columns)}"))


def kept_columns(keep: Sequence[str]) -> list[Any]:
    """The columns that go on to the verdicts, under names that no column of records has."""
    from pyspark.sql import functions as f

    return [f.col(quoted(name)).alias(KEPT + name) for name in keep]


def quoted(name: str) -> str:
    """The name of a column as Spark takes it for a name, whatever is in it."""
    return "`" + name.replace("`", "``") + "`"


def _given(df: Any) -> dict[str, Any]:
    """The columns of the record schema that a DataFrame has, times as nanoseconds. Errors: `InputError`."""
    from pyspark.sql import functions as f
    from pyspark.sql import types

    known = (*(name for name, _ in STANDARD), FIELDS)
    given = {name: f.col(name) for name in known if name in df.columns}
    kind = df.schema[TIME].dataType if TIME in given else None
    if isinstance(kind, types.TimestampNTZType):
        hint = "say which zone it is in: nanoseconds since 1970 as a bigint, or a timestamp with a zone"
        raise InputError(f"column `{TIME}` is a timestamp without a zone", hint)
    if isinstance(kind, types.TimestampType):
        given[TIME] = (f.unix_micros(TIME) * 1000).alias(TIME)
    return given


def _schema(read: Any) -> Any:
    """The record schema of columns. Errors: `InputError`."""
    from pyspark.sql.pandas.types import to_arrow_schema

    try:
        return from_arrow(to_arrow_schema(read.schema))
    except SchemaError as error:
        hint = "`fields` is a struct of what events show: struct('term', 'leader').alias('fields')"
        raise InputError(str(error), hint if f"column {FIELDS} " in str(error) else None) from None


def kept_schema(df: Any, keep: Sequence[str]) -> Any:
    """The Arrow columns that are kept, as they travel."""
    from pyspark.sql.pandas.types import to_arrow_schema

    found = to_arrow_schema(df.select(*kept_columns(keep)).schema) if keep else pa.schema([])
    return pa.schema([pa.field(field.name, field.type) for field in found])
