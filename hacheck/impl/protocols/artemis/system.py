"""The two systems: brokers over a shared store, and brokers with replication."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hacheck.impl.node import Message, Name, Node, Setup
from hacheck.impl.protocols.artemis.client import Client
from hacheck.impl.protocols.artemis.judge import BrokerJudge
from hacheck.impl.protocols.artemis.messages import MESSAGES
from hacheck.impl.protocols.artemis.options import SECOND, SharedStoreOptions, read_options
from hacheck.impl.protocols.artemis.shared_broker import BACKUP_LOCK, PRIMARY_LOCK, STORE
from hacheck.impl.protocols.artemis.shared_store import SharedStoreBroker
from hacheck.impl.system import Judge, Member, Refused


def serving(nodes: Mapping[Name, Node]) -> tuple[Name, ...]:
    """Who serves, among these."""
    return tuple(name for name, node in nodes.items() if getattr(node, "serving", False))


class SharedStore:
    """One primary and its backups over a shared store."""

    name = "artemis-shared-store"
    messages: tuple[type[Message], ...] = MESSAGES

    def options(self, given: Mapping[str, str]) -> SharedStoreOptions:
        """Settings from text."""
        return read_options(SharedStoreOptions, given)

    def members(self, replicas: int, clients: int, options: Any) -> tuple[Member, ...]:
        """A primary, and all other replicas its backups."""
        if replicas < 2:
            raise Refused(f"a primary and a backup are 2 replicas at least, not {replicas}; ask for 2 or more")
        shared, locks = (STORE,), (PRIMARY_LOCK, BACKUP_LOCK)
        return (
            Member("primary-1", "primary", shared, locks),
            *(Member(f"backup-{n}", "backup", shared, locks) for n in range(1, replicas)),
            *(Member(f"client-{n}", "client") for n in range(1, clients + 1)),
        )

    def start(self, member: Member, members: tuple[Member, ...], setup: Setup) -> Node:
        """A broker or a client."""
        if member.role == "client":
            return Client(member, members, setup)
        return SharedStoreBroker(member, members, setup)

    def judge(self, members: tuple[Member, ...], options: Any) -> Judge:
        """Compares what clients were told with what is there."""
        return BrokerJudge(members)

    def quiet_us(self, options: Any) -> int:
        """As long as a take-over may take, after a primary's mark has to be given up."""
        given: SharedStoreOptions = options
        waits = 2 * given.failback_wait_us + 4 * given.poll_us + 2 * given.monitor_us + given.lock_error_wait_us
        return waits + 2 * given.connection_ttl_us + given.call_timeout_us + 3 * given.reconnect_us + 20 * SECOND

    def serving(self, nodes: Mapping[Name, Node]) -> tuple[Name, ...]:
        """Who serves."""
        return serving(nodes)

    def survives(self) -> Iterator[str]:
        """What costs no acknowledged message as long as locks are what they seem."""
        yield from ("crash", "power", "pause", "reset", "clock-rate", "clock-jump", "lock-late")


SHARED_STORE = SharedStore()
