"""The system of live servers that run backups for each other, with replication or over shared stores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from hacheck.impl.node import Effect, Input, Message, Name, Node, Setup, Started
from hacheck.impl.protocols.artemis.client import Client
from hacheck.impl.protocols.artemis.colocated.configuration import PORT_MAX
from hacheck.impl.protocols.artemis.colocated.messages import COLOCATED
from hacheck.impl.protocols.artemis.colocated.options import Settings, configuration_of, read
from hacheck.impl.protocols.artemis.colocated.oracle import ColocatedOracle
from hacheck.impl.protocols.artemis.colocated.process import ColocatedProcess
from hacheck.impl.protocols.artemis.colocated.server_host import Server, ServerHost
from hacheck.impl.protocols.artemis.messages import MESSAGES
from hacheck.impl.protocols.artemis.scale_down.system import places
from hacheck.impl.protocols.artemis.shared_store.broker import BACKUP_LOCK, PRIMARY_LOCK, STORE
from hacheck.impl.protocols.artemis.system import REPLICATION, SHARED_STORE
from hacheck.impl.system import Member, Oracle, Refused

SERVERS_MIN = 2


class Wanderer(Client):
    """A client for which the servers it was informed at first are not all there are."""

    def _known(self, connectors: tuple[Name, ...]) -> tuple[Name, ...]:
        return connectors


class ColocatedClient:
    """The process of such a client."""

    def __init__(self, member: Member, members: tuple[Member, ...], setup: Setup) -> None:
        self._hosting = ServerHost(member.name)
        self._hosting.add(Server(member.name, Wanderer(member, members, setup)))

    def handle(self, given: Input, now_us: int) -> list[Effect]:
        """What is to be done about an input."""
        hosting = self._hosting
        hosting.effects = []
        if isinstance(given, Started):
            hosting.give(hosting.servers[hosting.process], given, now_us)
        else:
            hosting.take(given, now_us)
        return hosting.effects


class Colocated:
    """Live servers, each in a process of its own with backups of others."""

    name = "artemis-colocated"
    messages: tuple[type[Message], ...] = (*MESSAGES, *COLOCATED)

    def options(self, given: Mapping[str, str]) -> Settings:
        """Settings from text."""
        return read(given)

    def members(self, replicas: int, clients: int, options: Any) -> tuple[Member, ...]:
        """So many processes with a live server each. Over shared stores each reaches all of them."""
        settings: Settings = options
        colocated = settings.colocated
        if replicas < SERVERS_MIN:
            raise Refused(f"servers that back each other up are 2 replicas at least, not {replicas}")
        if colocated.groups > replicas:
            raise Refused(f"{replicas} servers are too few for {colocated.groups} groups; ask for fewer groups")
        highest = (
            max(configuration_of(replicas, colocated).ports) + colocated.max_backups * colocated.backup_port_offset
        )
        if highest > PORT_MAX:
            raise Refused(f"the last backup would have the port {highest}, and {PORT_MAX} is the highest: take less")
        shared: tuple[Name, ...] = ()
        locks: tuple[Name, ...] = ()
        if settings.shared_store:
            stores = [places(number) for number in range(1, replicas + 1)]
            shared = tuple(store[STORE] for store in stores)
            locks = tuple(store[lock] for store in stores for lock in (PRIMARY_LOCK, BACKUP_LOCK))
        return (
            *(Member(f"server-{number}", "primary", shared, locks) for number in range(1, replicas + 1)),
            *(Member(f"client-{number}", "client") for number in range(1, clients + 1)),
        )

    def start(self, member: Member, members: tuple[Member, ...], setup: Setup) -> Node:
        """A process with its live server, or a client."""
        if member.role == "client":
            settings: Settings = setup.options
            return ColocatedClient(member, members, replace(setup, options=settings.servers))
        return ColocatedProcess(member, members, setup)

    def oracle(self, members: tuple[Member, ...], options: Any) -> Oracle:
        """Compares what clients were answered with what is there, and looks where backups are."""
        settings: Settings = options
        return ColocatedOracle(members, settings.colocated)

    def quiet_us(self, options: Any) -> int:
        """As long as the servers may take, and a few requests."""
        settings: Settings = options
        way = SHARED_STORE if settings.shared_store else REPLICATION
        return way.quiet_us(settings.servers) + 3 * settings.colocated.backup_request_retry_interval_us

    def serving(self, nodes: Mapping[Name, Node]) -> tuple[Name, ...]:
        """The processes in which a server serves."""
        return tuple(name for name, node in nodes.items() if getattr(node, "serving", False))

    def survives(self) -> Iterator[str]:
        """What costs no acknowledged message, and splits no pair. A process that ends takes the backups in it along:
        two that end, one after the other, may cost what a backup had acknowledged."""
        yield from ("crash/client", "power/client", "pause/client", "cut/client")
        yield from ("clock-jump", "clock-rate", "disk-slow")


COLOCATED_BACKUPS = Colocated()
