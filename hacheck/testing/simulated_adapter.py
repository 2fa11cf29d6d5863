"""The reference implementation as a system under test: its nodes in the deterministic simulator, beside their spec."""

from __future__ import annotations

import sys
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from msgspec.structs import replace

from hacheck.impl.node import Record
from hacheck.impl.simulator.fault_injection import Injector
from hacheck.impl.simulator.faults import Direction, Fault, between
from hacheck.impl.simulator.history import Came, History, Recorded, Went
from hacheck.impl.simulator.world import Defect, Surroundings, World
from hacheck.impl.system import Member
from hacheck.impl.systems import system
from hacheck.testing.adapter import Adapter
from hacheck.testing.line_encoding import Event
from hacheck.testing.reference_protocols import FOLLOWED
from hacheck.testing.stimuli import Step

SECOND_US = 1_000_000

DOWN_SECONDS, PAUSE_SECONDS, CUT_SECONDS, SLOW_SECONDS = (0.5, 5.0), (3.0, 12.0), (3.0, 15.0), (5.0, 20.0)

SLOW_TIMES = 2_000
"""So many times as long do messages of a slow link take: half a second and more, as much as short time-outs."""

SERVICE = ("service comes back", "serves-again")
"""The promises of oracles that some member serves again when faults are over. What else is promised depends on the
faults that there were."""

SETTLE_US = 5_000_000
"""So often it is looked whether it serves again."""

LINES = (0, 1, 3, 8)
"""A fault begins at once, or right behind the so many-th line from now on: what goes wrong between two steps of a
protocol is rarely hit by the clock."""


class Simulated(Adapter):
    """A protocol's cluster. Subclasses say which: `protocol`, one of `hacheck.impl.systems.names()`, how many
    `replicas`, `clients`, with which `options`, and whether it `comes_back` after any faults. `adapter_for` makes them.

    Faults last for a time and then end by themselves. The model sees none of them: it takes them for hidden.
    """

    protocol: str
    replicas: int = 2
    clients: int = 1
    options: Mapping[str, str] = {}
    comes_back: bool = True
    waits = (0.01, 0.3, 2.0, 10.0)

    def start(self) -> None:
        """Starts all members."""
        code = system(self.protocol)
        options = code.options(self.options)
        members = code.members(self.replicas, self.clients, options)
        self._history, self._seen = History(inputs=False), 0
        self._oracle, self._quiet_us = code.oracle(members, options), code.quiet_us(options)
        self._world = World(code, members, options, self._oracle, "0", Surroundings())
        self._servers = [member.name for member in members if not member.role.startswith("client")]
        self._world.watcher = self._history
        self._world.listener = self._heard
        self._injector = Injector(self._world)
        self._later: list[tuple[int, Fault]] = []
        for process in self._world.processes.values():
            self._world.start(process)

    def wait(self, seconds: float) -> None:
        """Lets virtual time pass. Errors: `AssertionError` where a node raises."""
        self._run_until(self._world.agenda.now + int(seconds * SECOND_US))

    def _run_until(self, at_us: int) -> None:
        try:
            self._world.run(at_us)
        except Defect as defect:
            raise AssertionError(f"{defect}\n{defect.trace}") from None

    def act(self, action: str, arguments: Mapping[str, Any]) -> None:
        """Makes a fault begin, at once or with a later line."""
        fault = Fault(
            kind=action.removeprefix("fault_").replace("_", "-"),
            at_us=0,
            for_us=int(arguments.get("seconds", 0) * SECOND_US),
            target="one",
            members=tuple(arguments[name] for name in ("member",) if name in arguments),
            hosts=tuple(arguments[name] for name in ("host",) if name in arguments),
            links=self._links(arguments),
            amount=arguments.get("times", 0),
        )
        if "lines" in arguments:
            self._later.append((arguments["lines"], fault))
        else:
            self._begin(fault)
            self._run_until(self._world.agenda.now + 2)

    def _links(self, arguments: Mapping[str, Any]) -> tuple[Direction, ...]:
        """Between two, or between all servers."""
        if "one" in arguments:
            return between((arguments["one"],), (arguments["other"],))
        if "times" not in arguments:
            return ()
        return tuple(pair for one, other in combinations(self._servers, 2) for pair in between((one,), (other,)))

    def _begin(self, fault: Fault) -> None:
        self._injector.plan(replace(fault, at_us=self._world.agenda.now + 1))

    def _heard(self, record: Record) -> None:
        """A line was written: faults that waited for it begin."""
        waiting = [(lines - 1, fault) for lines, fault in self._later]
        self._later = [(lines, fault) for lines, fault in waiting if lines]
        for lines, fault in waiting:
            if not lines:
                self._begin(fault)

    def events(self) -> Iterable[Event]:
        """The records that members wrote."""
        entries, seen = self._history.entries, self._seen
        self._seen = len(entries)
        return [
            Event(one.member, one.record.event, one.record.fields)
            for one in entries[seen:]
            if isinstance(one, Recorded)
        ]

    def settle(self) -> str:
        """Ends all faults, starts what is down, and waits until the protocol's oracle finds that the service is
        back, for as long as the protocol says that it may take."""
        self._later = []
        self._injector.end_all()
        until = self._world.agenda.now + self._quiet_us
        owed = ""
        while self._world.agenda.now < until:
            self._run_until(min(self._world.agenda.now + SETTLE_US, until))
            owed = self._owed()
            if not owed:
                return ""
        return f"{self._quiet_us / SECOND_US:g} s after the last fault: {owed}"

    def _owed(self) -> str:
        """What the service owes now, by its oracle."""
        if not self.comes_back:
            return ""
        world = self._world
        durable = {name: process.disk.copy() for name, process in world.processes.items()}
        durable |= {host.name: host.disk.copy() for host in world.hosts.all.values()}
        nodes = {name: process.node for name, process in world.processes.items() if process.node is not None}
        broken = self._oracle.verdict(world.agenda.now, durable, nodes)
        return "; ".join(one.story for one in broken if one.promise in SERVICE)

    def story(self) -> str:
        """When its members started and ended."""
        written = []
        for entry in self._history.entries:
            if isinstance(entry, (Came, Went)):
                what = "starts" if isinstance(entry, Came) else f"ends: {entry.why}"
                written.append(f"{entry.at_us / SECOND_US:10.6f} s  {entry.member} {what}")
        return "\n".join(["Members that started and ended:", *written])


