"""One member of a cluster as a process: `python -m hacheck.impl.runtime.process FOLDER MEMBER PARENT PORT`.

It holds the lock of its folder, opens its disk, listens, and runs the node: one input at a time, in the thread of the
event loop; writes are done by the threads of the disks. On standard output it reports to its keeper, in lines of JSON,
what becomes of it; when the keeper ends, it ends."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from hacheck.impl.node import (
    CancelTimer,
    Fired,
    Halt,
    Input,
    LockAnswered,
    LockLost,
    Name,
    Node,
    ReadShared,
    Record,
    Send,
    SetTimer,
    Setup,
    SharedRead,
    Started,
    TryLock,
    Unlock,
    Write,
    WriteFailed,
    Written,
)
from hacheck.impl.recording import Log
from hacheck.impl.runtime import pids
from hacheck.impl.runtime.disk import Database, Disk
from hacheck.impl.runtime.folder import Cluster, Folder, hold, store
from hacheck.impl.runtime.frames import messages_of
from hacheck.impl.runtime.hosts import Hosts
from hacheck.impl.runtime.links import HOST, Incoming, Links
from hacheck.impl.runtime.locks import LockFile
from hacheck.impl.system import Member, Refused
from hacheck.impl.systems import system as system_of

LOCKS_LOOKED_AT_SECONDS = 0.5
ENDED, REFUSED, HALTED, FAILED = 0, 2, 3, 4
"""Exit codes: it was ordered to end; it must not start; the node has ended itself; a defect, or a disk in doubt."""


class Report(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a process reports to its keeper: `ready`, `refused`, `halted` or `failed`; why; and where it listens."""

    what: str
    why: str = ""
    port: int = 0
    incarnation: int = 0


def send_report(report: Report) -> None:
    """Reports to the keeper."""
    try:
        os.write(1, msgspec.json.encode(report) + b"\n")
    except OSError:
        pass  # nobody listens any more; this process is about to end


