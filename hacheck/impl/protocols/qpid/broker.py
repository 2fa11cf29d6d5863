"""A broker: one process that is a backup until the resource manager makes it the primary, or stands alone.

Everything that comes in is looked up by its type; what a role has to do about it is in `backup` and `primary`, what
clients want in `client_service` and `queue_changes`, what comes from the resource manager in `manager_interface`.

**Source:** overview of the HA module, "Overview of HA classes", "Locating the Primary"; survey of broker failover
protocols, sections 1.2 and 1.3.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from msgspec import Struct

from hacheck.impl.kit.process import ProcessNode
from hacheck.impl.node import (
    Effect,
    Fired,
    Input,
    Message,
    Name,
    Received,
    Setup,
    Started,
    Unreachable,
    WriteFailed,
    Written,
)
from hacheck.impl.protocols.qpid import messages as wire
from hacheck.impl.protocols.qpid import orders
from hacheck.impl.protocols.qpid import status as statuses
from hacheck.impl.protocols.qpid.backup import Backup
from hacheck.impl.protocols.qpid.client_service import TERM_BITS, ClientService
from hacheck.impl.protocols.qpid.configuration_source import ConfigurationSource
from hacheck.impl.protocols.qpid.dispatch import body_table
from hacheck.impl.protocols.qpid.link import LINK
from hacheck.impl.protocols.qpid.manager_interface import CHECK, ManagerInterface
from hacheck.impl.protocols.qpid.objects import Info
from hacheck.impl.protocols.qpid.options import Options
from hacheck.impl.protocols.qpid.primary import BACKUP_TIMEOUT, REGISTER, Primary
from hacheck.impl.protocols.qpid.process import HEARTBEAT, Channel, Process
from hacheck.impl.protocols.qpid.queue_changes import QueueChanges
from hacheck.impl.protocols.qpid.queues import Queue, Wiring
from hacheck.impl.protocols.qpid.standalone import StandaloneReplica
from hacheck.impl.protocols.qpid.store import Store, recover, system_of


class Place(Struct, frozen=True):
    """Where a broker stands. In a cluster: the other brokers, and the resource manager. On its own: from which brokers
    (one, or the members of a cluster) it replicates which queues and exchanges, if any; `waits`: when it is ordered
    to."""

    addresses: tuple[Name, ...] = ()
    manager: Name = ""
    sources: tuple[Name, ...] = ()
    names: frozenset[str] = frozenset()
    waits: bool = False


class Broker(ProcessNode[Process]):
    """One broker. `status`: where it is in its life; `system`: its id; `backup`, `primary`: its role, if it has one."""

    def __init__(self, setup: Setup, options: Options, place: Place) -> None:
        self.options = options
        self.place = place
        self.process = Process(setup, options.heartbeat_us)
        self.wiring = Wiring()
        self.store = Store(self.process, options.store, setup.durable)
        self.status: str = statuses.STANDALONE
        known = system_of(setup.durable)
        self.system = known if known is not None else _new_id(setup)
        if known is None:
            self.store.keep_broker(self.system)
        if options.store:
            recover(setup.durable, self.wiring, self.process.fresh)
        self.backup: Backup | None = None
        self.primary: Primary | None = None
        self.replica: StandaloneReplica | None = None
        self.configuration = ConfigurationSource(self.process, options, self.wiring)
        self.declaring = QueueChanges(
            self.process, options, self.wiring, self.store, self._queue_created, self._queue_destroyed,
            self.configuration.announce,
        )  # fmt: skip
        self.serving = ClientService(
            self.process, options, self.wiring, self.store, self._queue_ready, self.declaring.remove_queue
        )
        self.declaring.use(self.serving)
        self.governed = ManagerInterface(self)
        self._messages: dict[type[Message], Callable[[Name, Any], None]] = {
            wire.Frame: self._frame,
            wire.Heartbeat: self.process.heartbeat,
            wire.Open: self._open,
            wire.Opened: self._opened,
            wire.Closed: self._closed,
            orders.StatusQuery: self.governed.status_query,
            orders.StatusAnswer: self.governed.heard_status,
            orders.Promote: self.governed.promote,
            orders.Stop: self.governed.stop,
            orders.Restart: self.governed.restart,
            orders.Registered: self.governed.registered,
            orders.Replicate: self.governed.replicate,
            orders.EndReplication: self.governed.end_replication,
        }
        self._bodies = body_table(self)

    def myself(self) -> Info:
        """This broker as its cluster knows it."""
        return Info(self.system, self.process.member, self.status)

    def handle(self, given: Input, now_us: int) -> list[Effect]:
        """What to do about an input. A lease that is over ends the broker, whatever has come."""
        if self.governed.lease_until_us is not None and now_us >= self.governed.lease_until_us:
            effects = self.process.begin(now_us)
            self.governed.lease_is_over()
            return effects
        return super().handle(given, now_us)

    def conclude(self) -> None:
        """Sends and writes what the input at hand has left to send and to write."""
        serving = self.serving
        if serving.unserved or serving.source.waiting or serving.completed:
            serving.flush()
        following = self.backup or self.replica
        if following is not None and following.replicas.waiting:
            following.replicas.flush()
        if self.store.is_dirty:
            self.store.flush()

    def _received(self, given: Received) -> None:
        handler = self._messages.get(type(given.message))
        if handler is not None:
            handler(given.sender, given.message)

    def _write_failed(self, given: WriteFailed) -> None:
        self.shut_down(f"the store failed: {given.reason}")

    def enter(self, status: str) -> None:
        """Another status. A transition that the table does not have ends the broker."""
        if not statuses.STATUS.leads(self.status, status):
            self.shut_down(f"illegal state transition: {self.status} -> {status}")
            return
        self.process.record("status_change", old=self.status, new=status)
        self.status = status
        self.process.prefix = {"system": self.system, "status": status}

    def shut_down(self, reason: str) -> None:
        """This process cannot go on."""
        self.process.record("shut_down", reason=reason)
        self.process.halt(reason)

    # ---- start, time, disk ------------------------------------------------------------------------------------------

    def _started(self, given: Started) -> None:
        self.process.prefix = {"system": self.system, "status": self.status}
        self.process.start_heartbeats()
        if not self.place.manager:
            self.process.record("broker_started")
            if self.place.sources and not self.place.waits:
                self.replicate(self.place.names)
            return
        self.backup = Backup(
            self.process, self.options, self.wiring, self.store, self.place.addresses, self.myself, self.enter
        )
        self.enter(statuses.JOINING)
        self.governed.start_check()
        self.backup.link.maintain(self.myself())

    def replicate(self, names: frozenset[str]) -> None:
        """Without a cluster: keep copies of another broker's queues and exchanges."""
        self.replica = StandaloneReplica(
            self.process, self.options, self.wiring, self.store, self.place.sources, names, self.myself,
            self.serving.offer, self.serving.forgotten,
        )  # fmt: skip
        self.replica.maintain()

    def _fired(self, given: Fired) -> None:
        timer = given.timer
        if timer == HEARTBEAT:
            for channel in self.process.beat():
                self.process.close(channel, "silent, or frames are missing")
                self._lost(channel, False, "silent, or frames are missing")
        elif timer == LINK:
            if self.backup is not None:
                self.backup.link.maintain(self.myself())
            elif self.replica is not None:
                self.replica.maintain()
        elif timer == CHECK:
            self.governed.check_timeout()
        elif timer == BACKUP_TIMEOUT and self.primary is not None:
            self.primary.timed_out()
        elif timer == REGISTER and self.primary is not None:
            self.primary.register_again()

    def _written(self, given: Written) -> None:
        for queue, message in self.store.settled.pop(given.token, ()):
            self.serving.settle(queue, message)
        arrived = self.store.arrived.pop(given.token, None)
        following = self.backup or self.replica
        if arrived is not None and following is not None:
            following.replicas.written(arrived)

    # ---- connections ------------------------------------------------------------------------------------------------

    def _open(self, sender: Name, opening: wire.Open) -> None:
        """Somebody wants a connection. A broker that is no primary aborts it, and the other end tries elsewhere."""
        if opening.connection in self.process.channels:
            return
        channel = self.process.accept(sender, opening)
        self.process.send(sender, wire.Opened(opening.connection))
        if self.status in statuses.BACKUP_LIKE:
            self.process.close(channel, "not the primary")
        elif self.replica is not None and opening.purpose == "client" and self.options.keeps_clients_out:
            self.process.close(channel, "keeps copies of another broker's queues")
        elif opening.purpose == "backup":
            if self.primary is None or opening.about is None:
                self.process.close(channel, "not a member of a cluster")
            elif self.primary.is_impostor(opening.about):
                self.process.close(channel, f"another broker has the id {opening.about.system}", fatal=True)
            else:
                self.primary.opened(channel)

    def _opened(self, sender: Name, given: wire.Opened) -> None:
        channel = self.process.channels.get(given.connection)
        if channel is None:
            self.process.send(sender, wire.Closed(given.connection, "no such connection"))
        elif not channel.is_up:
            channel.heard_us = self.process.now_us
            following = self.backup or self.replica
            if following is not None and following.link.channel is channel:
                following.opened(channel)

    def _closed(self, sender: Name, given: wire.Closed) -> None:
        channel = self.process.channels.get(given.connection)
        if channel is not None and channel.peer == sender:
            self.process.forget(channel)
            self._lost(channel, given.fatal, given.reason)

    def _unreachable(self, given: Unreachable) -> None:
        peer = given.peer
        for channel in self.process.with_peer(peer):
            self.process.forget(channel)
            self._lost(channel, False, "the connection broke")
        if self.backup is not None:
            self.backup.checked(peer, statuses.JOINING)  # who cannot be reached has no objection
            self.governed.check_progress()

    def _lost(self, channel: Channel, fatal: bool, reason: str) -> None:
        """A connection is gone: that of a client, of a backup, or this broker's own."""
        if channel.purpose == "client":
            self.serving.disconnected(channel)
        elif self.backup is not None and self.backup.link.channel is channel:
            self.backup.closed(channel, fatal, reason)
        elif self.replica is not None and self.replica.link.channel is channel:
            self.replica.closed(channel, reason)
        elif self.primary is not None and channel.purpose == "backup":
            self.primary.closed(channel)
        else:
            self.configuration.closed(channel)
            if channel.purpose == "replica":
                self.process.record("copy_disconnected", copy=channel.peer, reason=reason)
            for guard in self.serving.source.disconnected(channel):
                self.serving.source.cancel_guard(guard)

    def _frame(self, sender: Name, frame: wire.Frame) -> None:
        channel, bodies = self.process.heard(sender, frame)
        if channel is not None:
            for body in bodies:
                handler = self._bodies.get(type(body))
                if handler is not None and channel.is_open:
                    handler(channel, body)

    # ---- promotion --------------------------------------------------------------------------------------------------

    def become_primary(self, term: int) -> None:
        """Promoted. Everything that is guarded for backups is so before anybody may connect."""
        assert self.backup is not None
        old = self.backup
        self.backup = None
        old.transactions.drop_all()
        if old.link.channel is not None:
            self.process.close(old.link.channel, "promoted")
        expected = [
            info for info in old.members.values() if info.status == statuses.READY and info.system != self.system
        ]
        self.enter(statuses.RECOVERING)
        self.process.record("promoted", term=term, expected=[info.address for info in expected])
        if not self.options.bug_ids_given_again:
            self.serving.first_id = term << TERM_BITS
        self.primary = Primary(
            self.process, self.options, self.wiring, self.serving.source, self.serving.transactions, self.configuration,
            self.myself, self.enter, self.place.manager, term,
        )  # fmt: skip
        self.serving.may_complete = self.primary.is_confirmed
        self.primary.begin(expected)
        for queue in tuple(self.wiring.queues.values()):
            self.serving.auto_delete(queue)

    def _queue_created(self, queue: Queue) -> None:
        if self.primary is not None:
            self.primary.queue_created(queue)

    def _queue_destroyed(self, queue: Queue) -> None:
        if self.primary is not None:
            self.primary.queue_destroyed(queue)

    def _queue_ready(self, channel: Channel, queue: Queue) -> None:
        if self.primary is not None:
            self.primary.queue_ready(channel, queue)

    inputs: ClassVar[Mapping[type[Input], Callable[[Any, Any], None]]] = {
        Started: _started,
        Received: _received,
        Fired: _fired,
        Unreachable: _unreachable,
        Written: _written,
        WriteFailed: _write_failed,
    }


def _new_id(setup: Setup) -> str:
    """An id that no broker has had: of who it is and how often it was started."""
    return hashlib.blake2s(f"{setup.member}/{setup.incarnation}".encode()).hexdigest()[:8]
