"""Compares what clients were answered with what the replicas have, at the end of a run.

A promise is held against the replicas only where it is beyond doubt. An attempt that was never answered, or answered
with an unknown outcome, may have been done, or be done at any time later, for requests wait without limit; so may one
that a slave had to pass on twice. Destroying a topic for good therefore needs that no creation of it is in doubt.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from msgspec import Struct

from hacheck.impl.node import Name, Node, Record
from hacheck.impl.protocols.icestorm.expectations import Deliveries, Publishers, Request, Topics
from hacheck.impl.protocols.icestorm.options import Options
from hacheck.impl.protocols.icestorm.records import Stamp, Topic
from hacheck.impl.protocols.icestorm.replica import Replica
from hacheck.impl.protocols.icestorm.replica_state import State
from hacheck.impl.protocols.icestorm.store import Disk, decoded
from hacheck.impl.system import Broken, Member


class Reached(Struct):
    """A generation in which a group has commenced."""

    group: str
    at_us: int


class IceStormOracle:
    """`requests`: by their identities; `topics`: what is known of each; `last_outcome_us`: the last update done."""

    def __init__(self, members: tuple[Member, ...], options: Options, quiet_us: int) -> None:
        self.replicas = tuple(member.name for member in members if member.role == "replica")
        self.clients = tuple(member.name for member in members if member.role == "client")
        self.options = options
        self.quiet_us = quiet_us
        self.requests: dict[str, Request] = {}
        self.topics = Topics()
        self.deliveries = Deliveries(may_repeat=options.idempotent)
        self.publishers = Publishers()
        self.generations: dict[int, Reached] = {}
        self.broken: list[Broken] = []
        self.last_outcome_us = 0

    def saw(self, at_us: int, member: Name, record: Record) -> None:
        """A record of a member."""
        fields = record.fields
        if record.event == "asked":
            self._requested(fields)
        elif record.event == "told":
            self._outcome(at_us, fields)
            if fields["outcome"] == "unknown":
                self.publishers.noticed(member)
        elif record.event == "delivered":
            self.broken.extend(self.deliveries.delivered(at_us, member, fields))
        elif record.event == "publisher_bound":
            self.broken.extend(self.publishers.bound(at_us, member, fields))
        elif record.event == "publisher_failed":
            self.publishers.noticed(member)
        elif record.event == "subscriber_failed":
            self.topics.doubt(fields["topic"], "Unsubscribe", fields["subscriber"])
        elif record.event == "forward_failed":
            self.topics.doubt(fields["topic"], fields["update"], fields["item"])
        elif record.event == "commenced":
            self._commencing(at_us, fields["generation"], fields["group"])

    def crashed(self, at_us: int, member: Name) -> None:
        """A member lost its memory. What a client was not answered by then stays in doubt."""
        self.publishers.noticed(member)

    def _requested(self, fields: Mapping[str, object]) -> None:
        request = self.requests.get(str(fields["request"]))
        if request is None:
            request = Request(str(fields["operation"]), str(fields["topic"]), str(fields.get("item", "")))
            self.requests[str(fields["request"])] = request
            if fields["operation"] == "Publish":
                self.deliveries.published(fields)
        if fields["update"]:
            self.topics.requested(request)

    def _outcome(self, at_us: int, fields: Mapping[str, object]) -> None:
        request, outcome = self.requests[str(fields["request"])], str(fields["outcome"])
        if outcome == "unknown" or not request.update:
            return
        attempt = cast(int, fields["attempt"])
        if attempt in request.certain:  # an answer that came twice
            return
        request.certain.add(attempt)
        self.last_outcome_us = at_us
        self.broken.extend(self.topics.outcome(at_us, request, outcome))

    def _commencing(self, at_us: int, generation: int, group: str) -> None:
        before = self.generations.setdefault(generation, Reached(group, at_us))
        if before.group != group:
            story = f"groups {before.group} and {group} both replicate in generation {generation}"
            self.broken.append(Broken("one group in each generation", story, at_us))

    # ---- at the end ------------------------------------------------------------------------------------------------

    def verdict(
        self, at_us: int, durable: Mapping[Name, Mapping[str, bytes]], nodes: Mapping[Name, Node]
    ) -> Sequence[Broken]:
        """What is broken."""
        running = {name: node for name in self.replicas if isinstance(node := nodes.get(name), Replica)}
        broken = list(self.broken)
        coordinator = self._coordinator(running)
        if coordinator is None:
            broken.append(Broken("service comes back", self._standings(running), at_us))
        if running:
            topics = self._topics(coordinator, running, durable)
            broken.extend(Broken(promise, story, at) for promise, story, at in self.topics.compared(topics))
        if coordinator is not None and not self.options.transient:
            broken.extend(
                Broken("replicas agree", story, at_us) for story in self._differ(coordinator, running, durable)
            )
        if self._silent(at_us, nodes):
            since = f"no client was answered about an update since {self.last_outcome_us / 1e6:.3f} s"
            broken.append(Broken("service comes back", f"{since}; {self._standings(running)}", at_us))
        return broken

    def _coordinator(self, running: Mapping[Name, Replica]) -> Replica | None:
        """The replica that all that run take for their coordinator, if they all serve."""
        standings = [replica.standing for replica in running.values()]
        if not standings or any(standing.state is not State.NORMAL for standing in standings):
            return None
        if len({standing.group for standing in standings}) != 1:
            return None
        return next((r for r in running.values() if r.standing.coord == r.standing.ident), None)

    def _silent(self, at_us: int, nodes: Mapping[Name, Node]) -> bool:
        busy = self.options.workload in ("mixed", "updates") and any(name in nodes for name in self.clients)
        return busy and at_us - self.last_outcome_us > self.quiet_us // 2

    def _standings(self, running: Mapping[Name, Replica]) -> str:
        return "; ".join(
            f"{name} is {r.standing.state.value} in group {r.standing.group} of {r.standing.coord}"
            for name, r in running.items()
        )

    def _topics(
        self,
        coordinator: Replica | None,
        running: Mapping[Name, Replica],
        durable: Mapping[Name, Mapping[str, bytes]],
    ) -> Mapping[str, Topic]:
        """The topics that the service has, or would have after the next election."""
        if self.options.transient:
            return next(iter(running.values())).store.topics
        if coordinator is not None:
            return self._disk(coordinator.core.member, durable).topics
        disks = [self._disk(name, durable) for name in running]
        return max(disks, key=lambda disk: disk.stamp).topics

    def _disk(self, name: Name, durable: Mapping[Name, Mapping[str, bytes]]) -> Disk:
        return decoded(durable.get(name, {}), name)

    def _differ(
        self, coordinator: Replica, running: Mapping[Name, Replica], durable: Mapping[Name, Mapping[str, bytes]]
    ) -> Iterator[str]:
        """How replicas differ by more than an update that is on its way."""
        seen: dict[Stamp, tuple[Name, Disk]] = {}
        for name, replica in running.items():
            disk = self._disk(name, durable)
            first, other = seen.setdefault(disk.stamp, (name, disk))
            if other.topics != disk.topics:
                yield f"{first} and {name} have other topics under one stamp {disk.stamp}"
            if not replica.store.busy and not replica.updating.committed and replica.store.topics != disk.topics:
                yield f"{name} has other topics in memory than on its disk"
            if disk.stamp.generation != coordinator.standing.generation:
                yield f"{name} has an update of generation {disk.stamp.generation}, not of the group's"
        iterations = sorted(stamp.iteration for stamp in seen)
        if iterations and iterations[-1] - iterations[0] > 1:
            yield f"replicas are more than one update apart: {', '.join(map(str, iterations))}"
