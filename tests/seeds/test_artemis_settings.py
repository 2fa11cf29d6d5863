"""What administrators of Artemis set, and what follows where it is set wrong: one test for each setting.

"Manual" is "High Availability and Failover", "facts" is "Broker failover protocols".
"""

from __future__ import annotations

import pytest

from tests.seeds.artemis_replication import BACKUP, PRIMARY, in_sync, serving, taken_over
from tests.seeds.artemis_shared import failing_back

# ---- replication ----


@pytest.mark.parametrize("setting", ["backup_elsewhere", "wrong_password"])
@pytest.mark.parametrize(("value", "then"), [("off", "syncing"), ("on", "locating")])
def test_backup_finds_live_servers_of_its_own_cluster_alone(setting: str, value: str, then: str) -> None:
    """In another cluster, or with other credentials than the cluster's, it goes on looking.

    Source: manual, Data Replication (same cluster; user and password must match), All Replication Configuration
    (cluster-name of a slave).
    """
    pair = serving(**{setting: value})
    pair.take("locate", BACKUP)
    assert pair[BACKUP].mode == then


@pytest.mark.parametrize("setting", ["backup_elsewhere", "wrong_password"])
def test_lone_pair_needs_a_cluster_as_well(setting: str) -> None:
    """Without others nobody could tell it where its live server is.

    Source: manual, Data Replication (even a simple pair).
    """
    for value, found in (("off", True), ("on", False)):
        pair = serving(pairs="1", **{setting: value})
        pair.take("locate", BACKUP)
        assert (pair[BACKUP].partner == PRIMARY) is found


@pytest.mark.parametrize(("elsewhere", "then"), [("off", "locating"), ("on", "active")])
def test_primary_looks_for_its_stand_in_in_the_cluster_that_is_named(elsewhere: str, then: str) -> None:
    """In another cluster it finds nobody, and serves beside it. Without a name it is the first one, as here.

    Source: manual, All Replication Configuration (cluster-name of a master).
    """
    pair = taken_over(primary_looks_elsewhere=elsewhere)
    pair.take("restart Server", PRIMARY)
    pair.take("start_primary", PRIMARY)
    assert (pair[PRIMARY].mode, pair[BACKUP].mode) == (then, "active")
    assert pair.holds("p1_one_serving") is (elsewhere == "off")


def test_backup_that_is_made_a_master_serves_its_data() -> None:
    """A backup never does so by itself.

    Source: manual, Data Replication (slave changed to master).
    """
    pair = in_sync(crashes="2", promotions="1")
    pair.take("publish", PRIMARY)
    pair.take("crash Server", BACKUP)
    pair.take("crash Server", PRIMARY)
    pair.take("promote", BACKUP)
    pair.take("restart Server", BACKUP)
    kept = pair[BACKUP].journal
    assert (pair[BACKUP].mode, kept) == ("starting", {1})
    pair.take("start_primary", BACKUP)
    assert (pair[BACKUP].mode, pair[BACKUP].journal) == ("active", kept)


def test_backup_that_is_not_made_a_master_starts_from_nothing() -> None:
    """It looks for a live server, of which there is none.

    Source: manual, Data Replication (it cannot decide to activate).
    """
    pair = in_sync(crashes="2", promotions="1")
    pair.take("publish", PRIMARY)
    pair.take("crash Server", BACKUP)
    pair.take("crash Server", PRIMARY)
    pair.take("restart Server", BACKUP)
    assert (pair[BACKUP].mode, pair[BACKUP].journal) == ("locating", frozenset())


# ---- shared store ----


def test_slave_that_comes_back_beside_a_live_server_announces_itself_and_waits() -> None:
    """It has given way, and the primary serves.

    Source: manual, All Shared Store Configuration (failback-delay of a slave).
    """
    pair = failing_back()
    pair.take("check_failback", BACKUP)
    pair.take("check_failback.stopping", BACKUP)
    pair.take("lock_primary", PRIMARY)
    pair.activate(PRIMARY)
    pair.take("come_back", BACKUP)
    pair.take("join", BACKUP)
    assert not pair[PRIMARY].heard_backup
    pair.take("tell_others", BACKUP)
    assert pair[PRIMARY].heard_backup
    assert pair.modes == ("active", "passive")
    assert not pair.can("take_over", BACKUP)
