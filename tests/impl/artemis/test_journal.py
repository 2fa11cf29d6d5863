"""The journal: what it keeps, what it refuses to read."""

from __future__ import annotations

import msgspec
import pytest

from hacheck.impl.kit.storage import encode
from hacheck.impl.node import Setup
from hacheck.impl.protocols.artemis.journal import Base, Branch, Journal, from_files, kind_of
from hacheck.impl.protocols.artemis.messages import Outgoing
from hacheck.impl.protocols.artemis.options import ReplicationOptions
from hacheck.impl.protocols.artemis.replication.broker import IDENTITY_KEY, Identity
from hacheck.impl.protocols.artemis.system import REPLICATION
from hacheck.impl.system import Refused

OPTIONS = ReplicationOptions(large_message_bytes=100, page_after=3, id_cache_size=4)


class Disk:
    """A journal and the files it has written."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.journal = Journal(OPTIONS)
        self.do(self.journal.open())

    def do(self, changes: tuple[tuple[str, bytes | None], ...]) -> None:
        for key, value in changes:
            if value is None:
                del self.files[key]
            else:
                self.files[key] = value

    def send(self, *names: str, body: bytes = b"x", done: tuple[int, ...] = ()) -> None:
        self.do(self.journal.append(tuple(Outgoing("q", name, body) for name in names), done)[0])

    def read(self) -> Journal:
        return from_files(self.files, OPTIONS)


def names(journal: Journal) -> list[str]:
    return [message.duplicate_id for message in journal.messages.values()]


def test_what_was_written_is_read_again() -> None:
    disk = Disk()
    disk.send("a", "b")
    disk.send("c", done=(1,))
    assert names(disk.read()) == ["b", "c"]
    assert disk.read().next_number == 4
    assert disk.read().has(Outgoing("q", "a", b""))


def test_commit_is_one_record() -> None:
    """Broker facts P7: a transaction is there or not."""
    disk = Disk()
    before = len(disk.files)
    disk.send("a", "b", "c")
    assert [name for name in disk.files if name.startswith("journal/")][1:] == ["journal/000000000001"]
    assert len(disk.files) == before + 1


def test_compacting_changes_nothing_but_the_files() -> None:
    disk = Disk()
    for name in "abcdef":
        disk.send(name)
    disk.send("g", done=(2, 3))
    before = disk.read()
    disk.do(disk.journal.compact())
    after = disk.read()
    assert names(after) == names(before)
    assert after.duplicates == before.duplicates
    assert [name for name in disk.files if name.startswith("journal/")] == ["journal/base"]
    disk.send("h")
    assert names(disk.read())[-1] == "h"


def test_large_bodies_and_those_of_long_queues_have_files_of_their_own() -> None:
    """Broker facts 2.8: large messages and pages are files that are copied on their own."""
    disk = Disk()
    disk.send("big", body=b"y" * 200)
    for name in "abc":
        disk.send(name)
    kinds = {name.partition("/")[0] for name in disk.files}
    assert kinds == {"journal", "bindings", "large-messages", "pages"}
    assert disk.read().messages[1].body == b"y" * 200
    disk.send("d", done=(1, 2, 3, 4))
    assert [name for name in disk.files if kind_of(name) == 2] == []


def test_oldest_duplicate_id_is_forgotten_when_the_cache_is_full() -> None:
    """Broker facts 2.14: a circular cache for each address."""
    disk = Disk()
    for name in "abcde":
        disk.send(name)
    assert not disk.read().has(Outgoing("q", "a", b""))
    assert disk.read().has(Outgoing("q", "b", b""))


def test_record_behind_one_that_failed_does_not_come_back() -> None:
    disk = Disk()
    disk.send("a")
    kept = dict(disk.files)
    disk.send("lost")
    disk.send("stranded")
    del disk.files["journal/000000000002"]  # its write failed; the broker ended
    second = disk.read()
    assert names(second) == ["a"]
    disk.journal = second
    disk.do(second.open())
    disk.send("b")
    assert names(disk.read()) == ["a", "b"], "the stranded record is of an older epoch"
    assert "journal/000000000003" in disk.files
    assert "journal/000000000001" in kept


def test_newer_version_is_refused() -> None:
    disk = Disk()
    base = msgspec.msgpack.decode(disk.files["journal/base"], type=Base)
    disk.files["journal/base"] = encode(msgspec.structs.replace(base, version=2))
    with pytest.raises(Refused, match="version 2"):
        disk.read()


def test_damaged_journal_is_refused() -> None:
    disk = Disk()
    disk.send("a")
    disk.files["journal/000000000001"] = b"\xc1"
    with pytest.raises(Refused, match="record 1"):
        disk.read()


def test_missing_body_is_refused() -> None:
    disk = Disk()
    disk.send("big", body=b"y" * 200)
    del disk.files["large-messages/1"]
    with pytest.raises(Refused, match="large-messages/1"):
        disk.read()


def test_broker_with_a_newer_disk_does_not_start() -> None:
    options = REPLICATION.options({})
    members = REPLICATION.members(2, 0, options)
    durable = {IDENTITY_KEY: encode(Identity(9, "n", "alone"))}
    with pytest.raises(Refused, match="version 9"):
        REPLICATION.start(members[0], members, Setup("primary-1", 0, durable, options))


def test_prepared_branch_is_kept_until_it_ends_and_its_messages_come_with_its_commit() -> None:
    """Broker facts 2.13: what is prepared is in the journal, and nobody else gets what it acknowledges."""
    disk = Disk()
    disk.send("a")
    disk.do(disk.journal.prepare(Branch("x", (Outgoing("q", "b", b"b"),), (1,))))
    disk.do(disk.journal.prepare(Branch("y", (Outgoing("q", "c", b"c"),), ())))
    again = disk.journal = disk.read()
    assert list(again.branches) == ["x", "y"]
    assert again.held() == {1}
    assert [message.duplicate_id for message in again.messages.values()] == ["a"]
    disk.do(again.compact())
    branch = disk.read().branches["x"]
    disk.do(again.append(branch.outgoing, branch.acknowledged, "x")[0])
    disk.do(again.roll_back("y"))
    last = disk.read()
    assert last.branches == {}
    assert [message.duplicate_id for message in last.messages.values()] == ["b"]
    assert list(last.duplicates["q"]) == ["a", "b"]


def test_ids_that_are_not_persistent_are_gone_with_the_process() -> None:
    """Broker facts 2.14: persist-id-cache."""
    journal = Journal(OPTIONS)
    changes, _ = journal.append((Outgoing("q", "a", b"a"),), (), "", (("q", "b"),))
    assert list(journal.duplicates["q"]) == ["a", "b"]
    files = {key: value for key, value in changes if value is not None}
    assert list(from_files(files, OPTIONS).duplicates["q"]) == ["a", "b"]
    forgetful = ReplicationOptions(persist_id_cache=False)
    assert from_files(files, forgetful).duplicates == {}
