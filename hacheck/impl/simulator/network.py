"""The network: connections that keep order, break, or are cut without anybody knowing.

A connection is what TCP makes of one. Messages of one direction arrive in order. A process that ends with its machine
up breaks its connections, and the other ends find out, unless a cut keeps the news from them; the one that sends to it
then is refused. A machine that goes down says nothing: only when it is up again do others find out, as soon as they
send. A cut holds messages back until it heals, as retransmission does. The one that is informed `Unreachable` is
informed before anything of a new connection arrives."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappush
from itertools import cycle
from random import Random
from typing import Any
from zlib import crc32

from msgspec import Struct

from hacheck.impl.node import Message, Name, Unreachable
from hacheck.impl.simulator.agenda import Agenda
from hacheck.impl.simulator.process import Process

NOBODY = -1
"""The incarnation of the process one is not connected to."""


class LinkTimes(Struct, frozen=True, forbid_unknown_fields=True):
    """How long messages take, in microseconds: a fixed part, up to so much more, and sometimes many times as much."""

    delay_us: int = 100
    spread_us: int = 300
    tail_permille: int = 10
    tail_times: int = 20
    retransmit_us: int = 1_000_000
    """How long after a healing what was held back may still take."""


class Link:
    """One direction between two processes, or between a process and a host.

    `source`, `target`: processes, or `None` for a host.
    `plain`: nothing is wrong, and messages may be sent without a closer look. `to`: the incarnation of the target that
    the source is connected to. `epoch`: messages of earlier epochs are lost. `last`: the latest arrival so far.
    `notifying`: the source is about to learn that the target is unreachable. `cuts`: the numbers of the faults that cut
    it. `held`: what waits for the healing: messages, or requests to a host as calls.
    """

    __slots__ = (
        *("back", "cuts", "delay", "epoch", "held", "last", "plain", "source", "target", "notifying", "to"),
        *("duplicate", "loss", "odd", "reorder", "slow"),
    )
    back: Link
    source: Any
    target: Any

    def __init__(self, source: Process | None, target: Process | None, delay: Callable[[], int]) -> None:
        self.source, self.target, self.delay = source, target, delay
        self.epoch, self.last, self.to = 0, 0, NOBODY
        self.plain, self.notifying = False, False
        self.cuts: set[int] = set()
        self.held: list[Any] = []
        self.odd: set[int] = set()  # faults that change how messages travel
        self.slow, self.loss, self.duplicate, self.reorder = 1, 0, 0, 0


class Network:
    """All links. `hit`: is given the number of each fault that made a difference. `notify`: hands an input to a
    process."""

    def __init__(
        self,
        agenda: Agenda,
        times: LinkTimes,
        seed: str,
        hit: Callable[[int], None],
        notify: Callable[[Process, Unreachable], None],
    ) -> None:
        self._agenda, self._times, self._seed, self._hit, self._notify = agenda, times, seed, hit, notify
        self._random = Random(seed)
        self._delays = [self._drawn() for _ in range(1021)]
        self.links: dict[tuple[Name, Name], Link] = {}
        self._requests: dict[Name, list[Link]] = {}
        self.lost = 0

    def _drawn(self) -> int:
        times = self._times
        delay = times.delay_us + int(self._random.random() * times.spread_us)
        return delay * times.tail_times if self._random.random() * 1000 < times.tail_permille else delay

    def _pair(self, here: Process, there: Process | None, name: Name) -> tuple[Link, Link]:
        """Two directions. Each goes through the drawn delays from a place of its own, whatever else is there."""
        made = []
        for source, target, names in ((here, there, f"{here.name} {name}"), (there, here, f"{name} {here.name}")):
            start = crc32(f"{self._seed} {names}".encode()) % len(self._delays)
            made.append(Link(source, target, cycle(self._delays[start:] + self._delays[:start]).__next__))
        made[0].back, made[1].back = made[1], made[0]
        return made[0], made[1]

    def join(self, processes: list[Process], hosts: dict[Name, tuple[Process, ...]]) -> None:
        """Puts links between all processes, and between each host and those that may reach it."""
        for index, here in enumerate(processes):
            own = Link(here, here, lambda: 1)
            own.back = own
            self.links[here.name, here.name] = here.links[here.name] = own
            for there in processes[index + 1 :]:
                out, back = self._pair(here, there, there.name)
                self.links[here.name, there.name] = here.links[there.name] = out
                self.links[there.name, here.name] = there.links[here.name] = back
        for host, members in hosts.items():
            for process in members:
                out, back = self._pair(process, None, host)
                self.links[process.name, host], self.links[host, process.name] = out, back
                self._requests.setdefault(process.name, []).append(out)

    # ---- messages ----

    def send(self, link: Link, message: Message) -> None:
        """Sends a message where something may be wrong."""
        if link.notifying:
            self.lost += 1
        elif link.cuts or (link.to == NOBODY and link.back.cuts):  # a new connection takes both directions
            for number in sorted(link.cuts or link.back.cuts):
                self._hit(number)
            link.held.append(message)
        elif self._connected(link):
            self._transmit(link, message)
        else:
            self.lost += 1

    def _connected(self, link: Link) -> bool:
        """Whether what is sent now reaches the target; makes a connection if there can be one."""
        source, target = link.source, link.target
        if link.to == target.incarnation and target.node is not None:
            return True
        if target.node is None and not target.powered:
            return False
        if target.node is None or link.to != NOBODY:  # refused; or a connection of which the target knows nothing
            self.refuse(link)
            return False
        back = link.back
        if back.to not in (NOBODY, source.incarnation):  # the target learns first that the former one is broken
            self._news(back, link)
        link.to, back.to = target.incarnation, source.incarnation
        self.refresh(link)
        self.refresh(back)
        return True

    def refuse(self, link: Link) -> None:
        """The source of a link learns that its target is unreachable, after what it was sent before."""
        self._news(link, link.back)

    def _news(self, link: Link, path: Link) -> None:
        link.to, link.notifying = NOBODY, True
        self.refresh(link)
        path.last = at = max(self._agenda.now + path.delay(), path.last)
        self._agenda.at(at, self._unreachable, (link, path, path.epoch))

    def _unreachable(self, news: tuple[Link, Link, int]) -> None:
        link, path, epoch = news
        if path.epoch == epoch:
            link.notifying = False
            self.refresh(link)
            self._notify(link.source, Unreachable(link.target.name))

    def _transmit(self, link: Link, message: Message) -> None:
        now, random = self._agenda.now, self._random
        delay = link.delay() * link.slow
        for number in sorted(link.odd):
            self._hit(number)
        if link.loss and random.random() * 1000 < link.loss:
            self.lost += 1
            return
        at = now + delay
        if link.reorder and random.random() * 1000 < link.reorder:
            at += random.randrange(20 * delay)
        else:
            link.last = at = max(at, link.last)
        heappush(self._agenda.events, (at, self._agenda.number(), link, link.epoch, message))
        if link.duplicate and random.random() * 1000 < link.duplicate:
            again = at + random.randrange(20 * delay)
            heappush(self._agenda.events, (again, self._agenda.number(), link, link.epoch, message))

    def refresh(self, link: Link) -> None:
        """Decides again whether a link is plain."""
        target = link.target
        link.plain = link.source is target or (
            not (link.cuts or link.odd or link.notifying or link.held)
            and target is not None
            and target.node is not None
            and link.to == target.incarnation
        )

    # ---- what happens to processes ----

    def started(self, process: Process) -> None:
        """A process is there. Of those who still believe in a connection to an earlier incarnation, because its machine
        went down, some find out at once: what they sent in vain is sent again."""
        for name, out in process.links.items():
            into = out.back
            if name == process.name:
                out.to = process.incarnation
                self.refresh(out)
            elif into.to != NOBODY and not out.cuts and not into.cuts and self._random.random() < 0.5:
                self.refuse(into)

    def ended(self, process: Process) -> None:
        """A process is gone. Call it while it still has its incarnation, and `powered` says how it went."""
        for request in self._requests.get(process.name, ()):
            request.held.clear()
        for name, out in process.links.items():
            if name == process.name:
                out.epoch += 1
                continue
            into = out.back
            into.epoch += 1  # what is on its way there, and news for it
            out.held.clear()
            out.to, out.notifying, out.plain, into.plain = NOBODY, False, False, False
            if process.powered and into.to == process.incarnation and not out.cuts and into.source.node is not None:
                self.refuse(into)

    def reset(self, link: Link) -> bool:
        """A connection breaks while both ends may run. Returns whether there was one."""
        found = False
        if link.notifying or link.back.notifying:
            return False
        for one in (link, link.back):
            if one.to != NOBODY and one.source is not None and one.source.node is not None:
                found = True
                one.epoch += 1
                one.held.clear()
                one.to, one.notifying = NOBODY, True
                self.refresh(one)
                at = self._agenda.now + 1
                self._agenda.at(at, self._broken, (one, one.source, one.source.incarnation))
        return found

    def _broken(self, news: tuple[Link, Process, int]) -> None:
        link, source, incarnation = news
        if source.incarnation == incarnation and source.node is not None and link.notifying:
            link.notifying = False
            self.refresh(link)
            self._notify(source, Unreachable(link.target.name))

    # ---- hosts ----

    def request(self, link: Link, call: Callable[[Any], None], argument: Any) -> bool:
        """Calls a function when it gets through to the other end; returns whether it is held back by a cut."""
        if link.cuts:
            for number in sorted(link.cuts):
                self._hit(number)
            link.held.append((call, argument))
            return True
        self._call(link, call, argument)
        return False

    def _call(self, link: Link, call: Callable[[Any], None], argument: Any) -> None:
        if link.odd:
            for number in sorted(link.odd):
                self._hit(number)
        agenda = self._agenda
        at = agenda.now + link.delay() * link.slow
        if at < link.last:
            at = link.last
        else:
            link.last = at
        heappush(agenda.events, (at, agenda.number(), None, call, argument))

    # ---- cuts ----

    def cut(self, link: Link, number: int) -> None:
        """Nothing gets through any more. What is on its way still arrives."""
        link.cuts.add(number)
        link.plain = False

    def heal(self, link: Link, number: int) -> None:
        """One cut is over; after the last one, what was held back is sent again."""
        link.cuts.discard(number)
        for one in (link, link.back):
            if one.held and not one.cuts and not (one.to == NOBODY and one.back.cuts):
                self._resend(one)
        self.refresh(link)

    def _resend(self, link: Link) -> None:
        held, link.held = link.held, []
        pause = int(self._random.random() * self._times.retransmit_us)
        link.last = max(link.last, self._agenda.now + pause)
        for item in held:
            if link.target is None or link.source is None:
                self._call(link, *item)
            else:
                self.send(link, item)
        self.refresh(link)
