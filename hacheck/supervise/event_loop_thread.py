"""An asyncio event loop in a thread of its own, for a program that is not asynchronous itself: proxies use it.

What it starts ends with it: `close` stops listening, cancels every task, and breaks connections whose task has ended.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeAlias, TypeVar

LOOPBACK = "127.0.0.1"
SECONDS_MAX = 5.0
"""What a caller waits for at most: for one piece of work, and for the end of the thread."""

_Result = TypeVar("_Result")
Relay: TypeAlias = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Coroutine[Any, Any, None]]
"""What is done with one connection: when that has ended, the connection is broken unless it is closed."""


class EventLoopThread:
    """Runs from the moment that it is made until `close`. Methods may be called from any thread, unless they say that
    they belong to the loop."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._tasks: set[asyncio.Task[None]] = set()  # a loop alone does not keep its tasks
        self._servers: set[asyncio.Server] = set()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, _Result]) -> _Result:
        """Does it in the loop and waits for it. Errors: those of the work; `TimeoutError` after `SECONDS_MAX`."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(SECONDS_MAX)

    def call(self, work: Callable[[], _Result]) -> _Result:
        """As `run`, for a function that does not wait."""

        async def called() -> _Result:
            return work()

        return self.run(called())

    def post(self, work: Callable[[], object]) -> None:
        """Has a function called in the loop, soon, and does not wait. After `close` nothing calls it."""
        with suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(work)

    def close(self) -> None:
        """Ends all that runs, and the thread. A second call does nothing."""
        self.post(self._loop.stop)
        self._thread.join(SECONDS_MAX)

    # ---- in the loop ----

    def start(self, work: Coroutine[Any, Any, None], *connections: asyncio.StreamWriter) -> None:
        """Starts a task that is cancelled by `close`. When it has ended, also before it could begin, each of its
        `connections` is broken that is not closed. In the loop only."""

        def ended(task: asyncio.Task[None]) -> None:
            self._tasks.discard(task)
            for writer in connections:
                if not writer.is_closing():
                    writer.transport.abort()

        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(ended)

    async def listen(self, relay: Relay, port: int = 0) -> asyncio.Server:
        """Listens at a port of loopback, at any free one for 0, and starts a task for each connection. Errors:
        `OSError`, for a port that is taken."""

        def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self.start(relay(reader, writer), writer)

        server = await asyncio.start_server(accept, LOOPBACK, port)
        self._servers.add(server)
        return server

    def stop_listening(self, server: asyncio.Server) -> None:
        """Connections that there are stay. In the loop only."""
        self._servers.discard(server)
        server.close()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()
        self._loop.run_until_complete(self._end())
        self._loop.close()

    async def _end(self) -> None:
        for server in list(self._servers):
            self.stop_listening(server)
        await asyncio.sleep(0)  # what was accepted before has its task now
        while others := asyncio.all_tasks() - {asyncio.current_task()}:  # one may begin while another ends
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)
            await asyncio.sleep(0)


def reset(writer: asyncio.StreamWriter) -> None:
    """Breaks a connection so that the other end sees a reset, as from a port at which nothing listens, and no end in
    order."""
    taken: socket.socket = writer.get_extra_info("socket")
    with suppress(OSError):
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
