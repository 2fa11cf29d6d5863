"""The database of a replica: topics and the stamp of the last update, in memory as they are on its disk.

Memory follows the disk: a change is seen when it is durable. One change is on its way at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from hacheck.impl.kit.rpc import Caller
from hacheck.impl.kit.storage import decode, encode
from hacheck.impl.node import Name
from hacheck.impl.protocols.icestorm.records import BEGINNING, Changes, Stamp, Topic
from hacheck.impl.system import Refused

VERSION = 1
STAMP = "stamp"
PROMISE = "promise"
TOPIC = "topic/"


class StampValue(Struct, frozen=True):
    """The stamp as it is on disk."""

    version: int
    stamp: Stamp


class PromiseValue(Struct, frozen=True):
    """The highest promised generation as it is on disk."""

    version: int
    generation: int


class TopicValue(Struct, frozen=True):
    """A topic as it is on disk."""

    version: int
    topic: Topic


class Disk(Struct, frozen=True):
    """What a disk has. `empty`: it was never written."""

    stamp: Stamp
    promised: int
    topics: dict[str, Topic]
    empty: bool


class _Change(Struct, frozen=True):
    """A change on its way, and what to notify."""

    kind: str
    data: Any
    changes: Changes
    stamp: Stamp | None
    promised: int | None


class Store:
    """Topics by name, the stamp of their last update, the highest promised generation.

    `finished`: by kind, who is informed that a change is done (an empty reason), or is not. `broken`: the last write
    failed; such a replica takes no part in elections until a write is done.
    """

    __slots__ = ("_pending", "_transient", "broken", "empty", "finished", "process", "promised", "stamp", "topics")

    def __init__(self, disk: Disk, process: Caller, *, transient: bool = False) -> None:
        self.topics = disk.topics
        self.stamp = disk.stamp
        self.promised = disk.promised
        self.empty = disk.empty
        self.broken = False
        self.process = process
        self.finished: dict[str, Callable[[Any, str], None]] = {}
        self._pending: dict[int, _Change] = {}
        self._transient = transient

    @property
    def busy(self) -> bool:
        """Whether a change is on its way."""
        return bool(self._pending)

    def commit(self, kind: str, changes: Changes, stamp: Stamp, data: Any = None) -> None:
        """Change topics, with the stamp of this update."""
        self._write(_Change(kind, data, changes, stamp, None))

    def replace(self, kind: str, topics: Mapping[str, Topic], stamp: Stamp, data: Any = None) -> None:
        """Make the topics these, and no others."""
        changes: Changes = {name: topic for name, topic in topics.items() if self.topics.get(name) != topic}
        changes.update((name, None) for name in self.topics if name not in topics)
        self._write(_Change(kind, data, changes, stamp, None))

    def promise(self, kind: str, generation: int, data: Any = None) -> None:
        """Remember a promised generation."""
        self._write(_Change(kind, data, {}, None, generation))

    def probe(self) -> None:
        """Write what is there already, to see whether the disk works again."""
        if not self._pending:
            self._write(_Change("probed", None, {}, None, self.promised))

    def snapshot(self) -> tuple[Topic, ...]:
        """All topics, in the order of their names."""
        return tuple(self.topics[name] for name in sorted(self.topics))

    def _write(self, change: _Change) -> None:
        assert not self._pending, "one change at a time"
        if self._transient:
            self._pending[0] = change
            self.written(0, "")
        else:
            self._pending[self.process.write(encoded(change.changes, change.stamp, change.promised))] = change

    def written(self, token: int, reason: str) -> None:
        """A change is durable, or (with a reason) was not done."""
        change = self._pending.pop(token)
        self.broken = bool(reason)
        if reason:
            self.process.record("disk_failed", reason=reason)
        else:
            for name, topic in change.changes.items():
                if topic is None:
                    self.topics.pop(name, None)
                else:
                    self.topics[name] = topic
            if change.stamp is not None:
                self.stamp = change.stamp
                self.empty = False
            if change.promised is not None:
                self.promised = change.promised
        self.finished[change.kind](change.data, reason)


def encoded(changes: Changes, stamp: Stamp | None, promised: int | None) -> tuple[tuple[str, bytes | None], ...]:
    """Changes as a disk takes them."""
    values: list[tuple[str, bytes | None]] = [
        (TOPIC + name, None if topic is None else encode(TopicValue(VERSION, topic))) for name, topic in changes.items()
    ]
    if stamp is not None:
        values.append((STAMP, encode(StampValue(VERSION, stamp))))
    if promised is not None:
        values.append((PROMISE, encode(PromiseValue(VERSION, promised))))
    return tuple(values)


def decoded(durable: Mapping[str, bytes], member: Name) -> Disk:
    """What a disk has. Errors: `Refused`, for what cannot be read, or comes from a newer version."""
    topics: dict[str, Topic] = {}
    stamp, promised = BEGINNING, 0
    for key in sorted(durable):
        value, where = durable[key], f"`{key}` on the disk of {member}"
        if key == STAMP:
            stamp = decode(value, StampValue, where, version=VERSION).stamp
        elif key == PROMISE:
            promised = decode(value, PromiseValue, where, version=VERSION).generation
        elif key.startswith(TOPIC):
            topics[key.removeprefix(TOPIC)] = decode(value, TopicValue, where, version=VERSION).topic
        else:
            raise Refused(f"the disk of {member} has `{key}`, which is none of IceStorm's: is it another system's?")
    return Disk(stamp, promised, topics, STAMP not in durable)
