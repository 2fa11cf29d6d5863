"""What clients do in a run: each works on topics of its own, so that it is known afterwards what must be there.

A topic is named after its client and incarnation: `client-1/0/4`. Every second one is destroyed again.
"""

from __future__ import annotations

from collections.abc import Iterator

from hacheck.impl.node import Name
from hacheck.impl.protocols.icestorm.options import Options
from hacheck.impl.protocols.icestorm.records import (
    ALREADY_SUBSCRIBED,
    NO_SUCH_TOPIC,
    NOT_SUBSCRIBED,
    OK,
    ClientOperation,
    Create,
    Destroy,
    GetPublisher,
    Link,
    Publish,
    Retrieve,
    RetrieveAll,
    Subscribe,
    Subscriber,
    Unlink,
    Unsubscribe,
)

COST = 5
"""The cost of the links; messages cost less, as much, and more."""

KEPT = {"retryCount": "-1", "reliability": "ordered"}
LOOSE = {"retryCount": "1", "reliability": "twoway"}


class Script:
    """The operations of one incarnation of a client, one after the other."""

    __slots__ = ("_kind", "_left", "_number", "_prefix", "_round", "member")

    def __init__(self, member: Name, incarnation: int, kind: str) -> None:
        self.member = member
        self._prefix = f"{member}/{incarnation}"
        self._kind = kind
        self._round = -1
        self._left: list[ClientOperation] = []
        self._number = 0  # of messages published

    def heard(self, operation: ClientOperation, outcome: str) -> None:
        """What comes next does not depend on it."""

    def next(self, now_us: int) -> ClientOperation | None:
        """The next operation. Not for the workload `none`."""
        if not self._left:
            self._round += 1
            self._left = list(self._steps())[::-1]
        return self._left.pop()

    def _steps(self) -> Iterator[ClientOperation]:
        if self._kind == "updates":
            yield from self._updates()
        elif self._kind == "publishing":
            yield from self._publishing()
        else:
            yield from self._mixed()

    def _topic(self, back: int = 0) -> str:
        return f"{self._prefix}/{self._round - back}"

    def _publish(self, topic: str, cost: int) -> Publish:
        self._number += 1
        return Publish(topic, self._prefix, self._number, "event", cost)

    def _updates(self) -> Iterator[ClientOperation]:
        yield Create(self._topic())
        yield Subscribe(self._topic(), Subscriber(self.member, self.member, KEPT))
        if self._round % 2:
            yield Destroy(self._topic(1))

    def _publishing(self) -> Iterator[ClientOperation]:
        if self._round == 0:
            yield Create(self._topic())
            yield Subscribe(self._topic(), Subscriber(self.member, self.member, KEPT))
        for _ in range(10):
            yield self._publish(f"{self._prefix}/0", 0)

    def _mixed(self) -> Iterator[ClientOperation]:
        here, round_ = self._topic(), self._round
        loose = f"{self.member}/loose"
        yield Create(here)
        yield Subscribe(here, Subscriber(self.member, self.member, KEPT))
        yield self._publish(here, 0)
        yield Subscribe(here, Subscriber(loose, self.member, LOOSE))
        if round_:
            yield Link(self._topic(1), here, COST)
            yield self._publish(self._topic(1), COST - 1)
            yield self._publish(self._topic(1), COST + 1)
        yield RetrieveAll()
        if round_ % 2:
            yield Unsubscribe(here, (loose,))
        yield self._publish(here, COST)
        yield Retrieve(here)
        if round_ % 4 == 1:
            yield Unlink(self._topic(1), here)
        if round_ >= 2 and round_ % 2 == 0:
            yield Destroy(self._topic(2))


NEWS = "news"
"""The topic that all clients share."""


class SharedScript:
    """One publishes on a topic, others subscribe to it: each asks until it is informed that it is subscribed, and, if
    it is to leave, until it is informed that it is no more. `made`: the topic is there, as far as the publisher
    knows."""

    __slots__ = (
        "_is_publisher",
        "_leaves_us",
        "_messages_max",
        "_number",
        "_prefix",
        "ended",
        "made",
        "member",
        "subscribed",
    )

    def __init__(self, member: Name, incarnation: int, options: Options, index: int) -> None:
        self.member = member
        self._prefix = f"{member}/{incarnation}"
        self._is_publisher = index == 0
        self._leaves_us = options.leave_after_us
        self._messages_max = options.messages_max
        self._number = 0
        self.made = False
        self.subscribed = False
        self.ended = False

    def heard(self, operation: ClientOperation, outcome: str) -> None:
        """What was informed of an operation."""
        if isinstance(operation, Create):
            self.made = True
        elif isinstance(operation, Publish | GetPublisher) and outcome == NO_SUCH_TOPIC:
            self.made = False
        elif isinstance(operation, Subscribe):
            self.subscribed = outcome in (OK, ALREADY_SUBSCRIBED)
        elif isinstance(operation, Unsubscribe):
            self.ended = outcome in (OK, NOT_SUBSCRIBED)

    def next(self, now_us: int) -> ClientOperation | None:
        """The next operation; none: there is nothing to do."""
        if self._is_publisher:
            if not self.made:
                return Create(NEWS)
            if self._messages_max and self._number >= self._messages_max:
                return None
            self._number += 1
            return Publish(NEWS, self._prefix, self._number, "event")
        if self._leaves_us and now_us >= self._leaves_us:
            return None if self.ended else Unsubscribe(NEWS, (self.member,))
        if self.subscribed:
            return None
        return Subscribe(NEWS, Subscriber(self.member, self.member, {"reliability": "ordered"}))


def script_of(member: Name, incarnation: int, options: Options, index: int) -> Script | SharedScript:
    """What the so many-th client does, from 0."""
    if options.workload == "shared":
        return SharedScript(member, incarnation, options, index)
    return Script(member, incarnation, options.workload)
