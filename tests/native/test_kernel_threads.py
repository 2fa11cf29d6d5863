"""Kernels in several threads: what is done at once is seen at once."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable

import pytest

from hacheck.compile.kernels.language import (
    compare_swap64,
    fetch_add64,
    load64,
    load64_acquire,
    store64,
    store64_release,
)
from hacheck.compile.kernels.to_llvm import kernel_ir
from hacheck.compile.kernels.to_python import as_python
from hacheck.compile.machine.compiler import compile_object, link


def claim(slots: int, number: int, name: int) -> int:
    """Puts a name on every slot that has none. Returns how many got it."""
    claimed = 0
    slot = 0
    while slot < number:
        if compare_swap64(slots, slot, 0, name) == 0:
            claimed += 1
        slot += 1
    return claimed


def count(place: int, times: int) -> int:
    """Adds 1 so many times, by compare-and-swap at index 0 and by addition at index 1."""
    turn = 0
    while turn < times:
        old = load64_acquire(place, 0)
        if compare_swap64(place, 0, old, old + 1) == old:
            fetch_add64(place, 1, 1)
            turn += 1
    return 0


def publish(place: int, times: int) -> int:
    """Writes numbers, and after each how many there are."""
    turn = 0
    while turn < times:
        turn += 1
        store64(place, turn, turn * 3)
        store64_release(place, 0, turn)
    return 0


def consume(place: int, times: int) -> int:
    """Counts the numbers that were not there when they were said to be."""
    wrong = 0
    seen = 0
    while seen < times:
        there = load64_acquire(place, 0)
        if there > seen and load64(place, there) != there * 3:
            wrong += 1
        while seen < there:
            seen += 1
            if load64(place, seen) != seen * 3:
                wrong += 1
    return wrong


def in_threads(*calls: Callable[[], int]) -> list[int]:
    found = [0] * len(calls)

    def run(number: int) -> None:
        found[number] = calls[number]()

    threads = [threading.Thread(target=run, args=(number,)) for number in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


@pytest.mark.parametrize("machine", [True, False], ids=["compiled", "python"])
def test_two_threads_never_claim_one_slot_twice(machine: bool) -> None:
    number = 200_000 if machine else 2_000
    functions = as_python([claim, count], {})
    if machine:
        linked = link([compile_object(kernel_ir([claim, count], {}, ["claim", "count"]))])
        functions = {"claim": linked.function("claim", 3), "count": linked.function("count", 2)}
    slots = (ctypes.c_uint64 * number)()
    address = ctypes.addressof(slots)
    won = in_threads(*(lambda name=name: functions["claim"](address, number, name) for name in (1, 2)))
    assert sum(won) == number
    assert [list(slots).count(name) for name in (1, 2)] == won
    counters = (ctypes.c_uint64 * 2)()
    place = ctypes.addressof(counters)
    in_threads(*[lambda: functions["count"](place, number)] * 2)
    assert list(counters) == [2 * number, 2 * number]


def test_what_was_stored_before_a_release_is_seen_after_it() -> None:
    linked = link([compile_object(kernel_ir([publish, consume], {}, ["publish", "consume"]))])
    publisher, consumer = linked.function("publish", 2), linked.function("consume", 2)
    times = 1_000_000
    words = (ctypes.c_uint64 * (times + 1))()
    place = ctypes.addressof(words)
    assert in_threads(lambda: consumer(place, times), lambda: publisher(place, times)) == [0, 0]
