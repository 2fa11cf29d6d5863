"""What the topic service stores: topics with their subscribers and links, and what requests do to them.

`plan` is the only place where a request changes topics; coordinator and slaves run it on the same content.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from msgspec import Struct

RELIABILITIES = ("", "oneway", "twoway", "ordered", "datagram")


class Stamp(Struct, frozen=True, order=True, array_like=True, gc=False):
    """The last update of a database: the generation of the group that made it, and its number in there. A later update
    has a higher stamp, by generation first."""

    generation: int
    iteration: int

    def next(self) -> Stamp:
        """The stamp of the next update in the same generation."""
        return Stamp(self.generation, self.iteration + 1)


BEGINNING = Stamp(0, 0)
"""The stamp of a database that was never written."""


class Subscriber(Struct, frozen=True, gc=False):
    """A subscription. `identity` is unique in a topic; `endpoint`: the process that takes the messages.

    `qos`: `retryCount`, how many deliveries may fail before the subscription is removed (default 0; -1: never removed);
    `reliability`, `oneway` (the default), `twoway`, `ordered`, one message at a time, or `datagram`, by UDP.
    """

    identity: str
    endpoint: str
    qos: dict[str, str] = {}

    def retries(self) -> int:
        """How many failures in a row are borne; below 0: any number."""
        return int(self.qos.get("retryCount", "0"))

    def reliability(self) -> str:
        """`oneway`, `twoway`, `ordered` or `datagram`."""
        return self.qos.get("reliability", "") or "oneway"


class Edge(Struct, frozen=True, gc=False):
    """A link to another topic, for messages whose cost is at most `cost`."""

    to: str
    cost: int


class Topic(Struct, frozen=True, gc=False):
    """A topic: its subscribers in the order they came, its links in the order of their targets."""

    name: str
    subscribers: tuple[Subscriber, ...] = ()
    links: tuple[Edge, ...] = ()


# ---- what clients ask for ------------------------------------------------------------------------------------------


class Operation(Struct, frozen=True, tag=True, gc=False):
    """What a client asks a replica for."""


class Create(Operation, frozen=True, gc=False):
    """Create a topic. `TopicExists` if there is one of that name."""

    topic: str


class Destroy(Operation, frozen=True, gc=False):
    """Destroy a topic, its subscriptions, its links, and the links to it."""

    topic: str


class Subscribe(Operation, frozen=True, gc=False):
    """Subscribe. `AlreadySubscribed` if the topic has a subscriber of that identity, `BadQoS` for a wrong quality."""

    topic: str
    subscriber: Subscriber


class Unsubscribe(Operation, frozen=True, gc=False):
    """End subscriptions; `NotSubscribed` if the topic has none of them."""

    topic: str
    identities: tuple[str, ...]


class Link(Operation, frozen=True, gc=False):
    """Link a topic to another. `LinkExists` if it is."""

    topic: str
    to: str
    cost: int = 0


class Unlink(Operation, frozen=True, gc=False):
    """End a link. `NoSuchLink` if there is none."""

    topic: str
    to: str


class Retrieve(Operation, frozen=True, gc=False):
    """A topic's subscribers and links."""

    topic: str


class RetrieveAll(Operation, frozen=True, gc=False):
    """The names of all topics."""


class GetPublisher(Operation, frozen=True, gc=False):
    """Where to publish: all replicas, or (`replicated=False`) the one that answers and no other."""

    topic: str
    replicated: bool = True


class Publish(Operation, frozen=True, gc=False):
    """Publish a message. `number`: counts a publisher's messages, from 1."""

    topic: str
    publisher: str
    number: int
    event: str = ""
    cost: int = 0


Update: TypeAlias = Create | Destroy | Subscribe | Unsubscribe | Link | Unlink
Read: TypeAlias = Retrieve | RetrieveAll | GetPublisher
ClientOperation: TypeAlias = Update | Read | Publish

UPDATES = (Create, Destroy, Subscribe, Unsubscribe, Link, Unlink)


