"""A log that is followed while it grows is explained by the same states as one that is there as a whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hacheck.traces.adapters.adapter_files import load
from hacheck.traces.adapters.logs import open_logs
from hacheck.traces.conformance.interleavings import InterleavingSearch, Streams
from hacheck.traces.conformance.kernels import control as k
from hacheck.traces.conformance.live_search import LiveSearch
from hacheck.traces.conformance.record_encoding import Encoder
from hacheck.traces.conformance.trace_checker import TraceChecker
from hacheck.traces.findings import Findings
from hacheck.traces.records import TIME, Order
from tests.traces.two_balancers import ADAPTER, SKEW_MS, random_lines, the_system

SKEW = SKEW_MS * 1_000_000


@pytest.fixture(scope="module")
def checker() -> TraceChecker:
    return TraceChecker(the_system(), Order.PER_NODE, skew_ns=SKEW, checked=("one_master",))


def records(tmp_path: Path, lines: list[tuple[str, str]]) -> list[Any]:
    """Each record as a batch, in the order of time."""
    (tmp_path / "balancers.toml").write_text(ADAPTER, encoding="utf-8")
    place = tmp_path / "logs"
    place.mkdir()
    for name, text in lines:
        with (place / name).open("a", encoding="utf-8") as file:
            file.write(text)
    batches = list(open_logs(place, load(str(tmp_path / "balancers.toml"))).located(Findings()))
    return [batch.slice(row, 1) for batch in batches for row in range(batch.num_rows)]


def states_at_once(checker: TraceChecker, batches: list[Any]) -> set[object]:
    """The states after all records, by a search for the whole."""
    follower = checker.trace_follower()
    search: InterleavingSearch = follower.diagnoser.search
    encoder, streams = Encoder(search.compiled), search.compiled.shape.streams
    words: list[list[object]] = [[] for _ in range(streams)]
    times: list[list[int]] = [[] for _ in range(streams)]
    for batch in batches:
        encoded = encoder.encode(batch)
        for row, writer in zip(encoded.words, encoded.writers, strict=True):
            words[writer].append(row)
            times[writer].append(batch.column(TIME)[0].as_py())
    width = search.compiled.record.words
    found = Streams(
        [np.array(one, np.uint64).reshape(-1, width) for one in words],
        [np.array(one, np.int64) for one in times],
        [{} for _ in words],
        SKEW,
    )
    result = search.run(found)
    assert result is not None, "nothing stops it"
    if result.status != k.FOLLOWED:
        return set()
    return {search.compiled.state(int.from_bytes(row.tobytes(), "little")) for row in search.memory.closed()}


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("damage", [None, 7])
def test_states_are_those_of_the_whole(seed: int, damage: int | None, checker: TraceChecker, tmp_path: Path) -> None:
    lines = random_lines(seed, 22)
    if damage is not None:
        del lines[damage]
    batches = records(tmp_path, lines)
    live = LiveSearch(checker.trace_follower().diagnoser.search, SKEW)
    for number, batch in enumerate(batches, 1):
        live.add(batch)
        newest = batch.column(TIME)[0].as_py()
        followed = live.advance(newest - 2 * SKEW)
        found = live.explained()
        assert found is not None
        expected = states_at_once(checker, batches[:number])
        assert set(found.states) == expected, f"after record {number}"
        assert followed or not expected
        assert not (found.certain and expected)
        if found.certain:
            assert not states_at_once(checker, batches), "what is impossible stays so"


def test_record_that_comes_late_makes_all_be_followed_again(checker: TraceChecker, tmp_path: Path) -> None:
    batches = records(tmp_path, random_lines(3, 20))
    live = LiveSearch(checker.trace_follower().diagnoser.search, SKEW)
    late = batches.pop(6)
    node = late.column("node")[0].as_py()
    same = [one for one in batches[6:] if one.column("node")[0].as_py() == node]
    for batch in batches:
        if batch not in same:
            live.add(batch)
    live.advance(batches[-1].column(TIME)[0].as_py())
    for batch in [late, *same]:
        live.add(batch)
    found = live.explained()
    assert found is not None
    assert set(found.states) == states_at_once(
        checker, sorted([late, *batches], key=lambda one: one.column(TIME)[0].as_py())
    )


def test_node_that_the_model_does_not_have_is_named(checker: TraceChecker, tmp_path: Path) -> None:
    (batch,) = records(tmp_path, [("lb7.log", "2026-11-22 03:00:00.000 started\n")])
    live = LiveSearch(checker.trace_follower().diagnoser.search, SKEW)
    live.add(batch)
    assert live.strange.startswith("the model has no node `lb7`; it has ")
