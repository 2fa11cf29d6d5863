"""HA IceStorm, a group that serves: commencing, polling, updates; one test for each rule.

"Manual" is "Highly Available IceStorm"; "facts" is "Real IceStorm HA".
"""

from __future__ import annotations

import pytest

from tests.seeds.driving import Cluster
from tests.seeds.icestorm import alone, change, form, formed, gather, replicas, restart

EVERYONE = (1, 2, 3)


# ---- commencing ----


def test_slaves_serve_before_their_coordinator() -> None:
    """One slave after the other is started, then the coordinator starts itself: clients do not see one state.

    Source: facts, section 2 (8), against manual, Client Considerations; facts, section 4 (row 12).
    """
    cluster = replicas()
    gather(cluster, 3, (1, 2))
    cluster.take("merge_continue", 3)
    cluster.take("merge_continue.push", 3)
    cluster.take("merge_continue.report", 3)
    assert [cluster[node].mode for node in EVERYONE] == ["normal", "reorganization", "reorganization"]
    assert not cluster.holds("one_view")
    cluster.take("merge_continue.report", 3)
    assert [cluster[node].mode for node in EVERYONE] == ["normal", "normal", "normal"]


def test_all_of_a_group_share_name_generation_and_maximum() -> None:
    """Being ready makes a slave's generation and `max` those of its coordinator.

    Source: manual, IceStorm Replica States; facts, section 2 (10).
    """
    cluster = formed()
    told = [(cluster[node].group, cluster[node].generation, cluster[node].max) for node in EVERYONE]
    assert told == [(cluster[3].group, 1, 3)] * 3


def test_only_the_coordinator_knows_who_is_in_the_group() -> None:
    """A slave knows its coordinator and the group's name, not the other slaves.

    Source: manual, IceStorm Replica States (group); facts, section 4 (row 9).
    """
    cluster = formed()
    assert [cluster[node].members for node in EVERYONE] == [frozenset(), frozenset(), {1, 2}]
    assert [cluster[node].coordinator for node in EVERYONE] == [3, 3, None]


def test_coordinator_recovers_when_a_slave_cannot_be_told_to_start() -> None:
    """A failing `ready` ends the election, although other slaves serve already.

    Source: facts, section 2 (8).
    """
    cluster = replicas(crashes="1")
    gather(cluster, 3, (1, 2))
    for step in ("merge_continue", "merge_continue.push", "merge_continue.report"):
        cluster.take(step, 3)
    cluster.take("crash Replica", 2)
    cluster.take("merge_continue.report", 3)
    assert alone(cluster, 3)
    assert cluster[1].mode == "normal"


def test_replica_of_another_group_takes_the_database_but_does_not_start() -> None:
    """`init` names no group; `ready` does, and is ignored by another group's replica without the coordinator's notice.

    Source: facts, section 2 (9, 10).
    """
    cluster = replicas(crashes="1", full_start_not_needed="on")
    for node in (1, 3):
        cluster.take("check", node)
    cluster.take("merge", 3)
    cluster.take("invitation", 2, 3)
    restart(cluster, 2)
    cluster.take("merge", 1)
    cluster.take("invitation", 2, 1)
    for node, inviting in ((1, 3), (3, 1)):
        cluster.take("invitation", node, inviting)  # both are in an election, and ignore it
    cluster.take("merge_continue", 3)
    cluster.take("merge_continue.push", 3)
    assert (cluster[2].coordinator, cluster[2].stamp) == (1, (1, 0))
    cluster.take("merge_continue.report", 3)
    assert (cluster[3].mode, cluster[2].mode) == ("normal", "reorganization")


# ---- watching each other ----


def test_poll_of_a_coordinator_that_still_leads_changes_nothing() -> None:
    """A slave regularly asks its coordinator, which knows it as a member.

    Source: manual, IceStorm Replication Algorithm; facts, section 2 (11).
    """
    cluster = formed()
    before = cluster.state
    cluster.take("poll", 1)
    assert cluster.state == before


