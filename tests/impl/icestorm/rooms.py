"""A few IceStorm processes in one room, driven by hand: messages pass at once unless they are held, time passes when
told to, disks write at once unless they fail."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable
from typing import Any

from hacheck.impl.node import (
    CancelTimer,
    Effect,
    Fired,
    Input,
    Message,
    Node,
    Received,
    Record,
    Send,
    SetTimer,
    Setup,
    Started,
    Unreachable,
    Write,
    WriteFailed,
    Written,
)
from hacheck.impl.protocols.icestorm.messages import Reply, Request
from hacheck.impl.protocols.icestorm.options import Options
from hacheck.impl.protocols.icestorm.records import Asked
from hacheck.impl.protocols.icestorm.replica import Replica
from hacheck.impl.protocols.icestorm.standing import State
from hacheck.impl.protocols.icestorm.system import SYSTEM

SECOND = 1_000_000


class Room:
    """Replicas `replica-1` to `replica-N`, and the one that writes to them."""

    def __init__(self, replicas: int = 3, clients: int = 0, **options: Any) -> None:
        self.options = Options(**{"workload": "none", **options})
        self.members = SYSTEM.members(replicas, clients, self.options)
        self.nodes: dict[str, Node] = {}
        self.disks: dict[str, dict[str, bytes]] = {member.name: {} for member in self.members}
        self.incarnations: dict[str, int] = {}
        self.failing: set[str] = set()
        self.held: set[tuple[str, str]] = set()
        self.kept: deque[tuple[str, str, Message]] = deque()
        self.loses: Callable[[Message], bool] = lambda _: False
        self.records: list[tuple[str, Record]] = []
        self.inbox: dict[str, list[Message]] = {}
        self.sent: list[tuple[str, str, Message]] = []
        self.now = 0
        self._timers: dict[tuple[str, str], int] = {}
        self._agenda: list[tuple[int, int, str, str]] = []
        self._ready: deque[tuple[str, Input]] = deque()
        self._count = 0

    # ---- processes -------------------------------------------------------------------------------------------------

    def start(self, *idents: int) -> None:
        """Start replicas, or start them again. Without any: all members."""
        names = [f"replica-{ident}" for ident in idents] or [member.name for member in self.members]
        for name in names:
            member = next(member for member in self.members if member.name == name)
            self.incarnations[name] = self.incarnations.get(name, -1) + 1
            setup = Setup(name, self.incarnations[name], dict(self.disks[name]), self.options)
            self.nodes[name] = SYSTEM.start(member, self.members, setup)
            self._ready.append((name, Started()))

    def crash(self, *idents: int) -> None:
        """Replicas lose their memory; the one that writes to them from now on is informed that they are gone."""
        for name in (f"replica-{ident}" for ident in idents):
            del self.nodes[name]
            self.kept = deque(item for item in self.kept if name not in item[:2])
            for key in [key for key in self._timers if key[0] == name]:
                del self._timers[key]
            self._ready.extend((other, Unreachable(name)) for other in self.nodes)

    def replica(self, ident: int) -> Replica:
        """A replica that runs."""
        node = self.nodes[f"replica-{ident}"]
        assert isinstance(node, Replica)
        return node

    # ---- time and messages -----------------------------------------------------------------------------------------

    def settle(self) -> None:
        """All that can happen without time passing."""
        for _ in range(20_000):
            if not self._ready:
                return
            name, given = self._ready.popleft()
            if name in self.nodes:
                self._carry_out(name, self.nodes[name].handle(given, self.now))
        raise AssertionError("it does not come to rest")

    def run(self, seconds: float) -> None:
        """Let time pass."""
        end = self.now + int(seconds * SECOND)
        self.settle()
        while self._agenda and self._agenda[0][0] <= end:
            at, number, name, timer = heapq.heappop(self._agenda)
            if self._timers.get((name, timer)) != number:
                continue
            self.now = max(self.now, at)
            del self._timers[name, timer]
            self._ready.append((name, Fired(timer)))
            self.settle()
        self.now = end

    def hold(self, sender: int | str, receiver: int | str) -> None:
        """Messages on this way wait until `release`."""
        self.held.add((_name(sender), _name(receiver)))

    def cut(self, ident: int) -> None:
        """Nothing passes between a replica and the other members, until `release`."""
        for member in self.members:
            if member.name != _name(ident):
                self.hold(ident, member.name)
                self.hold(member.name, ident)

    def release(self, *, lost: bool = False) -> None:
        """What was held passes now, or (`lost`) never does."""
        self.held.clear()
        waiting, self.kept = self.kept, deque()
        for sender, receiver, message in waiting:
            if not lost:
                self._pass(sender, receiver, message)
        self.settle()

    def tell(self, sender: int | str, receiver: int, message: Message) -> None:
        """A message from somebody."""
        self._pass(_name(sender), _name(receiver), message)
        self.settle()

    def _pass(self, sender: str, receiver: str, message: Message) -> None:
        if self.loses(message):
            return
        if (sender, receiver) in self.held:
            self.kept.append((sender, receiver, message))
        elif receiver in self.nodes:
            self._ready.append((receiver, Received(sender, message)))
        elif receiver in self.disks:
            self._ready.append((sender, Unreachable(receiver)))
        else:
            self.inbox.setdefault(receiver, []).append(message)

    def _carry_out(self, name: str, effects: list[Effect]) -> None:
        for effect in effects:
            if isinstance(effect, Send):
                self.sent.append((name, effect.to, effect.message))
                self._pass(name, effect.to, effect.message)
            elif isinstance(effect, SetTimer):
                self._count += 1
                self._timers[name, effect.timer] = self._count
                heapq.heappush(self._agenda, (self.now + effect.after_us, self._count, name, effect.timer))
            elif isinstance(effect, CancelTimer):
                self._timers.pop((name, effect.timer), None)
            elif isinstance(effect, Write):
                self._write(name, effect)
            elif isinstance(effect, Record):
                self.records.append((name, effect))

    def _write(self, name: str, effect: Write) -> None:
        if name in self.failing:
            self._ready.append((name, WriteFailed(effect.token, "the disk is full")))
            return
        for key, value in effect.changes:
            if value is None:
                self.disks[name].pop(key, None)
            else:
                self.disks[name][key] = value
        self._ready.append((name, Written(effect.token)))

    # ---- what clients do, and what is seen -------------------------------------------------------------------------

    def ask(self, ident: int, operation: Asked, client: str = "somebody") -> Reply | None:
        """Ask a replica; what it answers at once, if it does."""
        self._count += 1
        request = f"request-{self._count}"
        self.tell(client, ident, Request(request, 1, operation))
        return self.reply(request, client)

    def reply(self, request: str, client: str = "somebody") -> Reply | None:
        """What a client was answered to a request."""
        replies = [m for m in self.inbox.get(client, []) if isinstance(m, Reply) and m.request == request]
        return replies[-1] if replies else None

    def states(self) -> dict[int, str]:
        """The states of those that run."""
        return {r.standing.ident: r.standing.state.value for r in self.nodes.values() if isinstance(r, Replica)}

    def coordinator(self) -> int | None:
        """Whom all that run follow, if they all serve."""
        standings = [node.standing for node in self.nodes.values() if isinstance(node, Replica)]
        if any(standing.state is not State.NORMAL for standing in standings) or len({s.group for s in standings}) != 1:
            return None
        return standings[0].coord

    def topics(self, ident: int) -> list[str]:
        """The topics that a replica has, in the order of their names."""
        return sorted(self.replica(ident).store.topics)

    def events(self, event: str) -> list[dict[str, Any]]:
        """The fields of all records of one event."""
        return [dict(record.fields) for _, record in self.records if record.event == event]


def _name(who: int | str) -> str:
    return f"replica-{who}" if isinstance(who, int) else who


def formed(replicas: int = 3, **options: Any) -> Room:
    """A room whose replicas have started and form one group."""
    room = Room(replicas, **options)
    room.start()
    room.run(1)
    assert room.coordinator() == replicas, room.states()
    return room
