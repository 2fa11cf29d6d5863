"""Brokers with replication: the initial copy, what an answer means, votes, failback, isolation."""

from __future__ import annotations

import pytest

from hacheck.impl.protocols.artemis.messages import StopServer, SyncFiles
from hacheck.impl.protocols.artemis.replication.broker import SAVED
from hacheck.impl.protocols.artemis.replication.server import TABLES
from hacheck.impl.protocols.artemis.replication.states import BROKER, OF_LOCK_MANAGERS, State
from hacheck.impl.protocols.artemis.system import REPLICATION
from tests.impl.stage import SECOND, Stage


def pairs(replicas: int = 2, clients: int = 1, **settings: object) -> Stage:
    stage = Stage(REPLICATION, replicas, clients, pause_us=50_000, **settings)
    stage.start()
    stage.run(4.5)
    count = sum(member.role == "primary" for member in stage.members)
    assert stage.serving() == tuple(f"primary-{n}" for n in range(1, count + 1))
    return stage


def test_every_state_has_a_function_that_enters_it() -> None:
    assert set(TABLES.enter) == set(BROKER.states) == set(State) - set(OF_LOCK_MANAGERS)


# ---- the copy ----


def test_replica_is_up_to_date_before_it_may_take_over() -> None:
    """Broker facts 2.5 and 2.8; HornetQ manual: only after it finishes synchronizing. A-R24: it asks all the same, and
    ends when it is ordered to take over."""
    stage = Stage(REPLICATION, 2, 1, pause_us=50_000, sync_batch=1)
    stage.start("primary-1", "client-1")
    stage.run(3)
    stage.start("backup-1")
    stage.run_until("backup-1", "copying")
    stage.crash("primary-1")
    stage.run(0.01)
    assert stage.serving() == ()
    assert stage.lines("backup-1") == [221109, 221066, 221084, 221083, 221068, 221071, 221002]
    assert stage.halted["backup-1"] == "the active server is gone, and not everything was copied"


def test_files_are_copied_by_kind() -> None:
    """Broker facts 2.8: journal, bindings, large messages, pages."""
    stage = Stage(REPLICATION, 2, 1, pause_us=20_000, large_message_bytes=100, page_after=1)
    stage.start("primary-1", "client-1")
    stage.run(8)
    stage.start("backup-1")
    stage.run(3)
    kinds = [message.kind for _, _, message in stage.sent if isinstance(message, SyncFiles)]
    assert list(dict.fromkeys(kinds)) == ["journal", "bindings", "large-messages", "pages"]
    assert stage.state("primary-1") == "active, replicated"
    mine, theirs = (
        {key: value for key, value in stage.disks[name].items() if not key.startswith(("identity", SAVED))}
        for name in ("primary-1", "backup-1")
    )
    stage.run(0.001)
    assert mine == theirs


def test_writes_during_the_copy_are_mirrored() -> None:
    """Broker facts 2.8, phase 3."""
    stage = Stage(REPLICATION, 2, 1, pause_us=1_000, sync_batch=1)
    stage.start("primary-1", "client-1")
    stage.run(2)
    stage.start("backup-1")
    stage.run(2)
    stage.crash("primary-1")
    stage.run(5)
    assert stage.serving() == ("backup-1",)
    assert stage.verdict() == []


@pytest.mark.parametrize("ack", ["received", "written"])
def test_answer_waits_for_the_replica(ack: str) -> None:
    """Broker facts 2.7; AR-15: by default the replica answers what it has received."""
    stage = pairs(replica_ack=ack)
    stage.slow.add("backup-1")
    since = stage.now
    stage.run(2)
    told = [at for at, _, record in stage.log if record.event == "told" and at > since + 10_000]
    assert bool(told) is (ack == "received")


def test_answer_does_not_wait_for_a_replica_that_is_lost() -> None:
    """Broker facts 2.4: release all pending waits."""
    stage = pairs()
    stage.part("backup-1", "primary-1")
    since = stage.now
    stage.run(6)
    assert 222092 in stage.lines("primary-1")
    assert [at for at, _, record in stage.log if record.event == "told" and at > since + 5 * SECOND]


