"""Brokers driven by hand: everything that is sent arrives at once, in order, unless a test holds a link back."""

from __future__ import annotations

from typing import Any, Self

from hacheck.impl.node import Fired, Message, Name, Node, Received, Setup
from hacheck.impl.protocols.qpid import messages as wire
from hacheck.impl.protocols.qpid import objects, orders
from hacheck.impl.protocols.qpid import system as qpid
from hacheck.impl.protocols.qpid.broker import Broker, Place
from hacheck.impl.protocols.qpid.options import Options
from hacheck.impl.protocols.qpid.process import Process
from hacheck.impl.system import Member
from tests.impl import stage
from tests.impl.stage import SECOND

MANAGER = "manager"


class Brokers(qpid.Cluster):
    """A cluster whose resource manager is played by the test. `places`: of brokers that do not stand among all."""

    def __init__(self) -> None:
        self.places: dict[Name, Place] = {}

    def members(self, replicas: int, clients: int, options: Options) -> tuple[Member, ...]:
        return tuple(member for member in super().members(replicas, 0, options) if member.name != MANAGER)

    def start(self, member: Member, members: tuple[Member, ...], setup: Setup) -> Node:
        others = tuple(one.name for one in members if one.name != member.name)
        return Broker(setup, setup.options, self.places.get(member.name, Place(others, MANAGER)))


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
        self.process.begin(self.stage.now)
        self.process.start_heartbeats()
        self.channel = self.process.connect(to, "client")
        self.channel.is_up = True  # type: ignore[attr-defined]
        return self._done()

    def say(self, body: wire.Body) -> Hand:
        self.process.begin(self.stage.now)
        assert self.channel is not None
        self.process.say(self.channel, body)
        return self._done()

    def _done(self) -> Hand:
        self.stage.carry_out(self.stage.processes[self.process.member], self.process.effects)
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


class Stage(stage.Stage):
    """Brokers `broker-1` to `broker-N`, and who else plays. What is done has its consequences at once."""

    unstarted_is_silent = False

    def __init__(self, brokers: int = 3, **options: Any) -> None:
        self.brokers = Brokers()
        super().__init__(self.brokers, brokers, hop_us=0, write_us=0, options=Options(**options))
        self.names = tuple(member.name for member in self.members)
        self.awaited: dict[tuple[Name, Name], type] = {}
        self.term = 0

    def start(self, *names: Name) -> Self:
        for name in names or self.names:
            super().start(name).settle()
        return self

    def start_as(self, name: Name, place: Place) -> None:
        self.brokers.places[name] = place
        if name in self.processes:
            self.start(name)
        else:
            self.play(name, lambda setup: Broker(setup, self.options, place))
            self.settle()

    def crash(self, *names: Name) -> Self:
        return super().crash(*names).settle()

    def hand(self, name: Name = "client-1") -> Hand:
        return self.play(name, lambda setup: Hand(self, name))

    def promote(self, name: Name) -> orders.PromoteAnswer:
        self.term += 1
        self.order(name, orders.Promote(self.term, self.incarnations[name], self.now))
        answers = [one for one in self.to_manager if isinstance(one, orders.PromoteAnswer) and one.term == self.term]
        return answers[-1] if answers else orders.PromoteAnswer(self.term, False, "no answer yet")

    def order(self, name: Name, message: Message) -> None:
        """The resource manager says something."""
        self.tell(name, message, MANAGER)
        self.settle()

    @property
    def to_manager(self) -> list[Message]:
        return self.inbox.get(MANAGER, [])

    def hold_from(self, sender: Name, to: Name, kind: type) -> None:
        """What one sends the other stays on its way, from the first body of a type on."""
        self.awaited[sender, to] = kind

    def holds(self, sender: Name, to: Name, message: Any) -> bool:
        kind = self.awaited.get((sender, to))
        if kind is not None and isinstance(message, wire.Frame) and isinstance(message.body, kind):
            del self.awaited[sender, to]
            self.hold(sender, to)
        return super().holds(sender, to, message)

    def pass_time(self, us: int) -> Self:
        """Timers fire when they are due."""
        return self.settle().run(us / SECOND)

    # ---- looking ----------------------------------------------------------------------------------------------------

    @property
    def nodes(self) -> dict[Name, Any]:
        return super().nodes

    def status(self, name: Name) -> str:
        return self.nodes[name].status

    def on_queue(self, name: Name, queue: str = "q") -> list[str]:
        return [one.content.message for one in self.nodes[name].wiring.queues[queue].messages.values()]

    def ids(self, name: Name, queue: str = "q") -> list[int]:
        return list(self.nodes[name].wiring.queues[queue].positions)


def cluster(brokers: int = 3, **options: Any) -> Stage:
    """A cluster whose first broker is primary and whose other brokers are ready."""
    stage = Stage(brokers, fencing="none", **options).start()
    stage.pass_time(stage.options.heartbeat_us)
    assert stage.promote("broker-1").ok
    stage.pass_time(2 * brokers * stage.options.link_maintenance_us)
    assert [stage.status(name) for name in stage.names] == ["active"] + ["ready"] * (brokers - 1)
    return stage
