"""What stand-alone replication promises: replicas that are like the queues of the broker that clients use.

While that broker runs, what it completed stays on its queues (`kept`), and a replica that is connected has the same
(`replicated`). When it ends without a store, what it had is gone, and the replicas follow it in that: nobody promotes
them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hacheck.impl.node import Name, Node
from hacheck.impl.protocols.qpid.broker import Broker
from hacheck.impl.protocols.qpid.comparing import differences
from hacheck.impl.protocols.qpid.judge import RECENT_US, ClusterJudge
from hacheck.impl.protocols.qpid.options import Options
from hacheck.impl.system import Broken, Member


class StandaloneJudge(ClusterJudge):
    """Watches brokers without a cluster. `source`: the one that clients use. `names`: its replicated queues."""

    def __init__(self, members: tuple[Member, ...], options: Options, names: frozenset[str]) -> None:
        super().__init__(members, options)
        self.names = names
        self.source = self.brokers[0]
        self.outlives_restarts = options.store
        self.copies = {self.source: None}

    def crashed(self, at_us: int, member: Name) -> None:
        """A member lost its memory; with the first broker's goes what it had completed."""
        if member == self.source and not self.outlives_restarts:
            self._forget()

    def verdict(
        self, at_us: int, durable: Mapping[Name, Mapping[str, bytes]], nodes: Mapping[Name, Node]
    ) -> Sequence[Broken]:
        """What is broken at the end of a run."""
        source = nodes.get(self.source)
        if not isinstance(source, Broker):
            return [Broken("serves-again", f"{self.source} does not run", at_us)]
        recent = {message for message, at in self.accepted.items() if at > at_us - RECENT_US}
        found = [*self._lost(at_us, source), *self._repeated(at_us, source), *self._held_up(at_us, nodes)]
        for name, node in nodes.items():
            if isinstance(node, Broker) and node is not source:
                for story in differences(source, node, recent, self.names):
                    found.append(Broken("replicated", f"{name}: {story}", at_us))
        return found
