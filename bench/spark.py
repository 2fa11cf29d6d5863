"""What the drivers cost without a judge: 20 million generated records, a judge that says nothing of them.

    python bench/spark.py [--records N] [--shapes short,long,skewed,one,clustered] [--drivers local,spark] [--keep DIR]

CPU seconds are of everything that ran: the driver, Java, the Python workers. Each job runs in a process of its own.
`--checker FILE` runs a pickled judge beside the silent one, in turn, so that the ratio of both is of one run.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import measuring
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from hacheck.traces.conformance.verdicts import SCHEMA
from hacheck.traces.dataset import open_traces
from hacheck.traces.findings import Findings
from hacheck.traces.records import FieldType, Order, TraceSchema

FILES = 8
ROWS = 1 << 18
"""Rows of a row group."""

SHAPES = ("short", "long", "skewed", "one", "clustered")
NODES, EVENTS = 5, 20
STATES = ("normal", "election", "reorganization", "inactive")
TRACE_SCHEMA = TraceSchema(
    (("member", FieldType.INT), ("old", FieldType.STRING), ("peer", FieldType.STRING)), Order.TOTAL
)
HEAP = "4g"


class Silent:
    """Finds where traces begin, and says of each that it conforms."""

    columns = ("trace_id", "node", "seq", "time", "event", "fields", "file", "line")

    def check(self, batches: Iterator[Any], report: Any = None) -> Iterator[Any]:
        """One verdict for each trace, made of whole columns."""
        last, records = None, 0
        for batch in batches:
            encoded = pc.run_end_encode(batch.column("trace_id"))
            names, ends = encoded.values, encoded.run_ends.to_numpy().astype(np.int64)
            sizes = np.diff(ends, prepend=0)
            if last is not None and names[0].as_py() == last:
                sizes[0] += records
            elif last is not None:
                yield said(pa.array([last]), np.array([records]))
            if len(sizes) > 1:
                yield said(names.slice(0, len(names) - 1), sizes[:-1])
            last, records = names[len(names) - 1].as_py(), int(sizes[-1])
        if last is not None:
            yield said(pa.array([last]), np.array([records]))

    def resume(self, state: bytes | None) -> Any:
        """Not measured."""
        raise NotImplementedError


def said(names: Any, sizes: Any) -> Any:
    """Verdicts of traces of these sizes."""
    count = len(names)
    plain: dict[Any, Any] = {pa.string(): "", pa.int64(): 0}
    known = {"trace_id": names, "records": pa.array(sizes), "compared": pa.array(sizes)}
    known["verdict"] = pa.repeat("conforms", count)
    columns = [
        known[field.name] if field.name in known else pa.repeat(pa.scalar(plain.get(field.type, []), field.type), count)
        for field in SCHEMA
    ]
    return pa.RecordBatch.from_arrays(columns, schema=SCHEMA)


def generate(folder: Path, shape: str, records: int) -> None:
    """Writes records in the order in which they arrive: traces of 100 records, a thousand of them open at a time
    (`short`); a hundred traces at a time (`long`); one trace with 30 % of all (`skewed`), or all of them (`one`).
    `clustered`: as `short`, but in order, with the manifest."""
    chance = np.random.default_rng(1)
    traces = {"long": 100, "one": 1}.get(shape, max(records // 100, 1))
    if shape == "skewed":
        ids = np.where(chance.random(records) < 0.3, 0, chance.integers(1, traces, records))
    elif shape == "clustered":
        ids = np.arange(records) // 100
    else:
        live, per = min(1000, traces), records // traces
        ids = np.arange(records) // (live * per) * live + np.arange(records) % live
    order = np.argsort(ids, kind="stable")
    starts = np.r_[0, np.flatnonzero(np.diff(ids[order])) + 1]
    seq = np.empty(records, np.int64)
    seq[order] = np.arange(records) - np.repeat(starts, np.diff(np.r_[starts, records])) + 1
    names = pa.array([f"trace-{number:08}" for number in range(int(ids.max()) + 1)])
    cuts = [records * part // FILES // 100 * 100 for part in range(FILES)] + [records]
    parts = []
    for part in range(FILES):
        low, high = cuts[part], cuts[part + 1]
        table = rows(names.take(pa.array(ids[low:high])), seq[low:high], low, chance)
        path = folder / f"part-{part:05}.parquet"
        pq.write_table(table, path, row_group_size=ROWS, compression="zstd")
        first, last = table.column(0)[0].as_py(), table.column(0)[-1].as_py()
        distinct = pc.count_distinct(table.column(0)).as_py()
        parts.append((path.name, high - low, distinct, first, last, path.stat().st_size))
    if shape == "clustered":
        keys = ("name", "records", "traces", "first", "last", "size_bytes")
        listed = [dict(zip(keys, part, strict=True)) for part in parts]
        (folder / "_manifest.json").write_text(json.dumps({"hacheck.traces.manifest": 1, "files": listed}))


def rows(traces: Any, seq: Any, start: int, chance: np.random.Generator) -> Any:
    """Records of given traces and numbers, the rest of them by chance."""
    count, schema = len(seq), TRACE_SCHEMA.arrow()

    def words(choices: list[str]) -> Any:
        return pa.array(choices).take(pa.array(chance.integers(0, len(choices), count)))

    nodes = [f"node-{number}" for number in range(NODES)]
    fields = [pa.array(chance.integers(0, 1000, count)), words(list(STATES)), words(nodes)]
    columns = {
        "trace_id": traces,
        "node": words(nodes),
        "seq": pa.array(seq),
        "time": pa.array(1_795_176_000_000_000_000 + np.arange(start, start + count) * 1_000_000),
        "event": words([f"event_{number}" for number in range(EVENTS)]),
        "fields": pa.StructArray.from_arrays(fields, fields=list(schema.field("fields").type)),
        "file": words([f"replica-{number}.log" for number in range(NODES)]),
        "line": pa.array(np.arange(start, start + count)),
    }
    arrays = [columns.get(field.name) for field in schema]
    whole = [pa.nulls(count, f.type) if column is None else column for f, column in zip(schema, arrays, strict=True)]
    return pa.Table.from_arrays(whole, schema=schema)


def run(driver: str, folder: Path, judge: Any) -> None:
    """One job, in this process; prints what it cost within, as JSON."""
    findings = Findings()
    dataset = open_traces(folder, findings)
    if driver == "local":
        from hacheck.traces.drivers.local import check_locally

        start = time.perf_counter()
        outcome = check_locally(dataset, judge, findings)
    else:
        from pyspark import cloudpickle

        from hacheck.traces.drivers.spark_batch import check_on_spark
        from hacheck.traces.drivers.spark_session import session

        cloudpickle.register_pickle_by_value(sys.modules[Silent.__module__])
        spark = session(settings={"spark.driver.memory": HEAP})
        start = time.perf_counter()
        outcome = check_on_spark(spark, dataset, judge, findings)
    wall = time.perf_counter() - start
    cpu = tree_seconds(os.getpid())  # before Java is gone, whose time nobody else would know
    told = {"traces": outcome.traces, "records": outcome.records, "findings": findings.total, "wall": wall}
    told["cpu"] = cpu
    print(json.dumps(told | {"rss": resident_max(driver)}))
    if driver == "spark":
        spark.stop()


def tree_seconds(pid: int) -> float:
    """CPU seconds of a process, of all below it, and of those that have ended there."""
    ticks, below = 0, children()
    waiting = [pid]
    while waiting:
        one = waiting.pop()
        waiting += below.get(one, [])
        try:
            told = Path(f"/proc/{one}/stat").read_text().rsplit(")", 1)[1].split()
        except OSError:  # it has just ended
            continue
        ticks += sum(int(word) for word in told[11:15])
    return ticks / os.sysconf("SC_CLK_TCK")


def children() -> dict[int, list[int]]:
    """The processes below each."""
    found: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            except OSError:
                continue
            found.setdefault(parent, []).append(int(entry.name))
    return found


def resident_max(driver: str) -> int:
    """The most memory that a worker process held, in bytes. Spark keeps its workers for the next job."""
    if driver == "local":
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    found, below, waiting = [0], children(), [os.getpid()]
    while waiting:
        one = waiting.pop()
        waiting += below.get(one, [])
        try:
            if b"pyspark.daemon" in Path(f"/proc/{one}/cmdline").read_bytes():
                lines = Path(f"/proc/{one}/status").read_text().splitlines()
                found += [int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM")]
        except OSError:
            continue
    return max(found)


def measured(driver: str, folder: Path, judge: Path | None) -> dict[str, Any]:
    """What a job costs: CPU seconds of all its processes, wall seconds of the job without its start."""
    command = [sys.executable, __file__, "--run", driver, "--keep", str(folder)]
    cost = measuring.spent([*command, *(["--checker", str(judge)] if judge else [])])
    told: dict[str, Any] = json.loads([line for line in cost.output.splitlines() if line.startswith("{")][-1])
    return told


def main() -> None:
    """Generates, measures, prints a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=20_000_000)
    parser.add_argument("--shapes", default=",".join(SHAPES))
    parser.add_argument("--drivers", default="local,spark")
    parser.add_argument("--checker", type=Path)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--run", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.run:
        run(chosen.run, chosen.keep, pickle.loads(chosen.checker.read_bytes()) if chosen.checker else Silent())
        return
    print(measuring.machine())
    print(f"{'records':10} {'driver':6} {'judge':6} {'wall s':>7} {'CPU s':>7} {'M/CPU-s':>8} {'worker MB':>9}")
    with tempfile.TemporaryDirectory(prefix="hacheck-bench-") as made:
        for shape in chosen.shapes.split(","):
            folder = Path(chosen.keep or made) / f"{shape}-{chosen.records}"
            if not folder.exists():
                folder.mkdir(parents=True)
                generate(folder, shape, chosen.records)
            for driver in chosen.drivers.split(","):
                judges = [None, *([chosen.checker] if chosen.checker else [])]
                rivals = [partial(measured, driver, folder, judge) for judge in judges]
                results = measuring.in_turn(rivals, chosen.runs)
                for judge, found in zip(judges, results, strict=True):
                    one = measuring.middle(found, lambda result: result["cpu"])
                    assert one["records"] == chosen.records, one
                    assert one["findings"] == 0, one
                    rate = chosen.records / 1e6 / one["cpu"]
                    name = "real" if judge else "silent"
                    print(
                        f"{shape:10} {driver:6} {name:6} {one['wall']:7.1f} {one['cpu']:7.1f} {rate:8.2f} "
                        f"{one['rss'] / 1e6:9.0f}", flush=True,
                    )  # fmt: skip


if __name__ == "__main__":
    main()
