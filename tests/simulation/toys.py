"""Two small protocols to try the simulator on, one of them with a bug to find.

`Counters`: clients add numbers to what a primary, who holds a lock, keeps on a shared disk. `eager`: it answers
before that is safe, and so loses what it has acknowledged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from hacheck.impl.node import (
    CancelTimer,
    Effect,
    Fired,
    Halt,
    Input,
    LockAnswered,
    LockLost,
    Message,
    Name,
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
    Unreachable,
    Write,
    WriteFailed,
    Written,
)
from hacheck.impl.system import Broken, Member, Oracle, Refused

LOCK = "gate"
RETRY_US, ALIVE_US = 300_000, 100_000


class Options(Struct, frozen=True):
    """`eager`: answer before the write is safe. `raises`: a handler that raises at so many additions."""

    eager: bool = False
    raises: int = 0


class Add(Message, frozen=True, gc=False):
    number: int


class Added(Message, frozen=True, gc=False):
    number: int


class Refusal(Message, frozen=True, gc=False):
    number: int


class Replica:
    """One process that serves while it holds the lock; what it knows is on the shared disk."""

    def __init__(self, setup: Setup) -> None:
        self.options: Options = setup.options
        self.serving = False
        self.term = self.token = 0
        self.waiting: dict[int, tuple[Name, int]] = {}

    def handle(self, given: Input, now_us: int) -> list[Effect]:
        match given:
            case Started() | Fired("retry"):
                return [TryLock(LOCK), SetTimer("retry", RETRY_US)]
            case LockAnswered(_, True) if not self.serving:
                return [ReadShared(0, LOCK, "terms")]
            case SharedRead(_, value, ""):
                self.serving = True
                self.term = int(value or b"0") + 1
                return [Write(0, (("terms", b"%d" % self.term),), shared=LOCK)]
            case Written(0):
                return [Record("serving", {"term": self.term})]
            case LockLost():
                return [Halt("lock lost")]
            case Received(sender, Add(number)):
                return self.add(sender, number)
            case Written(token):
                sender, number = self.waiting.pop(token)
                return [] if self.options.eager else [Send(sender, Added(number))]
            case WriteFailed():
                return [Halt("cannot write")]
        return []

    def add(self, sender: Name, number: int) -> list[Effect]:
        if not self.serving:
            return [Send(sender, Refusal(number))]
        if self.options.raises and number >= self.options.raises:
            raise ValueError("so many")
        self.token += 1
        self.waiting[self.token] = (sender, number)
        answer = [Send(sender, Added(number))] if self.options.eager else []
        return [Write(self.token, ((f"{sender}:{number}", b""),), shared=LOCK), *answer]


class Client:
    """Adds one number after the other, at whoever takes them."""

    def __init__(self, setup: Setup, replicas: tuple[Name, ...]) -> None:
        self.replicas, self.place = replicas, 0
        self.number = setup.incarnation * 100_000

    def handle(self, given: Input, now_us: int) -> list[Effect]:
        match given:
            case Started():
                return self.ask()
            case Received(_, Added(number)) if number == self.number:
                self.number += 1
                return [Record("told", {"number": number}), CancelTimer("again"), SetTimer("next", 20_000)]
            case Fired("next"):
                return self.ask()
            case Received(_, Refusal(number)) if number == self.number:
                self.place += 1
                return [SetTimer("next", 20_000)]
            case Fired("again") | Unreachable():
                self.place += 1
                return [SetTimer("next", 20_000)]
        return []

    def ask(self) -> list[Effect]:
        to = self.replicas[self.place % len(self.replicas)]
        return [Send(to, Add(self.number)), SetTimer("again", ALIVE_US)]


class Accounts:
    """What clients were told, against what is on the disk."""

    def __init__(self) -> None:
        self.told: list[tuple[int, str]] = []

    def saw(self, at_us: int, member: Name, record: Record) -> None:
        if record.event == "told":
            self.told.append((at_us, f"{member}:{record.fields['number']}"))

    def crashed(self, at_us: int, member: Name) -> None:
        pass

    def verdict(
        self, at_us: int, durable: Mapping[Name, Mapping[str, bytes]], nodes: Mapping[Name, Node]
    ) -> Sequence[Broken]:
        there = durable[LOCK]
        lost = [
            Broken("nothing is lost", f"{number} was acknowledged", at)
            for at, number in self.told
            if number not in there
        ]
        quiet = not any(at > at_us - 2_000_000 for at, _ in self.told)
        return lost[:1] + ([Broken("service comes back", "nobody is served", at_us)] if quiet else [])


class Counters:
    name = "counters"
    messages = (Add, Added, Refusal)

    def options(self, given: Mapping[str, str]) -> Options:
        for name in given:
            if name not in Options.__struct_fields__:
                raise Refused(f"no setting `{name}`")
        return Options(eager=given.get("eager") == "yes", raises=int(given.get("raises", "0")))

    def members(self, replicas: int, clients: int, options: Any) -> tuple[Member, ...]:
        if replicas < 1:
            raise Refused("at least one replica")
        servers = [Member(f"replica-{n}", "replica", (LOCK,), (LOCK,)) for n in range(replicas)]
        return (*servers, *(Member(f"client-{n}", "client") for n in range(clients)))

    def start(self, member: Member, members: tuple[Member, ...], setup: Setup) -> Node:
        replicas = tuple(one.name for one in members if one.role == "replica")
        return Replica(setup) if member.role == "replica" else Client(setup, replicas)

    def oracle(self, members: tuple[Member, ...], options: Any) -> Oracle:
        return Accounts()

    def quiet_us(self, options: Any) -> int:
        return 15_000_000

    def serving(self, nodes: Mapping[Name, Node]) -> tuple[Name, ...]:
        return tuple(name for name, node in nodes.items() if isinstance(node, Replica) and node.serving)

    def survives(self) -> Iterator[str]:
        yield from ("crash", "power", "pause/client")


COUNTERS = Counters()
