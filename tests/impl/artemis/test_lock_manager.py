"""Replication with a lock manager: who may serve, and what is claimed before it serves alone, rule by rule."""

from __future__ import annotations

from typing import Any

import pytest

from hacheck.impl.kit.storage import decode, encode
from hacheck.impl.protocols.artemis.journal import VERSION
from hacheck.impl.protocols.artemis.lock_manager.broker import SEQUENCE_KEY
from hacheck.impl.protocols.artemis.lock_manager.manager import KEPT, Kept
from hacheck.impl.protocols.artemis.lock_manager.messages import ForceSequence, ManagerRequest
from hacheck.impl.protocols.artemis.lock_manager.options import LockManagerOptions
from hacheck.impl.protocols.artemis.lock_manager.replication import TABLES
from hacheck.impl.protocols.artemis.lock_manager.states import LOCKED_BROKER, Standing, standing
from hacheck.impl.protocols.artemis.lock_manager.system import LOCK_MANAGED
from hacheck.impl.protocols.artemis.messages import CreateSession, Outgoing, Produce
from hacheck.impl.system import Refused
from tests.impl.stage import Stage


def pair(**settings: object) -> Stage:
    """The primary serves, the backup is in sync and announced."""
    stage = Stage(LOCK_MANAGED, **settings)
    stage.start("manager-1", "primary-1")
    stage.run(1)
    stage.start("backup-1")
    stage.run_until("backup-1", "in sync")
    stage.run(0.01)
    return stage


def own(stage: Stage, name: str) -> int | None:
    """The number of a broker's data, on its disk."""
    raw = stage.disks[name].get(SEQUENCE_KEY)
    return int(raw) if raw is not None else None


def kept(stage: Stage) -> Kept:
    """What the manager keeps of the pair."""
    (raw,) = [raw for key, raw in stage.disks["manager-1"].items() if key.startswith(KEPT)]
    return decode(raw, Kept, "lock manager's data")


def send(stage: Stage, broker: str, name: str) -> bool:
    """Sends a message. Returns whether it is acknowledged within half a second."""
    session = f"me.{name}"
    stage.tell(broker, CreateSession(session, ""), "me")
    stage.tell(broker, Produce(session, 1, Outgoing("q", name, b"")), "me")
    before = len(stage.sent)
    stage.run(0.5)
    return any(to == "me" and getattr(what, "outcome", "") == "ok" for _, to, what in stage.sent[before:])


def there(stage: Stage, broker: str) -> set[str]:
    """The messages of a broker that serves."""
    server: Any = stage.nodes[broker].server  # type: ignore[attr-defined]
    return {message.duplicate_id for message in server.journal.messages.values()}


def test_every_state_has_a_function_that_enters_it() -> None:
    assert set(TABLES.enter) == set(LOCKED_BROKER.states)


# ---- the number ----


@pytest.mark.parametrize(
    ("own_number", "coordinated", "expected"),
    [
        (3, 3, Standing.IN_SYNC),
        (3, 4, Standing.STALE),
        (3, -3, Standing.SELF_REPAIR),
        (3, -4, Standing.MAYBE_IN_SYNC),
        (3, -5, Standing.STALE),
        (-1, 0, Standing.STALE),
        (3, 0, Standing.STALE),
    ],
)
def test_the_two_numbers_say_whose_data_are_newest(own_number: int, coordinated: int, expected: Standing) -> None:
    """Broker facts 2.9, `validate`; lost coordination data are stale for everybody."""
    assert standing(own_number, coordinated, LockManagerOptions()) is expected


def test_server_claims_the_next_number_before_it_serves() -> None:
    """Broker facts 2.9, `ENSURE`."""
    stage = Stage(LOCK_MANAGED)
    stage.start("manager-1", "primary-1")
    stage.run(1)
    assert stage.serving() == ("primary-1",)
    events = stage.events("primary-1")
    claim = [name for name in events if name.startswith(("sequence", "role", "active"))]
    assert claim == ["sequence_seen", "sequence_claimed", "sequence_incremented", "role_assumed", "active"]
    assert (own(stage, "primary-1"), kept(stage).sequence) == (1, 1)


def test_replica_in_sync_has_the_number_of_its_primary_on_disk_when_it_is_announced() -> None:
    """Broker facts 2.9: the replica stores the sequence, and persists it at the announcement."""
    stage = pair()
    assert own(stage, "backup-1") == 1
    assert "backup_announced" in stage.events("backup-1")