def adapter_for(name: str, options: Mapping[str, str] | None = None) -> type[Simulated]:
    """The adapter of what is compared under a name of `FOLLOWED`, as if the caller's module had it: runs that fail are
    kept beside that. `options`: further settings of its code. Errors: `KeyError` for what is compared with no spec."""
    followed = FOLLOWED[name]
    code = system(followed.code)
    given = {**followed.options, **(options or {})}
    members = code.members(followed.replicas, followed.clients, code.options(given))
    servers = [member for member in members if not member.role.startswith("client")]
    clients = [member for member in members if member.role.startswith("client")] if followed.clients_hit else []
    besides = [
        *_faults(servers, followed.spared),
        *_faults_of_clients(clients, servers),
    ]
    body = {
        "__doc__": f"{name} in the simulator.",
        "__module__": sys._getframe(1).f_globals.get("__name__", __name__),
        "protocol": followed.code,
        "replicas": followed.replicas,
        "clients": followed.clients,
        "options": given,
        "comes_back": followed.comes_back,
        "spec": followed.spec,
        "check": followed.check,
        "settings": dict(followed.settings),
        "called": dict(followed.called),
        "besides": tuple(besides),
    }
    return type("".join(word.capitalize() for word in name.split("-")), (Simulated,), body)


def _faults(servers: Sequence[Member], spared: Container[str]) -> Iterator[Step]:
    """What may go wrong: with each server, between each two of them, and with the locks and disks that they share.
    `spared`: see `Followed`."""
    members = [{"member": server.name} for server in servers]
    pairs = [{"one": one.name, "other": other.name} for one, other in combinations(servers, 2)]
    locks = [{"host": name} for name in dict.fromkeys(name for server in servers for name in server.locks)]
    reach = [
        {"one": server.name, "other": host}
        for server in servers
        for host in dict.fromkeys((*server.locks, *server.shared))
    ]
    yield from _steps_of("crash", members, DOWN_SECONDS)
    yield from _steps_of("power", members, DOWN_SECONDS)
    yield from _steps_of("pause", members, PAUSE_SECONDS)
    yield from _steps_of("cut", pairs if "stores" in spared else [*pairs, *reach], CUT_SECONDS)
    yield from _steps_of("reset", pairs, ())
    yield from _steps_of(
        "slow", [{"times": SLOW_TIMES}, *({**pair, "times": SLOW_TIMES} for pair in pairs)], SLOW_SECONDS
    )
    if "locks" not in spared:
        yield from _steps_of("lock_lost", locks, ())
        yield from _steps_of("lock_told", locks, ())


def _faults_of_clients(clients: Sequence[Member], servers: Sequence[Member]) -> Iterator[Step]:
    """What may go wrong with clients that go on, and between each of them and each server."""
    members = [{"member": client.name} for client in clients]
    pairs = [{"one": client.name, "other": server.name} for client in clients for server in servers]
    yield from _steps_of("pause", members, PAUSE_SECONDS)
    yield from _steps_of("cut", pairs, CUT_SECONDS)
    yield from _steps_of("reset", pairs, ())


def _steps_of(kind: str, hit: Iterable[Mapping[str, Any]], lasting: Sequence[float]) -> Iterator[Step]:
    """A kind of fault, with whom it may hit, for how long and when."""
    for whom in hit:
        for seconds in lasting or (None,):
            for lines in LINES:
                given: dict[str, Any] = {**whom}
                if seconds is not None:
                    given["seconds"] = seconds
                if lines:
                    given["lines"] = lines
                yield Step(f"fault_{kind}", tuple(given.items()))
