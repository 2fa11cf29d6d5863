"""The database of a server: its objects by name, and what a request does to them.

Names are `kind/…`: `ptp/<queue>/<number>`, `pubsub/<topic>/<subscriber>/<number>`,
`subscription/<topic>/<subscriber>`, `acl/<name>`, `principal/<name>`, `admin/<name>`, `client/<client>`.
Source: "What are the objects that are replicated?".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import assert_never

from msgspec import Struct

from hacheck.impl.kit.storage import decode, encode
from hacheck.impl.node import Name
from hacheck.impl.protocols.fiorano.messages import (
    Acknowledge,
    Action,
    Change,
    Publish,
    SendMessage,
    SetObject,
    Subscribe,
)

VERSION = 1
OBJECT = "object/"
META = "repository"


class Stored(Struct, frozen=True, gc=False):
    """A message as it is kept. `request`: what it was sent with."""

    request: str
    body: bytes


class LastRequest(Struct, frozen=True, gc=False):
    """The last request of a client that was done, and what came of it."""

    number: int
    outcome: str


class Meta(Struct, frozen=True, gc=False):
    """What a server knows of its copy. `timestamp_us`: of the last change, by the clock of who served. `sequence`: its
    number. `epoch`: raised by the one that is to serve without its peer. `claim`: the highest epoch that this server
    meant to write into the lock file. `complete`: false while the copy is being made."""

    version: int = VERSION
    timestamp_us: int = 0
    epoch: int = 0
    sequence: int = 0
    claim: int = 0
    complete: bool = True


class Repository:
    """All objects. `places`: the names of messages, oldest first, by queue or subscription."""

    __slots__ = ("objects", "places")

    def __init__(self, objects: Mapping[str, bytes] | None = None) -> None:
        self.objects: dict[str, bytes] = {}
        self.places: dict[str, dict[str, None]] = {}
        if objects is not None:
            self.apply((name, objects[name]) for name in sorted(objects))

    def apply(self, changes: Iterable[Change]) -> None:
        """Does changes."""
        for name, value in changes:
            if value is None:
                if self.objects.pop(name, None) is not None:
                    self.places[place_of(name)].pop(name)
            else:
                if name not in self.objects:
                    self.places.setdefault(place_of(name), {})[name] = None
                self.objects[name] = value

    def perform(self, client: Name, request: str, action: Action, sequence: int) -> tuple[str, list[Change]]:
        """What a request comes to, and the changes that it makes; they are not done yet. `sequence`: greater than in
        all requests before."""
        match action:
            case SendMessage(queue, body):
                return "ok", [(f"ptp/{queue}/{sequence:012}", encode(Stored(request, body)))]
            case Publish(topic, body):
                stored = encode(Stored(request, body))
                subscribers = self.places.get(f"subscription/{topic}/", {})
                return "ok", [
                    (f"pubsub/{topic}/{name.rpartition('/')[2]}/{sequence:012}", stored) for name in subscribers
                ]
            case Subscribe(topic):
                return "ok", [(f"subscription/{topic}/{client}", b"")]
            case SetObject(kind, name, value):
                return "ok", [(f"{kind}/{name}", value)]
            case Acknowledge(objects):
                there = all(name in self.objects for name in objects)
                return ("ok", [(name, None) for name in objects]) if there else ("absent", [])
            case _:
                assert_never(action)

    def last_request(self, client: Name) -> LastRequest | None:
        """The last request of a client, where these are remembered."""
        data = self.objects.get(f"client/{client}")
        return None if data is None else decode(data, LastRequest, f"the last request of {client}")

    def stored(self, name: str) -> Stored:
        """A message."""
        return decode(self.objects[name], Stored, name)

    def messages(self) -> list[tuple[str, Stored]]:
        """All messages, with their names."""
        return [(name, self.stored(name)) for name in self.objects if name.startswith(("ptp/", "pubsub/"))]


def place_of(name: str) -> str:
    """The queue, subscription or kind that an object belongs to, with the last `/`."""
    return name[: name.rindex("/") + 1]
