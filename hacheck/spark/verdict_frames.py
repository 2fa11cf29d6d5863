"""Verdicts, and what is wrong with records, as DataFrames that are planned lazily."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

import pyarrow as pa

from hacheck.api.errors import InputError
from hacheck.api.specification import Settings, Spec
from hacheck.spark.check_lines import TEXT, CheckLines, FindLines, LineReader
from hacheck.spark.check_records import FINDINGS, CheckRecords, FindRecords
from hacheck.spark.conformance_request import Sought, compared_of
from hacheck.spark.record_frames import (
    RECORD,
    grouped,
    kept_columns,
    kept_schema,
    quoted,
    record_frame,
    require_columns,
)
from hacheck.traces.adapters.adapter_files import load as load_adapter
from hacheck.traces.conformance.verdicts import SCHEMA
from hacheck.traces.drivers.spark_frames import spark_schema
from hacheck.traces.drivers.spark_session import ship as ship_package
from hacheck.traces.drivers.trace_verdicts import Task
from hacheck.traces.findings import TracesError
from hacheck.traces.record_checks import Expected
from hacheck.traces.records import FILE, LINE, SEQ, TRACE_ID, Order

OrderName: TypeAlias = Literal["total", "per_node"]


COARSE_MS = 1_000
"""Stamps that are cut off to whole seconds differ by so much more than clocks do."""


def conform(
    df: Any,
    spec: str | os.PathLike[str] | Spec,
    *,
    check: str | None = None,
    settings: Settings | None = None,
    adapter: str | None = None,
    time_zone: str | None = None,
    order: OrderName = "per_node",
    every_step: bool = False,
    hide: Sequence[str] = (),
    skew_ms: int = 10,
    within_seconds: Mapping[str, float] | None = None,
    nodes: Mapping[str, str] | None = None,
    invariants: Sequence[str] = (),
    states_max: int = 128_000,
    any_start: int = 0,
    keep: Sequence[str] = (),
    partitions: int | None = None,
    is_grouped: bool = False,
    ship: bool = True,
) -> Any:
    """A DataFrame of verdicts, one row for each trace: the columns of docs/spark.md, and those of `keep`.

    `df`: records, with the columns of docs/traces.md by name (others are passed over; `time` may be a timestamp); or
    with an `adapter` raw lines of logs, in the columns `trace_id`, `file`, `line` and `text`; without `line` each row
    is a whole file.

    - `order`: what `seq` says of records of different nodes: `total`, they happened in that order; `per_node`, nothing.
      An adapter says it itself.
    - `keep`: columns of `df` that go on to the verdicts, as the first row of a trace has them: a day, a region.
    - `partitions`: of the exchange; `is_grouped`: each trace is in one partition already and sorted by
      (trace_id, seq), or (trace_id, file, line), so nothing is exchanged. Where that is not so, traces have findings,
      or several verdicts.
    - `ship`: send this package to the executors; not where they have it.
    - The others are those of `hacheck.conform`.

    No job is started. Errors: `InputError` for what the caller gave, a column that is missing or has another type;
    `SpecError` for errors of the spec's text.
    """
    compared = compared_of(spec, check, settings, every_step, hide, within_seconds, nodes, invariants)
    sought = Sought(compared, skew_ms, states_max, any_start)
    schema = _verdict_schema(df, keep)
    frame, stage = _stage(df, sought, None if adapter is None else _reader(adapter, time_zone), Order(order), keep)
    if ship:
        ship_package(df.sparkSession)
    return _by_trace(frame, partitions, is_grouped, adapter).mapInArrow(stage, schema)


def _verdict_schema(df: Any, keep: Sequence[str]) -> Any:
    """The schema of the table of verdicts. Errors: `InputError` for a column that cannot be kept."""
    require_columns(df, keep)
    schema = spark_schema(pa.schema([pa.field(field.name, field.type) for field in SCHEMA]))
    for name in keep:
        if name in SCHEMA.names:
            raise InputError(f"`{name}` cannot be kept: verdicts have a column of that name", "rename it before")
        schema = schema.add(name, df.schema[name].dataType)
    return schema


def _stage(
    df: Any, sought: Sought, reader: LineReader | None, order: Order, keep: Sequence[str]
) -> tuple[Any, CheckLines | CheckRecords]:
    """What is read of the DataFrame, and what makes verdicts of it. Errors: `InputError`."""
    if reader is None:
        checker = sought.checker(order)
        records = record_frame(df, checker.columns, order, keep)
        task = Task(checker, records.columns, Expected(), RECORD)
        return records.frame, CheckRecords(task, kept_schema(df, keep))
    checkers = (sought.checker(reader.adapter.order), sought.checker(reader.adapter.order, COARSE_MS))
    return _lines(df, keep), CheckLines(reader, checkers, kept_schema(df, keep))


def findings(
    df: Any,
    *,
    adapter: str | None = None,
    time_zone: str | None = None,
    partitions: int | None = None,
    is_grouped: bool = False,
    ship: bool = True,
) -> Any:
    """A DataFrame of what is wrong with records or lines, one row for each thing: `trace_id`, `kind`, `message`,
    `file`, `line` (of a record its `seq`), `text`, and how many `records` were left out. Arguments and errors as those
    of `conform`. No job is started."""
    stage: FindLines | FindRecords
    if adapter is not None:
        frame = _lines(df, ())
        stage = FindLines(_reader(adapter, time_zone))
    else:
        records = record_frame(df, None, Order.PER_NODE, ())
        frame = records.frame
        stage = FindRecords(records.columns)
    if ship:
        ship_package(df.sparkSession)
    return _by_trace(frame, partitions, is_grouped, adapter).mapInArrow(stage, spark_schema(FINDINGS))


def _by_trace(frame: Any, partitions: int | None, is_grouped: bool, adapter: str | None) -> Any:
    """The rows of each trace in one partition, in order."""
    if is_grouped:
        return frame
    return grouped(frame, partitions, *((SEQ,) if adapter is None else (FILE, LINE)))


def _reader(adapter: str, time_zone: str | None) -> LineReader:
    try:
        return LineReader(load_adapter(adapter), time_zone)
    except TracesError as error:
        raise InputError(error.message, error.hint) from None


def _lines(df: Any, keep: Sequence[str]) -> Any:
    """Raw lines with the columns that are read. Errors: `InputError` for one that is missing."""
    from pyspark.sql import functions as f

    require_columns(df, (TRACE_ID, FILE, TEXT, *keep))
    number = f.col(LINE) if LINE in df.columns else f.lit(None)
    wanted = [f.coalesce(f.col(TRACE_ID).cast("string"), f.lit("")).alias(TRACE_ID)]
    wanted += [f.col(quoted(name)).cast("string").alias(name) for name in (FILE, TEXT)]
    return df.select(*wanted, number.cast("bigint").alias(LINE), *kept_columns(keep))
