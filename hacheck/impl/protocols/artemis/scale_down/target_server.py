"""A server to which others may be scaled down: it lets their clients in, and takes their messages.

Source: HornetQ manual, "Scale Down and Clients"; broker facts 2.12.
"""

from __future__ import annotations

from collections.abc import Sequence

from hacheck.impl.node import Message, Name
from hacheck.impl.protocols.artemis.journal import Branch, Changes, Journal
from hacheck.impl.protocols.artemis.messages import Outgoing
from hacheck.impl.protocols.artemis.options import BrokerOptions
from hacheck.impl.protocols.artemis.process import Process
from hacheck.impl.protocols.artemis.scale_down.messages import PreparedBranch, ScalingDown
from hacheck.impl.protocols.artemis.session_server import Storage
from hacheck.impl.protocols.artemis.sessions import SessionServer


class ScalingServer(SessionServer):
    """Such a server. `absorbed`: the nodes that were scaled down to this one, whose clients it lets in."""

    __slots__ = ("absorbed",)

    def __init__(
        self, process: Process, storage: Storage, journal: Journal, node_id: str, options: BrokerOptions
    ) -> None:
        super().__init__(process, storage, journal, node_id, options)
        self.absorbed: dict[str, None] = {}

    def stands_in(self, node_id: str) -> bool:
        """Whether clients of a node find here what that has."""
        return super().stands_in(node_id) or node_id in self.absorbed

    def take(self, sender: Name, answer: Message, outgoing: Outgoing) -> None:
        """A message of another server. Its duplicate id says nothing: a message that was moved before, by a scale-down
        that was not finished, is there twice."""
        self._store(sender, answer, (outgoing,), ())

    def adopt(self, ids: tuple[tuple[str, str], ...], branches: Sequence[PreparedBranch]) -> Changes:
        """What else another server has: duplicate ids, and prepared transactions with what they consume."""
        journal = self.journal
        changes: list[tuple[str, bytes | None]] = []
        for branch in branches:
            if branch.name in journal.branches:
                continue
            consumed, kept = journal.append(branch.consumed, ())
            changes.extend(consumed)
            changes.extend(journal.prepare(Branch(branch.name, branch.outgoing, tuple(one.number for one in kept))))
        changes.extend(journal.append((), (), "", ids)[0])
        return tuple(changes)

    def answer_after(self, token: int, sender: Name, answer: Message) -> None:
        """Answers when a write is safe."""
        self._answer_after(token, sender, answer, ())

    def send_away(self, target: Name) -> None:
        """Informs all clients where everything goes, and ends their sessions."""
        for name, session in self.sessions.items():
            self._process.send(session.client, ScalingDown(name, target))
        self.disconnect()

    def give_up(self, numbers: tuple[int, ...]) -> Changes:
        """Messages that another server has are not kept here any more."""
        return self.journal.append((), numbers)[0]

    def give_up_everything(self) -> Changes:
        """Nor is anything else: what prepared transactions hold, they themselves, and all duplicate ids."""
        journal = self.journal
        changes: list[tuple[str, bytes | None]] = []
        for branch in tuple(journal.branches.values()):
            changes.extend(journal.append((), branch.acknowledged, branch.name)[0])
        journal.duplicates.clear()
        return (*changes, *journal.compact())
