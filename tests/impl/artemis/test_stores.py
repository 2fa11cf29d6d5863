"""Where brokers have their data: each on a disk of its own with replication, all on one with a shared store."""

from __future__ import annotations

from typing import Any

import pytest

from hacheck.impl.node import Message, ReadShared
from hacheck.impl.protocols.artemis.messages import CreateSession, Outgoing, Produce, Replicate, SyncFiles
from hacheck.impl.protocols.artemis.shared_store.broker import STORE
from hacheck.impl.protocols.artemis.system import REPLICATION, SHARED_STORE
from hacheck.impl.stepper import Process
from hacheck.impl.system import System
from tests.impl.stage import Stage


def alone(system: System, **settings: object) -> Stage:
    """The primary of a pair serves; its backup was not started."""
    stage = Stage(system, 2, 0, **settings)
    stage.start("primary-1")
    stage.run(3)
    assert stage.serving() == ("primary-1",)
    return stage


def produce(stage: Stage, count: int) -> None:
    """A client by hand stores so many messages at the primary."""
    stage.tell("primary-1", CreateSession("hand.1", ""), "hand")
    for number in range(count):
        outgoing = Outgoing("orders", f"m-{number}", b".")
        stage.tell("primary-1", Produce("hand.1", number + 1, outgoing), "hand")
    stage.run(1)


def to_backup(stage: Stage) -> list[type[Message]]:
    """The kinds of messages that the primary has sent its backup."""
    return [type(message) for by, to, message in stage.sent if (by, to) == ("primary-1", "backup-1")]


def on_disk(stage: Stage, name: str) -> dict[str, bytes]:
    """What a broker has on its own disk, besides who it is."""
    return {key: value for key, value in stage.disks[name].items() if not key.startswith("identity")}


def test_replicated_pair_has_no_common_files_and_all_data_goes_over_the_network() -> None:
    """HornetQ manual, "Data Replication"."""
    stage = alone(REPLICATION)
    stage.start("backup-1")
    stage.run(3)
    produce(stage, 3)
    assert stage.shared == {}
    assert {SyncFiles, Replicate} <= set(to_backup(stage))
    assert on_disk(stage, "primary-1") == on_disk(stage, "backup-1")
    stage.part("primary-1", "backup-1")
    produce(stage, 6)
    assert on_disk(stage, "primary-1") != on_disk(stage, "backup-1")


def test_pair_over_a_shared_store_has_one_journal_and_replicates_nothing() -> None:
    """HornetQ manual, "Shared Store": the same data directory; no replication between live and backup."""
    stage = alone(SHARED_STORE)
    stage.start("backup-1")
    stage.run(3)
    before = dict(stage.shared[STORE])
    said = len(to_backup(stage))
    produce(stage, 3)
    assert stage.shared[STORE] != before
    assert [kind for kind in to_backup(stage)[said:] if "Sync" in kind.__name__ or "Replicat" in kind.__name__] == []
    assert [member.shared for member in stage.members if member.role in ("primary", "backup")] == [(STORE,), (STORE,)]
    assert on_disk(stage, "primary-1") == on_disk(stage, "backup-1") == {}


@pytest.mark.parametrize(("system", "takes_over"), [(REPLICATION, False), (SHARED_STORE, True)])
def test_only_over_a_shared_store_is_a_backup_of_full_use_right_after_its_start(
    system: System, takes_over: bool
) -> None:
    """HornetQ manual, "Data Replication": unlike with shared storage it has to finish synchronizing first."""
    stage = alone(system, **({"sync_batch": 1} if system is REPLICATION else {}))
    produce(stage, 400)
    stage.start("backup-1")
    if system is REPLICATION:
        stage.run_until("backup-1", "copying")
    else:
        stage.run(0.01)
    stage.crash("primary-1")
    stage.run(10)
    assert stage.serving() == (("backup-1",) if takes_over else ())


def seconds_until(stage: Stage, name: str, state: str) -> float:
    before = stage.now
    stage.run_until(name, state)
    return (stage.now - before) / 1_000_000


def synchronizing(count: int, batch: int) -> float:
    """How long a backup copies so many files."""
    stage = alone(REPLICATION, sync_batch=batch, large_message_bytes=1)
    produce(stage, count)
    stage.start("backup-1")
    stage.run_until("backup-1", "copying")
    return seconds_until(stage, "backup-1", "in sync")


def test_synchronizing_takes_the_longer_the_more_there_is_and_the_less_goes_at_a_time() -> None:
    """HornetQ manual, "Data Replication": it depends on the amount of data and on the connection."""
    assert synchronizing(400, 1) > 2 * synchronizing(100, 1)
    assert synchronizing(400, 1) > 2 * synchronizing(400, 16)


class Counting(Stage):
    """A stage that counts what is read of shared disks."""

    reads = 0

    def carried_out(self, process: Process, effect: Any) -> None:
        self.reads += isinstance(effect, ReadShared)
        super().carried_out(process, effect)


def loading(count: int) -> tuple[int, list[str]]:
    """How much a backup that takes over reads before it serves, and which messages it has then."""
    stage = Counting(SHARED_STORE, 2, 0, large_message_bytes=1)
    stage.start()
    stage.run(3)
    produce(stage, count)
    stage.crash("primary-1")
    stage.run_until("backup-1", "loading")
    before = stage.reads
    stage.run_until("backup-1", "active")
    broker = stage.nodes["backup-1"].broker  # type: ignore[attr-defined]
    return stage.reads - before, [one.duplicate_id for one in broker.server.journal.messages.values()]


def test_backup_that_takes_over_reads_the_more_the_more_there_is() -> None:
    """HornetQ manual, "Shared Store": it needs to load the journal, which depends on the amount of data."""
    few, of_few = loading(5)
    many, of_many = loading(50)
    assert (len(of_few), len(of_many)) == (5, 50)
    assert many - few >= 45


@pytest.mark.parametrize(("system", "serves"), [(REPLICATION, False), (SHARED_STORE, True)])
def test_only_over_a_shared_store_a_backup_that_finds_no_live_server_serves(system: System, serves: bool) -> None:
    """HornetQ manual, "Data Replication": the other one keeps waiting for a live server."""
    stage = alone(system)
    produce(stage, 3)
    stage.crash("primary-1")
    stage.run(1)
    stage.start("backup-1")
    stage.run(30)
    assert stage.serving() == (("backup-1",) if serves else ())


def test_groups_with_as_many_backups_as_live_servers_are_all_paired() -> None:
    """HornetQ manual, "Data Replication", the example: each backup of a group with a live server of it."""
    stage = Stage(REPLICATION, 8, 0, groups=2)
    stage.start()
    stage.run(15)
    primaries = [member.name for member in stage.members if member.role == "primary"]
    assert len(primaries) == 4
    assert {stage.state(name) for name in primaries} == {"active, replicated"}
