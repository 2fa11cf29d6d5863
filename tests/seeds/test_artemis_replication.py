"""Artemis replication, a pair forms and copies: one test for each rule of the documents.

"Manual" is "High Availability and Failover", "facts" is "Broker failover protocols"; A-R1 to A-R28 are choices.
"""

from __future__ import annotations

import pytest

from tests.seeds.artemis_replication import (
    BACKUP,
    PRIMARY,
    brokers,
    cut,
    grouped,
    in_sync,
    registered,
    serving,
    synchronize,
    taken_over,
)

# ---- a primary starts ----


def test_primary_that_finds_nobody_serves() -> None:
    """And announces itself to every voter.

    Source: facts, 2.4 (START), 2.6.
    """
    pair = brokers()
    assert pair.modes == ("starting", "locating")
    pair.take("start_primary", PRIMARY)
    assert (pair[PRIMARY].mode, pair.known(1), pair.known(2)) == ("active", PRIMARY, PRIMARY)


def test_primary_that_comes_back_finds_its_stand_in() -> None:
    """It moves its data away, and becomes the backup of its backup.

    Source: manual, check-for-live-server; facts, 2.4 (START), 2.10.
    """
    pair = taken_over()
    pair.take("restart Server", PRIMARY)
    pair.take("start_primary", PRIMARY)
    assert (pair[PRIMARY].mode, pair[PRIMARY].failing_back, pair[PRIMARY].complete) == ("locating", True, False)


def test_primary_that_does_not_look_serves_beside_its_stand_in() -> None:
    """check-for-live-server is off as shipped.

    Source: facts, 2.3; AR-7.
    """
    pair = taken_over(check_for_active="off")
    pair.take("restart Server", PRIMARY)
    pair.take("start_primary", PRIMARY)
    assert pair.modes == ("active", "active")
    assert not pair.holds("p1_one_serving")


def test_primary_that_reaches_nobody_serves() -> None:
    """Looking in vain and not being able to look are the same to it.

    Source: facts, 2.4 (START).
    """
    pair = taken_over(cuts="1")
    pair.take("restart Server", PRIMARY)
    cut(pair)
    pair.take("start_primary", PRIMARY)
    assert pair.modes == ("active", "active")


def test_primary_that_asks_before_it_starts_waits() -> None:
    """What would mend that: voters know who serves.

    Source: facts, 2.6, carried over to the start.
    """
    pair = taken_over(cuts="1", votes_at_start="on")
    pair.take("restart Server", PRIMARY)
    cut(pair)
    pair.take("start_primary", PRIMARY)
    assert pair.modes == ("starting", "active")


def test_topology_alone_makes_a_primary_the_backup_of_nobody() -> None:
    """Voters still have an entry, and nobody tries it.

    Source: AR-17.
    """
    pair = serving(crashes="1", trusts_topology="on")
    pair.restart(PRIMARY)
    pair.take("start_primary", PRIMARY)
    assert pair.modes == ("locating", "locating")


# ---- a backup finds a live server ----


def test_backup_waits_for_a_live_server() -> None:
    """It does not know whether its data is up to date, and never serves on its own account.

    Source: manual, Data Replication (note on shared store); facts, 2.5 (LOCATE).
    """
    pair = brokers()
    pair.take("locate", BACKUP)
    assert pair[BACKUP].mode == "locating"
    alone = brokers(serves_unpaired="on")
    alone.take("locate", BACKUP)
    assert alone[BACKUP].mode == "active"


def test_backup_registers_and_takes_on_the_node_id() -> None:
    """Its own data was moved away when it started.

    Source: facts, 2.5 (LOCATE).
    """
    pair = registered()
    assert (pair[BACKUP].mode, pair[BACKUP].node_id, pair[BACKUP].complete) == ("syncing", PRIMARY, False)
    assert pair[PRIMARY].link == pair[BACKUP].link is not None
    assert (pair[PRIMARY].phase, pair[PRIMARY].for_failback) == ("linked", False)


def test_live_server_has_one_backup() -> None:
    """A second one is told that there is one already, and goes on looking.

    Source: manual, Data Replication (no current backup); facts, 2.4 (backup registration).
    """
    spare = 3
    pair = registered(backups="2")
    pair.take("locate", spare)
    assert pair[spare].mode == "locating"
    assert (pair[PRIMARY].partner, pair[PRIMARY].link) == (BACKUP, pair[BACKUP].link)


