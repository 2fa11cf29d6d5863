"""IceStorm as something that can be run: who takes part, and what is promised."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hacheck.impl.kit.settings import read_settings
from hacheck.impl.node import Message, Name, Node, Setup
from hacheck.impl.protocols.icestorm.client import Client
from hacheck.impl.protocols.icestorm.messages import MESSAGES
from hacheck.impl.protocols.icestorm.options import Options
from hacheck.impl.protocols.icestorm.oracle import IceStormOracle
from hacheck.impl.protocols.icestorm.replica import Replica
from hacheck.impl.protocols.icestorm.standing import State
from hacheck.impl.system import Member, Oracle, Refused


class IceStorm:
    """Highly available IceStorm: three or more replicas, of which a majority must run."""

    name = "icestorm"
    messages: tuple[type[Message], ...] = MESSAGES

    def options(self, given: Mapping[str, str]) -> Options:
        """Settings from text. Errors: `Refused`."""
        return read_settings(Options, given)

    def members(self, replicas: int, clients: int, options: Any) -> tuple[Member, ...]:
        """Replicas with the identifiers 1 to `replicas`, and clients. Errors: `Refused`."""
        if options.transient and replicas != 1:
            raise Refused(f"replication is not supported in transient mode: 1 replica, not {replicas}")
        if not options.transient and replicas < 3:
            raise Refused(f"IceStorm needs 3 replicas or more, for a majority to be left; not {replicas}")
        return (
            *(Member(f"replica-{number}", "replica") for number in range(1, replicas + 1)),
            *(Member(f"client-{number}", "client") for number in range(1, clients + 1)),
        )

    def start(self, member: Member, members: tuple[Member, ...], setup: Setup) -> Node:
        """A process. Errors: `Refused`, for two replicas with one identifier, or a disk that cannot be read."""
        replicas = [other.name for other in members if other.role == "replica"]
        if member.role == "client":
            clients = [other.name for other in members if other.role == "client"]
            return Client(setup, tuple(replicas), clients.index(member.name))
        idents = {name: identifier(name) for name in replicas}
        for name, ident in idents.items():
            if name != member.name and ident == idents[member.name]:
                raise Refused(f"{name} and {member.name} both have the identifier {ident}: give each its own")
        nodes = {ident: name for name, ident in idents.items() if name != member.name}
        return Replica(setup, idents[member.name], dict(sorted(nodes.items())))

    def oracle(self, members: tuple[Member, ...], options: Any) -> Oracle:
        """Who compares what clients were answered with what is there."""
        return IceStormOracle(members, options, self.quiet_us(options))

    def quiet_us(self, options: Any) -> int:
        """A slave finds out that its coordinator is gone, groups are combined in two steps, and clients find them."""
        o: Options = options
        detection = o.master_timeout_us + o.invocation_timeout_us
        merge = o.election_timeout_us + 4 * o.response_timeout_us + 6 * o.invocation_timeout_us
        return 2 * (detection + 2 * merge + 4 * o.start_delay_us + 3 * o.client_timeout_us)

    def serving(self, nodes: Mapping[Name, Node]) -> tuple[Name, ...]:
        """The coordinators of groups that replicate."""
        return tuple(
            name
            for name, node in nodes.items()
            if isinstance(node, Replica)
            and node.standing.state is State.NORMAL
            and node.standing.coord == node.standing.ident
        )

    def survives(self) -> Iterator[str]:
        """The majority rule and the full startup are there for all of these: crashes and power cuts of any number of
        replicas, pauses, partitions, and disks that refuse to write. A network that repeats or reorders what TCP
        would not, and disks that are lost, are beyond it. The documented protocol does not keep this promise where
        groups fail to come about twice in a row; with `promise_generations` it does."""
        yield from ("crash", "power", "pause", "cut", "reset", "slow")
        yield from ("disk-full", "disk-error", "disk-slow", "clock-rate", "clock-jump")


def identifier(name: Name) -> int:
    """The identifier of a replica, which is its priority: the number at the end of its name. Errors: `Refused`."""
    digits = name.rpartition("-")[2]
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= 9) or int(digits) < 1:
        raise Refused(f"a replica's name ends with its identifier, as in `replica-3`; `{name}` does not")
    return int(digits)


SYSTEM = IceStorm()
"""What `hacheck simulate-impl icestorm` and `hacheck cluster start icestorm` run."""
