"""The released misbehaviours of brokers with replication: each does what it did, and the default does not."""

from __future__ import annotations

import pytest

from hacheck.impl.node import Received, Send, Write
from hacheck.impl.protocols.artemis.messages import (
    CreateSession,
    Outgoing,
    Produce,
    Replicate,
    StopCalled,
    SyncDone,
    Vote,
    VoteRequest,
)
from hacheck.impl.protocols.artemis.system import REPLICATION
from tests.impl.stage import SECOND, Stage

BOTH = pytest.mark.parametrize("bug", [True, False])


def pairs(replicas: int = 2, clients: int = 0, **settings: object) -> Stage:
    stage = Stage(REPLICATION, replicas, clients, **({"pause_us": 50_000} | settings))
    stage.start()
    stage.run(4.5)
    return stage


@BOTH
def test_vote_size_lets_an_isolated_backup_take_over(bug: bool) -> None:
    """AR-2: with 3 pairs the votes needed became 0."""
    stage = pairs(6, bug_vote_size=bug, vote_retries=1)
    stage.part("backup-1", *(m.name for m in stage.members if m.name != "backup-1"))
    stage.run(60)
    assert ("backup-1" in stage.serving()) is bug


@BOTH
def test_voters_that_were_reached_say_yes(bug: bool) -> None:
    """AR-3: a backup that lost only the link to its live activates with full agreement."""
    stage = pairs(6, bug_vote_on_reachability=bug, vote_retries=1)
    primary = stage.nodes["backup-1"].broker.primary.primary  # type: ignore[attr-defined]
    stage.part("backup-1", primary)
    stage.run(30)
    assert ("backup-1" in stage.serving()) is bug


@BOTH
def test_healthy_primary_that_lost_its_backup_is_told_to_stop(bug: bool) -> None:
    """AR-4 (a): the stay-live request was answered like the other one."""
    stage = pairs(6, bug_stay_vote_inverted=bug, vote_on_replication_failure=True)
    stage.crash("backup-1")
    stage.run(3)
    assert bool(stage.halted) is bug


@BOTH
def test_backup_that_took_over_counts_as_the_primary(bug: bool) -> None:
    """AR-4 (b): the node was found, though with another connector: the old live stays."""
    stage = pairs(6, bug_stay_vote_by_node_id=bug)
    voter = stage.nodes["primary-2"].broker  # type: ignore[attr-defined]
    node_id = stage.nodes["primary-1"].broker.node_id  # type: ignore[attr-defined]
    voter.topology.entries[node_id].active = "backup-1"
    stage.inform("primary-2", Received("primary-1", VoteRequest("b", "stay", node_id)))
    (vote,) = [message for _, _, message in stage.sent if isinstance(message, Vote)]
    assert vote.yes is bug


@BOTH
def test_reachable_gateway_makes_up_for_a_lost_vote(bug: bool) -> None:
    """AR-6: cut only the link of the pair while both ping the gateway."""
    stage = pairs(6, bug_health_overrides_vote=bug, network_check=True, vote_retries=1)
    primary = stage.nodes["backup-1"].broker.primary.primary  # type: ignore[attr-defined]
    stage.part("backup-1", primary)
    stage.run(30)
    assert ("one-active" in stage.promises_broken()) is bug


@BOTH
def test_final_answer_that_comes_too_late(bug: bool) -> None:
    """AR-12: the primary goes on; the replica believes to be up to date."""
    stage = Stage(REPLICATION, 2, 0, bug_late_final_ack=bug, initial_replication_sync_timeout_us=SECOND)
    stage.start()
    stage.run_until_sent(SyncDone)
    stage.part("primary-1", "backup-1")  # with the question there, and the answer not
    stage.cut.remove(("primary-1", "backup-1"))
    stage.run_until("backup-1", "in sync")
    stage.part("primary-1", "backup-1")
    stage.run(6)
    assert set(stage.serving()) == ({"primary-1", "backup-1"} if bug else {"backup-1"})
    assert ("primary-1" in stage.halted) is not bug


