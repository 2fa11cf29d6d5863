"""An operator of brokers without a cluster: has copies kept, and lets applications go over to one.

Nobody else does it: such brokers have no resource manager, and no broker is promoted. He has the copies kept, again for
those that were started again (they do not know of it any more). When the first broker has not answered for
`go_over_after_us`, he takes it for gone, ends the replication (`ends_replication`), and tells the applications to use
the first copy from now on, for good. He may be wrong about that: a broker that cannot be reached from here may run.

**Source:** overview of the HA module, "Standalone replication"; survey of broker failover protocols, section 1.10.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec
from msgspec import Struct

from hacheck.impl.kit.state_table import StateTable
from hacheck.impl.node import Effect, Fired, Input, Name, Received, Send, Setup, Started, Write, WriteFailed, Written
from hacheck.impl.protocols.qpid.host import Host
from hacheck.impl.protocols.qpid.options import Options
from hacheck.impl.protocols.qpid.orders import (
    EndReplication,
    GoneOver,
    GoOver,
    Replicate,
    Replicating,
    StatusAnswer,
    StatusQuery,
)
from hacheck.impl.system import Refused

TICK = "tick"
KEY = "operator"
VERSION = 1

WATCHING: Final = "watching"
WRITING: Final = "writing"
ENDING: Final = "ending"
GONE_OVER: Final = "gone over"

OPERATOR: Final = StateTable(
    "The operator of brokers without a cluster",
    "survey of broker failover protocols, section 1.10",
    WATCHING,
    {
        (WATCHING, "the first broker has been silent for too long"): WRITING,
        (WRITING, "that could not be written"): WATCHING,
        (WRITING, "it is on the disk, and the copy is to be one no more"): ENDING,
        (WRITING, "it is on the disk, and the copy is left as it is"): GONE_OVER,
        (ENDING, "the copy says that it is none any more"): GONE_OVER,
    },
)
"""What he does about the first broker: every transition there is."""


class StoredOperator(Struct, frozen=True):
    """What must not be forgotten: that applications are to go over, and which copies have begun."""

    goes_over: bool
    begun: tuple[Name, ...] = ()
    version: int = VERSION


class Operator:
    """The operator. `source`: the first broker; `copies`: the others; `clients`: those who use it. `begun`: copies that
    have said that they replicate; `told`: clients that have said that they have gone over."""

    def __init__(
        self,
        setup: Setup,
        options: Options,
        brokers: tuple[Name, ...],
        queues: frozenset[str],
        clients: tuple[Name, ...],
    ) -> None:
        self.options = options
        self.host = Host(setup.member, setup.incarnation, options.heartbeat_us)
        self.source, *copies = brokers
        self.copies = tuple(copies)
        self.queues = tuple(sorted(queues))
        self.clients = clients
        stored = _read(setup.durable.get(KEY))
        self.state: str = ENDING if stored.goes_over else WATCHING
        self.begun = dict.fromkeys(stored.begun)
        self.told: dict[Name, None] = {}
        self.begins_us = 0 if setup.incarnation else options.set_up_after_us
        self.heard_us = 0
        self.number = 0
        self.token = 0
        self.deciding = -1

    def handle(self, given: Input, now_us: int) -> list[Effect]:
        """What is to be done about an input."""
        out = self.host.begin(now_us)
        if isinstance(given, Received):
            self._received(given.sender, given.message)
        elif isinstance(given, Fired):
            self._tick()
        elif isinstance(given, Started):
            self.begins_us += now_us
            self.heard_us = now_us
            self._tick()
        elif isinstance(given, Written):
            self._written(given.token, done=True)
        elif isinstance(given, WriteFailed):
            self._written(given.token, done=False)
        return out

    def _enter(self, state: str) -> None:
        assert OPERATOR.leads(self.state, state), f"{self.state} -> {state}"
        self.state = state

    def _tick(self) -> None:
        """Ask how the first broker is; have done what is to be done, until it is."""
        host, options = self.host, self.options
        host.timer(TICK, options.check_interval_us)
        self.number += 1
        if self.state == WATCHING:
            host.out.append(Send(self.source, StatusQuery(self.number)))
            self._set_up()
            silent_us = host.now_us - self.heard_us
            if options.go_over_after_us and self.begun and silent_us >= options.go_over_after_us:
                self._enter(WRITING)
                self.deciding = self._write(goes_over=True)
        elif self.state == ENDING:
            host.out.append(Send(self.copies[0], EndReplication(self.number)))
        elif self.state == GONE_OVER:
            self._tell()

    def _set_up(self) -> None:
        """A copy that was started again has to be told again; one that stays apart is told once."""
        if self.host.now_us < self.begins_us:
            return
        for copy in self.copies:
            if not self.options.stays_apart or copy not in self.begun:
                self.host.out.append(Send(copy, Replicate(self.number, self.queues)))

    def _tell(self) -> None:
        for client in self.clients:
            if client not in self.told:
                self.host.out.append(Send(client, GoOver(self.copies[0])))

    def _received(self, sender: Name, message: Any) -> None:
        if isinstance(message, StatusAnswer) and sender == self.source:
            self.heard_us = self.host.now_us
        elif isinstance(message, GoneOver) and sender in self.clients:
            self.told[sender] = None
        elif isinstance(message, Replicating) and sender in self.copies:
            if message.does and sender not in self.begun:
                self.begun[sender] = None
                self.host.record("replication_set_up", copy=sender)
                self._write(goes_over=False)
            elif not message.does and self.state == ENDING and sender == self.copies[0]:
                self._go_over()

    def _go_over(self) -> None:
        self._enter(GONE_OVER)
        self.host.record("goes_over", to=self.copies[0])
        self._tell()

    def _write(self, *, goes_over: bool) -> int:
        self.token += 1
        kept = msgspec.msgpack.encode(StoredOperator(goes_over, tuple(self.begun)))
        self.host.out.append(Write(self.token, ((KEY, kept),)))
        return self.token

    def _written(self, token: int, *, done: bool) -> None:
        if token != self.deciding or self.state != WRITING:
            return
        if not done:
            self._enter(WATCHING)
        elif self.options.ends_replication:
            self._enter(ENDING)
            self.host.out.append(Send(self.copies[0], EndReplication(self.number)))
        else:
            self._go_over()


def _read(raw: bytes | None) -> StoredOperator:
    if raw is None:
        return StoredOperator(False)
    try:
        stored = msgspec.msgpack.decode(raw, type=StoredOperator)
    except msgspec.MsgspecError as error:
        raise Refused(f"the operator's disk cannot be read ({error}): erase it") from error
    if stored.version != VERSION:
        raise Refused(f"the operator's disk has format {stored.version}; this one reads {VERSION}")
    return stored
