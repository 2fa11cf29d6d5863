"""Several servers in one process: what each asks for and is informed goes by its own names, and the process translates.

A server has an address: that of its process for the one that the process is there for, `process/name` for others.
Messages between addresses of processes go as they are; all others are wrapped, with both addresses, in a `Carried`.
Names of timers, keys of the process's own disk, shared disks and locks are its own for each server, too. A lock that
one server of a process has is refused to the others of it: the one that keeps locks knows processes only.

Source: HornetQ manual, "Colocated Backup Servers", "Configuring Directories".
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from hacheck.impl.node import (
    CancelTimer,
    Effect,
    Fired,
    Halt,
    Input,
    LockAnswered,
    LockLost,
    Name,
    Node,
    ReadShared,
    Received,
    Record,
    Send,
    SetTimer,
    SharedRead,
    TryLock,
    Unlock,
    Unreachable,
    Write,
    WriteFailed,
    Written,
)
from hacheck.impl.protocols.artemis.colocated.messages import Carried, NobodyThere

SEPARATOR = "/"


def process_of(address: Name) -> Name:
    """The process that a server is in."""
    return address.partition(SEPARATOR)[0]


class Server:
    """A server of this process. `folder`: what its keys begin with on the process's own disk. `places`: what its shared
    disks and locks are called in the cluster, by its own names for them."""

    __slots__ = ("address", "folder", "names", "node", "places")

    def __init__(self, address: Name, node: Node, folder: str = "", places: Mapping[Name, Name] | None = None) -> None:
        self.address = address
        self.node = node
        self.folder = folder
        self.places = dict(places or {})
        self.names = {place: name for name, place in self.places.items()}


class ServerHost:
    """The servers of one process. `servers`: by address, the process's own first. `ended`: those that ended themselves,
    and why. `effects`: what the process is to do."""

    def __init__(self, process: Name) -> None:
        self.process = process
        self.servers: dict[Name, Server] = {}
        self.ended: dict[Name, str] = {}
        self.effects: list[Effect] = []
        self._tokens: dict[int, tuple[Server, int]] = {}
        self._last_token = 0
        self._requesters: dict[Name, deque[Server]] = {}
        self._holders: dict[Name, Server] = {}
        self._timers: dict[str, tuple[Server, str]] = {}
        self._correspondents: dict[Name, dict[Name, None]] = {}
        self._local: deque[tuple[Name, Input]] = deque()

    def add(self, server: Server) -> None:
        """One more server; it is not given anything yet."""
        self.servers[server.address] = server

    def remove(self, address: Name) -> None:
        """A server is gone: its locks are free, and who wrote to it is informed."""
        server = self.servers.pop(address)
        for lock in [lock for lock, holder in self._holders.items() if holder is server]:
            del self._holders[lock]
            self.effects.append(Unlock(lock))
        for key in [key for key, (of, _) in self._timers.items() if of is server]:
            del self._timers[key]
            self.effects.append(CancelTimer(key))
        for peers in self._correspondents.values():
            peers.pop(address, None)

    # ---- inputs ----

    def give(self, server: Server, given: Input, now_us: int) -> None:
        """Hands an input to one server, and to others what follows from it within the process."""
        self._hand(server, given, now_us)
        while self._local:
            to, given = self._local.popleft()
            there = self.servers.get(to)
            if there is not None:
                self._hand(there, given, now_us)
            elif isinstance(given, Received) and given.sender in self.servers:
                self._local.append((given.sender, Unreachable(to)))

    def take(self, given: Input, now_us: int) -> None:
        """Hands an input of the process to the server that it is for. One that has ended gets nothing."""
        match given:
            case Received(sender, Carried(to, of, message)):
                self._carried(sender, to, of, message, now_us)
            case Received(sender, NobodyThere(to, of)):
                if of in self.servers:
                    self.give(self.servers[of], Unreachable(to), now_us)
            case Received() if self.process in self.servers:
                self.give(self.servers[self.process], given, now_us)
            case Unreachable(peer):
                self._unreachable(peer, now_us)
            case Fired(timer):
                server, own = self._timers.pop(timer)
                self.give(server, Fired(own), now_us)
            case Written() | WriteFailed() | SharedRead():
                server, token = self._tokens.pop(given.token)
                if self._runs(server):
                    self.give(server, replace(given, token=token), now_us)
            case LockAnswered(lock):
                self._lock_answered(lock, given, now_us)
            case LockLost(lock):
                holder = self._holders.pop(lock, None)
                if holder is not None:
                    self.give(holder, LockLost(holder.names[lock]), now_us)

    def _runs(self, server: Server) -> bool:
        return self.servers.get(server.address) is server

    def _carried(self, sender: Name, to: Name, of: Name, message: Any, now_us: int) -> None:
        if to not in self.servers:
            self.effects.append(Send(sender, NobodyThere(to, of)))
            return
        self._correspondents.setdefault(sender, {})[of] = None
        self.give(self.servers[to], Received(of, message), now_us)

    def _unreachable(self, peer: Name, now_us: int) -> None:
        addresses = {peer: None, **self._correspondents.get(peer, {})}
        for server in list(self.servers.values()):
            for address in addresses:
                if self._runs(server):
                    self.give(server, Unreachable(address), now_us)

    def _lock_answered(self, lock: Name, given: LockAnswered, now_us: int) -> None:
        server = self._requesters[lock].popleft()
        if not self._runs(server):
            if given.granted and lock not in self._holders:
                self.effects.append(Unlock(lock))
            return
        granted = given.granted and self._holders.get(lock, server) is server
        if granted:
            self._holders[lock] = server
        self.give(server, replace(given, lock=server.names[lock], granted=granted), now_us)

    # ---- effects ----

    def _hand(self, server: Server, given: Input, now_us: int) -> None:
        effects = self.effects
        for effect in server.node.handle(given, now_us):
            match effect:
                case Send(to, message):
                    self._send(server, to, message)
                case SetTimer(timer, after_us):
                    key = f"{server.address}:{timer}"
                    self._timers[key] = (server, timer)
                    effects.append(SetTimer(key, after_us))
                case CancelTimer(timer):
                    key = f"{server.address}:{timer}"
                    if self._timers.pop(key, None) is not None:
                        effects.append(CancelTimer(key))
                case Write(token, changes, sync, shared):
                    if not shared and server.folder:
                        changes = tuple((server.folder + key, value) for key, value in changes)
                    place = server.places[shared] if shared else ""
                    effects.append(Write(self._token(server, token), changes, sync, place))
                case ReadShared(token, shared, key):
                    effects.append(ReadShared(self._token(server, token), server.places[shared], key))
                case TryLock(lock):
                    self._requesters.setdefault(server.places[lock], deque()).append(server)
                    effects.append(TryLock(server.places[lock]))
                case Unlock(lock):
                    if self._holders.get(server.places[lock], server) is server:
                        self._holders.pop(server.places[lock], None)
                        effects.append(Unlock(server.places[lock]))
                case Record(event, fields):
                    effects.append(Record(event, {**fields, "server": server.address}))
                case Halt(reason):
                    self.ended[server.address] = reason
                    self.remove(server.address)
                    return

    def _send(self, server: Server, to: Name, message: Any) -> None:
        process = process_of(to)
        if process == self.process:
            self._local.append((to, Received(server.address, message)))
        elif to == process and server.address == self.process:
            self.effects.append(Send(to, message))
        else:
            self._correspondents.setdefault(process, {})[to] = None
            self.effects.append(Send(process, Carried(to, server.address, message)))

    def _token(self, server: Server, token: int) -> int:
        self._last_token += 1
        self._tokens[self._last_token] = (server, token)
        return self._last_token
