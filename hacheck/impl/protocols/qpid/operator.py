"""An operator of brokers without a cluster: has copies kept, and lets applications go over to one.

Nobody else does it: such brokers have no resource manager, and no broker is promoted. He has the copies kept, again for
those that were started again (they do not know of it any more). When the first broker has not answered for
`go_over_after_us`, he takes it for gone, ends the replication (`ends_replication`), and shows the applications to use
the first copy from now on, for good. He may be wrong about that: a broker that cannot be reached from here may run.

**Source:** overview of the HA module, "Standalone replication"; survey of broker failover protocols, section 1.10.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final

from msgspec import Struct

from hacheck.impl.kit.process import ProcessNode
from hacheck.impl.kit.state_table import StateTable
from hacheck.impl.kit.storage import decode, encode
from hacheck.impl.node import Fired, Input, Name, Received, Setup, Started, WriteFailed, Written
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
from hacheck.impl.protocols.qpid.process import Process

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


class Operator(ProcessNode[Process]):
    """The operator. `source`: the first broker; `copies`: the others; `clients`: those who use it. `begun`: copies that
    have said that they replicate; `moved`: clients that have said that they have gone over."""

    def __init__(
        self,
        setup: Setup,
        options: Options,
        brokers: tuple[Name, ...],
        queues: frozenset[str],
        clients: tuple[Name, ...],
    ) -> None:
        self.options = options
        self.process = Process(setup, options.heartbeat_us)
        self.source, *copies = brokers
        self.copies = tuple(copies)
        self.queues = tuple(sorted(queues))
        self.clients = clients
        raw = setup.durable.get(KEY)
        stored = decode(raw, StoredOperator, "the operator's decision") if raw is not None else StoredOperator(False)
        self.state: str = ENDING if stored.goes_over else WATCHING
        self.begun = dict.fromkeys(stored.begun)
        self.moved: dict[Name, None] = {}
        self.begins_us = 0 if setup.incarnation else options.set_up_after_us
        self.heard_us = 0
        self.number = 0
        self.deciding = -1

    def _started(self, given: Started) -> None:
        self.begins_us += self.process.now_us
        self.heard_us = self.process.now_us
        self._tick()

    def _enter(self, state: str) -> None:
        assert OPERATOR.leads(self.state, state), f"{self.state} -> {state}"
        self.state = state

    def _tick(self, given: Fired | None = None) -> None:
        """Ask how the first broker is; have done what is to be done, until it is."""
        process, options = self.process, self.options
        process.set_timer(TICK, options.check_interval_us)
        self.number += 1
        if self.state == WATCHING:
            process.send(self.source, StatusQuery(self.number))
            self._set_up()
            silent_us = process.now_us - self.heard_us
            if options.go_over_after_us and self.begun and silent_us >= options.go_over_after_us:
                self._enter(WRITING)
                self.deciding = self._write(goes_over=True)
        elif self.state == ENDING:
            process.send(self.copies[0], EndReplication(self.number))
        elif self.state == GONE_OVER:
            self._send_clients_over()

    def _set_up(self) -> None:
        """A copy that was started again has to be informed again; one that stays apart is informed once."""
        if self.process.now_us < self.begins_us:
            return
        for copy in self.copies:
            if not self.options.stays_apart or copy not in self.begun:
                self.process.send(copy, Replicate(self.number, self.queues))

    def _send_clients_over(self) -> None:
        for client in self.clients:
            if client not in self.moved:
                self.process.send(client, GoOver(self.copies[0]))

    def _received(self, given: Received) -> None:
        sender, message = given.sender, given.message
        if isinstance(message, StatusAnswer) and sender == self.source:
            self.heard_us = self.process.now_us
        elif isinstance(message, GoneOver) and sender in self.clients:
            self.moved[sender] = None
        elif isinstance(message, Replicating) and sender in self.copies:
            if message.does and sender not in self.begun:
                self.begun[sender] = None
                self.process.record("replication_set_up", copy=sender)
                self._write(goes_over=False)
            elif not message.does and self.state == ENDING and sender == self.copies[0]:
                self._go_over()

    def _go_over(self) -> None:
        self._enter(GONE_OVER)
        self.process.record("goes_over", to=self.copies[0])
        self._send_clients_over()

    def _write(self, *, goes_over: bool) -> int:
        return self.process.write(((KEY, encode(StoredOperator(goes_over, tuple(self.begun)))),))

    def _written(self, given: Written | WriteFailed) -> None:
        if given.token != self.deciding or self.state != WRITING:
            return
        if isinstance(given, WriteFailed):
            self._enter(WATCHING)
        elif self.options.ends_replication:
            self._enter(ENDING)
            self.process.send(self.copies[0], EndReplication(self.number))
        else:
            self._go_over()

    inputs: ClassVar[Mapping[type[Input], Callable[[Any, Any], None]]] = {
        Started: _started,
        Received: _received,
        Fired: _tick,
        Written: _written,
        WriteFailed: _written,
    }
