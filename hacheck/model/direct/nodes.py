"""What happens to a node as a whole: whether it runs, what keeps its handlers out, and what a crash leaves."""

from __future__ import annotations

from collections.abc import Iterator

from hacheck.model.direct.functions import connected
from hacheck.model.direct.layout import Call, Layout
from hacheck.model.direct.machine import Frame, Machine
from hacheck.model.direct.values import Bag, Node
from hacheck.model.language import declarations as d


class Nodes:
    """The nodes of a file under its settings."""

    def __init__(self, layout: Layout, durable: frozenset[tuple[str, str]]) -> None:
        self.layout = layout
        self.durable = durable
        """The fields that are durable under these settings: kind and name."""

    def runs(self, m: Machine, node: Node) -> bool:
        """Whether a node is up and not paused."""
        index = self.layout.index
        return bool(m.memory[index["up", node]]) and not m.memory[index["paused", node]]

    def connected(self, m: Machine, a: Node, b: Node) -> bool:
        """Whether the link from one node to another is not cut."""
        return connected(self.layout, m, a, b)

    def held(self, m: Machine, node: Node) -> bool:
        """Whether a handler under way keeps the node's other handlers out."""
        return any(frame.holding for slot, frame in self._frames(m, node) if slot != m.leaving)

    def _frames(self, m: Machine, node: Node) -> Iterator[tuple[int, Frame]]:
        for thread in self.layout.threads:
            slot = self.layout.index["frame", node, thread]
            if m.memory[slot] is not None:
                yield slot, m.memory[slot]

    def reaches(self, m: Machine, node: Node, kind: str) -> bool:
        """Whether a node can ask the node of a host, and hear from it."""
        host = Node(kind, 1)
        there = self.runs(m, host) or host == node
        return there and connected(self.layout, m, node, host) and connected(self.layout, m, host, node)

    def crash(self, m: Machine, node: Node, wiped: bool = False) -> None:
        """The process ends: volatile fields, handlers, locks and what is under way to it are gone."""
        memory, index = m.memory, self.layout.index
        memory[index["up", node]] = False
        memory[index["paused", node]] = False
        declared = self.layout.kinds[node.kind]
        for field in declared.fields:
            self._forget(m, node, field, wiped)
        for view in declared.views:
            slot = index["view", node, view.name.text]
            memory[slot] = self.layout.first[slot]
        for slot, _ in self._frames(m, node):
            memory[slot] = None
        self._drop_what_is_under_way(m, node)
        self._drop_locks(m, node)

    def _forget(self, m: Machine, node: Node, field: d.FieldDeclaration, wiped: bool) -> None:
        name, index = field.name.text, self.layout.index
        slot = index["field", node, name]
        if "ghost" in field.flags or ((node.kind, name) in self.durable and not wiped):
            return
        if "synced" in field.flags:
            disk = index["disk", node, name]
            if wiped:
                m.memory[disk] = self.layout.first[disk]
            m.memory[slot] = m.memory[disk]
            return
        m.memory[slot] = self.layout.first[slot]

    def _drop_what_is_under_way(self, m: Machine, node: Node) -> None:
        index = self.layout.index
        for name, message in self.layout.messages.items():
            if message.receiver.text == node.kind and not message.queued:
                for sender in self.layout.nodes(message.sender.text):
                    m.memory[index["link", name, sender, node]] = Bag() if message.order == "unordered" else ()
        for name, operation in self.layout.operations.items():
            if operation.callee.text == node.kind:
                for caller in self.layout.nodes(operation.caller.text):
                    slot = index["call", name, caller, node]
                    call: Call = m.memory[slot]
                    m.memory[slot] = call._replace(request=None, serving=False)
            if operation.caller.text == node.kind:
                for callee in self.layout.nodes(operation.callee.text):
                    slot = index["call", name, node, callee]
                    call = m.memory[slot]
                    m.memory[slot] = call._replace(waiting=False, answer=None)

    def _drop_locks(self, m: Machine, node: Node) -> None:
        memory, index = m.memory, self.layout.index
        for name, lock in self.layout.locks.items():
            if lock.holder.text != node.kind:
                continue
            memory[index["believes", name, node]] = False
            if ("expiry", name, node) in index:
                memory[index["expiry", name, node]] = 0
            at_once = not lock.freed_late and self.layout.lease[name] is None
            if at_once and memory[index["holder", name]] == node:
                memory[index["holder", name]] = None
