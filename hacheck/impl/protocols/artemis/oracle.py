"""What was promised, and whether a run kept it: what clients were answered against what the serving brokers have.

A promise is checked where a broker serves at the end; where none does, only that is said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol, cast

from hacheck.impl.kit.ledger import FAILED, OK, UNKNOWN, Incumbents, Ledger, Request, lost, repeated
from hacheck.impl.node import Name, Node, Record
from hacheck.impl.protocols.artemis.journal import Stored
from hacheck.impl.protocols.artemis.session_server import Server
from hacheck.impl.system import Broken, Member

ACTIVE_EVENTS = ("active", "backup_active")
PASSIVE_EVENT = "stopped"


class Serving(Protocol):
    """What this module wants to know of a broker."""

    @property
    def server(self) -> Server | None:
        """What it serves with, if it serves."""
        ...


class BrokerOracle:
    """Watches a run: what clients requested, and who serves which node."""

    def __init__(self, members: tuple[Member, ...]) -> None:
        self._brokers = tuple(m.name for m in members if m.role in ("primary", "backup"))
        self._ledger = Ledger()
        self._active = Incumbents()

    def saw(self, at_us: int, member: Name, record: Record) -> None:
        """A record of a member."""
        event, fields = record.event, record.fields
        if event == "asked":
            self._ledger.requested(member, fields)
        elif event == "told":
            self._ledger.answered(fields)
        elif event in ACTIVE_EVENTS:
            self._active.begins(at_us, member, f"node {fields['node_id']}")
        elif event == PASSIVE_EVENT:
            self._active.ends(member)

    def crashed(self, at_us: int, member: Name) -> None:
        """A member lost its memory."""
        self._active.ends(member)

    def verdict(
        self, at_us: int, durable: Mapping[Name, Mapping[str, bytes]], nodes: Mapping[Name, Node]
    ) -> Sequence[Broken]:
        """What is broken at the end."""
        servers = {
            name: server
            for name in self._brokers
            if name in nodes and (server := cast(Serving, nodes[name]).server) is not None
        }
        by_node: dict[str, list[Name]] = {}
        for name, server in servers.items():
            by_node.setdefault(server.node_id, []).append(name)
        if not self._active.broken:
            for node_id, names in by_node.items():
                if len(names) > 1:
                    self._active.at_once(at_us, names, f"node {node_id}")
        broken = list(self._active.broken)
        if all(name in nodes for name in self._brokers):
            wanted = {f"node {one.fields['node_id']}" for one in self._ledger.requests.values()}
            gone = (what for what in self._active.seen if what in wanted and what.removeprefix("node ") not in by_node)
            broken.extend(Broken("serves-again", f"nobody serves {what}", at_us) for what in gone)
        present: Counter[str] = Counter()
        for server in servers.values():
            present.update(self._name(stored) for stored in server.journal.messages.values())
        broken.extend(self._data(at_us, present, by_node))
        return broken

    def _name(self, stored: Stored) -> str:
        """What clients call a message."""
        return stored.duplicate_id

    def _data(self, at_us: int, present: Counter[str], served: Mapping[str, object]) -> Iterator[Broken]:
        certainly, perhaps = self._ledger.consumed()
        yield from repeated(at_us, present, certainly)
        for name, request in self._ledger.requests.items():
            if request.fields["node_id"] in served:
                yield from self._request(at_us, name, request, present, perhaps)

    def _request(
        self, at_us: int, name: str, request: Request, present: Counter[str], perhaps: set[str]
    ) -> Iterator[Broken]:
        gone = [message for message in request.sent if not present[message] and message not in perhaps]
        there = [message for message in request.sent if present[message]]
        if request.outcome == OK:
            for message in gone:
                yield lost(at_us, message, f"of request {name} was acknowledged")
        elif request.outcome == FAILED:
            for message in there:
                yield Broken("refused-absent", f"message {message} of request {name} was refused, and is there", at_us)
        elif there and gone:
            story = f"of request {name} there is {', '.join(there)} without {', '.join(gone)}"
            yield Broken("all-or-nothing", story, at_us)
        if request.outcome == UNKNOWN and there:
            for message in request.consumed:
                if present[message]:
                    story = f"request {name} sent {', '.join(there)}, but {message} is not consumed"
                    yield Broken("all-or-nothing", story, at_us)
