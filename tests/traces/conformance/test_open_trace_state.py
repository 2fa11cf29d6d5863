"""The state of an open trace as bytes: whole it is gone on with, anything else is refused, and nothing in it is run."""

from __future__ import annotations

import os
import pickle
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from hacheck.traces.conformance import open_trace_state
from hacheck.traces.conformance.open_trace_state import (
    HEAD,
    Followed,
    FollowedState,
    PiecesState,
    TimedState,
    from_bytes,
    to_bytes,
)
from hacheck.traces.conformance.verdicts import Verdict
from hacheck.traces.findings import TracesError
from hacheck.traces.records import Order
from tests.traces.conformance.test_checker_by_settings import TRACES, checker, table

BATCH = pa.RecordBatch.from_pylist([{"seq": 1, "node": "a"}, {"seq": 2, "node": "é"}])


class Trap:
    """What a pickle would run."""

    def __reduce__(self) -> tuple[object, ...]:
        return os.mkdir, ("/tmp/hacheck-was-tricked",)


def test_arrays_records_and_verdicts_come_back() -> None:
    verdict = Verdict("t", "deviates", 3, 2, "because", seq=2, line=None, expected=("a", "b"))
    words = np.arange(6, dtype=np.uint64).reshape(2, 3)
    memory = open_trace_state.Memory([words], 1, 2, 2**64 - 1, np.zeros((1, 0), np.uint64))
    opened = open_trace_state.Open("t", 3, 2, verdict, [np.ones((0, 4), np.uint64)], {"p": 1}, {})
    state = FollowedState(Followed(opened, BATCH.slice(1), ({"x": 3}, 1), ({5: 3}, 1), memory), True)
    back = from_bytes(to_bytes(state), FollowedState)
    assert back.held.open is not None
    assert back.held.memory is not None
    assert back.held.open.verdict == verdict
    assert back.held.carried.to_pylist() == [{"seq": 2, "node": "é"}]
    assert np.array_equal(back.held.memory.sets[0], memory.sets[0])
    assert back.held.memory.marks.shape == (1, 0)
    assert (back.reported, back.held.renamed, back.held.memory.limited) == (True, ({5: 3}, 1), 2**64 - 1)


@pytest.mark.parametrize("at", range(0, 200, 7))
def test_damaged_bytes_are_refused(at: int) -> None:
    whole = to_bytes(PiecesState([BATCH]))
    for content in (whole[:at], whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :], whole + b"x"):
        with pytest.raises(TracesError, match="the saved state of an open trace"):
            from_bytes(content, PiecesState)


def test_another_kind_of_state_and_another_version_are_refused() -> None:
    whole = to_bytes(PiecesState([BATCH]))
    with pytest.raises(TracesError, match="another form than"):
        from_bytes(whole, TimedState)
    with pytest.raises(TracesError, match="another version"):
        from_bytes(whole.replace(HEAD, HEAD.replace(b"1", b"2")), PiecesState)


@pytest.mark.parametrize("order", [Order.TOTAL, Order.PER_NODE])
def test_no_pickle_is_read(order: Order) -> None:
    with pytest.raises(TracesError, match="another version"):
        checker(order).resume(pickle.dumps(Trap()))
    assert not Path("/tmp/hacheck-was-tricked").exists()


def test_state_of_another_system_is_refused() -> None:
    made = checker(Order.TOTAL, servers="3").base
    trace = made.resume(None)
    trace.feed(table({"three": TRACES["three"]}).slice(0, 2))
    state = trace.state()
    assert made.resume(state).state() == state
    held = from_bytes(state, FollowedState)
    assert held.held.memory is not None
    wider = [np.zeros((1, one.shape[1] + 1), np.uint64) for one in held.held.memory.sets]
    for memory in (
        open_trace_state.Memory(wider, 0, 0, 0, held.held.memory.marks),
        open_trace_state.Memory([*held.held.memory.sets, wider[0]], 0, 0, 0, held.held.memory.marks),
        open_trace_state.Memory(held.held.memory.sets, -1, 0, 0, held.held.memory.marks),
        open_trace_state.Memory(
            [np.zeros((10**6, one.shape[1]), np.uint64) for one in held.held.memory.sets], 0, 0, 0, None
        ),
    ):
        other = FollowedState(Followed(None, None, ({}, 0), ({}, 0), memory), False)
        with pytest.raises(TracesError, match="not of this spec"):
            made.resume(to_bytes(other))
