"""HA IceStorm, what a replica still knows after a restart, and believes after a pause: one test for each rule.

"Manual" is "Highly Available IceStorm"; "facts" is "Real IceStorm HA".
"""

from __future__ import annotations

import pytest

from tests.seeds.driving import Cluster
from tests.seeds.icestorm import alone, change, form, formed, restart


@pytest.mark.parametrize(("wiped", "stamp"), [("off", (1, 1)), ("on", (0, 0))])
def test_database_and_stamp_survive_a_restart(wiped: str, stamp: tuple[int, int]) -> None:
    """Both are on disk; the released code forgets the stamp.

    Source: manual, IceStorm Replication Algorithm (recorded upon each change); facts, sections 2 (variables), 5 (Q1).
    """
    cluster = formed(crashes="1", stamp_wiped_at_start=wiped)
    change(cluster, 3)
    restart(cluster, 3)
    assert (cluster[3].topics, cluster[3].stamp) == ({1}, stamp)


def test_restarted_replica_remembers_no_group() -> None:
    """State, coordinator, group, members, generation and `max` are in memory.

    Source: facts, section 2 (variables, 1).
    """
    cluster = formed(crashes="2")
    restart(cluster, 3, 1)
    for node in (3, 1):
        assert alone(cluster, node)
        assert (cluster[node].group, cluster[node].generation, cluster[node].max) == (None, None, 0)


@pytest.mark.parametrize(("wiped", "stored"), [("off", True), ("on", False)])
def test_full_restart_keeps_what_the_coordinator_to_be_has_missed(wiped: str, stored: bool) -> None:
    """The most recent database wins whoever leads; without stamps the highest replica's old one does.

    Source: manual, IceStorm Replication Algorithm; facts, sections 4 (row 6) and 5 (Q1).
    """
    cluster = formed(crashes="3", stamp_wiped_at_start=wiped)
    cluster.take("crash Replica", 3)
    for node in (1, 2):
        cluster.take("poll", node)
    form(cluster, 2, (1,))
    change(cluster, 2)
    restart(cluster, 1, 2)
    cluster.take("restart Replica", 3)
    form(cluster, 3, (1, 2))
    assert cluster.value("acknowledged") == {1}
    assert cluster.holds("acknowledged_is_stored") == stored


def deposed(**settings: str) -> Cluster:
    """Coordinator 3 slept while 1 and 2 formed a group without it, and has just woken up."""
    cluster = formed(pauses="1", **settings)
    cluster.take("pause Replica", 3)
    for node in (1, 2):
        cluster.take("poll", node)
    form(cluster, 2, (1,))
    assert not cluster.can("check", 3)
    cluster.take("resume Replica", 3)
    return cluster


def test_paused_coordinator_wakes_up_with_its_old_beliefs() -> None:
    """It is still in the state normal, beside the coordinator that replaced it.

    Source: facts, sections 3 (hung coordinator) and 4 (row 12).
    """
    cluster = deposed()
    assert (cluster[3].mode, cluster[3].coordinator, cluster[3].members) == ("normal", None, {1, 2})
    assert not cluster.holds("one_coordinator")


@pytest.mark.parametrize(("counts", "acknowledged"), [("off", frozenset()), ("on", {1})])
def test_deposed_coordinator_passes_the_majority_test_but_its_update_is_rejected(
    counts: str, acknowledged: set[int]
) -> None:
    """Its old slaves answer pings from any group, but refuse a change of another generation.

    Source: facts, sections 3 (a), 5 (Q3, Q6).
    """
    cluster = deposed(rejection_counts=counts)
    change(cluster, 3)
    assert cluster[1].topics == cluster[2].topics == frozenset()
    assert cluster.value("acknowledged") == acknowledged


def test_reads_are_answered_from_the_local_database() -> None:
    """A slave that was dropped while it slept serves what it has, without the acknowledged change.

    Source: facts, section 3 (reads), section 4 (row 4).
    """
    cluster = formed(pauses="1")
    cluster.take("pause Replica", 1)
    change(cluster, 3)
    cluster.take("resume Replica", 1)
    assert cluster.value("acknowledged") == {1}
    assert (cluster[1].mode, cluster[1].topics) == ("normal", frozenset())
    assert not cluster.holds("reads_are_current")
    cluster.take("poll", 1)
    assert alone(cluster, 1)