def test_spare_backup_waits_and_follows() -> None:
    """HornetQ manual: it tries each live server in turn until it finds one without a backup."""
    stage = pairs(replicas=3, pairs=1, clients=0)
    states = {stage.state("backup-1"), stage.state("backup-2")}
    assert states == {"in sync", "locating an active server"}
    chosen = next(name for name in ("backup-1", "backup-2") if stage.state(name) == "in sync")
    stage.crash(chosen)
    stage.run(5)
    assert stage.state("primary-1") == "active, replicated"


def test_backup_pairs_within_its_group() -> None:
    """HornetQ manual, `group-name`."""
    stage = Stage(REPLICATION, 4, 0, groups=2)
    stage.start("backup-1", "primary-2")
    stage.run(10)
    assert stage.state("backup-1") == "locating an active server"
    stage.start("primary-1")
    stage.run(5)
    assert stage.state("primary-1") == "active, replicated"
    assert stage.state("primary-2") == "active alone"


def test_old_data_are_laid_aside_and_the_oldest_dropped() -> None:
    """Broker facts 2.3, `max-saved-replicated-journals-size`; 221055."""
    stage = pairs(clients=0)
    for _ in range(3):
        stage.crash("backup-1")
        stage.start("backup-1")
        stage.run(4)
    folders = {key.partition("/")[0] for key in stage.disks["backup-1"] if key.startswith(SAVED)}
    assert folders == {"oldreplica.2", "oldreplica.3"}
    assert 221055 in stage.lines("backup-1")


def test_no_old_data_are_kept_where_none_are_wanted() -> None:
    """Broker facts 2.3: 0 = delete own data outright."""
    stage = pairs(clients=0, max_saved_replicated_journals_size=0)
    stage.crash("backup-1")
    stage.start("backup-1")
    stage.run(4)
    assert [key for key in stage.disks["backup-1"] if key.startswith(SAVED)] == []


# ---- taking over ----


def test_backup_takes_over_with_everything_that_was_acknowledged() -> None:
    """HornetQ manual, "Data Replication"."""
    stage = pairs()
    stage.run(2)
    stage.crash("primary-1")
    stage.run(8)
    assert stage.serving() == ("backup-1",)
    assert 221037 in stage.lines("backup-1")
    assert stage.verdict() == []


def test_lone_pair_splits_when_its_link_is_cut() -> None:
    """AR-1: no vote is needed; both serve. That is the documented protocol."""
    stage = pairs(clients=0)
    stage.part("backup-1", "primary-1")
    stage.run(6)
    assert stage.serving() == ("primary-1", "backup-1")
    assert 221083 in stage.lines("backup-1")
    assert "one-active" in stage.promises_broken()
    stage.heal()
    stage.run(2)
    assert 222295 in stage.lines("primary-1")


def test_quorum_of_two_keeps_a_lone_pair_from_splitting_and_from_failing_over() -> None:
    """Broker facts 2.6: quorum-size=2 on a single pair never activates."""
    stage = pairs(clients=0, quorum_size=2, vote_retries=1)
    stage.part("backup-1", "primary-1")
    stage.run(20)
    assert stage.serving() == ("primary-1",)
    stage = pairs(clients=0, quorum_size=2, vote_retries=1)
    stage.crash("primary-1")
    stage.run(20)
    assert stage.serving() == ()


def test_others_keep_a_backup_from_replacing_a_server_that_lives() -> None:
    """Broker facts 2.5, 2.6: yes iff the node has no active connector in the voter's topology."""
    stage = pairs(replicas=6, clients=0, vote_retries=2)
    stage.part("backup-1", "primary-1")
    stage.run(30)
    assert stage.serving() == ("primary-1", "primary-2", "primary-3")
    assert 221070 in stage.lines()
    assert stage.promises_broken() == set()


def test_others_agree_when_it_is_gone() -> None:
    stage = pairs(replicas=6, clients=0)
    stage.crash("primary-1")
    stage.run(12)
    assert len(stage.serving()) == 3
    assert 221071 in stage.lines()


