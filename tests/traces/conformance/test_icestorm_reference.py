"""Recordings of a real IceStorm against its spec, by the reference search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from hacheck.model import ir
from hacheck.model.observing.line_writers import lines_of, logged
from tests.nightly import first_of, nightly
from tests.seeds.driving import specification
from tests.traces.adapters.logs import read_logs
from tests.traces.conformance.reference import Entry, Writer, explains

RECORDINGS = Path(__file__).parents[2] / "data" / "icestorm"
SKEW_NS = 10_000_000

Streams = Mapping[Writer, Sequence[Entry]]


@cache
def icestorm(check: str, timeline: str = "off") -> ir.System:
    """IceStorm as logs are compared with it. `timeline`: whether what was done to processes is compared, too."""
    made = specification("icestorm").instantiate({"timeline": timeline}, check, logs=True).system
    assert made is not None
    return logged(made)


@cache
def recorded(scenario: str, timeline: str = "off") -> Streams:
    """The records of a recording that the spec speaks of, by replica; what was done to processes is nobody's."""
    rows, _, _ = read_logs(RECORDINGS / scenario, "icestorm")
    spoken_of = {line.event for action in icestorm("default", timeline).actions for line in lines_of(action)}
    found: dict[Writer, list[Entry]] = {("Replica", number): [] for number in (1, 2, 3)}
    for row in rows:
        if row["event"] in spoken_of:
            writer = None if row["node"] == "-" else ("Replica", int(row["node"]))
            found.setdefault(writer, []).append(Entry(row["event"], fields_of(row), row["time"]))
    return found


def fields_of(row: Mapping[str, Any]) -> dict[str, object]:
    """What a record shows, as values of the model."""
    shown = {name: value for name, value in row["fields"].items() if value is not None}
    return {name: frozenset(value) if isinstance(value, list) else value for name, value in shown.items()}


def changed(streams: Streams, node: int, place: int, fields: Mapping[str, object]) -> Streams:
    """The streams with other values in one record."""
    own = list(streams["Replica", node])
    own[place] = replace(own[place], fields={**own[place].fields, **fields})
    return {**streams, ("Replica", node): own}


def place_of(streams: Streams, node: int, event: str) -> int:
    """Where a replica's first record of an event is."""
    return next(place for place, entry in enumerate(streams["Replica", node]) if entry.event == event)


@pytest.mark.parametrize("check", ["as_released", "default"])
@pytest.mark.parametrize("scenario", first_of(["a-cold-start-3", "c-kill-coordinator"]))
def test_recordings_are_runs_of_the_released_and_of_the_documented_protocol(scenario: str, check: str) -> None:
    streams = recorded(scenario)
    found = explains(icestorm(check), streams, skew_ns=SKEW_NS)
    assert found.explained
    assert found.furthest == {writer: len(stream) for writer, stream in streams.items()}


def test_lost_majority_is_a_run_of_the_released_protocol() -> None:
    assert explains(icestorm("as_released"), recorded("e-lose-majority"), skew_ns=SKEW_NS).explained


@nightly
def test_lost_majority_leaves_the_documented_protocol_where_a_generation_does_not_increase() -> None:
    streams = recorded("e-lose-majority")
    found = explains(icestorm("default"), streams, skew_ns=SKEW_NS)
    assert found.explained is False
    first_left = streams["Replica", 3][found.furthest["Replica", 3]]
    assert first_left.event == "commenced"
    assert first_left.fields["generation"] == 1


@pytest.mark.parametrize("scenario", first_of(["c-kill-coordinator", "e-lose-majority"]))
def test_processes_ended_when_they_were_killed(scenario: str) -> None:
    streams = recorded(scenario, "on")
    assert [entry.event for entry in streams[None]].count("killed") in (1, 2)
    assert explains(icestorm("as_released", "on"), streams, skew_ns=SKEW_NS).explained


@nightly
def test_a_process_that_ended_without_its_record_is_no_run() -> None:
    streams = recorded("c-kill-coordinator", "on")
    others = [entry for entry in streams[None] if entry.event != "killed"]
    found = explains(icestorm("as_released", "on"), {**streams, None: others}, skew_ns=SKEW_NS)
    assert found.explained is False
    assert streams["Replica", 3][found.furthest["Replica", 3]].event == "started"


@pytest.mark.parametrize(
    ("event", "fields"),
    [
        ("merge_started", {"invited": frozenset({1})}),
        pytest.param("accepted", {"group": "another"}, marks=nightly),
        pytest.param("last_update", {"generation": 1}, marks=nightly),
        pytest.param("commenced", {"generation": 2}, marks=nightly),
    ],
)
def test_wrong_value_in_a_line_is_no_run(event: str, fields: Mapping[str, object]) -> None:
    streams = recorded("a-cold-start-3")
    wrong = changed(streams, 3, place_of(streams, 3, event), fields)
    assert explains(icestorm("as_released"), wrong, skew_ns=SKEW_NS).explained is False


@nightly
@pytest.mark.parametrize("event", ["merge_decided", "accepted"])
def test_missing_line_is_no_run(event: str) -> None:
    streams = recorded("a-cold-start-3")
    own = list(streams["Replica", 3])
    del own[place_of(streams, 3, event)]
    found = explains(icestorm("as_released"), {**streams, ("Replica", 3): own}, skew_ns=SKEW_NS)
    assert found.explained is False
