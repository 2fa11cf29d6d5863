"""Replication with a lock manager: who may serve, and what is claimed before it serves alone, rule by rule."""

from __future__ import annotations

import pytest

from hacheck.impl.protocols.artemis.lock_manager.messages import ManagerRequest
from hacheck.impl.protocols.artemis.lock_manager.options import LockManagerOptions
from hacheck.impl.protocols.artemis.lock_manager.states import Standing, standing
from hacheck.impl.protocols.artemis.lock_manager.system import LOCK_MANAGED
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


def test_server_that_is_told_that_its_lock_is_gone_stops() -> None:
    stage = pair()
    session = next(iter(stage.nodes["manager-1"].heard_us))  # type: ignore[attr-defined]
    stage.tell("manager-1", ManagerRequest(session, 0, kept_node(stage), "unlock"), "primary-1")
    stage.run(1)
    assert stage.halted["primary-1"] == "the lock is lost"


def kept_node(stage: Stage) -> str:
    """The node id of the pair."""
    return str(stage.nodes["primary-1"].broker.node_id)  # type: ignore[attr-defined]


def test_settings_of_the_vote_are_refused() -> None:
    with pytest.raises(Refused, match="there is no setting `vote-retries`"):
        LOCK_MANAGED.options({"vote-retries": "3"})
    with pytest.raises(Refused, match="a broker stops before its lock is another's"):
        LOCK_MANAGED.options({"manager_ttl_us": "1000000"})
    with pytest.raises(Refused, match="ask for 2 or more"):
        LOCK_MANAGED.members(1, 0, LOCK_MANAGED.options({}))
