"""The settings of one service with publishers and subscribers, `icestorm-topics`."""

from __future__ import annotations

from typing import Literal

from hacheck.impl.kit.settings import SECOND_US, FromMinusOne, OrZero
from hacheck.impl.protocols.icestorm.options import Options
from hacheck.impl.system import Refused

FIRST, SECOND, THIRD = "T1", "T2", "T3"
TOPICS = (FIRST, SECOND, THIRD)

GRAPHS: dict[str, tuple[tuple[str, str], ...]] = {
    "none": (),
    "example": ((FIRST, SECOND), (FIRST, THIRD)),
    "chain": ((FIRST, SECOND), (SECOND, THIRD)),
    "cycle": ((FIRST, SECOND), (SECOND, THIRD), (THIRD, FIRST)),
}
"""Links between the topics, by the name of the graph; `example` is the figure of the document."""


class TopicsOptions(Options, frozen=True, kw_only=True):
    """The settings, besides those of the service.

    `graph`: the links between three topics. The first publisher makes these, and the topics; with `topics_missing` each
    client makes the topics that it needs. `link_cost`: of all links. `interests`: `figure`, the first subscriber wants
    T2, the second T1, others T3; `first`, all T1; `both`, all T2 and T3. `publishers`: how many of the clients publish;
    the others subscribe. `published_on`: to how many of the topics, in turn. `message_cost`: messages cost 0 to this
    much, in turn. `messages_max`: how many each publishes; 0: no limit. `publisher_repeats`: what was not answered is
    sent again.

    `delivery`, `retry_count`: what subscribers ask for; `first_alone`: the first one does, others ask for `ordered` and
    0. `ask_period_us`: how often a subscriber subscribes again, in order not to be off a topic without knowing; 0: it
    does not. `leave_after_us`: when every second subscriber, from the first on, ends its subscriptions for good; 0:
    never. `exceptions_every`: each so many-th delivery makes a subscriber fail, in turn before and after it has done
    its work; 0: none does.
    """

    graph: Literal["none", "example", "chain", "cycle"] = "example"
    topics_missing: bool = False
    link_cost: OrZero = 1
    interests: Literal["figure", "first", "both"] = "figure"
    publishers: int = 1
    published_on: int = 1
    message_cost: OrZero = 0
    publisher_repeats: bool = False

    delivery: Literal["ordered", "twoway", "oneway", "datagram"] = "ordered"
    retry_count: FromMinusOne = 0
    first_alone: bool = False
    ask_period_us: OrZero = 2 * SECOND_US
    exceptions_every: OrZero = 0

    def check(self) -> None:
        """Errors: `Refused`, for more topics to publish on than there are."""
        if self.published_on > len(TOPICS):
            raise Refused(f"`published_on` is {len(TOPICS)} or less: there are {len(TOPICS)} topics")