def test_isolated_backup_of_three_pairs_does_not_take_over() -> None:
    """HornetQ manual: if more than half the servers also disappeared with the live, the backup will wait."""
    stage = pairs(replicas=6, clients=0, vote_retries=1)
    everybody = [member.name for member in stage.members if member.name != "backup-1"]
    stage.part("backup-1", *everybody)
    stage.run(60)
    assert stage.serving() == ("primary-1", "primary-2", "primary-3")
    stage.heal()
    stage.run(6)
    assert stage.promises_broken() == set()
    assert {stage.state(f"backup-{n}") for n in (1, 2, 3)} == {"in sync"}


def test_primary_that_others_have_replaced_stops_where_it_votes_to_stay() -> None:
    """Broker facts 2.4, `vote-on-replication-failure`; 224098."""
    stage = pairs(replicas=6, clients=0, vote_on_replication_failure=True)
    others = [member.name for member in stage.members if member.name != "primary-1"]
    stage.part("primary-1", *others)
    stage.run(30)
    assert "primary-1" in stage.halted
    assert len(stage.serving()) == 3


def test_orderly_stop_of_the_primary_is_a_failover() -> None:
    """HornetQ manual: when the live server stops or crashes, its replicating backup will become active."""
    stage = pairs()
    stage.tell("primary-1", StopServer(False))
    stage.run(6)
    assert stage.serving() == ("backup-1",)
    assert stage.verdict() == []


def test_backup_whose_primary_goes_on_without_it_is_no_copy_any_more() -> None:
    """AR-13: a replica that is given up hears of it, and does not take over."""
    stage = pairs(replica_ack="written", replica_slow_us=2 * SECOND)
    stage.slow.add("backup-1")
    stage.run(5)
    assert 222207 in stage.lines("primary-1")
    assert stage.serving() == ("primary-1",)
    stage.crash("primary-1")
    stage.run(5)
    assert stage.serving() == ()


# ---- starting, and failback ----


def test_returning_primary_copies_and_gets_its_node_back() -> None:
    """HornetQ manual, `check-for-live-server`; broker facts 2.10; 221039."""
    stage = pairs()
    stage.crash("primary-1")
    stage.run(6)
    stage.start("primary-1")
    stage.run(8)
    assert stage.serving() == ("primary-1",)
    assert 221039 in stage.lines("backup-1")
    stage.run(3)
    assert stage.state("primary-1") == "active, replicated"
    assert stage.verdict() == []


def test_lines_of_a_failback_are_those_of_the_product() -> None:
    """`tests/data/artemis/replication-crash_and_failback`: the same lines in the same order, but for 221068, which that
    release writes only of votes that somebody gave, and 221024, which stands before 221031."""
    stage = pairs(clients=0)
    stage.crash("primary-1")
    stage.run(6)
    since = stage.now
    stage.start("primary-1")
    stage.run(8)
    in_sync, asked = [221109, 221024, 221031], [221066, 221084, 221083, 221068, 221071]
    assert stage.lines("primary-1")[:2] == [221007, 221001]
    assert stage.lines("primary-1", since)[:5] == [*in_sync, 221037, 221007]
    assert stage.lines("backup-1") == [*in_sync, *asked, 221037, 221007, 221002, 221039, *in_sync]


def test_backup_that_was_just_started_needs_the_votes_of_a_cluster_of_three() -> None:
    """Broker facts 2.6: the largest cluster size ever seen; A-R21: the topology is passed on."""
    stage = pairs(replicas=6, clients=0, groups=3, vote_retries=1)
    stage.crash("backup-1")
    others = ("primary-2", "primary-3", "backup-2", "backup-3")
    stage.part("backup-1", *others)
    stage.start("backup-1")
    stage.run(4)
    assert stage.state("backup-1") == "in sync"
    stage.part("backup-1", "primary-1")
    stage.run(8)
    assert "backup-1" not in stage.serving()
    assert stage.fields("vote_begun", "backup-1")[0]["needed"] == 2


