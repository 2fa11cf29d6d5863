"""Clients of brokers without a cluster: applications that an operator tells where to go, and one that nobody told.

**Source:** survey of broker failover protocols, section 1.10.
"""

from __future__ import annotations

import msgspec
from msgspec import Struct

from hacheck.impl.node import Effect, Input, Name, Send, Setup, Write, WriteFailed, Written
from hacheck.impl.protocols.qpid.client import Client
from hacheck.impl.protocols.qpid.options import Options
from hacheck.impl.protocols.qpid.orders import GoneOver, GoOver
from hacheck.impl.system import Refused

KEY = "application"
VERSION = 1


class StoredApplication(Struct, frozen=True):
    """The broker that an application uses for good."""

    broker: Name
    version: int = VERSION


class Application(Client):
    """A client that goes over to another broker when it is told to. `broker`: that one, once it is on its disk."""

    def __init__(self, setup: Setup, options: Options, source: Name, index: int) -> None:
        self.broker = _read(setup.durable.get(KEY), setup.member)
        super().__init__(setup, options, (self.broker or source,), index)
        self._messages[GoOver] = self._go_over
        self._ordered: dict[int, tuple[Name, Name]] = {}

    def handle(self, given: Input, now_us: int) -> list[Effect]:
        """What is to be done about an input."""
        if not isinstance(given, Written | WriteFailed):
            return super().handle(given, now_us)
        out = self.host.begin(now_us)
        sender, to = self._ordered.pop(given.token)
        if isinstance(given, Written):
            self._use(to)
            out.append(Send(sender, GoneOver(to)))
        return out

    def _go_over(self, sender: Name, order: GoOver) -> None:
        if self.broker == order.to:
            self.host.out.append(Send(sender, GoneOver(order.to)))
            return
        token = len(self._ordered)
        if token == 0:
            self._ordered[token] = (sender, order.to)
            kept = msgspec.msgpack.encode(StoredApplication(order.to))
            self.host.out.append(Write(token, ((KEY, kept),)))

    def _use(self, to: Name) -> None:
        self.broker = to
        self.host.record("gone_over", to=to)
        self.addresses, self.next = (to,), 0
        if self.channel is not None:
            self._disconnected("told to use another broker")
        self._connect()


class Reader(Client):
    """A client that consumes from a copy while others use the first broker, as nothing keeps it from doing."""

    def __init__(self, setup: Setup, options: Options, copy: Name, index: int) -> None:
        super().__init__(setup, options, (copy,), index)
        self.consumes = True

    def _send(self) -> None:
        """It sends nothing."""


def _read(raw: bytes | None, member: Name) -> Name:
    if raw is None:
        return ""
    try:
        stored = msgspec.msgpack.decode(raw, type=StoredApplication)
    except msgspec.MsgspecError as error:
        raise Refused(f"the disk of {member} cannot be read ({error}): erase it") from error
    if stored.version != VERSION:
        raise Refused(f"the disk of {member} has format {stored.version}; this client reads {VERSION}")
    return stored.broker
