"""DataFrames of records: of files that all executors can read, or of Parquet files at a URL."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import unquote, urlsplit

import pyarrow as pa
from msgspec import Struct

from hacheck.traces.dataset import ROW, SOURCE, Dataset
from hacheck.traces.drivers.columns import Columns, pruned
from hacheck.traces.drivers.record_batches import sources
from hacheck.traces.drivers.spark_jobs import driver_error
from hacheck.traces.drivers.spark_records import ReadFiles, damage_note, noted, rows_of_notes
from hacheck.traces.findings import Findings, TracesError
from hacheck.traces.records import SchemaError, from_arrow

PATH = "_metadata.file_path"


class Records(Struct, frozen=True):
    """A DataFrame of records, and perhaps of notes. `names`: how files are called; `hashes`: what stands in `SOURCE`
    for each of them."""

    frame: Any
    names: tuple[str, ...]
    hashes: tuple[int, ...]


def spark_schema(schema: Any) -> Any:
    """The same schema as Spark has it."""
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(schema)


def file_numbers(spark: Any, numbers: Iterable[int]) -> Any:
    """A DataFrame of numbers of files, each in a partition of its own."""
    found = list(numbers)
    table = pa.table({"number": pa.array(found, pa.int64())})
    return spark.createDataFrame(table).repartitionByRange(max(len(found), 1), "number")


def dataset_records(spark: Any, dataset: Dataset, columns: Columns, findings: Findings) -> Records:
    """The records of a dataset, with what is known of damage to their traces by now."""
    stored = [number for number, file in enumerate(dataset.files) if file.parquet]
    texts = [number for number, file in enumerate(dataset.files) if not file.parquet]
    frames = []
    hashes = list(range(len(dataset.files)))
    if stored:
        paths = [str(dataset.files[number].path) for number in stored]
        frames.append(_parquet(spark, columns, paths, escaped=True))
        known = {os.path.realpath(local(path)): code for path, code in path_codes(spark, paths, escaped=True)}
        for number, path in zip(stored, paths, strict=True):
            hashes[number] = known[os.path.realpath(path)]
    schema = noted(columns)
    if texts:
        frames.append(file_numbers(spark, texts).mapInArrow(ReadFiles(dataset, columns), spark_schema(schema)))
    if findings.damaged:
        notes = [(name, damage_note(finding)) for name, finding in findings.damaged.items()]
        frames.append(
            spark.createDataFrame(pa.Table.from_batches([rows_of_notes(notes, schema)]), spark_schema(schema))
        )
    frame, *others = frames
    for other in others:
        frame = frame.unionByName(other, allowMissingColumns=True)
    return Records(frame, sources(dataset.files), tuple(hashes))


def url_records(spark: Any, url: str, wanted: tuple[str, ...]) -> tuple[Columns, Records, int]:
    """The records of Parquet files at a URL. The order between nodes, which stands in the files' own metadata, is not
    known here. Errors: `TracesError`."""
    from pyspark.sql.pandas.types import to_arrow_schema

    try:
        parquet_schema = spark.read.option("mergeSchema", "true").parquet(url).schema
        columns = pruned(from_arrow(to_arrow_schema(parquet_schema)), wanted)
    except SchemaError as error:
        raise TracesError(f"{url}: {error}") from None
    except Exception as error:  # whatever Spark says of a place that is not there
        raise TracesError(f"{url}: cannot be read: {driver_error(error).message}") from error
    codes = path_codes(spark, [url], escaped=False)
    names, hashes = tuple(path for path, _ in codes), tuple(code for _, code in codes)
    return columns, Records(_parquet(spark, columns, [url], escaped=False), names, hashes), 0


def _parquet(spark: Any, columns: Columns, paths: list[str], *, escaped: bool) -> Any:
    from pyspark.sql import functions as f

    read = spark.read.schema(spark_schema(columns.arrow)).parquet(*(glob_escaped(p) if escaped else p for p in paths))
    place = [f.xxhash64(PATH).alias(SOURCE), (f.col("_metadata.row_index") + 1).alias(ROW)]
    return read.select(*columns.read, *place)


def path_codes(spark: Any, paths: list[str], *, escaped: bool) -> list[tuple[str, int]]:
    """Each file below these paths, and what stands in `SOURCE` for it; as Spark writes and computes both."""
    from pyspark.sql import functions as f

    listed = spark.read.format("binaryFile").option("recursiveFileLookup", "true")
    found = listed.load([glob_escaped(path) if escaped else path for path in paths])
    rows = found.select(f.col(PATH).alias("path"), f.xxhash64(PATH).alias("code")).toArrow().to_pylist()
    return sorted((row["path"], row["code"]) for row in rows)


def glob_escaped(path: str) -> str:
    """A path with the characters that Spark would take for a pattern escaped."""
    return re.sub(r"([\\*?\[\]{}])", r"\\\1", path)


def local(path: str) -> str:
    """The path of a local file that Spark writes as a URL."""
    return unquote(urlsplit(path).path)
