"""Stand-alone replication: single queues and exchanges of one broker kept on another, without a cluster.

The broker with the replica connects like a backup and uses the same subscriptions, for the names it was informed only
and whatever their replication level. Its status stays `standalone`, and nobody keeps clients from its queues. If the
addresses are those of a cluster, the link finds the primary, and finds the next one after a failover.

**Source:** overview of the HA module, "Standalone replication"; survey of broker failover protocols, section 1.10.
"""

from __future__ import annotations

from collections.abc import Callable

from hacheck.impl.node import Name
from hacheck.impl.protocols.qpid.configuration import ConfigurationReplicator
from hacheck.impl.protocols.qpid.link import Link
from hacheck.impl.protocols.qpid.objects import Info
from hacheck.impl.protocols.qpid.options import Options
from hacheck.impl.protocols.qpid.process import Channel, Process
from hacheck.impl.protocols.qpid.queues import Queue, Stored, Wiring
from hacheck.impl.protocols.qpid.replica import Replicas
from hacheck.impl.protocols.qpid.store import Store


class StandaloneReplica:
    """What a broker does to keep `names` like those of another broker. `is_apart`: it has lost its connection, and is
    to make no other one."""

    __slots__ = (
        "_options",
        "_process",
        "_store",
        "_wiring",
        "configuration",
        "is_apart",
        "link",
        "lost_queue",
        "myself",
        "names",
        "replicas",
    )  # fmt: skip

    def __init__(
        self,
        process: Process,
        options: Options,
        wiring: Wiring,
        store: Store,
        sources: tuple[Name, ...],
        names: frozenset[str],
        myself: Callable[[], Info],
        has_come: Callable[[Queue, Stored], None],
        lost_queue: Callable[[Queue], None],
    ) -> None:
        self._process = process
        self._options = options
        self._wiring = wiring
        self._store = store
        self.names = names
        self.myself = myself
        self.link = Link(process, sources, "replica", options.link_maintenance_us)
        self.configuration: ConfigurationReplicator | None = None
        self.replicas = Replicas(process, store, options.trace_messages, has_come)
        self.lost_queue = lost_queue
        self.is_apart = False

    def maintain(self) -> None:
        """Time to look after the link. One that stays apart makes it once."""
        if not self.is_apart:
            self.link.maintain(self.myself())

    def end(self) -> None:
        """The copies are this broker's own from now on."""
        if self.link.channel is not None:
            self._process.close(self.link.channel, "the replication is ended")

    def opened(self, channel: Channel) -> None:
        """The other broker has taken the connection."""
        channel.is_up = True
        self.configuration = ConfigurationReplicator(
            self._process, self._options, self._wiring, self._store, self.replicas, channel, self.names, self.lost_queue
        )

    def closed(self, channel: Channel, reason: str) -> None:
        """The connection is gone; what is here stays."""
        if self.link.is_lost(channel):
            if self.configuration is not None:
                self._process.record("disconnected", primary=channel.peer, reason=reason)
                self.is_apart = self._options.stays_apart
            self.configuration = None
            self.replicas.disconnected(channel)

    def said_something(self, channel: Channel) -> None:
        """A message about the configuration has come: nothing depends on it here."""
