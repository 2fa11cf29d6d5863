"""The client library as a system: producers and consumers, and brokers over a shared store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hacheck.impl.kit.settings import read_settings
from hacheck.impl.node import Message, Node, Setup
from hacheck.impl.protocols.artemis.client_library.applications import ORDERS, Consumer, Producer
from hacheck.impl.protocols.artemis.client_library.library import Library
from hacheck.impl.protocols.artemis.client_library.options import ClientOptions
from hacheck.impl.protocols.artemis.client_library.oracle import ClientOracle
from hacheck.impl.protocols.artemis.messages import MESSAGES
from hacheck.impl.protocols.artemis.session_messages import CLIENT_MESSAGES, Wanted
from hacheck.impl.protocols.artemis.sessions import TEMPORARY, SessionServer
from hacheck.impl.protocols.artemis.shared_store.server import SharedStoreBroker
from hacheck.impl.protocols.artemis.system import SharedStore
from hacheck.impl.system import Member, Oracle


class ClientSystem(SharedStore):
    """A primary and its backups over a shared store; every other client produces, the others consume."""

    name = "artemis-client"
    messages: tuple[type[Message], ...] = (*MESSAGES, *CLIENT_MESSAGES)

    def options(self, given: Mapping[str, str]) -> ClientOptions:
        """Settings from text."""
        return read_settings(ClientOptions, given)

    def start(self, member: Member, members: tuple[Member, ...], setup: Setup) -> Node:
        """A broker or a client."""
        if member.role == "client":
            return client(member, members, setup)
        return SharedStoreBroker(member, members, setup, SessionServer)

    def oracle(self, members: tuple[Member, ...], options: Any) -> Oracle:
        """Compares what clients were answered with what is there, and with what they did."""
        return ClientOracle(members, options)

    def quiet_us(self, options: Any) -> int:
        """As long as the brokers may take, and the longest pause between two tries to connect."""
        given: ClientOptions = options
        return super().quiet_us(options) + 2 * (given.max_retry_us + given.connection_ttl_us * 3)

    def survives(self) -> Iterator[str]:
        """What brokers over a shared store survive, with the defaults: local transactions, duplicate ids, and a record
        of what was handled."""
        yield from super().survives()


def client(member: Member, members: tuple[Member, ...], setup: Setup) -> Library:
    """A client with its application."""
    servers = tuple(one.name for one in members if one.role in ("primary", "backup"))
    clients = [one.name for one in members if one.role == "client"]
    options: ClientOptions = setup.options
    produces = clients.index(member.name) % 2 == 0
    if produces:
        wanted = Wanted(options.session)
    else:
        temporary = f"{TEMPORARY}{member.name}.{setup.incarnation}"
        wanted = Wanted(options.session, (temporary, ORDERS), temporary)
    library = Library(servers, wanted, setup)
    library.application = Producer(library, setup) if produces else Consumer(library, setup)
    return library


CLIENT = ClientSystem()
