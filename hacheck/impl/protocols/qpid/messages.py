"""What brokers and their clients say to each other on connections.

A connection is opened by clients, by backups and by replicas: `Open`, then `Opened` or `Closed`. What is said on one
is the body of a numbered `Frame`, since an AMQP connection is a stream: a gap in it is the end of it.
What needs no connection is in `orders`.
"""

from __future__ import annotations

from typing import TypeAlias

from hacheck.impl.node import Message
from hacheck.impl.protocols.qpid.objects import (
    Arguments,
    BindingObject,
    Content,
    ExchangeObject,
    Info,
    QueueObject,
    Ranges,
)

# ---- connections ---------------------------------------------------------------------------------------------------


class Open(Message, frozen=True, gc=False):
    """Ask for a connection. `purpose`: `client`, `backup`, or `replica` for stand-alone replication. `about`: the
    broker that asks."""

    connection: str
    purpose: str
    about: Info | None = None


class Opened(Message, frozen=True, gc=False):
    """The connection is there. A broker that takes no connections aborts it right after this, with `Closed`."""

    connection: str


class Closed(Message, frozen=True, gc=False):
    """The connection is not, or no longer, there. `fatal`: closed on purpose by a primary: the other end is
    misconfigured."""

    connection: str
    reason: str
    fatal: bool = False


class Heartbeat(Message, frozen=True, gc=False):
    """The sender is there, and has sent so many frames on this connection."""

    connection: str
    sent: int


# ---- what clients say and hear -------------------------------------------------------------------------------------


class DeclareQueue(Message, frozen=True, gc=False):
    """Make a queue, unless it is there. `fresh`: fail if it is."""

    request: str
    name: str
    arguments: Arguments
    fresh: bool = False


class DeleteQueue(Message, frozen=True, gc=False):
    """Delete a queue with its messages."""

    request: str
    name: str


class PurgeQueue(Message, frozen=True, gc=False):
    """Drop the messages of a queue."""

    request: str
    name: str


class DeclareExchange(Message, frozen=True, gc=False):
    """Make an exchange, unless it is there."""

    request: str
    name: str
    kind: str
    arguments: Arguments


class DeleteExchange(Message, frozen=True, gc=False):
    """Delete an exchange."""

    request: str
    name: str


class Bind(Message, frozen=True, gc=False):
    """Bind a queue to an exchange."""

    request: str
    binding: BindingObject


class Unbind(Message, frozen=True, gc=False):
    """Take a binding away."""

    request: str
    binding: BindingObject


class Publish(Message, frozen=True, gc=False):
    """Send a message to an exchange (`""`: to the queue that the key names). `Completed` says that it is safe; in a
    transaction, `Done` for the commit does."""

    content: Content
    exchange: str
    key: str
    transaction: str = ""


class Consume(Message, frozen=True, gc=False):
    """Send me the messages of a queue, so many at a time."""

    request: str
    queue: str
    credit: int


class Accept(Message, frozen=True, gc=False):
    """These deliveries are done with: dequeue them, in a transaction when that is committed."""

    request: str
    queue: str
    tags: tuple[int, ...]
    transaction: str = ""


class Release(Message, frozen=True, gc=False):
    """These deliveries are given back."""

    queue: str
    tags: tuple[int, ...]


class Commit(Message, frozen=True, gc=False):
    """Do all that was requested in this transaction, or nothing: then it is `Failed`."""

    request: str
    transaction: str


class RollBack(Message, frozen=True, gc=False):
    """Do nothing of what was requested in this transaction."""

    request: str
    transaction: str


class Delivery(Message, frozen=True, gc=False):
    """A message of a queue. `redelivered`: somebody may have had it before."""

    queue: str
    tag: int
    content: Content
    redelivered: bool


class Completed(Message, frozen=True, gc=False):
    """These published messages are safe; the publisher need not keep them."""

    messages: tuple[str, ...]


class Done(Message, frozen=True, gc=False):
    """A request has been carried out."""

    request: str


class Failed(Message, frozen=True, gc=False):
    """A request has not been carried out, and will not be."""

    request: str
    reason: str


# ---- configuration, from the primary to its backups ----------------------------------------------------------------


class SubscribeConfiguration(Message, frozen=True, gc=False):
    """Report every change to me from now on. The first thing a backup says."""


class Query(Message, frozen=True, gc=False):
    """List what there is: `broker`, `queues`, `exchanges` or `bindings`."""

    kind: str


class NextPage(Message, frozen=True, gc=False):
    """I have dealt with the last page of an answer to a query."""

    kind: str


