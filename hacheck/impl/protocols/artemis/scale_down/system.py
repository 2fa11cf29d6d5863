"""The system of servers that scale down: each with a store of its own, and, where that is wanted, a backup."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from hacheck.impl.kit.settings import SECOND_US, read_settings
from hacheck.impl.node import Effect, Halt, Input, Message, Name, Node, Setup, Started
from hacheck.impl.protocols.artemis.colocated.messages import HOSTING
from hacheck.impl.protocols.artemis.colocated.server_host import SEPARATOR, Server, ServerHost
from hacheck.impl.protocols.artemis.messages import MESSAGES
from hacheck.impl.protocols.artemis.scale_down.broker import ScalingBroker
from hacheck.impl.protocols.artemis.scale_down.client import Operator, ScaleDownClient
from hacheck.impl.protocols.artemis.scale_down.messages import SCALING
from hacheck.impl.protocols.artemis.scale_down.options import ScaleDownOptions, plan_of
from hacheck.impl.protocols.artemis.scale_down.oracle import ScaleDownOracle
from hacheck.impl.protocols.artemis.scale_down.server import ScaleDownBroker
from hacheck.impl.protocols.artemis.session_messages import CLIENT_MESSAGES
from hacheck.impl.protocols.artemis.shared_store.broker import BACKUP_LOCK, PRIMARY_LOCK, STORE
from hacheck.impl.system import Member, Oracle, Refused

SERVERS_MIN = 2


def places(number: int) -> Mapping[Name, Name]:
    """What the store and the locks of the `number`-th server are called in the cluster, by its own names."""
    return {name: f"{name}-{number}" for name in (STORE, PRIMARY_LOCK, BACKUP_LOCK)}


def backup_of(number: int, servers: int, options: ScaleDownOptions) -> Name:
    """The address of the backup of the `number`-th of so many servers."""
    if options.found_by == "in_process":
        return f"server-{number % servers + 1}{SEPARATOR}backup-{number}"
    return f"backup-{number}"


class ScaleDownProcess:
    """A process: a server, the backup of another one beside it, or a backup alone."""

    def __init__(self, member: Member, members: tuple[Member, ...], setup: Setup) -> None:
        self._hosting = ServerHost(member.name)
        options: ScaleDownOptions = setup.options
        servers = tuple(one for one in members if one.role == "primary")
        for number, server in enumerate(servers, 1):
            pair = [Member(server.name, "primary")]
            if options.backups:
                pair.append(Member(backup_of(number, len(servers), options), "backup"))
            for one in pair:
                if one.name.partition(SEPARATOR)[0] == member.name:
                    plan = plan_of(number - 1, servers, options, instead=one.role == "backup")
                    node = ScaleDownBroker(one, tuple(pair), replace(setup, member=one.name), plan)
                    self._hosting.add(Server(one.name, node, places=places(number)))

    @property
    def brokers(self) -> Mapping[Name, ScalingBroker]:
        """Its brokers, by address."""
        found = {}
        for address, server in self._hosting.servers.items():
            assert isinstance(server.node, ScaleDownBroker)
            found[address] = server.node.scaling
        return found

    @property
    def broker(self) -> ScalingBroker:
        """The one that it is there for."""
        return self.brokers[self._hosting.process]

    @property
    def serving(self) -> bool:
        """Whether clients are served here."""
        main = self._hosting.servers.get(self._hosting.process)
        return main is not None and main.node.serving  # type: ignore[attr-defined]

    def handle(self, given: Input, now_us: int) -> list[Effect]:
        """What is to be done about an input. The process ends with the server that it is there for."""
        hosting = self._hosting
        hosting.effects = []
        if isinstance(given, Started):
            for server in list(hosting.servers.values()):
                hosting.give(server, given, now_us)
        else:
            hosting.take(given, now_us)
        if hosting.process in hosting.ended:
            hosting.effects.append(Halt(hosting.ended[hosting.process]))
        return hosting.effects


class ScaleDown:
    """Servers that scale down when they are stopped."""

    name = "artemis-scale-down"
    messages: tuple[type[Message], ...] = (*MESSAGES, *CLIENT_MESSAGES, *SCALING, *HOSTING)

    def options(self, given: Mapping[str, str]) -> ScaleDownOptions:
        """Settings from text."""
        return read_settings(ScaleDownOptions, given)

    def members(self, replicas: int, clients: int, options: Any) -> tuple[Member, ...]:
        """So many servers, their backups, where they have any in processes of their own, and an operator."""
        given: ScaleDownOptions = options
        if replicas < SERVERS_MIN:
            raise Refused(f"a server and another one to scale down to are 2 replicas at least, not {replicas}")
        if given.groups > replicas:
            raise Refused(f"{replicas} servers are too few for {given.groups} groups; ask for fewer groups")
        hosted = given.backups and given.found_by == "in_process"
        members = []
        for number in range(1, replicas + 1):
            reached = [number, (number - 2) % replicas + 1] if hosted else [number]
            members.append(_with_stores(f"server-{number}", "primary", reached))
        if given.backups and not hosted:
            members.extend(_with_stores(f"backup-{number}", "backup", [number]) for number in range(1, replicas + 1))
        members.append(Member("operator-1", "operator"))
        members.extend(Member(f"client-{number}", "client") for number in range(1, clients + 1))
        return tuple(members)

    def start(self, member: Member, members: tuple[Member, ...], setup: Setup) -> Node:
        """A process with its brokers, a client or the operator."""
        if member.role == "client":
            return ScaleDownClient(member, members, setup)
        if member.role == "operator":
            return Operator(members, setup)
        return ScaleDownProcess(member, members, setup)

    def oracle(self, members: tuple[Member, ...], options: Any) -> Oracle:
        """Compares what clients were answered with what is there."""
        return ScaleDownOracle(members, options)

    def quiet_us(self, options: Any) -> int:
        """As long as a start may take, after a mark has to be given up, and a scale-down."""
        given: ScaleDownOptions = options
        waits = 2 * given.failback_wait_us + 4 * given.poll_us + 2 * given.monitor_us + given.lock_error_wait_us
        moves = given.discovery_wait_us + 2 * given.call_timeout_us
        return (
            waits
            + moves
            + 2 * given.connection_ttl_us
            + given.call_timeout_us
            + 3 * given.reconnect_us
            + 20 * SECOND_US
        )

    def serving(self, nodes: Mapping[Name, Node]) -> tuple[Name, ...]:
        """Who serves."""
        return tuple(name for name, node in nodes.items() if getattr(node, "serving", False))

    def survives(self) -> Iterator[str]:
        """What costs no acknowledged message and no prepared transaction. A scale-down that any of this interrupts may
        leave a message on both servers."""
        yield from ("crash", "power", "pause", "reset", "clock-rate", "clock-jump", "lock-late", "cut/client")
        yield from ("disk-full", "disk-error", "disk-slow")


def _with_stores(name: Name, role: str, numbers: list[int]) -> Member:
    """A member that reaches the stores of these servers, and their locks."""
    shared = tuple(places(number)[STORE] for number in numbers)
    locks = tuple(places(number)[lock] for number in numbers for lock in (PRIMARY_LOCK, BACKUP_LOCK))
    return Member(name, role, shared, locks)


SCALE_DOWN = ScaleDown()
