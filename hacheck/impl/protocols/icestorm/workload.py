"""What clients do in a run: each works on topics of its own, so that one can tell afterwards what must be there.

A topic is named after its client and incarnation: `client-1/0/4`. Every second one is destroyed again.
"""

from __future__ import annotations

from collections.abc import Iterator

from hacheck.impl.node import Name
from hacheck.impl.protocols.icestorm.records import (
    Asked,
    Create,
    Destroy,
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
        self._left: list[Asked] = []
        self._number = 0  # of messages published

    def next(self) -> Asked:
        """The next operation. Not for the workload `none`."""
        if not self._left:
            self._round += 1
            self._left = list(self._steps())[::-1]
        return self._left.pop()

    def _steps(self) -> Iterator[Asked]:
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

    def _updates(self) -> Iterator[Asked]:
        yield Create(self._topic())
        yield Subscribe(self._topic(), Subscriber(self.member, self.member, KEPT))
        if self._round % 2:
            yield Destroy(self._topic(1))

    def _publishing(self) -> Iterator[Asked]:
        if self._round == 0:
            yield Create(self._topic())
            yield Subscribe(self._topic(), Subscriber(self.member, self.member, KEPT))
        for _ in range(10):
            yield self._publish(f"{self._prefix}/0", 0)

    def _mixed(self) -> Iterator[Asked]:
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
