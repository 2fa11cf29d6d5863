"""Locks and leases: what the service says, what a node believes, and how they meet."""

from __future__ import annotations

from hacheck.model.direct.functions import clock_of, holder_of
from hacheck.model.direct.layout import Layout
from hacheck.model.direct.machine import Machine
from hacheck.model.direct.nodes import Nodes
from hacheck.model.direct.values import Node


class Locks:
    """The locks of a file."""

    def __init__(self, layout: Layout, nodes: Nodes) -> None:
        self.layout = layout
        self.nodes = nodes

    def reached(self, m: Machine, lock: str, node: Node) -> bool:
        """Whether a node can ask the service."""
        host = self.layout.locks[lock].host
        return host is None or self.nodes.reaches(m, node, host.text)

    def is_left_over(self, m: Machine, lock: str) -> bool:
        """Whether the service still holds a lock for a node that ended, or that gave it back in vain. One of the plain
        kind stays with its node, so it is no such lock."""
        if not self.layout.locks[lock].freed_late and self.layout.lease[lock] is None:
            return False
        holder = holder_of(self.layout, m, lock)
        return holder is not None and not m.memory[self.layout.index["believes", lock, holder]]

    def acquire(self, m: Machine, lock: str) -> bool:
        """Asks for a lock; whether the node of the step has it now.

        It gets one that is free. One that it has it keeps, and a lease begins anew.
        """
        node, index = m.node, self.layout.index
        assert node is not None
        if not self.reached(m, lock, node) or self.is_left_over(m, lock):
            return False
        if holder_of(self.layout, m, lock) not in (None, node):
            return False
        m.memory[index["holder", lock]] = node
        m.memory[index["believes", lock, node]] = True
        lease = self.layout.lease[lock]
        if lease is not None:
            m.memory[index["expiry", lock]] = m.memory[index[("time",)]] + lease
            m.memory[index["expiry", lock, node]] = clock_of(self.layout, m, node) + lease
        return True

    def release(self, m: Machine, lock: str) -> None:
        """The node believes no longer; the service hears of it only where it is reached, and only from the holder."""
        node = m.node
        assert node is not None
        heard = self.reached(m, lock, node) and not self.is_left_over(m, lock)
        self.notice(m, lock, node)
        if heard and holder_of(self.layout, m, lock) == node:
            self.free(m, lock)

    def free(self, m: Machine, lock: str) -> None:
        """The service holds the lock for nobody."""
        index = self.layout.index
        m.memory[index["holder", lock]] = None
        if ("expiry", lock) in index:
            m.memory[index["expiry", lock]] = 0

    def run_out(self, m: Machine) -> None:
        """Leases that are over by true time."""
        now = m.memory[self.layout.index[("time",)]]
        for lock, lease in self.layout.lease.items():
            held = lease is not None and holder_of(self.layout, m, lock) is not None
            if held and m.memory[self.layout.index["expiry", lock]] <= now:
                self.free(m, lock)

    def is_lost(self, m: Machine, lock: str, node: Node) -> bool:
        """Whether a node that believes that it has a lock can learn that it has not."""
        believes = m.memory[self.layout.index["believes", lock, node]]
        return believes and self.reached(m, lock, node) and holder_of(self.layout, m, lock) != node

    def notice(self, m: Machine, lock: str, node: Node) -> None:
        """The node believes no longer."""
        m.memory[self.layout.index["believes", lock, node]] = False
        if ("expiry", lock, node) in self.layout.index:
            m.memory[self.layout.index["expiry", lock, node]] = 0
