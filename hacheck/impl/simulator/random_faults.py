"""Draws faults while a run goes on: when, which, whom, how long.

Some come after a while, some just after a record that is rare: what a protocol finds worth a line is where it turns.
Each seed draws from a part of its menu only, for some defects need one kind of fault often and another one never.
Whatever is drawn is a fault with everything spelled out, so that the list of them gives the same run again.
"""

from __future__ import annotations

from math import exp, log
from random import Random

from hacheck.impl.node import Name, Record
from hacheck.impl.simulator.agenda import Agenda
from hacheck.impl.simulator.clock import EVEN
from hacheck.impl.simulator.fault_injection import Injector
from hacheck.impl.simulator.faults import Direction, Fault
from hacheck.impl.simulator.profiles import Menu
from hacheck.impl.simulator.targets import DIRECTIONS, MEMBERS, Cluster

TRIES = 8
"""So often another fault is drawn when the one drawn would hit nobody."""

WIPES_MAX = 1
"""So many disks are lost in one run: no protocol keeps what is nowhere."""

HELD_DOWN = ("crash", "power", "wipe", "pause")

LASTS: dict[str, tuple[int, int]] = {
    "crash": (10_000, 20_000_000),
    "power": (100_000, 20_000_000),
    "wipe": (100_000, 20_000_000),
    "pause": (20_000, 30_000_000),
    "cut": (20_000, 20_000_000),
    "slow": (500_000, 20_000_000),
    "loss": (100_000, 10_000_000),
    "duplicate": (100_000, 10_000_000),
    "reorder": (100_000, 10_000_000),
    "disk-full": (10_000, 10_000_000),
    "disk-error": (10_000, 10_000_000),
    "disk-slow": (500_000, 20_000_000),
    "clock-rate": (1_000_000, 30_000_000),
    "lock-late": (1_000_000, 30_000_000),
    "lock-stale": (20_000, 10_000_000),
}
"""How long each kind lasts, in microseconds, at least and at most; each order of magnitude is as likely as another."""


