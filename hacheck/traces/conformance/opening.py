"""A trace that is judged while its records come in, perhaps in one process after another."""

from __future__ import annotations

import pickle
from typing import Any

import pyarrow as pa

from hacheck.traces.conformance.apart import Apart
from hacheck.traces.conformance.in_order import InOrder
from hacheck.traces.conformance.verdicts import Verdict, from_batch


class OpenInOrder:
    """A trace whose records are in one order: it is known at once where it leaves the model."""

    def __init__(self, judge: InOrder, state: bytes | None) -> None:
        """`judge`: works on no other trace between two calls of one method here. `state`: as `state` gave it."""
        self.judge = judge
        self.held: dict[str, Any] | None = None if state is None else pickle.loads(state)
        self.told = self.held is not None and bool(self.held["told"])

    def feed(self, batch: Any) -> list[Verdict]:
        """Takes the next records. Returns a verdict that is certain by now, once."""
        self.judge.restore(self.held)
        self.judge.feed(batch)
        certain = self.judge.certain()
        self.held = self.judge.snapshot()
        if certain is None or self.told:
            return []
        self.told = True
        return [certain]

    def state(self) -> bytes:
        """All there is to know to go on later. (Only what this wrote may be read: it is pickled.)"""
        return pickle.dumps({**(self.held or self.judge.nothing()), "told": self.told})

    def close(self) -> Verdict:
        """The verdict, when no more records come."""
        self.judge.restore(self.held)
        (batch,) = self.judge.finish()
        (verdict,) = from_batch(batch)
        return verdict


class OpenApart:
    """A trace whose nodes logged apart: its records are kept, and judged when it ends."""

    def __init__(self, judge: Apart, state: bytes | None) -> None:
        """`state`: as `state` gave it."""
        self.judge = judge
        self.pieces: list[Any] = [] if state is None else pa.ipc.open_stream(state).read_all().to_batches()

    def feed(self, batch: Any) -> list[Verdict]:
        """Takes the next records."""
        self.pieces.append(batch)
        return []

    def state(self) -> bytes:
        """All there is to know to go on later."""
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, self.pieces[0].schema) as writer:
            for piece in self.pieces:
                writer.write_batch(piece)
        return bytes(sink.getvalue())

    def close(self) -> Verdict:
        """The verdict, when no more records come."""
        for piece in self.pieces:
            self.judge.feed(piece)
        (batch,) = self.judge.finish()
        (verdict,) = from_batch(batch)
        return verdict
