"""Judges for tests of drivers: small, and real enough that lost, repeated or mixed records change what they say."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from hacheck.traces.conformance.verdicts import Verdict, to_batch

BAD = "bad"
"""The event at which a trace deviates."""


class Counter:
    """An open trace: counts records, and deviates at the first `bad` event or the first gap in `seq`."""

    def __init__(self, state: bytes | None = None) -> None:
        told = json.loads(state) if state else {"trace": "", "records": 0, "seq": 0, "digest": "", "wrong": None}
        self.trace, self.records, self.seq = told["trace"], told["records"], told["seq"]
        self.digest, self.wrong = told["digest"], told["wrong"]

    def feed(self, batch: Any) -> list[Verdict]:
        before = self.wrong
        for trace, seq, event in zip(
            batch.column("trace_id").to_pylist(),
            batch.column("seq").to_pylist(),
            batch.column("event").to_pylist(),
            strict=True,
        ):
            assert self.trace in ("", trace), "records of one trace"
            self.trace = trace
            self.records += 1  # type: ignore[operator]
            self.digest = hashlib.sha256(f"{self.digest}{seq}{event}".encode()).hexdigest()[:16]
            if self.wrong is None and (event == BAD or seq != self.seq + 1):  # type: ignore[operator]
                self.wrong = (seq, event)
            self.seq = seq
        return [self.close()] if self.wrong is not None and before is None else []

    def state(self) -> bytes:
        names = ("trace", "records", "seq", "digest", "wrong")
        return json.dumps({name: getattr(self, name) for name in names}).encode()

    def kept_records(self) -> list[Any] | None:
        return [] if self.records else None

    def close(self) -> Verdict:
        if self.wrong is not None:
            seq, event = self.wrong
            return Verdict(self.trace, "deviates", self.records, self.records, "an event too many", seq, event=event)
        return Verdict(self.trace, "conforms", self.records, self.records, expected=(self.digest,))


class Counting:
    """Judges traces with `Counter`."""

    columns = ("trace_id", "seq", "event")

    def resume(self, state: bytes | None) -> Counter:
        return Counter(state)

    def check(self, batches: Iterator[Any], report: Any = None) -> Iterator[Any]:
        open_: Counter | None = None
        for batch in batches:
            assert tuple(batch.schema.names) == self.columns
            self.look(batch)
            traces = batch.column("trace_id").to_pylist()
            start = 0
            done = []
            for end in range(1, len(traces) + 1):
                if end < len(traces) and traces[end] == traces[start]:
                    continue
                if open_ is not None and open_.trace != traces[start]:
                    done.append(open_.close())
                    open_ = None
                open_ = open_ or Counter()
                open_.feed(batch.slice(start, end - start))
                start = end
            if done:
                yield to_batch(done)
        if open_ is not None:
            yield to_batch([open_.close()])

    def look(self, batch: Any) -> None:
        """For judges that do more."""


class Deadly(Counting):
    """Kills its own process at some trace: always, or only the first time (`once`: a file that says it was)."""

    def __init__(self, trace: str, once: Path | None = None) -> None:
        self.trace, self.once = trace, once

    def look(self, batch: Any) -> None:
        if self.trace in batch.column("trace_id").to_pylist() and not (self.once and self.once.exists()):
            if self.once:
                self.once.touch()
            os.kill(os.getpid(), signal.SIGKILL)


class Slow(Counting):
    """Takes its time."""

    def look(self, batch: Any) -> None:
        time.sleep(60)


class Unhurried(Counting):
    """Takes half a millisecond for each record."""

    def look(self, batch: Any) -> None:
        time.sleep(batch.num_rows / 2_000)


class Broken(Counting):
    """Has a mistake in it."""

    def look(self, batch: Any) -> None:
        raise ZeroDivisionError("a mistake of the judge")


class Fields(Counting):
    """Reads one field of the events, and nothing else of them."""

    columns = ("trace_id", "seq", "fields.wanted")

    def check(self, batches: Iterator[Any], report: Any = None) -> Iterator[Any]:
        for batch in batches:
            assert batch.schema.names == ["trace_id", "seq", "fields"]
            assert [item.name for item in batch.column("fields").type] == ["wanted"]
            rows = batch.to_pylist()
            yield to_batch([Verdict(row["trace_id"], "conforms", 1, row["fields"]["wanted"]) for row in rows])


class LineActions(Counting):
    """Says in each verdict in which folder it was found, and where the package was taken from."""

    def check(self, batches: Iterator[Any], report: Any = None) -> Iterator[Any]:
        import hacheck

        place = pa.array([[os.getcwd(), hacheck.__file__]])
        for batch in super().check(batches):
            at = batch.schema.get_field_index("perhaps")
            told = place.take(pa.array([0] * batch.num_rows)).cast(batch.schema.field(at).type)
            yield batch.set_column(at, batch.schema.field(at), told)


def die_first(marker: str, report: Any) -> str:
    """A task whose process is killed, and that is done when it is tried again."""
    if not Path(marker).exists():
        Path(marker).write_text("", encoding="utf-8")
        os.kill(os.getpid(), signal.SIGKILL)
    return "second"


def die_always(report: Any) -> str:
    """A task whose process is always killed."""
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("it lives on")


def refuse(report: Any) -> str:
    """A task that fails."""
    raise ValueError("no")