def about(operation: ClientOperation) -> str:
    """Which subscriber or link of its topic an operation is about, or none."""
    match operation:
        case Subscribe():
            return operation.subscriber.identity
        case Unsubscribe():
            return operation.identities[0]
        case Link() | Unlink():
            return operation.to
    return ""


OK = "ok"
TOPIC_EXISTS = "TopicExists"
NO_SUCH_TOPIC = "NoSuchTopic"
ALREADY_SUBSCRIBED = "AlreadySubscribed"
NOT_SUBSCRIBED = "NotSubscribed"
LINK_EXISTS = "LinkExists"
NO_SUCH_LINK = "NoSuchLink"
BAD_QOS = "BadQoS"
FAILED = "Failed"
"""Nothing was done, such as for a disk that is full."""
UNKNOWN = "UnknownOutcome"
"""The majority was lost meanwhile: the update may have been done, or not."""

Content: TypeAlias = Mapping[str, Topic]
Changes: TypeAlias = dict[str, Topic | None]
"""Topics as they shall be, by name; `None`: gone."""


def plan(content: Content, update: Update) -> Changes | str:
    """What an update changes, or the name of the reason why it cannot be done (`TopicExists`, …)."""
    match update:
        case Create(topic=name):
            return TOPIC_EXISTS if name in content else {name: Topic(name)}
        case Destroy(topic=name):
            return _destroyed(content, name)
        case Subscribe(topic=name, subscriber=subscriber):
            topic = content.get(name)
            return NO_SUCH_TOPIC if topic is None else _subscribed(topic, subscriber)
        case Unsubscribe(topic=name, identities=identities):
            topic = content.get(name)
            return NO_SUCH_TOPIC if topic is None else _unsubscribed(topic, identities)
        case Link(topic=name, to=to, cost=cost):
            topic = content.get(name)
            return NO_SUCH_TOPIC if topic is None or to not in content else _linked(topic, Edge(to, cost))
        case Unlink(topic=name, to=to):
            topic = content.get(name)
            return NO_SUCH_TOPIC if topic is None else _unlinked(topic, to)


def _destroyed(content: Content, name: str) -> Changes | str:
    if name not in content:
        return NO_SUCH_TOPIC
    changes: Changes = {name: None}
    for topic in content.values():
        if topic.links and topic.name != name and any(edge.to == name for edge in topic.links):
            links = tuple(edge for edge in topic.links if edge.to != name)
            changes[topic.name] = Topic(topic.name, topic.subscribers, links)
    return changes


def _subscribed(topic: Topic, subscriber: Subscriber) -> Changes | str:
    if not sound(subscriber.qos):
        return BAD_QOS
    if any(other.identity == subscriber.identity for other in topic.subscribers):
        return ALREADY_SUBSCRIBED
    return {topic.name: Topic(topic.name, (*topic.subscribers, subscriber), topic.links)}


def _unsubscribed(topic: Topic, identities: tuple[str, ...]) -> Changes | str:
    kept = tuple(subscriber for subscriber in topic.subscribers if subscriber.identity not in identities)
    return NOT_SUBSCRIBED if len(kept) == len(topic.subscribers) else {topic.name: Topic(topic.name, kept, topic.links)}


def _linked(topic: Topic, edge: Edge) -> Changes | str:
    if any(other.to == edge.to for other in topic.links):
        return LINK_EXISTS
    links = tuple(sorted((*topic.links, edge), key=lambda other: other.to))
    return {topic.name: Topic(topic.name, topic.subscribers, links)}


def _unlinked(topic: Topic, to: str) -> Changes | str:
    kept = tuple(edge for edge in topic.links if edge.to != to)
    return NO_SUCH_LINK if len(kept) == len(topic.links) else {topic.name: Topic(topic.name, topic.subscribers, kept)}


def sound(qos: Mapping[str, str]) -> bool:
    """Whether a quality of service has known names only, each with a value that it may have."""
    for name, value in qos.items():
        if name == "retryCount":
            if not value.removeprefix("-").isdecimal():
                return False
        elif name != "reliability" or value not in RELIABILITIES:
            return False
    return True
