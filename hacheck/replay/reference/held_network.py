"""The network between processes of the reference implementation: every message is held until its step is due.

Each process sends to a member on a connection of its own, which leads here, as it otherwise leads to the keeper. So a
process that ends is news to another one only when that one's own step is due; and what it sends meanwhile goes to the
process that is there when the message is released.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial

import msgspec

from hacheck.impl.node import Name
from hacheck.impl.runtime.frames import Frames, Hello, frame, messages_of, read_hello, read_message
from hacheck.impl.system import System
from hacheck.replay.reference.call_messages import Calls
from hacheck.replay.traffic import Message, Traffic
from hacheck.supervise.event_loop_thread import LOOPBACK, EventLoopThread

READ_BYTES = 1 << 16


class Route:
    """What goes from one member to another. `sender`, `receiver`: its two connections, where they are there. `sent`:
    the calls that have gone through and are not answered; `lost`: one of them never will be."""

    def __init__(self) -> None:
        self.hello: Hello | None = None
        self.sender: asyncio.StreamWriter | None = None
        self.receiver: asyncio.StreamWriter | None = None
        self.sent: set[int] = set()
        self.lost = False
        self.turn = asyncio.Lock()


class HeldNetwork:
    """All connections of one cluster, in a thread of their own. `port`: where processes connect; `ports`: where those
    that run listen."""

    def __init__(self, system: System, numbers: Mapping[Name, int], traffic: Traffic) -> None:
        self.traffic = traffic
        self.ports: dict[int, int] = {}
        self._numbers = dict(numbers)
        self._decoder = messages_of(system)
        self._calls = Calls()
        self._routes: dict[tuple[int, int], Route] = {}
        self._thread = EventLoopThread()
        server = self._thread.run(self._thread.listen(self._receive))
        self.port: int = server.sockets[0].getsockname()[1]
        traffic.breakers.append(self._lose)

    def close(self) -> None:
        """Ends the thread, and with it all connections."""
        self._thread.close()

    # ---- processes end, and that is heard of ----

    def ended(self, member: int) -> None:
        """A process has ended: calls that it had not answered stay without an answer."""
        self.ports.pop(member, None)
        self._lose_calls(lambda source, target: target == member)

    def _lose(self, source: int, target: int) -> None:
        """A link is cut, or a process is paused."""
        self._lose_calls(lambda one, other: (one, other) == (source, target))

    def _lose_calls(self, of: Callable[[int, int], bool]) -> None:
        for (source, target), route in list(self._routes.items()):
            if of(source, target):
                route.lost = route.lost or bool(route.sent)
                route.sent.clear()

    def inform(self, member: int) -> bool:
        """A process whose step is due learns of calls that were lost, and of those that are held and lead nowhere.
        Returns whether there were any."""
        for message in self.traffic.held(source=member):
            gone = message.target not in self.ports or self.traffic.is_refused(member, message.target)
            if gone and message.number:
                self.traffic.let(message, drop=True)
                self._routes[member, message.target].lost = True
        lost = [
            (source, target)
            for (source, target), route in list(self._routes.items())
            if source == member and route.lost
        ]
        for source, target in lost:
            self._routes[source, target].lost = False
            self._thread.post(partial(self._hang_up, source, target))
        return bool(lost)

    def _hang_up(self, member: int, other: int) -> None:
        """Both connections of a member with another one break."""
        route, back = self._routes.get((member, other)), self._routes.get((other, member))
        for writer in (route.sender if route else None, back.receiver if back else None):
            if writer is not None:
                writer.transport.abort()
        if route is not None:
            route.sender = None
        if back is not None:
            back.receiver = None

    # ---- messages ----

    async def _receive(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        frames = Frames()
        route: Route | None = None
        ends = (0, 0)
        with suppress(OSError, asyncio.CancelledError):
            while data := await reader.read(READ_BYTES):
                for content in frames.feed(data):
                    if route is None:
                        hello = read_hello(content)
                        ends = (self._numbers[hello.sender], self._numbers[hello.to])
                        route = self._routes.setdefault(ends, Route())
                        route.hello, route.sender = hello, writer
                    else:
                        self._came(*ends, content)
        if route is not None and route.sender is writer:
            route.sender = None
        writer.close()

    def _came(self, source: int, target: int, content: bytes) -> None:
        item = read_message(self._decoder, content)
        call = int(getattr(item, "call", 0))
        route = self._routes[source, target]

        def deliver(goes: bool) -> None:
            if goes:
                self._thread.post(lambda: self._thread.start(self._send(source, target, message, content)))

        message = self._calls.message(source, target, item, deliver)
        if self.traffic.is_refused(source, target) and message.operation != "invitation":
            route.lost = route.lost or bool(call and message.kind == "request")
            return
        self.traffic.came(message)

    async def _send(self, source: int, target: int, message: Message, content: bytes) -> None:
        route = self._routes[source, target]
        is_call = message.kind == "request" and message.number > 0
        async with route.turn:
            if route.receiver is None or route.receiver.is_closing():
                route.receiver = await self._connect(route, target)
            if route.receiver is None:
                route.lost = route.lost or is_call
                return
            if message.kind == "reply":
                opposite = self._routes.get((target, source))
                if opposite is not None:
                    opposite.sent.discard(message.number)
            elif is_call:
                route.sent.add(message.number)
            route.receiver.write(len(content).to_bytes(4, "big") + content)

    async def _connect(self, route: Route, target: int) -> asyncio.StreamWriter | None:
        port = self.ports.get(target)
        if port is None or route.hello is None:
            return None
        try:
            reader, writer = await asyncio.open_connection(LOOPBACK, port)
        except OSError:
            return None
        writer.write(frame(msgspec.structs.replace(route.hello)))
        self._thread.start(self._until_closed(route, reader, writer), writer)
        return writer

    async def _until_closed(self, route: Route, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.CancelledError):
            while await reader.read(READ_BYTES):
                pass
        if route.receiver is writer:
            route.receiver = None
        writer.close()
