"""Address space is taken as there is some, and threads leave it alone before it is given back."""

from __future__ import annotations

import mmap
import subprocess
import sys
import threading
import time
from array import array
from collections.abc import Callable
from pathlib import Path

import pytest

from hacheck.checker.engine import Limits
from hacheck.checker.explicit.search.control_words import ROOM, SHIFT, TABLE
from hacheck.checker.explicit.search.search_limits import Bounds
from hacheck.checker.explicit.search.visited_set import Visited
from hacheck.compile.machine import reserved_memory
from hacheck.compile.machine.reserved_memory import Region, reserve, touched
from hacheck.supervise import resources
from hacheck.supervise.resources import available_bytes, process_bytes
from hacheck.supervise.thread_pool import ThreadPool
from tests.native.searching import never_stop

ROOT = Path(__file__).parents[2]


# ---- regions -------------------------------------------------------------------------------------------------------


def test_region_is_zeros_until_written_and_again_when_forgotten() -> None:
    region = Region(16 * 2**20)
    assert region.address % mmap.PAGESIZE == 0
    assert region.read(5 * 2**20, 4) == b"\0\0\0\0"
    region.write(0, b"first")
    region.write(5 * 2**20, b"some")
    region.write(16 * 2**20 - 4, b"last")
    assert region.read(5 * 2**20, 4) == b"some"
    with region.view(5 * 2**20, 4) as content:
        assert bytes(content) == b"some"
    region.forget(1, 16 * 2**20 - 1)
    assert region.read(0, 5) == b"first"
    assert region.read(5 * 2**20, 4) == b"\0\0\0\0"
    assert region.read(16 * 2**20 - 4, 4) == b"last"
    region.free()


def test_reserved_memory_is_held_only_when_touched_and_given_back() -> None:
    before = process_bytes()
    region = reserve(2**36, 2**20)
    assert region.size >= 2**30
    assert process_bytes() - before < 2**22
    for place in range(0, 2**26, 4096):
        region.write(place, b"x")
    assert 2**26 <= process_bytes() - before < 2**26 + 2**23
    region.forget(0, 2**26)
    assert process_bytes() - before < 2**23
    region.free()


