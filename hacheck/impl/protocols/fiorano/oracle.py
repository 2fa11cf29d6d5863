"""What was promised, and whether a run kept it: what clients were answered against what the serving server has.

A promise about data is checked where exactly one serves at the end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hacheck.impl.kit.ledger import OK, Incumbents, Ledger, lost, repeated
from hacheck.impl.node import Name, Node, Record
from hacheck.impl.protocols.fiorano.replicated import ReplicatedServer
from hacheck.impl.protocols.fiorano.replicated_states import SERVING, Role
from hacheck.impl.protocols.fiorano.repository import Repository
from hacheck.impl.protocols.fiorano.shared import SharedServer
from hacheck.impl.system import ANSWERED, Broken, Member

_SERVING = frozenset(role.value for role in SERVING)


class PairOracle:
    """Watches a run. `once`: messages sent again are known as such. `subscribers`: of publications, by their requests:
    those that were certainly subscribed when it was requested."""

    def __init__(self, members: tuple[Member, ...], *, once: bool) -> None:
        self._servers = tuple(m.name for m in members if m.role == "server")
        self._once = once
        self._active = Incumbents()
        self._ledger = Ledger()
        self._subscribed: dict[Name, None] = {}
        self._subscribers: dict[str, tuple[Name, ...]] = {}
        self._incomplete: list[Broken] = []

    def saw(self, at_us: int, member: Name, record: Record) -> None:
        """A record of a member."""
        event, fields = record.event, record.fields
        if event == "asked":
            self._ledger.requested(member, fields)
            self._subscribers[fields["request"]] = tuple(self._subscribed)
        elif event == ANSWERED:
            if self._ledger.answered(fields).fields["operation"] == "Subscribe" and fields["outcome"] == OK:
                self._subscribed[member] = None
        elif event == "state_change":
            self._changed(at_us, member, fields)

    def crashed(self, at_us: int, member: Name) -> None:
        """A member lost its memory."""
        self._active.ends(member)

    def _changed(self, at_us: int, member: Name, fields: Mapping[str, Any]) -> None:
        if fields["new"] not in _SERVING:
            self._active.ends(member)
            return
        if member not in self._active.serving and not fields["complete"]:
            story = f"{member} serves from a copy that is not complete"
            self._incomplete.append(Broken("complete-copy", story, at_us))
        self._active.begins(at_us, member)

    def verdict(
        self, at_us: int, durable: Mapping[Name, Mapping[str, bytes]], nodes: Mapping[Name, Node]
    ) -> Sequence[Broken]:
        """What is broken at the end."""
        running = {name: node for name in self._servers if (node := nodes.get(name)) is not None}
        serving = {
            name: node
            for name, node in running.items()
            if isinstance(node, ReplicatedServer | SharedServer) and node.serving
        }
        if len(serving) > 1 and not self._active.broken:
            self._active.at_once(at_us, list(serving))
        broken = [*self._active.broken, *self._incomplete[:3]]
        if not serving and len(running) == len(self._servers):
            broken.append(Broken("serves-again", "nobody serves", at_us))
        if len(serving) == 1:
            (node,) = serving.values()
            broken.extend(self._data(at_us, node.repository))
        broken.extend(self._copies(at_us, running))
        return broken

    def _copies(self, at_us: int, running: Mapping[Name, Node]) -> Iterator[Broken]:
        """Two copies that are in step, up to the same change, are the same."""
        pair = [node for node in running.values() if isinstance(node, ReplicatedServer)]
        if {node.role for node in pair} == {Role.ACTIVE, Role.PASSIVE}:
            one, other = pair
            in_step = one.copies.meta.sequence == other.copies.meta.sequence
            if in_step and one.repository.objects != other.repository.objects:
                yield Broken("copies-equal", "the copies differ, and both servers take them for the same", at_us)

    def _data(self, at_us: int, repository: Repository) -> Iterator[Broken]:
        there = Counter(
            stored.request if name.startswith("ptp/") else _for(stored.request, name.split("/")[2])
            for name, stored in repository.messages()
        )
        certainly: Counter[str] = Counter()
        perhaps: dict[str, None] = {}
        for change in self._ledger.requests.values():
            for request in change.consumed:
                perhaps |= {request: None, _for(request, change.client): None}
                if change.outcome == OK:
                    certainly[_for(request, change.client) if self._of_topic(request) else request] += 1
        for request, change in self._ledger.acknowledged():
            match change.fields["operation"]:
                case "SendMessage":
                    names: tuple[str, ...] = (request,)
                case "Publish":
                    names = tuple(_for(request, name) for name in self._subscribers[request])
                case _:
                    names = ()
            yield from (lost(at_us, name) for name in names if not there[name] and name not in perhaps)
        yield from self._objects(at_us, repository)
        if self._once:
            yield from repeated(at_us, there, certainly, twice="consumed-once")

    def _of_topic(self, request: str) -> bool:
        change = self._ledger.requests.get(request)
        return change is not None and change.fields["operation"] == "Publish"

    def _objects(self, at_us: int, repository: Repository) -> Iterator[Broken]:
        """Each client has objects of its own, and sets them one after the other."""
        possible: dict[str, list[str]] = {}
        for change in self._ledger.requests.values():
            if change.fields["operation"] == "SetObject":
                values = possible.setdefault(change.fields["object"], [""])
                if change.outcome == OK:
                    values.clear()
                values.append(change.fields["value"])
        for name, values in possible.items():
            found = repository.objects.get(name, b"").decode()
            if found not in values:
                story = f"{name} is {found or 'gone'}, and was set to {values[0]} last"
                yield Broken("acknowledged-kept", story, at_us)


def _for(request: str, subscriber: Name) -> str:
    """A subscriber's copy of a publication."""
    return f"{request} for {subscriber}"