class Process:
    """A member while it runs. `code`: the exit code, once it is to end."""

    def __init__(self, folder: Folder, cluster: Cluster, member: Member, port: int) -> None:
        """Errors: `Refused`, where it must not start."""
        self.name, self.member = member.name, member
        self.code: int | None = None
        system = system_of(cluster.system)
        hold(folder.of(self.name) / "lock", f"the data directory {folder.of(self.name)}")
        self.locks = {name: LockFile(name, folder.lock_file(name)) for name in member.locks}
        shared = {name: Database(folder.shared(name), cluster.system) for name in member.shared}
        own = Database(folder.disk(self.name), cluster.system)
        self.incarnation = own.begin_incarnation()
        options = system.options(cluster.settings)
        setup = Setup(self.name, self.incarnation, own.content(), options)
        self.node: Node = system.start(member, cluster.members, setup)
        self.loop = asyncio.get_running_loop()
        self.finished = asyncio.Event()
        self.hosts = Hosts(folder, member, self.give)
        self.disks = {name: Disk(database, self._doubtful) for name, database in {"": own, **shared}.items()}
        self.log = Log(Path(cluster.record), self.name, self.incarnation) if cluster.record else None
        members = frozenset(other.name for other in cluster.members)
        decoder = messages_of(system)
        self.links = Links(self.name, members, port, cluster.token, cluster.system, decoder, self.give, self.note)
        self.links.incarnation = self.incarnation
        self._timers: dict[str, tuple[int, asyncio.TimerHandle]] = {}
        self._kinds: dict[type, Callable[[Any], None]] = {
            Send: lambda effect: self.links.send(effect.to, effect.message),
            SetTimer: self._set_timer,
            CancelTimer: self._cancel_timer,
            Write: self._write,
            ReadShared: self._read,
            TryLock: self._try_lock,
            Unlock: lambda effect: self.hosts.request(effect.lock, self.locks[effect.lock].unlock),
            Record: self._record,
            Halt: self._halt,
        }

    async def listen(self, port: int) -> int:
        """Begins to listen. Returns the port. Errors: `Refused`, if it is taken."""
        try:
            server = await self.loop.create_server(lambda: Incoming(self.links), HOST, port)
        except OSError as error:
            raise Refused(f"the port {port} of {self.name} is taken, or not allowed: {error.strerror}") from None
        return int(server.sockets[0].getsockname()[1])

    async def run(self) -> int:
        """Runs the node until it is to end. Returns the exit code."""
        if self.locks:
            self.loop.call_later(LOCKS_LOOKED_AT_SECONDS, self._look_at_locks)
        self.give(Started())
        await self.finished.wait()
        self.links.close()
        for disk in self.disks.values():
            disk.close()
        if self.log is not None:
            self.log.close()
        assert self.code is not None
        return self.code

    def end(self, code: int, report: Report | None = None) -> None:
        """Ends this process, soon. Nothing more is given to the node."""
        if self.code is None:
            self.code = code
            if report is not None:
                send_report(report)
            self.finished.set()

    def note(self, line: str) -> None:
        """A line for the operator."""
        print(f"{time.strftime('%F %T')} {line}", file=sys.stderr, flush=True)

    # ---- inputs and effects ----

    def give(self, given: Input) -> None:
        """Gives the node an input, and carries out what it wants, in that order."""
        if self.code is not None:
            return
        try:
            for effect in self.node.handle(given, time.monotonic_ns() // 1000):
                self._kinds[type(effect)](effect)
                if self.finished.is_set():
                    return
        except Exception as error:  # a defect of the protocol: a process with a wrong memory must not go on
            traceback.print_exc()
            self.end(FAILED, Report("failed", f"{type(error).__name__}: {error}"))

    def _doubtful(self, why: str) -> None:
        report = Report("failed", f"the disk may or may not have a write: {why}")
        self.loop.call_soon_threadsafe(self.end, FAILED, report)

    def _set_timer(self, effect: SetTimer) -> None:
        self._cancel_timer(effect)
        due_us = time.monotonic_ns() // 1000 + max(effect.after_us, 0)
        self._wait(effect.timer, due_us)

    def _wait(self, timer: str, due_us: int) -> None:
        # The loop goes by the same clock. It may fire a little early, which `_due` puts right.
        self._timers[timer] = (due_us, self.loop.call_at(due_us / 1e6, self._due, timer, due_us))

    def _due(self, timer: str, due_us: int) -> None:
        if time.monotonic_ns() // 1000 < due_us:
            self._wait(timer, due_us)
            return
        del self._timers[timer]
        self.give(Fired(timer))

    def _cancel_timer(self, effect: SetTimer | CancelTimer) -> None:
        timer = self._timers.pop(effect.timer, None)
        if timer is not None:
            timer[1].cancel()

    def _write(self, effect: Write) -> None:
        token, host = effect.token, effect.shared
        if host and not self.hosts.reached(host):
            self.hosts.fail(WriteFailed(token, f"{host} does not answer"))
            return

        def done(reason: str) -> None:
            self._answered(host, WriteFailed(token, reason) if reason else Written(token))

        self.disks[host].write(effect.changes, effect.sync, done)

    def _read(self, effect: ReadShared) -> None:
        token, host = effect.token, effect.shared
        if not self.hosts.reached(host):
            self.hosts.fail(SharedRead(token, None, f"{host} does not answer"))
            return

        def done(value: bytes | None, failed: str) -> None:
            self._answered(host, SharedRead(token, value, failed))

        self.disks[host].read(effect.key, done)

    def _answered(self, host: Name, given: Input) -> None:
        """A disk has done something, in a thread of its own. `host`: that of a shared one, or nothing."""
        if host:
            self.loop.call_soon_threadsafe(self.hosts.answer, host, given)
        else:
            self.loop.call_soon_threadsafe(self.give, given)

    def _try_lock(self, effect: TryLock) -> None:
        lock = effect.lock
        if not self.hosts.reached(lock):
            self.hosts.fail(LockAnswered(lock, False, f"{lock} does not answer"))
            return
        self.hosts.arrive(lock)
        reason = self.locks[lock].try_lock()
        self.loop.call_soon(self.hosts.answer, lock, LockAnswered(lock, not reason, reason))

    def _look_at_locks(self) -> None:
        for name, lock in self.locks.items():
            if self.hosts.reached(name) and lock.lost():
                self.give(LockLost(name))
        self.loop.call_later(LOCKS_LOOKED_AT_SECONDS, self._look_at_locks)

    def _record(self, effect: Record) -> None:
        if self.log is not None:
            self.log.add(time.time_ns(), effect.event, effect.fields)

    def _halt(self, effect: Halt) -> None:
        self.note(f"ends itself: {effect.reason}")
        self.end(HALTED, Report("halted", effect.reason))


async def _run(folder: Folder, name: str, keeper_port: int) -> int:
    try:
        cluster = folder.load()
        process = Process(folder, cluster, cluster.member(name), keeper_port)
        port = await process.listen(cluster.port_of(name))
        store(folder.process(name), pids.of(os.getpid()))
    except Refused as refused:
        print(f"refuses to start: {refused}", file=sys.stderr, flush=True)
        send_report(Report("refused", str(refused)))
        return REFUSED
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, process.end, ENDED)
    loop.add_reader(0, partial(_heard, process))
    send_report(Report("ready", port=port, incarnation=process.incarnation))
    return await process.run()


def _heard(process: Process) -> None:
    """Standard input never says anything: when it ends, so has the keeper."""
    if not os.read(0, 4096):
        asyncio.get_running_loop().remove_reader(0)
        process.end(ENDED)


def command(place: Path, member: Name, port: int) -> list[str]:
    """How this process starts a member of the cluster in a folder. `port`: where its connections lead."""
    words = (str(place), member, str(os.getpid()), str(port))
    return [sys.executable, "-P", "-m", "hacheck.impl.runtime.process", *words]


def main(words: list[str]) -> int:
    """Runs one member. Returns the exit code."""
    place, name, parent, port = words
    pids.end_with_parent(int(parent))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the keeper, who ends its processes in order
    return asyncio.run(_run(Folder(Path(place)), name, int(port)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