def test_nobody_is_answered_between_the_loss_of_the_replica_and_the_next_number() -> None:
    """Broker facts 2.9: REPLICATED, replica link lost: ENSURE again; the old replica is stale from then on."""
    stage = pair()
    stage.part("primary-1", "manager-1")
    stage.crash("backup-1")
    assert stage.state("primary-1") != "active alone"
    assert not send(stage, "primary-1", "a")
    stage.heal()
    stage.run(5)
    again = pair()
    again.crash("backup-1")
    again.run(0.1)
    assert again.state("primary-1") == "active alone"
    assert (own(again, "primary-1"), kept(again).sequence) == (2, 2)
    assert send(again, "primary-1", "a")


# ---- taking over ----


def test_replica_in_sync_takes_over_when_the_lock_is_free() -> None:
    """Broker facts 2.9: NonVoluntary. A process that has ended keeps its lock until its session is over."""
    stage = pair()
    assert send(stage, "primary-1", "a")
    stage.crash("primary-1")
    stage.run(1)
    assert stage.serving() == ()
    stage.run(6)
    assert stage.serving() == ("backup-1",)
    assert there(stage, "backup-1") == {"a"}
    assert (own(stage, "backup-1"), kept(stage).sequence) == (2, 2)


def test_primary_comes_back_as_a_replica_and_gets_its_place_back() -> None:
    """Broker facts 2.9: FAILBACK; the one that gave way waits for a higher number, and competes again."""
    stage = pair()
    stage.crash("primary-1")
    stage.run(7)
    assert send(stage, "backup-1", "b")
    stage.start("primary-1")
    stage.run(12)
    assert stage.serving() == ("primary-1",)
    assert there(stage, "primary-1") == {"b"}
    assert "failback_begun" in stage.events("backup-1")
    assert stage.state("backup-1") == "in sync"


def test_without_failback_the_primary_stays_a_replica() -> None:
    stage = pair(allow_failback=False)
    stage.crash("primary-1")
    stage.run(7)
    stage.start("primary-1")
    stage.run(12)
    assert stage.serving() == ("backup-1",)
    assert stage.state("primary-1") == "in sync"


@pytest.mark.parametrize("lock_alone", [False, True])
def test_server_with_old_data_does_not_serve_although_the_lock_is_free(lock_alone: bool) -> None:
    """AR-8: both replicate, the primary ends, the backup serves alone and ends, the primary is started first."""
    stage = pair(bug_lock_alone=lock_alone)
    stage.crash("primary-1")
    stage.run(7)
    assert send(stage, "backup-1", "b")
    stage.crash("backup-1")
    stage.run(5)
    stage.start("primary-1")
    stage.run(8)
    assert (stage.serving() == ("primary-1",)) is lock_alone
    stage.start("backup-1")
    stage.run(15)
    (name,) = stage.serving()
    assert ("b" in there(stage, name)) is not lock_alone


def test_either_may_start_after_both_ended_while_they_replicated() -> None:
    """Broker facts 2.9: the manual's rule."""
    stage = pair()
    assert send(stage, "primary-1", "a")
    stage.crash("primary-1")
    stage.crash("backup-1")
    stage.run(5)
    stage.start("backup-1")
    stage.run(3)
    assert stage.serving() == ("backup-1",)
    assert there(stage, "backup-1") == {"a"}


# ---- claims that were not committed ----


def change_kept(stage: Stage, sequence: int) -> None:
    """The manager has another number, and no lock is held."""
    (key,) = [key for key in stage.disks["manager-1"] if key.startswith(KEPT)]
    stage.disks["manager-1"][key] = encode(Kept(VERSION, sequence))


@pytest.mark.parametrize(
    ("number", "coordinated", "serves", "then"), [(1, -1, True, 2), (1, -2, True, 3), (1, -3, False, None)]
)
def test_claim_that_was_not_committed_is_repaired_where_nothing_is_newer(
    number: int, coordinated: int, serves: bool, then: int | None
) -> None:
    """AR-10: by the one that made it, or by one that is one behind; two behind is stale."""
    stage = pair()
    stage.crash("primary-1")
    stage.crash("backup-1")
    stage.crash("manager-1")
    change_kept(stage, coordinated)
    assert own(stage, "primary-1") == number
    stage.start("manager-1", "primary-1")
    stage.run(3)
    assert (stage.serving() == ("primary-1",)) is serves
    if then is not None:
        assert (own(stage, "primary-1"), kept(stage).sequence) == (then, then)


def test_claim_is_stale_for_everybody_with_the_bug() -> None:
    """AR-10."""
    stage = pair(bug_claim_unrepaired=True)
    for name in ("primary-1", "backup-1", "manager-1"):
        stage.crash(name)
    change_kept(stage, -2)
    stage.start("manager-1", "primary-1", "backup-1")
    stage.run(10)
    assert stage.serving() == ()


