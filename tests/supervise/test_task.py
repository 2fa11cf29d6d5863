"""Work under supervision: its result and errors are the caller's, a reason to stop ends it."""

from __future__ import annotations

import threading
import time

import pytest

from hacheck.supervise.task import Budget, Cancelled, supervised


def test_the_result_comes_without_waiting_for_the_next_look() -> None:
    assert supervised(lambda: 7, lambda: pytest.fail("nobody looks"), poll_seconds=60) == 7


def test_errors_of_the_work_are_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        supervised(lambda: 1 // 0, lambda: None)


def test_a_request_to_end_is_repeated_until_the_work_hears_it() -> None:
    requests: list[int] = []
    end = threading.Event()

    def cancel() -> None:
        requests.append(0)
        if len(requests) == 3:  # the first two came too early
            end.set()

    with pytest.raises(Cancelled) as cancelled:
        supervised(end.wait, lambda: "interrupted", cancel=cancel, grace_seconds=60, poll_seconds=0.01)
    assert cancelled.value.reason == "interrupted"
    assert len(requests) == 3


def test_work_that_does_not_end_is_left_behind() -> None:
    end = threading.Event()
    with pytest.raises(Cancelled):
        supervised(end.wait, lambda: "interrupted", grace_seconds=0.02, poll_seconds=0.01)
    end.set()


def test_a_budget_says_what_ran_out() -> None:
    now = time.perf_counter()
    assert Budget(now, 60, 100).exceeded(99) is None
    assert Budget(now - 60, 60, 100).exceeded(100) == "60 seconds passed"
    assert Budget(now, None, 2**30).exceeded(2**30) == "1 GiB of memory were in use"
