"""What runners need to know of a protocol to run a cluster of it: who takes part, and what was promised."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from msgspec import Struct

from hacheck.impl.node import Message, Name, Node, Record, Setup

ANSWERED = "told"
"""The record in which a client says that it was answered; `outcome`: how, `ok` (or no such field) if all is well."""


class Member(Struct, frozen=True):
    """A process of a cluster. `role`: `replica`, `client`, `resource-manager`, … as its protocol calls it.

    `shared`: the shared disks it can reach; `locks`: the locks it may take. Each is on the host named after it, so that
    a network can cut a member off from it.
    """

    name: Name
    role: str
    shared: tuple[str, ...] = ()
    locks: tuple[str, ...] = ()


class Refused(Exception):
    """A cluster cannot be run as the user wants: what is wrong, and what to do instead."""


class Broken(Struct, frozen=True):
    """A promise that a run broke. `promise`: its name. `story`: what happened, for people. `at_us`: when, in
    microseconds of true time."""

    promise: str
    story: str
    at_us: int


class Oracle(Protocol):
    """Watches a run from outside and compares what clients were answered with what is there."""

    def saw(self, at_us: int, member: Name, record: Record) -> None:
        """A record of a member, in true order of time. `at_us`: microseconds of true time, which no member knows."""
        ...

    def crashed(self, at_us: int, member: Name) -> None:
        """A member lost its memory."""
        ...

    def verdict(
        self, at_us: int, durable: Mapping[Name, Mapping[str, bytes]], nodes: Mapping[Name, Node]
    ) -> Sequence[Broken]:
        """What is broken, at the end of a run: after all faults have ended and a quiet phase long enough for the
        protocol to serve again. `durable`: what each disk (shared ones by their names) has; `nodes`: those that run."""
        ...


class System(Protocol):
    """A protocol as something that can be run."""

    name: str
    """`icestorm`, `fiorano-replicated`, …: what `hacheck simulate-impl` and `hacheck cluster` call it."""

    messages: tuple[type[Message], ...]
    """Every kind of message, for the wire."""

    def options(self, given: Mapping[str, str]) -> Any:
        """Settings from text. Errors: `Refused`, naming the setting, what it may be, and the nearest name."""
        ...

    def members(self, replicas: int, clients: int, options: Any) -> tuple[Member, ...]:
        """Who takes part. Errors: `Refused`, such as for fewer replicas than the protocol allows."""
        ...

    def start(self, member: Member, members: tuple[Member, ...], setup: Setup) -> Node:
        """A process that has just been started. Errors: `Refused`, where it must not start: a disk from a newer
        version, an id that another has."""
        ...

    def oracle(self, members: tuple[Member, ...], options: Any) -> Oracle:
        """Who compares what clients were answered with what is there."""
        ...

    def quiet_us(self, options: Any) -> int:
        """How long after the last fault the protocol may take to serve again, in microseconds."""
        ...

    def serving(self, nodes: Mapping[Name, Node]) -> tuple[Name, ...]:
        """Which of these processes believe that clients are to turn to them: the coordinator, the primary, the live
        server. None, one or, where something is wrong, several, in the order given. Faults that hit the process that
        matters most look here. Cost: small, since it is called for each such fault."""
        ...

    def survives(self) -> Iterator[str]:
        """The faults under which the protocol promises to lose no acknowledged update: kinds as the simulator calls
        them, `crash`, or kinds with who is hit, `crash/minority`."""
        ...
