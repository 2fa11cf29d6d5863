"""Processes that do what a test tells them and remember what they were given, in a world of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from hacheck.impl.node import Effect, Fired, Input, Message, Name, Node, Received, Record, Send, Setup, Started
from hacheck.impl.simulator.fault_injection import Injector
from hacheck.impl.simulator.faults import Fault
from hacheck.impl.simulator.world import Surroundings, World
from hacheck.impl.system import Broken, Member, Oracle

HOST = "host"
US = 1_000_000


class Word(Message, frozen=True, gc=False):
    text: str


class Puppet:
    """`does`: called with each input and the process's own time, returns effects."""

    def __init__(self, strings: Strings, setup: Setup) -> None:
        self.strings, self.setup = strings, setup

    def handle(self, given: Input, now_us: int) -> list[Effect]:
        self.strings.given.append((self.setup.member, given, now_us))
        does = self.strings.does.get(self.setup.member)
        return [] if does is None else does(given, now_us)


class Strings:
    """A world of puppets. `given`: what each got, with its own time, in order of true time."""

    name = "puppets"
    messages = (Word,)

    def __init__(self, replicas: int = 2, faults: Sequence[Fault] = (), seed: str = "1") -> None:
        self.given: list[tuple[Name, Input, int]] = []
        self.does: dict[Name, Callable[[Input, int], list[Effect]]] = {}
        self.crashes: list[Name] = []
        self.setups: list[Setup] = []
        self.records: list[tuple[Name, Record]] = []
        self.world = World(self, self.members(replicas, 0, None), None, self, seed, Surroundings())
        self.injector = Injector(self.world)
        for fault in faults:
            self.injector.plan(fault)

    def run(self, until_us: int) -> None:
        """Goes on until then; starts everybody the first time."""
        if self.world.agenda.now == 0:
            for process in self.world.processes.values():
                self.world.start(process)
        self.world.run(until_us)

    def act(self, member: Name, *effects: Effect) -> None:
        """Makes a process do something now."""
        self.world._carry_out(self.world.processes[member], effects)

    def words(self, member: Name) -> list[str]:
        """The words that a process got, `!` for news that a peer is unreachable, timers by their names."""
        found = []
        for name, given, _ in self.given:
            if name != member or isinstance(given, Started):
                continue
            match given:
                case Received(_, Word(text)):
                    found.append(text)
                case Fired(timer):
                    found.append(timer)
                case _:
                    found.append("!" if type(given).__name__ == "Unreachable" else type(given).__name__)
        return found

    # ---- as a system, and its oracle ----

    def options(self, given: Mapping[str, str]) -> Any:
        return None

    def members(self, replicas: int, clients: int, options: Any) -> tuple[Member, ...]:
        return tuple(Member("abcdefgh"[n], "replica", (HOST,), (HOST,)) for n in range(replicas))

    def start(self, member: Member, members: tuple[Member, ...], setup: Setup) -> Node:
        self.setups.append(setup)
        return Puppet(self, setup)

    def oracle(self, members: tuple[Member, ...], options: Any) -> Oracle:
        return self

    def quiet_us(self, options: Any) -> int:
        return US

    def serving(self, nodes: Mapping[Name, Node]) -> tuple[Name, ...]:
        return tuple(nodes)[:1]

    def survives(self) -> Iterator[str]:
        yield "crash"

    def saw(self, at_us: int, member: Name, record: Record) -> None:
        self.records.append((member, record))

    def crashed(self, at_us: int, member: Name) -> None:
        self.crashes.append(member)

    def verdict(
        self, at_us: int, durable: Mapping[Name, Mapping[str, bytes]], nodes: Mapping[Name, Node]
    ) -> Sequence[Broken]:
        return ()


def send(to: Name, text: str) -> Send:
    """A word for somebody."""
    return Send(to, Word(text))