class RandomFaults:
    """The faults of one run, drawn as it goes. `stretch`: so many times further apart they are, and so many times as
    long they may last. `draws`: how often it was its turn."""

    def __init__(
        self,
        menu: Menu,
        cluster: Cluster,
        injector: Injector,
        agenda: Agenda,
        random: Random,
        until_us: int,
        stretch: int,
    ) -> None:
        self._cluster, self._injector, self._agenda, self._random = cluster, injector, agenda, random
        self._until_us, self._stretch = until_us, stretch
        self._careful, self._once = menu.careful, menu.once
        self._menu = self._part(menu.faults)
        self._gap_us = self._between(500_000 * stretch, 15_000_000 * stretch)
        self._records: dict[str, int] = {}
        self._last_us = 0
        self._wipes = 0
        self._had_one = False
        self._held: list[tuple[int, tuple[Name, ...]]] = []
        self.draws = 0
        if self._menu:
            agenda.at(int(self._random.expovariate(1 / self._gap_us)), self._turn)

    def _part(self, faults: tuple[tuple[str, str], ...]) -> list[tuple[str, str]]:
        """What this run draws from: some kinds, and of each some targets."""
        random = self._random
        kinds = list(dict.fromkeys(kind for kind, _ in faults))
        kept = [kind for kind in kinds if random.random() < 0.6] or kinds[:]
        part = [fault for fault in faults if fault[0] in kept and random.random() < 0.7]
        return part or [fault for fault in faults if fault[0] in kept]

    def _between(self, least: int, most: int) -> int:
        return int(exp(self._random.uniform(log(least), log(most))))

    # ---- when ----

    def _turn(self, _: object) -> None:
        self.draws += 1
        self._draw()
        wait = 1 + int(self._random.expovariate(1 / self._gap_us))
        if self._agenda.now + wait < self._until_us:
            self._agenda.at(self._agenda.now + wait, self._turn)

    def heard(self, record: Record) -> None:
        """A process wrote a record: the rarer it is, the likelier a fault follows at once."""
        if not self._menu:
            return
        seen = self._records[record.event] = self._records.get(record.event, 0) + 1
        now = self._agenda.now
        if now - self._last_us < self._gap_us // 8 or self._random.random() > 0.5 / seen:
            return
        self._last_us = now
        self._agenda.at(now + self._between(1, 20_000), self._soon)

    def _soon(self, _: object) -> None:
        self.draws += 1
        self._draw()

    # ---- what ----

    def _draw(self) -> None:
        now = self._agenda.now
        if now + 1 >= self._until_us:
            return
        for _ in range(TRIES):
            kind, target = self._random.choice(self._menu)
            fault = self._made(kind, target)
            if fault is not None and self._allowed(fault):
                self._last_us = now
                self._injector.plan(fault)
                return

    def _allowed(self, fault: Fault) -> bool:
        """Whether it may happen now; if so, it is noted."""
        if fault.kind == "wipe" and self._wipes >= WIPES_MAX:
            return False
        once = (fault.kind, fault.target) in self._once
        if once and self._had_one:
            return False
        now = self._agenda.now
        self._held = [held for held in self._held if held[0] > now]
        if fault.kind in HELD_DOWN:
            until = fault.at_us + fault.for_us
            servers = {name for name in fault.members if name in self._cluster.servers}
            if self._careful:
                down = servers.union(*(names for _, names in self._held))
                if len(down) > max((len(self._cluster.servers) - 1) // 2, 1):
                    return False
            self._held.append((until, tuple(sorted(servers))))
        self._wipes += fault.kind == "wipe"
        self._had_one |= once
        return True

    def _made(self, kind: str, target: str) -> Fault | None:
        """A fault with everything drawn; `None` where it would hit nobody."""
        random, cluster = self._random, self._cluster
        members: tuple[Name, ...] = ()
        links: tuple[Direction, ...] = ()
        hosts: tuple[Name, ...] = ()
        if target == "lock":
            hosts = (random.choice(cluster.locks),)
        elif target == "storage":
            hosts = (random.choice(cluster.shared),)
        elif kind == "lock-stale":
            hosts = (random.choice(cluster.hosts),)
            members = cluster.users(hosts[0])
            members = members if target == "host" else (random.choice(members),)
        elif target in DIRECTIONS and kind in ("cut", "reset", "slow", "loss", "duplicate", "reorder"):
            links = DIRECTIONS[target](cluster, random)
            if kind == "reset":
                links = tuple(pair for pair in links if not {*pair}.intersection(cluster.hosts))
        else:
            members = tuple(filter(cluster.is_up, MEMBERS[target](cluster, random)))
        if not (members or links or hosts):
            return None
        at_us = self._agenda.now + 1
        lasts = LASTS.get(kind)
        for_us = 0
        if lasts is not None:
            for_us = min(self._between(lasts[0], lasts[1] * self._stretch), self._until_us - at_us)
        amount, draw = self._amount(kind), random.randrange(1 << 30)
        return Fault(kind, at_us, for_us, members, links, hosts, target, amount, draw)

    def _amount(self, kind: str) -> int:
        random = self._random
        match kind:
            case "crash" | "power":
                return random.choice((0, 0, 1, 2, 3, 5))
            case "cut":
                return random.choice((0, 0, 1))
            case "slow":
                return self._between(3, 3000)
            case "loss" | "duplicate" | "reorder":
                return self._between(5, 800)
            case "disk-slow":
                return self._between(5, 2000)
            case "clock-rate":
                return EVEN + random.choice((-1, 1)) * self._between(100, 700_000)
            case "clock-jump":
                return self._between(1000, 60_000_000)
            case "lock-late":
                return self._between(100_000, 20_000_000)
        return 0
