"""What brokers send each other about: brokers, queues, exchanges, bindings and messages, as plain values."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from hacheck.impl.node import Name

Ranges: TypeAlias = tuple[tuple[int, int], ...]
"""A set of replication ids: first and last of each range, ascending."""


class Info(Struct, frozen=True, gc=False):
    """A broker as members of its cluster know it: its id, which outlives restarts, where it is, its status."""

    system: str
    address: Name
    status: str


class Arguments(Struct, frozen=True, gc=False):
    """How a queue or exchange was declared. `uuid`: which of all that ever had its name. `replicate`: its level, made
    explicit by the primary. `ring_max`: the most messages it holds, the oldest making way; 0: no limit. `alternate`:
    where messages go when an auto-delete queue ends."""

    replicate: str = ""
    uuid: str = ""
    durable: bool = False
    auto_delete: bool = False
    ring_max: int = 0
    alternate: str = ""


class QueueObject(Struct, frozen=True, gc=False):
    """A queue as the configuration shows it."""

    name: str
    arguments: Arguments


class ExchangeObject(Struct, frozen=True, gc=False):
    """An exchange as the configuration shows it. `kind`: `direct`, by the whole key, or `fanout`, to all."""

    name: str
    kind: str
    arguments: Arguments


class BindingObject(Struct, frozen=True, gc=False):
    """A queue bound to an exchange by a key."""

    exchange: str
    queue: str
    key: str


class Content(Struct, frozen=True, gc=False):
    """A message: the id its publisher gave it, what is in it, whether it is to survive restarts."""

    message: str
    body: str
    durable: bool
