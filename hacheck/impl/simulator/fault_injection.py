"""Makes faults happen in a world, and ends them: one function for each kind, all in one table."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from hacheck.impl.node import Name
from hacheck.impl.simulator.clock import EVEN
from hacheck.impl.simulator.disk import Disk
from hacheck.impl.simulator.faults import Fault
from hacheck.impl.simulator.network import Link
from hacheck.impl.simulator.process import Process
from hacheck.impl.simulator.world import World

WAKE_ORDERS = 3
"""In how many ways a process that goes on may take up what came: as it came, timers first, timers last."""


class Injector:
    """Faults of one world. `faults`: all that were made to happen, in order; a fault's number is its place there."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.faults: list[Fault] = []
        self._planned = 0
        self._lasting: set[int] = set()
        self._disks: dict[str, dict[int, Fault]] = {}
        self._kinds: dict[str, tuple[Callable[[int, Fault], None], Callable[[int, Fault], None]]] = {
            "crash": (self._crash, self._restart),
            "power": (self._crash, self._restart),
            "wipe": (self._crash, self._restart),
            "pause": (self._pause, self._resume),
            "cut": (self._cut, self._heal),
            "reset": (self._reset, self._nothing),
            "slow": (self._disturb, self._calm),
            "loss": (self._disturb, self._calm),
            "duplicate": (self._disturb, self._calm),
            "reorder": (self._disturb, self._calm),
            "disk-full": (self._disk, self._disk_over),
            "disk-error": (self._disk, self._disk_over),
            "disk-slow": (self._disk, self._disk_over),
            "clock-rate": (self._rate, self._right_rate),
            "clock-jump": (self._jump, self._nothing),
            "lock-lost": (self._take_lock, self._nothing),
            "lock-told": (self._take_lock, self._nothing),
            "lock-late": (self._late, self._in_time),
            "lock-stale": (self._stale, self._fresh),
        }

    def plan(self, fault: Fault) -> None:
        """A fault will happen at its time, which has not come yet, and after those planned before. Errors: `KeyError`
        for what the world has not."""
        self._kinds[fault.kind]
        for name in fault.members:
            self._world.processes[name]
        for pair in fault.links:
            self._world.network.links[pair]
        for name in fault.hosts:
            self._world.hosts.all[name]
        self._world.agenda.first_at(fault.at_us, 2 * self._planned, self._begin, fault)
        self._planned += 1

    def _begin(self, fault: Fault) -> None:
        number = len(self.faults)
        self.faults.append(fault)
        self._record(fault, begins=True)
        self._kinds[fault.kind][0](number, fault)
        if self._kinds[fault.kind][1] != self._nothing:
            self._lasting.add(number)
        if fault.for_us > 0:
            self._world.agenda.first_at(fault.at_us + fault.for_us, 2 * number + 1, self._end, number)

    def _end(self, number: int) -> None:
        if number in self._lasting:
            self._lasting.discard(number)
            fault = self.faults[number]
            self._record(fault, begins=False)
            self._kinds[fault.kind][1](number, fault)

    def end_all(self) -> None:
        """Whatever still goes on is over, and whatever is down is started."""
        for number in sorted(self._lasting):
            self._end(number)
        for process in self._world.processes.values():
            process.doomed = process.doom = None
            if process.node is None and not process.down:
                self._world.start(process)

    def _record(self, fault: Fault, *, begins: bool) -> None:
        if self._world.watcher is not None:
            self._world.watcher.fault(self._world.agenda.now, fault, begins)

    def _nothing(self, number: int, fault: Fault) -> None:
        pass

    def _members(self, fault: Fault) -> list[Process]:
        return [self._world.processes[name] for name in fault.members]

    # ---- processes ----

    def _crash(self, number: int, fault: Fault) -> None:
        random = Random(fault.draw)
        for process in self._members(fault):
            process.down.add(number)
            if process.node is None:
                continue

            def end(process: Process = process) -> None:
                self._world.hit(number)
                self._world.end(process, power=fault.kind == "power", random=random)
                if fault.kind == "wipe":
                    process.disk.wipe()
                if self._world.watcher is not None:
                    self._world.watcher.ended(self._world.agenda.now, process.name, fault.kind)

            if fault.amount > 0 and process.doomed is None:
                process.doomed, process.doom = fault.amount - 1, end
            else:
                end()

    def _restart(self, number: int, fault: Fault) -> None:
        for process in self._members(fault):
            process.down.discard(number)
            if not process.down:
                if process.doom is not None:
                    process.doom()  # nothing came that it could have ended with
                if process.node is None:
                    self._world.start(process)

    def _pause(self, number: int, fault: Fault) -> None:
        for process in self._members(fault):
            process.paused.add(number)
            process.running = False

    def _resume(self, number: int, fault: Fault) -> None:
        order = fault.draw % WAKE_ORDERS
        for process in self._members(fault):
            process.paused.discard(number)
            if process.paused:
                continue
            if process.node is not None:
                self._world.wake(process, order)
            elif process.deferred and not process.down:
                self._world.start(process)

    # ---- the network ----

    def _links(self, fault: Fault) -> list[Link]:
        return [self._world.network.links[pair] for pair in fault.links]

    def _cut(self, number: int, fault: Fault) -> None:
        for link in self._links(fault):
            self._world.network.cut(link, number)

    def _heal(self, number: int, fault: Fault) -> None:
        network = self._world.network
        links = self._links(fault)
        if fault.amount:  # the connections did not last as long as the cut
            for link in links:
                if network.reset(link):
                    self._world.hit(number)
        for link in links:
            network.heal(link, number)

    def _reset(self, number: int, fault: Fault) -> None:
        for link in self._links(fault):
            if self._world.network.reset(link):
                self._world.hit(number)

    def _disturb(self, number: int, fault: Fault) -> None:
        for link in self._links(fault):
            link.odd.add(number)
            self._set(link)

    def _calm(self, number: int, fault: Fault) -> None:
        for link in self._links(fault):
            link.odd.discard(number)
            self._set(link)

    def _set(self, link: Link) -> None:
        def most(kind: str, otherwise: int) -> int:
            return max((self.faults[n].amount for n in link.odd if self.faults[n].kind == kind), default=otherwise)

        link.slow, link.loss = most("slow", 1), most("loss", 0)
        link.duplicate, link.reorder = most("duplicate", 0), most("reorder", 0)
        self._world.network.refresh(link)

    # ---- disks ----

    def _fault_disks(self, fault: Fault) -> list[tuple[Name, Disk]]:
        own = [(process.name, process.disk) for process in self._members(fault)]
        return own + [(name, self._world.hosts.all[name].disk) for name in fault.hosts]

    def _disk(self, number: int, fault: Fault) -> None:
        for name, disk in self._fault_disks(fault):
            self._disks.setdefault(name, {})[number] = fault
            self._set_disk(name, disk)

    def _disk_over(self, number: int, fault: Fault) -> None:
        for name, disk in self._fault_disks(fault):
            self._disks[name].pop(number, None)
            self._set_disk(name, disk)

    def _set_disk(self, name: Name, disk: Disk) -> None:
        active = self._disks[name]
        kinds = {fault.kind: number for number, fault in sorted(active.items())}
        disk.failing = (
            "input/output error" if "disk-error" in kinds else "no space left on device" if "disk-full" in kinds else ""
        )
        disk.slow = max((fault.amount for fault in active.values() if fault.kind == "disk-slow"), default=1)

        def struck(what: str) -> None:
            for number, fault in sorted(active.items()):
                if (fault.kind == "disk-slow") == (what == "disk-slow"):
                    self._world.hit(number)

        disk.struck = struck if active else None

    # ---- clocks ----

    def _rate(self, number: int, fault: Fault) -> None:
        for process in self._members(fault):
            process.clock.change(self._world.agenda.now, fault.amount)
            self._clock_changed(number, process)

    def _right_rate(self, number: int, fault: Fault) -> None:
        for process in self._members(fault):
            process.clock.change(self._world.agenda.now, EVEN)
            self._clock_changed(None, process)

    def _jump(self, number: int, fault: Fault) -> None:
        for process in self._members(fault):
            process.clock.jump(self._world.agenda.now, fault.amount)
            self._clock_changed(number, process)

    def _clock_changed(self, number: int | None, process: Process) -> None:
        moved = self._world.clock_changed(process)
        if number is not None and moved:
            self._world.hit(number)

    # ---- hosts ----

    def _take_lock(self, number: int, fault: Fault) -> None:
        for name in fault.hosts:
            if self._world.hosts.take_away(self._world.hosts.all[name], notify=fault.kind == "lock-told"):
                self._world.hit(number)

    def _late(self, number: int, fault: Fault) -> None:
        for name in fault.hosts:
            self._world.hosts.all[name].late_us[number] = fault.amount

    def _in_time(self, number: int, fault: Fault) -> None:
        for name in fault.hosts:
            self._world.hosts.all[name].late_us.pop(number, None)

    def _stale(self, number: int, fault: Fault) -> None:
        for name in fault.hosts:
            self._world.hosts.all[name].stale[number] = fault.members

    def _fresh(self, number: int, fault: Fault) -> None:
        for name in fault.hosts:
            self._world.hosts.all[name].stale.pop(number, None)
