"""What replicas, clients and subscribers send each other.

A message with a `call` is answered by one that carries the same number; `Invitation` and `Accept` are not answered.
Every call within a group names the group, so that nobody takes part in two.
"""

from __future__ import annotations

from hacheck.impl.node import Message
from hacheck.impl.protocols.icestorm.records import ClientOperation, Stamp, Topic, Update

# ---- election ------------------------------------------------------------------------------------------------------


class AreYouCoordinator(Message, frozen=True, gc=False):
    """Do you coordinate a group, if only your own? Answered by `Answer`."""

    call: int


class Invitation(Message, frozen=True, gc=False):
    """Join the group of this coordinator. A coordinator that joins hands it on to its own members."""

    coordinator: int
    group: str


class Accept(Message, frozen=True, gc=False):
    """I join. `forwarded`: whom else I have invited; `llu`: the stamp of my last update; `seen_max`: the largest group
    I have seen; `promised`: the highest generation I have promised; `empty`: my disk was never written."""

    member: int
    group: str
    forwarded: tuple[int, ...]
    llu: Stamp
    seen_max: int
    promised: int
    empty: bool


class AreYouThere(Message, frozen=True, gc=False):
    """Are you still the coordinator of my group, and I a member? Answered by `Answer`."""

    call: int
    group: str
    member: int


# ---- how a coordinator brings its group together -------------------------------------------------------------------


class Propose(Message, frozen=True, gc=False):
    """Promise to take part in no generation below this one. Answered by `Answer`. Only with `promise_generations`."""

    call: int
    group: str
    generation: int


class Sync(Message, frozen=True, gc=False):
    """Give me your database. Answered by `Database`, or `Answer` with a refusal."""

    call: int
    group: str


class Database(Message, frozen=True, gc=False):
    """All topics, in the order of their names, and the stamp of the last update."""

    call: int
    llu: Stamp
    topics: tuple[Topic, ...]


class Init(Message, frozen=True, gc=False):
    """Replace your database by this one. Answered by `Answer`, when it is durable."""

    call: int
    group: str
    llu: Stamp
    topics: tuple[Topic, ...]


class Ready(Message, frozen=True, gc=False):
    """The group replicates from now on. Answered by `Answer`: whether the member takes part."""

    call: int
    group: str
    generation: int
    seen_max: int


# ---- replication ---------------------------------------------------------------------------------------------------


class Ping(Message, frozen=True, gc=False):
    """Are you a working member of this group? Answered by `Answer`."""

    call: int
    group: str


class Apply(Message, frozen=True, gc=False):
    """Do this update, the next after the last one. Answered by `Answer`, when it is durable."""

    call: int
    group: str
    llu: Stamp
    update: Update


class Forward(Message, frozen=True, gc=False):
    """An update that a client requested from a slave. Answered by `Done`."""

    call: int
    update: Update


class Answer(Message, frozen=True, gc=False):
    """The answer to a call. `reason`: why not."""

    call: int
    yes: bool
    reason: str = ""


class Done(Message, frozen=True, gc=False):
    """What came of a forwarded update: `ok`, `TopicExists`, `UnknownOutcome`, …"""

    call: int
    outcome: str
    detail: str = ""


# ---- clients, subscribers, administrators --------------------------------------------------------------------------


class Request(Message, frozen=True, gc=False):
    """A client asks. Sent again, it keeps its `request` and has the next `attempt`, from 1. Answered by `Reply`."""

    request: str
    attempt: int
    operation: ClientOperation


class Reply(Message, frozen=True, gc=False):
    """The outcome (`ok`, `TopicExists`, …) and what was read: names, or one topic."""

    request: str
    attempt: int
    outcome: str
    names: tuple[str, ...] = ()
    topic: Topic | None = None
    detail: str = ""


class Deliver(Message, frozen=True, gc=False):
    """A published message, to a subscriber. `topic`: the topic subscribed to; `origin`: the one published on, another
    if it came over a link. Answered by `Delivered` if `call` is not 0."""

    call: int
    topic: str
    origin: str
    identity: str
    publisher: str
    number: int
    event: str


class Delivered(Message, frozen=True, gc=False):
    """Whether a subscriber took a message, or failed at it."""

    call: int
    yes: bool


class QueryNodes(Message, frozen=True, gc=False):
    """Who are the replicas? Answered by `Nodes`. Answered in every state."""

    call: int


class Nodes(Message, frozen=True, gc=False):
    """Identifiers and names of all replicas, in the order of the identifiers."""

    call: int
    nodes: tuple[tuple[int, str], ...]


class Query(Message, frozen=True, gc=False):
    """How do you stand? Answered by `View`. Answered in every state."""

    call: int


class View(Message, frozen=True, gc=False):
    """How a replica stands, as the administration tool shows it: identifier, coordinator, name of its group, state,
    the other members (known to a coordinator only), and the largest group it has seen."""

    call: int
    id: int
    coord: int
    group_name: str
    state: str
    group: tuple[int, ...]
    max: int


MESSAGES: tuple[type[Message], ...] = (
    AreYouCoordinator,
    Invitation,
    Accept,
    AreYouThere,
    Propose,
    Sync,
    Database,
    Init,
    Ready,
    Ping,
    Apply,
    Forward,
    Answer,
    Done,
    Request,
    Reply,
    Deliver,
    Delivered,
    QueryNodes,
    Nodes,
    Query,
    View,
)
"""Every kind of message."""
