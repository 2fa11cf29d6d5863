"""HA IceStorm, how a group forms and ends: one test for each rule of the documents.

"Manual" is "Highly Available IceStorm"; "facts" is "Real IceStorm HA".
"""

from __future__ import annotations

import pytest

from tests.seeds.driving import Cluster
from tests.seeds.icestorm import alone, change, commence, form, formed, gather, replicas, restart

EVERYONE = (1, 2, 3)


def without_first(coordinator: int = 3) -> Cluster:
    """A full group of which replica 1 was restarted, without the others having noticed."""
    cluster = replicas(crashes="3")
    form(cluster, coordinator, tuple(node for node in EVERYONE if node != coordinator))
    restart(cluster, 1)
    return cluster


# ---- looking for others ----


def test_replicas_start_as_groups_of_their_own() -> None:
    """At start each replica is the only one of its group, and its coordinator.

    Source: manual, IceStorm Replication Algorithm; facts, section 2 (1).
    """
    cluster = replicas()
    assert all(alone(cluster, node) for node in EVERYONE)


def test_coordinator_finds_the_other_coordinators() -> None:
    """Coordinators look for other groups, again and again.

    Source: manual, IceStorm Replication Algorithm; facts, section 2 (3).
    """
    cluster = replicas()
    cluster.take("check", 1)
    assert cluster[1].candidates == {2, 3}
    assert cluster.can("check", 1)


def test_coordinator_does_not_find_slaves() -> None:
    """Asked whether it is a coordinator, a slave says no; a coordinator that serves says yes.

    Source: facts, section 2 (3, 4).
    """
    cluster = without_first()
    cluster.take("check", 1)
    assert cluster[1].candidates == {3}


def test_coordinator_in_an_election_is_not_found() -> None:
    """One that is merging already denies that it is a coordinator.

    Source: facts, section 2 (4).
    """
    cluster = replicas()
    cluster.take("check", 3)
    cluster.take("merge", 3)
    cluster.take("check", 2)
    assert cluster[2].candidates == {1}


def test_replica_that_is_cut_off_is_not_found() -> None:
    """Whom nobody can call takes no part.

    Source: facts, section 2 (3).
    """
    cluster = replicas(cuts="1")
    cluster.take("cut Replica - Replica", 1, 3)
    cluster.take("check", 3)
    assert cluster[3].candidates == {2}


def test_slave_looks_for_nobody() -> None:
    """Combining groups is the coordinators' business.

    Source: manual, IceStorm Replication Algorithm; facts, section 2 (3).
    """
    cluster = formed()
    assert cluster.can("check", 3)
    assert not cluster.can("check", 1)


# ---- inviting ----


def test_merge_begins_an_election_in_a_new_group() -> None:
    """The merging coordinator goes to the state election, with a new group that nobody has joined yet.

    Source: manual, IceStorm Replica States; facts, section 2 (5).
    """
    cluster = formed(crashes="1")
    old = cluster[3].group
    restart(cluster, 1)
    cluster.take("check", 3)
    cluster.take("merge", 3)
    assert (cluster[3].mode, cluster[3].members) == ("election", frozenset())
    assert cluster[3].group != old


def test_merge_invites_those_found_and_the_own_members() -> None:
    """The coordinator's old slaves are invited as well as the other coordinators.

    Source: facts, section 2 (5).
    """
    cluster = without_first()
    cluster.take("check", 3)
    assert (cluster[3].candidates, cluster[3].members) == ({1}, {1, 2})
    cluster.take("merge", 3)
    assert [to for to in EVERYONE if cluster.value("message.invitation")[3 - 1][to - 1]] == [1, 2]


def test_lower_replica_may_lead_higher_ones() -> None:
    """No invitation is refused because of priority: that the highest leads is a matter of delays.

    Source: manual, IceStorm Replication Algorithm, against facts, sections 2 (6) and 4 (row 1).
    """
    cluster = replicas()
    form(cluster, 1, (3, 2))
    assert cluster[1].mode == cluster[3].mode == "normal"
    assert cluster[3].coordinator == 1
    assert not cluster.holds("highest_id_leads")


def test_lower_replica_waits_where_delays_let_the_highest_go_first() -> None:
    """Only who found nobody of higher priority merges at once.

    Source: manual, IceStorm Replication Algorithm; facts, section 2 (timers, merge delay).
    """
    cluster = replicas(highest_first="on")
    cluster.take("check", 1)
    cluster.take("check", 3)
    assert not cluster.can("merge", 1)
    assert cluster.can("merge", 3)


def test_invited_replica_joins_and_reorganizes() -> None:
    """It takes over coordinator and group, and its acceptance is counted.

    Source: manual, IceStorm Replica States; facts, section 2 (6, 7).
    """
    cluster = replicas()
    gather(cluster, 3, (2,))
    assert (cluster[2].mode, cluster[2].coordinator) == ("reorganization", 3)
    assert cluster[2].group == cluster[3].group
    assert cluster[3].members == {2}


