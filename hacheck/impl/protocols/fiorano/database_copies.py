"""The two ends of replication: the one that has the database, and the one that makes a copy.

The Runtime Synchronisation Protocol: the whole database goes over in batches while its owner serves. An object is sent
as it is at that moment, and every change after that follows on the same connection, so that the copy is right when the
last object has been sent. From then on the copy may take over, so answers wait for it.
Source: Fiorano Replicated High Availability Working 3.1 and 3.1.2; broker facts F-W6, F-R7.
"""

from __future__ import annotations

from collections import deque

from msgspec.structs import replace

from hacheck.impl.kit.storage import encode
from hacheck.impl.protocols.fiorano.channel import Channel
from hacheck.impl.protocols.fiorano.messages import (
    Change,
    Replicate,
    Replicated,
    SyncBegin,
    SyncEnd,
    SyncObjects,
    SyncTaken,
)
from hacheck.impl.protocols.fiorano.process import Process
from hacheck.impl.protocols.fiorano.repository import META, OBJECT, Meta, Repository


class Copies:
    """This server's copy, and what it knows of the other.

    `own_written`: changes up to this one are on the own disk; `peer_written`: on the peer's. `streaming`: changes are
    sent to the peer. `mirrored`: the peer's copy is complete, or may be: it has a say in what is durable.
    `synchronised`: this copy was made on this connection, and is complete. `since`: writes up to this token belong to
    an earlier connection; `void_since`: up to this one, to a copy that is void.
    """

    __slots__ = (
        "_batch",
        "_both",
        "_channel",
        "_left",
        "_process",
        "meta",
        "mirrored",
        "own_written",
        "peer_written",
        "repository",
        "since",
        "streaming",
        "synchronised",
        "void_since",
    )

    def __init__(
        self, process: Process, channel: Channel, meta: Meta, repository: Repository, batch: int, both: bool
    ) -> None:
        self._process = process
        self._channel = channel
        self._batch = batch
        self._both = both
        self._left: deque[str] = deque()
        self.meta = meta
        self.repository = repository
        self.own_written = meta.sequence
        self.peer_written = 0
        self.streaming = self.mirrored = self.synchronised = False
        self.since = self.void_since = 0

    @property
    def durable(self) -> int:
        """Clients may be informed of changes up to this one."""
        return min(self.own_written, self.peer_written) if self.mirrored else self.own_written

    def broken(self) -> None:
        """The connection is."""
        self.streaming = self.synchronised = False
        self.since = self._process.last_token
        self._left.clear()

    # ---- the one that has it ----

    def next_sequence(self) -> int:
        """The number that the next change will get."""
        return self.meta.sequence + 1

    def commit(self, changes: tuple[Change, ...]) -> int:
        """Writes a change, and sends it to the peer."""
        process, sequence = self._process, self.meta.sequence + 1
        self.meta = replace(self.meta, sequence=sequence, timestamp_us=process.now_us)
        self._write(changes, "change", sequence)
        if self.streaming:
            self._channel.send(Replicate(self._channel.out_name, sequence, process.now_us, changes))
        return sequence

    def begin(self) -> None:
        """Sends the database."""
        self.streaming, self.mirrored = True, False
        self.peer_written = self.meta.sequence
        self._left = deque(self.repository.objects)
        self._channel.send(SyncBegin(self._channel.out_name, self.meta.sequence))
        self.taken()

    def taken(self) -> None:
        """The next objects, or the end."""
        if not self.streaming or self.mirrored:
            return
        changes: list[Change] = []
        while self._left and len(changes) < self._batch:
            name = self._left.popleft()
            if name in self.repository.objects:
                changes.append((name, self.repository.objects[name]))
        name, meta = self._channel.out_name, self.meta
        if changes:
            self._channel.send(SyncObjects(name, tuple(changes)))
        else:
            self.mirrored = self._both
            self._channel.send(SyncEnd(name, meta.timestamp_us, meta.epoch, meta.sequence))

    # ---- the one that makes a copy ----

    def void(self, given: SyncBegin) -> None:
        """What is here counts no more, from before the first object of the new one is written."""
        changes = tuple((name, None) for name in self.repository.objects)
        self.repository.apply(changes)
        self.meta = Meta(sequence=given.sequence, epoch=self.meta.epoch, claim=self.meta.claim, complete=False)
        self.synchronised = False
        self.void_since = self._process.last_token
        self.own_written = 0
        self._write(changes, "void", 0)

    def objects(self, given: SyncObjects) -> None:
        """Some of it."""
        self.repository.apply(given.changes)
        self._write(given.changes, "objects", 0)

    def end(self, given: SyncEnd) -> bool:
        """All of it. Returns whether nothing is missing."""
        if given.sequence != self.meta.sequence:
            return False
        self.meta = replace(self.meta, timestamp_us=given.timestamp_us, epoch=given.epoch, complete=True)
        self._write((), "synchronised", given.sequence)
        return True

    def replicate(self, given: Replicate) -> bool:
        """A change. Returns whether it is the next one."""
        if given.sequence != self.meta.sequence + 1:
            return False
        self.repository.apply(given.changes)
        self.meta = replace(self.meta, sequence=given.sequence, timestamp_us=given.timestamp_us)
        self._write(given.changes, "replica", given.sequence)
        return True

    def written(self, token: int, purpose: str, number: int) -> None:
        """A write is done."""
        if number and token > self.void_since:
            self.own_written = max(self.own_written, number)
        if token <= self.since:
            return
        name = self._channel.out_name
        if purpose == "replica":
            self._channel.send(Replicated(name, number))
        elif purpose == "objects":
            self._channel.send(SyncTaken(name))
        elif purpose == "synchronised":
            self.synchronised = True

    def _write(self, changes: tuple[Change, ...], purpose: str, number: int) -> None:
        named = [(OBJECT + name, value) for name, value in changes]
        self._process.write((*named, (META, encode(self.meta))), (purpose, number))
