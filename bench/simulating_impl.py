"""The reference implementation in the simulator: messages a second, and fail-overs a minute.

    python bench/simulating_impl.py [PROTOCOL …] [--runs N]

First two processes that do nothing but answer each other, which is what the simulator itself costs. Then each protocol
with three replicas (or two) and two clients: without faults, and under chaos. Last, fail-overs: runs with one client in
which whoever serves is killed again and again. One core, CPU seconds; the middle of the runs.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Any

from measuring import machine

from hacheck.impl.node import Effect, Input, Message, Name, Node, Received, Record, Send, Setup, Started
from hacheck.impl.simulator.running import Outcome, Plan, run
from hacheck.impl.system import Broken, Judge, Member, Refused, System
from hacheck.impl.systems import names, system

SECONDS = 20
FAILOVERS, FAILOVER_SECONDS = "crash/coordinator", 600


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

    def judge(self, members: tuple[Member, ...], options: Any) -> Judge:
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
    for replicas in (3, 2):
        plan = Plan(seed=seed, faults=faults, replicas=replicas, clients=clients, fault_us=seconds * 1_000_000)
        try:
            of.members(replicas, plan.clients, of.options({}))
        except Refused:
            continue
        return plan
    raise AssertionError("three or two are enough for all")


def rates(of: System, faults: str, runs: int) -> tuple[float, float, int]:
    """Messages a CPU second, events a CPU second, and messages in all."""
    found = [timed(of, plan_for(of, faults, seed)) for seed in range(runs)]
    messages = median(outcome.delivered / taken for outcome, taken in found)
    events = median(outcome.events / taken for outcome, taken in found)
    return messages, events, sum(outcome.delivered for outcome, _ in found)


def failovers(of: System, runs: int) -> tuple[float, int, float]:
    """Fail-overs a CPU minute, how many there were, and over how many virtual seconds."""
    found = [timed(of, plan_for(of, FAILOVERS, seed, FAILOVER_SECONDS, 1)) for seed in range(runs)]
    number = sum(sum(outcome.happened.values()) for outcome, _ in found)
    virtual = sum(outcome.end_us for outcome, _ in found) / 1e6
    return 60 * number / sum(taken for _, taken in found), number, virtual


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("protocols", nargs="*", metavar="PROTOCOL", help="by default all")
    parser.add_argument("--runs", type=int, default=5, help="so many seeds of each (default: %(default)s)")
    given = parser.parse_args()
    print(machine())
    print(f"\n{'':<22}{'faults':<10}{'messages/s':>12}{'events/s':>12}{'messages':>12}")
    balls, events, number = rates(Tennis(), "none", given.runs)
    print(f"{'(two that answer)':<22}{'none':<10}{balls:>12,.0f}{events:>12,.0f}{number:>12,}", flush=True)
    for name in given.protocols or names():
        for faults in ("none", "chaos"):
            messages, events, number = rates(system(name), faults, given.runs)
            print(f"{name:<22}{faults:<10}{messages:>12,.0f}{events:>12,.0f}{number:>12,}", flush=True)
    print(f"\n{'':<22}{'fail-overs/min':>16}{'fail-overs':>12}{'virtual s':>12}")
    for name in given.protocols or names():
        rate, number, virtual = failovers(system(name), given.runs)
        print(f"{name:<22}{rate:>16,.0f}{number:>12,}{virtual:>12,.0f}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
