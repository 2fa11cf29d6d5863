"""Thousands of hours of each seed's cluster: what a protocol promises to survive costs no acknowledged update, and it
serves again. What it does not promise to survive is found to cost one.

`tests.simulation.long` says what the runs are like. A quarter of them is to take a quarter of a minute of one core.
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from msgspec import Struct, field

from hacheck.impl.node import Input, Message, Name, Record
from hacheck.impl.simulator.faults import Fault
from hacheck.impl.simulator.running import Outcome, Plan, run
from hacheck.impl.systems import names, system
from tests.nightly import by_night
from tests.simulation.long import HOUR_US, LONG, RUN_HOURS

SECOND = 1_000_000

HOURS_MIN = 2_100
"""So many hours of all protocols together are simulated by night."""

EVERYDAY_PART = 4
"""The part of them that every run of the tests does: one in so many."""

ACKNOWLEDGED_PER_HOUR_MIN = 5
"""So many answers clients get on average at least, whatever goes wrong."""


class Acknowledged:
    """Counts what clients were told is done."""

    def __init__(self) -> None:
        self.times = 0

    def recorded(self, at_us: int, local_us: int, member: Name, record: Record) -> None:
        self.times += record.event == "told" and record.fields["outcome"] == "ok"

    def sent(self, at_us: int, sender: Name, to: Name, message: Message) -> None: ...

    def given(self, at_us: int, member: Name, what: Input) -> None: ...

    def unlocked(self, at_us: int, member: Name, lock: Name) -> None: ...

    def started(self, at_us: int, member: Name, incarnation: int) -> None: ...

    def ended(self, at_us: int, member: Name, why: str) -> None: ...

    def fault(self, at_us: int, fault: Fault, begins: bool) -> None: ...


def told(outcome: Outcome) -> str:
    """What went wrong, for a failing test."""
    return f"seed {outcome.plan.seed}: {outcome.defect or outcome.broken[:2]}"


def test_all_protocols_together_run_for_thousands_of_hours() -> None:
    assert tuple(LONG) == names()
    assert sum(long.runs for long in LONG.values()) * RUN_HOURS >= HOURS_MIN


@pytest.mark.parametrize("name", LONG)
@pytest.mark.parametrize("part", by_night([1, EVERYDAY_PART], lambda part: part == EVERYDAY_PART))
def test_hours_of_promised_faults_cost_no_acknowledged_update(name: str, part: int) -> None:
    long, heard = LONG[name], Acknowledged()
    runs = max(1, long.runs // part)
    spent_us = faults = 0
    for seed in range(runs):
        outcome = run(system(name), long.plan(seed, "promised"), heard)
        assert outcome.kept, told(outcome)
        spent_us += outcome.end_us
        faults += sum(outcome.happened.values())
    hours = spent_us / HOUR_US
    assert hours >= runs * RUN_HOURS
    assert faults >= runs * 2
    assert heard.times >= ACKNOWLEDGED_PER_HOUR_MIN * hours


class Lost(Struct, frozen=True, kw_only=True):
    """A search for a loss. `faults`: what the protocol does not promise to survive."""

    faults: str | tuple[Fault, ...]
    promise: str
    settings: Mapping[str, str] = field(default_factory=dict)
    replicas: int = 3
    seeds: int = 60


LOST: Mapping[str, Lost] = {
    "icestorm": Lost(
        faults=(
            Fault("crash", 8 * SECOND, 12 * SECOND, ("replica-3",)),
            Fault("wipe", 16 * SECOND, 2 * SECOND, ("replica-1", "replica-2")),
        ),
        promise="acknowledged updates stay",
        settings={
            "master_timeout": "1s",
            "election_timeout": "1s",
            "response_timeout": "500ms",
            "start_delay": "200ms",
            "invocation_timeout": "300ms",
            "client_timeout": "1s",
            "client_period": "100ms",
        },
    ),
    "fiorano-replicated": Lost(
        faults="crash", promise="acknowledged-kept", settings={"pause_us": "200000"}, replicas=2
    ),
    "fiorano-shared": Lost(
        faults="lock-lost,pause/coordinator", promise="acknowledged-kept", settings={"pause_us": "20000"}, replicas=2
    ),
    "qpid": Lost(faults="cut", promise="kept", settings={"send_interval_us": "250000"}),
    "qpid-standalone": Lost(faults="wipe/one", promise="kept", settings={"send_interval_us": "250000", "store": "yes"}),
    "artemis-shared-store": Lost(
        faults="lock-lost", promise="acknowledged-kept", settings={"pause_us": "500000"}, replicas=2
    ),
    "artemis-replication": Lost(
        faults="crash", promise="acknowledged-kept", settings={"pause_us": "500000"}, replicas=2
    ),
    "artemis-scale-down": Lost(
        faults="lock-lost", promise="acknowledged-kept", settings={"pause_us": "500000", "backups": "true"}, replicas=2
    ),
    "artemis-colocated": Lost(
        faults="crash", promise="acknowledged-kept", settings={"pause_us": "1000000"}, replicas=3
    ),
}


@pytest.mark.parametrize("name", LOST)
def test_short_search_finds_the_loss_that_is_not_promised_away(name: str) -> None:
    lost = LOST[name]
    asked = {word.partition("/")[0] for word in lost.faults.split(",")} if isinstance(lost.faults, str) else {"wipe"}
    whole = {word for word in system(name).survives() if "/" not in word}
    assert not asked <= whole, "that is promised to be survived"
    for seed in range(lost.seeds):
        plan = Plan(seed=seed, faults=lost.faults, replicas=lost.replicas, settings=lost.settings, fault_us=30 * SECOND)
        outcome = run(system(name), plan)
        assert outcome.defect is None, told(outcome)
        if lost.promise in {broken.promise for broken in outcome.broken}:
            return
    pytest.fail(f"{lost.seeds} runs with {lost.faults} lost nothing")
