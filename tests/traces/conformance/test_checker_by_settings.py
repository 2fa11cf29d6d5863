"""Traces that are judged under the settings that their own records give."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from functools import cache
from typing import Any

import pyarrow as pa
import pytest

from hacheck.model.language import Specification, load
from hacheck.model.observing.line_writers import logged
from hacheck.traces.conformance import checker_by_settings, open_trace
from hacheck.traces.conformance.checker_by_settings import CheckerBySettings
from hacheck.traces.conformance.trace_checker import TraceChecker
from hacheck.traces.conformance.verdicts import Verdict, from_batch
from hacheck.traces.records import Order

SPEC = """system Ring "A token goes round; who keeps a book of it, says so."
param servers = 2 in 2..4
switch book = off "each hand over is in the book, too"
node Server[servers] ranked { }
shared had: set of Server = {}
action take(s: Server) when s not in had and (every o: Server where o < s satisfies o in had) do
  had := had with s
  if size(had) == servers then had := {}
  log took()
observe booked of take at nobody when book shows server = n
trace with servers = 2
  from hello(peers): servers = size(peers)
  from opened: book = on
  from closed(by): book = by
check default expect all hold
"""
FIELDS = pa.struct([("peers", pa.list_(pa.int64())), ("server", pa.int64()), ("by", pa.bool_())])
Line = tuple[str, str, dict[str, Any]]


@cache
def ring() -> Specification:
    loaded = load(SPEC, "ring.ha")
    assert loaded.specification is not None, loaded.diagnostics
    return loaded.specification


def checker(order: Order, **given: str) -> CheckerBySettings:
    """Who judges, under settings of the command line."""
    made = ring().instantiate(given, "default", logs=True)
    assert made.system is not None
    base = TraceChecker(logged(made.system), order)
    assert ring().trace is not None
    derived = tuple(one for one in ring().trace.derived if one.setting not in given)
    return CheckerBySettings(base, ring(), "default", given, derived, False, frozenset())


def table(traces: dict[str, Sequence[Line]]) -> Any:
    """Records of traces, numbered."""
    rows = [
        {"trace_id": name, "node": node, "seq": seq, "time": seq, "event": event, "fields": fields}
        for name, lines in traces.items()
        for seq, (node, event, fields) in enumerate(lines, start=1)
    ]
    columns = {"trace_id": pa.string(), "node": pa.string(), "seq": pa.int64(), "event": pa.string(), "fields": FIELDS}
    more = {"message": pa.string(), "causes": pa.list_(pa.string()), "file": pa.string(), "line": pa.int64()}
    schema = pa.schema([(name, kind) for name, kind in {**columns, "time": pa.int64(), **more}.items()])
    return pa.RecordBatch.from_pylist(rows, schema)


def judged(made: CheckerBySettings, traces: dict[str, Sequence[Line]], size: int = 1000) -> dict[str, Verdict]:
    whole = table(traces)
    pieces = [whole.slice(start, size) for start in range(0, whole.num_rows, size)]
    found = [one for batch in made.check(pieces) for one in from_batch(batch)]
    assert len({one.trace_id for one in found}) == len(found)
    return {one.trace_id: one for one in found}


def hello(*peers: int) -> Line:
    return "1", "hello", {"peers": list(peers)}


def rounds(servers: int, count: int) -> list[Line]:
    return [(str(number % servers + 1), "took", {}) for number in range(count)]


TRACES: dict[str, Sequence[Line]] = {
    "quiet": rounds(2, 5),
    "three": [hello(1, 2, 3), *rounds(3, 7)],
    "three-wrong": [hello(1, 2, 3), *rounds(2, 5)],
    "three-late": [*rounds(3, 7), hello(1, 2, 3)],
    "again": [hello(1, 2), *rounds(2, 3), hello(2, 1)],
    "contradicts": [hello(1, 2, 3), *rounds(3, 2), hello(1, 2)],
    "nine": [hello(*range(9)), *rounds(2, 2)],
    "unsaid": [("1", "hello", {}), *rounds(2, 4)],
    "booked": [("-", "opened", {}), ("1", "took", {}), ("-", "booked", {"server": 1})],
    "unbooked": [("-", "opened", {}), ("1", "took", {}), ("2", "took", {})],
    "closed": [("-", "closed", {"by": True}), ("1", "took", {}), ("-", "booked", {"server": 1})],
}
KINDS = dict.fromkeys(TRACES, "conforms") | {
    "three-wrong": "deviates",
    "contradicts": "unknown",
    "nine": "unknown",
    "unbooked": "deviates",
}


@pytest.mark.parametrize("order", [Order.TOTAL, Order.PER_NODE])
@pytest.mark.parametrize("size", [2, 1000])
def test_each_trace_is_judged_under_its_own_settings(order: Order, size: int) -> None:
    found = judged(checker(order), TRACES, size)
    assert {name: one.kind for name, one in found.items()} == KINDS
    assert found["three"].settings == found["three-late"].settings == ("servers=3",)
    assert found["quiet"].settings == ()
    assert found["booked"].settings == ("book=on",)
    assert {name: one.records for name, one in found.items()} == {name: len(lines) for name, lines in TRACES.items()}


def test_what_contradicts_itself_is_told_with_its_place() -> None:
    found = judged(checker(Order.PER_NODE), TRACES)
    wrong = found["contradicts"]
    assert wrong.reason == "the size of `peers` of `hello` gives servers = 2, and another record 3"
    assert (wrong.seq, wrong.node, wrong.event) == (4, "1", "hello")
    assert found["nine"].reason == "the trace gives servers = 9: `servers` must be in 2..4, not 9"


def test_the_command_line_comes_first() -> None:
    found = judged(
        checker(Order.TOTAL, servers="3"), {name: TRACES[name] for name in ("three", "again", "contradicts")}
    )
    assert {name: one.kind for name, one in found.items()} == {
        "three": "conforms",
        "again": "deviates",
        "contradicts": "conforms",
    }
    assert found["three"].settings == ()


@pytest.mark.parametrize("order", [Order.TOTAL, Order.PER_NODE])
def test_a_judge_can_be_sent_elsewhere(order: Order) -> None:
    made = checker(order)
    assert judged(pickle.loads(pickle.dumps(made)), TRACES) == judged(made, TRACES)


@pytest.mark.parametrize("order", [Order.TOTAL, Order.PER_NODE])
def test_a_trace_that_comes_in_pieces_is_held_back_until_it_says_what_it_gives(order: Order) -> None:
    made = checker(order)
    whole = judged(made, TRACES)
    for name, lines in TRACES.items():
        batch, state, early = table({name: lines}), None, []
        for row in range(batch.num_rows):
            opened = made.resume(state)
            early += opened.feed(batch.slice(row, 1))
            state = opened.state()
        assert made.resume(state).close() == whole[name]
        assert [one.kind for one in early] == [KINDS[name]] * len(early)


def test_what_a_long_trace_says_too_late_is_no_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (checker_by_settings, open_trace):
        monkeypatch.setattr(module, "HELD_MAX", 4)
    traces = {
        "late": [*rounds(2, 8), hello(1, 2, 3)],
        "same": [hello(1, 2), *rounds(2, 8), hello(2, 1)],
        "other": [hello(1, 2), *rounds(2, 8), hello(2, 1, 3)],
        "early": [hello(1, 2, 3), *rounds(3, 8)],
        "wrong": [hello(*range(9)), *rounds(2, 9)],
    }
    found = judged(checker(Order.TOTAL), traces, 3)
    assert {name: one.kind for name, one in found.items()} == {
        "late": "unknown",
        "same": "conforms",
        "other": "unknown",
        "early": "conforms",
        "wrong": "unknown",
    }
    assert "only after" in found["late"].reason
    assert (found["late"].seq, found["other"].seq) == (9, 10)
    assert {name: one.records for name, one in found.items()} == {name: len(lines) for name, lines in traces.items()}
