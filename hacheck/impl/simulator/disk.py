"""Disks: what is written, when it is safe, and what a crash leaves of the rest."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from heapq import heappush
from random import Random
from typing import Any, TypeAlias

from msgspec import Struct

from hacheck.impl.simulator.agenda import Agenda

Changes: TypeAlias = tuple[tuple[str, bytes | None], ...]


class DiskTimes(Struct, frozen=True, forbid_unknown_fields=True):
    """How long writes take, in microseconds: a fixed part, and up to so much more."""

    sync_us: int = 400
    sync_spread_us: int = 1600
    cached_us: int = 20


Done: TypeAlias = Callable[[Any, str], None]
"""Called with what came with the write, and an empty text or why it was not done."""

Job: TypeAlias = tuple[Changes, bool, Done, Any]
"""A write under way: what, whether it is to be safe, who is informed when it is done, and with what."""


class Disk:
    """One disk, which does its writes one after the other. `content`: what the one that reads it now finds.

    `failing`: why writes fail, if they do. `slow`: how many times as long as usual they take. `struck`: is given of
    each write that a fault made fail or late."""

    __slots__ = (
        *("_agenda", "_jobs", "_random", "_times", "_undo"),
        *("content", "failing", "slow", "struck"),
    )

    def __init__(self, agenda: Agenda, times: DiskTimes, random: Random) -> None:
        self._agenda, self._times, self._random = agenda, times, random
        self._jobs: deque[Job] = deque()  # the first is being done
        self._undo: list[tuple[Changes, Changes]] = []  # not yet safe: what was written, and what was there before
        self.content: dict[str, bytes] = {}
        self.failing = ""
        self.slow = 1
        self.struck: Callable[[str], None] | None = None

    def write(self, changes: Changes, sync: bool, done: Done, argument: Any) -> None:
        """Writes when all earlier writes are done."""
        job, jobs = (changes, sync, done, argument), self._jobs
        jobs.append(job)
        if len(jobs) == 1:
            self._begin(job)

    def _begin(self, job: Job) -> None:
        times, agenda = self._times, self._agenda
        took = times.sync_us + int(self._random.random() * times.sync_spread_us) if job[1] else times.cached_us
        if self.slow > 1:
            took *= self.slow
            if self.struck is not None:
                self.struck("disk-slow")
        heappush(agenda.events, (agenda.now + took, agenda.number(), None, self._turn, job))

    def _turn(self, job: Job) -> None:
        jobs = self._jobs
        if not jobs or jobs[0] is not job:
            return  # a crash has settled it
        jobs.popleft()
        reason = self.failing
        if reason:
            if self.struck is not None:
                self.struck("disk-failing")
        else:
            self._apply(job)
        if jobs:
            self._begin(jobs[0])
        job[2](job[3], reason)

    def _apply(self, job: Job) -> None:
        content, changes, sync = self.content, job[0], job[1]
        if not sync:
            self._undo.append((changes, tuple((key, content.get(key)) for key, _ in changes)))
        put(content, changes)
        if sync:
            self._undo.clear()

    def kill(self, random: Random) -> None:
        """The process that writes has ended: of what was under way, the first few writes are done."""
        jobs, self._jobs = list(self._jobs), deque()
        if not self.failing:
            for job in jobs[: random.randint(0, len(jobs))]:
                self._apply(job)

    def lose_power(self, random: Random) -> bool:
        """The machine went down: of what was not synced, any writes may be gone. Returns whether any were."""
        under_way = len(self._jobs)
        self.kill(random)
        unsafe, self._undo = self._undo, []
        for _, before in reversed(unsafe):
            put(self.content, before)
        kept = 0
        keep = random.choice((0.0, 0.5, 1.0))
        in_order = random.random() < 0.5
        for changes, _ in unsafe:
            if random.random() < keep:
                put(self.content, changes)
                kept += 1
            elif in_order:
                break
        return kept < len(unsafe) or under_way > 0

    def wipe(self) -> None:
        """Everything is gone."""
        self._jobs, self._undo = deque(), []
        self.content = {}

    def copy(self) -> Mapping[str, bytes]:
        """What a process finds that starts now."""
        return dict(self.content)


def put(content: dict[str, bytes], changes: Changes) -> None:
    """Makes the changes of a write: what is to be erased is gone."""
    for key, value in changes:
        if value is None:
            content.pop(key, None)
        else:
            content[key] = value
