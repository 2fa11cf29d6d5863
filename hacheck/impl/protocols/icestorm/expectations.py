"""What an oracle knows of topics and of deliveries, from the requests and answers of clients."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct, field

from hacheck.impl.node import Name
from hacheck.impl.protocols.icestorm.records import (
    ALREADY_SUBSCRIBED,
    FAILED,
    LINK_EXISTS,
    NO_SUCH_LINK,
    NO_SUCH_TOPIC,
    NOT_SUBSCRIBED,
    OK,
    TOPIC_EXISTS,
    Topic,
)
from hacheck.impl.system import Broken

OPPOSITE = {
    "Create": "Destroy",
    "Destroy": "Create",
    "Subscribe": "Unsubscribe",
    "Unsubscribe": "Subscribe",
    "Link": "Unlink",
    "Unlink": "Link",
}
"""Updates, and those that undo them."""

THERE = {"Create": TOPIC_EXISTS, "Subscribe": ALREADY_SUBSCRIBED, "Link": LINK_EXISTS}
GONE = {"Destroy": NO_SUCH_TOPIC, "Unsubscribe": NOT_SUBSCRIBED, "Unlink": NO_SUCH_LINK}
"""The outcomes that say: it was so already."""


class Request(Struct):
    """A request. `item`: the subscriber's identity, or the topic that is linked to. `certain`: attempts with a sure
    outcome; the client goes on after the first of them (`through`) that did something or had nothing to do."""

    operation: str
    topic: str
    item: str
    certain: set[int] = field(default_factory=set)
    through: bool = False

    @property
    def update(self) -> bool:
        """Whether it changes something."""
        return self.operation in OPPOSITE


class Item(Struct):
    """What is known of a topic, a subscription or a link. `wanted`: the last update that is known to be done, and when
    that was informed. `doubts`: how many attempts of each kind have no sure outcome. `requested`: what was requested at
    all."""

    wanted: str = ""
    at_us: int = 0
    doubts: dict[str, int] = field(default_factory=dict)
    requested: set[str] = field(default_factory=set)

    def sure(self) -> bool:
        """Whether it is known how it must be."""
        return self.wanted != "" and not self.doubts.get(OPPOSITE[self.wanted], 0)


class Topics:
    """Items by topic, and what they are: `("client-1/0/3", "")` for the topic itself, else the subscriber or target."""

    def __init__(self) -> None:
        self.items: dict[tuple[str, str], Item] = {}

    def _item(self, topic: str, item: str) -> Item:
        return self.items.setdefault((topic, item), Item())

    def requested(self, request: Request) -> None:
        """An attempt at an update."""
        item = self._item(request.topic, request.item)
        item.requested.add(request.operation)
        item.doubts[request.operation] = item.doubts.get(request.operation, 0) + 1

    def doubt(self, topic: str, operation: str, item: str) -> None:
        """An update may be done more often than it was requested for."""
        doubts = self._item(topic, item).doubts
        doubts[operation] = doubts.get(operation, 0) + 1

    def outcome(self, at_us: int, request: Request, outcome: str) -> Iterator[Broken]:
        """The sure outcome of an attempt. One that is done after the client has gone on stays in doubt: nobody knows
        whether it was done before what came next."""
        item = self._item(request.topic, request.item)
        if not request.through or outcome != OK:
            item.doubts[request.operation] -= 1
        if request.through or outcome == FAILED:
            return
        request.through = True
        if outcome in (OK, THERE.get(request.operation), GONE.get(request.operation)):
            item.wanted, item.at_us = request.operation, at_us
        elif outcome == NO_SUCH_TOPIC and not any(map(self._missed, (request.topic, request.item))):
            story = f"{request.operation} at topic {request.topic} found no such topic, though it was created"
            yield Broken("acknowledged updates stay", story, at_us)

    def _missed(self, topic: str) -> bool:
        """Whether a topic may be missing."""
        item = self.items.get((topic, ""))
        return item is not None and (item.wanted != "Create" or "Destroy" in item.requested)

    def compared(self, topics: Mapping[str, Topic]) -> Iterator[tuple[str, str, int]]:
        """What is not as clients were answered: the promise, the story, and when they were answered."""
        for (name, about), item in self.items.items():
            if not item.sure() or (about and not self._stays(name, about)):
                continue
            there = _there(topics, name, about)
            what = f"topic {name}" if not about else f"{about} at topic {name}"
            if item.wanted in THERE and not there:
                yield "acknowledged updates stay", f"{item.wanted} of {what} was acknowledged and is lost", item.at_us
            if item.wanted in GONE and there:
                yield "acknowledged updates stay", f"{item.wanted} of {what} was acknowledged and is undone", item.at_us

    def _stays(self, name: str, about: str) -> bool:
        """Whether nothing but its own updates can change a subscription or link: neither topic was to be destroyed,
        and no failed delivery ends it."""
        if about.endswith("/loose") and "Subscribe" in self.items[name, about].requested:
            return False
        ends = (self.items.get((topic, "")) for topic in (name, about))
        return not any(end is not None and "Destroy" in end.requested for end in ends)


def _there(topics: Mapping[str, Topic], name: str, about: str) -> bool:
    topic = topics.get(name)
    if topic is None or not about:
        return topic is not None
    return any(s.identity == about for s in topic.subscribers) or any(edge.to == about for edge in topic.links)


class Deliveries:
    """What was published, and what arrived: nothing that was not published, nothing twice by one subscription, unless a
    publisher may send it again; and what one replica delivers to one ordered subscriber in its publisher's order."""

    def __init__(self, *, may_repeat: bool) -> None:
        self._may_repeat = may_repeat
        self._came: set[tuple[str, str, str, int]] = set()
        self._published: set[tuple[str, str, int]] = set()
        self._last: dict[tuple[Name, Name, str, str, str], int] = {}

    def published(self, fields: Mapping[str, Any]) -> None:
        """A message was published."""
        self._published.add((fields["topic"], fields["publisher"], fields["number"]))

    def delivered(self, at_us: int, member: Name, fields: Mapping[str, Any]) -> Iterator[Broken]:
        """A subscriber has taken a message."""
        publisher, number = fields["publisher"], fields["number"]
        if (fields["origin"], publisher, number) not in self._published:
            yield Broken("only what was published", f"{member} got message {number} of {publisher}", at_us)
        came = (fields["identity"], fields["topic"], publisher, number)
        if came in self._came and not self._may_repeat:
            yield Broken("at most once", f"{member} got message {number} of {publisher} twice", at_us)
        self._came.add(came)
        if fields["identity"].endswith("/loose"):
            return
        key = (member, fields["replica"], fields["topic"], fields["identity"], publisher)
        last = self._last.get(key, 0)
        self._last[key] = max(last, number)
        if number < last:
            story = f"{member} got message {number} of {publisher} after {last} from {fields['replica']}"
            yield Broken("messages in order", story, at_us)


class Publishers:
    """Publishers that have a proxy of one replica, which does not fail over: they are at another one only after they
    have noticed that something failed."""

    def __init__(self) -> None:
        self._bound: dict[Name, Name] = {}

    def noticed(self, member: Name) -> None:
        """A publisher got an exception, or was started again."""
        self._bound.pop(member, None)

    def bound(self, at_us: int, member: Name, fields: Mapping[str, Any]) -> Iterator[Broken]:
        """A publisher's connection leads to a replica."""
        before = self._bound.get(member)
        if fields["direct"]:
            if before is not None and before != fields["replica"]:
                story = f"{member} was at {before}, and is at {fields['replica']} without an exception"
                yield Broken("a change of replicas is noticed", story, at_us)
            self._bound[member] = fields["replica"]
        else:
            self.noticed(member)
