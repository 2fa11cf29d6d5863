"""What was promised, and whether a run kept it: what clients were answered against what the serving server has.

A promise about data is checked where exactly one serves at the end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hacheck.impl.node import Name, Node, Record
from hacheck.impl.protocols.fiorano.replicated import ReplicatedServer
from hacheck.impl.protocols.fiorano.replicated_states import SERVING, Role
from hacheck.impl.protocols.fiorano.repository import Repository
from hacheck.impl.protocols.fiorano.shared import SharedServer
from hacheck.impl.system import Broken, Member

_SERVING = frozenset(role.value for role in SERVING)


class Asked:
    """A client's request. `outcome`: `ok` for good, once it was informed. `subscribers`: for a publication, those that
    were certainly subscribed when it was asked for."""

    __slots__ = ("client", "consumed", "object", "operation", "outcome", "subscribers", "value")

    def __init__(self, client: Name, fields: Mapping[str, Any], subscribers: tuple[Name, ...]) -> None:
        self.client = client
        self.operation: str = fields["operation"]
        self.consumed = tuple(fields["consumed"])
        self.object: str = fields.get("object", "")
        self.value: str = fields.get("value", "")
        self.subscribers = subscribers
        self.outcome = "unknown"


class PairOracle:
    """Watches a run. `once`: messages sent again are known as such."""

    def __init__(self, members: tuple[Member, ...], *, once: bool) -> None:
        self._servers = tuple(m.name for m in members if m.role == "server")
        self._once = once
        self._active: dict[Name, None] = {}
        self._asked: dict[str, Asked] = {}
        self._subscribers: dict[Name, None] = {}
        self._seen: list[Broken] = []

    def saw(self, at_us: int, member: Name, record: Record) -> None:
        """A record of a member."""
        event, fields = record.event, record.fields
        if event == "asked":
            self._asked[fields["request"]] = Asked(member, fields, tuple(self._subscribers))
        elif event == "told":
            asked = self._asked[fields["request"]]
            if fields["outcome"] == "ok":
                asked.outcome = "ok"
                if asked.operation == "Subscribe":
                    self._subscribers[member] = None
        elif event == "state_change":
            self._changed(at_us, member, fields)

    def crashed(self, at_us: int, member: Name) -> None:
        """A member lost its memory."""
        self._active.pop(member, None)

    def _changed(self, at_us: int, member: Name, fields: Mapping[str, Any]) -> None:
        if fields["new"] not in _SERVING:
            self._active.pop(member, None)
            return
        if member not in self._active:
            for other in self._active:
                self._seen.append(Broken("one-active", f"{member} serves while {other} does", at_us))
            if not fields["complete"]:
                self._seen.append(Broken("complete-copy", f"{member} serves from a copy that is not complete", at_us))
        self._active[member] = None

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
        broken = self._seen[:3]
        if len(serving) > 1 and not broken:
            broken.append(Broken("one-active", f"{' and '.join(serving)} both serve", at_us))
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
        queued: Counter[str] = Counter()
        subscribed: Counter[tuple[Name, str]] = Counter()
        for name, stored in repository.messages():
            if name.startswith("ptp/"):
                queued[stored.request] += 1
            else:
                subscribed[name.split("/")[2], stored.request] += 1
        consumed: dict[str, dict[Name, None]] = {}
        certainly: Counter[tuple[Name, str]] = Counter()
        for asked in self._asked.values():
            for request in asked.consumed:
                consumed.setdefault(request, {})[asked.client] = None
                if asked.outcome == "ok":
                    certainly[asked.client if self._of_topic(request) else "", request] += 1
        for request, asked in self._asked.items():
            if asked.outcome == "ok":
                yield from self._kept(at_us, request, asked, queued, subscribed, consumed.get(request, {}))
        yield from self._objects(at_us, repository)
        if self._once:
            yield from self._duplicates(at_us, queued, subscribed, certainly)

    def _of_topic(self, request: str) -> bool:
        return request in self._asked and self._asked[request].operation == "Publish"

    def _kept(
        self,
        at_us: int,
        request: str,
        asked: Asked,
        queued: Counter[str],
        subscribed: Counter[tuple[Name, str]],
        consumed: Mapping[Name, None],
    ) -> Iterator[Broken]:
        if asked.operation == "SendMessage" and not queued[request] and not consumed:
            yield Broken("acknowledged-kept", f"message {request} was acknowledged, and is gone", at_us)
        elif asked.operation == "Publish":
            for name in asked.subscribers:
                if not subscribed[name, request] and name not in consumed:
                    story = f"message {request} was acknowledged, and is gone for subscriber {name}"
                    yield Broken("acknowledged-kept", story, at_us)

    def _objects(self, at_us: int, repository: Repository) -> Iterator[Broken]:
        """Each client has objects of its own, and sets them one after the other."""
        possible: dict[str, list[str]] = {}
        for asked in self._asked.values():
            if asked.operation == "SetObject":
                values = possible.setdefault(asked.object, [""])
                if asked.outcome == "ok":
                    values.clear()
                values.append(asked.value)
        for name, values in possible.items():
            found = repository.objects.get(name, b"").decode()
            if found not in values:
                story = f"{name} is {found or 'gone'}, and was set to {values[0]} last"
                yield Broken("acknowledged-kept", story, at_us)

    def _duplicates(
        self,
        at_us: int,
        queued: Counter[str],
        subscribed: Counter[tuple[Name, str]],
        certainly: Counter[tuple[Name, str]],
    ) -> Iterator[Broken]:
        for request, times in queued.items():
            if times > 1:
                yield Broken("exactly-once", f"message {request} is there {times} times", at_us)
        for (name, request), times in subscribed.items():
            if times > 1:
                yield Broken("exactly-once", f"message {request} is there {times} times for {name}", at_us)
        for (name, request), times in certainly.items():
            if times > 1:
                yield Broken("consumed-once", f"message {request} was consumed {times} times", at_us)
            if queued[request] or subscribed[name, request]:
                yield Broken("consumed-once", f"message {request} was consumed, and is there again", at_us)