def test_slave_recovers_when_its_coordinator_does_not_answer() -> None:
    """A replica that finds its coordinator failed is in error, and becomes a group of its own.

    Source: manual, IceStorm Replication Algorithm; facts, section 2 (2, 11).
    """
    cluster = formed(crashes="1")
    cluster.take("crash Replica", 3)
    cluster.take("poll", 1)
    assert alone(cluster, 1)
    assert (cluster[1].group, cluster[1].generation) == (None, None)


def test_slave_recovers_when_its_coordinator_knows_it_no_more() -> None:
    """A restarted coordinator answers, but not that it leads this group.

    Source: manual, IceStorm Replication Algorithm; facts, section 2 (11).
    """
    cluster = formed(crashes="1")
    restart(cluster, 3)
    cluster.take("poll", 1)
    assert alone(cluster, 1)


def test_coordinator_that_recovers_tells_nobody() -> None:
    """Its slaves serve on until they ask.

    Source: facts, section 2 (2).
    """
    cluster = formed(cuts="2")
    for slave in (1, 2):
        cluster.take("cut Replica - Replica", slave, 3)
    cluster.take("check", 3)
    assert alone(cluster, 3)
    assert (cluster[1].mode, cluster[1].coordinator) == ("normal", 3)


@pytest.mark.parametrize(("idle", "mode"), [("off", "inactive"), ("on", "normal")])
def test_coordinator_without_a_majority_steps_down(idle: str, mode: str) -> None:
    """It becomes inactive; the released code does so only once there is an update to replicate.

    Source: manual, Client Considerations (loses the majority); facts, sections 3 (idle coordinator) and 4 (row 4).
    """
    cluster = formed(crashes="2", idle_coordinator_serves=idle)
    cluster.take("crash Replica", 1)
    cluster.take("crash Replica", 2)
    cluster.take("check", 3)
    assert cluster[3].mode == mode
    if mode == "normal":
        cluster.take("update", 3)
    assert alone(cluster, 3)


# ---- updates ----


def test_only_the_coordinator_carries_out_updates() -> None:
    """A slave forwards them.

    Source: facts, section 3.
    """
    cluster = formed()
    assert [cluster.can("update", node) for node in EVERYONE] == [False, False, True]


def test_update_is_on_every_member_when_it_is_acknowledged() -> None:
    """Coordinator and slaves have the change, with one stamp, an iteration above the last.

    Source: manual, IceStorm Replication Algorithm (a stamp upon each change); facts, section 3 (b, c).
    """
    cluster = formed()
    cluster.take("update", 3)
    assert (cluster[3].stamp, cluster[1].stamp) == ((1, 1), (1, 0))
    assert cluster.value("acknowledged") == frozenset()
    cluster.take("update.replicate", 3)
    assert [(cluster[node].topics, cluster[node].stamp) for node in EVERYONE] == [({1}, (1, 1))] * 3
    assert cluster.value("acknowledged") == {1}


def test_update_is_acknowledged_by_a_majority() -> None:
    """A dead slave is dropped from the group, and the others are enough.

    Source: manual, IceStorm Replication Algorithm; facts, section 3 (a).
    """
    cluster = formed(crashes="1")
    cluster.take("crash Replica", 1)
    change(cluster, 3)
    assert cluster[3].members == {2}
    assert cluster.value("acknowledged") == {1}


def test_update_without_a_majority_changes_nothing() -> None:
    """The coordinator recovers instead, and the request waits.

    Source: facts, section 3 (a).
    """
    cluster = formed(crashes="2")
    cluster.take("crash Replica", 1)
    cluster.take("crash Replica", 2)
    cluster.take("update", 3)
    assert alone(cluster, 3)
    assert (cluster[3].topics, cluster[3].stamp, cluster.value("asked")) == (frozenset(), (1, 0), 0)


def torn() -> Cluster:
    """The coordinator lost its slaves after it had made the change itself, and their processes are back."""
    cluster = formed(crashes="3")
    cluster.take("update", 3)
    for slave in (1, 2):
        cluster.take("crash Replica", slave)
    cluster.take("update.replicate", 3)
    for slave in (1, 2):
        cluster.take("restart Replica", slave)
    return cluster


