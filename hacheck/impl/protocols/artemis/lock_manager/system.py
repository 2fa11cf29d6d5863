"""Replication with a lock manager as a system: a primary, its backups, and the lock manager, a process of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hacheck.impl.kit.ledger import Incumbents
from hacheck.impl.kit.settings import SECOND_US, read_settings
from hacheck.impl.node import Message, Name, Node, Setup
from hacheck.impl.protocols.artemis.client import Client
from hacheck.impl.protocols.artemis.lock_manager.manager import LockManager
from hacheck.impl.protocols.artemis.lock_manager.messages import LOCK_MESSAGES
from hacheck.impl.protocols.artemis.lock_manager.options import SETTINGS_OF_VOTES, LockManagerOptions
from hacheck.impl.protocols.artemis.lock_manager.replication import LockManagedBroker
from hacheck.impl.protocols.artemis.messages import MESSAGES
from hacheck.impl.protocols.artemis.oracle import BrokerOracle
from hacheck.impl.protocols.artemis.system import serving
from hacheck.impl.system import Member, Oracle, Refused


class LockOracle(BrokerOracle):
    """As for all brokers; but here nobody may serve beside another, under whatever node id."""

    def __init__(self, members: tuple[Member, ...]) -> None:
        super().__init__(members)
        self._active = Incumbents(several=False)


class LockManaged:
    """A primary and its backups, or, with a coordination id, primaries alone."""

    name = "artemis-lock-manager"
    messages: tuple[type[Message], ...] = (*MESSAGES, *LOCK_MESSAGES)

    def options(self, given: Mapping[str, str]) -> LockManagerOptions:
        """Settings from text."""
        return read_settings(LockManagerOptions, given, without=SETTINGS_OF_VOTES)

    def members(self, replicas: int, clients: int, options: Any) -> tuple[Member, ...]:
        """So many brokers, the lock manager, and clients."""
        given: LockManagerOptions = options
        if replicas < 2:
            raise Refused(f"a primary and a backup are 2 replicas at least, not {replicas}; ask for 2 or more")
        primaries = replicas if given.coordination_id else 1
        return (
            *(Member(f"primary-{n}", "primary") for n in range(1, primaries + 1)),
            *(Member(f"backup-{n}", "backup") for n in range(1, replicas - primaries + 1)),
            Member("manager-1", "manager"),
            *(Member(f"client-{n}", "client") for n in range(1, clients + 1)),
        )

    def start(self, member: Member, members: tuple[Member, ...], setup: Setup) -> Node:
        """A broker, the lock manager or a client."""
        if member.role == "client":
            return Client(member, members, setup)
        if member.role == "manager":
            return LockManager(setup)
        return LockManagedBroker(member, members, setup)

    def oracle(self, members: tuple[Member, ...], options: Any) -> Oracle:
        """Compares what clients were answered with what is there."""
        return LockOracle(members)

    def quiet_us(self, options: Any) -> int:
        """As long as a session that is over may be taken for alive, all steps of a take-over, and a failback."""
        given: LockManagerOptions = options
        waits = 3 * given.manager_ttl_us + 6 * given.manager_patience_us + given.claim_wait_us
        waits += given.initial_replication_sync_timeout_us + given.stop_called_wait_us
        return waits + 4 * given.connection_ttl_us + given.call_timeout_us + 3 * given.reconnect_us + 20 * SECOND_US

    def serving(self, nodes: Mapping[Name, Node]) -> tuple[Name, ...]:
        """Who serves."""
        return serving(nodes)

    def survives(self) -> Iterator[str]:
        """What costs no acknowledged message, and lets nobody serve beside another: the end of the one that serves, by
        its disk, too, links that fail, to each other and to the manager, and clocks that jump.

        Not a pause that outlasts the lock, nor a manager that loses what it keeps. Not the end of a replica, if the one
        that serves is then stopped before the next number is its own, by a cut is enough: the replica has answered what
        was not on its disk, and its number says nothing of that (AR-15, a double failure). With `replica_ack=written`
        the end of any broker, or of its disk, at any time, costs nothing either."""
        yield from ("crash/coordinator", "disk-full/coordinator", "disk-error/coordinator", "disk-slow")
        yield from ("cut", "reset", "clock-jump", "power/client", "pause/client")


LOCK_MANAGED = LockManaged()
