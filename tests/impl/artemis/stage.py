"""A stage for stories: brokers and clients driven by hand, with a network, disks and locks that do as they are
informed.

Every message takes 100 microseconds, every write 300; nothing is left to chance.
"""

from __future__ import annotations

from collections.abc import Mapping
from heapq import heappop, heappush
from typing import Any

from hacheck.impl.node import (
    CancelTimer,
    Effect,
    Fired,
    Halt,
    Input,
    LockAnswered,
    LockLost,
    Message,
    Node,
    ReadShared,
    Received,
    Record,
    Send,
    SetTimer,
    Setup,
    SharedRead,
    Started,
    TryLock,
    Unlock,
    Unreachable,
    Write,
    WriteFailed,
    Written,
)
from hacheck.impl.system import Broken, System

HOP_US = 100
WRITE_US = 300
SECOND = 1_000_000


class Stage:
    """A cluster. `log`: all records: when, who, what. `halted`: who ended itself, and why. `cut`: directions in which
    nothing arrives. `failing`: whose writes fail. `slow`: whose writes are not done until `unslow`."""

    def __init__(self, system: System, replicas: int = 2, clients: int = 0, **settings: object) -> None:
        self.system = system
        self.options = system.options({name: str(value).lower() for name, value in settings.items()})
        self.members = system.members(replicas, clients, self.options)
        self.oracle = system.oracle(self.members, self.options)
        self.now = 0
        self.nodes: dict[str, Node] = {}
        self.disks: dict[str, dict[str, bytes]] = {member.name: {} for member in self.members}
        self.shared: dict[str, dict[str, bytes]] = {}
        self.holders: dict[str, str] = {}
        self.incarnations: dict[str, int] = {}
        self.log: list[tuple[int, str, Record]] = []
        self.sent: list[tuple[str, str, Message]] = []
        self.halted: dict[str, str] = {}
        self.cut: set[tuple[str, str]] = set()
        self.failing: set[str] = set()
        self.slow: dict[str, list[tuple[Write, int]]] = {}
        self.ahead: dict[str, int] = {}
        self._timers: dict[tuple[str, str], int] = {}
        self._events: list[tuple[int, int, str, int, Any]] = []
        self._number = 0

    # ---- what a story does ----

    def start(self, *names: str) -> None:
        """Starts processes; none: all."""
        for name in names or tuple(member.name for member in self.members):
            self.incarnations[name] = self.incarnations.get(name, -1) + 1
            self.halted.pop(name, None)
            member = next(member for member in self.members if member.name == name)
            setup = Setup(name, self.incarnations[name], dict(self.disks[name]), self.options)
            self.nodes[name] = self.system.start(member, self.members, setup)
            self.give(name, Started())

    def crash(self, name: str) -> None:
        """Ends a process: its locks are free, the one that reaches it finds out."""
        del self.nodes[name]
        self.oracle.crashed(self.now, name)
        self._timers = {key: due for key, due in self._timers.items() if key[0] != name}
        self.holders = {lock: holder for lock, holder in self.holders.items() if holder != name}
        for other in tuple(self.nodes):
            if (name, other) not in self.cut:
                self._later(HOP_US, other, Unreachable(name))

    def run(self, seconds: float) -> None:
        """Lets time go on."""
        until = self.now + int(seconds * SECOND)
        while self._events and self._events[0][0] <= until:
            self.now, _, name, incarnation, given = heappop(self._events)
            if name not in self.nodes or self.incarnations[name] != incarnation:
                continue
            if isinstance(given, Fired):
                if self._timers.get((name, given.timer)) != self.now:
                    continue
                del self._timers[name, given.timer]
            if isinstance(given, Received) and (given.sender, name) in self.cut:
                continue
            self.give(name, given)
        self.now = until

    def run_until(self, name: str, state: str) -> None:
        """Lets time go on, in small steps, until a broker is in a state; not for longer than half a minute."""
        for _ in range(60_000):
            if self.state(name) == state:
                return
            self.run(0.0005)
        raise AssertionError(f"{name} is {self.state(name)}, never {state}")

    def run_until_sent(self, kind: type[Message]) -> None:
        """Lets time go on, in small steps, until a message of that kind has been sent since; not for longer than half a
        minute."""
        before = len(self.sent)
        for _ in range(300_000):
            if any(isinstance(message, kind) for _, _, message in self.sent[before:]):
                return
            self.run(0.0001)
        raise AssertionError(f"nobody sends {kind.__name__}")

    def give(self, name: str, given: Input) -> None:
        """Hands in an input."""
        effects = self.nodes[name].handle(given, self.now + self.ahead.get(name, 0))
        for effect in effects:
            self._do(name, effect)
            if name not in self.nodes:
                return

    def tell(self, to: str, message: Message, sender: str = "operator") -> None:
        """A message from outside."""
        self.give(to, Received(sender, message))

    def part(self, one: str, *others: str) -> None:
        """Nothing arrives between one and others."""
        for other in others:
            self.cut |= {(one, other), (other, one)}

    def heal(self) -> None:
        """Everything arrives again."""
        self.cut.clear()

    def unslow(self, name: str) -> None:
        """Writes that were held back are done."""
        for write, incarnation in self.slow.pop(name):
            if self.incarnations[name] == incarnation:
                self._write(name, write)

    def lose_lock(self, lock: str, *, tell: bool = False) -> None:
        """A lock's host forgets who holds it."""
        holder = self.holders.pop(lock)
        if tell:
            self._later(HOP_US, holder, LockLost(lock))

    # ---- what a story looks at ----

    def events(self, name: str = "", since: int = 0) -> list[str]:
        """What was recorded."""
        return [record.event for at, member, record in self.log if at >= since and name in ("", member)]

    def lines(self, name: str = "", since: int = 0) -> list[int]:
        """The lines that brokers wrote, by the product's numbers."""
        shown = [record.fields.get("amq", 0) for at, who, record in self.log if at >= since and name in ("", who)]
        return [number for number in shown if number]

    def fields(self, event: str, name: str = "") -> list[Mapping[str, Any]]:
        """The fields of all records of an event."""
        return [record.fields for _, member, record in self.log if record.event == event and name in ("", member)]

    def serving(self) -> tuple[str, ...]:
        """Who serves."""
        return self.system.serving(self.nodes)

    def state(self, name: str) -> str:
        """A broker's state, in words."""
        return str(self.nodes[name].broker.state.value)  # type: ignore[attr-defined]

    def verdict(self) -> list[Broken]:
        """What is broken."""
        return list(self.oracle.verdict(self.now, self.disks | self.shared, self.nodes))

    def promises_broken(self) -> set[str]:
        """Which promises are."""
        return {broken.promise for broken in self.verdict()}

    # ---- effects ----

    def _later(self, after: int, name: str, given: Any) -> None:
        self._number += 1
        heappush(self._events, (self.now + after, self._number, name, self.incarnations.get(name, 0), given))

    def _do(self, name: str, effect: Effect) -> None:
        match effect:
            case Send(to, message):
                self.sent.append((name, to, message))
                if to in self.nodes:
                    self._later(HOP_US, to, Received(name, message))
                elif to in self.incarnations and (to, name) not in self.cut:
                    self._later(HOP_US, name, Unreachable(to))
            case SetTimer(timer, after):
                self._timers[name, timer] = self.now + after
                self._later(after, name, Fired(timer))
            case CancelTimer(timer):
                self._timers.pop((name, timer), None)
            case Write():
                if name in self.slow:
                    self.slow[name].append((effect, self.incarnations[name]))
                else:
                    self._write(name, effect)
            case ReadShared(token, shared, key):
                self._later(HOP_US, name, self._read(name, token, shared, key))
            case TryLock(lock):
                granted = (name, lock) not in self.cut and self.holders.setdefault(lock, name) == name
                self._later(HOP_US, name, LockAnswered(lock, granted))
            case Unlock(lock):
                if self.holders.get(lock) == name:
                    del self.holders[lock]
            case Record():
                self.log.append((self.now, name, effect))
                self.oracle.saw(self.now, name, effect)
            case Halt(reason):
                self.halted[name] = reason
                self.crash(name)

    def _read(self, name: str, token: int, shared: str, key: str) -> SharedRead:
        if (name, shared) in self.cut:
            return SharedRead(token, None, "out of reach")
        return SharedRead(token, self.shared.get(shared, {}).get(key))

    def _write(self, name: str, write: Write) -> None:
        if name in self.failing or (name, write.shared) in self.cut:
            self._later(WRITE_US, name, WriteFailed(write.token, "no space left"))
            return
        disk = self.shared.setdefault(write.shared, {}) if write.shared else self.disks[name]
        for key, value in write.changes:
            if value is None:
                disk.pop(key, None)
            else:
                disk[key] = value
        self._later(WRITE_US, name, Written(write.token))
