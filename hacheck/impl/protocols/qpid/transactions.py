"""Transactions at the broker that clients use: what is sent and accepted in one waits until it is committed.

A transaction is `open`; with `transactions=replicated` it is `preparing` while backups say whether they can commit it;
then it is `published`: all of it is on the queues here, and its client hears `Done` when no backup delays a message of
it any more. Until then it may be rolled back, and leaves nothing.

With `local` a backup gets its messages one by one, like all others, and may have a part of them when the primary fails.
With `replicated` each backup that has caught up has the transaction, too, and commits it by itself. One that comes
later gets the messages as copies, and is not ready before the last of them is there (QP-9).

What becomes of it is on record before anybody is informed: a broker may end in between.

**Source:** survey of broker failover protocols, section 1.9; overview of the HA module, "Message Identifiers".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from hacheck.impl.kit.state_table import StateTable
from hacheck.impl.protocols.qpid.messages import (
    Accept,
    Commit,
    Done,
    Failed,
    Publish,
    RollBack,
    TxCommit,
    TxDequeue,
    TxEnqueue,
    TxPrepare,
    TxPrepared,
    TxRollBack,
    TxStart,
)
from hacheck.impl.protocols.qpid.objects import Content
from hacheck.impl.protocols.qpid.options import Options
from hacheck.impl.protocols.qpid.process import Channel, Process
from hacheck.impl.protocols.qpid.queues import Publication, Queue, Wiring

if TYPE_CHECKING:
    from hacheck.impl.protocols.qpid.client_service import ClientService

OPEN: Final = "open"
PREPARING: Final = "preparing"
PUBLISHED: Final = "published"
COMMITTED: Final = "committed"
ROLLED_BACK: Final = "rolled back"

TRANSACTION: Final = StateTable(
    "A transaction",
    "survey of broker failover protocols, section 1.9",
    OPEN,
    {
        (OPEN, "its client asks for the commit, and backups have it"): PREPARING,
        (OPEN, "its client asks for the commit, and no backup has it"): PUBLISHED,
        (OPEN, "its client asks for that, or is gone, or a part of it cannot be done"): ROLLED_BACK,
        (PREPARING, "all backups that have it, and are still there, have prepared"): PUBLISHED,
        (PREPARING, "a backup could not prepare, or a queue is gone"): ROLLED_BACK,
        (PUBLISHED, "nobody delays a message of it any more"): COMMITTED,
    },
)
"""The life of a transaction: every transition there is."""


class Transaction:
    """One transaction of a client. `enqueues`: queues, ids and messages; `accepts`: queues and deliveries. `doomed`:
    why it cannot be committed. `request`: that for the commit. `backups`: who has it, too; `unprepared`: of them, those
    that have yet to answer."""

    __slots__ = (
        "accepts", "backups", "channel", "doomed", "enqueues", "name", "phase", "request", "unprepared",
    )  # fmt: skip

    def __init__(self, channel: Channel, name: str) -> None:
        self.channel = channel
        self.name = name
        self.phase: str = OPEN
        self.request = ""
        self.doomed = ""
        self.enqueues: list[tuple[Queue, int, Content]] = []
        self.accepts: list[tuple[str, int]] = []
        self.backups: dict[Channel, None] = {}
        self.unprepared: dict[Channel, None] = {}


class Transactions:
    """All transactions of a broker, by their names. `caught_up`: asks a primary which backups can have one, too;
    `ended`: informs it that one is over."""

    __slots__ = ("_options", "_process", "_serving", "_wiring", "by_name", "caught_up", "ended")

    def __init__(self, process: Process, options: Options, wiring: Wiring, serving: ClientService) -> None:
        self._process = process
        self._options = options
        self._wiring = wiring
        self._serving = serving
        self.by_name: dict[str, Transaction] = {}
        self.caught_up: Callable[[], list[Channel]] = list
        self.ended: Callable[[], None] = lambda: None

    # ---- what clients do in one ------------------------------------------------------------------------------------

    def publish(self, channel: Channel, body: Publish) -> None:
        """A message in a transaction. It has its id before it is on any queue."""
        transaction = self._of(channel, body.transaction)
        if transaction is None:
            return
        if not body.exchange and body.key not in self._wiring.queues:
            transaction.doomed = f"no queue `{body.key}`"
        for queue in self._wiring.route(body.exchange, body.key):
            number = self._serving.give_id(queue)
            transaction.enqueues.append((queue, number, body.content))
            if queue.arguments.replicate == "all":
                part = TxEnqueue(transaction.name, queue.name, queue.arguments.uuid, number, body.content)
                for backup in transaction.backups:
                    self._process.say(backup, part)

    def accept(self, channel: Channel, body: Accept) -> None:
        """Deliveries that are accepted in a transaction."""
        transaction = self._of(channel, body.transaction)
        if transaction is None:
            return
        for tag in body.tags:
            message = self._serving.held(channel, body.queue, tag)
            if message is None:
                transaction.doomed = "a delivery is not held any more"
                continue
            transaction.accepts.append((body.queue, tag))
            uuid = self._wiring.queues[body.queue].arguments.uuid
            for backup in transaction.backups:
                self._process.say(backup, TxDequeue(transaction.name, body.queue, uuid, message.id))

    def _of(self, channel: Channel, name: str) -> Transaction | None:
        """The transaction of that name; it begins here if there is none. None: it is not open, or somebody else's."""
        transaction = self.by_name.get(name)
        if transaction is None:
            transaction = self.by_name[name] = Transaction(channel, name)
            if self._options.transactions == "replicated":
                transaction.backups = dict.fromkeys(self.caught_up())
            self._process.record("tx_started", transaction=name, backups=_addresses(transaction))
            for backup in transaction.backups:
                self._process.say(backup, TxStart(name))
        elif transaction.channel is not channel or transaction.phase is not OPEN:
            return None
        return transaction

    def roll_back(self, channel: Channel, body: RollBack) -> None:
        """Nothing of it is done. What was accepted in it is held as before."""
        transaction = self._of(channel, body.transaction)
        if transaction is not None:
            self._end(transaction, "its client requested that")
        self._process.say(channel, Done(body.request))

    def commit(self, channel: Channel, body: Commit) -> None:
        """All of it is to be done, or nothing."""
        transaction = self._of(channel, body.transaction)
        if transaction is None:
            self._process.say(channel, Failed(body.request, "no such transaction"))
            return
        transaction.request = body.request
        if reason := transaction.doomed or self._obstacle(transaction):
            self._fail(transaction, reason)
        elif transaction.backups:
            self._enter(transaction, PREPARING)
            self._process.record("tx_prepare", transaction=transaction.name, backups=_addresses(transaction))
            transaction.unprepared = dict(transaction.backups)
            for backup in transaction.backups:
                self._process.say(backup, TxPrepare(transaction.name))
        else:
            self._publish(transaction)

    def disconnected(self, channel: Channel) -> None:
        """A client is gone. What it had not requested to commit is rolled back; the rest goes on, and no process learns
        of it."""
        for transaction in tuple(self.by_name.values()):
            if transaction.channel is channel and transaction.phase is OPEN:
                self._end(transaction, "its client is gone")

    # ---- what backups say -------------------------------------------------------------------------------------------

    def prepared(self, channel: Channel, body: TxPrepared) -> None:
        """A backup can commit it, or cannot."""
        transaction = self.by_name.get(body.transaction)
        if transaction is None or channel not in transaction.unprepared:
            return
        if not body.ok:
            self._fail(transaction, "a backup could not prepare")
            return
        del transaction.unprepared[channel]
        self._decide(transaction)

    def lost(self, channel: Channel) -> None:
        """A backup's connection is gone: nothing waits for it. If it comes back it gets what it lacks as copies."""
        for transaction in tuple(self.by_name.values()):
            transaction.backups.pop(channel, None)
            if transaction.unprepared.pop(channel, 0) is None:
                self._decide(transaction)

    def lacks(self, channel: Channel | None) -> bool:
        """Whether there is a transaction that this backup does not have itself, and may have a part of."""
        if self._options.transactions == "local" or self._options.bug_ready_during_tx:
            return False
        return any(channel not in transaction.backups for transaction in self.by_name.values())

    def _decide(self, transaction: Transaction) -> None:
        if transaction.phase is PREPARING and not transaction.unprepared:
            if reason := self._obstacle(transaction):
                self._fail(transaction, reason)
            else:
                self._publish(transaction)

    # ---- how one ends -----------------------------------------------------------------------------------------------

    def _enter(self, transaction: Transaction, phase: str) -> None:
        assert TRANSACTION.leads(transaction.phase, phase), f"{transaction.phase} -> {phase}"
        transaction.phase = phase

    def _obstacle(self, transaction: Transaction) -> str:
        """Why it cannot be committed now, if it cannot."""
        for queue, _, _ in transaction.enqueues:
            if self._wiring.queues.get(queue.name) is not queue:
                return f"no queue `{queue.name}`"
        for name, tag in transaction.accepts:
            if self._serving.held(transaction.channel, name, tag) is None:
                return "a delivery is not held any more"
        return ""

    def _publish(self, transaction: Transaction) -> None:
        """All of it is on the queues at once. Backups that have it are informed; others get copies."""
        self._enter(transaction, PUBLISHED)
        messages = [content.message for _, _, content in transaction.enqueues]
        self._process.record("tx_published", transaction=transaction.name, messages=messages)
        for backup in transaction.backups:
            self._process.say(backup, TxCommit(transaction.name))
        publication = Publication(transaction.channel, transaction.request, transaction.name)
        publication.pending = 1  # for this call
        for queue, number, content in transaction.enqueues:
            if queue.arguments.replicate == "all":
                for backup in transaction.backups:
                    self._serving.source.has_already(backup, queue, number)
            self._serving.enqueue(queue, content, publication, number)
        for name, tag in transaction.accepts:
            self._serving.accept_one(transaction.channel, name, tag)
        self._serving.less(publication)

    def committed(self, name: str) -> None:
        """Nobody delays a message of it any more."""
        transaction = self.by_name.pop(name)
        self._enter(transaction, COMMITTED)
        self.ended()

    def _fail(self, transaction: Transaction, reason: str) -> None:
        self._end(transaction, reason)
        self._process.say(transaction.channel, Failed(transaction.request, f"rolled back: {reason}"))

    def _end(self, transaction: Transaction, reason: str) -> None:
        self._enter(transaction, ROLLED_BACK)
        del self.by_name[transaction.name]
        self._process.record("tx_rolled_back", transaction=transaction.name, reason=reason)
        for backup in transaction.backups:
            self._process.say(backup, TxRollBack(transaction.name))
        self.ended()


def _addresses(transaction: Transaction) -> list[str]:
    return [backup.peer for backup in transaction.backups]
