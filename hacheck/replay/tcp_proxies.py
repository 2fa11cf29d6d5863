"""A proxy in front of each process, which reads the messages of its protocol and holds those that `Traffic` holds.

The process that owns the other end of a connection says who calls (`/proc/net/tcp`, `/proc/PID/fd`; so Linux only);
everybody who is no process of the product counts as a client. So does a process that closes its connection at once: it
must stay open until it is answered.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress

from hacheck.replay.relayed_connection import RelayedConnection, WireReader
from hacheck.replay.traffic import CLIENT, Traffic
from hacheck.supervise.event_loop_thread import EventLoopThread, Relay

FOLLOW_SECONDS = 0.03
OWNER_TRIES = 20
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
        self._connections: set[RelayedConnection] = set()
        self._thread = EventLoopThread()
        try:
            self._thread.run(self._begin())
        except OSError:
            self._thread.close()
            raise
        traffic.breakers.append(self._break)

    def shut(self, member: int) -> None:
        """A process is about to end: its proxy listens no more, until another process does. For `follow` only."""

        def shut() -> None:
            self._shut.add(member)
            self._unlisten(member)

        self._thread.call(shut)

    def close(self) -> None:
        """Breaks all connections and ends the thread."""
        self._thread.close()

    async def _begin(self) -> None:
        if self._follow:
            self._thread.start(self._following())
        else:
            for member in self._ports:
                await self._listen(member)

    async def _listen(self, member: int) -> None:
        self._servers[member] = await self._thread.listen(self._relay_to(member), self._ports[member][0])

    def _unlisten(self, member: int) -> None:
        server = self._servers.pop(member, None)
        if server is not None:
            self._thread.stop_listening(server)

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

    def _relay_to(self, target: int) -> Relay:
        async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            source = await self._owner_of(writer.get_extra_info("peername")[1])
            port = self._ports[target][1]
            connection = RelayedConnection(self._traffic, source, target, port, self._reader(), (reader, writer))
            self._connections.add(connection)
            try:
                await connection.run()
            finally:
                self._connections.discard(connection)
                connection.abort()
                with suppress(OSError):
                    await writer.wait_closed()

        return relay

    async def _owner_of(self, port: int) -> int:
        """Who calls. On a busy machine a process may call before it is known here who it is, and the kernel's table may
        lack its connection for a moment."""
        for _ in range(OWNER_TRIES):
            if (found := owner_of(port, self._process_ids())) is not None:
                return found
            await asyncio.sleep(FOLLOW_SECONDS)
        return CLIENT

    def _break(self, source: int, target: int) -> None:
        for connection in list(self._connections):
            if (connection.source, connection.target) == (source, target):
                self._thread.post(connection.sever)


def listening() -> set[int]:
    """The ports at which some process of this machine listens."""
    return {int(fields[1].rpartition(":")[2], 16) for fields in _connections() if fields[3] == LISTENS}


def owner_of(port: int, process_ids: Mapping[int, int]) -> int | None:
    """Which member has a connection from this port of loopback; `process_ids`: by member. `CLIENT`, if this process
    has; `None`, if another has, or it is not known."""
    # One that has ended keeps its port for a minute, without an inode, while another from the same port is there.
    found = [fields[9] for fields in _connections() if fields[1].endswith(f":{port:04X}")]
    inodes = {f"socket:[{inode}]" for inode in found if inode != "0"}
    for member, process_id in (*process_ids.items(), (CLIENT, os.getpid())):
        folder = f"/proc/{process_id}/fd"
        with suppress(OSError):
            for number in os.listdir(folder):
                with suppress(OSError):
                    if os.readlink(f"{folder}/{number}") in inodes:
                        return member
    return None


def _connections() -> Iterator[list[str]]:
    """The fields of each line of the kernel's tables: local address, remote address, state, and more."""
    for table in TABLES:
        if os.path.exists(table):
            with open(table, encoding="ascii") as lines:
                next(lines)
                yield from (line.split() for line in lines)
