"""What a broker has accepted, and the files it is kept in: journal, bindings, large messages, pages.

Every commit is one journal record, so a transaction is there or not. Record `n` is the file `journal/<n>`; the file
`journal/base` has everything up to some record as one. A body that is large, or that comes when its queue is long
already, has a file of its own, which is written with the record that refers to it and erased with the last one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias, TypeVar

import msgspec
from msgspec import Struct, msgpack

from hacheck.impl.kit.storage import decode, encode
from hacheck.impl.protocols.artemis.messages import Outgoing
from hacheck.impl.protocols.artemis.options import BrokerOptions
from hacheck.impl.system import Refused

S = TypeVar("S", bound=Struct)

Changes: TypeAlias = tuple[tuple[str, bytes | None], ...]

VERSION = 1
KINDS = ("journal", "bindings", "large-messages", "pages")
"""The kinds of files, in the order in which a replica gets them."""


class Stored(Struct, frozen=True, array_like=True, gc=False):
    """A message of a queue. `where`: the file of its body, or empty."""

    number: int
    queue: str
    duplicate_id: str
    body: bytes
    where: str = ""


class Branch(Struct, frozen=True, array_like=True, gc=False):
    """A transaction that is prepared: what it sends, and what it acknowledges; both are kept until it ends."""

    name: str
    outgoing: tuple[Outgoing, ...]
    acknowledged: tuple[int, ...]


class Entry(Struct, frozen=True, array_like=True, gc=False):
    """A journal record: a commit, or the preparation or the end of a branch. `epoch`: of the base that it follows; a
    record of another one was left behind by a broker whose earlier record failed, and never counted. `prepared`: a
    branch that begins to be kept, `ended`: the name of one that is not kept any more. `remembered`: addresses and
    duplicate ids of messages that are not kept here."""

    epoch: int
    sent: tuple[Stored, ...]
    acknowledged: tuple[int, ...]
    prepared: Branch | None = None
    ended: str = ""
    remembered: tuple[tuple[str, str], ...] = ()


class Base(Struct, frozen=True):
    """Everything up to a record. `epoch`: how many times the journal was opened. `duplicates`: for each address its
    ids, oldest first."""

    version: int
    epoch: int
    position: int
    next_number: int
    messages: tuple[Stored, ...]
    duplicates: tuple[tuple[str, tuple[str, ...]], ...]
    branches: tuple[Branch, ...] = ()


class Bindings(Struct, frozen=True):
    """Which queues there are."""

    version: int
    queues: tuple[str, ...]


class Journal:
    """The files' content. It is ahead of the disk by what is being written.

    `folder`: where its own files are. `epoch`: how many times it was opened. `position`: the number of the last record.
    `messages`: those that were sent and not acknowledged, by number. `duplicates`: the ids that are remembered for each
    address, oldest first. `branches`: prepared transactions, by name.
    """

    __slots__ = (
        "_base",
        "_depth",
        "_options",
        "branches",
        "duplicates",
        "epoch",
        "folder",
        "messages",
        "next_number",
        "position",
        "queues",
    )

    def __init__(self, options: BrokerOptions, folder: str = "") -> None:
        self._options = options
        self._base = 0
        self._depth: dict[str, int] = {}
        self.folder = folder
        self.epoch = 0
        self.position = 0
        self.next_number = 1
        self.messages: dict[int, Stored] = {}
        self.duplicates: dict[str, dict[str, None]] = {}
        self.branches: dict[str, Branch] = {}
        self.queues: list[str] = []

    def has(self, outgoing: Outgoing) -> bool:
        """Whether a message with its duplicate id was sent to its address before."""
        ids = self.duplicates.get(outgoing.address)
        return ids is not None and outgoing.duplicate_id in ids

    def append(
        self,
        outgoing: Sequence[Outgoing],
        acknowledged: tuple[int, ...],
        ended: str = "",
        remembered: tuple[tuple[str, str], ...] = (),
        numbers: Sequence[int] | None = None,
    ) -> tuple[Changes, tuple[Stored, ...]]:
        """A commit as changes of files, and the messages as they are stored. `ended`: of this branch, which must be
        there; `remembered`: addresses and duplicate ids of messages besides, which are not stored; `numbers`: of the
        messages, by `number`, where there are such besides."""
        changes: list[tuple[str, bytes | None]] = []
        sent: list[Stored] = []
        kept: list[Stored] = []
        for index, message in enumerate(outgoing):
            stored = self._place(message, self.number() if numbers is None else numbers[index])
            kept.append(stored)
            if stored.where:
                changes.append((stored.where, stored.body))
                stored = msgspec.structs.replace(stored, body=b"")
            sent.append(stored)
        for number in acknowledged:
            where = self.messages[number].where
            if where:
                changes.append((where, None))
        if self._bind(message.address for message in outgoing):
            changes.append((f"{self.folder}bindings/queues", encode(Bindings(VERSION, tuple(self.queues)))))
        if ended:
            del self.branches[ended]
        self._apply(kept, acknowledged)
        self.remember((*((one.queue, one.duplicate_id) for one in kept), *remembered))
        changes.append(self._record(Entry(self.epoch, tuple(sent), acknowledged, None, ended, remembered)))
        return tuple(changes), tuple(kept)

    def prepare(self, branch: Branch) -> Changes:
        """A branch is kept until it ends, and its messages wait."""
        self.branches[branch.name] = branch
        return (self._record(Entry(self.epoch, (), (), branch)),)

    def roll_back(self, name: str) -> Changes:
        """A branch ends without effect."""
        del self.branches[name]
        return (self._record(Entry(self.epoch, (), (), None, name)),)

    def number(self) -> int:
        """A number for a message, in the order in which they are sent."""
        self.next_number += 1
        return self.next_number - 1

    def held(self) -> set[int]:
        """The messages that prepared branches acknowledge: nobody else gets them."""
        return {number for branch in self.branches.values() for number in branch.acknowledged}

    def remember(self, ids: Iterable[tuple[str, str]]) -> None:
        """Keeps duplicate ids of addresses, and forgets the oldest beyond the size of the cache."""
        for address, duplicate_id in ids:
            if not duplicate_id:
                continue
            known = self.duplicates.setdefault(address, {})
            known[duplicate_id] = None
            if len(known) > self._options.id_cache_size:
                del known[next(iter(known))]

    def wants_compacting(self) -> bool:
        """Whether there are so many records that they should become one."""
        return self.position - self._base >= self._options.compact_after

    def compact(self, folder: str | None = None) -> Changes:
        """All records as one. `folder`: where to write from now on, if not where it was."""
        old = [self._record_key(n) for n in range(self._base + 1, self.position + 1)]
        if folder is not None and folder != self.folder:
            old.extend((f"{self.folder}journal/base", f"{self.folder}bindings/queues"))
            self.folder = folder
        self._base = self.position
        base = Base(
            VERSION,
            self.epoch,
            self.position,
            self.next_number,
            tuple(msgspec.structs.replace(m, body=b"") if m.where else m for m in self.messages.values()),
            tuple((address, tuple(ids)) for address, ids in self.duplicates.items()),
            tuple(self.branches.values()),
        )
        return (
            *((key, None) for key in old),
            (f"{self.folder}bindings/queues", encode(Bindings(VERSION, tuple(self.queues)))),
            (f"{self.folder}journal/base", encode(base)),
        )

    def start_from(self, base: bytes | None, bindings: bytes | None) -> None:
        """Takes over a base. Errors: `Refused` for a file of another version, or none at all."""
        if bindings is not None:
            self._bind(decode(bindings, Bindings, "bindings").queues)
        if base is None:
            return
        content = decode(base, Base, "journal")
        self.epoch = content.epoch
        self.position = self._base = content.position
        self.next_number = content.next_number
        if self._options.persist_id_cache:
            for address, ids in content.duplicates:
                self.duplicates[address] = dict.fromkeys(ids)
        self.branches = {branch.name: branch for branch in content.branches}
        for message in content.messages:
            self._keep(message)

    def replay(self, raw: bytes) -> bool:
        """Takes over the next record. Returns whether it is one of this journal. Errors: `Refused`."""
        try:
            entry = msgpack.decode(raw, type=Entry)
        except (msgspec.DecodeError, UnicodeDecodeError) as problem:
            raise Refused(f"journal record {self.position + 1} cannot be read: {problem}") from None
        if entry.epoch != self.epoch:
            return False
        self.position += 1
        self._apply(entry.sent, entry.acknowledged)
        if self._options.persist_id_cache:
            self.remember((*((one.queue, one.duplicate_id) for one in entry.sent), *entry.remembered))
        if entry.prepared is not None:
            self.branches[entry.prepared.name] = entry.prepared
        if entry.ended:
            self.branches.pop(entry.ended, None)
        return True

    def open(self, folder: str | None = None) -> Changes:
        """A broker begins to write: from now on records of those before it do not count. `folder`: as in `compact`."""
        self.epoch += 1
        return self.compact(folder)

    def fill(self, number: int, body: bytes) -> None:
        """The body of a message that has a file of its own."""
        self.messages[number] = msgspec.structs.replace(self.messages[number], body=body)

    def outside(self) -> list[tuple[int, str]]:
        """Which messages have their bodies in files of their own: numbers and files."""
        return [(number, message.where) for number, message in self.messages.items() if message.where]

    def _place(self, message: Outgoing, number: int) -> Stored:
        where = ""
        if len(message.body) >= self._options.large_message_bytes:
            where = f"{self.folder}large-messages/{number}"
        elif self._depth.get(message.address, 0) >= self._options.page_after:
            where = f"{self.folder}pages/{message.address}/{number}"
        return Stored(number, message.address, message.duplicate_id, message.body, where)

    def _apply(self, sent: Sequence[Stored], acknowledged: Sequence[int]) -> None:
        for message in sent:
            self._keep(message)
        for number in acknowledged:
            gone = self.messages.pop(number, None)
            if gone is not None:
                self._depth[gone.queue] -= 1

    def _keep(self, message: Stored) -> None:
        self.messages[message.number] = message
        self._depth[message.queue] = self._depth.get(message.queue, 0) + 1
        if message.number >= self.next_number:
            self.next_number = message.number + 1

    def _bind(self, queues: Iterable[str]) -> bool:
        new = [queue for queue in dict.fromkeys(queues) if queue not in self.queues]
        self.queues.extend(new)
        return bool(new)

    def _record(self, entry: Entry) -> tuple[str, bytes]:
        """The next record, as a file."""
        self.position += 1
        return self._record_key(self.position), encode(entry)

    def _record_key(self, position: int) -> str:
        return record_key(self.folder, position)


def record_key(folder: str, position: int) -> str:
    """The file of a journal record."""
    return f"{folder}journal/{position:012d}"


def from_files(files: Mapping[str, bytes], options: BrokerOptions) -> Journal:
    """The journal that a folder of files holds. Errors: `Refused`: a file is of another version, damaged or missing."""
    journal = Journal(options)
    journal.start_from(files.get("journal/base"), files.get("bindings/queues"))
    while (raw := files.get(record_key("", journal.position + 1))) is not None and journal.replay(raw):
        pass
    for number, where in journal.outside():
        body = files.get(where)
        if body is None:
            raise Refused(f"the file `{where}` is missing")
        journal.fill(number, body)
    return journal


def kind_of(name: str) -> int:
    """Of which kind a file is, as a position in `KINDS`; beyond the last for none of the broker's data."""
    word = name.partition("/")[0]
    return KINDS.index(word) if word in KINDS else len(KINDS)
