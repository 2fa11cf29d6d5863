"""A TCP proxy before a real process: it cuts, delays, drips and resets connections, and counts what has passed.

It knows no protocol. Proxies that hold single messages of a protocol until a step is due are in `hacheck.replay`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Literal, TypeAlias

from msgspec import Struct

from hacheck.supervise.event_loop_thread import LOOPBACK, EventLoopThread, reset

Direction: TypeAlias = Literal["both", "to_server", "to_client"]

READ_BYTES = 1 << 16
CHUNKS_MAX = 64
"""So many pieces wait in the proxy; what is behind them waits in the buffers of the system, as behind a cut link."""

DRIPS_A_SECOND = 20


class Passed(Struct):
    """What has become of one direction: bytes that `passed`, and that `wait` in the proxy now."""

    passed: int = 0
    waiting: int = 0


class _Flow:
    """One direction of all connections. `cut`: nothing passes; `delay`: seconds that each byte takes longer;
    `rate`: bytes a second, 0 for any number."""

    def __init__(self) -> None:
        self.open = asyncio.Event()
        self.open.set()
        self.delay, self.rate = 0.0, 0.0
        self.count = Passed()


class Proxy:
    """Listens at `port` of loopback, and connects each who comes to `target`, a port there or `(host, port)`.

        proxy = Proxy(6379)
        client = redis.Redis(port=proxy.port, socket_timeout=1)
        proxy.cut()               # both directions; what is sent waits, as behind a cable that was pulled
        proxy.cut("to_client")    # answers only
        proxy.heal()

    A connection that is made while it is cut is accepted, and nothing passes: a client sees no refusal. Methods may be
    called from any thread, and have their effect when they return. As a context manager it closes itself.
    """

    def __init__(self, target: int | tuple[str, int], port: int = 0) -> None:
        """`port`: where it listens, any free one by default. Errors: `OSError` for a port that is taken."""
        self._target = (LOOPBACK, target) if isinstance(target, int) else target
        self._connections: set[tuple[asyncio.StreamWriter, asyncio.StreamWriter]] = set()
        self.connections = 0
        self.refused = 0
        self._flows = {"to_server": _Flow(), "to_client": _Flow()}
        self._thread = EventLoopThread()
        try:
            server = self._thread.run(self._thread.listen(self._relay, port))
        except OSError:
            self._thread.close()
            raise
        self.port: int = server.sockets[0].getsockname()[1]

    def __enter__(self) -> Proxy:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ---- faults ----

    def cut(self, direction: Direction = "both") -> None:
        """Lets nothing pass any more, in both directions or in one."""
        self._set(direction, lambda flow: flow.open.clear())

    def delay(self, seconds: float, direction: Direction = "both") -> None:
        """Each byte takes so much longer, in order."""
        self._set(direction, lambda flow: setattr(flow, "delay", seconds))

    def drip(self, bytes_per_second: float, direction: Direction = "both") -> None:
        """No more than so many bytes pass in a second."""
        self._set(direction, lambda flow: setattr(flow, "rate", bytes_per_second))

    def heal(self) -> None:
        """Ends cuts, delays and drips: what has waited passes."""

        def healed(flow: _Flow) -> None:
            flow.delay = flow.rate = 0.0
            flow.open.set()

        self._set("both", healed)

    def reset(self) -> int:
        """Breaks all connections with a reset. Returns how many there were: a fault without an effect is none."""

        def broken() -> int:
            pairs = list(self._connections)
            for pair in pairs:
                for writer in pair:
                    reset(writer)
            return len(pairs)

        return self._thread.call(broken)

    # ---- what is seen of them ----

    @property
    def to_server(self) -> Passed:
        """Bytes that clients sent."""
        return self._seen("to_server")

    @property
    def to_client(self) -> Passed:
        """Bytes that the server sent."""
        return self._seen("to_client")

    def close(self) -> None:
        """Breaks all connections and listens no more."""
        self._thread.close()

    def _seen(self, name: str) -> Passed:
        count = self._flows[name].count
        return self._thread.call(lambda: Passed(count.passed, count.waiting))

    def _set(self, direction: Direction, change: Callable[[_Flow], None]) -> None:
        if direction not in ("both", *self._flows):
            raise ValueError(f"direction {direction!r}: it is both, to_server or to_client")
        chosen = [flow for name, flow in self._flows.items() if direction in ("both", name)]

        def changed() -> None:
            for flow in chosen:
                change(flow)

        self._thread.call(changed)

    # ---- in the thread ----

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            server_reader, server_writer = await asyncio.open_connection(*self._target)
        except OSError:
            self.refused += 1
            reset(writer)
            return
        self.connections += 1
        pair = (writer, server_writer)
        self._connections.add(pair)
        pumps = [
            asyncio.ensure_future(self._pump(reader, server_writer, self._flows["to_server"])),
            asyncio.ensure_future(self._pump(server_reader, writer, self._flows["to_client"])),
        ]
        try:
            await asyncio.gather(*pumps)
        except (OSError, asyncio.CancelledError):  # one end is gone, or the proxy is closed
            pass
        finally:
            for pump in pumps:
                pump.cancel()
            self._connections.discard(pair)
            for one in pair:
                one.transport.abort()

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, flow: _Flow) -> None:
        waiting: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue(CHUNKS_MAX)

        async def read() -> None:
            while True:
                content = await reader.read(READ_BYTES)
                flow.count.waiting += len(content)
                await waiting.put((time.monotonic(), content))
                if not content:
                    return

        reading = asyncio.ensure_future(read())
        try:
            while True:
                came, content = await waiting.get()
                await asyncio.sleep(max(0.0, came + flow.delay - time.monotonic()))
                if not content:
                    await flow.open.wait()
                    await reading
                    with suppress(OSError):
                        writer.write_eof()
                    return
                await self._write(writer, content, flow)
        finally:
            reading.cancel()
            while not waiting.empty():
                flow.count.waiting -= len(waiting.get_nowait()[1])

    async def _write(self, writer: asyncio.StreamWriter, content: bytes, flow: _Flow) -> None:
        place = 0
        try:
            while place < len(content):
                await flow.open.wait()
                size = max(1, int(flow.rate / DRIPS_A_SECOND)) if flow.rate else len(content)
                piece = content[place : place + size]
                writer.write(piece)
                await writer.drain()
                place += len(piece)
                flow.count.passed += len(piece)
                flow.count.waiting -= len(piece)
                if flow.rate:
                    await asyncio.sleep(len(piece) / flow.rate)
        finally:
            flow.count.waiting -= len(content) - place
