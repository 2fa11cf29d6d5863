"""Clients of brokers without a cluster: applications that an operator sends elsewhere, and one that no operator
instructs.

**Source:** survey of broker failover protocols, section 1.10.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from msgspec import Struct

from hacheck.impl.kit.storage import decode, encode
from hacheck.impl.node import Input, Name, Setup, WriteFailed, Written
from hacheck.impl.protocols.qpid.client import Client
from hacheck.impl.protocols.qpid.options import Options
from hacheck.impl.protocols.qpid.orders import GoneOver, GoOver

KEY = "application"
VERSION = 1


class StoredApplication(Struct, frozen=True):
    """The broker that an application uses for good."""

    broker: Name
    version: int = VERSION


class Application(Client):
    """A client that goes over to another broker when it is ordered to. `broker`: that one, once it is on its disk."""

    def __init__(self, setup: Setup, options: Options, source: Name, index: int) -> None:
        raw = setup.durable.get(KEY)
        self.broker = decode(raw, StoredApplication, f"the choice of {setup.member}").broker if raw is not None else ""
        super().__init__(setup, options, (self.broker or source,), index)
        self._messages[GoOver] = self._go_over
        self._ordered: dict[int, tuple[Name, Name]] = {}

    def _written(self, given: Written) -> None:
        sender, to = self._ordered.pop(given.token)
        self._use(to)
        self.process.send(sender, GoneOver(to))

    def _write_failed(self, given: WriteFailed) -> None:
        del self._ordered[given.token]

    def _go_over(self, sender: Name, order: GoOver) -> None:
        if self.broker == order.to:
            self.process.send(sender, GoneOver(order.to))
            return
        if not self._ordered:
            self._ordered[self.process.write(((KEY, encode(StoredApplication(order.to))),))] = (sender, order.to)

    def _use(self, to: Name) -> None:
        self.broker = to
        self.process.record("gone_over", to=to)
        self.addresses, self.next = (to,), 0
        if self.channel is not None:
            self._disconnected("ordered to use another broker")
        self._connect()

    inputs: ClassVar[Mapping[type[Input], Callable[[Any, Any], None]]] = {
        **Client.inputs,
        Written: _written,
        WriteFailed: _write_failed,
    }


class Reader(Client):
    """A client that consumes from a copy while others use the first broker, as nothing keeps it from doing."""

    def __init__(self, setup: Setup, options: Options, copy: Name, index: int) -> None:
        super().__init__(setup, options, (copy,), index)
        self.consumes = True

    def _send(self) -> None:
        """It sends nothing."""
