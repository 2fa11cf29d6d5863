"""Everything that servers and clients send each other."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from hacheck.impl.node import Message

Change: TypeAlias = tuple[str, bytes | None]
"""An object of the database, and its new value; `None`: it is erased."""

# ---- what a client may ask for -------------------------------------------------------------------------------------


class SendMessage(Struct, frozen=True, tag=True, gc=False):
    """A message to a queue (PTP)."""

    queue: str
    body: bytes


class Publish(Struct, frozen=True, tag=True, gc=False):
    """A message to a topic (PubSub): one for each durable subscriber."""

    topic: str
    body: bytes


class Subscribe(Struct, frozen=True, tag=True, gc=False):
    """The client becomes a durable subscriber of a topic; from then on its messages are kept for it."""

    topic: str


class SetObject(Struct, frozen=True, tag=True, gc=False):
    """An object of administration. `kind`: `acl`, `principal`, `admin`. `value`: `None`: it is erased."""

    kind: str
    name: str
    value: bytes | None


class Acknowledge(Struct, frozen=True, tag=True, gc=False):
    """These messages, by the names of their objects, are consumed."""

    objects: tuple[str, ...]


Action: TypeAlias = SendMessage | Publish | Subscribe | SetObject | Acknowledge

# ---- clients and the serving one -----------------------------------------------------------------------------------


class Connect(Message, frozen=True, gc=False):
    """A client wants a session. `session`: a fresh name; whatever session it had before is over."""

    session: str


class Connected(Message, frozen=True, gc=False):
    """The session is there."""

    session: str


class NotServing(Message, frozen=True, gc=False):
    """There is no such session here: this server does not serve, or not any more, or has forgotten it."""

    session: str


class Ask(Message, frozen=True, gc=False):
    """Do this, durably. `request`: the same for the same request, however often it is sent. `number`: of this client's
    requests, in the order in which they are first sent."""

    session: str
    request: str
    number: int
    action: Action


class Answer(Message, frozen=True, gc=False):
    """What came of a request: `ok`, `absent` where there was nothing to acknowledge."""

    session: str
    request: str
    outcome: str


class Fetch(Message, frozen=True, gc=False):
    """Deliver messages of a queue, or of the client's subscription to a topic, whose names begin like this."""

    session: str
    call: int
    place: str
    credit: int


class Delivered(Message, frozen=True, gc=False):
    """What a `Fetch` got: objects, and the requests that they were sent with."""

    session: str
    call: int
    objects: tuple[tuple[str, str], ...]


class SessionPing(Message, frozen=True, gc=False):
    """A sign of life."""

    session: str


class SessionPong(Message, frozen=True, gc=False):
    """Another."""

    session: str


# ---- operators -----------------------------------------------------------------------------------------------------


class StateQuery(Message, frozen=True, gc=False):
    """How does this server stand?"""


class StateAnswer(Message, frozen=True, gc=False):
    """Its present and previous state, its peer's as it knows it, and what it knows of the lock."""

    present: str
    previous: str
    peer: str
    lock: str


# ---- the channel between the two servers ---------------------------------------------------------------------------


class Hello(Message, frozen=True, gc=False):
    """The sender's end of a connection, and the other end as far as it knows it, or empty."""

    mine: str
    yours: str


class OnChannel(Message, frozen=True, gc=False):
    """What belongs to one connection: nobody heeds it on another. `link`: the ends, the sender's first."""

    link: str


class Beat(OnChannel, frozen=True, gc=False):
    """A sign of life."""


class State(OnChannel, frozen=True, gc=False):
    """The sender's present and previous state, and how new its repository is. `claim`: the highest epoch that it ever
    meant to write into the lock file."""

    present: str
    previous: str
    timestamp_us: int
    epoch: int
    sequence: int
    complete: bool
    claim: int


class SyncBegin(OnChannel, frozen=True, gc=False):
    """The whole database follows, as it is after this change; what the receiver has is void."""

    sequence: int


class SyncObjects(OnChannel, frozen=True, gc=False):
    """Some of its objects."""

    changes: tuple[Change, ...]


class SyncTaken(OnChannel, frozen=True, gc=False):
    """They are written."""


class SyncEnd(OnChannel, frozen=True, gc=False):
    """That was all of it, up to this change."""

    timestamp_us: int
    epoch: int
    sequence: int


class Replicate(OnChannel, frozen=True, gc=False):
    """A change that a client requested. `sequence`: one more than that of the last."""

    sequence: int
    timestamp_us: int
    changes: tuple[Change, ...]


class Replicated(OnChannel, frozen=True, gc=False):
    """It is written, with all before it."""

    sequence: int


MESSAGES: tuple[type[Message], ...] = (
    Connect,
    Connected,
    NotServing,
    Ask,
    Answer,
    Fetch,
    Delivered,
    SessionPing,
    SessionPong,
    StateQuery,
    StateAnswer,
    Hello,
    Beat,
    State,
    SyncBegin,
    SyncObjects,
    SyncTaken,
    SyncEnd,
    Replicate,
    Replicated,
)