@BOTH
def test_slow_replica_is_given_up_without_a_word(bug: bool) -> None:
    """AR-13: it still believes to be in sync; the primary crashes; later answers are lost."""
    stage = pairs(
        clients=1, bug_channel_left_open=bug, replica_ack="written", replica_slow_us=2 * SECOND, vote_retries=1
    )
    stage.slow.add("backup-1")
    stage.run(5)
    stage.run(3)
    stage.unslow("backup-1")
    stage.crash("primary-1")
    stage.run(8)
    assert ("acknowledged-kept" in stage.promises_broken()) is bug


@BOTH
def test_what_is_being_written_is_not_copied(bug: bool) -> None:
    """AR-14: records neither in the copied files nor mirrored."""
    stage = Stage(REPLICATION, 2, 1, pause_us=50_000, bug_pending_left_out=bug)
    stage.start("primary-1", "client-1")
    stage.run(3)
    stage.slow.add("primary-1")
    stage.run(1)  # a record is being written
    stage.start("backup-1")
    stage.run_until("primary-1", "active, replica being synchronized")
    stage.unslow("primary-1")
    stage.run(3)
    stage.crash("primary-1")
    stage.run(8)
    assert bool(stage.promises_broken() & {"acknowledged-kept"}) is bug


@BOTH
def test_failback_by_sleeping_loses_the_node(bug: bool) -> None:
    """AR-16: the active backup stops before the returning live has all data."""
    stage = pairs(clients=1, bug_failback_by_sleeping=bug, fail_over_wait_us=100_000)
    stage.crash("primary-1")
    stage.run(6)
    stage.start("primary-1")
    stage.run_until_sent(SyncDone)
    stage.slow.add("primary-1")  # which takes longer than the sleep
    stage.run(2)
    assert ("primary-1" in stage.halted) is bug
    assert bool(stage.serving()) is not bug


@BOTH
def test_ghost_of_a_node(bug: bool) -> None:
    """AR-17: backup crashes, then its live crashes; the restarted live becomes a backup of nobody."""
    stage = pairs(4, bug_topology_unprobed=bug)
    stage.crash(stage.nodes["primary-1"].broker.replica.replica)  # type: ignore[attr-defined]
    stage.run(1)
    stage.nodes["primary-2"].broker.topology.last[  # type: ignore[attr-defined]
        stage.nodes["primary-1"].broker.node_id  # type: ignore[attr-defined]
    ] = "backup-1"
    stage.crash("primary-1")
    stage.start("primary-1")
    stage.run(60)
    assert ("primary-1" in stage.serving()) is not bug


@BOTH
def test_useless_vote_during_failback(bug: bool) -> None:
    """AR-18: the returning primary takes the other's orderly end for a failure, and calls for a vote that fails."""
    stage = pairs(6, bug_vote_in_failback=bug, vote_retries=1)
    backup = stage.nodes["primary-1"].broker.replica.replica  # type: ignore[attr-defined]
    stage.crash("primary-1")
    stage.run(12)
    assert backup in stage.serving()
    stage.start("primary-1")
    since = stage.now
    stage.run(10)
    assert [m for _, _, m in stage.sent if isinstance(m, StopCalled)]
    assert (221066 in stage.lines("primary-1", since)) is bug


@BOTH
def test_replica_has_a_record_that_its_primary_never_had(bug: bool) -> None:
    """AR-24: the record goes to the replica before it is written here; a crash comes in between."""
    stage = pairs(bug_replicate_first=bug)
    stage.tell("primary-1", CreateSession("me.1", ""), "me")
    node = stage.nodes["primary-1"]
    effects = node.handle(Received("me", Produce("me.1", 1, Outgoing("q", "a", b""))), stage.now)
    kinds = [type(e) for e in effects if isinstance(e, Write) or (isinstance(e, Send) and type(e.message) is Replicate)]
    assert kinds == ([Send, Write] if bug else [Write, Send])
