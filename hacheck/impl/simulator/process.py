"""A process as the world sees it: where it runs, what it waits for, and what has become of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hacheck.impl.node import Effect, Fired, Input, Name, Node
from hacheck.impl.simulator.clock import Clock
from hacheck.impl.simulator.disk import Disk
from hacheck.impl.system import Member


class Timer:
    """A timer that is, or was, set. `due_us`: by true time, -1 when it is not set. `local_us`: by the process's own
    clock. `queued_us`: when its next event comes, -1 if it has none. `fired`: what its process is informed.

    A timer that is put off keeps its event, which then puts itself off: timers are put off far more often than they
    fire.
    """

    __slots__ = ("due_us", "fired", "local_us", "process", "queued_us")

    def __init__(self, process: Process, name: str) -> None:
        self.process, self.fired = process, Fired(name)
        self.due_us = self.local_us = self.queued_us = -1


class Process:
    """One member of the cluster, over all its incarnations.

    `node`: `None` while it is down. `running`: it is up and not paused. `powered`: its machine is up. `down`,
    `paused`: the numbers of the faults that keep it so. `waiting`: what came while it was paused, timers among it.
    `doomed`: after so many effects of its next input it ends; `None`: it does not. `halted`: it has ended itself, and
    nobody has started it yet. `deferred`: it was to be started while it was paused.
    """

    __slots__ = (
        *("ahead", "clock", "deferred", "disk", "doom", "doomed", "down", "even", "handle", "halted", "incarnation"),
        *("links", "member", "name", "node", "paused", "powered", "running", "timers", "waiting"),
    )

    def __init__(self, member: Member, clock: Clock, disk: Disk) -> None:
        self.member, self.name = member, member.name
        self.clock, self.disk = clock, disk
        self.ahead, self.even = clock.ahead, clock.even
        self.incarnation = -1
        self.node: Node | None = None
        self.handle: Callable[[Input, int], list[Effect]] = nobody
        self.running = False
        self.powered = True
        self.halted = self.deferred = False
        self.down: set[int] = set()
        self.paused: set[int] = set()
        self.timers: dict[str, Timer] = {}
        self.waiting: list[Input | Timer] = []
        self.doomed: int | None = None
        self.doom: Callable[[], None] | None = None
        self.links: dict[Name, Any] = {}


def nobody(given: Input, now_us: int) -> list[Effect]:
    """What handles the inputs of a process that is down."""
    raise AssertionError("a process that is down handles nothing")
