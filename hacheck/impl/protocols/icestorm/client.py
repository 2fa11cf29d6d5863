"""A client: it asks the service, asks another replica when one does not answer, and says what it was informed.

It is a publisher and a subscriber, too. A request that is sent again keeps its identity; what the first attempt may
have done shows as `TopicExists` or `AlreadySubscribed`, which is then expected.

**Source**: Highly Available IceStorm, "Client Considerations for IceStorm Replication", "Publisher Considerations for
IceStorm Replication".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, cast

from msgspec import Struct

from hacheck.impl.kit.process import Process, ProcessNode
from hacheck.impl.node import Fired, Input, Name, Received, Setup, Started, Unreachable
from hacheck.impl.protocols.icestorm.messages import Deliver, Delivered, Reply, Request
from hacheck.impl.protocols.icestorm.options import Options
from hacheck.impl.protocols.icestorm.records import (
    FAILED,
    UNKNOWN,
    UPDATES,
    ClientOperation,
    GetPublisher,
    Publish,
    about,
)
from hacheck.impl.protocols.icestorm.workload import script_of

NEXT, ATTEMPT = "next", "attempt"


class PendingRequest(Struct):
    """A request under way: the latest attempt, and whom it went to."""

    request: str
    operation: ClientOperation
    attempt: int = 0
    replica: Name = ""


class Client(ProcessNode[Process[None]]):
    """One client. `replicas`: all that there are; `bound`: which of them it asks, until that one fails. `publisher`:
    where it publishes, by the publisher proxy it was given; `held`: the message that waits for such a proxy."""

    __slots__ = (
        "bound",
        "held",
        "index",
        "member",
        "options",
        "pending",
        "process",
        "proxy_requests",
        "publisher",
        "replicas",
        "script",
        "used_us",
    )

    def __init__(self, setup: Setup, replicas: tuple[Name, ...], index: int) -> None:
        options: Options = setup.options
        self.member = setup.member
        self.options = options
        self.replicas = replicas
        self.bound = index % len(replicas)
        self.index = index
        self.proxy_requests = 0
        self.used_us = 0
        self.script = script_of(setup.member, setup.incarnation, options, index)
        self.process: Process[None] = Process(setup)
        self.pending: PendingRequest | None = None
        self.publisher: tuple[Name, ...] = ()
        self.held: Publish | None = None

    def _started(self, given: Started) -> None:
        if self.options.workload != "none":
            self.process.record("client_started")
            self.process.set_timer(NEXT, self.options.client_period_us)

    def _received(self, given: Received) -> None:
        if isinstance(given.message, Reply):
            self._replied(given.sender, given.message)
        elif isinstance(given.message, Deliver):
            self._taken(given.sender, given.message)

    def _fired(self, given: Fired) -> None:
        if given.timer == NEXT:
            self._next()
        else:
            self._elsewhere("no answer")

    def _unreachable(self, given: Unreachable) -> None:
        if self.pending is not None and self.pending.replica == given.peer:
            self._gave_up("unreachable")
            self.pending.replica = ""
            self.process.set_timer(ATTEMPT, self.options.client_period_us)

    # ---- requests ----------------------------------------------------------------------------------------------------

    def _next(self) -> None:
        self.process.set_timer(NEXT, self.options.client_period_us)
        if self.pending is not None:
            return
        operation = self.held or self.script.next(self.process.now_us)
        self.held = None
        if operation is None:
            return
        if isinstance(operation, Publish) and not self.publisher:
            self.held = operation
            self.proxy_requests += 1
            operation = GetPublisher(operation.topic, self._wants_replicated())
        self.pending = PendingRequest(f"{self.member}/{self.process.fresh_number():x}", operation)
        self._attempt(self.pending)

    def _attempt(self, pending: PendingRequest) -> None:
        pending.attempt += 1
        pending.replica = self._target(pending.operation)
        operation = pending.operation
        self.process.record(
            "asked",
            request=pending.request,
            attempt=pending.attempt,
            replica=pending.replica,
            operation=type(operation).__name__,
            update=isinstance(operation, UPDATES),
            **_subject(operation),
        )
        self.process.send(pending.replica, Request(pending.request, pending.attempt, operation))
        self.process.set_timer(ATTEMPT, self.options.client_timeout_us)

    def _wants_replicated(self) -> bool:
        """Whether to ask for a proxy of all replicas, or of one."""
        kind = self.options.proxy
        if kind == "mixed":
            return self.index % 2 == 0
        return kind == "replicated" or (kind == "either" and self.proxy_requests % 2 == 1)

    def _target(self, operation: ClientOperation) -> Name:
        if isinstance(operation, Publish) and self.publisher:
            idle_us = self.options.idle_close_us
            if idle_us and self.used_us and self.process.now_us - self.used_us >= idle_us:
                self._bind((*self.publisher[1:], self.publisher[0]))  # ACM has closed the connection, silently
            self.used_us = self.process.now_us
            return self.publisher[0]
        return self.replicas[self.bound]

    def _gave_up(self, why: str) -> None:
        assert self.pending is not None
        pending = self.pending
        self.process.record("told", request=pending.request, attempt=pending.attempt, outcome="unknown", detail=why)

    def _elsewhere(self, why: str) -> None:
        """The attempt has failed, or nobody knows: the next replica gets the request."""
        pending = self.pending
        if pending is None:
            return
        if pending.replica:
            self._gave_up(why)
        if not isinstance(pending.operation, Publish):
            self.bound = (self.bound + 1) % len(self.replicas)
        elif len(self.publisher) > 1 and self.options.idempotent:
            self._bind((*self.publisher[1:], self.publisher[0]))
        else:
            self._exception(pending)
            return
        self._attempt(pending)

    def _exception(self, pending: PendingRequest) -> None:
        """The publisher is informed that nobody knows what came of its message, and goes on with the next one. A proxy
        for one replica does not fail over: it gets another one."""
        self.process.record("publisher_failed", request=pending.request)
        if len(self.publisher) > 1:
            self._bind((*self.publisher[1:], self.publisher[0]))
        else:
            self.publisher = ()
            self.bound = (self.bound + 1) % len(self.replicas)
            if self.options.idempotent:
                self.held = cast(Publish, pending.operation)
        self.pending = None
        self.process.cancel_timer(ATTEMPT)

    def _bind(self, publisher: tuple[Name, ...]) -> None:
        """The publisher's connection leads to the first of these replicas."""
        self.publisher = publisher
        self.process.record("publisher_bound", replica=publisher[0], direct=len(publisher) == 1)

    def _replied(self, sender: Name, reply: Reply) -> None:
        """An answer, perhaps to an attempt that was given up."""
        sure = reply.outcome != UNKNOWN
        self.process.record(
            "told",
            request=reply.request,
            attempt=reply.attempt,
            outcome=reply.outcome if sure else "unknown",
            detail=reply.detail,
        )
        pending = self.pending
        if pending is None or pending.request != reply.request:
            return
        if not sure or reply.outcome == FAILED:
            if reply.attempt == pending.attempt:
                pending.replica = ""
                self.process.set_timer(ATTEMPT, self.options.client_period_us)
            return
        if isinstance(pending.operation, GetPublisher):
            self._got_proxy(sender, reply.names)
        self.script.heard(pending.operation, reply.outcome)
        self.pending = None
        self.process.cancel_timer(ATTEMPT)

    def _got_proxy(self, sender: Name, names: tuple[Name, ...]) -> None:
        """A publisher binds to the replica that has given it the proxy, if that is among its endpoints."""
        if not names:  # the topic is gone: so is the reason to publish on it
            self.publisher = ()
            self.held = None
            return
        first = names.index(sender) if sender in names else 0
        self.used_us = 0
        self._bind((*names[first:], *names[:first]))

    # ---- being a subscriber ----------------------------------------------------------------------------------------

    def _taken(self, sender: Name, message: Deliver) -> None:
        self.process.record(
            "delivered",
            replica=sender,
            topic=message.topic,
            origin=message.origin,
            identity=message.identity,
            publisher=message.publisher,
            number=message.number,
            message=f"{message.publisher}/{message.number}",
        )
        if message.call:
            self.process.send(sender, Delivered(message.call, True))

    inputs: ClassVar[Mapping[type[Input], Callable[[Any, Any], None]]] = {
        Started: _started,
        Received: _received,
        Fired: _fired,
        Unreachable: _unreachable,
    }


def _subject(operation: ClientOperation) -> dict[str, str | int]:
    """What an operation is about, for the record."""
    if isinstance(operation, Publish):
        return {"topic": operation.topic, "publisher": operation.publisher, "number": operation.number}
    return {"topic": getattr(operation, "topic", ""), "item": about(operation)}
