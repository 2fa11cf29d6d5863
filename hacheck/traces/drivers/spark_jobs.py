"""A Spark job that somebody waits for: it runs in a thread, so that it can be watched and cancelled."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Generic, TypeVar

from hacheck.traces.drivers.contract import DriverError
from hacheck.traces.drivers.spark_session import is_connect
from hacheck.traces.findings import TracesError

CANCEL_SECONDS = 0.7
"""So long it is waited for a job that was cancelled. After that its thread is left to itself."""

Result = TypeVar("Result")


class Job(Generic[Result]):
    """Runs an action of Spark's."""

    def __init__(self, spark: Any, action: Callable[[], Result]) -> None:
        self._spark, self._action = spark, action
        self._name = f"hacheck-{uuid.uuid4()}"
        self._result: list[Result] = []
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._work, name=self._name, daemon=True)
        self._thread.start()

    def _work(self) -> None:
        try:
            if is_connect(self._spark):
                self._spark.addTag(self._name)
            else:
                self._spark.sparkContext.setJobGroup(self._name, "hacheck", interruptOnCancel=True)
            self._result.append(self._action())
        except BaseException as error:
            self._error = error

    def over(self, seconds: float) -> bool:
        """Waits so long at most. Returns whether it is over."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def tasks(self) -> tuple[int, int]:
        """How many tasks are done, of how many that are known by now; (0, 0) where Spark does not say."""
        if is_connect(self._spark):
            return 0, 0
        tracker = self._spark.sparkContext.statusTracker()
        done = total = 0
        for job in tracker.getJobIdsForGroup(self._name):
            info = tracker.getJobInfo(job)
            for stage in info.stageIds if info else ():
                info = tracker.getStageInfo(stage)
                if info is not None:
                    done, total = done + info.numCompletedTasks, total + info.numTasks
        return done, total

    def cancel(self) -> None:
        """Ends the job."""
        with suppress(Exception):  # it may be over by now, or its session gone
            if is_connect(self._spark):
                self._spark.interruptTag(self._name)
            else:
                self._spark.sparkContext.cancelJobGroup(self._name)
        self.over(CANCEL_SECONDS)

    def result(self) -> Result:
        """What the action returned. Errors: `DriverError` where the job failed; the action's own `TracesError`."""
        if isinstance(self._error, TracesError) or type(self._error) is ValueError:  # not one of Spark's own
            raise self._error
        if self._error is not None:
            raise driver_error(self._error) from self._error
        return self._result[0]


CRASHED = ("Python worker exited unexpectedly", "ExecutorLostFailure")
"""What Spark says of processes that were killed."""


def driver_error(error: BaseException) -> DriverError:
    """What an error of Spark's means."""
    text = str(error)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    mistakes = [line for line in lines if "hacheck.traces.findings.TracesError: " in line]
    if mistakes:
        return DriverError(mistakes[-1].split("TracesError: ", 1)[1])
    if any(words in text for words in CRASHED):
        hint = "the system kills processes when memory runs out: give executors more, or run fewer tasks on each"
        return DriverError("the Spark job failed: a worker process was lost too often", hint)
    first = next((line for line in lines if "Error" in line or "Exception" in line), lines[0] if lines else "")
    return DriverError(f"the Spark job failed: {first or type(error).__name__}")
