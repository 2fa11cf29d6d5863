"""Runs a stream until it is killed: `python streaming.py PLACE RESULTS CHECKPOINT`, for a test that kills it."""

from __future__ import annotations

import sys
from pathlib import Path

from hacheck.traces.drivers.received_trace import Ends
from hacheck.traces.drivers.spark_session import local_master, session
from hacheck.traces.drivers.spark_stream import Monitoring, monitor_on_spark
from hacheck.traces.findings import Findings
from hacheck.traces.records import TraceSchema
from tests.traces.drivers.checkers import Counting

SETTINGS = {"spark.driver.memory": "1g", "spark.sql.shuffle.partitions": "2"}


def monitoring(place: Path, results: Path, checkpoint: Path, idle_seconds: float = 3600) -> Monitoring:
    """The stream of the tests: two files at a time."""
    ends = Ends(frozenset({"end"}), idle_seconds=idle_seconds)
    return Monitoring(place, TraceSchema(), Counting(), results, checkpoint, ends, trigger_seconds=0.2, files_max=2)


def main() -> None:
    """Runs the stream."""
    place, results, checkpoint = (Path(name) for name in sys.argv[1:])
    spark = session(local_master(2), quick=True, settings=SETTINGS)
    monitor_on_spark(spark, monitoring(place, results, checkpoint), Findings())


if __name__ == "__main__":
    main()
