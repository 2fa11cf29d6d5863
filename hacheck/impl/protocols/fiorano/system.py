"""The two systems: a pair of servers with a copy of the database each, and a pair that shares one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from hacheck.impl.kit.settings import SECOND_US, read_settings
from hacheck.impl.node import Message, Name, Node, Setup
from hacheck.impl.protocols.fiorano.client import Client
from hacheck.impl.protocols.fiorano.database import DATABASE
from hacheck.impl.protocols.fiorano.lock_file import GATEWAY
from hacheck.impl.protocols.fiorano.messages import MESSAGES
from hacheck.impl.protocols.fiorano.options import PairOptions, ReplicatedOptions, SharedOptions
from hacheck.impl.protocols.fiorano.oracle import PairOracle
from hacheck.impl.protocols.fiorano.replicated import ReplicatedServer
from hacheck.impl.protocols.fiorano.shared import SharedServer
from hacheck.impl.system import Member, Oracle, Refused


def pair(replicas: int, clients: int, shared: tuple[str, ...]) -> tuple[Member, ...]:
    """Two servers, and clients. Errors: `Refused`."""
    if replicas != 2:
        raise Refused(f"a pair is 2 replicas, not {replicas}; ask for 2")
    return (
        Member("primary", "server", shared, (GATEWAY,)),
        Member("backup", "server", shared, (GATEWAY,)),
        *(Member(f"client-{n}", "client") for n in range(1, clients + 1)),
    )


def serving(nodes: Mapping[Name, Node]) -> tuple[Name, ...]:
    """Who serves, among these."""
    return tuple(name for name, node in nodes.items() if getattr(node, "serving", False))


def quiet_us(options: PairOptions) -> int:
    """As long as a broken channel, a lock that is kept for the dead, and two rounds of a client may take."""
    waits = 3 * options.socket_timeout_us + options.connect_us + 2 * options.lock_timeout_us + 3 * options.lock_check_us
    return waits + 4 * options.call_timeout_us + 2 * options.reconnect_us + 20 * SECOND_US


class Pair(Struct, frozen=True):
    """A pair of servers, in one of its two modes. `kind`: of its servers; `settings`: of its settings; `shared`: the
    disks that both reach; `survived`: what costs no acknowledged message."""

    name: str
    kind: type[ReplicatedServer] | type[SharedServer]
    settings: type[PairOptions]
    shared: tuple[str, ...]
    survived: tuple[str, ...]
    messages: tuple[type[Message], ...] = MESSAGES

    def options(self, given: Mapping[str, str]) -> PairOptions:
        """Settings from text."""
        return read_settings(self.settings, given)

    def members(self, replicas: int, clients: int, options: Any) -> tuple[Member, ...]:
        """Two servers, and clients."""
        return pair(replicas, clients, self.shared)

    def start(self, member: Member, members: tuple[Member, ...], setup: Setup) -> Node:
        """A server or a client."""
        kind = Client if member.role == "client" else self.kind
        return kind(member, members, setup)

    def oracle(self, members: tuple[Member, ...], options: Any) -> Oracle:
        """Compares what clients were answered with what is there."""
        given: PairOptions = options
        return PairOracle(members, once=given.detect_duplicates)

    def quiet_us(self, options: Any) -> int:
        """How long it may take to serve again."""
        return quiet_us(options)

    def serving(self, nodes: Mapping[Name, Node]) -> tuple[Name, ...]:
        """Who serves."""
        return serving(nodes)

    def survives(self) -> Iterator[str]:
        """What costs no acknowledged message."""
        yield from self.survived


REPLICATED = Pair(
    "fiorano-replicated",
    ReplicatedServer,
    ReplicatedOptions,
    (GATEWAY,),
    (
        *("pause", "reset", "slow", "cut", "crash/client", "power/client"),
        *("clock-rate", "clock-jump", "disk-slow", "lock-late", "lock-stale"),
    ),
)
"""In replicated mode. The gateway has the lock file, which can be written.

No acknowledged message is lost as long as the lock stays with the server that has the newest data. Of two that end one
after the other the second may be the only one that has what it served alone, and the documented protocol lets the first
start without it (F-W3): it survives the end of one that is in step with its peer, and of any, at any time, only with
`epochs_in_lock_file`.
"""

SHARED = Pair(
    "fiorano-shared",
    SharedServer,
    SharedOptions,
    (DATABASE,),
    (
        *("crash", "power", "pause", "reset", "cut/pair", "cut/client", "clock-rate", "clock-jump"),
        *("disk-slow", "lock-late", "lock-stale"),
    ),
)
"""In shared mode. No acknowledged message is lost as long as a lock is held by the one who has it, and nothing that a
server wrote arrives after the other has activated: neither is so with cuts and slow ways to the database."""
