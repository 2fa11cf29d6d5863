"""One connection through a proxy: its messages passed on, or held until their step is due.

When its server ends, a caller learns of that only when its own step is due; if the server was started again by then,
what the caller sends is sent to it on a new connection. So a step of a model that calls a process reaches the process
that is there at that step, whenever the caller began to call.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from operator import itemgetter
from typing import Protocol, TypeAlias

from msgspec import Struct

from hacheck.replay.traffic import CLIENT, Message, Traffic
from hacheck.supervise.event_loop_thread import LOOPBACK, reset

READ_BYTES = 1 << 16
POLL_SECONDS = 0.01

Streams: TypeAlias = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Heard(Struct, frozen=True):
    """What a wire reader found in a message: as the fields of `traffic.Message`."""

    kind: str
    operation: str
    number: int
    detail: str


class WireReader(Protocol):
    """Reads the messages of one connection; made anew for each, so it may remember requests for their replies.

    A reader may have a set `keeps_order` of operations besides: what comes behind such a message on the same connection
    waits while it is held, where a product relies on the order of one connection.
    """

    greetings: int
    """So many messages a server sends on a new connection before any request."""

    @property
    def unanswered(self) -> int:
        """How many requests that have come wait for a reply."""
        ...

    def length(self, begin: bytes) -> int | None:
        """How many bytes the first message takes; `None`: too little has come to know. Errors: `ValueError`, for what
        is no message of the protocol: the rest of the connection is then passed on unread."""
        ...

    def read(self, raw: bytes, *, to_server: bool) -> Heard | None:
        """What a whole message is; `None`: nothing that a schedule cares about, which passes at once."""
        ...


class RelayedConnection:
    """A connection of `source` to `target`, which listens at `port`. To be used in the loop's thread."""

    def __init__(
        self, traffic: Traffic, source: int, target: int, port: int, wire: WireReader, client: Streams
    ) -> None:
        self.traffic, self.source, self.target, self.port, self.wire = traffic, source, target, port, wire
        self.client_reader, self.client = client
        self.server: asyncio.StreamWriter | None = None
        self._loop = asyncio.get_running_loop()
        self._requests: dict[int, Message] = {}  # held, by number
        self._replies: dict[int, Message] = {}
        self._keeps_order: frozenset[str] = getattr(wire, "keeps_order", frozenset())
        self._behind: list[tuple[int, dict[int, Message], Callable[[], None]]] = []  # what waits behind such messages
        self._number = 0
        self._severed = False
        self._anew = False  # a request is being sent on a new connection
        self._ended = False  # the client has closed its end
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Relays until both ends are closed."""
        found = await self._connect()
        if found is None:
            reset(self.client)
            return
        reader, self.server = found
        try:
            self._start(self._pass_replies(reader))
            await self._pass_requests()
            while self._tasks:
                await asyncio.gather(*self._tasks)
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def sever(self) -> None:
        """The link fails. Calls that are still held have arrived before it did, as far as a schedule is concerned: so
        the connection breaks when they are answered."""
        if self._requests:
            self._severed = True
        else:
            self.abort()

    def abort(self) -> None:
        """Breaks both ends."""
        for writer in (self.client, self.server):
            if writer is not None:
                writer.transport.abort()

    # ---- connections ----

    async def _connect(self) -> Streams | None:
        """A connection to the server; none, if it is not there when the step of the caller is due."""
        while True:
            found = await self._tried()
            if found is not None or self._is_due():
                return found
            await asyncio.sleep(POLL_SECONDS)

    async def _tried(self) -> Streams | None:
        if not self.traffic.is_refused(self.source, self.target):
            with suppress(OSError):
                return await asyncio.open_connection(LOOPBACK, self.port)
        return None

    def _has_no_server(self) -> bool:
        return self.server is None

    async def _is_there(self) -> bool:
        found = await self._tried()
        if found is not None:
            found[1].close()
        return found is not None

    def _is_due(self) -> bool:
        """Whether what goes wrong may show now."""
        traffic = self.traffic
        return not traffic.failures_wait or self.source == CLIENT or traffic.acting == self.source

    # ---- messages ----

    async def _pass_requests(self) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            async for raw, heard in _messages(self.client_reader, self.wire, to_server=True):
                self._take(raw, heard, self._requests, self._send_request)
        while self._requests:  # what was sent before the end still arrives
            await asyncio.sleep(POLL_SECONDS)
        self._ended = True
        if self.server is not None and not self.server.is_closing():
            with suppress(OSError):
                self.server.write_eof()

    async def _pass_replies(self, reader: asyncio.StreamReader) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            async for raw, heard in _messages(reader, self.wire, to_server=False):
                self._take(raw, heard, self._replies, self._send_reply)
        if self.server is not None:
            self.server.close()
        self.server = None
        while self._replies:
            await asyncio.sleep(POLL_SECONDS)
        is_orderly = await self._is_there()  # a server that has closed the connection, and not ended
        while self._has_no_server() and not self._ended:
            if is_orderly and not self._requests and not self._anew:
                break
            if (
                not self._anew
                and self._is_due()
                and (self.wire.unanswered > len(self._requests) or not await self._is_there())
            ):
                break
            await asyncio.sleep(POLL_SECONDS)
        if self._has_no_server():
            for message in self._requests.values():
                self.traffic.gone(message)
            self._requests.clear()
            self.client.close()

    def _take(self, raw: bytes, heard: Heard | None, held: dict[int, Message], send: Callable[[bytes], None]) -> None:
        self._number += 1
        number = self._number
        if heard is None:
            self._in_order(number, held, lambda: send(raw))
            return

        def carry(goes: bool) -> None:
            was_held = held.pop(number, None) is not None
            if goes:
                self._in_order(number, held, lambda: send(raw))
            elif self._severed:
                self.client.transport.abort()  # its caller learns that the link has failed
                if not self._requests:
                    self.abort()
            if was_held:
                self._let_go(held)

        ends = (self.source, self.target) if heard.kind == "request" else (self.target, self.source)
        deliver = lambda goes: self._soon(lambda: carry(goes))  # noqa: E731
        message = Message(*ends, heard.kind, heard.operation, heard.number, heard.detail, deliver)
        if self.traffic.came(message):
            held[number] = message

    def _in_order(self, number: int, held: dict[int, Message], send: Callable[[], None]) -> None:
        """Sends now, or when nothing that keeps its place is held before it."""
        if self._keeps_order and any(
            before < number and one.operation in self._keeps_order for before, one in held.items()
        ):
            self._behind.append((number, held, send))
        else:
            send()

    def _let_go(self, held: dict[int, Message]) -> None:
        """Sends what waited behind a message that has gone."""
        due = sorted((one for one in self._behind if one[1] is held), key=itemgetter(0))
        self._behind = [one for one in self._behind if one[1] is not held]
        for number, _, send in due:
            self._in_order(number, held, send)

    def _send_reply(self, raw: bytes) -> None:
        if not self.client.is_closing():
            self.client.write(raw)
        if self._severed and not self._requests and not self.wire.unanswered:
            self._soon(self.client.close)

    def _send_request(self, raw: bytes) -> None:
        if self.server is not None and not self.server.is_closing():
            self.server.write(raw)
        else:
            self._anew = True
            self._start(self._send_anew(raw))

    async def _send_anew(self, raw: bytes) -> None:
        """Sends a request to the server that is there now, on a new connection."""
        found = await self._tried()
        self._anew = found is not None
        if found is None:
            self.client.close()
            return
        reader, writer = found
        messages = _messages(reader, self.wire, to_server=False)
        for _ in range(self.wire.greetings):
            await anext(messages)
        self.server, self._anew = writer, False
        writer.write(raw)
        self._start(self._pass_replies(reader))

    def _start(self, work: object) -> None:
        task: asyncio.Task[None] = self._loop.create_task(work)  # type: ignore[arg-type]
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _soon(self, what: Callable[[], None]) -> None:
        """Does it in the loop's thread: at once, if that is this one."""
        try:
            here = asyncio.get_running_loop() is self._loop
        except RuntimeError:
            here = False
        if here:
            what()
        elif self._loop.is_running():
            self._loop.call_soon_threadsafe(what)


async def _messages(
    reader: asyncio.StreamReader, wire: WireReader, *, to_server: bool
) -> AsyncIterator[tuple[bytes, Heard | None]]:
    """The messages of one direction, whole, each with what it is."""
    waiting, readable = b"", True
    while True:
        try:
            length = wire.length(waiting) if readable else len(waiting) or None
        except ValueError:
            readable, length = False, len(waiting)
        if length is not None and len(waiting) >= length:
            raw, waiting = waiting[:length], waiting[length:]
            yield raw, wire.read(raw, to_server=to_server) if readable else None
            continue
        more = await reader.read(READ_BYTES)
        if not more:
            return
        waiting += more
