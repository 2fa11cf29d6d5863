"""Time is told by phase, and work that takes long is given up when the user or a limit says so."""

from __future__ import annotations

import threading
import time

import pytest

from hacheck.checker.engine import Limits, Progress
from hacheck.checker.explicit.stopwatch import Stopwatch
from hacheck.supervise.task import Cancelled


def test_a_phase_inside_another_counts_for_itself() -> None:
    watch = Stopwatch(Limits(), lambda _: True)
    with watch.phase("outer"):
        time.sleep(0.02)
        with watch.phase("inner"):
            time.sleep(0.05)
    with watch.phase("outer"):
        pass
    spent = dict(watch.phases())
    assert list(spent) == ["outer", "inner"]
    assert spent["inner"] >= 0.05
    assert sum(spent.values()) <= watch.seconds()
    assert spent["outer"] >= 0.02


def test_work_is_done_and_its_errors_are_the_callers() -> None:
    watch = Stopwatch(Limits(), lambda _: True)
    assert watch.supervised("lowering", lambda: 7) == 7

    def broken() -> None:
        raise LookupError("nothing")

    with pytest.raises(LookupError, match="nothing"):
        watch.supervised("lowering", broken)


@pytest.mark.parametrize(
    ("limits", "answer", "reason"),
    [(Limits(), False, "interrupted"), (Limits(wall_seconds_max=0.15), True, "0.15 seconds passed")],
)
def test_long_work_is_given_up(limits: Limits, answer: bool, reason: str) -> None:
    seen: list[Progress] = []
    end = threading.Event()

    def report(progress: Progress) -> bool:
        seen.append(progress)
        return answer

    begun = time.monotonic()
    with pytest.raises(Cancelled) as given_up:
        Stopwatch(limits, report).supervised("compiling", end.wait)
    end.set()
    assert given_up.value.reason == reason
    assert time.monotonic() - begun < 2
    assert {progress.phase for progress in seen} <= {"compiling"}
