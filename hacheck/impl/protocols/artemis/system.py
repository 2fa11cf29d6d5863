"""The two systems: brokers over a shared store, and brokers with replication."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hacheck.impl.kit.settings import SECOND_US, read_settings
from hacheck.impl.node import Message, Name, Node, Setup
from hacheck.impl.protocols.artemis.client import Client
from hacheck.impl.protocols.artemis.messages import MESSAGES
from hacheck.impl.protocols.artemis.options import ReplicationOptions, SharedStoreOptions
from hacheck.impl.protocols.artemis.oracle import BrokerOracle
from hacheck.impl.protocols.artemis.replication.server import Gateway, ReplicationBroker
from hacheck.impl.protocols.artemis.shared_store.broker import BACKUP_LOCK, PRIMARY_LOCK, STORE
from hacheck.impl.protocols.artemis.shared_store.server import SharedStoreBroker
from hacheck.impl.system import Member, Oracle, Refused


def serving(nodes: Mapping[Name, Node]) -> tuple[Name, ...]:
    """Who serves, among these."""
    return tuple(name for name, node in nodes.items() if getattr(node, "serving", False))


class SharedStore:
    """One primary and its backups over a shared store."""

    name = "artemis-shared-store"
    messages: tuple[type[Message], ...] = MESSAGES

    def options(self, given: Mapping[str, str]) -> SharedStoreOptions:
        """Settings from text."""
        return read_settings(SharedStoreOptions, given)

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

    def oracle(self, members: tuple[Member, ...], options: Any) -> Oracle:
        """Compares what clients were answered with what is there."""
        return BrokerOracle(members)

    def quiet_us(self, options: Any) -> int:
        """As long as a take-over may take, after a primary's mark has to be given up."""
        given: SharedStoreOptions = options
        waits = 2 * given.failback_wait_us + 4 * given.poll_us + 2 * given.monitor_us + given.lock_error_wait_us
        return waits + 2 * given.connection_ttl_us + given.call_timeout_us + 3 * given.reconnect_us + 20 * SECOND_US

    def serving(self, nodes: Mapping[Name, Node]) -> tuple[Name, ...]:
        """Who serves."""
        return serving(nodes)

    def survives(self) -> Iterator[str]:
        """What costs no acknowledged message as long as a lock is held by the one who has it, and nothing that a broker
        wrote arrives after another has taken over: neither is so with cuts and slow ways to the store. Those cost none
        with `verify_before_answer`."""
        yield from ("crash", "power", "pause", "reset", "clock-rate", "clock-jump", "lock-late", "cut/client")
        yield from ("disk-full", "disk-error", "disk-slow")


class Replication:
    """Pairs of brokers with replication, and backups to spare."""

    name = "artemis-replication"
    messages: tuple[type[Message], ...] = MESSAGES

    def options(self, given: Mapping[str, str]) -> ReplicationOptions:
        """Settings from text."""
        return read_settings(ReplicationOptions, given)

    def members(self, replicas: int, clients: int, options: Any) -> tuple[Member, ...]:
        """So many primaries as there are pairs; all other replicas are backups; a host to ping, if there is one."""
        given: ReplicationOptions = options
        pairs = given.pairs or replicas // 2
        if replicas < 2 or pairs >= replicas:
            raise Refused(
                f"{replicas} replicas are too few for {max(pairs, 1)} primaries and a backup; ask for "
                f"{max(pairs, 1) + 1} or more"
            )
        return (
            *(Member(f"primary-{n}", "primary") for n in range(1, pairs + 1)),
            *(Member(f"backup-{n}", "backup") for n in range(1, replicas - pairs + 1)),
            *((Member("gateway-1", "gateway"),) if given.network_check else ()),
            *(Member(f"client-{n}", "client") for n in range(1, clients + 1)),
        )

    def start(self, member: Member, members: tuple[Member, ...], setup: Setup) -> Node:
        """A broker, a client or the pinged host."""
        if member.role == "client":
            return Client(member, members, setup)
        if member.role == "gateway":
            return Gateway(setup)
        return ReplicationBroker(member, members, setup, group_of(member, members, setup.options))

    def oracle(self, members: tuple[Member, ...], options: Any) -> Oracle:
        """Compares what clients were answered with what is there."""
        return BrokerOracle(members)

    def quiet_us(self, options: Any) -> int:
        """As long as a start with a check, all tries of a vote, and the word of the one that stops may take."""
        given: ReplicationOptions = options
        tries = (given.vote_retries + 1) * given.vote_retry_wait_us
        waits = given.check_wait_us + tries + given.stop_called_wait_us + given.network_check_period_us
        return waits + 4 * given.connection_ttl_us + given.call_timeout_us + 3 * given.reconnect_us + 20 * SECOND_US

    def serving(self, nodes: Mapping[Name, Node]) -> tuple[Name, ...]:
        """Who serves."""
        return serving(nodes)

    def survives(self) -> Iterator[str]:
        """What costs no acknowledged message, and splits no pair, whatever the number of pairs is.

        Of its brokers a pair survives the end of one, and of the other one only after the first has everything again:
        the end of any, at any time, only with `last_server_starts` and `replica_ack=written`.
        """
        yield from ("crash/client", "power/client", "pause/client", "cut/client")
        yield from ("clock-jump", "clock-rate", "disk-slow")


def group_of(member: Member, members: tuple[Member, ...], options: ReplicationOptions) -> str:
    """The group of a broker: those of each role are dealt out to the groups by turns."""
    if not options.groups:
        return ""
    same_role = [other.name for other in members if other.role == member.role]
    return f"group-{same_role.index(member.name) % options.groups + 1}"


SHARED_STORE = SharedStore()
REPLICATION = Replication()
