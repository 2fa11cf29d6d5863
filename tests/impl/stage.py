"""A cluster for stories, by a clock: the stepper of the schedules, whose steps come when they are due.

Every message takes as long as every other one, every write and every request to a host, too; nothing is left to chance.
A story ends processes, cuts ways, holds messages and disks, and looks at what was recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from heapq import heappop, heappush
from typing import Any, Self, TypeVar

from hacheck.impl.node import (
    Halt,
    Input,
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
    Started,
    TryLock,
    Unlock,
    Write,
)
from hacheck.impl.stepper import Choice, Cluster, Process
from hacheck.impl.system import Broken, Member, System

PlayedT = TypeVar("PlayedT", bound=Node)

SECOND = 1_000_000


class Stage(Cluster):
    """A cluster. `log`: all records: when, who, what. `sent`: all messages: from, to, what. `halted`: who ended itself,
    and why. `inbox`: what was sent to who is no member. `cut`: directions in which nothing arrives, of members and of
    hosts. `held`: directions in which messages wait until `release`. `failing`: whose writes fail. `slow`: whose writes
    wait until `unslow`. `loses`: which messages are lost. `ahead`: by how much a clock is. `unstarted_is_silent`:
    whether messages to who was never started are lost, as on a machine that is not there, and not refused."""

    unstarted_is_silent = True

    def __init__(
        self,
        system: System,
        replicas: int = 2,
        clients: int = 0,
        hop_us: int = 100,
        write_us: int = 300,
        options: Any = None,
        **settings: object,
    ) -> None:
        if options is None:
            options = system.options({name: str(value).lower() for name, value in settings.items()})
        super().__init__(system, system.members(replicas, clients, options), options, self._recorded)
        self.oracle = system.oracle(self.members, options)
        self.hop_us, self.write_us = hop_us, write_us
        self.now = 0
        self.log: list[tuple[int, Name, Record]] = []
        self.sent: list[tuple[Name, Name, Message]] = []
        self.halted: dict[Name, str] = {}
        self.inbox: dict[Name, list[Message]] = {}
        self.cut: set[tuple[Name, Name]] = set()
        self.held: set[tuple[Name, Name]] = set()
        self.failing: set[Name] = set()
        self.slow: set[Name] = set()
        self.loses: Callable[[Message], bool] = lambda _: False
        self.ahead: dict[Name, int] = {}
        self._events: list[tuple[int, int, Choice]] = []
        self._number = 0

    # ---- what a story does ----

    def start(self, *names: Name) -> Self:
        """Starts processes; none: all."""
        for name in names or tuple(self.processes):
            self.halted.pop(name, None)
            self.do(("start", name))
        return self

    def crash(self, *names: Name) -> Self:
        """Ends processes: their locks are free, those they have spoken with find out."""
        for name in names:
            self.do(("crash", name))
            self.oracle.crashed(self.now, name)
            for way in sorted(way for way in self.held if way[0] == name and self.links.get(way)):
                while len(self.links[way]) > 1:  # what is held is lost, and no end of a connection waits behind it
                    self.do(("drop", *way))
                self.do(("deliver", *way))
        return self

    def run(self, seconds: float) -> Self:
        """Lets time go on."""
        until = self.now + round(seconds * SECOND)
        while self._events and self._events[0][0] <= until:
            self.now, _, choice = heappop(self._events)
            self._step(choice)
        self.now = until
        return self

    def settle(self) -> Self:
        """Lets happen all that is due now."""
        return self.run(0)

    def run_until(self, name: Name, state: str) -> None:
        """Lets time go on, in small steps, until a server is in a state; not for longer than half a minute."""
        self._run_until(lambda: self.state(name) == state, f"{name} is never {state}")

    def run_until_sent(self, kind: type[Message]) -> None:
        """Lets time go on until a message of that kind has been sent since; not for longer than half a minute."""
        before = len(self.sent)

        def was_sent() -> bool:
            return any(isinstance(message, kind) for _, _, message in self.sent[before:])

        self._run_until(was_sent, f"nobody sends {kind.__name__}")

    def _run_until(self, reached: Callable[[], bool], otherwise: str) -> None:
        end = self.now + 30 * SECOND
        while not reached():
            assert self._events, otherwise
            assert self._events[0][0] <= end, otherwise
            self.now, _, choice = heappop(self._events)
            self._step(choice)

    def tell(self, to: Name, message: Message, sender: Name = "operator") -> None:
        """A message from outside, which arrives at once."""
        self.inform(to, Received(sender, message))

    def play(self, name: Name, make: Callable[[Setup], PlayedT]) -> PlayedT:
        """Starts a process that the system does not have, or starts it again."""
        process = self.processes.setdefault(name, Process(Member(name, "played")))
        process.incarnation, process.start_us = process.incarnation + 1, None
        node = make(Setup(name, process.incarnation, dict(process.durable), self.options))
        process.node = node
        self.give(process, Started())
        return node

    def inform(self, name: Name, given: Input) -> None:
        """Hands an input to a process."""
        self.give(self.processes[name], given)

    def part(self, one: Name, *others: Name) -> None:
        """Nothing arrives between one and others."""
        for other in others:
            self.cut |= {(one, other), (other, one)}

    def heal(self) -> None:
        """Everything arrives again."""
        self.cut.clear()

    def hold(self, sender: Name, to: Name) -> None:
        """Messages in this direction wait until `release`."""
        self.held.add((sender, to))

    def holds(self, sender: Name, to: Name, message: Any) -> bool:
        """Whether what is due to arrive waits until `release`."""
        return (sender, to) in self.held

    def release(self, *ways: tuple[Name, Name], lost: bool = False) -> None:
        """What was held in these directions (none: in all) passes now, or (`lost`) never does."""
        for way in sorted(ways or self.held):
            self.held.discard(way)
            for _ in range(len(self.links.get(way, ()))):
                if lost:
                    self.do(("drop", *way))
                else:
                    self._due(0, ("deliver", *way))
        self.settle()

    def unslow(self, name: Name) -> None:
        """Writes that were held back are done."""
        self.slow.discard(name)
        process = self.processes[name]
        for _ in process.writes:
            self._due(0, ("disk", name))
        for _ in process.requests:
            self._due(0, ("host", name))

    def lose_lock(self, lock: Name, *, tell: bool = False) -> None:
        """A lock's host forgets its holder, and (`tell`) the holder learns of it at once."""
        holder = self.holders.pop(lock)
        if tell:
            self.inform(holder, LockLost(lock))

    # ---- what a story looks at ----

    @property
    def nodes(self) -> dict[Name, Node]:
        """The processes that run."""
        return {name: process.node for name, process in self.processes.items() if process.node is not None}

    @property
    def disks(self) -> dict[Name, dict[str, bytes]]:
        """What is on the disks of members."""
        return {name: process.durable for name, process in self.processes.items()}

    @property
    def shared(self) -> dict[Name, dict[str, bytes]]:
        """What is on shared disks."""
        return {name: host.content for name, host in self.hosts.items()}

    @property
    def holders(self) -> Holders:
        """Who holds which lock; a story may give one to who is no member, too."""
        return Holders(self)

    @property
    def incarnations(self) -> dict[Name, int]:
        """How often processes were started before."""
        return {name: process.incarnation for name, process in self.processes.items()}

    def events(self, name: Name = "", since: int = 0) -> list[str]:
        """What was recorded."""
        return [record.event for at, member, record in self.log if at >= since and name in ("", member)]

    def lines(self, name: Name = "", since: int = 0) -> list[int]:
        """The lines that brokers wrote, by the product's numbers."""
        shown = [record.fields.get("amq", 0) for at, who, record in self.log if at >= since and name in ("", who)]
        return [number for number in shown if number]

    def fields(self, event: str, name: Name = "") -> list[Mapping[str, Any]]:
        """The fields of all records of an event."""
        return [record.fields for _, member, record in self.log if record.event == event and name in ("", member)]

    def serving(self) -> tuple[Name, ...]:
        """Who serves."""
        return self.system.serving(self.nodes)

    def state(self, name: Name) -> str:
        """A broker's state, in words."""
        return str(self.nodes[name].broker.state.value)  # type: ignore[attr-defined]

    def verdict(self) -> list[Broken]:
        """What is broken."""
        return list(self.oracle.verdict(self.now, self.disks | self.shared, self.nodes))

    def promises_broken(self) -> set[str]:
        """Which promises are."""
        return {broken.promise for broken in self.verdict()}

    # ---- when steps come ----

    def _step(self, choice: Choice) -> None:
        """Takes a step that is due, unless there is nothing to it any more or the story holds it."""
        match choice:
            case ("deliver" | "drop", sender, to):
                queue = self.links.get((sender, to))
                if not queue or self.holds(sender, to, queue[0]):
                    return
                lost = (sender, to) in self.cut or (isinstance(queue[0], Message) and self.loses(queue[0]))
                if self.unstarted_is_silent and to in self.processes and self.processes[to].incarnation < 0:
                    lost = True
                if to in self.processes or lost:
                    self.do(("drop", sender, to) if lost else choice)
                else:
                    self.inbox.setdefault(to, []).append(queue.popleft())
            case ("disk", name):
                if self.processes[name].writes and name not in self.slow:
                    self.do(("disk-fails", name) if name in self.failing else choice)
            case ("host", name):
                process = self.processes[name]
                if process.requests and not (name in self.slow and isinstance(process.requests[0], Write)):
                    host = getattr(process.requests[0], "lock", "") or process.requests[0].shared
                    full = name in self.failing and isinstance(process.requests[0], Write)
                    self.do(("host-fails", name) if (name, host) in self.cut or full else choice)
            case ("timer", name):
                process = self.processes[name]
                if process.timers and min(process.timers.values()) <= self._clock(name):
                    self.do(choice)

    def give(self, process: Process, given: Input) -> None:
        """Hands in an input, by the clock of the stage."""
        process.now_us = self._clock(process.member.name)
        super().give(process, given)

    def _clock(self, name: Name) -> int:
        return self.now + self.ahead.get(name, 0)

    def put_under_way(self, sender: Name, to: Name, message: Any) -> None:
        """It arrives after a while."""
        super().put_under_way(sender, to, message)
        self._due(self.hop_us, ("deliver", sender, to))

    def send_outside(self, sender: Name, effect: Send) -> None:
        """A message to who is played by the story."""
        self.sent.append((sender, effect.to, effect.message))
        self.put_under_way(sender, effect.to, effect.message)

    def carried_out(self, process: Process, effect: Any) -> None:
        """What it leads to is due after a while."""
        name = process.member.name
        match effect:
            case Send():
                self.sent.append((name, effect.to, effect.message))
            case SetTimer(_, after_us):
                self._due(max(after_us, 0), ("timer", name))
            case Write(shared=""):
                self._due(self.write_us, ("disk", name))
            case Write():
                self._due(self.write_us, ("host", name))
            case ReadShared() | TryLock() | Unlock():
                self._due(self.hop_us, ("host", name))
            case Halt(reason):
                self.halted[name] = reason
                self.oracle.crashed(self.now, name)

    def _due(self, after_us: int, choice: Choice) -> None:
        self._number += 1
        heappush(self._events, (self.now + after_us, self._number, choice))

    def _recorded(self, name: Name, record: Record) -> None:
        self.log.append((self.now, name, record))
        self.oracle.saw(self.now, name, record)


class Holders(MutableMapping[Name, Name]):
    """The locks that somebody holds, by lock."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage

    def __getitem__(self, lock: Name) -> Name:
        holder = self.stage.hosts[lock].holder
        if holder is None:
            raise KeyError(lock)
        return holder[0]

    def __setitem__(self, lock: Name, name: Name) -> None:
        process = self.stage.processes.get(name)
        self.stage.hosts[lock].holder = (name, process.incarnation if process else 0)

    def __delitem__(self, lock: Name) -> None:
        self.stage.hosts[lock].holder = None

    def __iter__(self) -> Iterator[Name]:
        return (name for name, host in self.stage.hosts.items() if host.holder is not None)

    def __len__(self) -> int:
        return sum(1 for _ in self)
