"""Jobs of a command in processes side by side. A job reports its progress; the answer says whether to continue."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeAlias

from hacheck.checker.engine import Progress, Report
from hacheck.supervise.process_pool import Caller, ProcessPool

Job: TypeAlias = Callable[[Report], object]

_REPORT_SECONDS = 0.1


def job_pool(size: int) -> ProcessPool[Any]:
    """Up to `size` processes for jobs; their messages are `Progress`."""
    return ProcessPool(run_job, size)


def run_job(job: Job, caller: Caller) -> object:
    """Does a job in its process, and sends its progress now and then."""
    reported = 0.0

    def report(progress: Progress) -> bool:
        nonlocal reported
        if caller.wants_stop:
            return False
        if time.monotonic() - reported >= _REPORT_SECONDS:
            reported = time.monotonic()
            caller.send(progress)
        return True

    return job(report)
