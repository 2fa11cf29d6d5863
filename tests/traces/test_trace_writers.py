"""What is written is read back as it was; a clustered folder splits no trace, and nothing half written is left."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hacheck.traces import manifest
from hacheck.traces.dataset import Dataset, open_traces
from hacheck.traces.findings import Findings, TracesError
from hacheck.traces.record_checks import checked_batches
from hacheck.traces.records import FieldType, Order, TraceSchema
from hacheck.traces.trace_writers import write_clustered, writing
from tests.traces.sample_files import found, jsonl, read_all, record

SCHEMA = TraceSchema(tuple((kind.value, kind) for kind in FieldType), Order.TOTAL)
VALUES = {"bool": True, "int": -(2**63), "float": 0.1, "string": "ä\n\u2028", "ints": [2**63 - 1], "strings": []}
RECORDS = [
    record("a", 1, fields={**VALUES}, message="m1"),
    record("a", 2, fields={"int": 1}, causes=["m1"], file="a.log", line=3),
    record("b", 1, fields={}),
]


def opened(path: Path) -> tuple[Dataset, Findings]:
    findings = Findings()
    return open_traces(path, findings), findings


@pytest.mark.parametrize("ending", [".jsonl", ".parquet"])
def test_records_survive_both_formats(tmp_path: Path, ending: str) -> None:
    source = jsonl(tmp_path / "source.jsonl", SCHEMA.header(), *RECORDS)
    dataset, findings = opened(source)
    target = tmp_path / f"written{ending}"
    with writing(target, dataset.schema) as writer:
        for batch in checked_batches(dataset, findings):
            writer.write(batch)
    again, _ = opened(target)
    assert again.schema == dataset.schema == SCHEMA
    assert read_all(target)[0] == read_all(source)[0] == RECORDS
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


@pytest.mark.parametrize("ending", [".jsonl", ".parquet"])
def test_failed_writing_leaves_what_was_there(tmp_path: Path, ending: str) -> None:
    target = tmp_path / f"written{ending}"
    target.write_text("before")
    with pytest.raises(KeyboardInterrupt), writing(target, SCHEMA):
        raise KeyboardInterrupt
    assert target.read_text() == "before"
    assert [path.name for path in tmp_path.iterdir()] == [target.name]


def clustered(tmp_path: Path, lengths: list[int], part_records: int) -> tuple[Path, tuple[manifest.Part, ...]]:
    """A clustered folder of traces of these lengths, whose records arrived in turn."""
    rows = [record(f"t{at:03}", seq) for seq in range(1, max(lengths) + 1) for at, n in enumerate(lengths) if seq <= n]
    dataset, findings = opened(jsonl(tmp_path / "arrival.jsonl", *rows))
    folder = tmp_path / "clustered"
    parts = write_clustered(checked_batches(dataset, findings), folder, dataset.schema, part_records=part_records)
    return folder, parts


@pytest.mark.parametrize("part_records", [1, 3, 7, 1000])
def test_no_trace_is_split_over_files(tmp_path: Path, part_records: int) -> None:
    lengths = [3, 1, 5, 2, 2, 9, 1]
    folder, parts = clustered(tmp_path, lengths, part_records)
    inside = {part.name: read_all(folder / part.name)[0] for part in parts}
    owners: dict[str, set[str]] = {}
    for name, rows in inside.items():
        for row in rows:
            owners.setdefault(row["trace_id"], set()).add(name)
    assert all(len(names) == 1 for names in owners.values())
    assert [part.records for part in parts] == [len(rows) for rows in inside.values()]
    assert [part.traces for part in parts] == [len({row["trace_id"] for row in rows}) for rows in inside.values()]
    assert sum(part.records for part in parts) == sum(lengths)
    assert all(part.records >= part_records for part in parts[:-1])
    if part_records == 1:
        assert len(parts) == len(lengths)
    assert sorted(path.name for path in folder.iterdir()) == ["_manifest.json", *inside]


def test_clustered_folder_is_read_without_sorting(tmp_path: Path) -> None:
    folder, _ = clustered(tmp_path, [3, 4, 5], 4)
    dataset, _ = opened(folder)
    assert dataset.in_order
    assert read_all(folder)[0] == read_all(tmp_path / "arrival.jsonl")[0]
    content = json.loads((folder / "_manifest.json").read_text())
    assert (content["traces"], content["records"]) == (3, 12)


@pytest.mark.parametrize("change", ["missing", "more", "other", "none", "wrong"])
def test_manifest_that_is_not_true_is_not_believed(tmp_path: Path, change: str) -> None:
    folder, parts = clustered(tmp_path, [3, 4, 5], 1)
    if change == "missing":
        (folder / parts[0].name).unlink()
    elif change == "more":
        jsonl(folder / "more.jsonl", record("t000", 9))
    elif change == "other":
        (tmp_path / "other").mkdir()
        other, _ = clustered(tmp_path / "other", [9, 9, 9], 1)
        (folder / parts[1].name).write_bytes((other / parts[1].name).read_bytes())
    elif change == "none":
        (folder / "_manifest.json").unlink()
    else:
        (folder / "_manifest.json").write_text("{}")
    dataset, _ = opened(folder)
    assert not dataset.in_order


def test_manifest_that_lies_about_the_order_is_found_out(tmp_path: Path) -> None:
    folder, parts = clustered(tmp_path, [2, 2], 1)
    first, second = (folder / part.name for part in parts)
    content = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(content)
    told = json.loads((folder / "_manifest.json").read_text())
    for item, path in zip(told["files"], (first, second), strict=True):
        item["size_bytes"] = path.stat().st_size
    (folder / "_manifest.json").write_text(json.dumps(told))
    rows, findings = read_all(folder)
    assert len(rows) == 4
    assert findings.total == 0  # two whole traces, the other way round: nothing is lost by that
    jsonl(tmp_path / "split.jsonl", record("t000", 2), record("t000", 1))
    dataset, findings = opened(tmp_path / "split.jsonl")
    claimed = Dataset(dataset.files, dataset.schema, in_order=True)
    list(checked_batches(claimed, findings))
    assert ("split_trace", f"{tmp_path / 'split.jsonl'}:2") in found(findings)


def test_interrupted_clustering_leaves_nothing(tmp_path: Path) -> None:
    dataset, findings = opened(jsonl(tmp_path / "a.jsonl", record("a", 1)))

    def interrupted() -> Iterator[Any]:
        yield from checked_batches(dataset, findings)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_clustered(interrupted(), tmp_path / "out", dataset.schema)
    assert [path.name for path in tmp_path.iterdir()] == ["a.jsonl"]


def test_folder_with_something_in_it_is_left_alone(tmp_path: Path) -> None:
    jsonl(tmp_path / "a.jsonl", record("a", 1))
    with pytest.raises(TracesError, match="not empty"):
        write_clustered([], tmp_path, SCHEMA)
    assert [path.name for path in tmp_path.iterdir()] == ["a.jsonl"]


@pytest.mark.parametrize("name", ["a.csv", "folder.parquet", "missing/a.jsonl"])
def test_place_that_cannot_be_written_is_told(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder.parquet").mkdir()
    with pytest.raises(TracesError), writing(tmp_path / name, SCHEMA):
        pass


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_no_permission_to_write_is_told(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(TracesError, match="Permission denied"), writing(tmp_path / "a.jsonl", SCHEMA):
        pass
    with pytest.raises(TracesError, match="Permission denied"):
        write_clustered([], tmp_path / "out", SCHEMA)
    tmp_path.chmod(0o700)