def test_backup_tries_the_next_live_server() -> None:
    """The first one has a backup.

    Source: manual, Data Replication (each live server in turn).
    """
    two = brokers(primaries="2", backups="2")
    two.take("start_primary", 1)
    two.take("locate", 3)
    two.take("start_primary", 2)
    two.take("locate", 4)
    assert (two[3].partner, two[4].partner, two[4].node_id) == (1, 2, 2)
    stubborn = brokers(primaries="2", backups="2", tries_first_only="on")
    for server in (1, 2):
        stubborn.take("start_primary", server)
    for server in (3, 4):
        stubborn.take("locate", server)
    assert (stubborn[3].partner, stubborn[4].mode) == (1, "locating")


@pytest.mark.parametrize(("group", "then"), [("fish", "syncing"), ("bird", "locating")])
def test_backup_pairs_within_its_group(group: str, then: str) -> None:
    """One of another group goes on looking.

    Source: manual, Data Replication (group-name).
    """
    pair = grouped(group)
    pair.take("start_primary", PRIMARY)
    pair.take("locate", BACKUP)
    assert pair[BACKUP].mode == then


def test_primary_that_fails_back_looks_for_its_own_node_id() -> None:
    """Another pair's live server will not do.

    Source: facts, 2.5 (LOCATE), 2.10.
    """
    backup, other = 3, 2
    two = brokers(primaries="2", backups="1", crashes="1")
    two.take("start_primary", PRIMARY)
    two.take("locate", backup)
    synchronize(two)
    two.take("crash Server", PRIMARY)
    two.take("watch_link", backup)
    two.forget()
    two.take("ask_votes", backup)
    two.take("start_primary", other)
    two.take("restart Server", PRIMARY)
    two.take("start_primary", PRIMARY)
    two.take("locate", PRIMARY)
    assert two[PRIMARY].partner == backup


# ---- initial synchronization ----


def test_what_waits_is_written_before_files_are_listed() -> None:
    """So that it is among what is copied.

    Source: facts, 2.8 (2).
    """
    pair = registered(writes="split")
    pair.take("publish", PRIMARY)
    assert (pair[PRIMARY].pending, pair[PRIMARY].journal) == ({1}, frozenset())
    pair.take("freeze_files", PRIMARY)
    assert (pair[PRIMARY].journal, pair[PRIMARY].frozen) == ({1}, {1})


def test_without_that_it_is_nowhere() -> None:
    """It is neither in a file nor mirrored.

    Source: AR-14.
    """
    pair = registered(writes="split", snapshot_without_flush="on")
    pair.take("publish", PRIMARY)
    synchronize(pair)
    pair.take("publish.replicating", PRIMARY)
    pair.take("publish.writing", PRIMARY)
    assert (pair[PRIMARY].journal, pair[BACKUP].journal, pair.outbox) == ({1}, frozenset(), frozenset())
    assert not pair.holds("p9_replica_equals_after_quiesce")


def test_messages_that_come_during_the_copy_are_mirrored() -> None:
    """Clients are not kept waiting.

    Source: manual, Data Replication (in parallel with traffic); facts, 2.7, 2.8 (3).
    """
    pair = registered(messages="2")
    pair.take("publish", PRIMARY)
    pair.take("freeze_files", PRIMARY)
    pair.take("publish", PRIMARY)
    assert (pair[PRIMARY].frozen, pair[BACKUP].journal) == ({1}, {2})
    pair.take("copy_files", PRIMARY)
    assert (pair[BACKUP].journal, pair.outbox) == ({1, 2}, frozenset())


def test_backup_is_in_sync_after_the_last_message() -> None:
    """Not before.

    Source: manual, Data Replication (operational only after it); facts, 2.5 (SYNC), 2.8 (4).
    """
    pair = registered()
    pair.take("freeze_files", PRIMARY)
    pair.take("copy_files", PRIMARY)
    assert (pair[BACKUP].mode, pair[BACKUP].complete) == ("syncing", False)
    pair.take("finish_sync", PRIMARY)
    assert (pair[BACKUP].mode, pair[BACKUP].complete, pair[PRIMARY].phase) == ("in_sync", True, "done")


