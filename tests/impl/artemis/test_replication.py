"""Brokers with replication: what no scenario shows, as it needs a hand inside a broker."""

from __future__ import annotations

import pytest

from hacheck.impl.node import Received, Send, Write
from hacheck.impl.protocols.artemis.messages import (
    CreateSession,
    Outgoing,
    Produce,
    Replicate,
    Vote,
    VoteRequest,
)
from hacheck.impl.protocols.artemis.system import REPLICATION
from tests.impl.stage import Stage

BOTH = pytest.mark.parametrize("bug", [True, False])


def pairs(replicas: int = 2, clients: int = 0, **settings: object) -> Stage:
    stage = Stage(REPLICATION, replicas, clients, **({"pause_us": 50_000} | settings))
    stage.start()
    stage.run(4.5)
    return stage


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
def test_replica_has_a_record_that_its_primary_never_had(bug: bool) -> None:
    """AR-24: the record goes to the replica before it is written here; a crash comes in between."""
    stage = pairs(bug_replicate_first=bug)
    stage.tell("primary-1", CreateSession("me.1", ""), "me")
    node = stage.nodes["primary-1"]
    effects = node.handle(Received("me", Produce("me.1", 1, Outgoing("q", "a", b""))), stage.now)
    kinds = [type(e) for e in effects if isinstance(e, Write) or (isinstance(e, Send) and type(e.message) is Replicate)]
    assert kinds == ([Send, Write] if bug else [Write, Send])