def test_backup_that_may_not_fail_back_keeps_the_primary_as_its_replica() -> None:
    """HornetQ manual, `allow-failback`."""
    stage = pairs(allow_failback=False)
    stage.crash("primary-1")
    stage.run(6)
    stage.start("primary-1")
    stage.run(6)
    assert stage.serving() == ("backup-1",)
    assert stage.state("primary-1") == "in sync"


def test_primary_that_is_not_to_check_splits_its_node() -> None:
    """AR-7: the value must be true where a live server is restarted after a failover."""
    stage = pairs(check_for_active_server=False)
    stage.crash("primary-1")
    stage.run(6)
    stage.start("primary-1")
    stage.run(3)
    assert set(stage.serving()) == {"primary-1", "backup-1"}
    assert "one-active" in stage.promises_broken()


@pytest.mark.parametrize("hardened", [False, True])
def test_primary_with_half_a_copy_does_not_serve_it(hardened: bool) -> None:
    """Broker facts P3: no activation from a copy not known complete. Who has the whole one starts as a backup, lays it
    aside and waits as well: then somebody must decide, unless the last server starts by itself."""
    stage = pairs(sync_batch=1, last_server_starts=hardened)
    stage.crash("primary-1")
    stage.run(6)
    stage.start("primary-1")
    stage.run_until("primary-1", "copying")
    stage.crash("primary-1")
    stage.crash("backup-1")
    stage.start("primary-1")
    stage.run(30)
    assert stage.serving() == ()
    stage.start("backup-1")
    stage.run(30)
    assert len(stage.serving()) == hardened


@pytest.mark.parametrize("hardened", [False, True])
def test_stale_primary_that_starts_first(hardened: bool) -> None:
    """AR-8: both replicate; the primary dies; the backup serves alone and dies; the primary starts with older data. Who
    restarts them must know which one to start; `last_server_starts` does."""
    stage = pairs(last_server_starts=hardened)
    stage.crash("primary-1")
    stage.run(6)
    stage.crash("backup-1")
    stage.start("primary-1")
    stage.run(8)
    assert stage.serving() == (() if hardened else ("primary-1",))
    stage.start("backup-1")
    stage.run(20)
    assert len(stage.serving()) == 1
    assert ("acknowledged-kept" in stage.promises_broken()) is not hardened


def test_last_server_starts_after_both_died_together() -> None:
    """The replica was in sync and never served: it lays its copy aside, and the primary may start."""
    stage = pairs(last_server_starts=True)
    stage.crash("primary-1")
    stage.crash("backup-1")
    stage.start("primary-1")
    stage.run(10)
    assert stage.state("primary-1") == "undecided"
    stage.start("backup-1")
    stage.run(6)
    assert stage.serving() == ("primary-1",)
    assert stage.verdict() == []


def test_failed_write_ends_the_broker_and_the_backup_takes_over() -> None:
    """Broker facts 2.15: 222010, critical I/O."""
    stage = pairs()
    stage.failing.add("primary-1")
    stage.run(6)
    assert 222010 in stage.lines("primary-1")
    assert stage.serving() == ("backup-1",)
    assert stage.verdict() == []


# ---- the network check ----


def test_isolated_server_stops_and_starts_again_when_the_network_is_back() -> None:
    """Broker facts 2.4: health check fails: stop itself; auto-start again when healthy."""
    stage = pairs(network_check=True, clients=0)
    others = [member.name for member in stage.members if member.name != "primary-1"]
    stage.part("primary-1", *others)
    stage.run(12)
    assert stage.state("primary-1") == "isolated"
    assert stage.serving() == ("backup-1",)
    stage.heal()
    stage.run(20)
    assert stage.serving() == ("primary-1",), "it has come back, and got its node back"


def test_isolated_backup_does_not_take_over() -> None:
    """Broker facts 2.5: unhealthy -> 222213, RETRY."""
    stage = pairs(network_check=True, clients=0)
    others = [member.name for member in stage.members if member.name != "backup-1"]
    stage.part("backup-1", *others)
    stage.run(12)
    assert 222213 in stage.lines("backup-1")
    assert stage.serving() == ("primary-1",)
    assert stage.promises_broken() == set()