def test_as_much_is_reserved_as_is_granted(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    class Miserly(Region):
        def __init__(self, size: int, huge: bool = True) -> None:
            asked.append(size)
            if size > 3 * 2**20:
                raise MemoryError
            super().__init__(size, huge)

    monkeypatch.setattr(reserved_memory, "Region", Miserly)
    region = reserve(2**25, 2**20)
    assert region.size == 2**21
    assert asked == [2**25, 2**24, 2**23, 2**22, 2**21]
    region.free()
    with pytest.raises(MemoryError):
        reserve(2**25, 2**22)


def test_bytes_touched_are_counted_in_the_pages_they_take() -> None:
    assert [touched(size) for size in (0, 1, 2**21, 2**21 + 1)] == [0, 2**21, 2**21, 2**22]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not say")
def test_what_the_machine_has_left_is_known() -> None:
    room = available_bytes()
    assert room is not None
    assert 0 <= room < 2**50
    bounds = Bounds(Limits(), never_stop)
    assert bounds.bytes_free(0) > 0
    assert bounds.bytes_free(2**50) < 0
    assert bounds.reason(1, 2**50) == bounds.out_of_memory(2**50)
    assert bounds.out_of_memory(0).startswith("the machine's memory is used up, ")


def test_control_group_limits_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    group = tmp_path / "outer" / "inner"
    group.mkdir(parents=True)
    for folder, most, now in ((group, "max", "5"), (group.parent, str(2**30), str(2**29))):
        (folder / "memory.max").write_text(most + "\n")
        (folder / "memory.current").write_text(now + "\n")
    own = tmp_path / "cgroup"
    own.write_text("0::/outer/inner\n")
    monkeypatch.setattr(resources, "_CGROUP", own)
    monkeypatch.setattr(resources, "_GROUPS", tmp_path)
    assert resources.available_bytes() == 2**29 - 2**26


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such limit")
def test_a_limit_on_addresses_is_kept() -> None:
    script = """
import resource
from hacheck.checker.engine import Limits
from tests.native.searching import election, kernels_for, searched
model = election(3, 2, 1)
kernels_for(model.functions.program.words, False, True).search
resource.setrlimit(resource.RLIMIT_AS, (2**31, 2**31))
with searched(model) as log:
    assert (log.size, log.stopped) == (63_873, None), log.stopped
    assert len(log.path_to([log.state(log.levels[-1][0][0])]).states) == log.depth + 1
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


# ---- threads -------------------------------------------------------------------------------------------------------


def finishing(ends: list[int], number: int, seconds: float) -> Callable[[], int]:
    """Work of some length, that says when it has ended."""

    def job() -> int:
        time.sleep(seconds)
        ends.append(number)
        return number

    return job


def test_a_crew_works_at_once_and_answers_in_order() -> None:
    pool = ThreadPool(3)
    together = threading.Barrier(3)
    for _ in range(20):
        assert sorted(pool.run([lambda: together.wait(10)] * 3)) == [0, 1, 2]
    assert pool.run([lambda: 7]) == [7]
    pool.close()


@pytest.mark.parametrize("failing", [0, 1])
def test_nobody_works_any_more_when_a_failure_is_told(failing: int) -> None:
    def fails() -> int:
        raise KeyboardInterrupt

    pool, ends = ThreadPool(3), list[int]()
    jobs = [finishing(ends, number, 0.05) for number in range(3)]
    jobs[failing] = fails
    for turn in range(3):
        with pytest.raises(KeyboardInterrupt):
            pool.run(jobs)
        assert len(ends) == 2 * (turn + 1)
    assert pool.run([finishing(ends, number, 0.0) for number in range(3)]) == [0, 1, 2]
    pool.close()


def test_nobody_works_any_more_when_a_signal_interrupts() -> None:
    script = """
import os, signal, threading, time
from hacheck.checker.explicit.search.control_words import ROOM, SHIFT, TABLE
from hacheck.supervise.thread_pool import ThreadPool
signal.signal(signal.SIGINT, signal.default_int_handler)  # also where the shell had it ignored
pool, ends = ThreadPool(3), []
def work():
    end = time.perf_counter() + 2.0
    while time.perf_counter() < end:
        time.sleep(0.01)
    ends.append(1)
    return 0
for delay in (0.1, 0.2):
    threading.Timer(delay, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        pool.run([lambda: time.sleep(0.01) or 0, work, work])
    except KeyboardInterrupt:
        pass
    else:
        raise SystemExit("not interrupted")
    assert len(ends) == 20 * delay, ends
pool.close()
assert len(ends) == 4, ends
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


# ---- the visited set ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bits", "used", "free", "expected"),
    [
        (4, 10, 2**40, 6),  # four times the size
        (4, 100, 2**40, 8),  # as large as it takes
        (22, 2_600_000, 2**40, 24),
        (23, 5_100_000, 2**40, 24),  # twice the size, where that is much memory
        (22, 2_600_000, 2**26, 23),  # less, where there is less
        (22, 2_600_000, 2**24, None),
        (31, 2**31, 2**40, 32),
        (32, 2**32 - 1, 2**60, None),  # there is no larger one
    ],
)
def test_the_visited_set_grows_as_memory_allows(bits: int, used: int, free: int, expected: int | None) -> None:
    visited = Visited(array("Q", bytes(8 * 64)), bits)
    assert visited.next_bits(used, free) == expected
    visited.free()


def test_the_visited_set_is_filled_up_only_where_it_cannot_grow() -> None:
    shared = array("Q", bytes(8 * 64))
    visited = Visited(shared, 10)
    assert shared[ROOM] == 614
    assert not visited.crowd(871)
    assert shared[ROOM] == 614
    assert visited.crowd(870)
    assert shared[ROOM] == 870
    assert not visited.crowd(870)
    visited.open_to_the_last()
    assert shared[ROOM] == 972
    for _ in visited.grow(11, lambda pieces: None, 1):
        assert visited.region is None
    assert (visited.bits, visited.is_crowded, shared[ROOM]) == (11, False, 1228)
    assert (shared[TABLE], shared[SHIFT]) == (visited.region.address if visited.region else 0, 53)
    visited.free()


def test_growing_moves_every_slot_once() -> None:
    visited = Visited(array("Q", bytes(8 * 64)), 22)
    seen: list[int] = []
    old = visited.region
    assert old is not None
    address = old.address

    def move(pieces: list[tuple[int, ...]]) -> None:
        for table, first, end, _, shift in pieces:
            assert (table, shift) == (address, 64 - 23)
            seen.extend(range(first, end))

    for _ in visited.grow(23, move, 3):
        pass
    assert seen == list(range(2**22))
    visited.free()
