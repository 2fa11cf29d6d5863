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

    def acquire(self, m: Machine, lock: str) -> bool:
        """Asks for a lock; whether the node of the step has it now.

        It gets one that is free. One that the service holds for it already it has, and a lease begins anew; but not
        where the service has yet to notice that its former self crashed.
        """
        node, index = m.node, self.layout.index
        assert node is not None
        if not self.reached(m, lock, node):
            return False
        late = ("late", lock) in index and m.memory[index["late", lock]]
        believes = m.memory[index["believes", lock, node]]
        holder = holder_of(self.layout, m, lock)
        lease = self.layout.lease[lock]
        if late or holder not in (None, node) or (holder == node and not believes and lease is not None):
            return False
        m.memory[index["holder", lock]] = node
        m.memory[index["believes", lock, node]] = True
        if lease is not None:
            m.memory[index["expiry", lock]] = m.memory[index[("time",)]] + lease
            m.memory[index["expiry", lock, node]] = clock_of(self.layout, m, node) + lease
        return True

    def release(self, m: Machine, lock: str) -> None:
        """The node believes no longer; the service hears of it only where it is reached, and only from the holder."""
        node, index = m.node, self.layout.index
        assert node is not None
        if not m.memory[index["believes", lock, node]]:
            return
        m.memory[index["believes", lock, node]] = False
        if ("expiry", lock, node) in index:
            m.memory[index["expiry", lock, node]] = 0
        if self.reached(m, lock, node) and m.memory[index["holder", lock]] == node:
            m.memory[index["holder", lock]] = None
            if ("expiry", lock) in index:
                m.memory[index["expiry", lock]] = 0

    def is_lost(self, m: Machine, lock: str, node: Node) -> bool:
        """Whether a node that believes that it has a lock can learn that it has not."""
        believes = m.memory[self.layout.index["believes", lock, node]]
        return believes and self.reached(m, lock, node) and holder_of(self.layout, m, lock) != node

    def notice(self, m: Machine, lock: str, node: Node) -> None:
        """The node believes no longer."""
        m.memory[self.layout.index["believes", lock, node]] = False
        if ("expiry", lock, node) in self.layout.index:
            m.memory[self.layout.index["expiry", lock, node]] = 0

