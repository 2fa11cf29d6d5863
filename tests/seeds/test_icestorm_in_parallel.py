"""HA IceStorm, two changes under way at once; one test for each rule.

"Facts" is "Real IceStorm HA".
"""

from __future__ import annotations

from tests.seeds.driving import Cluster
from tests.seeds.icestorm import alone, formed


def both_begun(**settings: str) -> Cluster:
    """A group whose coordinator has committed two changes and has told no slave of them."""
    cluster = formed(changes="2", updates="2", **settings)
    cluster.take("update", 3)
    cluster.take("update_beside", 3)
    return cluster


def iteration(cluster: Cluster, node: int) -> int:
    """How many changes the stamp of a replica counts."""
    _, changes = cluster[node].stamp
    assert isinstance(changes, int)
    return changes


def test_one_change_at_a_time_unless_two_are_allowed() -> None:
    """With `changes = 1`, as in every other check, the second change waits for the first.

    Source: our choice; facts, section 3 (update at the coordinator).
    """
    cluster = formed(updates="2")
    cluster.take("update", 3)
    assert not cluster.can("update", 3)
    assert "update_beside" not in {action.name for action in cluster.system.actions}


def test_stamps_are_given_at_the_commit_in_their_order() -> None:
    """Each commit increments the iteration, before any slave is told.

    Source: facts, section 3 (update at the coordinator, b).
    """
    cluster = both_begun()
    assert (iteration(cluster, 3), cluster[3].topics) == (2, {1, 2})
    assert [cluster[slave].topics for slave in (1, 2)] == [frozenset(), frozenset()]


def test_slave_takes_the_stamp_that_a_change_brings() -> None:
    """The older of two changes may reach a slave last; its stamp then goes back, and its database is no older.

    Source: facts, section 3 (update at the coordinator, b and c); seen in a recording of five replicas.
    """
    cluster = both_begun()
    cluster.take("update_beside.replicate", 3)
    assert (iteration(cluster, 1), cluster[1].topics) == (2, {2})
    cluster.take("update.replicate", 3)
    assert (iteration(cluster, 1), cluster[1].topics) == (1, {1, 2})
    assert cluster.value("acknowledged") == {1, 2}


def test_changes_told_in_the_order_of_commits_leave_the_latest_stamp() -> None:
    """Nothing is taken back where the older change is told of first.

    Source: facts, section 3 (update at the coordinator, b and c).
    """
    cluster = both_begun()
    cluster.take("update.replicate", 3)
    cluster.take("update_beside.replicate", 3)
    assert [iteration(cluster, node) for node in (1, 2, 3)] == [2, 2, 2]


def test_merge_waits_for_both_changes() -> None:
    """The group keeps its name until both are done.

    Source: facts, section 2 (5).
    """
    cluster = both_begun(crashes="1")
    cluster.take("crash Replica", 1)
    cluster.take("restart Replica", 1)
    old = cluster[3].group
    cluster.take("check", 3)
    cluster.take("merge", 3)
    for step in ("update_beside.replicate", "update.replicate"):
        assert not cluster.can("merge.settle", 3)
        cluster.take(step, 3)
    cluster.take("merge.settle", 3)
    assert cluster[3].group != old


def test_change_that_finds_no_majority_waits_for_the_other_one() -> None:
    """A coordinator that finds its slaves gone when a second change begins is inactive at once, and recovers later.

    Source: facts, section 2 (2) and section 3 (update at the coordinator, a).
    """
    cluster = formed(changes="2", updates="2", crashes="2")
    cluster.take("update", 3)
    cluster.take("crash Replica", 1)
    cluster.take("crash Replica", 2)
    cluster.take("update_beside", 3)
    assert (cluster[3].mode, cluster.value("asked")) == ("inactive", 1)
    assert not cluster.can("update_beside.settle", 3)
    cluster.take("update.replicate", 3)
    cluster.take("update_beside.settle", 3)
    assert alone(cluster, 3)
