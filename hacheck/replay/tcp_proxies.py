"""A proxy in front of each process, which reads the messages of its protocol and holds those that `Traffic` holds.

The process that owns the other end of a connection says who calls (`/proc/net/tcp`, `/proc/PID/fd`; so Linux only);
everybody who is no process of the product counts as a client. So does a process that closes its connection at once: it
must stay open until it is answered.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress

from hacheck.replay.relayed_connection import HOST, RelayedConnection, WireReader
from hacheck.replay.traffic import CLIENT, Traffic

CLOSE_SECONDS_MAX = 5.0
FOLLOW_SECONDS = 0.03
TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
"""Some programs, as those in Java, have their IPv4 connections in the table of IPv6."""

LISTENS = "0A"


class TcpProxies:
    """All proxies of one replay, in a thread of their own. `ports`: of each process, the port that others know and its
    own. `process_ids`: which process is which member now. `follow`: a proxy listens only while its process does, for
    products that take a connection which is made and then reset for one that was there."""

    def __init__(
        self,
        traffic: Traffic,
        ports: Mapping[int, tuple[int, int]],
        process_ids: Callable[[], Mapping[int, int]],
        reader: Callable[[], WireReader],
        *,
        follow: bool = False,
    ) -> None:
        """Errors: `OSError`, for a port that is taken."""
        self._traffic, self._ports, self._process_ids, self._reader = traffic, ports, process_ids, reader
        self._follow = follow
        self._servers: dict[int, asyncio.Server] = {}
        self._shut: set[int] = set()  # before their processes end
        self._connections: dict[asyncio.Task[None], RelayedConnection | None] = {}
        self._loop = asyncio.new_event_loop()
        self._failed: OSError | None = None
        started = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(started,), daemon=True)
        self._thread.start()
        started.wait()
        if self._failed is not None:
            raise self._failed
        traffic.breakers.append(self._break)

    def shut(self, member: int) -> None:
        """A process is about to end: its proxy listens no more, until another process does. For `follow` only."""

        async def shut() -> None:
            self._shut.add(member)
            self._unlisten(member)

        asyncio.run_coroutine_threadsafe(shut(), self._loop).result(CLOSE_SECONDS_MAX)

    def close(self) -> None:
        """Breaks all connections and ends the thread."""
        if self._loop.is_running():
            self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(CLOSE_SECONDS_MAX)

    def _run(self, started: threading.Event) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            for member in self._ports if not self._follow else ():
                self._loop.run_until_complete(self._listen(member))
            following = self._loop.create_task(self._following()) if self._follow else None
            self._loop.call_soon(started.set)
            self._loop.run_forever()
            if following is not None:
                following.cancel()
        except OSError as error:
            self._failed = error
            started.set()
        finally:
            self._loop.run_until_complete(self._end(list(self._servers.values())))
            self._loop.close()

    async def _listen(self, member: int) -> None:
        self._servers[member] = await asyncio.start_server(self._accepting(member), HOST, self._ports[member][0])

    def _unlisten(self, member: int) -> None:
        server = self._servers.pop(member, None)
        if server is not None:
            server.close()

    async def _following(self) -> None:
        """Has proxies listen while their processes do."""
        while True:
            there = listening()
            for member, (_, own) in self._ports.items():
                if own not in there:
                    self._shut.discard(member)
                    self._unlisten(member)
                elif member not in self._servers and member not in self._shut:
                    await self._listen(member)
            await asyncio.sleep(FOLLOW_SECONDS)

    async def _end(self, servers: list[asyncio.Server]) -> None:
        """Closes what listens, breaks what is connected, and waits for all of it."""
        for server in servers:
            server.close()
        await asyncio.sleep(0)  # what was accepted before has its task now
        while others := asyncio.all_tasks() - {asyncio.current_task()}:  # one may begin while another ends
            for connection in self._connections.values():
                if connection is not None:
                    connection.abort()
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)
            await asyncio.sleep(0)

    def _accepting(self, member: int) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], None]:
        def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = self._loop.create_task(self._relay(reader, writer, member))
            self._connections[task] = None
            task.add_done_callback(lambda task: self._connections.pop(task, None))

        return accept

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, target: int) -> None:
        source = owner_of(writer.get_extra_info("peername")[1], self._process_ids())
        port = self._ports[target][1]
        connection = RelayedConnection(self._traffic, source, target, port, self._reader(), (reader, writer))
        task = asyncio.current_task()
        assert task is not None
        self._connections[task] = connection
        try:
            await connection.run()
        finally:
            connection.abort()
            with suppress(OSError):
                await writer.wait_closed()

    def _break(self, source: int, target: int) -> None:
        for connection in list(self._connections.values()):
            if connection is not None and (connection.source, connection.target) == (source, target):
                self._loop.call_soon_threadsafe(connection.sever)


def listening() -> set[int]:
    """The ports at which some process of this machine listens."""
    return {int(fields[1].rpartition(":")[2], 16) for fields in _connections() if fields[3] == LISTENS}


def owner_of(port: int, process_ids: Mapping[int, int]) -> int:
    """Which member has a connection from this port of loopback; `process_ids`: by member. `CLIENT`, if none has."""
    # One that has ended keeps its port for a minute, without an inode, while another from the same port is there.
    found = [fields[9] for fields in _connections() if fields[1].endswith(f":{port:04X}")]
    inodes = {f"socket:[{inode}]" for inode in found if inode != "0"}
    for member, process_id in process_ids.items():
        folder = f"/proc/{process_id}/fd"
        with suppress(OSError):
            for number in os.listdir(folder):
                with suppress(OSError):
                    if os.readlink(f"{folder}/{number}") in inodes:
                        return member
    return CLIENT


def _connections() -> Iterator[list[str]]:
    """The fields of each line of the kernel's tables: local address, remote address, state, and more."""
    for table in TABLES:
        if os.path.exists(table):
            with open(table, encoding="ascii") as lines:
                next(lines)
                yield from (line.split() for line in lines)