def test_lost_coordination_data_need_an_operator() -> None:
    """Broker facts 2.9: everybody is stale; the operator forces the number to the highest on any disk. No data were
    moved away meanwhile."""
    stage = pair()
    assert send(stage, "primary-1", "a")
    for name in ("primary-1", "backup-1", "manager-1"):
        stage.crash(name)
    node_id = next(key for key in stage.disks["manager-1"] if key.startswith(KEPT))[len(KEPT) :]
    stage.disks["manager-1"].clear()
    stage.start("manager-1", "primary-1", "backup-1")
    stage.run(10)
    assert stage.serving() == ()
    stage.tell("manager-1", ForceSequence(node_id, 1))
    stage.run(10)
    (name,) = stage.serving()
    assert there(stage, name) == {"a"}


# ---- the manager is lost ----


@pytest.mark.parametrize("silent", [False, True])
def test_server_that_loses_the_manager_stops(silent: bool) -> None:
    """Broker facts 2.9, lock-unavailable event; AR-28: no process learns of it."""
    stage = pair(bug_listeners_silent=silent)
    stage.part("primary-1", "manager-1")
    stage.run(2.9)
    assert (stage.halted.get("primary-1") == "the lock manager does not answer") is not silent
    assert (stage.serving() == ("primary-1",)) is silent


def test_server_that_is_told_that_its_lock_is_gone_stops() -> None:
    stage = pair()
    session = next(iter(stage.nodes["manager-1"].heard_us))  # type: ignore[attr-defined]
    stage.tell("manager-1", ManagerRequest(session, 0, kept_node(stage), "unlock"), "primary-1")
    stage.run(1)
    assert stage.halted["primary-1"] == "the lock is lost"


def kept_node(stage: Stage) -> str:
    """The node id of the pair."""
    return str(stage.nodes["primary-1"].broker.node_id)  # type: ignore[attr-defined]


@pytest.mark.parametrize("forgotten", [False, True])
def test_backup_that_loses_the_manager_keeps_its_identity(forgotten: bool) -> None:
    """AR-11: with another node id it asks for another lock, and serves beside the first."""
    stage = pair(bug_identity_forgotten=forgotten)
    stage.part("backup-1", "manager-1")
    stage.run(4)
    stage.heal()
    stage.run(10)
    assert stage.serving() == (("primary-1", "backup-1") if forgotten else ("primary-1",))
    assert ("one-active" in stage.promises_broken()) is forgotten


@pytest.mark.parametrize("fenced", [False, True])
def test_manager_obeys_only_the_last_one_that_got_the_lock_where_it_fences(fenced: bool) -> None:
    """Beyond the documents: who was paused until its lock was another's cannot commit a claim."""
    stage = pair(fenced=fenced)
    node_id = kept_node(stage)
    stage.tell("manager-1", ManagerRequest("stranger", 1, node_id, "compare", 1, -2), "stranger")
    stage.run(0.1)
    assert kept(stage).sequence == (1 if fenced else -2)


def test_lock_manager_keeps_a_lock_while_it_is_down() -> None:
    """It stands for an ensemble: what it has answered is on its disk."""
    stage = pair()
    stage.crash("manager-1")
    stage.run(0.5)
    stage.start("manager-1")
    stage.run(2)
    assert stage.serving() == ("primary-1",)
    assert kept(stage).holder.startswith("primary-1.0")


# ---- settings ----


def test_primaries_with_a_coordination_id_compete_and_do_not_fail_back() -> None:
    """Broker facts 2.9: coordination-id."""
    stage = Stage(LOCK_MANAGED, coordination_id=True)
    assert [member.role for member in stage.members] == ["primary", "primary", "manager"]
    stage.start()
    stage.run(3)
    (first,) = stage.serving()
    stage.crash(first)
    stage.run(8)
    (second,) = stage.serving()
    assert second != first
    stage.start(first)
    stage.run(12)
    assert stage.serving() == (second,)


def test_settings_of_the_vote_are_refused() -> None:
    with pytest.raises(Refused, match="there is no setting `vote-retries`"):
        LOCK_MANAGED.options({"vote-retries": "3"})
    with pytest.raises(Refused, match="a broker stops before its lock is another's"):
        LOCK_MANAGED.options({"manager_ttl_us": "1000000"})
    with pytest.raises(Refused, match="ask for 2 or more"):
        LOCK_MANAGED.members(1, 0, LOCK_MANAGED.options({}))
