"""The connections of one process: one to each member it sends to, through the keeper, and those of others to it.

Between two members there is one connection for each direction. When either breaks, both are closed, and the node is
given `Unreachable` once: what was on its way may be lost, in both directions. Guests (tools for administrators) have
one connection, on which they are answered."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec

from hacheck.impl.node import Input, Message, Name, Received, Unreachable
from hacheck.impl.runtime.frames import (
    VERSION,
    Damaged,
    Frames,
    Hello,
    Refusal,
    frame,
    objection,
    read_hello,
    read_message,
)

HOST = "127.0.0.1"
UNSENT_BYTES_MAX = 64 << 20
"""A peer that does not take in more than this is hung up on."""


class Outgoing(asyncio.Protocol):
    """The connection to a member. `waiting`: frames for as long as it is not there yet."""

    def __init__(self, links: Links, peer: Name) -> None:
        self.links, self.peer = links, peer
        self.transport: asyncio.Transport | None = None
        self.waiting: list[bytes] = []
        self.frames = Frames()
        self.over = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """It is there."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        if self.over:
            transport.abort()
            return
        transport.writelines([self.links.hello(self.peer), *self.waiting])
        self.waiting.clear()

    def send(self, data: bytes) -> None:
        """Sends a frame, or keeps it until there is a connection."""
        if self.transport is None:
            self.waiting.append(data)
            return
        self.transport.write(data)
        if self.transport.get_write_buffer_size() > UNSENT_BYTES_MAX:
            self.links.note(f"{self.peer} takes nothing in: the connection is given up")
            self.transport.abort()

    def data_received(self, data: bytes) -> None:
        """Members answer on connections of their own; here comes nothing but a refusal."""
        try:
            for content in self.frames.feed(data):
                refusal = msgspec.msgpack.decode(content, type=Refusal)
                self.links.note(f"{self.peer} refuses the connection: {refusal.reason}")
        except (Damaged, msgspec.DecodeError, UnicodeDecodeError) as error:
            self.links.note(f"{self.peer} sends what cannot be understood: {error}")
            self.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """It has broken, or was closed."""
        if not self.over:
            self.links.broken(self.peer, self)

    def close(self) -> None:
        """No more of it."""
        self.over = True
        if self.transport is not None:
            self.transport.abort()


class Incoming(asyncio.Protocol):
    """A connection from a member or a guest. `hello`: `None` until it has said who it is."""

    def __init__(self, links: Links) -> None:
        self.links = links
        self.transport: asyncio.Transport | None = None
        self.frames = Frames()
        self.hello: Hello | None = None
        self.over = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """It is there."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        """Frames: the hello, then messages."""
        try:
            for content in self.frames.feed(data):
                if self.over:
                    return
                if self.hello is None:
                    self._greeted(content)
                else:
                    self.links.give(Received(self.hello.sender, read_message(self.links.decoder, content)))
        except Damaged as damage:
            sender = self.hello.sender if self.hello else "somebody"
            self.links.note(f"{sender} sends what cannot be understood: {damage}")
            self._refuse(str(damage))

    def _greeted(self, content: bytes) -> None:
        hello = read_hello(content)
        wrong = objection(hello, self.links.token, self.links.system, self.links.name)
        if wrong or hello.guest == (hello.sender in self.links.members):
            self._refuse(wrong or f"`{hello.sender}` is {'a' if hello.guest else 'no'} member")
            return
        self.hello = hello
        self.links.accepted(self, hello)

    def _refuse(self, reason: str) -> None:
        assert self.transport is not None
        self.transport.write(frame(Refusal(reason)))
        self.transport.close()
        if self.hello is None:
            self.over = True

    def send(self, data: bytes) -> None:
        """Answers a guest."""
        assert self.transport is not None
        self.transport.write(data)
        if self.transport.get_write_buffer_size() > UNSENT_BYTES_MAX:
            self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """It has broken, or was closed."""
        if not self.over and self.hello is not None:
            self.links.broken(self.hello.sender, self)

    def close(self) -> None:
        """No more of it."""
        self.over = True
        if self.transport is not None:
            self.transport.abort()


class Links:
    """All connections of the process `name`. `give`: takes inputs for the node. `note`: a line for the operator."""

    def __init__(
        self,
        name: Name,
        members: frozenset[Name],
        port: int,
        token: str,
        system: str,
        decoder: msgspec.msgpack.Decoder[Any],
        give: Callable[[Input], None],
        note: Callable[[str], None],
    ) -> None:
        """`port`: the keeper's, through whom all goes."""
        self.name, self.members, self.port = name, members, port
        self.token, self.system, self.decoder = token, system, decoder
        self.give, self.note = give, note
        self.incarnation = 0
        self._outgoing: dict[Name, Outgoing] = {}
        self._incoming: dict[Name, Incoming] = {}
        self._dialling: set[asyncio.Task[None]] = set()

    def hello(self, to: Name) -> bytes:
        """The first frame to a member."""
        return frame(Hello(VERSION, self.token, self.system, self.name, to, self.incarnation))

    def send(self, to: Name, message: Message) -> None:
        """Sends a message to a member, to a guest, or to itself."""
        if to == self.name:
            asyncio.get_running_loop().call_soon(self.give, Received(to, message))
            return
        if to not in self.members:
            guest = self._incoming.get(to)
            if guest is None:
                asyncio.get_running_loop().call_soon(self.give, Unreachable(to))
            else:
                guest.send(frame(message))
            return
        link = self._outgoing.get(to)
        if link is None:
            link = self._outgoing[to] = Outgoing(self, to)
            task = asyncio.get_running_loop().create_task(self._dial(link))
            self._dialling.add(task)
            task.add_done_callback(self._dialling.discard)
        link.send(frame(message))

    async def _dial(self, link: Outgoing) -> None:
        try:
            await asyncio.get_running_loop().create_connection(lambda: link, HOST, self.port)
        except OSError:
            if not link.over:
                self.broken(link.peer, link)

    def accepted(self, link: Incoming, hello: Hello) -> None:
        """A member or guest has said who it is."""
        if hello.sender in self._incoming:  # the earlier connection has broken, and that was not heard of yet
            self.broken(hello.sender, self._incoming[hello.sender])
        self._incoming[hello.sender] = link

    def broken(self, peer: Name, link: Outgoing | Incoming) -> None:
        """A connection has broken: both directions are given up, and the node is informed."""
        if link is not self._outgoing.get(peer) and link is not self._incoming.get(peer):
            return
        outgoing, incoming = self._outgoing.pop(peer, None), self._incoming.pop(peer, None)
        if outgoing is not None:
            outgoing.close()
        if incoming is not None:
            incoming.close()
        self.give(Unreachable(peer))

    def close(self) -> None:
        """Hangs up on everybody."""
        for outgoing in self._outgoing.values():
            outgoing.close()
        for incoming in self._incoming.values():
            incoming.close()
