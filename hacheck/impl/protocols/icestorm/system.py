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
from hacheck.impl.protocols.icestorm.replica_state import State
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
        """Any one fault of the replicas: after a crash, a power failure, a pause or the cut of a link no acknowledged
        change is lost (`spec/icestorm.ha`: `power_failure`, and `default` with `crashes`, `pauses` or `cuts` alone).
        After two in one run groups may fail to come about twice in a row, and so they may where calls are given up too
        early or disks fail: then the manual's protocol loses a change (checks `default`, `pause`, `cut`,
        `calls_too_slow`), and with `promise_generations` it does not."""
        yield from ("crash/one once", "crash/coordinator once", "crash/all once", "cut/pair once")
        yield from ("power/one once", "power/coordinator once", "power/all once")
        yield from ("pause/one once", "pause/coordinator once")
        yield from ("crash/client", "power/client", "pause/client", "cut/client")


def identifier(name: Name) -> int:
    """The identifier of a replica, which is its priority: the number at the end of its name. Errors: `Refused`."""
    digits = name.rpartition("-")[2]
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= 9) or int(digits) < 1:
        raise Refused(f"a replica's name ends with its identifier, as in `replica-3`; `{name}` does not")
    return int(digits)


SYSTEM = IceStorm()
"""What `hacheck simulate-impl icestorm` and `hacheck cluster start icestorm` run."""
