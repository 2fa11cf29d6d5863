"""What one service promises its publishers and subscribers, and whether a run kept it.

| promise | means |
|---|---|
| `one hop` | a message comes by the topic it was published on, or by one that this is linked to |
| `costs respected` | a message that costs more than a link does not come over it |
| `at most once` | a message comes once by each subscription, unless somebody sends it again |
| `messages in order` | those of one publisher come in order by each subscription; not with `twoway` and `datagram` |
| `nothing after the end` | who was informed that its subscription has ended gets nothing more; not without answers |
| `one topic of a name` | no topic is made that is there already |
| `subscriptions stand` | a subscription ends by an error, or because its subscriber ends it; not in transient mode |
| `delivered or given up` | what was taken for a subscription that stands arrives, where answers are awaited |

Messages are kept nowhere: what is on its way when the service ends is gone, and so is what waits for a subscriber at
which a delivery fails. That is not promised otherwise, and not checked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hacheck.impl.node import Name, Node, Record
from hacheck.impl.protocols.icestorm.records import ALREADY_SUBSCRIBED, LINK_EXISTS, NOT_SUBSCRIBED, OK
from hacheck.impl.protocols.icestorm.replica import Replica
from hacheck.impl.protocols.icestorm.topics_options import GRAPHS, TopicsOptions
from hacheck.impl.system import Broken, Member

RECENT_US = 5_000_000
"""What was published so short a time before the end may still be on its way."""

Key = tuple[Name, str]
"""A subscription: subscriber and topic."""
Published = tuple[str, int]
"""A message: publisher with its incarnation, and number."""


class TopicsOracle:
    """Watches a service. `pending`: requests that are not answered. `costs`, `taken`: of messages, their topics and
    costs, and when the service said that it has them. `since`: subscriptions that stand, as far as subscribers know,
    and since when; `over`: those that have ended at their subscriber's wish; `errors`: those that have had one. `got`:
    what came by each; `last`: the latest of each publisher."""

    def __init__(self, members: tuple[Member, ...], options: TopicsOptions) -> None:
        self.options = options
        (self.service,) = (member.name for member in members if member.role != "client")
        self.links = set(GRAPHS[options.graph])
        self.pending: dict[str, Mapping[str, Any]] = {}
        self.costs: dict[Published, tuple[str, int]] = {}
        self.taken: dict[Published, int] = {}
        self.since: dict[Key, int] = {}
        self.over: dict[Key, None] = {}
        self.errors: dict[Key, None] = {}
        self.created: dict[str, None] = {}
        self.got: dict[Key, dict[Published, None]] = {}
        self.last: dict[tuple[Name, str, str], int] = {}
        self.started_us = 0
        self.linked_us: dict[tuple[str, str], int] = {}
        self.broken: list[Broken] = []

    def saw(self, at_us: int, member: Name, record: Record) -> None:
        """A record of a member."""
        fields = record.fields
        if record.event == "asked":
            self.pending[fields["request"]] = {**fields, "member": member, "at_us": at_us}
            if fields["operation"] == "Publish":
                self.costs[fields["publisher"], fields["number"]] = fields["topic"], fields["cost"]
        elif record.event == "told":
            self._outcome(at_us, fields)
        elif record.event == "delivered":
            self.broken.extend(self._delivered(at_us, member, fields))
        elif record.event == "delivery_failed":
            self.errors[fields["subscriber"], fields["topic"]] = None
        elif record.event == "subscription_made":  # its answer may come after the next error
            self.errors.pop((fields["subscriber"], fields["topic"]), None)
        elif record.event == "leaves":
            for topic in fields["topics"]:
                self.since.pop((member, topic), None)

    def crashed(self, at_us: int, member: Name) -> None:
        """A member lost its memory: the service what it had not delivered, a subscriber what it takes itself to be."""
        if member == self.service:
            self.started_us = at_us
            if self.options.transient:
                self.since, self.created, self.linked_us = {}, {}, {}
            return
        for key in [key for key in self.since if key[0] == member]:
            self.errors[key] = None  # the next delivery fails, before anybody can ask

    def _outcome(self, at_us: int, fields: Mapping[str, Any]) -> None:
        request = self.pending.pop(fields["request"], None)
        if request is None:
            return
        operation, topic, outcome = request["operation"], request["topic"], fields["outcome"]
        key = request["member"], topic
        if operation != "Publish" and self.options.transient and request["at_us"] < self.started_us:
            return  # what came of it may be gone with the service
        if operation == "Publish" and outcome == OK:
            self.taken[request["publisher"], request["number"]] = at_us
        elif operation == "Subscribe" and outcome in (OK, ALREADY_SUBSCRIBED):
            if outcome == OK or key not in self.since:
                self.since[key] = at_us
        elif operation == "Subscribe":
            self.since.pop(key, None)
        elif operation == "Unsubscribe" and outcome in (OK, NOT_SUBSCRIBED):
            self.over[key] = None
        elif operation == "Link" and outcome in (OK, LINK_EXISTS):
            self.linked_us.setdefault((topic, request["to"]), at_us)
        elif operation == "Create" and outcome == OK:
            if topic in self.created:
                self.broken.append(Broken("one topic of a name", f"{topic} was made twice", at_us))
            self.created[topic] = None

    def _delivered(self, at_us: int, member: Name, fields: Mapping[str, Any]) -> Iterator[Broken]:
        key, origin = (member, fields["topic"]), fields["origin"]
        message = fields["publisher"], fields["number"]
        what = f"{fields['publisher']}/{fields['number']} of {origin}"
        where = f"{member} by {key[1]}"
        topic, cost = self.costs.get(message, ("", 0))
        if topic != origin or (origin != key[1] and (origin, key[1]) not in self.links):
            yield Broken("one hop", f"{what} came to {where}", at_us)
        if origin != key[1] and cost > self.options.link_cost:
            yield Broken("costs respected", f"{what}, which costs {cost}, came to {where}", at_us)
        if key in self.over and self.options.delivery in ("ordered", "twoway"):
            yield Broken("nothing after the end", f"{what} came to {where}", at_us)
        sent_again = self.options.publisher_repeats or self.options.attempts == "same"
        got = self.got.setdefault(key, {})
        if message in got and not sent_again:
            yield Broken("at most once", f"{what} came twice to {where}", at_us)
        got[message] = None
        last = self.last.get((*key, fields["publisher"]), 0)
        unordered = self.options.delivery in ("twoway", "datagram") or sent_again
        if fields["number"] < last and not unordered:
            yield Broken("messages in order", f"{what} came after number {last} to {where}", at_us)
        self.last[*key, fields["publisher"]] = max(last, fields["number"])

    # ---- at the end ------------------------------------------------------------------------------------------------

    def verdict(
        self, at_us: int, durable: Mapping[Name, Mapping[str, bytes]], nodes: Mapping[Name, Node]
    ) -> Sequence[Broken]:
        """What is broken."""
        service = nodes.get(self.service)
        if not isinstance(service, Replica):
            return [*self.broken, Broken("service comes back", f"{self.service} does not run", at_us)]
        found = list(self.broken)
        for (member, topic), since_us in self.since.items():
            if member not in nodes or (member, topic) in self.errors:
                continue
            there = service.store.topics.get(topic)
            if there is None or all(one.identity != member for one in there.subscribers):
                story = f"{member} is subscribed to {topic} no more, and neither requested that nor failed"
                found.append(Broken("subscriptions stand", story, at_us))
            elif self.options.delivery in ("ordered", "twoway"):
                found.extend(self._missing(at_us, (member, topic), since_us))
        return found

    def _missing(self, at_us: int, key: Key, since_us: int) -> Iterator[Broken]:
        """What was taken for a subscription without errors while this process of the service runs, and did not come."""
        from_us = max(since_us, self.started_us)
        got = self.got.get(key, {})
        for message, taken_us in self.taken.items():
            topic, cost = self.costs[message]
            linked_us = self.linked_us.get((topic, key[1]))
            over_it = linked_us is not None and linked_us < taken_us and cost <= self.options.link_cost
            reaches = topic == key[1] or over_it
            if reaches and message not in got and from_us + RECENT_US < taken_us < at_us - RECENT_US:
                story = f"{message[0]}/{message[1]} of {topic} did not come to {key[0]} by {key[1]}"
                yield Broken("delivered or given up", story, at_us)
                return
