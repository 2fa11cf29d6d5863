"""The HA channel between the two servers: a connection with two ends, a heartbeat, and what is said on it.

A connection is known by the names of its two ends. Who gives it up takes a new end, and the other one learns of that
from its first `Hello`: so both lose the same connection, and nothing that was said on an old one counts on a new one.
Source: Replicated High Availability Working (replication channel, heartbeat); broker facts F-R1.
"""

from __future__ import annotations

from enum import Enum

from hacheck.impl.node import Message, Name
from hacheck.impl.protocols.fiorano.messages import Beat, Hello, OnChannel
from hacheck.impl.protocols.fiorano.process import Process


class Link(Enum):
    """What a server knows of the channel. `CONNECTING`: since it started; nobody knows yet whether the peer is dead."""

    CONNECTING = "connecting"
    UP = "up"
    DOWN = "down"


class Channel:
    """One end. `link`: what is known. `closed`: no new connection is made, until what to do without is decided."""

    __slots__ = ("_heard_us", "_mine", "_peer", "_process", "_theirs", "closed", "in_name", "link", "out_name")

    def __init__(self, process: Process, peer: Name) -> None:
        self._process = process
        self._peer = peer
        self._mine = process.fresh()
        self._theirs = ""
        self._heard_us = 0
        self.link = Link.CONNECTING
        self.closed = False
        self.in_name = self.out_name = ""

    def send(self, message: Message) -> None:
        """Says something to the peer."""
        self._process.send(self._peer, message)

    def hello(self, given: Hello) -> bool:
        """The peer's end shows itself. Returns whether the connection is new; one that was up is broken before."""
        if self.closed:
            return False
        if self.link is Link.UP:
            if given.mine != self._theirs:
                self.give_up()
            return False
        self._theirs = given.mine
        if given.yours != self._mine:
            self.send(Hello(self._mine, self._theirs))
            return False
        self.send(Hello(self._mine, self._theirs))
        self.link = Link.UP
        self._heard_us = self._process.now_us
        self.out_name, self.in_name = f"{self._mine}/{self._theirs}", f"{self._theirs}/{self._mine}"
        return True

    def heeded(self, given: OnChannel) -> bool:
        """Whether a message belongs to the connection that is up."""
        if self.link is not Link.UP or given.link != self.in_name:
            return False
        self._heard_us = self._process.now_us
        return True

    def give_up(self) -> None:
        """The connection is broken, or there is none to be had."""
        self.link = Link.DOWN
        self._mine = self._process.fresh()
        self._theirs = ""
        self.in_name = self.out_name = ""

    def beat(self, timeout_us: int) -> None:
        """Gives a sign of life, and gives up a peer that gave none for too long."""
        if self.link is Link.UP:
            if self._process.now_us - self._heard_us > timeout_us:
                self.give_up()
            else:
                self.send(Beat(self.out_name))
        if self.link is not Link.UP and not self.closed:
            self.send(Hello(self._mine, self._theirs))
