"""A cluster in memory whose next step somebody else chooses: messages, disks, locks and timers wait for it.

It promises nodes what `hacheck.impl.node` says that a runner promises, and nothing more: a message may arrive long
after others, a timer may fire while messages wait, since a process may be slow, or paused. It is the third of those
that carry out effects, beside `hacheck.impl.simulator` and `hacheck.impl.runtime`: schedules are explored with it,
models' runs are repeated with it, and the tests of the protocols choose its steps by a clock of their own.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from msgspec import Struct, field

from hacheck.impl.node import (
    CancelTimer,
    Fired,
    Halt,
    Input,
    LockAnswered,
    Name,
    Node,
    ReadShared,
    Received,
    Record,
    Send,
    SetTimer,
    Setup,
    SharedRead,
    Started,
    TryLock,
    Unlock,
    Unreachable,
    Write,
    WriteFailed,
    Written,
)
from hacheck.impl.simulator.disk import put
from hacheck.impl.system import Member, System

Choice: TypeAlias = tuple[str, ...]
"""A step that may come next: what, and to whom.

`start m`, `deliver a b` (the next from a to b), `disk m` (its next write is done), `host m` (its next request to a lock
or a shared disk is answered), `timer m` (its next timer fires), `crash m`, `crash-written m` (its writes under way are
done first), `cut a b` (their connection breaks, and what is under way is lost), `power m` (its machine fails: what was
not synced is lost, no process learns it, and what is on its way to it is lost until it is there again), `lose l m` (the
host of lock l forgets that m holds it, without a message).

