"""How a cluster is made and reached from outside: by its folder, through its keeper."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec

from hacheck.impl.node import Message, Name
from hacheck.impl.recording import SUFFIX, merged
from hacheck.impl.runtime import pids
from hacheck.impl.runtime.folder import KEEPER, VERSION, Address, Cluster, Folder, fetch, token
from hacheck.impl.runtime.frames import VERSION as WIRE
from hacheck.impl.runtime.frames import Damaged, Frames, Hello, Refusal, frame, messages_of
from hacheck.impl.runtime.keeper import Answer, Ask
from hacheck.impl.runtime.links import HOST
from hacheck.impl.runtime.pids import Pid
from hacheck.impl.runtime.process import Report
from hacheck.impl.system import Member, Refused, System
from hacheck.impl.systems import system as system_of

CLIENT = "client"
ANSWER_SECONDS_MAX = 90.0
END_SECONDS_MAX = 10.0


class Silent(Exception):
    """A process does not answer, or the connection to it broke."""


# ---- making one ----


def planned(
    folder: Folder,
    protocol: str,
    replicas: int | None,
    clients: int | None,
    settings: Mapping[str, str],
    record: Path | None,
    port: int,
) -> Cluster:
    """The cluster that is to be in this folder: the one that is there already, or a new one. Errors: `Refused`, for
    what the protocol cannot do, and for other members than those of the one that is there."""
    system = system_of(protocol)
    before = folder.load() if folder.exists() else None
    if before is not None:
        if before.system != protocol:
            raise Refused(f"{folder.place} has a cluster of {before.system}, not of {protocol}: give another --dir")
        settings = {**before.settings, **settings}
    options = system.options(settings)
    if before is None:
        members = _members(system, replicas, clients or 0, options)
    else:
        members = _members_again(system, before.members, replicas, clients, options)
        if _servers(members) != _servers(before.members):
            raise Refused(f"{folder.place} has a cluster of other members: give another --dir, or the same --replicas")
    if record is not None:
        record.mkdir(parents=True, exist_ok=True)
    secret = token() if before is None else before.token
    return Cluster(VERSION, protocol, dict(settings), members, secret, str(record.resolve()) if record else "", port)


def _members(system: System, replicas: int | None, clients: int, options: Any) -> tuple[Member, ...]:
    """Who takes part: 3 replicas, 2 where the protocol is one of pairs, 1 where it has none, unless given otherwise."""
    if replicas is not None:
        return system.members(replicas, clients, options)
    with suppress(Refused):
        return system.members(3, clients, options)
    try:
        return system.members(2, clients, options)
    except Refused:
        with suppress(Refused):
            return system.members(1, clients, options)
        raise


def _members_again(
    system: System, before: tuple[Member, ...], replicas: int | None, clients: int | None, options: Any
) -> tuple[Member, ...]:
    """Who takes part in a cluster that was there before, with as many clients as wanted. How many of its other
    members are replicas only the protocol knows."""
    if replicas is None and clients is None:
        return before
    if clients is None:
        clients = sum(member.role == CLIENT for member in before)
    if replicas is not None:
        return system.members(replicas, clients, options)
    for number in range(len(before), 0, -1):
        try:
            members = system.members(number, clients, options)
        except Refused:
            continue
        if _servers(members) == _servers(before):
            return members
    raise Refused("these settings make other members of the cluster: give another --dir")


def _servers(members: tuple[Member, ...]) -> list[Name]:
    return [member.name for member in members if member.role != CLIENT]


def start(folder: Folder, cluster: Cluster, *, with_caller: bool) -> subprocess.Popen[bytes]:
    """Starts the keeper, and waits until all members serve. `with_caller`: it ends with this process. Errors:
    `Refused`, with every reason for which it does not start; then nothing runs."""
    running = address(folder)
    if running is not None:
        raise Refused(f"the cluster in {folder.place} runs already (process {running.pid}): end it with stop-all first")
    folder.make(cluster)
    with folder.keeper_log.open("ab") as log:
        keeper = subprocess.Popen(
            [
                *(sys.executable, "-P", "-m", "hacheck.impl.runtime.keeper"),
                *(str(folder.place.resolve()), str(os.getpid() if with_caller else 0)),
            ],
            stdin=subprocess.PIPE if with_caller else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            start_new_session=True,
        )
    assert keeper.stdout is not None
    try:
        with keeper.stdout as said:
            line = said.readline()
    except BaseException:
        keeper.terminate()
        keeper.wait()
        raise
    report = msgspec.json.decode(line, type=Report) if line else Report("failed", f"see {folder.keeper_log}")
    if report.what != "ready":
        if keeper.stdin is not None:
            keeper.stdin.close()
        keeper.wait()
        raise Refused(report.why)
    return keeper


# ---- reaching one ----


def address(folder: Folder) -> Address | None:
    """Where the keeper is, if it runs."""
    found = fetch(folder.keeper, Address)
    return found if found is not None and pids.alive(Pid(found.pid, found.started)) else None


class Line:
    """A connection of a guest to one process, which waits for its answers."""

    def __init__(self, cluster: Cluster, guest: Name, to: Name, port: int, seconds_max: float) -> None:
        """Errors: `Silent`."""
        try:
            self._socket = socket.create_connection((HOST, port), seconds_max)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError as error:
            raise Silent(f"{to} refuses connections: {error.strerror or error}") from None
        self.to = to
        self._frames = Frames()
        self._come: list[bytes] = []
        self.send(Hello(WIRE, cluster.token, cluster.system, guest, to, guest=True))

    def send(self, content: object) -> None:
        """Sends one frame. Errors: `Silent`."""
        try:
            self._socket.sendall(frame(content))
        except OSError as error:
            raise Silent(f"{self.to} has hung up: {error.strerror or error}") from None

    def receive(self, seconds_max: float | None) -> bytes:
        """The next frame. Errors: `Silent`, also if none comes in time."""
        self._socket.settimeout(seconds_max)
        try:
            while not self._come:
                data = self._socket.recv(1 << 16)
                if not data:
                    raise Silent(f"{self.to} has hung up")
                self._come.extend(self._frames.feed(data))
        except TimeoutError:
            raise Silent(f"{self.to} does not answer within {seconds_max:g} s") from None
        except (OSError, Damaged) as error:
            raise Silent(f"{self.to} has hung up: {error}") from None
        return self._come.pop(0)

    def close(self) -> None:
        """Hangs up."""
        self._socket.close()


def ask(folder: Folder, request: Ask) -> Answer:
    """Has the keeper do something. Errors: `Refused`, if it does not run; `Silent`."""
    cluster = folder.load()
    found = address(folder)
    if found is None:
        raise Refused(f"the cluster in {folder.place} does not run: start it with `hacheck cluster start`")
    line = Line(cluster, f"guest-{os.getpid()}", KEEPER, found.port, ANSWER_SECONDS_MAX)
    try:
        line.send(request)
        return msgspec.msgpack.decode(line.receive(ANSWER_SECONDS_MAX), type=Answer)
    finally:
        line.close()


def stop_all(folder: Folder) -> int:
    """Ends a cluster, also one whose keeper does not answer, and whatever a keeper that was killed has left behind:
    only processes that this cluster has started. Returns how many had to be killed. Errors: `Refused`, for no
    cluster."""
    cluster = folder.load()
    found = address(folder)
    if found is not None:
        keeper = Pid(found.pid, found.started)
        pids.end(keeper, signal.SIGTERM)
        pids.end(keeper, signal.SIGCONT)
        if not pids.ended(keeper, END_SECONDS_MAX):
            pids.end(keeper, signal.SIGKILL)
            pids.ended(keeper, END_SECONDS_MAX)
    killed = 0
    for member in cluster.members:
        process = fetch(folder.process(member.name), Pid)
        if process is not None:
            killed += pids.end(process, signal.SIGKILL)
            folder.process(member.name).unlink(missing_ok=True)
    if cluster.record and folder.keeper.exists():  # the keeper did not get to it
        place = Path(cluster.record)
        merged(place, f"{cluster.system}-{cluster.token[:8]}", place / f"cluster{SUFFIX}")
    folder.keeper.unlink(missing_ok=True)
    return killed


# ---- speaking to members ----


class Guest:
    """Somebody who is no member, and speaks to members in the messages of their system."""

    def __init__(self, folder: Folder, name: Name = "") -> None:
        """Errors: `Refused`, if the cluster does not run; `Silent`."""
        self.cluster = folder.load()
        self.name = name or f"guest-{os.getpid()}"
        self._folder = folder
        self._decoder: msgspec.msgpack.Decoder[Any] = messages_of(system_of(self.cluster.system))

    def ports(self) -> dict[Name, int]:
        """Where each member listens; 0: it is down."""
        return {standing.name: standing.port for standing in ask(self._folder, Ask("status")).members}

    @contextmanager
    def line(self, to: Name, port: int, seconds_max: float) -> Iterator[Line]:
        """A connection to a member. Errors: `Silent`."""
        if not port:
            raise Silent(f"{to} is down")
        line = Line(self.cluster, self.name, to, port, seconds_max)
        try:
            yield line
        finally:
            line.close()

    def read(self, content: bytes) -> Message:
        """A message. Errors: `Silent`, for a refusal, and what is none."""
        try:
            message: Message = self._decoder.decode(content)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            try:
                reason = msgspec.msgpack.decode(content, type=Refusal).reason
            except (msgspec.DecodeError, UnicodeDecodeError):
                reason = str(error)
            raise Silent(f"not understood: {reason}") from None
        return message

    def call(self, to: Name, port: int, message: Message, seconds_max: float) -> Message:
        """Sends a message and waits for the first answer. Errors: `Silent`."""
        with self.line(to, port, seconds_max) as line:
            line.send(message)
            return self.read(line.receive(seconds_max))
