"""Clusters of Qpid brokers, and brokers on their own with replicas of single queues, as something that can be run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hacheck.impl.kit.settings import read_settings
from hacheck.impl.node import Message, Name, Node, Setup
from hacheck.impl.protocols.qpid import status as statuses
from hacheck.impl.protocols.qpid.applications import Application, Reader
from hacheck.impl.protocols.qpid.broker import Broker, Place
from hacheck.impl.protocols.qpid.client import Client
from hacheck.impl.protocols.qpid.manager import Manager
from hacheck.impl.protocols.qpid.messages import Closed, Frame, Heartbeat, Open, Opened
from hacheck.impl.protocols.qpid.operator import GONE_OVER, Operator
from hacheck.impl.protocols.qpid.options import Options
from hacheck.impl.protocols.qpid.oracle import ClusterOracle
from hacheck.impl.protocols.qpid.orders import (
    EndReplication,
    GoneOver,
    GoOver,
    Promote,
    PromoteAnswer,
    Register,
    Registered,
    Replicate,
    Replicating,
    Restart,
    StatusAnswer,
    StatusQuery,
    Stop,
    Stopped,
)
from hacheck.impl.protocols.qpid.standalone_oracle import StandaloneOracle
from hacheck.impl.system import Member, Oracle, Refused, System

MESSAGES: tuple[type[Message], ...] = (
    Open, Opened, Closed, Heartbeat, Frame, StatusQuery, StatusAnswer, Promote, PromoteAnswer, Stop, Stopped,
    Restart, Register, Registered, Replicate, EndReplication, Replicating, GoOver, GoneOver,
)  # fmt: skip

REPLICA, CLIENT, MANAGER, OPERATOR = "replica", "client", "resource-manager", "operator"


class Cluster:
    """An active-passive cluster: brokers, a resource manager, clients."""

    name = "qpid"
    messages: tuple[type[Message], ...] = MESSAGES

    def options(self, given: Mapping[str, str]) -> Options:
        """Settings from text. Errors: `Refused`."""
        return read_settings(Options, given)

    def members(self, replicas: int, clients: int, options: Options) -> tuple[Member, ...]:
        """Who takes part. Errors: `Refused`, for no broker."""
        if replicas < 1:
            raise Refused(f"a cluster has at least one broker, not {replicas}")
        return (*_brokers(replicas), Member("manager", MANAGER), *_clients(clients))

    def start(self, member: Member, members: tuple[Member, ...], setup: Setup) -> Node:
        """A process that has just been started. Errors: `Refused`, for a disk that it cannot read."""
        options: Options = setup.options
        brokers = tuple(one.name for one in members if one.role == REPLICA)
        if member.role == MANAGER:
            return Manager(setup, options, brokers)
        if member.role == CLIENT:
            return Client(setup, options, brokers, _index(member, members))
        (manager,) = (one.name for one in members if one.role == MANAGER)
        return Broker(setup, options, Place(tuple(name for name in brokers if name != member.name), manager))

    def oracle(self, members: tuple[Member, ...], options: Options) -> Oracle:
        """Who compares what clients were answered with what is there."""
        return ClusterOracle(members, options)

    def quiet_us(self, options: Options) -> int:
        """A failover with everything that can hold it up, once: the failure is noticed, the old primary is given up,
        another is found, its backups connect or are given up, what they lack is sent."""
        return (
            options.check_timeout_us
            + max(options.stop_timeout_us, options.watchdog_us * (100 + options.watchdog_margin_percent) // 100)
            + 2 * options.start_timeout_us
            + options.backup_timeout_us
            + 6 * options.heartbeat_us
            + 4 * options.link_maintenance_us
            + options.restart_stuck_us
            + 10_000_000
        )

    def serving(self, nodes: Mapping[Name, Node]) -> tuple[Name, ...]:
        """Brokers that have been promoted."""
        return tuple(
            name
            for name, node in nodes.items()
            if isinstance(node, Broker) and node.status in (statuses.RECOVERING, statuses.ACTIVE)
        )

    def survives(self) -> Iterator[str]:
        """The faults under which no completed message is lost (Q-G1, Q-G3). Not those that cut the links of backups
        while they run: such a backup still calls itself ready (Q-W1), unless `registered_backups` is set."""
        yield from ("crash/one", "crash/coordinator", "crash/minority", "crash/client", "pause/client", "disk-slow")


class Standalone:
    """Brokers without a cluster: the first has clients, each other one keeps replicas of all their queues, as an
    operator has ordered."""

    name = "qpid-standalone"
    messages: tuple[type[Message], ...] = MESSAGES

    def options(self, given: Mapping[str, str]) -> Options:
        """Settings from text. Errors: `Refused`."""
        return read_settings(Options, given)

    def members(self, replicas: int, clients: int, options: Options) -> tuple[Member, ...]:
        """Who takes part. Errors: `Refused`, for fewer than two brokers."""
        if replicas < 2:
            raise Refused(f"stand-alone replication is from one broker to others: at least 2, not {replicas}")
        return (*_brokers(replicas), Member(OPERATOR, OPERATOR), *_clients(clients))

    def start(self, member: Member, members: tuple[Member, ...], setup: Setup) -> Node:
        """A process that has just been started. Errors: `Refused`, for a disk that it cannot read."""
        options: Options = setup.options
        brokers = tuple(one.name for one in members if one.role == REPLICA)
        clients = tuple(one.name for one in members if one.role == CLIENT)
        if member.role == OPERATOR:
            return Operator(setup, options, brokers, _names(options), clients)
        if member.role == CLIENT:
            index = clients.index(member.name)
            if options.reads_copies and member.name == clients[-1]:
                return Reader(setup, options, brokers[1], index)
            return Application(setup, options, brokers[0], index)
        if member.name == brokers[0]:
            return Broker(setup, options, Place())
        return Broker(setup, options, Place(sources=brokers[:1], waits=True))

    def oracle(self, members: tuple[Member, ...], options: Options) -> Oracle:
        """Who compares the replicas with the first broker, and what clients were answered with what that has."""
        return StandaloneOracle(members, options, _names(options))

    def quiet_us(self, options: Options) -> int:
        """Applications go over, the links are made again, and what the replicas lack is sent."""
        links_us = 6 * options.heartbeat_us + 4 * options.link_maintenance_us
        return links_us + options.set_up_after_us + options.go_over_after_us + 10_000_000

    def serving(self, nodes: Mapping[Name, Node]) -> tuple[Name, ...]:
        """The broker that clients are to use."""
        over = [node.copies[0] for node in nodes.values() if isinstance(node, Operator) and node.state == GONE_OVER]
        return tuple(
            name
            for name, node in nodes.items()
            if isinstance(node, Broker) and (name in over if over else not node.place.sources)
        )

    def survives(self) -> Iterator[str]:
        """The faults under which no completed message is lost, and replicas are right again."""
        yield from ("crash/client", "pause/client", "disk-slow")


def _brokers(number: int) -> tuple[Member, ...]:
    return tuple(Member(f"broker-{index}", REPLICA) for index in range(1, number + 1))


def _clients(number: int) -> tuple[Member, ...]:
    return tuple(Member(f"client-{index}", CLIENT) for index in range(1, number + 1))


def _index(member: Member, members: tuple[Member, ...]) -> int:
    return [one.name for one in members if one.role == CLIENT].index(member.name)


def _names(options: Options) -> frozenset[str]:
    return frozenset(f"queue-{number}" for number in range(1, options.queues + 1))


SYSTEM: System = Cluster()
STANDALONE: System = Standalone()
