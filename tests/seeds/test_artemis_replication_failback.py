"""Artemis replication, the primary gets its place back: one test for each rule of the documents.

"Manual" is "High Availability and Failover", "facts" is "Broker failover protocols"; AR-1 to AR-24 are known defects.
"""

from __future__ import annotations

import pytest

from tests.seeds.artemis_replication import BACKUP, PRIMARY, come_back, cut, in_sync, synchronize, taken_over

# ---- failback ----


def test_who_serves_gives_way_only_to_the_primary_in_sync() -> None:
    """Not to another backup, and not before.

    Source: manual, allow-failback; facts, 2.4, 2.10.
    """
    assert not in_sync().can("hand_over", PRIMARY)
    pair = taken_over()
    pair.take("restart Server", PRIMARY)
    pair.take("start_primary", PRIMARY)
    pair.take("locate", PRIMARY)
    assert pair[BACKUP].for_failback
    assert not pair.can("hand_over", BACKUP)
    synchronize(pair, BACKUP)
    assert pair.can("hand_over", BACKUP)
    assert not come_back(allow_failback="off").declares("hand_over")


def test_failback_ends_with_the_primary_serving() -> None:
    """Who gave way starts again as a backup, and moves its data away.

    Source: facts, 2.10.
    """
    pair = come_back()
    pair.take("publish", BACKUP)
    pair.take("hand_over", BACKUP)
    assert pair.modes == ("in_sync", "handing_over")
    assert not pair.can("publish", BACKUP)
    pair.take("finish_hand_over", BACKUP)
    assert pair.modes == ("active", "locating")
    assert (pair[PRIMARY].journal, pair[BACKUP].journal, pair[BACKUP].saved) == ({1}, frozenset(), {1})
    assert pair.known(1) == pair.known(2) == PRIMARY


def test_primary_takes_over_when_the_second_message_does_not_come() -> None:
    """After 60 s, or when the link is lost: it has been told.

    Source: facts, 2.5 (STOP_CALLED, FAIL_OVER).
    """
    pair = come_back()
    pair.take("hand_over", BACKUP)
    pair.take("fail_over_timer", PRIMARY)
    assert pair[PRIMARY].mode == "active"
    pair = come_back(cuts="1")
    pair.take("hand_over", BACKUP)
    cut(pair)
    pair.take("watch_link", PRIMARY)
    assert pair[PRIMARY].mode == "active"


def test_node_down_is_ignored_during_failback() -> None:
    """Otherwise the primary would vote, and might be told to wait.

    Source: facts, 2.10; AR-18.
    """
    pair = come_back()
    pair.take("hand_over", BACKUP)
    assert (pair[PRIMARY].mode, pair[PRIMARY].stop_called) == ("in_sync", True)
    before = come_back(votes_in_failback="on")
    before.take("hand_over", BACKUP)
    assert before[PRIMARY].mode == "voting"


def test_primary_that_is_not_in_sync_stays_and_does_nothing_when_it_is_to_take_over() -> None:
    """As it happens where who gives way only waits some time.

    Source: facts, 2.5 (not up to date); AR-16; Artemis 2.41.0 logs AMQ224000 and keeps its process.
    """
    pair = taken_over(failback_by_delay="on")
    pair.take("restart Server", PRIMARY)
    pair.take("start_primary", PRIMARY)
    pair.take("locate", PRIMARY)
    pair.take("hand_over", BACKUP)
    assert pair[PRIMARY].mode == "stranded"


def test_lost_messages_of_a_failback_leave_two_backups() -> None:
    """The primary gave up before, who served gives up now; nobody serves.

    Source: facts, 2.5 (RETRY), 2.10.
    """
    pair = come_back(cuts="1")
    cut(pair)
    pair.take("watch_link", PRIMARY)
    pair.take("ask_votes", PRIMARY)
    pair.take("ask_votes", PRIMARY)
    pair.take("hand_over", BACKUP)
    pair.take("finish_hand_over", BACKUP)
    assert pair.modes == ("locating", "locating")


# ---- old data ----


def test_backup_that_served_starts_again_as_a_backup() -> None:
    """All its data is moved away, though nobody else has it.

    Source: manual, Data Replication (note); facts, 2.5 (START).
    """
    pair = taken_over(crashes="2")
    pair.take("publish", BACKUP)
    pair.restart(BACKUP)
    assert (pair[BACKUP].mode, pair[BACKUP].journal, pair[BACKUP].saved) == ("locating", frozenset(), {1})
    assert pair.holds("p5_only_copy_never_erased")


@pytest.mark.parametrize(("saved", "kept"), [("0", frozenset()), ("1", {1}), ("2", {1})])
def test_old_data_is_kept_as_often_as_configured(saved: str, kept: frozenset[int]) -> None:
    """max-saved-replicated-journals-size; 0 deletes it.

    Source: manual, All Replication Configuration; facts, 2.3.
    """
    pair = taken_over(crashes="2", saved_journals=saved)
    pair.take("publish", BACKUP)
    pair.restart(BACKUP)
    assert pair[BACKUP].saved == kept
    assert pair.holds("p5_only_copy_never_erased") == bool(kept)


def test_server_that_may_keep_no_more_stops_for_good() -> None:
    """HornetQ only.

    Source: manual, All Replication Configuration (max-saved-replicated-journals-size); facts, 2.3.
    """
    pair = taken_over(crashes="2", saved_journals="0", retires="on")
    pair.restart(BACKUP)
    assert pair[BACKUP].mode == "retired"


def test_primary_that_crashes_while_it_copies_serves_half_a_journal() -> None:
    """If its stand-in is down when it starts.

    Source: facts, 2.4 (START: whatever journal is on disk).
    """
    pair = taken_over(crashes="3")
    pair.take("publish", BACKUP)
    pair.take("restart Server", PRIMARY)
    pair.take("start_primary", PRIMARY)
    pair.take("locate", PRIMARY)
    pair.restart(PRIMARY)
    pair.take("crash Server", BACKUP)
    pair.take("start_primary", PRIMARY)
    assert (pair[PRIMARY].mode, pair[PRIMARY].journal) == ("active", frozenset())
    assert not pair.holds("p3_no_incomplete_copy_serves")


def test_primary_that_ran_alone_before_its_stand_in_serves_the_older_journal() -> None:
    """Both were down; nobody knows whose journal is newer.

    Source: manual, Data Replication (the administrator has to find out); AR-8.
    """
    pair = taken_over(crashes="2")
    pair.take("publish", BACKUP)
    pair.take("crash Server", BACKUP)
    pair.take("restart Server", PRIMARY)
    pair.take("start_primary", PRIMARY)
    assert not pair.holds("p2_acked_survives")
