"""What several members share: hosts of locks and of disks, which a network can cut them off from."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, TypeAlias

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
from hacheck.impl.simulator.network import Link, Network
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


Effect: TypeAlias = Any
"""What a process asks of a host: `TryLock`, `ReadShared` or `Write`; each is handled by the function of its kind."""

Request: TypeAlias = tuple[Host, Link, Holder, Effect]
"""A request on its way to a host: the host, how to answer, who asks, and for what."""


def _failure(effect: Effect, reason: str) -> Input:
    """What the requester is answered when nothing was done."""
    if type(effect) is TryLock:
        return LockAnswered(effect.lock, False, reason)
    if type(effect) is ReadShared:
        return SharedRead(effect.token, None, reason)
    return WriteFailed(effect.token, reason)


class Hosts:
    """All hosts. `give`: hands an input to a process, if it still has that incarnation. `hit`: is given the number of
    each fault that made a difference."""

    def __init__(
        self,
        agenda: Agenda,
        network: Network,
        times: tuple[HostTimes, DiskTimes],
        random: Random,
        give: Callable[[tuple[Holder, Input]], None],
        hit: Callable[[int], None],
    ) -> None:
        self._agenda, self._network, self._random, self._give, self._hit = agenda, network, random, give, hit
        self._times, self._disk_times = times
        self.all: dict[Name, Host] = {}

    def add(self, name: Name) -> None:
        """Makes a host."""
        self.all[name] = Host(name, Disk(self._agenda, self._disk_times, self._random))

    # ---- requests of processes ----

    def try_lock(self, process: Process, effect: TryLock) -> None:
        """A request for a lock sets out."""
        self._ask(process, effect.lock, self._lock_requested, effect)

    def unlock(self, process: Process, lock: Name) -> None:
        """A lock is being given back."""
        link = self._network.links[process.name, lock]
        self._network.request(link, self._given_back, (self.all[lock], (process, process.incarnation)))

    def read(self, process: Process, effect: ReadShared) -> None:
        """A request for a value sets out."""
        self._ask(process, effect.shared, self._read, effect)

    def write(self, process: Process, effect: Write) -> None:
        """A write sets out. Once there it is done, whatever becomes of the process."""
        self._ask(process, effect.shared, self._write, effect)

    def _ask(self, process: Process, name: Name, there: Callable[[Request], None], effect: Effect) -> None:
        link = self._network.links[process.name, name]
        holder = (process, process.incarnation)
        if not link.cuts:
            self._network.request(link, there, (self.all[name], link.back, holder, effect))
            return
        for number in sorted(link.cuts):  # it does not get there, so it is known that it was not done
            self._hit(number)
        times = self._times
        after = times.answer_us + int(self._random.random() * times.answer_spread_us)
        failed = (holder, _failure(effect, f"{name} does not answer"))
        self._agenda.at(self._agenda.now + after, self._give, failed)

    def _is_stale(self, request: Request) -> bool:
        """Whether a request that has arrived fails; if so, it is answered."""
        host, back, holder, effect = request
        for number, members in host.stale.items():
            if holder[0].name in members:
                self._hit(number)
                self._network.request(back, self._give, (holder, _failure(effect, "stale file handle")))
                return True
        return False

    def _read(self, request: Request) -> None:
        host, back, holder, effect = request
        if not (host.stale and self._is_stale(request)):
            answer = SharedRead(effect.token, host.disk.content.get(effect.key))
            self._network.request(back, self._give, (holder, answer))

    def _write(self, request: Request) -> None:
        host, _, _, effect = request
        if not (host.stale and self._is_stale(request)):
            host.disk.write(effect.changes, effect.sync, self._written, request)

    def _written(self, request: Request, reason: str) -> None:
        _, back, holder, effect = request
        answer = WriteFailed(effect.token, reason) if reason else Written(effect.token)
        self._network.request(back, self._give, (holder, answer))

    # ---- locks ----

    def _lock_requested(self, request: Request) -> None:
        host, back, (process, incarnation), _ = request
        if host.stale and self._is_stale(request):
            return
        if process.incarnation != incarnation or process.node is None:
            return  # nobody is there any more to hold it
        if host.holder is None or host.holder[0] is process:  # an earlier incarnation has certainly ended
            host.holder = (process, incarnation)
        granted = host.holder == (process, incarnation)
        answer = LockAnswered(host.name, granted, "" if granted else "held by another process")
        self._network.request(back, self._give, ((process, incarnation), answer))

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

    def take_away(self, host: Host, *, notify: bool) -> bool:
        """A lock's host forgets who holds it. Returns whether anybody did."""
        holder, host.holder = host.holder, None
        if holder is None or holder[0].node is None or holder[0].incarnation != holder[1]:
            return False
        if notify:
            back = self._network.links[host.name, holder[0].name]
            self._network.request(back, self._give, (holder, LockLost(host.name)))
        return True
