"""What several members share: hosts of locks and of disks, which a network can cut them off from."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random
from typing import TypeAlias

from msgspec import Struct

from hacheck.impl.node import (
    Input,
    LockAnswered,
    LockLost,
    Name,
    ReadShared,
    SharedRead,
    TryLock,
    Write,
    WriteFailed,
    Written,
)
from hacheck.impl.simulator.agenda import Agenda
from hacheck.impl.simulator.disk import Disk, DiskTimes
from hacheck.impl.simulator.network import Network
from hacheck.impl.simulator.process import Process

Holder: TypeAlias = tuple[Process, int]
"""A process and its incarnation."""


class HostTimes(Struct, frozen=True, forbid_unknown_fields=True):
    """How long hosts wait, in microseconds.

    `answer_us`, `answer_spread_us`: after so long, and up to so much more, a request to a host out of reach has failed.
    `lease_us`: so long a lock stays with a process that has ended without the host hearing of it.
    """

    answer_us: int = 200_000
    answer_spread_us: int = 1_800_000
    lease_us: int = 10_000_000


class Host:
    """What is reached under one name: a lock, a shared disk, or both.

    `late_us`: locks of processes that end are let go so much later. `stale`: the members whose requests fail.
    """

    __slots__ = ("disk", "holder", "late_us", "name", "stale")

    def __init__(self, name: Name, disk: Disk) -> None:
        self.name, self.disk = name, disk
        self.holder: Holder | None = None
        self.late_us: dict[int, int] = {}
        self.stale: dict[int, tuple[Name, ...]] = {}


class Hosts:
    """All hosts. `give`: hands an input to a process, if it still has that incarnation. `hit`: told the number of each
    fault that made a difference."""

    def __init__(
        self,
        agenda: Agenda,
        network: Network,
        times: tuple[HostTimes, DiskTimes],
        random: Random,
        give: Callable[[Holder, Input], None],
        hit: Callable[[int], None],
    ) -> None:
        self._agenda, self._network, self._random, self._give, self._hit = agenda, network, random, give, hit
        self._times, self._disk_times = times
        self.all: dict[Name, Host] = {}

    def add(self, name: Name) -> None:
        """Makes a host."""
        self.all[name] = Host(name, Disk(self._agenda, self._disk_times, self._random))

    # ---- what processes ask for ----

    def try_lock(self, process: Process, asked: TryLock) -> None:
        """A request for a lock sets out."""
        holder = (process, process.incarnation)
        self._ask(holder, asked.lock, self._lock_asked, lambda reason: LockAnswered(asked.lock, False, reason))

    def unlock(self, process: Process, lock: Name) -> None:
        """A lock is being given back."""
        link = self._network.links[process.name, lock]
        self._network.request(link, self._given_back, (self.all[lock], (process, process.incarnation)))

    def read(self, process: Process, asked: ReadShared) -> None:
        """A request for a value sets out."""
        holder = (process, process.incarnation)

        def read(at: tuple[Host, Holder]) -> None:
            self._answer(at, SharedRead(asked.token, at[0].disk.content.get(asked.key)))

        self._ask(holder, asked.shared, read, lambda reason: SharedRead(asked.token, None, reason))

    def write(self, process: Process, asked: Write) -> None:
        """A write sets out. Once there it is done, whatever becomes of the process."""
        holder = (process, process.incarnation)

        def write(at: tuple[Host, Holder]) -> None:
            at[0].disk.write(asked.changes, asked.sync, partial(written, at))

        def written(at: tuple[Host, Holder], reason: str) -> None:
            self._answer(at, WriteFailed(asked.token, reason) if reason else Written(asked.token))

        self._ask(holder, asked.shared, write, lambda reason: WriteFailed(asked.token, reason))

    def _ask(
        self,
        holder: Holder,
        name: Name,
        there: Callable[[tuple[Host, Holder]], None],
        failed: Callable[[str], Input],
    ) -> None:
        host, process = self.all[name], holder[0]
        link = self._network.links[process.name, name]
        if link.cuts:  # it does not get there, so it is known that it was not done
            for number in sorted(link.cuts):
                self._hit(number)
            times = self._times
            after = times.answer_us + int(self._random.random() * times.answer_spread_us)
            self._agenda.at(self._agenda.now + after, self._fail, (holder, failed(f"{name} does not answer")))
            return

        def arrived(at: tuple[Host, Holder]) -> None:
            for number, members in host.stale.items():
                if process.name in members:
                    self._hit(number)
                    self._answer(at, failed("stale file handle"))
                    return
            there(at)

        self._network.request(link, arrived, (host, holder))

    def _fail(self, failing: tuple[Holder, Input]) -> None:
        self._give(*failing)

    def _answer(self, at: tuple[Host, Holder], answer: Input) -> None:
        host, holder = at
        self._network.request(self._network.links[host.name, holder[0].name], self._fail, (holder, answer))

    # ---- locks ----

    def _lock_asked(self, at: tuple[Host, Holder]) -> None:
        host, (process, incarnation) = at
        if process.incarnation != incarnation or process.node is None:
            return  # nobody is there any more to hold it
        if host.holder is None or host.holder[0] is process:  # an earlier incarnation has certainly ended
            host.holder = (process, incarnation)
        granted = host.holder == (process, incarnation)
        self._answer(at, LockAnswered(host.name, granted, "" if granted else "held by another process"))

    def _given_back(self, at: tuple[Host, Holder]) -> None:
        host, holder = at
        if host.holder == holder:
            host.holder = None

    def ended(self, process: Process) -> None:
        """A process is gone: its locks are let go as soon as their hosts know."""
        for host in self.all.values():
            if host.holder != (process, process.incarnation):
                continue
            link = self._network.links[process.name, host.name]
            wait = link.delay() if process.powered and not link.cuts else self._times.lease_us
            for number, late_us in sorted(host.late_us.items()):
                self._hit(number)
                wait += late_us
            self._agenda.at(self._agenda.now + wait, self._given_back, (host, host.holder))

    def take_away(self, host: Host, *, tell: bool) -> bool:
        """A lock's host forgets who holds it. Returns whether anybody did."""
        holder, host.holder = host.holder, None
        if holder is None or holder[0].node is None or holder[0].incarnation != holder[1]:
            return False
        if tell:
            self._answer((host, holder), LockLost(host.name))
        return True
