"""A schedule of a cluster done again, while everything that happens in it is kept as a simulator keeps it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hacheck.impl.node import Halt, Input, Name, Record, Send, Unlock
from hacheck.impl.simulator.faults import Fault, between
from hacheck.impl.simulator.history import (
    Came,
    Entry,
    Given,
    Recorded,
    Sent,
    Standing,
    Strike,
    Unlocked,
    Went,
)
from hacheck.impl.stepper import Choice, Cluster, CodeFailed, Process
from hacheck.impl.system import Member, System

KINDS = {"cut": "reset", "lose": "lock-lost", "power": "power", "crash": "crash", "crash-written": "crash"}
"""The faults of schedules as the simulator calls them."""


def schedule_entries(
    system: System, members: tuple[Member, ...], options: Any, choices: Sequence[Choice]
) -> tuple[list[Entry], str]:
    """What happens in a schedule, and how the code fails at its end, if it does. Times are those of the clock that has
    gone furthest, since each member has one of its own and the order is the schedule's. Cost: one run of it."""
    watched = _Watched(system, members, options)
    try:
        for choice in choices:
            watched.take(choice)
    except CodeFailed as failed:
        return watched.entries, str(failed)
    return watched.entries, ""


class _Watched(Cluster):
    """A cluster that keeps what happens."""

    def __init__(self, system: System, members: tuple[Member, ...], options: Any) -> None:
        self.entries: list[Entry] = []
        self.at_us = 0
        self._standing = Standing()
        super().__init__(system, members, options, self._recorded)

    def take(self, choice: Choice) -> None:
        """Does one step of the schedule."""
        kind, *names = choice
        process = self.processes[names[-1]]
        self.at_us = max(self.at_us, process.now_us)
        if kind in KINDS:
            said = self.about(choice).partition("; ")[2]
            self.entries.append(Strike(self.at_us, self._fault(kind, names, said), True))
        was_up = process.node is not None
        if kind == "start":
            self.entries.append(Came(self.at_us, names[0], process.incarnation + 1))
        self.do(choice)
        if kind in ("crash", "crash-written", "power") and was_up:
            self.entries.append(Went(self.at_us, names[0], KINDS[kind]))
        self._look()

    def _fault(self, kind: str, names: list[Name], said: str) -> Fault:
        if kind == "cut":
            return Fault(KINDS[kind], self.at_us, links=between(names[:1], names[1:]))
        if kind == "lose":
            return Fault(KINDS[kind], self.at_us, hosts=(names[0],))
        return Fault(KINDS[kind], self.at_us, members=(names[0],), target=said)

    def _look(self) -> None:
        nodes = {name: process.node for name, process in self.processes.items() if process.node is not None}
        held = tuple((name, host.holder[0]) for name, host in self.hosts.items() if host.holder is not None)
        now = Standing(self.system.serving(nodes), held)
        if now != self._standing:
            self._standing = now
            self.entries.append(now)

    def _recorded(self, member: Name, record: Record) -> None:
        self.entries.append(Recorded(self.at_us, self.at_us, member, record))

    def give(self, process: Process, given: Input) -> None:
        """Hands an input to a process."""
        self.at_us = max(self.at_us, process.now_us)
        self.entries.append(Given(self.at_us, process.member.name, given))
        super().give(process, given)

    def carried_out(self, process: Process, effect: Any) -> None:
        """Keeps what a process did."""
        name = process.member.name
        match effect:
            case Send(to, message):
                self.entries.append(Sent(self.at_us, name, to, message))
            case Unlock(lock):
                self.entries.append(Unlocked(self.at_us, name, lock))
            case Halt(reason):
                self.entries.append(Went(self.at_us, name, reason))
