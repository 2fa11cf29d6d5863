"""Damage is what the truth says: done again to the whole traces, by the truth alone, it gives the damaged ones."""

from __future__ import annotations

from typing import Any

import pytest

from hacheck.traces.records import Order
from hacheck.traces.simulation.damage import KINDS
from hacheck.traces.simulation.plan import NANOSECONDS, Plan
from hacheck.traces.simulation.trace_maker import Made, Maker
from tests.traces.simulation.specs import EVERYTHING, PLAIN, system_of
from tests.traces.simulation.test_records import rows_of

SAID = ("node", "event", "fields")


def made(text: str, traces: int = 40, steps: int = 30, **more: Any) -> Made:
    """Traces of a spec."""
    return Maker(Plan(system_of(text), "t", traces, steps, 8, **more)).make(0, traces)


def repeated(whole: list[dict[str, Any]], done: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The records of a trace after what the truth says was done to it."""
    entries = [(number, dict(record)) for number, record in enumerate(whole, start=1)]
    by_line = dict(entries)
    gone = {one["line"] for one in done if one["kind"] in ("dropped", "lost")}
    twice = {one["line"] for one in done if one["kind"] == "duplicate"}
    for one in done:
        record = by_line[one["line"]]
        if one["kind"] == "node":
            assert record["node"] == one["before"]
            record["node"] = one["after"]
        elif one["kind"] == "value" and one["before"] is not None:
            assert told(record["fields"][one["field"]]) in (one["before"], "" if one["before"] == "none" else None)
    left = []
    for line, record in entries:
        if line not in gone:
            left += [record] * (2 if line in twice else 1)
    for one in done:
        if one["kind"] == "swap":
            first, second = left[one["seq"] - 1], left[one["other_seq"] - 1]
            left[one["seq"] - 1] = {**first, **{key: second[key] for key in SAID}}
            left[one["other_seq"] - 1] = {**second, **{key: first[key] for key in SAID}}
    return [{**record, "seq": seq} for seq, record in enumerate(left, start=1)]


def told(value: Any) -> str:
    """A value as the truth tells it."""
    if isinstance(value, list):
        return ", ".join(map(str, value)) if value else ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def without(records: list[dict[str, Any]], seq: int, field: str) -> list[dict[str, Any]]:
    """Records, in one of which a field is not looked at."""
    return [
        {**record, "fields": {**record["fields"], field: None}} if record["seq"] == seq else record
        for record in records
    ]


@pytest.mark.parametrize("text", [EVERYTHING, PLAIN], ids=["everything", "plain"])
@pytest.mark.parametrize("kind", [*KINDS, "dropped", "all"])
def test_the_truth_tells_all_that_was_done(text: str, kind: str) -> None:
    chosen = {"kinds": KINDS if kind in ("all", "dropped") else (kind,)}
    shares = {"drop": 0.05} if kind == "dropped" else {"mutate": 1.0}
    if kind == "all":
        shares["drop"] = 0.05
    wrong, whole = made(text, **shares, **chosen), made(text)
    assert wrong.steps.equals(whole.steps)
    before, after, done = rows_of(whole.records), rows_of(wrong.records), rows_of(wrong.damage)
    kinds = {one["kind"] for found in done.values() for one in found}
    assert kinds == ({*KINDS, "dropped"} if kind == "all" else {kind})
    if kind != "dropped":
        assert len(done) == 40, "something can be done to each of these traces"
        assert all(sum(one["kind"] != "dropped" for one in found) == 1 for found in done.values())
    for trace, records in before.items():
        expected, found = repeated(records, done.get(trace, [])), after.get(trace, [])
        for one in done.get(trace, []):
            if one["kind"] == "value":
                changed = found[one["seq"] - 1]["fields"][one["field"]]
                assert changed != expected[one["seq"] - 1]["fields"][one["field"]]
                if one["after"] is not None and not isinstance(changed, list):
                    assert told(changed) == one["after"]
                expected = without(expected, one["seq"], one["field"])
                found = without(found, one["seq"], one["field"])
        assert found == expected


def test_a_line_is_lost_with_the_chance_that_was_asked_for() -> None:
    found = made(PLAIN, traces=200, steps=100, drop=0.02)
    assert 300 < found.damage.num_rows < 500
    assert found.records.num_rows == 20_000 - found.damage.num_rows


def test_damage_of_a_share_of_the_traces() -> None:
    found = made(PLAIN, traces=2000, steps=20, mutate=0.05)
    assert 60 < found.damage.num_rows < 140


def test_nothing_is_done_to_a_trace_without_lines() -> None:
    found = made(EVERYTHING, traces=20, mutate=1.0, hidden=("round", "asked", "founding", "founded", "joined", "left"))
    lines = rows_of(found.records)
    assert {row["trace_id"] for row in found.damage.to_pylist()} <= {*lines} | {
        row["trace_id"] for row in found.damage.to_pylist() if row["kind"] == "lost"
    }


def test_clocks_differ_by_what_was_asked_for_and_order_the_lines() -> None:
    skewed, right = made(PLAIN, skew=30), made(PLAIN)
    ahead = {(row["trace_id"], row["node"]): row["ahead"] for row in skewed.clocks.to_pylist()}
    assert max(ahead.values()) - min(ahead.values()) < 30 * NANOSECONDS
    assert max(ahead.values()) > 10 * NANOSECONDS
    before, after = rows_of(right.records), rows_of(skewed.records)
    moved = 0
    for trace, records in after.items():
        times = [record["time"] for record in records]
        assert times == sorted(times)
        assert [record["seq"] for record in records] == list(range(1, len(records) + 1))
        shifted = [
            {**record, "time": record["time"] + ahead.get((trace, record["node"]), 0), "seq": 0}
            for record in before[trace]
        ]
        assert sorted(shifted, key=repr) == sorted(({**record, "seq": 0} for record in records), key=repr)
        for node in {record["node"] for record in records}:
            mine = [record["event"] for record in records if record["node"] == node]
            assert mine == [record["event"] for record in before[trace] if record["node"] == node]
        moved += [record["event"] for record in records] != [record["event"] for record in before[trace]]
    assert moved > 20, "some lines come before others that were written first"


def test_swapped_lines_of_nodes_with_logs_of_their_own_are_of_one_node() -> None:
    system = system_of(PLAIN)
    maker = Maker(Plan(system, "t", 30, 30, 7, skew=5, mutate=1.0, kinds=("swap",)))
    assert maker.shape.schema(True).order is Order.PER_NODE
    found = maker.make(0, 30)
    records = rows_of(found.records)
    assert found.damage.num_rows == 30
    for one in found.damage.to_pylist():
        trace = records[one["trace_id"]]
        assert trace[one["seq"] - 1]["node"] == trace[one["other_seq"] - 1]["node"]