@pytest.mark.parametrize(("pairs", "then"), [("1", "stopping"), ("2", "stopping"), ("3", "active")])
def test_late_last_answer_stops_a_primary_of_a_small_cluster(pairs: str, then: str) -> None:
    """Its backup may be in sync, and take over by itself.

    Source: facts, 2.4 (SYNCING); AR-12.
    """
    pair = registered(pairs=pairs, late_acks="1")
    pair.take("freeze_files", PRIMARY)
    pair.take("copy_files", PRIMARY)
    pair.take("finish_sync", PRIMARY, choices=("answer lost", "answered"))
    assert (pair[PRIMARY].mode, pair[PRIMARY].link, pair[BACKUP].mode) == (then, None, "in_sync")


def test_primary_whose_backup_is_gone_during_synchronization_goes_on() -> None:
    """A failure is not a late answer.

    Source: facts, 2.4 (SYNCING).
    """
    pair = registered(pairs="1", crashes="1")
    pair.take("freeze_files", PRIMARY)
    pair.take("copy_files", PRIMARY)
    pair.take("crash Server", BACKUP)
    pair.take("finish_sync", PRIMARY)
    assert (pair[PRIMARY].mode, pair[PRIMARY].link) == ("active", None)


# ---- messages ----


def test_acknowledged_message_is_in_both_journals() -> None:
    """Written, replicated, acknowledged.

    Source: manual, Data Replication; facts, 2.7.
    """
    pair = in_sync()
    pair.take("publish", PRIMARY)
    assert (pair[PRIMARY].journal, pair[BACKUP].journal, pair.outbox) == ({1}, {1}, frozenset())


def test_replica_answers_when_it_has_received() -> None:
    """It writes some time later.

    Source: facts, 2.7; AR-15.
    """
    pair = in_sync(writes="split")
    pair.take("publish", PRIMARY)
    pair.take("publish.replicating", PRIMARY)
    assert (pair[BACKUP].pending, pair[BACKUP].journal, pair.outbox) == ({1}, frozenset(), {1})
    pair.take("publish.writing", PRIMARY)
    assert pair.outbox == frozenset()
    pair.take("write_out", BACKUP)
    assert (pair[BACKUP].pending, pair[BACKUP].journal) == (frozenset(), {1})


def test_message_is_acknowledged_by_one_when_the_replica_is_gone() -> None:
    """All that waits is released first; only then the server asks whether it may stay.

    Source: facts, 2.4 (REPLICATED), 2.7.
    """
    pair = in_sync(isolations="1")
    pair.take("isolate Server", PRIMARY)
    pair.take("publish", PRIMARY)
    assert (pair.outbox, pair[PRIMARY].mode, pair[BACKUP].journal) == (frozenset(), "stopping", frozenset())


def test_message_may_wait_for_the_vote() -> None:
    """What would mend that.

    Source: facts, 2.4 (REPLICATED), the other way round.
    """
    pair = in_sync(isolations="1", votes_before_release="on")
    pair.take("isolate Server", PRIMARY)
    pair.take("publish", PRIMARY)
    assert (pair.outbox, pair[PRIMARY].mode) == ({1}, "stopping")


def test_backup_takes_no_messages() -> None:
    """Only an active server does.

    Source: manual, Live - Backup Groups.
    """
    pair = in_sync()
    assert pair.can("publish", PRIMARY)
    assert not pair.can("publish", BACKUP)
    assert in_sync(backup_accepts="on").can("publish", BACKUP)


def test_message_that_is_sent_again_is_stored_once() -> None:
    """By its duplicate id; without one it is stored twice.

    Source: facts, 2.14; A-R25.
    """
    for ids, twice in (("off", frozenset()), ("on", {1})):
        pair = in_sync(lost_answers="1", no_duplicate_ids=ids)
        pair.take("publish", PRIMARY, choices=("answered", False))
        assert pair.outbox == {1}
        pair.take("publish", PRIMARY)
        assert (pair.outbox, pair.value("kept_twice")) == (frozenset(), twice)


def test_record_goes_to_the_local_journal_first() -> None:
    """It may refuse it; then the replica must not have it.

    Source: facts, 2.7; AR-24.
    """
    pair = in_sync(refusals="1")
    pair.take("refuse", PRIMARY)
    assert pair[BACKUP].journal == frozenset()
    before = in_sync(refusals="1", replicates_first="on")
    before.take("refuse", PRIMARY)
    assert (before[PRIMARY].journal, before[BACKUP].journal) == (frozenset(), {1})
