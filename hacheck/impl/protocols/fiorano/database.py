"""The shared database: how a server reads it when it activates, and how it writes while it is active.

`head` says who activated last. Each activation has files of its own: `base/<activation>`, everything up to some change,
and `log/<activation>/<number>`, a change after it. What a server that was active before has still under way is so not
mixed with what its successor writes. Source: Fiorano Shared High Availability Working 3.2; broker facts F-R11.
"""

from __future__ import annotations

from msgspec import Struct

from hacheck.impl.kit.storage import decode, encode
from hacheck.impl.node import SharedRead
from hacheck.impl.protocols.fiorano.messages import Change
from hacheck.impl.protocols.fiorano.process import Process
from hacheck.impl.protocols.fiorano.repository import VERSION, Repository

DATABASE = "database"
HEAD = "head"


class Head(Struct, frozen=True, gc=False):
    """Who activated last, and the number of that activation."""

    version: int = VERSION
    activation: int = 0
    holder: str = ""


class Batch(Struct, frozen=True, gc=False):
    """Changes up to this number."""

    sequence: int
    changes: tuple[Change, ...]
    version: int = VERSION


class Database:
    """One activation. `durable`: clients may be informed of changes up to this one. `ready`: everything is read, and
    written as this activation's own. `failed`: why the database cannot be used, or empty; `superseded`: another has
    activated.
    """

    __slots__ = (
        "_base",
        "_compact_after",
        "_early",
        "_process",
        "_started",
        "_stored",
        "_verify",
        "durable",
        "failed",
        "head",
        "ready",
        "repository",
        "sequence",
        "superseded",
    )

    def __init__(self, process: Process, *, compact_after: int, verify: bool) -> None:
        self._process = process
        self._compact_after = compact_after
        self._verify = verify
        self._started = process.last_token
        self._base = 0
        self._stored = 0
        self._early: set[int] = set()
        self.head = Head()
        self.repository = Repository()
        self.sequence = 0
        self.durable = 0
        self.ready = self.superseded = False
        self.failed = ""
        process.read(DATABASE, HEAD, ("head", 0))

    # ---- activation ----

    def read(self, token: int, purpose: str, number: int, given: SharedRead) -> None:
        """The database has spoken. Errors: `Refused`, where it is of another version or cannot be read."""
        if token <= self._started:
            return
        if given.failed:
            self.failed = given.failed
        elif purpose == "head":
            self.head = Head() if given.value is None else decode(given.value, Head, "the database")
            if self.head.activation:
                self._process.read(DATABASE, f"base/{self.head.activation}", ("base", 0))
            else:
                self._activate()
        elif purpose == "base":
            self._take(given.value)
            self._base = self.sequence
        elif purpose == "log":
            if given.value is None:
                self._process.read(DATABASE, HEAD, ("again", 0))
            else:
                self._take(given.value)
        elif purpose == "again":
            self._unchanged(given)
        elif purpose == "verify":
            last = Head() if given.value is None else decode(given.value, Head, "the database")
            if last == self.head:
                self.durable = max(self.durable, number)
            else:
                self.superseded = True

    def _unchanged(self, given: SharedRead) -> None:
        """What was read counts only if nobody, who may have ended since, has activated meanwhile: that takes away what
        was still to be read."""
        if given.value == encode(self.head):
            self._activate()
        else:
            self.repository = Repository()
            self.sequence = 0
            self._process.read(DATABASE, HEAD, ("head", 0))

    def _take(self, data: bytes | None) -> None:
        if data is None:
            self.failed = "a part of the database is missing"
            return
        batch = decode(data, Batch, "the database")
        self.sequence = batch.sequence
        self.repository.apply(batch.changes)
        self._process.read(DATABASE, f"log/{self.head.activation}/{self.sequence + 1}", ("log", 0))

    def _activate(self) -> None:
        """Writes everything as its own, and its name at the head, at once. What was there goes."""
        old, process = self.head, self._process
        self.head = Head(VERSION, old.activation + 1, f"{process.member}.{process.incarnation}")
        changes: list[Change] = [(HEAD, encode(self.head)), self._whole()]
        if old.activation:
            changes.append((f"base/{old.activation}", None))
            changes += [(f"log/{old.activation}/{n}", None) for n in range(self._base + 1, self.sequence + 1)]
        self._base = self.sequence
        process.write(tuple(changes), ("activated", self.sequence), DATABASE)

    def _whole(self) -> Change:
        everything = Batch(self.sequence, tuple(self.repository.objects.items()))
        return f"base/{self.head.activation}", encode(everything)

    # ---- while active ----

    def next_sequence(self) -> int:
        """The number that the next change will get."""
        return self.sequence + 1

    def commit(self, changes: tuple[Change, ...]) -> int:
        """Writes a change; now and then everything as one."""
        self.sequence += 1
        activation, sequence = self.head.activation, self.sequence
        purpose = "change"
        written: list[Change] = [(f"log/{activation}/{sequence}", encode(Batch(sequence, changes)))]
        if sequence - self._base >= self._compact_after:
            purpose = "whole"
            written = [self._whole()]
            written += [(f"log/{activation}/{number}", None) for number in range(self._base + 1, sequence)]
            self._base = sequence
        self._process.write(tuple(written), (purpose, sequence), DATABASE)
        return sequence

    def written(self, token: int, purpose: str, number: int) -> None:
        """A write is done. A change counts when all before it are there too: one that did not get to the database is
        known only later, and the one that reads the log stops where it is missing."""
        if token <= self._started:
            return
        if purpose == "change":
            self._early.add(number)
        else:
            self._stored = max(self._stored, number)
        while self._stored + 1 in self._early:
            self._stored += 1
            self._early.discard(self._stored)
        if purpose == "activated":
            self.ready = True
            self.durable = self._stored
        elif self._verify:
            self._process.read(DATABASE, HEAD, ("verify", self._stored))
        else:
            self.durable = self._stored
