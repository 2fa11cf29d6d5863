"""The settings of one service with publishers and subscribers, `icestorm-topics`."""

from __future__ import annotations

from collections.abc import Mapping

from hacheck.impl.protocols.icestorm.options import SECOND_US, WORDS, Options, parsed
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

DELIVERIES = ("ordered", "twoway", "oneway", "datagram")
WORDS_OF_CLIENTS = {"graph": tuple(GRAPHS), "interests": ("figure", "first", "both"), "delivery": DELIVERIES}
COUNTED = (
    *("link_cost", "publishers", "published_on", "message_cost", "messages_max", "retry_count"),
    "exceptions_every",
)
ZERO_FOR_NONE = ("message_cost", "link_cost", "messages_max", "exceptions_every", "leave_after_us", "ask_period_us")


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

    graph: str = "example"
    topics_missing: bool = False
    link_cost: int = 1
    interests: str = "figure"
    publishers: int = 1
    published_on: int = 1
    message_cost: int = 0
    publisher_repeats: bool = False

    delivery: str = "ordered"
    retry_count: int = 0
    first_alone: bool = False
    ask_period_us: int = 2 * SECOND_US
    exceptions_every: int = 0


def options_of_topics(given: Mapping[str, str]) -> TopicsOptions:
    """Settings from text. Errors: `Refused`."""
    words = {**WORDS, **WORDS_OF_CLIENTS}
    options = parsed(given, TopicsOptions, words, COUNTED, ZERO_FOR_NONE)
    if options.published_on > len(TOPICS):
        raise Refused(f"`published_on` is {len(TOPICS)} or less: there are so many topics")
    return options
