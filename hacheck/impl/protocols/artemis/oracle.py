"""What was promised, and whether a run kept it: what clients were answered against what the serving brokers have.

A promise is checked where a broker serves at the end; where none does, only that is said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol, cast

from hacheck.impl.node import Name, Node, Record
from hacheck.impl.protocols.artemis.journal import Stored
from hacheck.impl.protocols.artemis.serving import Server
from hacheck.impl.system import Broken, Member

ACTIVE_EVENTS = ("active", "backup_active")
PASSIVE_EVENT = "stopped"


class Serving(Protocol):
    """What this module wants to know of a broker."""

    @property
    def server(self) -> Server | None:
        """What it serves with, if it serves."""
        ...


class Asked:
    """A client's request. `outcome`: what it was answered last: `ok`, `failed`, `unknown`."""

    __slots__ = ("consumed", "node_id", "operation", "outcome", "sent")

    def __init__(self, operation: str, node_id: str, sent: tuple[str, ...], consumed: tuple[str, ...]) -> None:
        self.operation = operation
        self.node_id = node_id
        self.sent = sent
        self.consumed = consumed
        self.outcome = "unknown"


class BrokerOracle:
    """Watches a run. `active`: who serves which node just now. `seen`: the nodes that ever were served."""

    def __init__(self, members: tuple[Member, ...]) -> None:
        self._brokers = tuple(m.name for m in members if m.role in ("primary", "backup"))
        self._active: dict[Name, str] = {}
        self._seen: dict[str, None] = {}
        self._asked: dict[str, Asked] = {}
        self._two: list[Broken] = []

    def saw(self, at_us: int, member: Name, record: Record) -> None:
        """A record of a member."""
        event, fields = record.event, record.fields
        if event == "asked":
            self._asked[fields["request"]] = Asked(
                fields["operation"], fields["node_id"], tuple(fields["sent"]), tuple(fields["consumed"])
            )
        elif event == "told":
            self._asked[fields["request"]].outcome = fields["outcome"]
        elif event in ACTIVE_EVENTS:
            self._activated(at_us, member, fields["node_id"])
        elif event == PASSIVE_EVENT:
            self._active.pop(member, None)

    def crashed(self, at_us: int, member: Name) -> None:
        """A member lost its memory."""
        self._active.pop(member, None)

    def _activated(self, at_us: int, member: Name, node_id: str) -> None:
        others = [name for name, node in self._active.items() if node == node_id and name != member]
        if others:
            story = f"{member} and {', '.join(others)} both serve node {node_id}"
            self._two.append(Broken("one-active", story, at_us))
        self._active[member] = node_id
        self._seen[node_id] = None

    def verdict(
        self, at_us: int, durable: Mapping[Name, Mapping[str, bytes]], nodes: Mapping[Name, Node]
    ) -> Sequence[Broken]:
        """What is broken at the end."""
        servers = {
            name: server
            for name in self._brokers
            if name in nodes and (server := cast(Serving, nodes[name]).server) is not None
        }
        broken = list(self._two[:3])
        by_node: dict[str, list[Name]] = {}
        for name, server in servers.items():
            by_node.setdefault(server.node_id, []).append(name)
        for node_id, names in by_node.items():
            if len(names) > 1 and not self._two:
                broken.append(Broken("one-active", f"{' and '.join(names)} both serve node {node_id}", at_us))
        if all(name in nodes for name in self._brokers):
            for node_id in self._seen:
                if node_id not in by_node and self._wanted(node_id):
                    broken.append(Broken("serves-again", f"nobody serves node {node_id}", at_us))
        present: Counter[str] = Counter()
        for server in servers.values():
            present.update(self._name(stored) for stored in server.journal.messages.values())
        broken.extend(self._data(at_us, present, by_node))
        return broken

    def _name(self, stored: Stored) -> str:
        """What clients call a message."""
        return stored.duplicate_id

    def _wanted(self, node_id: str) -> bool:
        return any(asked.node_id == node_id for asked in self._asked.values())

    def _data(self, at_us: int, present: Counter[str], served: Mapping[str, object]) -> Iterator[Broken]:
        certainly: Counter[str] = Counter()
        perhaps: set[str] = set()
        for asked in self._asked.values():
            if asked.outcome != "failed":
                perhaps.update(asked.consumed)
            if asked.outcome == "ok":
                certainly.update(asked.consumed)
        for name, times in certainly.items():
            if times > 1:
                yield Broken("exactly-once", f"message {name} was consumed {times} times", at_us)
            if present[name]:
                yield Broken("consumed-once", f"message {name} was consumed, and is there again", at_us)
        for name, times in present.items():
            if times > 1:
                yield Broken("exactly-once", f"message {name} is there {times} times", at_us)
        for request, asked in self._asked.items():
            if asked.node_id in served:
                yield from self._request(at_us, request, asked, present, perhaps)

    def _request(
        self, at_us: int, request: str, asked: Asked, present: Counter[str], perhaps: set[str]
    ) -> Iterator[Broken]:
        gone = [name for name in asked.sent if not present[name] and name not in perhaps]
        there = [name for name in asked.sent if present[name]]
        if asked.outcome == "ok":
            for name in gone:
                yield Broken(
                    "acknowledged-kept", f"message {name} of request {request} was acknowledged, and is gone", at_us
                )
        elif asked.outcome == "failed":
            for name in there:
                yield Broken("refused-absent", f"message {name} of request {request} was refused, and is there", at_us)
        elif there and gone:
            story = f"of request {request} there is {', '.join(there)} without {', '.join(gone)}"
            yield Broken("all-or-nothing", story, at_us)
        if asked.outcome == "unknown" and there:
            for name in asked.consumed:
                if present[name]:
                    story = f"request {request} sent {', '.join(there)}, but {name} is not consumed"
                    yield Broken("all-or-nothing", story, at_us)
