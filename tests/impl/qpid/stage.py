"""Brokers driven by hand: everything that is sent arrives at once, in order, unless a test holds a link back."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any

from hacheck.impl.node import (
    CancelTimer,
    Fired,
    Halt,
    Message,
    Name,
    Received,
    Record,
    Send,
    SetTimer,
    Setup,
    Started,
    Unreachable,
    Write,
    Written,
)
from hacheck.impl.protocols.qpid import messages as wire
from hacheck.impl.protocols.qpid import objects, orders
from hacheck.impl.protocols.qpid.broker import Broker, Place
from hacheck.impl.protocols.qpid.options import Options
from hacheck.impl.protocols.qpid.process import Process

MANAGER = "manager"


class Hand:
    """A client in the hand of a test: says what the test says, keeps what it hears."""

    def __init__(self, stage: Stage, name: Name) -> None:
        self.stage = stage
        self.process = Process(Setup(name, 0, {}, None), 1_000_000)
        self.heard: list[Any] = []
        self.channel = None
        self.count = 0

    def handle(self, given: Any, now_us: int) -> list[Any]:
        out = self.process.begin(now_us)
        if isinstance(given, Fired):
            self.process.beat()
        elif isinstance(given, Received):
            if isinstance(given.message, wire.Heartbeat):
                self.process.heartbeat(given.sender, given.message)
            elif isinstance(given.message, wire.Frame):
                _, bodies = self.process.heard(given.sender, given.message)
                self.heard += bodies
            else:
                self.heard.append(given.message)
        return out

    def connect(self, to: Name) -> Hand:
        self.process.begin(self.stage.now_us)
        self.process.start_heartbeats()
        self.channel = self.process.connect(to, "client")
        self.channel.is_up = True  # type: ignore[attr-defined]
        self.stage.carry_out(self.process.member, self.process.effects)
        self.stage.settle()
        return self

    def say(self, body: wire.Body) -> Hand:
        self.process.begin(self.stage.now_us)
        assert self.channel is not None
        self.process.say(self.channel, body)
        self.stage.carry_out(self.process.member, self.process.effects)
        self.stage.settle()
        return self

    def declare(self, queue: str, **arguments: Any) -> Hand:
        return self.say(wire.DeclareQueue(self.fresh(), queue, objects.Arguments(**arguments)))

    def publish(self, queue: str, *names: str, durable: bool = False, transaction: str = "") -> Hand:
        for name in names:
            self.say(wire.Publish(objects.Content(name, name, durable), "", queue, transaction))
        return self

    def commit(self, transaction: str) -> Hand:
        return self.say(wire.Commit(f"commit/{transaction}", transaction))

    def fresh(self) -> str:
        self.count += 1
        return f"{self.process.member}/{self.count}"

    def consume(self, queue: str, credit: int = 10) -> Hand:
        return self.say(wire.Consume(self.fresh(), queue, credit))

    def accept(self, queue: str, *tags: int, transaction: str = "") -> Hand:
        return self.say(wire.Accept(self.fresh(), queue, tags, transaction))

    @property
    def completed(self) -> list[str]:
        return [name for body in self.heard if isinstance(body, wire.Completed) for name in body.messages]

    @property
    def delivered(self) -> list[str]:
        return [body.content.message for body in self.heard if isinstance(body, wire.Delivery)]

    def last(self, kind: type) -> Any:
        return [body for body in self.heard if isinstance(body, kind)][-1]


class Stage:
    """Processes by name, what is on its way between them, their timers and disks."""

    def __init__(self, brokers: int = 3, **options: Any) -> None:
        self.options = Options(**options)
        self.now_us = 0
        self.nodes: dict[Name, Any] = {}
        self.disks: dict[Name, dict[str, bytes]] = {}
        self.incarnations: dict[Name, int] = {}
        self.timers: dict[tuple[Name, str], int] = {}
        self.on_the_way: deque[tuple[Name, Name, Message]] = deque()
        self.held: dict[tuple[Name, Name], deque[Message]] = {}
        self.awaited: dict[tuple[Name, Name], type] = {}
        self.writes: deque[tuple[Name, Write]] = deque()
        self.holds_writes = False
        self.records: list[tuple[Name, Record]] = []
        self.halts: dict[Name, str] = {}
        self.to_manager: list[Message] = []
        self.names = tuple(f"broker-{number}" for number in range(1, brokers + 1))
        self.term = 0

    # ---- processes --------------------------------------------------------------------------------------------------

    def start(self, *names: Name) -> Stage:
        for name in names or self.names:
            others = tuple(other for other in self.names if other != name)
            self.start_as(name, Place(others, MANAGER))
        return self

    def start_as(self, name: Name, place: Place) -> Broker:
        self.incarnations[name] = self.incarnations.get(name, -1) + 1
        setup = Setup(name, self.incarnations[name], dict(self.disks.setdefault(name, {})), self.options)
        broker = self.nodes[name] = Broker(setup, self.options, place)
        self.give(name, Started())
        self.settle()
        return broker

    def crash(self, *names: Name) -> Stage:
        """Processes end; everybody finds that connections broke."""
        for name in names:
            del self.nodes[name]
            self.timers = {key: at for key, at in self.timers.items() if key[0] != name}
            self.writes = deque(one for one in self.writes if one[0] != name)
        for name in names:
            for other in tuple(self.nodes):
                self.give(other, Unreachable(name))
        self.settle()
        return self

    def hand(self, name: Name = "client-1") -> Hand:
        hand = self.nodes[name] = Hand(self, name)
        return hand

    def promote(self, name: Name) -> orders.PromoteAnswer:
        self.term += 1
        self.tell(name, orders.Promote(self.term, self.incarnations[name], self.now_us))
        answers = [one for one in self.to_manager if isinstance(one, orders.PromoteAnswer) and one.term == self.term]
        return answers[-1] if answers else orders.PromoteAnswer(self.term, False, "no answer yet")

    def tell(self, name: Name, message: Message) -> None:
        """The resource manager says something."""
        self.give(name, Received(MANAGER, message))
        self.settle()

    # ---- carrying out -----------------------------------------------------------------------------------------------

    def give(self, name: Name, given: Any) -> None:
        if name in self.nodes:
            self.carry_out(name, self.nodes[name].handle(given, self.now_us))

    def carry_out(self, name: Name, effects: Iterable[Any]) -> None:
        for effect in effects:
            if isinstance(effect, Send):
                self.on_the_way.append((name, effect.to, effect.message))
            elif isinstance(effect, SetTimer):
                self.timers[(name, effect.timer)] = self.now_us + effect.after_us
            elif isinstance(effect, CancelTimer):
                self.timers.pop((name, effect.timer), None)
            elif isinstance(effect, Write):
                self.writes.append((name, effect))
            elif isinstance(effect, Record):
                self.records.append((name, effect))
            elif isinstance(effect, Halt):
                self.halts[name] = effect.reason
                self.crash(name)
                return

    def settle(self) -> Stage:
        """Deliver until nothing is on its way."""
        while self.on_the_way or (self.writes and not self.holds_writes):
            if self.on_the_way:
                sender, to, message = self.on_the_way.popleft()
                if self._holding_begins(sender, to, message):
                    self.held[(sender, to)] = deque()
                if (sender, to) in self.held:
                    self.held[(sender, to)].append(message)
                elif to == MANAGER:
                    self.to_manager.append(message)
                elif to in self.nodes:
                    self.give(to, Received(sender, message))
                elif sender in self.nodes:
                    self.give(sender, Unreachable(to))
            else:
                name, write = self.writes.popleft()
                for key, value in write.changes:
                    if value is None:
                        self.disks[name].pop(key, None)
                    else:
                        self.disks[name][key] = value
                self.give(name, Written(write.token))
        return self

    def hold(self, sender: Name, to: Name, beginning_with: type | None = None) -> None:
        """What one sends the other stays on its way, from now on or from the first body of a type on."""
        if beginning_with is None:
            self.held.setdefault((sender, to), deque())
        else:
            self.awaited[(sender, to)] = beginning_with

    def _holding_begins(self, sender: Name, to: Name, message: Message) -> bool:
        kind = self.awaited.get((sender, to))
        if kind is None or not isinstance(message, wire.Frame) or not isinstance(message.body, kind):
            return False
        del self.awaited[(sender, to)]
        return True

    def let_go(self, sender: Name, to: Name) -> None:
        """It arrives."""
        for message in self.held.pop((sender, to)):
            self.on_the_way.append((sender, to, message))
        self.settle()

    def pass_time(self, us: int) -> Stage:
        """Timers fire when they are due."""
        until = self.now_us + us
        while True:
            due = [(at, key) for key, at in self.timers.items() if at <= until]
            if not due:
                break
            at, key = min(due)
            del self.timers[key]
            self.now_us = max(self.now_us, at)
            self.give(key[0], Fired(key[1]))
            self.settle()
        self.now_us = until
        return self

    # ---- looking ----------------------------------------------------------------------------------------------------

    def status(self, name: Name) -> str:
        return self.nodes[name].status

    def on_queue(self, name: Name, queue: str = "q") -> list[str]:
        return [one.content.message for one in self.nodes[name].wiring.queues[queue].messages.values()]

    def ids(self, name: Name, queue: str = "q") -> list[int]:
        return list(self.nodes[name].wiring.queues[queue].positions)

    def events(self, name: Name, event: str) -> list[Any]:
        return [dict(record.fields) for member, record in self.records if member == name and record.event == event]


def cluster(brokers: int = 3, **options: Any) -> Stage:
    """A cluster whose first broker is primary and whose other brokers are ready."""
    stage = Stage(brokers, fencing="none", **options).start()
    stage.pass_time(stage.options.heartbeat_us)
    assert stage.promote("broker-1").ok
    stage.pass_time(2 * brokers * stage.options.link_maintenance_us)
    assert [stage.status(name) for name in stage.names] == ["active"] + ["ready"] * (brokers - 1)
    return stage
