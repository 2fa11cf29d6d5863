"""What stand-alone replication promises: copies that are like the queues of the broker that clients use.

| promise | means |
|---|---|
| `kept` | what was completed while the copy was subscribed to its queue is on the first broker, or on the first copy |
| `replicated` | a copy that is connected has what the first broker has |
| `doubt-only` | no message is on a queue more often than it was sent (Q-G2) |
| `completes` | what was sent is completed, or held up only by what just happened (P11) |

Without a subscription the first broker completes alone: what it had then goes with it, if it has no store. What the
copy has goes with the copy, and counts again once it has caught up. Nobody promises that a copy keeps what a broker
that comes back empty has lost; but nobody says that it does not, so it is informed as a loss.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hacheck.impl.node import Name, Node
from hacheck.impl.protocols.qpid.broker import Broker
from hacheck.impl.protocols.qpid.operator import GONE_OVER, Operator
from hacheck.impl.protocols.qpid.options import Options
from hacheck.impl.protocols.qpid.oracle import RECENT_US, ClusterOracle, differences
from hacheck.impl.protocols.qpid.transactions_oracle import on_queues
from hacheck.impl.system import Broken, Member


class StandaloneOracle(ClusterOracle):
    """Watches brokers without a cluster. `source`: the one that clients use, `copy`: where they may go over to.
    `names`: its replicated queues. `guarded`: those to which the copy is subscribed. `safe`: messages that were
    completed while it was, or by the copy itself."""

    def __init__(self, members: tuple[Member, ...], options: Options, names: frozenset[str]) -> None:
        super().__init__(members, options)
        self.names = names
        self.source, self.copy = self.brokers[:2]
        self.outlives_restarts = options.store
        self.copies = {self.source: None}
        self.guarded: dict[str, None] = {}
        self.safe: dict[str, None] = {}
        self._events |= {
            "subscribed": self._subscribed,
            "caught-up": self._caught_up,
            "copy_disconnected": self._disconnected,
        }

    def crashed(self, at_us: int, member: Name) -> None:
        """A member lost its memory. What the first broker completed alone goes with it; what the copy has with that."""
        if self.outlives_restarts:
            return
        if member == self.source:
            self.guarded = {}
            self.messages = {
                name: sent for name, sent in self.messages.items() if not sent.is_completed or name in self.safe
            }
            self.transactions.forget()
        elif member == self.copy:
            self.safe = {}

    def _subscribed(self, at_us: int, member: Name, fields: Mapping[str, Any]) -> None:
        if fields["by"] == self.copy:
            self.guarded[fields["queue"]] = None

    def _caught_up(self, at_us: int, member: Name, fields: Mapping[str, Any]) -> None:
        if fields["by"] == self.copy:
            for name, sent in self.messages.items():
                if sent.is_completed and sent.queue == fields["queue"]:
                    self.safe[name] = None

    def _disconnected(self, at_us: int, member: Name, fields: Mapping[str, Any]) -> None:
        if fields["copy"] == self.copy:
            self.guarded = {}

    def _completed(self, at_us: int, member: Name, fields: Mapping[str, Any]) -> None:
        for request in fields["messages"]:
            for name in self.requests.get(request, ()):
                if name in self.messages:
                    sent = self.messages[name]
                    sent.is_completed = True
                    if member == self.copy or sent.queue in self.guarded:
                        self.safe[name] = None

    def verdict(
        self, at_us: int, durable: Mapping[Name, Mapping[str, bytes]], nodes: Mapping[Name, Node]
    ) -> Sequence[Broken]:
        """What is broken at the end of a run."""
        source, copy = nodes.get(self.source), nodes.get(self.copy)
        if not isinstance(source, Broker) or not isinstance(copy, Broker):
            return [Broken("serves-again", f"{self.source} or {self.copy} does not run", at_us)]
        operators = [node for node in nodes.values() if isinstance(node, Operator)]
        moved = any(operator.state == GONE_OVER for operator in operators)
        found = [*self.broken, *self._missing(at_us, source, copy), *self._repeated(at_us, copy if moved else source)]
        found += self._held_up(at_us, nodes)
        recent = {message for message, at in self.accepted.items() if at > at_us - RECENT_US}
        for name, node in nodes.items():
            if isinstance(node, Broker) and _follows(node) and not (moved or self.options.reads_copies):
                for story in differences(source, node, recent, self.names):
                    found.append(Broken("replicated", f"{name}: {story}", at_us))
        return found

    def _missing(self, at_us: int, source: Broker, copy: Broker) -> list[Broken]:
        there = on_queues(source) | on_queues(copy)
        lost = [
            name
            for name, sent in self.messages.items()
            if sent.is_safe and name not in there and (name in self.safe or self.outlives_restarts)
        ]
        if not lost:
            return []
        first = self.messages[lost[0]]
        where = f"neither at {self.source} nor at {self.copy}"
        return [
            Broken("kept", f"{len(lost)} completed messages are {where}, the first {lost[0]} of {first.queue}", at_us)
        ]


def _follows(broker: Broker) -> bool:
    replica = broker.replica
    return replica is not None and not replica.is_apart
