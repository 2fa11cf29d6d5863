"""The world of one run: its time, its processes, and what becomes of the effects of each input.

The loop is where a run spends its time. A message that nothing is wrong with is sent and handed in by the few lines of
`run` and `_carry_out`; everything else is elsewhere.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from pathlib import PurePath
from random import Random
from typing import Any, NoReturn

from msgspec import Struct

from hacheck.impl.node import (
    CancelTimer,
    Halt,
    Input,
    Name,
    ReadShared,
    Received,
    Record,
    Send,
    SetTimer,
    Setup,
    Started,
    TryLock,
    Unlock,
    Write,
    WriteFailed,
    Written,
)
from hacheck.impl.simulator.agenda import Agenda
from hacheck.impl.simulator.clock import Clock
from hacheck.impl.simulator.disk import Disk, DiskTimes
from hacheck.impl.simulator.history import Watcher
from hacheck.impl.simulator.hosts import Holder, Hosts, HostTimes
from hacheck.impl.simulator.network import Link, LinkTimes, Network
from hacheck.impl.simulator.process import Process, Timer, nobody
from hacheck.impl.system import Member, Oracle, Refused, System


class Surroundings(Struct, frozen=True, forbid_unknown_fields=True):
    """What a run is like when nothing goes wrong. Times in microseconds.

    `ahead_us`: by so much clocks differ at most. `supervise_us`: so long after a process has ended itself it is started
    again. `events_max`: a run with more events is given up.
    """

    network: LinkTimes = LinkTimes()
    disk: DiskTimes = DiskTimes()
    hosts: HostTimes = HostTimes()
    ahead_us: int = 3_600_000_000
    supervise_us: int = 1_000_000
    events_max: int = 50_000_000


class Defect(Exception):
    """A protocol did what it must not do: it raised, or requested what there is not. `place`: file and line, or what
    kind of thing it requested; `trace`: how it got there."""

    def __init__(self, member: Name, at_us: int, given: str, what: str, place: str, trace: str = "") -> None:
        super().__init__(f"{member}, given {given} at {at_us / 1e6:.6f} s: {what}")
        self.member, self.at_us, self.given, self.what = member, at_us, given, what
        self.place, self.trace = place, trace


class Exhausted(Exception):
    """A run has had more events than it may have: messages or timers without end."""


class _Over(Exception):
    """The time of a timer has come."""


class World:
    """One run. `serving` and the faults look at its processes; `hits`: how often each fault made a difference."""

    def __init__(
        self, system: System, members: tuple[Member, ...], options: Any, oracle: Oracle, seed: str, around: Surroundings
    ) -> None:
        self._system, self._members, self._options, self._oracle, self.around = system, members, options, oracle, around
        self._saw = oracle.saw
        self.agenda = Agenda()
        self._events, self._number = self.agenda.events, self.agenda.number
        self.hits: dict[int, int] = {}
        self.watcher: Watcher | None = None
        self.listener: Callable[[Record], None] | None = None
        self.delivered = self.dispatched = 0
        self.ended_themselves: dict[str, int] = {}
        self.network = Network(self.agenda, around.network, f"{seed} network", self.hit, self.give)
        times = (around.hosts, around.disk)
        self.hosts = Hosts(self.agenda, self.network, times, Random(f"{seed} hosts"), self._give_holder, self.hit)
        self.processes: dict[Name, Process] = {}
        for member in members:
            disk = Disk(self.agenda, around.disk, Random(f"{seed} disk {member.name}"))
            clock = Random(f"{seed} clock {member.name}")
            self.processes[member.name] = Process(member, Clock(clock.randrange(around.ahead_us)), disk)
        reach: dict[Name, tuple[Process, ...]] = {}
        for name in dict.fromkeys(name for member in members for name in (*member.locks, *member.shared)):
            self.hosts.add(name)
            users = (self.processes[one.name] for one in members if name in one.locks or name in one.shared)
            reach[name] = tuple(users)
        self.network.join(list(self.processes.values()), reach)
        self._others: dict[type, Callable[[Process, Any], None]] = {
            Write: self._write,
            ReadShared: self._read,
            TryLock: self._try_lock,
            Unlock: self._unlock,
        }

    def hit(self, number: int) -> None:
        """A fault made a difference."""
        self.hits[number] = self.hits.get(number, 0) + 1

    # ---- the loop ----

    def run(self, until_us: int) -> None:
        """Goes on until this time. Errors: `Defect`, `Exhausted`."""
        agenda = self.agenda
        agenda.at(until_us, self._over)
        events, watcher, left = agenda.events, self.watcher, self.around.events_max - self.delivered - self.dispatched
        carry_out, delivered = self._carry_out, 0
        target: Process | None = None
        given: Received | None = None
        try:
            while left:
                left -= 1
                at, _, link, what, argument = heappop(events)
                agenda.now = at
                if link is None:
                    what(argument)
                    continue
                if link.epoch != what:
                    self.network.lost += 1
                    continue
                delivered += 1
                target = link.target
                if not target.running:
                    self._keep(target, Received(link.source.name, argument))
                    continue
                given = Received(link.source.name, argument)
                if watcher is not None:
                    watcher.given(at, target.name, given)
                effects = target.handle(given, at + target.ahead if target.even else target.clock.local(at))
                given = None
                if effects:
                    carry_out(target, effects)
        except _Over:
            return
        except (Defect, Exhausted):
            raise
        except Exception as error:
            if given is None or target is None:
                raise
            self._raised(target, given, error)
        finally:
            self.delivered += delivered
            self.dispatched = self.around.events_max - left - self.delivered
        raise Exhausted

    def _over(self, _: object) -> None:
        raise _Over

    def _raised(self, process: Process, given: Input, error: Exception) -> NoReturn:
        what = f"{type(error).__name__}: {error}"
        trace = "".join(traceback.format_exception(error))
        last = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{type(error).__name__} at {PurePath(last.filename).name}:{last.lineno}"
        raise Defect(process.name, self.agenda.now, repr(given), what, place, trace) from error

    def _wrong(self, process: Process, effect: object, why: str) -> NoReturn:
        raise Defect(process.name, self.agenda.now, "an input", f"{why}: {effect!r}", why)

    def give(self, process: Process, given: Input) -> None:
        """Hands an input to a process; one that is paused gets it when it goes on, one that is down never."""
        if not process.running:
            self._keep(process, given)
            return
        now = self.agenda.now
        if self.watcher is not None:
            self.watcher.given(now, process.name, given)
        try:
            effects = process.handle(given, now + process.ahead if process.even else process.clock.local(now))
        except Exception as error:
            self._raised(process, given, error)
        if effects or process.doomed is not None:
            self._carry_out(process, effects)

    def _keep(self, process: Process, given: Input | Timer) -> None:
        if process.node is not None:
            for number in sorted(process.paused):
                self.hit(number)
            process.waiting.append(given)

    def wake(self, process: Process, order: int) -> None:
        """A process that was paused goes on with what has come meanwhile. `order`: 0, as it came; 1, timers first; 2,
        timers last: who wakes up does not know what came first."""
        process.running = True
        waiting = process.waiting
        if order:
            waiting.sort(key=lambda item: isinstance(item, Timer) == (order == 2))
        while waiting and process.running:
            item = waiting.pop(0)
            if not isinstance(item, Timer):
                self.give(process, item)
            elif 0 <= item.due_us <= self.agenda.now:  # else it was cancelled or put off by what came before
                item.due_us = -1
                self.give(process, item.fired)

    def _give_holder(self, answer: tuple[Holder, Input]) -> None:
        (process, incarnation), given = answer
        if process.incarnation == incarnation and process.node is not None:
            self.give(process, given)

    # ---- effects ----

    def _carry_out(self, process: Process, effects: Sequence[Any]) -> None:
        doomed = process.doomed
        if doomed is not None:
            effects = effects[:doomed]
        events, number, now, watcher = self._events, self._number, self.agenda.now, self.watcher
        for effect in effects:
            kind = type(effect)
            if kind is Send:
                link: Link | None = process.links.get(effect.to)
                if link is None:
                    self._wrong(process, effect, "no such process")
                if watcher is not None:
                    watcher.sent(now, process.name, effect.to, effect.message)
                if link.plain:
                    at = now + link.delay()
                    if at < link.last:
                        at = link.last
                    else:
                        link.last = at
                    heappush(events, (at, number(), link, link.epoch, effect.message))
                else:
                    self.network.send(link, effect.message)
            elif kind is Record:
                if watcher is not None:
                    watcher.recorded(now, process.clock.local(now), process.name, effect)
                self._saw(now, process.name, effect)
                if self.listener is not None:
                    self.listener(effect)
            elif kind is SetTimer:
                timer: Timer | None = process.timers.get(effect.timer)
                if timer is None:
                    timer = process.timers[effect.timer] = Timer(process, effect.timer)
                after = effect.after_us
                if after < 0:
                    after = 0
                if process.even:
                    due = now + after
                    timer.local_us = due + process.ahead
                else:
                    timer.local_us = process.clock.local(now) + after
                    due = process.clock.true(timer.local_us)
                timer.due_us = due
                if timer.queued_us < 0 or due < timer.queued_us:
                    timer.queued_us = due
                    heappush(events, (due, number(), None, self._due, timer))
            elif kind is CancelTimer:
                timer = process.timers.get(effect.timer)
                if timer is not None:
                    timer.due_us = -1
            elif kind is Halt:
                self.halt(process, effect.reason)
                return
            else:
                carry_out = self._others.get(kind)
                if carry_out is None:
                    self._wrong(process, effect, "no such effect")
                carry_out(process, effect)
        if doomed is not None and process.doom is not None:
            process.doom()

    def _due(self, timer: Timer) -> None:
        now = self.agenda.now
        if timer.queued_us != now:
            return  # it was set to an earlier time, and that event has been here
        timer.queued_us = -1
        due = timer.due_us
        if due > now:
            timer.queued_us = due
            self.agenda.at(due, self._due, timer)
        elif due >= 0:
            process = timer.process
            if not process.running:
                self._keep(process, timer)
            else:
                timer.due_us = -1
                self.give(process, timer.fired)

    def clock_changed(self, process: Process) -> bool:
        """A process's clock was changed: its timers follow. Returns whether any was set."""
        process.ahead, process.even = process.clock.ahead, process.clock.even
        moved = False
        for timer in process.timers.values():
            if timer.due_us >= 0:
                moved = True
                timer.due_us = due = max(process.clock.true(timer.local_us), self.agenda.now)
                if timer.queued_us >= 0 and due < timer.queued_us:
                    timer.queued_us = due
                    self.agenda.at(due, self._due, timer)
        return moved

    def _write(self, process: Process, effect: Write) -> None:
        if effect.shared:
            if effect.shared not in process.member.shared:
                self._wrong(process, effect, "a shared disk that this member does not reach")
            self.hosts.write(process, effect)
            return
        process.disk.write(effect.changes, effect.sync, self._written, (process, effect.token))

    def _written(self, write: tuple[Process, int], reason: str) -> None:
        process, token = write
        self.give(process, WriteFailed(token, reason) if reason else Written(token))

    def _read(self, process: Process, effect: ReadShared) -> None:
        if effect.shared not in process.member.shared:
            self._wrong(process, effect, "a shared disk that this member does not reach")
        self.hosts.read(process, effect)

    def _try_lock(self, process: Process, effect: TryLock) -> None:
        if effect.lock not in process.member.locks:
            self._wrong(process, effect, "a lock that this member may not take")
        self.hosts.try_lock(process, effect)

    def _unlock(self, process: Process, effect: Unlock) -> None:
        if effect.lock not in process.member.locks:
            self._wrong(process, effect, "a lock that this member may not take")
        if self.watcher is not None:
            self.watcher.unlocked(self.agenda.now, process.name, effect.lock)
        self.hosts.unlock(process, effect.lock)

    # ---- processes come and go ----

    def start(self, process: Process) -> None:
        """Starts a process that is down, from what its disk has; one that is paused when it goes on: until it has taken
        its first step nobody can connect to it."""
        assert process.node is None, "it runs"
        process.deferred = bool(process.paused)
        if process.deferred:
            return
        process.incarnation += 1
        process.powered, process.halted = True, False
        setup = Setup(process.name, process.incarnation, process.disk.copy(), self._options)
        if self.watcher is not None:
            self.watcher.started(self.agenda.now, process.name, process.incarnation)
        try:
            node = self._system.start(process.member, self._members, setup)
        except Refused as refused:
            self._ended_itself(process, f"refused: {refused}")
            return
        except Exception as error:
            self._raised(process, Started(), error)
        process.node, process.handle = node, node.handle
        process.running = True
        self.network.started(process)
        self.give(process, Started())

    def end(self, process: Process, *, power: bool, random: Random) -> bool:
        """A process ends, or its machine does. Returns whether anything is lost that it had not synced."""
        assert process.node is not None, "it is down"
        process.powered = not power
        self.network.ended(process)
        self.hosts.ended(process)
        process.node, process.handle, process.running = None, nobody, False
        for timer in process.timers.values():
            timer.due_us = timer.queued_us = -1
        process.timers = {}
        process.waiting.clear()
        process.doomed = process.doom = None
        lost = False
        if power:
            lost = process.disk.lose_power(random)
        else:
            process.disk.kill(random)
        self._oracle.crashed(self.agenda.now, process.name)
        return lost

    def halt(self, process: Process, reason: str) -> None:
        """A process ends itself. What it had requested from its disk is done or not, as if somebody had ended it."""
        self.end(process, power=False, random=Random(f"{process.name} {process.incarnation} {self.agenda.now}"))
        self._ended_itself(process, reason)

    def _ended_itself(self, process: Process, reason: str) -> None:
        if self.watcher is not None:
            self.watcher.ended(self.agenda.now, process.name, reason)
        self.ended_themselves[process.name] = self.ended_themselves.get(process.name, 0) + 1
        process.halted = True
        self.agenda.at(self.agenda.now + self.around.supervise_us, self._supervise, (process, process.incarnation))

    def _supervise(self, halted: Holder) -> None:
        process, incarnation = halted
        if process.node is None and process.incarnation == incarnation and not process.down:
            self.start(process)
