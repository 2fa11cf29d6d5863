"""A broker that scales down, as its states see it: what a broker over a shared store knows, and what it moves where.

A server that has no backup has a store of its own, with a lock like others (AR-20). Source: HornetQ manual, "Scaling
Down"; broker facts 2.2, 2.12.
"""

from __future__ import annotations

from collections import deque

from msgspec import Struct

from hacheck.impl.kit.storage import decode, encode
from hacheck.impl.node import Name, Setup
from hacheck.impl.protocols.artemis.journal import VERSION
from hacheck.impl.protocols.artemis.scale_down.target_server import ScalingServer
from hacheck.impl.protocols.artemis.shared_store.broker import Broker, Tables
from hacheck.impl.system import Member

ABSORBED_KEY = "bindings/absorbed"


class Plan(Struct, frozen=True):
    """How a broker scales down. `targets`: the servers that it may ask, the likeliest first; one of its own `group` is
    taken. `instead`: a backup, which does so instead of serving. `commit_interval`: so many messages that were moved
    are removed at a time; -1: those of a queue at its end. `wait_us`: so long answers are waited for."""

    targets: tuple[Name, ...]
    group: str = ""
    instead: bool = False
    commit_interval: int = 1
    wait_us: int = 1_000_000


class Absorbed(Struct, frozen=True):
    """The nodes that were scaled down to this one, whose clients it lets in."""

    version: int
    nodes: tuple[str, ...]


class Scaling:
    """A scale-down under way.

    `unanswered`: who has not answered whether it serves; `found`: who does. `target`: the chosen one, or empty. `left`:
    the messages still to be sent, by number; `sent`: the one that is on its way; `moved`: those that are at the target
    and here. `number`: of the last `Move` or `Adopt`. `total`: how many messages were moved. `adopting`: all were;
    `finished`: the target has everything.
    """

    __slots__ = (
        "adopting",
        "finished",
        "found",
        "left",
        "moved",
        "name",
        "number",
        "sent",
        "target",
        "total",
        "unanswered",
    )

    def __init__(self, name: str, servers: tuple[Name, ...]) -> None:
        self.name = name
        self.unanswered = dict.fromkeys(servers)
        self.found: dict[Name, None] = {}
        self.target = ""
        self.left: deque[int] = deque()
        self.sent = 0
        self.moved: list[int] = []
        self.number = 0
        self.total = 0
        self.adopting = False
        self.finished = False


class ScalingBroker(Broker):
    """What such a broker knows. `plan`: how it scales down; `scaling`: while it does. `absorbed`: as `Absorbed`, those
    among them that are being written; `adopting`: just these, the oldest first."""

    def __init__(self, member: Member, members: tuple[Member, ...], setup: Setup, tables: Tables, plan: Plan) -> None:
        super().__init__(member, members, setup, tables, ScalingServer)
        self.plan = plan
        self.scaling: Scaling | None = None
        self.absorbed: dict[str, None] = {}
        self.adopting: deque[tuple[str, ...]] = deque()

    def load_absorbed(self, raw: bytes | None) -> None:
        """The nodes that its disk knows of. Errors: `Refused`."""
        nodes = decode(raw, Absorbed, "list of nodes").nodes if raw is not None else ()
        self.absorbed = dict.fromkeys(nodes)

    def absorb(self, nodes: tuple[str, ...]) -> tuple[str, bytes]:
        """More nodes, as a change of the store."""
        self.absorbed.update(dict.fromkeys(nodes))
        self.adopting.append(nodes)
        return ABSORBED_KEY, encode(Absorbed(VERSION, tuple(self.absorbed)))
