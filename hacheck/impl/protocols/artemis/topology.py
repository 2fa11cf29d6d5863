"""Who serves which node, as one broker knows it: it lags behind what is so."""

from __future__ import annotations

from msgspec import Struct

from hacheck.impl.node import Name


class Entry(Struct):
    """A node that is served. `backup`: who would take over, or empty. `heard`: at which
    tick of this broker its server last said so."""

    active: Name
    backup: Name
    group: str
    heard: int


class Topology:
    """The nodes of a cluster. `largest`: the most there ever were. `last`: who served each node last."""

    __slots__ = ("entries", "largest", "last")

    def __init__(self) -> None:
        self.entries: dict[str, Entry] = {}
        self.largest = 0
        self.last: dict[str, Name] = {}

    def up(self, node_id: str, active: Name, backup: Name, group: str, tick: int) -> bool:
        """Somebody says that it serves a node. Returns whether this is news. What contradicts an entry is ignored as
        long as that is alive: see `contradicts`."""
        entry = self.entries.get(node_id)
        if entry is None:
            self.entries[node_id] = Entry(active, backup, group, tick)
            self.largest = max(self.largest, len(self.entries))
            self.last[node_id] = active
            return True
        if entry.active == active:
            entry.backup, entry.group, entry.heard = backup, group, tick
        return False

    def heard_of(self, nodes: int) -> None:
        """Another broker has seen so many nodes."""
        self.largest = max(self.largest, nodes)

    def contradicts(self, node_id: str, active: Name) -> bool:
        """Whether somebody else is known to serve that node."""
        entry = self.entries.get(node_id)
        return entry is not None and entry.active != active

    def down(self, node_id: str, active: Name) -> None:
        """Somebody serves a node no more."""
        entry = self.entries.get(node_id)
        if entry is not None and entry.active == active:
            del self.entries[node_id]

    def gone(self, member: Name) -> None:
        """A broker does not answer."""
        for node_id in [node_id for node_id, entry in self.entries.items() if entry.active == member]:
            del self.entries[node_id]

    def expire(self, oldest: int, own: Name) -> None:
        """Drops the one that was not heard of since that tick."""
        for node_id in [n for n, entry in self.entries.items() if entry.heard < oldest and entry.active != own]:
            del self.entries[node_id]

    def connector(self, node_id: str) -> Name:
        """Who serves a node, or empty."""
        entry = self.entries.get(node_id)
        return entry.active if entry is not None else ""

    def others(self, node_id: str) -> tuple[Name, ...]:
        """Who serves the other nodes."""
        return tuple(entry.active for other, entry in self.entries.items() if other != node_id)
