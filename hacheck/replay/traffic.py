"""Messages between processes that a schedule holds until their step is due.

A link layer (`tcp_proxies`, or a cluster in memory) hands in each message; what `holds` says of it decides whether it
passes at once. What is held is overtaken by later messages: a server with several threads may do the same.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable

from msgspec import Struct, field

CLIENT = 0
"""The number of everybody who is no process of the product: clients, and the replay's own queries."""


class Message(Struct, eq=False):
    """A message on its way. `kind`: `request` or `reply`; a reply has the operation of its request. `number`: pairs
    them on a connection. `detail`: of its content, what a reader wants to see. `deliver`: sends it on, or drops it."""

    source: int
    target: int
    kind: str
    operation: str
    number: int
    detail: str
    deliver: Callable[[bool], None]
    fate: str = "passed"
    at: float = field(default_factory=time.time)

    @property
    def text(self) -> str:
        """For the recording: `2>1 request invitation(3, 3:66C4CC64) released`."""
        return f"{self.source}>{self.target} {self.kind:7} {self.operation}({self.detail}) {self.fate}"


class Traffic:
    """All links of one replay. To be used from any thread.

    `holds`: which messages are held. `cuts`: pairs whose link is down. `deaf`: processes that take no calls. `refused`:
    who cannot open new connections to whom. `acting`: the process whose step it is: a call of another one to a process
    that is gone fails only later, while `failures_wait`. `log`: every message, in the order in which it came or was
    let go. `breakers`: break the connections from one process to another.
    """

    def __init__(self, holds: Callable[[Message], bool], record: Callable[[Message], None]) -> None:
        self.holds, self._record = holds, record
        self.cuts: set[frozenset[int]] = set()
        self.deaf: set[int] = set()
        self.refused: set[tuple[int, int]] = set()
        self.acting: int | None = None
        self.failures_wait = True
        self.log: list[Message] = []
        self._held: list[Message] = []
        self._lock = threading.Lock()
        self.breakers: list[Callable[[int, int], None]] = []

    # ---- for the link layer ----

    def came(self, message: Message) -> bool:
        """A message has come. Returns whether it is held; else it is sent on at once."""
        with self._lock:
            held = self.holds(message)
            if held:
                message.fate = "held"
                self._held.append(message)
            self.log.append(message)
        self._record(message)
        if not held:
            message.deliver(True)
        return held

    def gone(self, message: Message) -> None:
        """A held message can no longer be delivered: its connection has ended."""
        with self._lock:
            self._held = [one for one in self._held if one is not message]

    # ---- for tables of steps ----

    def held(
        self, operation: str | None = None, source: int | None = None, target: int | None = None, kind: str = "request"
    ) -> list[Message]:
        """The messages that are held, in the order in which they came; `None` fits every process."""
        with self._lock:
            return [
                one
                for one in self._held
                if one.kind == kind
                and operation in (None, one.operation)
                and source in (None, one.source)
                and target in (None, one.target)
            ]

    def let(self, message: Message, *, drop: bool = False) -> None:
        """Sends a held message on, or drops it. One that is no longer held stays where it is."""
        with self._lock:
            if not any(one is message for one in self._held):
                return
            self._held = [one for one in self._held if one is not message]
            message.fate = "dropped" if drop else "released"
            self.log.append(message)
        self._record(message)
        message.deliver(not drop)

    def let_all(
        self, operation: str | None = None, source: int | None = None, target: int | None = None, kind: str = "request"
    ) -> None:
        """Sends on all that `held` lists."""
        for message in self.held(operation, source, target, kind):
            self.let(message)

    def drop_all(self, operation: str | None, source: int | None, target: int | None, kind: str = "request") -> None:
        """Drops all that `held` lists."""
        for message in self.held(operation, source, target, kind):
            self.let(message, drop=True)

    def passed(self, since: int, operation: str, kind: str = "request") -> list[Message]:
        """The messages that went through after place `since` of the log."""
        with self._lock:
            return [
                one
                for one in self.log[since:]
                if one.operation == operation and one.kind == kind and one.fate in ("passed", "released")
            ]

    def cut(self, one: int, other: int) -> None:
        """The link between two processes is down: its connections break, and new ones are refused."""
        with self._lock:
            self.cuts.add(frozenset((one, other)))
        self._break(one, other)
        self._break(other, one)

    def mend(self, one: int, other: int) -> None:
        """The link is up again."""
        with self._lock:
            self.cuts.discard(frozenset((one, other)))

    def deafen(self, member: int, others: Iterable[int]) -> None:
        """A process takes no calls of others, and calls under way fail. What it has sent itself stays under way."""
        with self._lock:
            self.deaf.add(member)
        for other in others:
            self._break(other, member)

    def hear(self, member: int) -> None:
        """The process takes calls again."""
        with self._lock:
            self.deaf.discard(member)

    def is_refused(self, source: int, target: int) -> bool:
        """Whether a new connection does not come about."""
        return frozenset((source, target)) in self.cuts or target in self.deaf or (source, target) in self.refused

    def _break(self, source: int, target: int) -> None:
        for breaks in self.breakers:
            breaks(source, target)
