"""Executors of Spark as workers for tasks of any kind, each a job of Spark's with one task.

So Spark tries a task again that was lost with its executor, and a result is there as soon as its task is done. The
functions are those of this package, which every executor has.
"""

from __future__ import annotations

import pickle
import time
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa

from hacheck.checker.engine import Progress
from hacheck.supervise.process_pool import Done, Event, Failed
from hacheck.supervise.recursion_limit import room_for_nesting
from hacheck.traces.drivers.contract import DriverError
from hacheck.traces.drivers.spark_jobs import CRASHED, Job
from hacheck.traces.drivers.spark_session import is_connect

LOST = "Lost"
"""The kind of the failure of a task that was lost, with its process or machine, as often as Spark tries it."""

CONNECT_SIZE = 8
"""How many tasks a Spark Connect server is given at once, which does not say how many cores its executors have."""

POLL_SECONDS = 0.02


class SparkWorkers:
    """Up to `size` tasks at once on the executors of a session; by default as many as they have cores."""

    def __init__(self, spark: Any, size: int | None = None) -> None:
        self._spark, self._size = spark, size
        self._jobs: dict[int, Job[Any]] = {}

    @property
    def size(self) -> int:
        """How many run at once: executors may still join."""
        if self._size is not None:
            return self._size
        if is_connect(self._spark):
            return CONNECT_SIZE
        return max(int(self._spark.sparkContext.defaultParallelism), 1)

    @property
    def busy(self) -> int:
        """How many run now."""
        return len(self._jobs)

    def begin(self, key: int, task: Callable[..., Any]) -> None:
        """Begins a task."""
        from pyspark import cloudpickle

        with room_for_nesting():
            content = cloudpickle.dumps(task)  # type: ignore[no-untyped-call]  # it has no types
        rows = self._spark.createDataFrame(pa.table({"task": pa.array([content], pa.binary())})).coalesce(1)
        self._jobs[key] = Job(self._spark, rows.mapInArrow(outcomes, "outcome binary").toArrow)

    def wait(self, seconds: float) -> list[tuple[int, Event]]:
        """What has happened, as soon as something has; nothing after so many seconds. Errors: `DriverError` where the
        cluster, not a task, is the reason."""
        until = time.monotonic() + seconds
        while True:
            over = [key for key, job in self._jobs.items() if job.over(0)]
            left = until - time.monotonic()
            if over or left <= 0:
                return [(key, _event(self._jobs.pop(key))) for key in over]
            time.sleep(min(POLL_SECONDS, left))

    def ask_to_stop(self) -> None:
        """Ends the tasks under way: an executor does not listen while it explores."""
        for job in self._jobs.values():
            job.cancel()
        self._jobs.clear()


def _event(job: Job[Any]) -> Event:
    try:
        (content,) = job.result().column("outcome").to_pylist()
    except DriverError as error:
        if any(words in str(error.__cause__) for words in CRASHED):
            return Failed(LOST, "its process on the executor was lost, each time that Spark tried it", error.hint, "")
        raise
    found = pickle.loads(content)
    assert isinstance(found, Done | Failed), "nothing else is sent"
    return found


# ---- on an executor ----


def outcomes(batches: Iterator[Any]) -> Iterator[Any]:
    """What came of each task, pickled."""
    for batch in batches:
        found = [_outcome(content) for content in batch.column(0).to_pylist()]
        yield pa.record_batch({"outcome": pa.array(found, pa.binary())})


def _outcome(content: bytes) -> bytes:
    try:
        with room_for_nesting():
            result = pickle.loads(content)(_go_on)
            return pickle.dumps(Done(result))
    except Exception as error:
        message = " ".join(str(error).split())
        return pickle.dumps(Failed(type(error).__name__, message, getattr(error, "hint", None), traceback.format_exc()))


def _go_on(progress: Progress) -> bool:
    return True