def test_replica_in_an_election_ignores_invitations() -> None:
    """Two that merge at the same time do not join each other.

    Source: facts, section 2 (6).
    """
    cluster = replicas()
    for node in (2, 3):
        cluster.take("check", node)
    for node in (2, 3):
        cluster.take("merge", node)
    cluster.take("invitation", 2, 3)
    assert (cluster[2].mode, cluster[2].coordinator) == ("election", None)
    assert cluster[3].members == frozenset()


def test_invited_coordinator_passes_the_invitation_on_to_its_members() -> None:
    """Whole groups combine; the one who invites may get its own invitation back, and ignores it.

    Source: manual, IceStorm Replication Algorithm; facts, sections 2 (6) and 4 (row 13).
    """
    cluster = without_first()
    gather(cluster, 1, (3,))
    assert cluster.can("invitation", 2, 3)
    cluster.take("invitation", 2, 3)
    assert cluster[2].coordinator == 1
    assert cluster[1].members == {2, 3}
    before = cluster[1]
    cluster.take("invitation", 1, 3)
    assert cluster[1] == before


@pytest.mark.parametrize(("confirmed", "mode"), [("off", "reorganization"), ("on", "inactive")])
def test_late_acceptance_is_not_counted(confirmed: str, mode: str) -> None:
    """An acceptance counts only while the coordinator still gathers; the late one is not told and stays where it is.

    Source: facts, section 2 (7); telling it is one of the model's mends.
    """
    cluster = replicas(patient_merge="off", accept_is_confirmed=confirmed, full_start_not_needed="on")
    gather(cluster, 3, (1,))
    cluster.take("merge_continue", 3)
    cluster.take("invitation", 2, 3)
    assert cluster[3].members == {1}
    assert cluster[2].mode == mode


def test_lost_invitation_does_not_stop_the_others() -> None:
    """Invitations are sent without an answer; who does not get one is left out.

    Source: facts, section 2 (messages, 5).
    """
    cluster = replicas(losses="1", full_start_not_needed="on")
    cluster.take("check", 3)
    cluster.take("merge", 3)
    cluster.take("lose invitation", 3, 1)
    cluster.take("invitation", 2, 3)
    commence(cluster, 3)
    assert cluster[3].mode == cluster[2].mode == "normal"
    assert alone(cluster, 1)


# ---- enough replicas ----


def test_below_a_majority_replication_does_not_commence() -> None:
    """Even long after the first start, one of three is not enough.

    Source: manual, IceStorm Replication Algorithm; facts, section 2 (8).
    """
    cluster = without_first()
    cluster.take("check", 3)
    cluster.take("merge", 3)
    cluster.take("crash Replica", 1)
    cluster.take("crash Replica", 2)
    assert cluster[3].max == 3
    cluster.take("merge_continue", 3)
    assert alone(cluster, 3)


@pytest.mark.parametrize(("count", "too_few", "enough"), [("3", 1, 2), ("4", 2, 3), ("5", 2, 3)])
def test_majority_is_more_than_half_with_the_coordinator(count: str, too_few: int, enough: int) -> None:
    """The coordinator counts as one of them.

    Source: manual, IceStorm Replication Algorithm; facts, section 2 (majority).
    """
    for size in (too_few, enough):
        cluster = replicas(replicas=count, patient_merge="off", full_start_not_needed="on")
        gather(cluster, 1, tuple(range(2, size + 1)))
        cluster.take("merge_continue", 1)
        assert alone(cluster, 1) == (size == too_few)


def test_full_start_needs_every_replica() -> None:
    """As long as nobody remembers a full group, a majority does not replicate.

    Source: manual, IceStorm Replication Algorithm (exception to the majority rule); facts, section 2 (8).
    """
    cluster = replicas(crashes="1")
    cluster.take("crash Replica", 1)
    gather(cluster, 3, (2,))
    assert (cluster[3].max, cluster[2].max) == (0, 0)
    cluster.take("merge_continue", 3)
    assert alone(cluster, 3)


def test_full_start_is_over_when_one_participant_remembers_it() -> None:
    """`max` travels with the acceptance, and a majority with one who has seen all replicas goes ahead.

    Source: manual, IceStorm Replica States (max); facts, section 2 (full-startup rule).
    """
    cluster = formed(crashes="2")
    restart(cluster, 3)
    cluster.take("crash Replica", 1)
    cluster.take("poll", 2)
    assert (cluster[3].max, cluster[2].max) == (0, 3)
    form(cluster, 3, (2,))
    assert cluster[3].mode == cluster[2].mode == "normal"