Three are possible and never offered: `disk-fails m` and `host-fails m` (that write or request fails), `drop a b` (the
next message from a to b is lost).
"""

FAULTS = {"crash": "crash", "crash-written": "crash", "cut": "cut", "power": "power", "lose": "lock"}
"""The steps that are faults, with the kind that each is counted as."""

_SUPERVISED_US = 1_000_000
_WORDS_MAX = 100
_GONE = object()  # what is under way on a link behind the last message of who has ended
_NO_SPACE = "no space left on device"
_OUT_OF_REACH = "out of reach"


class CodeFailed(Exception):
    """A node raised, or requested what there is not: a defect of the code."""


class Process(Struct, eq=False):
    """A member. `now_us`: its own clock; `timers`: when each is due by it; `silent`: its machine is down; `unsynced`:
    what was at each place of its disk before writes that are not synced; `printed`: a digest of its state, worked out
    when somebody asks."""

    member: Member
    durable: dict[str, bytes] = field(default_factory=dict)
    node: Node | None = None
    incarnation: int = -1
    now_us: int = 0
    start_us: int | None = 0
    timers: dict[str, int] = field(default_factory=dict)
    writes: deque[Write] = field(default_factory=deque)
    requests: deque[Any] = field(default_factory=deque)
    silent: bool = False
    unsynced: dict[str, bytes | None] = field(default_factory=dict)
    printed: Any = None

    def wrote(self, write: Write) -> None:
        """A write is done. One that is synced takes along those before it."""
        if write.sync:
            self.unsynced.clear()
        else:
            for key, _ in write.changes:
                self.unsynced.setdefault(key, self.durable.get(key))
        put(self.durable, write.changes)


class _Host(Struct, eq=False):
    """A lock, a shared disk, or both. `holder`: a member and its incarnation."""

    content: dict[str, bytes] = field(default_factory=dict)
    holder: tuple[Name, int] | None = None


class Cluster:
    """One run. `record`: is given each record as it is written, with who wrote it. `clients_end`: whether clients may
    be those that a fault ends."""

    def __init__(
        self,
        system: System,
        members: tuple[Member, ...],
        options: Any,
        record: Callable[[Name, Record], None],
        clients_end: bool = True,
    ) -> None:
        self.system, self.members, self.options, self._record = system, members, options, record
        self._ending = {one.name for one in members if clients_end or not one.role.startswith("client")}
        self.processes = {one.name: Process(one) for one in members}
        names = dict.fromkeys(name for one in members for name in (*one.locks, *one.shared))
        self.hosts = {name: _Host() for name in names}
        self.links: dict[tuple[Name, Name], deque[Any]] = {}
        self.spoken: set[tuple[Name, Name]] = set()

    # ---- what may come next ----

    def choices(self, faults: Mapping[str, int]) -> list[Choice]:
        """What may come next: first what a quick and quiet system would do: disks, hosts, messages; where nothing
        waits, what comes first by the clocks. `faults`: how many of each kind may still come."""
        timed = sorted(self._timed())
        return [*self._waiting(), *(choice for _, _, choice in timed), *self._faults(faults)]

    def _waiting(self) -> Iterator[Choice]:
        # In an order that says nothing of how long they have waited: what comes next shows in what the cluster is like.
        for name, process in self.processes.items():
            if process.writes:
                yield "disk", name
            if process.requests:
                yield "host", name
        for pair in sorted(pair for pair, queue in self.links.items() if queue):
            yield "deliver", *pair

    def _timed(self) -> Iterator[tuple[int, int, Choice]]:
        for number, (name, process) in enumerate(self.processes.items()):
            if process.start_us is not None:
                yield process.start_us, number, ("start", name)
            elif process.timers:
                yield max(min(process.timers.values()), process.now_us), number, ("timer", name)

    def _faults(self, faults: Mapping[str, int]) -> Iterator[Choice]:
        if faults.get("crash"):
            for name, process in self.processes.items():
                if process.node is not None and name in self._ending:
                    yield "crash", name
                    if process.writes:
                        yield "crash-written", name
        if faults.get("cut"):
            yield from (("cut", *pair) for pair in sorted(self.spoken))
        if faults.get("power"):
            running = (name for name, process in self.processes.items() if process.node is not None)
            yield from (("power", name) for name in running if name in self._ending)
        if faults.get("lock"):
            held = ((name, host.holder) for name, host in self.hosts.items() if host.holder is not None)
            yield from (("lose", name, holder[0]) for name, holder in held)

    def about(self, choice: Choice) -> str:
        """What a step that may come next is about, in words: the message that arrives, the timer that fires."""
        match choice:
            case ("deliver", sender, to):
                message = self.links[sender, to][0]
                return f"{sender} is unreachable" if message is _GONE else _short(message)
            case ("disk", name):
                return "written"
            case ("host", name):
                return f"answered: {_short(self.processes[name].requests[0])}"
            case ("timer", name):
                return f"timer {_first(self.processes[name].timers)}"
            case ("crash-written", name):
                return "ends; what it was writing is written"
            case ("crash", name):
                return "ends; what it was writing is not written" if self.processes[name].writes else "ends"
            case ("cut", one, other):
                return f"the connection of {one} and {other} breaks"
            case ("power", name):
                lost = self.processes[name].unsynced
                return "its machine fails; what was not synced is lost" if lost else "its machine fails"
            case ("lose", lock, _):
                return f"loses the lock {lock} without learning it"
        return "starts"

    # ---- steps ----

    def do(self, choice: Choice) -> None:
        """Takes a step that is possible. Errors: `CodeFailed`."""
        match choice:
            case ("deliver", sender, to):
                self._deliver(sender, to)
            case ("drop", sender, to):
                self.links[sender, to].popleft()
            case ("disk", name):
                process = self.processes[name]
                write = process.writes.popleft()
                process.wrote(write)
                self.give(process, Written(write.token))
            case ("disk-fails", name):
                process = self.processes[name]
                self.give(process, WriteFailed(process.writes.popleft().token, _NO_SPACE))
            case ("host", name):
                process = self.processes[name]
                self._answer(process, process.requests.popleft())
            case ("host-fails", name):
                process = self.processes[name]
                self._refuse(process, process.requests.popleft())
            case ("timer", name):
                process = self.processes[name]
                timer = _first(process.timers)
                process.now_us = max(process.now_us, process.timers.pop(timer))
                self.give(process, Fired(timer))
            case ("start", name):
                self._start(self.processes[name])
            case ("crash", name):
                self._end(self.processes[name])
            case ("crash-written", name):
                process = self.processes[name]
                for write in process.writes:
                    process.wrote(write)
                self._end(process)
            case ("power", name):
                self._fail(self.processes[name])
            case ("lose", lock, _):
                self.hosts[lock].holder = None
            case ("cut", one, other):
                self._cut(one, other)

    def _start(self, process: Process) -> None:
        process.start_us = None
        if process.silent:
            process.silent = False
            self._forget(process)
        process.incarnation += 1
        setup = Setup(process.member.name, process.incarnation, dict(process.durable), self.options)
        try:
            process.node = self.system.start(process.member, self.members, setup)
        except Exception as error:
            raise CodeFailed(f"{process.member.name} cannot start: {type(error).__name__}: {error}") from error
        self.give(process, Started())

    def _deliver(self, sender: Name, to: Name) -> None:
        message = self.links[sender, to].popleft()
        process = self.processes[to]
        if message is _GONE:
            if process.node is not None:
                self.give(process, Unreachable(sender))
        elif process.node is not None:
            self.give(process, Received(sender, message))
        elif self.processes[sender].node is not None and not process.silent:
            self.give(self.processes[sender], Unreachable(to))

    def _answer(self, process: Process, requests: Any) -> None:
        name = process.member.name
        match requests:
            case TryLock(lock):
                host = self.hosts[lock]
                if host.holder is None or host.holder[0] == name:
                    host.holder = (name, process.incarnation)
                granted = host.holder == (name, process.incarnation)
                self.give(process, LockAnswered(lock, granted, "" if granted else "held by another process"))
            case ReadShared(token, shared, key):
                self.give(process, SharedRead(token, self.hosts[shared].content.get(key)))
            case Write(token, changes, _, shared):
                put(self.hosts[shared].content, changes)
                self.give(process, Written(token))
            case Unlock(lock):
                if self.hosts[lock].holder == (name, process.incarnation):
                    self.hosts[lock].holder = None

    def _refuse(self, process: Process, requests: Any) -> None:
        """A host does not answer, and has done nothing."""
        match requests:
            case TryLock(lock):
                self.give(process, LockAnswered(lock, False, _OUT_OF_REACH))
            case ReadShared(token):
                self.give(process, SharedRead(token, None, _OUT_OF_REACH))
            case Write(token):
                self.give(process, WriteFailed(token, _OUT_OF_REACH))

    def _end(self, process: Process) -> None:
        """A process ends, and is started again some time later."""
        self._stop(process)
        self._forget(process)

    def _fail(self, process: Process) -> None:
        """A machine fails. Others learn of that, and its locks are free, when it is there again."""
        self._stop(process)
        process.silent = True
        put(process.durable, tuple(process.unsynced.items()))
        process.unsynced.clear()

    def _stop(self, process: Process) -> None:
        process.node, process.printed = None, None
        process.timers, process.writes, process.requests = {}, deque(), deque()
        process.start_us = process.now_us + _SUPERVISED_US

    def _forget(self, process: Process) -> None:
        """What there was with a process that has ended is no more: its locks, its connections."""
        name = process.member.name
        for host in self.hosts.values():
            if host.holder == (name, process.incarnation):
                host.holder = None
        for other in self.processes:
            if (name, other) in self.spoken or (other, name) in self.spoken:
                self.links.pop((other, name), None)
                self.put_under_way(name, other, _GONE)
        self.spoken = {pair for pair in self.spoken if name not in pair}

    def _cut(self, one: Name, other: Name) -> None:
        """A connection breaks: both learn of it, behind nothing."""
        self.spoken -= {(one, other), (other, one)}
        for sender, to in ((one, other), (other, one)):
            self.links.pop((sender, to), None)
            self.put_under_way(sender, to, _GONE)

    def put_under_way(self, sender: Name, to: Name, message: Any) -> None:
        """A message, or the end of a connection, waits to be delivered."""
        self.links.setdefault((sender, to), deque()).append(message)

    # ---- what nodes do ----

    def give(self, process: Process, given: Input) -> None:
        """Hands an input to a process that is up, and carries out what it returns. Errors: `CodeFailed`."""
        assert process.node is not None, "it is up"
        process.printed = None
        try:
            effects = process.node.handle(given, process.now_us)
        except Exception as error:
            raise CodeFailed(f"{process.member.name}, given {given!r}: {type(error).__name__}: {error}") from error
        self.carry_out(process, effects)

    def carry_out(self, process: Process, effects: Sequence[Any]) -> None:
        """What a process wants done, in its order. Errors: `CodeFailed`, where there is no such thing."""
        name = process.member.name
        for effect in effects:
            match effect:
                case Send(to, message):
                    if to not in self.processes:
                        self.send_outside(name, effect)
                        continue
                    self.spoken.add((min(name, to), max(name, to)))
                    self.put_under_way(name, to, message)
                case SetTimer(timer, after_us):
                    process.timers[timer] = process.now_us + max(after_us, 0)
                case CancelTimer(timer):
                    process.timers.pop(timer, None)
                case Record():
                    self._record(name, effect)
                case Halt():
                    self._end(process)
                    self.carried_out(process, effect)
                    return
                case Write(shared=""):
                    process.writes.append(effect)
                case _:
                    self._ask(process, effect)
            self.carried_out(process, effect)

    def carried_out(self, process: Process, effect: Any) -> None:
        """An effect was carried out, or waits for its step. For who chooses the steps by when effects came."""

    def send_outside(self, sender: Name, effect: Send) -> None:
        """A message to who is no member: a defect, unless somebody plays those. Errors: `CodeFailed`."""
        raise CodeFailed(f"{sender} sends to `{effect.to}`, which there is not: {effect!r}")

    def _ask(self, process: Process, effect: Any) -> None:
        lock = isinstance(effect, (TryLock, Unlock))
        reached = process.member.locks if lock else process.member.shared
        host = effect.lock if lock else effect.shared
        if host not in reached:
            raise CodeFailed(f"{process.member.name} asks for what it does not reach: {effect!r}")
        process.requests.append(effect)


def _first(timers: Mapping[str, int]) -> str:
    """The timer that is due first."""
    return min(timers, key=lambda name: (timers[name], name))


def _short(message: Any) -> str:
    text = repr(message)
    return text if len(text) <= _WORDS_MAX else f"{text[: _WORDS_MAX - 1]}…"