def test_update_whose_majority_is_lost_has_an_unknown_outcome() -> None:
    """The client gets UnknownException, and nothing is undone.

    Source: manual, Client Considerations; facts, section 3 (d).
    """
    cluster = torn()
    assert (cluster.value("unknown"), cluster.value("acknowledged")) == ({1}, frozenset())
    assert (cluster[3].topics, cluster[3].stamp) == ({1}, (1, 1))


def test_unknown_change_may_be_made_after_all() -> None:
    """The next group that has the replica which made it takes the change over.

    Source: manual, Client Considerations (may or may not have succeeded); facts, section 4 (row 10).
    """
    cluster = torn()
    cluster.take("check", 3)
    assert alone(cluster, 3)
    form(cluster, 3, (1, 2))
    assert [cluster[node].topics for node in EVERYONE] == [{1}] * 3


def test_unknown_change_may_be_lost() -> None:
    """The next group may commence without the replica which made it, and then that replica's database is replaced.

    Source: manual, Client Considerations (may or may not have succeeded); facts, section 4 (row 10).
    """
    cluster = formed(crashes="2")
    cluster.take("update", 3)
    cluster.take("crash Replica", 3)
    for slave in (1, 2):
        cluster.take("poll", slave)
    form(cluster, 2, (1,))
    cluster.take("restart Replica", 3)
    assert cluster[3].topics == {1}
    form(cluster, 2, (3, 1))
    assert [cluster[node].topics for node in EVERYONE] == [frozenset()] * 3


@pytest.mark.parametrize(("counts", "acknowledged"), [("off", frozenset()), ("on", {1})])
def test_slave_that_rejects_an_update_does_not_count(counts: str, acknowledged: set[int]) -> None:
    """Restarted slaves are inactive and reject it; the released code takes their answer for success.

    Source: facts, sections 3 (c), 5 (Q3) and 6 (rejections).
    """
    cluster = formed(crashes="2", rejection_counts=counts)
    cluster.take("update", 3)
    restart(cluster, 1, 2)
    cluster.take("update.replicate", 3)
    assert cluster[1].topics == cluster[2].topics == frozenset()
    assert cluster.value("acknowledged") == acknowledged


def test_slave_with_a_full_disk_is_left_out_of_an_update() -> None:
    """Whoever cannot take a change is no member any more.

    Source: facts, section 3 (c).
    """
    cluster = formed(disk_can_break="on")
    cluster.take("disk_breaks")
    change(cluster, 3)
    assert cluster[3].members == {2}
    assert cluster.value("acknowledged") == {1}


def test_merge_waits_for_the_update_in_flight() -> None:
    """The group keeps its name until the update is done.

    Source: facts, section 2 (5).
    """
    cluster = formed(crashes="1")
    restart(cluster, 1)
    old = cluster[3].group
    cluster.take("check", 3)
    cluster.take("update", 3)
    cluster.take("merge", 3)
    assert not cluster.can("merge.settle", 3)
    assert (cluster[3].mode, cluster[3].group) == ("election", old)
    cluster.take("update.replicate", 3)
    cluster.take("merge.settle", 3)
    assert cluster[3].group != old


def test_invited_coordinator_waits_for_its_update_in_flight() -> None:
    """It joins the other group when the update is done.

    Source: facts, section 2 (6).
    """
    cluster = formed(crashes="1")
    restart(cluster, 1)
    cluster.take("check", 1)
    cluster.take("merge", 1)
    cluster.take("update", 3)
    cluster.take("invitation", 3, 1)
    assert not cluster.can("invitation.settle", 3)
    assert cluster[3].coordinator is None
    cluster.take("update.replicate", 3)
    cluster.take("invitation.settle", 3)
    assert cluster[3].coordinator == 1


def test_recovery_waits_for_the_update_in_flight() -> None:
    """A coordinator that finds its majority gone is inactive at once, but keeps its group until the update is done.

    Source: facts, section 2 (2).
    """
    cluster = formed(crashes="2")
    cluster.take("update", 3)
    cluster.take("crash Replica", 1)
    cluster.take("crash Replica", 2)
    cluster.take("check", 3)
    assert cluster[3].mode == "inactive"
    assert cluster[3].group is not None
    assert not cluster.can("check.settle", 3)
    cluster.take("update.replicate", 3)
    cluster.take("check.settle", 3)
    assert alone(cluster, 3)
