"""A trace whose records come in bits has, in the end, the verdict that it has as a whole."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from hacheck.traces.drivers import received_trace
from hacheck.traces.drivers.columns import Columns, pruned
from hacheck.traces.drivers.received_trace import Ends, ReceivedTrace
from hacheck.traces.findings import Finding, Kind
from hacheck.traces.records import TraceSchema
from tests.traces.drivers.checkers import Counting
from tests.traces.drivers.test_local import alone
from tests.traces.sample_files import Record, record

ENDS = Ends(events=frozenset({"end"}))


def columns() -> Columns:
    """What `Counting` reads."""
    return pruned(TraceSchema(), Counting.columns)


def batch(rows: list[Record]) -> Any:
    """Records as a file would give them, the n-th in row 100 + its number."""
    located = columns().located
    return pa.RecordBatch.from_pylist([row | {"_source": 7, "_row": 100 + row["seq"]} for row in rows], located)


class Story:
    """A trace that is packed up and taken out again before each new bit."""

    def __init__(self) -> None:
        self.state: bytes | None = None
        self.findings: list[Finding] = []
        self.verdicts: list[Any] = []

    def take(self, *rows: Record) -> Story:
        """Takes records."""
        return self._do(lambda trace: trace.take([(batch(list(rows)), "a.jsonl")]))

    def close(self) -> Story:
        """Says that no more come."""
        return self._do(ReceivedTrace.close)

    def _do(self, what: Any) -> Story:
        trace = ReceivedTrace("t", Counting(), columns(), ENDS, self.state)
        what(trace)
        self.findings += trace.findings
        self.verdicts += [trace.verdict] if trace.verdict is not None else []
        self.state = trace.state()
        return self


TRACE = [record("t", seq, f"event {seq % 3}") for seq in range(1, 8)]


@pytest.mark.parametrize(
    "bits",
    [
        [TRACE],
        [TRACE[:3], TRACE[3:]],
        [[row] for row in TRACE],
        [TRACE[4:], TRACE[:2], TRACE[2:4]],
        [[row] for row in reversed(TRACE)],
    ],
)
def test_verdict_does_not_depend_on_how_records_come(bits: list[list[Record]]) -> None:
    story = Story()
    for bit in bits:
        story.take(*bit)
    assert story.verdicts == []
    assert story.close().verdicts == [alone(TRACE)["t"]]
    assert story.findings == []


def test_last_event_ends_a_trace_when_all_before_it_are_there() -> None:
    rows = [*TRACE, record("t", 8, "end")]
    assert Story().take(*rows[5:]).verdicts == []
    assert Story().take(*rows[5:]).take(*rows[:5]).verdicts == [alone(rows)["t"]]


def test_verdict_that_is_certain_comes_at_once_and_only_once() -> None:
    rows = [*TRACE[:3], record("t", 4, "bad"), *TRACE[4:]]
    story = Story().take(*rows[:5])
    assert [verdict.kind for verdict in story.verdicts] == ["deviates"]
    story.take(*rows[5:]).close()
    assert [verdict.seq for verdict in story.verdicts] == [4]
    assert story.findings == []


def test_record_that_never_comes_is_a_finding_and_the_trace_unknown() -> None:
    story = Story().take(*TRACE[:2], *TRACE[3:5], TRACE[6]).close()
    assert [finding.message for finding in story.findings] == [
        "record 3 is missing before this one", "record 6 is missing before this one",
    ]  # fmt: skip
    assert [finding.place for finding in story.findings] == ["a.jsonl:104", "a.jsonl:107"]
    assert [verdict.kind for verdict in story.verdicts] == ["unknown"]


def test_too_many_records_are_not_kept_for_one_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(received_trace, "WAITING_MAX", 3)
    story = Story().take(*TRACE[1:])
    assert [verdict.kind for verdict in story.verdicts] == ["unknown"]


def test_record_that_comes_twice_or_too_late_is_a_finding() -> None:
    story = Story().take(*TRACE[:3]).take(*TRACE[2:5])
    assert [finding.kind for finding in story.findings] == [Kind.DUPLICATE_SEQ]
    story.close().take(TRACE[6])
    assert [finding.message for finding in story.findings[1:]] == ["record 7 comes after the verdict, too late"]
    assert [verdict.kind for verdict in story.verdicts] == ["unknown"]


def test_clock_that_goes_back_between_bits_is_a_finding() -> None:
    story = Story().take(*TRACE[:3]).take(TRACE[3] | {"time": TRACE[2]["time"] - 2_000_000})
    assert [finding.message for finding in story.findings] == ["the clock of node 'a' goes back by 2.000 ms"]
