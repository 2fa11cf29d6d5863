"""A client of servers that back each other up: it turns to whichever server it is informed of, and knows its address.

Source: HornetQ manual, "Failover Modes"; "Colocated Backup Servers".
"""

from __future__ import annotations

from hacheck.impl.node import Effect, Input, Name, Setup, Started
from hacheck.impl.protocols.artemis.client import Client
from hacheck.impl.protocols.artemis.colocated.hosting import Hosting, Server
from hacheck.impl.system import Member


class Wanderer(Client):
    """A client for which the servers it was informed at first are not all there are."""

    def _known(self, connectors: tuple[Name, ...]) -> tuple[Name, ...]:
        return connectors


class ColocatedClient:
    """The process of such a client."""

    def __init__(self, member: Member, members: tuple[Member, ...], setup: Setup) -> None:
        self._hosting = Hosting(member.name)
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
