"""The role of a backup: find the primary among the addresses, follow its configuration and its queues.

**Source:** overview of the HA module, "Overview of HA classes"; survey of broker failover protocols, sections 1.2 and
1.7.
"""

from __future__ import annotations

from collections.abc import Callable

from hacheck.impl.node import Name
from hacheck.impl.protocols.qpid import status as statuses
from hacheck.impl.protocols.qpid.configuration import ConfigurationReplicator
from hacheck.impl.protocols.qpid.link import Link
from hacheck.impl.protocols.qpid.messages import BrokerState
from hacheck.impl.protocols.qpid.objects import Info
from hacheck.impl.protocols.qpid.options import Options
from hacheck.impl.protocols.qpid.process import Channel, Process
from hacheck.impl.protocols.qpid.queues import Wiring
from hacheck.impl.protocols.qpid.replica import Replicas
from hacheck.impl.protocols.qpid.store import Store
from hacheck.impl.protocols.qpid.transaction_replicas import TransactionReplicas


class Backup:
    """A broker that is not the primary. `members`: the cluster as the primary last reported it, by id. `link`: the
    connection to it, or the next attempt. `objections`: brokers that a status check found further than joining.
    `unchecked`: brokers whose answer to it, or silence, is still to come."""

    __slots__ = (
        "_enter",
        "_has_tried",
        "_options",
        "_process",
        "_store",
        "_wiring",
        "configuration",
        "link",
        "members",
        "myself",
        "objections",
        "replicas",
        "transactions",
        "unchecked",
    )  # fmt: skip

    def __init__(
        self,
        process: Process,
        options: Options,
        wiring: Wiring,
        store: Store,
        addresses: tuple[Name, ...],
        myself: Callable[[], Info],
        enter: Callable[[str], None],
    ) -> None:
        self._process = process
        self._options = options
        self._wiring = wiring
        self._store = store
        self._enter = enter
        self.myself = myself
        self.link = Link(process, addresses, "backup", options.link_maintenance_us)
        self.configuration: ConfigurationReplicator | None = None
        self.replicas = Replicas(process, store, options.trace_messages)
        self.transactions = TransactionReplicas(process, wiring, self.replicas)
        self.members: dict[str, Info] = {}
        self.objections: list[Name] = []
        self.unchecked: dict[Name, None] = {}
        self._has_tried = False

    # ---- the link ---------------------------------------------------------------------------------------------------

    def opened(self, channel: Channel) -> None:
        """The other broker has taken the connection; another backup would now abort it."""
        channel.is_up = True
        self._process.record("failing_over" if self._has_tried else "connecting", primary=channel.peer)
        self._has_tried = True
        if self._options.bug_catchup_on_connect:
            self.said_something(channel)
        self.configuration = ConfigurationReplicator(
            self._process, self._options, self._wiring, self._store, self.replicas, channel
        )

    def closed(self, channel: Channel, fatal: bool, reason: str) -> None:
        """The link is gone. The status stays, the queues stay; a primary that closed it on purpose ends this broker."""
        if not self.link.is_lost(channel):
            return
        if fatal:
            self.shut_down(f"the primary closed the connection: {reason}; the cluster may be misconfigured")
            return
        if self.configuration is not None:
            self._process.record("disconnected", primary=channel.peer, reason=reason)
        self.configuration = None
        self.replicas.disconnected(channel)
        self.transactions.disconnected(channel)
        if self._options.bug_auto_delete_on_backup:
            self._auto_delete()

    def shut_down(self, reason: str) -> None:
        """This broker cannot be a backup any more."""
        self._process.record("shut_down", reason=reason)
        self._process.halt(reason)

    def _auto_delete(self) -> None:
        for queue in tuple(self._wiring.queues.values()):
            if queue.arguments.auto_delete:
                for message in queue.messages.values():
                    for other in self._wiring.route(queue.arguments.alternate, queue.name):
                        other.append(message.content, message.id)
                self._wiring.drop_queue(queue.name)
                self._store.drop_queue(queue)

    # ---- what the primary says --------------------------------------------------------------------------------------

    def said_something(self, channel: Channel) -> None:
        """A message about the configuration has come: this is the primary. What was recovered from the own disk makes
        way for what the primary has."""
        if self.myself().status == statuses.JOINING:
            for name in tuple(self._wiring.queues):
                self._wiring.drop_queue(name)
            self._wiring.exchanges.clear()
            self._store.erase()
            self._enter(statuses.CATCHUP)
            self._process.record("connected", primary=channel.peer)

    def broker_state(self, given: BrokerState) -> None:
        """What the primary says about itself and the cluster."""
        if given.replicate != self._options.replicate:
            self.shut_down(f"`replicate` is {self._options.replicate} here and {given.replicate} at the primary")
            return
        self.adopt(given.members)

    def adopt(self, members: tuple[Info, ...]) -> None:
        """The primary's list of members is taken as it is; a list without this broker leaves its status alone."""
        self.members = {info.system: info for info in members}
        mine = self.members.get(self.myself().system)
        if mine is None or mine.status == self.myself().status:
            return
        if mine.status in (statuses.CATCHUP, statuses.READY):
            self._enter(mine.status)
            if mine.status == statuses.READY:
                self._process.record("backup_ready")

    # ---- status check -----------------------------------------------------------------------------------------------

    def begin_check(self) -> None:
        """A query goes to every broker."""
        self.objections = []
        self.unchecked = dict.fromkeys(self.link.addresses)

    def checked(self, peer: Name, status: str) -> None:
        """A broker has answered the status check."""
        if peer in self.unchecked:
            del self.unchecked[peer]
            if status != statuses.JOINING:
                self.objections.append(peer)

    def check_is_over(self) -> None:
        """Who has not answered by now has no objection (Q-W6)."""
        self.unchecked.clear()
