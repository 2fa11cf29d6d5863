"""What users of the client library rely on, and whether a run kept it.

Beside what brokers promise: what was acknowledged to a producer and is gone was handled, and not twice; a transaction
has one outcome at all its resources; the one that is connected has its temporary queue; and everybody gets in again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from hacheck.impl.node import Name, Node, Record
from hacheck.impl.protocols.artemis.client_library.applications import HANDLED
from hacheck.impl.protocols.artemis.client_library.library import Library
from hacheck.impl.protocols.artemis.client_library.options import ClientOptions
from hacheck.impl.protocols.artemis.client_library.states import Phase
from hacheck.impl.protocols.artemis.client_library.worker import Worker
from hacheck.impl.protocols.artemis.journal import Stored
from hacheck.impl.protocols.artemis.oracle import BrokerOracle, Serving
from hacheck.impl.system import Broken, Member


class ClientOracle(BrokerOracle):
    """Watches a run. `settled`: how often consumers' work for a message was done for good; `by_each`: by each of them,
    which have their own records. `elsewhere`: what another resource of a transaction has committed."""

    def __init__(self, members: tuple[Member, ...], options: ClientOptions) -> None:
        super().__init__(members)
        self._options = options
        self._clients = tuple(member.name for member in members if member.role == "client")
        self._settled: Counter[str] = Counter()
        self._by_each: Counter[tuple[Name, str]] = Counter()
        self._elsewhere: dict[str, None] = {}
        self._without: list[Broken] = []

    def saw(self, at_us: int, member: Name, record: Record) -> None:
        """A record of a member."""
        super().saw(at_us, member, record)
        if record.event == "settled":
            self._settled.update(record.fields["messages"])
            self._by_each.update((member, name) for name in record.fields["messages"])
        elif record.event == "elsewhere":
            self._elsewhere.update(dict.fromkeys(record.fields["messages"]))
        elif record.fields.get("temporary") is False and len(self._without) < 3:
            self._without.append(Broken("temporary-queue", f"{member} has a session without its queue", at_us))

    def _name(self, stored: Stored) -> str:
        return stored.body.decode().partition(" ")[0]

    def verdict(
        self, at_us: int, durable: Mapping[Name, Mapping[str, bytes]], nodes: Mapping[Name, Node]
    ) -> Sequence[Broken]:
        """What is broken at the end."""
        broken = [*super().verdict(at_us, durable, nodes), *self._without]
        servers = [
            server
            for name in self._brokers
            if name in nodes and (server := cast(Serving, nodes[name]).server) is not None
        ]
        if servers:
            kept = {self._name(stored) for server in servers for stored in server.journal.messages.values()}
            kept |= {
                out.body.decode().partition(" ")[0]
                for server in servers
                for branch in server.journal.branches.values()
                for out in branch.outgoing
            }
            noted = {key.removeprefix(HANDLED) for name in self._clients for key in durable.get(name, ())}
            broken.extend(self._handling(at_us, kept, noted, nodes))
            broken.extend(self._connections(at_us, nodes))
        return broken

    def _handling(self, at_us: int, kept: set[str], noted: set[str], nodes: Mapping[Name, Node]) -> Iterator[Broken]:
        """`noted`: what consumers have a record of, also those that ended before they could say so."""
        under_way = {
            item.name
            for name in self._clients
            if name in nodes
            for item in cast(Worker, cast(Library, nodes[name]).application).work
        }
        sent = {name for _, request in self._ledger.acknowledged() for name in request.sent}
        for name in sorted(sent - kept - under_way):
            if not self._settled[name] and name not in noted:
                yield Broken("handled", f"message {name} is gone, and nobody has handled it", at_us)
        if self._options.session != "plain" or self._options.remembers:
            for (who, name), times in self._by_each.items():
                if times > 1:
                    yield Broken("handled-once", f"{who} has handled message {name} {times} times", at_us)
        taken = {name for request in self._ledger.requests.values() for name in request.consumed}
        for name in self._elsewhere:
            if name not in kept and name not in taken:
                yield Broken("same-outcome", f"message {name} is not there, but committed elsewhere", at_us)

    def _connections(self, at_us: int, nodes: Mapping[Name, Node]) -> Iterator[Broken]:
        for name in self._clients:
            phase = cast(Library, nodes[name]).phase if name in nodes else Phase.CONNECTED
            if phase in (Phase.NEW, Phase.FAILED):
                yield Broken("service comes back", f"{name} has no connection", at_us)
