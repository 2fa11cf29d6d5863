"""The reference implementation in the simulator: messages a second, fail-overs and simulated hours a minute.

    python bench/simulating_impl.py [PROTOCOL …] [--runs N]

First two processes that do nothing but answer each other, which is what the simulator itself costs. Then each protocol
with three replicas (or two) and two clients: without faults, and under chaos. Then fail-overs: runs with one client in
which whoever serves is killed again and again, first with a busy client, which is most of what is simulated then, and
once more with one that does something twice a second. Last, the long runs of `tests/simulation/test_hours.py`, whose
clients pause for two minutes: `--runs` of ten hours of each. One core, CPU seconds; the middle of the runs.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from measuring import machine
from msgspec.structs import replace

from hacheck.impl.node import Effect, Input, Message, Name, Node, Received, Record, Send, Setup, Started
from hacheck.impl.simulator.running import Outcome, Plan, run
from hacheck.impl.system import Broken, Member, Oracle, Refused, System
from hacheck.impl.systems import names, system

sys.path.insert(0, str(Path(__file__).parents[1]))  # what long runs are like is said with the tests that have them
from tests.simulation.long import LONG

SECONDS = 20
LONG_FAULTS = ("none", "promised", "chaos")
FAILOVERS, FAILOVER_SECONDS = "crash/coordinator", 600
TWICE_A_SECOND: Mapping[str, Mapping[str, str]] = {
    "icestorm": {"client_period": "500ms"},
    "icestorm-topics": {"client_period": "500ms"},
    "fiorano-replicated": {"pause_us": "500000"},
    "fiorano-shared": {"pause_us": "500000"},
    "qpid": {"send_interval_us": "500000", "restart_stuck_us": "10000000"},  # else it ends with the last ready broker
    "qpid-standalone": {"send_interval_us": "500000"},
    "artemis-shared-store": {"pause_us": "500000"},
    "artemis-replication": {"pause_us": "500000"},
}


class Ball(Message, frozen=True, gc=False):
    """What goes to and fro."""

    number: int


class Player:
    """Sends each ball back; `b` starts with sixteen."""

    def __init__(self, member: Name) -> None:
        self.member, self.other = member, "b" if member == "a" else "a"

    def handle(self, given: Input, now_us: int) -> list[Effect]:
        """Answers."""
        if type(given) is Received:
            return [Send(self.other, given.message)]
        return (
            [Send(self.other, Ball(n)) for n in range(16)] if isinstance(given, Started) and self.member == "b" else []
        )


class Tennis:
    """Two players."""

    name, messages = "tennis", (Ball,)

    def options(self, given: Mapping[str, str]) -> None:
        """None."""

    def members(self, replicas: int, clients: int, options: Any) -> tuple[Member, ...]:
        """Two."""
        return Member("a", "replica"), Member("b", "replica")

    def start(self, member: Member, members: tuple[Member, ...], setup: Setup) -> Node:
        """A player."""
        return Player(member.name)

    def oracle(self, members: tuple[Member, ...], options: Any) -> Oracle:
        """Itself."""
        return self

    def quiet_us(self, options: Any) -> int:
        """None."""
        return 1

    def serving(self, nodes: Mapping[Name, Node]) -> tuple[Name, ...]:
        """Nobody."""
        return ()

    def survives(self) -> Iterator[str]:
        """Nothing."""
        yield from ()

    def saw(self, at_us: int, member: Name, record: Record) -> None:
        """There is nothing to see."""

    def crashed(self, at_us: int, member: Name) -> None:
        """Nobody does."""

    def verdict(
        self, at_us: int, durable: Mapping[Name, Mapping[str, bytes]], nodes: Mapping[Name, Node]
    ) -> Sequence[Broken]:
        """Nothing is promised."""
        return ()


def timed(of: System, plan: Plan) -> tuple[Outcome, float]:
    """A run, and its CPU seconds."""
    gc.collect()
    gc.disable()
    begun = time.process_time()
    outcome = run(of, plan)
    taken = time.process_time() - begun
    gc.enable()
    return outcome, taken


def plan_for(of: System, faults: str, seed: int, seconds: int = SECONDS, clients: int = 2) -> Plan:
    """A run of a protocol with as many replicas as it takes."""
    for replicas in (3, 2, 1):
        plan = Plan(seed=seed, faults=faults, replicas=replicas, clients=clients, fault_us=seconds * 1_000_000)
        try:
            of.members(replicas, plan.clients, of.options({}))
        except Refused:
            continue
        return plan
    raise AssertionError("three or two are enough for all")


def hours(found: Sequence[tuple[Outcome, float]]) -> float:
    """Simulated hours a CPU minute."""
    return median(outcome.end_us / taken for outcome, taken in found) / 60e6


def rates(of: System, faults: str, runs: int) -> tuple[float, float, float, int]:
    """Messages a CPU second, events a CPU second, simulated hours a CPU minute, and messages in all."""
    found = [timed(of, plan_for(of, faults, seed)) for seed in range(runs)]
    messages = median(outcome.delivered / taken for outcome, taken in found)
    events = median(outcome.events / taken for outcome, taken in found)
    return messages, events, hours(found), sum(outcome.delivered for outcome, _ in found)


def failovers(of: System, runs: int, settings: Mapping[str, str]) -> tuple[float, int, float]:
    """Fail-overs a CPU minute, how many there were, and over how many virtual seconds."""
    plans = (plan_for(of, FAILOVERS, seed, FAILOVER_SECONDS, 1) for seed in range(runs))
    found = [timed(of, replace(plan, settings=settings)) for plan in plans]
    number = sum(sum(outcome.happened.values()) for outcome, _ in found)
    virtual = sum(outcome.end_us for outcome, _ in found) / 1e6
    return 60 * number / sum(taken for _, taken in found), number, virtual


def line(name: str, faults: str, rated: tuple[float, float, float, int]) -> None:
    """Prints a line of the first table."""
    messages, events, hours_a_minute, number = rated
    print(f"{name:<22}{faults:<10}{messages:>12,.0f}{events:>12,.0f}{hours_a_minute:>12,.1f}{number:>12,}", flush=True)


def long_runs(name: str, runs: int) -> None:
    """Prints a line of the last table."""
    rated = [
        hours([timed(system(name), LONG[name].plan(seed, faults)) for seed in range(runs)]) for faults in LONG_FAULTS
    ]
    print(f"{name:<22}" + "".join(f"{hours_a_minute:>12,.0f}" for hours_a_minute in rated), flush=True)


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("protocols", nargs="*", metavar="PROTOCOL", help="by default all")
    parser.add_argument("--runs", type=int, default=5, help="so many seeds of each (default: %(default)s)")
    given = parser.parse_args()
    print(machine())
    print(f"\n{'':<22}{'faults':<10}{'messages/s':>12}{'events/s':>12}{'hours/min':>12}{'messages':>12}")
    line("(two that answer)", "none", rates(Tennis(), "none", given.runs))
    for name in given.protocols or names():
        for faults in ("none", "chaos"):
            line(name, faults, rates(system(name), faults, given.runs))
    print(f"\n{'':<22}{'client':<16}{'fail-overs/min':>16}{'fail-overs':>12}{'virtual s':>12}")
    for name in given.protocols or names():
        for client, settings in (("busy", {}), ("twice a second", TWICE_A_SECOND[name])):
            rate, number, virtual = failovers(system(name), given.runs, settings)
            print(f"{name:<22}{client:<16}{rate:>16,.0f}{number:>12,}{virtual:>12,.0f}", flush=True)
    print(f"\n{'long runs, hours/min':<22}" + "".join(f"{faults:>12}" for faults in LONG_FAULTS))
    for name in given.protocols or names():
        long_runs(name, given.runs)


if __name__ == "__main__":
    sys.exit(main())