def test_restart_of_all_needs_every_replica_again() -> None:
    """`max` is kept in memory only.

    Source: facts, section 2 (variables, full-startup rule).
    """
    cluster = formed(crashes="4")
    assert {cluster[node].max for node in EVERYONE} == {3}
    restart(cluster, *EVERYONE)
    cluster.take("crash Replica", 1)
    gather(cluster, 3, (2,))
    cluster.take("merge_continue", 3)
    assert alone(cluster, 3)


# ---- the database ----


def behind() -> Cluster:
    """Replicas 2 and 3 have a change that replica 1 missed; then 3 crashed, and 1 and 2 are groups of their own."""
    cluster = formed(crashes="2")
    cluster.take("crash Replica", 1)
    change(cluster, 3)
    cluster.take("crash Replica", 3)
    cluster.take("restart Replica", 1)
    cluster.take("poll", 2)
    assert (cluster[1].stamp, cluster[2].stamp) == ((1, 0), (1, 1))
    return cluster


def test_coordinator_takes_the_most_recent_database() -> None:
    """States are compared by their stamps, and the coordinator replaces its own by a more recent one.

    Source: manual, IceStorm Replication Algorithm; facts, section 2 (8).
    """
    cluster = behind()
    gather(cluster, 1, (2,))
    assert (cluster[1].best, cluster[1].best_stamp) == (2, (1, 1))
    cluster.take("merge_continue", 1)
    assert cluster[1].topics == {1}


def test_coordinator_keeps_its_database_when_it_is_the_most_recent() -> None:
    """Then it is the source for all others.

    Source: manual, IceStorm Replication Algorithm; facts, section 2 (8).
    """
    cluster = behind()
    gather(cluster, 2, (1,))
    assert cluster[2].best is None
    commence(cluster, 2)
    assert cluster[1].topics == cluster[2].topics == {1}


def test_of_equally_recent_slaves_the_lowest_is_asked() -> None:
    """Ties are broken by id, in whatever order they joined.

    Source: facts, section 2 (8).
    """
    cluster = formed(crashes="2", stamp_wiped_at_start="on")
    change(cluster, 3)
    restart(cluster, 3)
    for slave in (2, 1):
        cluster.take("poll", slave)
    gather(cluster, 3, (2, 1))
    assert cluster[3].best == 1


def test_database_is_transferred_to_every_member() -> None:
    """All get it with one stamp, those that have the latest already too.

    Source: manual, IceStorm Replication Algorithm; facts, sections 2 (8) and 4 (row 3).
    """
    cluster = behind()
    form(cluster, 1, (2,))
    assert cluster[1].topics == cluster[2].topics == {1}
    assert cluster[1].stamp == cluster[2].stamp == (2, 0)


@pytest.mark.parametrize(("ignored", "stamp"), [("off", (2, 0)), ("on", (1, 0))])
def test_new_stamp_is_above_all_others(ignored: str, stamp: tuple[int, int]) -> None:
    """A group's generation is one above all it found; the released code forgets to look at the coordinator's own.

    Source: manual, IceStorm Replication Algorithm; facts, sections 2 (8) and 5 (Q2).
    """
    cluster = formed(crashes="2", generation_ignores_own=ignored, stamp_wiped_at_start="on")
    change(cluster, 3)
    restart(cluster, 1)
    cluster.take("crash Replica", 2)
    assert (cluster[3].stamp, cluster[1].stamp) == ((1, 1), (0, 0))
    gather(cluster, 3, (1,))
    cluster.take("merge_continue", 3)
    assert cluster[3].stamp == stamp


def test_slave_that_left_meanwhile_takes_no_database() -> None:
    """`init` is for replicas that reorganize; a group beyond its full start goes on without the others.

    Source: facts, section 2 (9).
    """
    cluster = formed(crashes="2")
    restart(cluster, 1)
    gather(cluster, 3, (1, 2))
    cluster.take("merge_continue", 3)
    restart(cluster, 2)
    cluster.take("merge_continue.push", 3)
    assert cluster[3].members == {1}
    assert (cluster[1].stamp, cluster[2].stamp) == ((2, 0), (1, 0))


@pytest.mark.parametrize(("blocks", "mode"), [("off", "reorganization"), ("on", "inactive")])
def test_one_failing_push_ends_the_election_in_the_released_code(blocks: str, mode: str) -> None:
    """There all must take the database, or the coordinator recovers.

    Source: facts, sections 2 (8) and 5 (Q5).
    """
    cluster = formed(crashes="2", one_failing_init_blocks=blocks)
    restart(cluster, 1)
    gather(cluster, 3, (1, 2))
    cluster.take("merge_continue", 3)
    restart(cluster, 2)
    cluster.take("merge_continue.push", 3)
    assert cluster[3].mode == mode
