"""Traces, damaged: JSON lines and Parquet, read, checked, counted, and converted into what must be whole again."""

from __future__ import annotations

import io
import json
import zlib
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from hacheck.traces.dataset import open_traces
from hacheck.traces.findings import Findings, TracesError
from hacheck.traces.record_checks import checked_batches
from hacheck.traces.records import FieldType, Order, TraceSchema
from hacheck.traces.statistics import Statistics
from hacheck.traces.trace_writers import writing
from tests.fuzz.kinds import Kind
from tests.fuzz.mutation import changed_bytes, changed_data, changed_text
from tests.fuzz.places import folder

SCHEMA = TraceSchema(
    (
        ("count", FieldType.INT),
        ("on", FieldType.BOOL),
        ("rate", FieldType.FLOAT),
        ("to", FieldType.STRING),
        ("members", FieldType.INTS),
        ("names", FieldType.STRINGS),
    ),
    Order.TOTAL,
)
NOON = 1_795_176_000_000_000_000


@cache
def records() -> tuple[dict[str, Any], ...]:
    """Records of two traces, with each column and each type of field in some of them."""
    fields: list[dict[str, Any]] = [
        {"count": 3, "on": True},
        {"rate": 0.5, "to": "é"},
        {"members": [1, 2], "names": []},
        {"names": ["a", "b"], "rate": 2.0},
        {},
    ]
    found = []
    for number in range(8):
        one: dict[str, Any] = {"trace_id": "t1" if number < 5 else "t2", "node": "ab"[number % 2]}
        one |= {"seq": number + 1 if number < 5 else number - 4, "event": ("started", "moved")[number % 2]}
        if number % 3:
            one["time"] = NOON + number * 1_000_000_000
        if number % 4 == 1:
            one |= {"message": f"m{number}", "causes": ["m0"], "file": "a.log", "line": number}
        one["fields"] = fields[number % len(fields)]
        found.append(one)
    return tuple(found)


def _lines(content: list[object]) -> str:
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in content)


NAMES = ('"trace_id"', '"seq"', '"fields"', '"hacheck.traces"', '"\\ud800"')
WORDS = (*NAMES, "null", "true", "1e400", "-0", "[]", "{}", ",", "\n")


def draw_lines(random: Random) -> bytes:
    """A file of JSON lines after changes of its data, its text or its bytes."""
    content: list[object] = [SCHEMA.header()] if random.random() < 0.7 else []
    content += random.sample(records(), random.randint(1, len(records())))
    for _ in range(random.randrange(3)):
        at = random.randrange(len(content))
        content[at] = changed_data(content[at], random)
    text = _lines(content)
    if random.random() < 0.4:
        text = changed_text(text, WORDS, random, 3)
    data = text.encode("utf-8", errors="surrogatepass")
    return changed_bytes(data, random) if random.random() < 0.2 else data


@cache
def _whole_parquet() -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(list(records()), SCHEMA.arrow()), sink, compression="none")
    return sink.getvalue()


def draw_parquet(random: Random) -> bytes:
    """A Parquet file of other columns than ours, or after changes of its bytes."""
    if random.random() < 0.5:
        return changed_bytes(_whole_parquet(), random, 3)
    rows: list[Any] = [changed_data(dict(one), random) if random.random() < 0.2 else one for one in records()]
    try:
        table = pa.Table.from_pylist([row for row in rows if isinstance(row, dict)])
    except (pa.ArrowException, TypeError, OverflowError, ValueError):
        table = pa.Table.from_pylist(list(records()))
    if random.random() < 0.5:
        header: object = SCHEMA.header() if random.random() < 0.4 else changed_data(SCHEMA.header(), random)
        table = table.replace_schema_metadata({"hacheck.traces": json.dumps(header)})
    sink = io.BytesIO()
    try:
        pq.write_table(table, sink, compression="none")
    except pa.ArrowException:
        return changed_bytes(_whole_parquet(), random, 3)
    return sink.getvalue()


def read_lines(content: bytes) -> None:
    """Reads and checks a file of JSON lines."""
    _read(content, ".jsonl")


def read_parquet(content: bytes) -> None:
    """Reads and checks a Parquet file."""
    _read(content, ".parquet")


def _read(content: bytes, ending: str) -> None:
    """Checks a file of traces, counts what is in it, and sometimes converts it: that must be whole, as many records."""
    converts = zlib.crc32(content) % 48
    findings = Findings()
    with folder() as place:
        path = place / f"fuzz{ending}"
        path.write_bytes(content)
        try:
            dataset = open_traces(path, findings)
            if converts > 1:
                for _ in dataset.located(findings):
                    pass
                return
            statistics = Statistics()
            out = place / ("out.jsonl" if converts else "out.parquet")
            with writing(out, dataset.schema) as writer:
                for batch in checked_batches(dataset, findings):
                    statistics.add(batch)
                    writer.write(batch)
            statistics.finish()
            statistics.to_json()
        except TracesError:
            return
        if statistics.records:
            _is_whole(out, statistics.records)


def _is_whole(path: Path, records_written: int) -> None:
    """What was converted validates, and is as many records as were good."""
    findings = Findings()
    read = sum(batch.num_rows for batch in checked_batches(open_traces(path, findings), findings))
    wrong = [(one.kind.value, one.message) for one in findings.first if one.kind.value not in ("gap", "missing_seq")]
    assert read == records_written, f"{records_written} records written, {read} read: {wrong}"


KINDS = (
    Kind("traces-jsonl", "traces in JSON lines, damaged", draw_lines, read_lines, ".jsonl"),
    Kind("traces-parquet", "traces in Parquet, damaged or of other columns", draw_parquet, read_parquet, ".parquet"),
)
