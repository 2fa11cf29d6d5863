"""Asks running replicas of IceStorm how they stand: a call of the Ice protocol, as `icestormadmin` makes it.

A process for each question would take longer, on a busy machine, than the time-outs of an election.
**Source**: `Election.ice` and `IceStorm.ice` of Ice 3.7; Ice manual, "Data Encoding", version 1.0.
"""

from __future__ import annotations

import struct

from msgspec import Struct

from hacheck.replay.icestorm.cluster import INSTANCE, MANAGER, NODE, Cluster
from hacheck.replay.icestorm.ice_client import IDEMPOTENT, Connection, Failed, Identity
from hacheck.replay.icestorm.wire import short, string

STATES = ("inactive", "election", "reorganization", "normal")
ADMIN_SECONDS = 6.0
TOPICS_SECONDS = 2.0
LLU_BYTES = 16


class Standing(Struct, frozen=True):
    """How a replica stands: `max` is the size of the largest group that it has seen."""

    coordinator: int
    group: str
    state: str
    members: tuple[int, ...]
    max: int

    @property
    def words(self) -> str:
        """In words: `normal, coordinator 3, group 3:B185D0F8-…`."""
        return f"{self.state}, coordinator {self.coordinator}, group {self.group}"


def standing_of(cluster: Cluster, replica: int) -> Standing | None:
    """How a replica stands; `None`, where it does not answer."""
    try:
        return read_standing(_queried(cluster.base + NODE + replica, f"node{replica}", "query", ADMIN_SECONDS))
    except (OSError, Failed):
        return None


def topics_of(cluster: Cluster, replica: int) -> list[str] | None:
    """The topics that a replica shows to clients; `None`, where it does not answer."""
    try:
        found = _queried(cluster.base + MANAGER + replica, "TopicManager", "retrieveAll", TOPICS_SECONDS)
    except (OSError, Failed):
        return None
    return read_topics(found)


def _queried(port: int, name: str, operation: str, seconds_max: float) -> bytes:
    connection = Connection(port, seconds_max)
    try:
        return connection.call(Identity(name, INSTANCE), operation, mode=IDEMPOTENT)
    finally:
        connection.close()


def read_standing(data: bytes) -> Standing:
    """The result of `query`: id, coordinator, group, proxy of the replica, state, members with their stamps, max."""
    coordinator = struct.unpack_from("<i", data, 4)[0]
    group, at = string(data, 8)
    at = _after_proxy(data, at)
    state, (count, at) = STATES[data[at]], short(data, at + 1)
    members = []
    for _ in range(count):
        members.append(struct.unpack_from("<i", data, at)[0])
        at += 4 + LLU_BYTES
    return Standing(coordinator, group, state, tuple(members), struct.unpack_from("<i", data, at)[0])


def read_topics(data: bytes) -> list[str]:
    """The result of `retrieveAll`: a dictionary of names and proxies."""
    count, at = short(data, 0)
    found = []
    for _ in range(count):
        name, at = string(data, at)
        at = _after_proxy(data, at)
        found.append(name)
    return found


def _after_proxy(data: bytes, at: int) -> int:
    """Where what follows an encoded proxy begins. A null proxy is an empty identity."""
    name, at = string(data, at)
    _, at = string(data, at)
    if not name:
        return at
    facets, at = short(data, at)
    for _ in range(facets):
        _, at = string(data, at)
    count, at = short(data, at + 2)  # after the mode, and whether it is secure
    if not count:
        return string(data, at)[1]  # the name of an adapter instead of endpoints
    for _ in range(count):
        at += 2 + struct.unpack_from("<i", data, at + 2)[0]
    return at
