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


class Way:
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
        self._ways: dict[tuple[int, int], Way] = {}
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
        for (source, target), way in list(self._ways.items()):
            if of(source, target):
                way.lost = way.lost or bool(way.sent)
                way.sent.clear()

    def inform(self, member: int) -> bool:
        """A process whose step is due learns of calls that were lost, and of those that are held and lead nowhere.
        Returns whether there were any."""
        for message in self.traffic.held(source=member):
            gone = message.target not in self.ports or self.traffic.is_refused(member, message.target)
            if gone and message.number:
                self.traffic.let(message, drop=True)
                self._ways[member, message.target].lost = True
        lost = [(source, target) for (source, target), way in list(self._ways.items()) if source == member and way.lost]
        for source, target in lost:
            self._ways[source, target].lost = False
            self._thread.post(partial(self._hang_up, source, target))
        return bool(lost)

    def _hang_up(self, member: int, other: int) -> None:
        """Both connections of a member with another one break."""
        way, back = self._ways.get((member, other)), self._ways.get((other, member))
        for writer in (way.sender if way else None, back.receiver if back else None):
            if writer is not None:
                writer.transport.abort()
        if way is not None:
            way.sender = None
        if back is not None:
            back.receiver = None

    # ---- messages ----

    async def _receive(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        frames = Frames()
        way: Way | None = None
        ends = (0, 0)
        with suppress(OSError, asyncio.CancelledError):
            while data := await reader.read(READ_BYTES):
                for content in frames.feed(data):
                    if way is None:
                        hello = read_hello(content)
                        ends = (self._numbers[hello.sender], self._numbers[hello.to])
                        way = self._ways.setdefault(ends, Way())
                        way.hello, way.sender = hello, writer
                    else:
                        self._came(*ends, content)
        if way is not None and way.sender is writer:
            way.sender = None
        writer.close()

    def _came(self, source: int, target: int, content: bytes) -> None:
        item = read_message(self._decoder, content)
        call = int(getattr(item, "call", 0))
        way = self._ways[source, target]

        def deliver(goes: bool) -> None:
            if goes:
                self._thread.post(lambda: self._thread.start(self._send(source, target, message, content)))

        message = self._calls.message(source, target, item, deliver)
        if self.traffic.is_refused(source, target) and message.operation != "invitation":
            way.lost = way.lost or bool(call and message.kind == "request")
            return
        self.traffic.came(message)

    async def _send(self, source: int, target: int, message: Message, content: bytes) -> None:
        way = self._ways[source, target]
        is_call = message.kind == "request" and message.number > 0
        async with way.turn:
            if way.receiver is None or way.receiver.is_closing():
                way.receiver = await self._connect(way, target)
            if way.receiver is None:
                way.lost = way.lost or is_call
                return
            if message.kind == "reply":
                opposite = self._ways.get((target, source))
                if opposite is not None:
                    opposite.sent.discard(message.number)
            elif is_call:
                way.sent.add(message.number)
            way.receiver.write(len(content).to_bytes(4, "big") + content)

    async def _connect(self, way: Way, target: int) -> asyncio.StreamWriter | None:
        port = self.ports.get(target)
        if port is None or way.hello is None:
            return None
        try:
            reader, writer = await asyncio.open_connection(LOOPBACK, port)
        except OSError:
            return None
        writer.write(frame(msgspec.structs.replace(way.hello)))
        self._thread.start(self._until_closed(way, reader, writer), writer)
        return writer

    async def _until_closed(self, way: Way, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.CancelledError):
            while await reader.read(READ_BYTES):
                pass
        if way.receiver is writer:
            way.receiver = None
        writer.close()