class BrokerState(Message, frozen=True, gc=False):
    """The answer about the broker itself: who is a member, and the level that it replicates by default."""

    members: tuple[Info, ...]
    replicate: str


class QueuesPage(Message, frozen=True, gc=False):
    """Some of the queues that there were when the query came."""

    queues: tuple[QueueObject, ...]
    last: bool


class ExchangesPage(Message, frozen=True, gc=False):
    """Some of the exchanges that there were when the query came."""

    exchanges: tuple[ExchangeObject, ...]
    last: bool


class BindingsPage(Message, frozen=True, gc=False):
    """Some of the bindings that there were when the query came."""

    bindings: tuple[BindingObject, ...]
    last: bool


class QueueDeclared(Message, frozen=True, gc=False):
    """A queue has been made."""

    queue: QueueObject


class QueueDeleted(Message, frozen=True, gc=False):
    """A queue has been deleted."""

    name: str
    uuid: str


class ExchangeDeclared(Message, frozen=True, gc=False):
    """An exchange has been made."""

    exchange: ExchangeObject


class ExchangeDeleted(Message, frozen=True, gc=False):
    """An exchange has been deleted."""

    name: str


class Bound(Message, frozen=True, gc=False):
    """A binding has been made."""

    binding: BindingObject


class Unbound(Message, frozen=True, gc=False):
    """A binding has been taken away."""

    binding: BindingObject


class Members(Message, frozen=True, gc=False):
    """Who is a member now, and in which status, as the primary sees it."""

    members: tuple[Info, ...]


# ---- queue replication ---------------------------------------------------------------------------------------------


class SubscribeQueue(Message, frozen=True, gc=False):
    """Replicate a queue to me. `subscription`: the backup's number for it. `held`: the ids of the messages it has."""

    subscription: int
    queue: str
    uuid: str
    held: Ranges


class SubscriptionRefused(Message, frozen=True, gc=False):
    """There is no such queue here."""

    subscription: int
    reason: str


class IdEvent(Message, frozen=True, gc=False):
    """The next copy has this id; those after it count on."""

    subscription: int
    id: int


class Copy(Message, frozen=True, gc=False):
    """A copy of a message for the backup's queue."""

    subscription: int
    content: Content


class DequeueEvent(Message, frozen=True, gc=False):
    """Messages with these ids are gone from the primary's queue."""

    subscription: int
    ids: Ranges


class Acknowledge(Message, frozen=True, gc=False):
    """Messages with these ids are on the backup, and on its disk if they are durable."""

    subscription: int
    ids: tuple[int, ...]


# ---- transactions, with `transactions=replicated` ------------------------------------------------------------------


class TxStart(Message, frozen=True, gc=False):
    """There is a transaction: a name that nobody has had."""

    transaction: str


class TxEnqueue(Message, frozen=True, gc=False):
    """A message of a transaction, with the queue that it is for and its id there."""

    transaction: str
    queue: str
    uuid: str
    id: int
    content: Content


class TxDequeue(Message, frozen=True, gc=False):
    """A message that a transaction takes off a queue."""

    transaction: str
    queue: str
    uuid: str
    id: int


class TxPrepare(Message, frozen=True, gc=False):
    """Can you commit it?"""

    transaction: str


class TxPrepared(Message, frozen=True, gc=False):
    """The answer to that."""

    transaction: str
    ok: bool


class TxCommit(Message, frozen=True, gc=False):
    """Commit it. Its messages are acknowledged as copies are."""

    transaction: str


class TxRollBack(Message, frozen=True, gc=False):
    """Drop it."""

    transaction: str


Body: TypeAlias = (
    DeclareQueue | DeleteQueue | PurgeQueue | DeclareExchange | DeleteExchange | Bind | Unbind | Publish | Consume
    | Accept | Release | Commit | Delivery | Completed | Done | Failed | SubscribeConfiguration | Query | NextPage
    | BrokerState | QueuesPage | ExchangesPage | BindingsPage | QueueDeclared | QueueDeleted | ExchangeDeclared
    | ExchangeDeleted | Bound | Unbound | Members | SubscribeQueue | SubscriptionRefused | IdEvent | Copy
    | DequeueEvent | Acknowledge | RollBack | TxStart | TxEnqueue | TxDequeue | TxPrepare | TxPrepared | TxCommit
    | TxRollBack
)  # fmt: skip


class Frame(Message, frozen=True, gc=False):
    """One thing said on a connection; `number` counts from 1 in each direction."""

    connection: str
    number: int
    body: Body
