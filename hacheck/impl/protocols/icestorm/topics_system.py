"""One IceStorm service that is not replicated, with publishers and subscribers, as something that can be run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hacheck.impl.kit.settings import read_settings
from hacheck.impl.node import Message, Name, Node, Setup
from hacheck.impl.protocols.icestorm.messages import MESSAGES
from hacheck.impl.protocols.icestorm.replica import Replica
from hacheck.impl.protocols.icestorm.topics_clients import Publisher, SubscriberProcess
from hacheck.impl.protocols.icestorm.topics_options import TopicsOptions
from hacheck.impl.protocols.icestorm.topics_oracle import RECENT_US, TopicsOracle
from hacheck.impl.system import Member, Oracle, Refused, System

SERVICE, CLIENT = "replica", "client"


class IceStormTopics:
    """One service, and its clients: the first ones publish, the others subscribe."""

    name = "icestorm-topics"
    messages: tuple[type[Message], ...] = MESSAGES

    def options(self, given: Mapping[str, str]) -> TopicsOptions:
        """Settings from text. Errors: `Refused`."""
        return read_settings(TopicsOptions, given)

    def members(self, replicas: int, clients: int, options: TopicsOptions) -> tuple[Member, ...]:
        """Who takes part. Errors: `Refused`, for more than one service."""
        if replicas != 1:
            raise Refused(f"icestorm-topics is one service without replicas: 1, not {replicas}")
        publishers = min(options.publishers, clients)
        return (
            Member("service-1", SERVICE),
            *(Member(f"publisher-{number}", CLIENT) for number in range(1, publishers + 1)),
            *(Member(f"subscriber-{number}", CLIENT) for number in range(1, clients - publishers + 1)),
        )

    def start(self, member: Member, members: tuple[Member, ...], setup: Setup) -> Node:
        """A process. Errors: `Refused`, for a disk that cannot be read."""
        if member.role == SERVICE:
            return Replica(setup, 1, {})
        kind, _, number = member.name.rpartition("-")
        (service,) = (one.name for one in members if one.role == SERVICE)
        process = Publisher if kind == "publisher" else SubscriberProcess
        return process(setup, service, int(number) - 1)

    def oracle(self, members: tuple[Member, ...], options: TopicsOptions) -> Oracle:
        """Who compares what was published with what came."""
        return TopicsOracle(members, options)

    def quiet_us(self, options: TopicsOptions) -> int:
        """Clients notice, and subscribe again; what was published while they did need not be there."""
        failing_us = options.invocation_timeout_us + options.retry_interval_us
        return 3 * options.client_timeout_us + 2 * options.ask_period_us + failing_us + 2 * RECENT_US

    def serving(self, nodes: Mapping[Name, Node]) -> tuple[Name, ...]:
        """The service."""
        return tuple(name for name, node in nodes.items() if isinstance(node, Replica))

    def survives(self) -> Iterator[str]:
        """Nothing is lost that is promised: topics, links and subscriptions are on disk, messages nowhere. A network
        that repeats or reorders what TCP would not is beyond it."""
        yield from ("crash", "power", "pause", "cut", "reset", "slow")
        yield from ("disk-full", "disk-error", "disk-slow", "clock-rate", "clock-jump")


TOPICS: System = IceStormTopics()
"""What `hacheck simulate-impl icestorm-topics` runs."""
