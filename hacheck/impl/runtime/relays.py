"""The network between members: every connection goes through the keeper, which can cut any direction of any of them.

A cut is silent: data, and the news that somebody has hung up, are kept, and delivered in order when it heals. A
connection that is requested across a cut is made when the cut heals.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from hacheck.impl.node import Name
from hacheck.impl.runtime.frames import Damaged, Frames, Hello, Refusal, frame, objection, read_hello
from hacheck.impl.runtime.links import HOST

HELD_BYTES_MAX = 1 << 20
"""So much of one direction is kept here; the rest waits with the sender."""


class End(asyncio.Protocol):
    """One end of a relayed connection: what comes from `source` is for `target`."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.transport: asyncio.Transport | None = None
        self.other: End | None = None
        self.source = self.target = ""
        self.held = bytearray()
        self.ended = False
        self.blocked = False
        self.dialling = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The transport is connected."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        """More for the other end."""
        self.held += data
        self.flow()

    def connection_lost(self, exc: Exception | None) -> None:
        """This side has hung up."""
        self.ended = True
        self.flow()

    def pause_writing(self) -> None:
        """This side takes in no more for now: the other is to wait."""
        if self.other is not None:
            self.other.blocked = True
            self.other.flow()

    def resume_writing(self) -> None:
        """This side takes in data again."""
        if self.other is not None:
            self.other.blocked = False
            self.other.flow()

    def flow(self) -> None:
        """Passes on what may be passed on."""
        other, transport = self.other, self.transport
        open_ = (
            other is not None
            and other.transport is not None
            and not self.blocked
            and (self.source, self.target) not in self.network.cuts
        )
        if open_ and other is not None and other.transport is not None:
            if self.held and not other.ended:
                other.transport.write(bytes(self.held))
            self.held.clear()
            if self.ended:
                other.transport.close()
                self.network.ends.discard(self)
        if transport is not None and not self.ended:
            if len(self.held) > HELD_BYTES_MAX:
                transport.pause_reading()
            elif open_:
                transport.resume_reading()


class Dialled(End):
    """The end at the process that is called."""


class Accepted(End):
    """The end at the process that asks. `hello`: `None` until it has said who it is and whom it wants."""

    def __init__(self, network: Network) -> None:
        super().__init__(network)
        self.frames = Frames()
        self.hello: Hello | None = None

    def data_received(self, data: bytes) -> None:
        """The hello, then what is for the other end. To the keeper itself: a request."""
        if self.hello is not None and self.hello.to != self.network.keeper:
            super().data_received(data)
            return
        if self.hello is None:
            self.held += data  # with the hello, which is for the other end, too
        try:
            for content in self.frames.feed(data):
                if self.hello is None:
                    self._greeted(content)
                    if self.other is not None or self.hello is None:
                        return  # relayed from now on, or refused
                elif self.transport is not None:
                    self.network.on_request(self.transport, content)
        except Damaged as damage:
            self._refuse(str(damage))

    def _greeted(self, content: bytes) -> None:
        hello = read_hello(content)
        wrong = objection(hello, self.network.token, self.network.system, hello.to)
        if wrong:
            self._refuse(wrong)
            return
        self.hello = hello
        if hello.to == self.network.keeper:
            self.held.clear()
            return
        self.source, self.target = hello.sender, hello.to
        other = self.other = Dialled(self.network)
        other.source, other.target, other.other = hello.to, hello.sender, self
        self.network.ends |= {self, other}
        self.network.dial(other)

    def _refuse(self, reason: str) -> None:
        if self.transport is not None:
            self.transport.write(frame(Refusal(reason)))
            self.transport.close()


class Network:
    """All relayed connections. After a change of `cuts` call `changed`; `ports` is read when a connection is made.

    - `cuts`: directions that carry nothing;
    - `ports`: where members listen that run;
    - `ends`: both ends of each connection that is not closed yet;
    - `on_request`: takes a request to the keeper, and the connection to answer on.
    """

    def __init__(
        self, keeper: Name, token: str, system: str, on_request: Callable[[asyncio.Transport, bytes], None]
    ) -> None:
        self.keeper, self.token, self.system, self.on_request = keeper, token, system, on_request
        self.cuts: set[tuple[Name, Name]] = set()
        self.ports: dict[Name, int] = {}
        self.ends: set[End] = set()
        self._dialling: set[asyncio.Task[None]] = set()

    async def listen(self, port: int) -> int:
        """Begins to listen; returns the port. Errors: `OSError`."""
        server = await asyncio.get_running_loop().create_server(lambda: Accepted(self), HOST, port)
        return int(server.sockets[0].getsockname()[1])

    def dial(self, end: End) -> None:
        """Asks for the process that this end is to be at, as soon as the way there is not cut."""
        if end.dialling or (end.target, end.source) in self.cuts:
            return  # `changed` comes back to it
        end.dialling = True
        task = asyncio.get_running_loop().create_task(self._dial(end))
        self._dialling.add(task)
        task.add_done_callback(self._dialling.discard)

    async def _dial(self, end: End) -> None:
        caller = end.other
        assert caller is not None
        try:
            port = self.ports[end.source]
            await asyncio.get_running_loop().create_connection(lambda: end, HOST, port)
        except (KeyError, OSError):  # nobody is there
            end.ended = True
            self.ends.discard(caller)
            end.flow()
            return
        caller.flow()

    def changed(self) -> None:
        """The cuts are other ones: what may flow now does."""
        for end in sorted(self.ends, key=lambda one: (one.source, one.target)):
            if isinstance(end, Dialled) and end.transport is None and not end.ended:
                self.dial(end)
            else:
                end.flow()
