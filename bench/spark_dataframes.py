"""What conformance on DataFrames costs beside the same plan with a stage that does nothing.

    python bench/spark_dataframes.py [--records 5M] [--runs 3] [--keep DIR]

Traces of 100 records of a spec with two servers, in eight Parquet files in the order in which they arrived; read,
exchanged by trace, sorted, handed to Python (`exchanged`), or in order already (`grouped`). `nothing` counts the
records of each batch; `conform` checks them. CPU seconds are of the driver, Java and the Python workers, in turn in one
run; the start of a session and compiling are left out: each job first runs on some of the records.
"""

from __future__ import annotations

import argparse
import json
import os
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
import pyarrow.parquet as pq
from spark import tree_seconds

from hacheck.cli.options import parse_count

FILES, LENGTH = 8, 100
SPEC = """system Lease "one server at a time"
node Server[2] { state mode: { idle, serving } = idle }
shared term: 0..3 = 0
environment action begin(s: Server) when s.mode == idle and (no o: Server where o.mode == serving) do
  term := if term == 3 then 0 else term + 1
  s.mode := serving
  log began(term: term) at s
action stop(s: Server) when s.mode == serving do s.mode := idle
check default
"""
WAYS = ("exchanged nothing", "exchanged conform", "grouped nothing", "grouped conform")


def generate(folder: Path, records: int) -> None:
    """Writes the records twice: as they arrive, a thousand traces at a time, and in order."""
    chance = np.random.default_rng(1)
    traces = records // LENGTH
    names = pa.array([f"trace-{number:08}" for number in range(traces)])
    for name in ("exchanged", "grouped"):
        (folder / name).mkdir(parents=True)
        for part in range(FILES):
            own = np.arange(traces * part // FILES, traces * (part + 1) // FILES)
            live = min(1000, len(own))
            own = own[: len(own) // live * live]
            seq = np.tile(np.arange(1, LENGTH + 1), len(own))
            ids = np.repeat(own, LENGTH)
            if name == "exchanged":
                order = np.argsort((ids // live) * LENGTH + seq, kind="stable")
                ids, seq = ids[order], seq[order]
            columns = {
                "trace_id": names.take(pa.array(ids)),
                "node": pa.array(["Server-1", "Server-2"]).take(pa.array(chance.integers(0, 2, len(ids)))),
                "seq": pa.array(seq),
                "time": pa.array(1_795_176_000_000_000_000 + seq * 1_000_000),
                "event": pa.repeat("began", len(ids)),
                "fields": pa.StructArray.from_arrays([pa.array(seq % 4)], names=["term"]),
            }
            pq.write_table(pa.table(columns), folder / name / f"part-{part}.parquet", compression="zstd")


def nothing(batches: Iterator[Any]) -> Iterator[Any]:
    """A stage that counts."""
    for batch in batches:
        yield pa.RecordBatch.from_arrays([pa.array([batch.num_rows])], names=["records"])


def run(way: str, folder: Path) -> None:
    """One job, in this process; prints what it cost within, as JSON."""
    from pyspark.sql import functions as f

    from hacheck.api.specification import loads
    from hacheck.spark import conform
    from hacheck.spark.record_frames import grouped
    from hacheck.traces.drivers.spark_session import UNSPLIT_BYTES, session

    kept, stage = way.split()
    is_grouped = kept == "grouped"
    spark = session(settings={"spark.sql.files.maxPartitionBytes": str(UNSPLIT_BYTES)})
    spec = loads(SPEC, "lease.ha")

    def records(df: Any) -> int:
        columns = ("trace_id", "node", "seq", "time", "event", "fields")
        if stage == "nothing":
            plain = df.select(*columns)
            frame = plain if is_grouped else grouped(plain, None, "seq")
            made = frame.mapInArrow(nothing, "records bigint")
        else:
            made = conform(df, spec, order="total", is_grouped=is_grouped)
        wrong = f.lit(0) if stage == "nothing" else f.count_if(f.col("verdict") != "conforms")
        row = made.agg(f.sum("records"), wrong).collect()[0]
        assert row[1] == 0, "all traces conform"
        return int(row[0])

    whole = spark.read.parquet(str(folder / kept))
    few = whole.where("seq <= 2")  # in as many tasks, so that every worker has compiled
    records(few)
    before, start = tree_seconds(os.getpid()), time.perf_counter()
    found = records(whole)
    cpu, wall = tree_seconds(os.getpid()) - before, time.perf_counter() - start
    print(json.dumps({"records": found, "cpu": cpu, "wall": wall}))
    spark.stop()


def measured(way: str, folder: Path) -> dict[str, Any]:
    """What a job costs."""
    cost = measuring.spent([sys.executable, __file__, "--run", way, "--keep", str(folder)])
    told: dict[str, Any] = json.loads([line for line in cost.output.splitlines() if line.startswith("{")][-1])
    return told


def main() -> None:
    """Generates, measures, prints a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", default="5M")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--run", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.run:
        run(chosen.run, chosen.keep)
        return
    records = parse_count("--records", chosen.records)
    print(measuring.machine())
    with tempfile.TemporaryDirectory(prefix="hacheck-bench-") as made:
        folder = Path(chosen.keep or made) / f"frames-{records}"
        if not folder.exists():
            generate(folder, records)
        results = measuring.in_turn([partial(measured, way, folder) for way in WAYS], chosen.runs)
        found = [measuring.middle(each, lambda result: result["cpu"]) for each in results]
        for way, one in zip(WAYS, found, strict=True):
            rate = one["records"] / 1e6 / one["cpu"]
            print(f"{way:18} {one['records']:>10,} records {one['cpu']:6.1f} CPU s {rate:6.2f} M/CPU-s")
        for number, kept in enumerate(("exchanged", "grouped")):
            ratio = found[2 * number + 1]["cpu"] / found[2 * number]["cpu"]
            print(f"{kept}: conform costs {ratio:.2f} of nothing")


if __name__ == "__main__":
    main()
