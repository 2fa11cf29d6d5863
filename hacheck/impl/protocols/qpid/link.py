"""A broker's own connection to another one: it tries addresses in turn until one takes it.

**Source:** overview of the HA module, "Locating the Primary"; survey of broker failover protocols, sections 1.4, 1.7.
"""

from __future__ import annotations

from hacheck.impl.node import Name
from hacheck.impl.protocols.qpid.objects import Info
from hacheck.impl.protocols.qpid.process import Channel, Process

LINK = "link"


class Link:
    """`next`: which address comes next. `channel`: the connection that there is, or was requested."""

    __slots__ = ("_every_us", "_process", "_purpose", "addresses", "channel", "next")

    def __init__(self, process: Process, addresses: tuple[Name, ...], purpose: str, every_us: int) -> None:
        self._process = process
        self._purpose = purpose
        self._every_us = every_us
        self.addresses = addresses
        self.next = 0
        self.channel: Channel | None = None

    def maintain(self, about: Info) -> None:
        """Time to look after it: without a connection, or with one that nobody answers, the next address is tried."""
        self._process.set_timer(LINK, self._every_us)
        if self.channel is not None and self.channel.is_up:
            return
        if self.channel is not None:
            self._process.forget(self.channel)
            self.channel = None
        if self.addresses:
            address = self.addresses[self.next]
            self.next = (self.next + 1) % len(self.addresses)
            self.channel = self._process.connect(address, self._purpose, about)

    def is_lost(self, channel: Channel) -> bool:
        """A connection is closed: whether it was this one."""
        if channel is not self.channel:
            return False
        self.channel = None
        return True
