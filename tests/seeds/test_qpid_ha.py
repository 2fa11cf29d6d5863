"""Qpid high availability, who is what: one test for each rule of the documents.

"Module" is "High Availability Module"; Q-R1 to Q-R8 are our choices, Q-W1 to Q-W6 weak points.
"""

from __future__ import annotations

import pytest

from tests.seeds.qpid import brokers, fill, formed, join, recovering, tell

# ---- promotion ----


def test_brokers_are_joining_when_they_are_started() -> None:
    """Nobody serves before the resource manager has promoted one.

    Source: module, Overview of HA classes.
    """
    cluster = brokers(brokers="3")
    assert cluster.statuses == ("joining", "joining", "joining")
    assert all(cluster.can("promote", broker) for broker in cluster.members)


def test_joining_broker_is_promoted_where_no_other_one_is_further() -> None:
    """With nobody to wait for it is active at once.

    Source: sources, ha/StatusCheck; Q-R1.
    """
    cluster = brokers()
    cluster.take("promote", 2)
    assert cluster.statuses == ("joining", "active")


def test_joining_broker_refuses_while_a_ready_one_answers() -> None:
    """It was the primary, crashed, and is back first.

    Source: sources, ha/StatusCheck; Q-R3.
    """
    cluster = formed(crashes="1")
    cluster.restart(1)
    assert not cluster.changes("promote", 1)
    assert cluster.statuses == ("joining", "ready")


def test_broker_that_does_not_answer_is_no_objection() -> None:
    """It is stopped, or cut off, and ready for all that.

    Source: sources, ha/StatusCheck; Q-R4, Q-W6.
    """
    cluster = formed(crashes="1", cuts="1")
    cluster.restart(1)
    cluster.take("cut Broker - Broker", 1, 2)
    assert cluster.changes("promote", 1)
    assert not cluster.holds("p2_acked_survives")


def test_broker_that_asked_at_its_start_does_not_ask_again() -> None:
    """When it asked nobody was ready. The sources do so.

    Source: sources, ha/StatusCheck; Q-R3.
    """
    cluster = brokers(brokers="3", crashes="1", asks_at_start_only="on")
    for broker in (1, 3):
        cluster.take("ask_at_start", broker)
    cluster.take("promote", 1)
    join(cluster, 1, 2)
    cluster.take("crash Broker", 1)
    cluster.take("promote", 3)
    assert cluster.statuses[1:] == ("ready", "active")


def test_broker_that_is_catching_up_refuses() -> None:
    """Its queue is not complete.

    Source: module, Queue and Backup ready; sources, ha/Backup.
    """
    cluster = brokers(crashes="1")
    cluster.take("promote", 1)
    cluster.use(1)
    cluster.send(1)
    cluster.take("find_primary", 2)
    cluster.take("read_response", 2)
    cluster.take("crash Broker", 1)
    assert cluster[2].status == "catchup"
    assert not cluster.changes("promote", 2)


def test_ready_broker_is_promoted_and_has_everything() -> None:
    """That is what it is ready for.

    Source: module, Overview of HA classes.
    """
    cluster = formed(crashes="1")
    cluster.take("crash Broker", 1)
    cluster.take("promote", 2)
    assert cluster[2].status == "active"
    assert cluster.content(2) == (1,)


@pytest.mark.parametrize("status", ["active", "recovering"])
def test_primary_is_not_promoted_again(status: str) -> None:
    """There is nothing to do.

    Source: sources, ha/HaBroker.
    """
    cluster = formed() if status == "active" else recovering()
    primary = 1 if status == "active" else 2
    assert cluster[primary].status == status
    assert not cluster.can("promote", primary)


def test_only_the_resource_manager_keeps_two_from_serving() -> None:
    """Nothing within a broker does.

    Source: module, Overview of HA classes: an external cluster resource manager.
    """
    assert not formed().can("promote", 2)
    cluster = formed(manager_fences="off")
    cluster.take("promote", 2)
    assert cluster.statuses == ("active", "active")
    assert not cluster.holds("p1_one_serving")


# ---- recovering ----


def test_promoted_broker_expects_those_it_has_heard_to_be_ready() -> None:
    """Their guards are set before anybody connects.

    Source: module, Queue and Backup ready: a guard is set when a backup fails over; sources, ha/Primary.
    """
    cluster = recovering()
    assert cluster[2].status == "recovering"
    assert (cluster[2].expected, cluster[2].guarded) == ({3}, {3})
    assert cluster.of_backup("first", 2, 3) == 2


def test_expected_backup_that_is_back_and_ready_ends_recovering() -> None:
    """It has everything, so nothing is sent again.

    Source: sources, ha/Primary.
    """
    cluster = recovering()
    cluster.take("watch_primary", 3)
    cluster.take("find_primary", 3)
    assert cluster[2].status == "recovering"
    fill(cluster, 2, 3)
    assert cluster.statuses[1:] == ("active", "ready")


def test_message_waits_for_the_expected_backups() -> None:
    """What a recovering primary takes it does not acknowledge yet.

    Source: module, At-least-once and delayed completion.
    """
    cluster = recovering()
    cluster.take("watch_connection", 1)
    cluster.use(2)
    cluster.send()
    assert not cluster.can("acknowledge", 2)
    assert cluster.holds("p2_acked_survives")
    cluster.take("watch_primary", 3)
    join(cluster, 2, 3)
    assert cluster.content(3) == (1, 2)
    assert cluster.can("acknowledge", 2)


def test_expected_backup_that_does_not_come_back_is_given_up() -> None:
    """After the time-out it is listed as catching up, and recovering ends.

    Source: sources, ha/Primary: time-out of expected backups.
    """
    cluster = recovering(crashes="2")
    assert not cluster.can("time_out_backup", 2, 3)
    cluster.take("crash Broker", 3)
    cluster.take("time_out_backup", 2, 3)
    assert cluster[2].status == "active"
    assert cluster.of_backup("listed", 2, 3) == "catchup"


def test_backup_that_was_given_up_has_to_catch_up_once_it_hears_so() -> None:
    """Until then it is ready in its own eyes.

    Source: sources, ha/Primary; Q-W1.
    """
    cluster = recovering(backups_return_in_time="off")
    cluster.take("time_out_backup", 2, 3)
    cluster.take("watch_primary", 3)
    cluster.take("find_primary", 3)
    assert cluster[3].status == "ready"
    tell(cluster, 2)
    assert cluster[3].status == "catchup"
    fill(cluster, 2, 3)
    assert cluster[3].status == "ready"


def test_backup_that_was_not_heard_of_is_not_expected() -> None:
    """The list is that of the old primary, as it came last.

    Source: sources, ha/Primary; Q-W3.
    """
    cluster = brokers(brokers="3", crashes="1", lists_in_time="off")
    cluster.take("promote", 1)
    for backup in (2, 3):
        cluster.take("find_primary", backup)
        cluster.take("send_membership", 1, backup)
    assert cluster.statuses == ("active", "ready", "ready")
    cluster.take("crash Broker", 1)
    cluster.take("promote", 2)
    assert (cluster[2].status, cluster[2].expected) == ("active", frozenset())


# ---- links ----


def test_backups_do_not_take_each_other_for_the_primary() -> None:
    """They abort the connection.

    Source: module, Locating the Primary.
    """
    cluster = brokers()
    assert not cluster.changes("find_primary", 1)
    assert cluster.statuses == ("joining", "joining")


def test_joining_broker_catches_up_from_the_first_message_on() -> None:
    """A connection alone is not enough: it might be one that is aborted.

    Source: sources, ha/BrokerReplicator.
    """
    cluster = brokers()
    cluster.take("promote", 1)
    cluster.take("find_primary", 2)
    assert cluster[2].status == "joining"
    cluster.take("read_response", 2)
    assert cluster[2].status == "catchup"


def test_backup_without_queues_is_ready_at_once() -> None:
    """All of its queues are.

    Source: sources, ha/Primary: readiness is looked at when a backup connects.
    """
    cluster = brokers()
    cluster.take("promote", 1)
    join(cluster, 1, 2)
    assert cluster.statuses == ("active", "ready")


def test_primary_goes_on_without_a_backup_it_does_not_hear_of() -> None:
    """Its guards complete what they delayed.

    Source: sources, ha/RemoteBackup.
    """
    cluster = formed(cuts="1")
    cluster.send()
    assert not cluster.can("acknowledge", 1)
    cluster.take("cut Broker - Broker", 1, 2)
    cluster.take("watch_backups", 1)
    cluster.take("acknowledge", 1)
    assert cluster.unsettled == frozenset()
    assert cluster.of_backup("listed", 1, 2) == "absent"


def test_backup_that_loses_its_link_stays_ready() -> None:
    """And the primary does not make it catch up when it is back.

    Source: sources, ha/Backup; Q-W1.
    """
    cluster = formed(cuts="1")
    cluster.part(1, 2)
    cluster.send(1)
    assert cluster[2].status == "ready"
    cluster.take("heal Broker - Broker", 1, 2)
    cluster.take("find_primary", 2)
    tell(cluster, 1)
    assert cluster[2].status == "ready"
    assert cluster.content(2) == (1,)


def test_backup_that_was_restarted_is_treated_as_a_new_one() -> None:
    """Its old connection may not even be closed.

    Source: sources, ha/Primary: known backup reconnects before it disconnected.
    """
    cluster = formed(crashes="1")
    cluster.restart(2)
    assert cluster.of_backup("listed", 1, 2) == "ready"
    cluster.take("find_primary", 2)
    assert cluster.of_backup("listed", 1, 2) == "catchup"
    assert cluster[1].guarded == frozenset()
    fill(cluster, 1, 2)
    assert (cluster[2].status, cluster.content(2)) == ("ready", (1,))


# ---- what mends it ----


def test_manager_does_not_promote_who_is_off_its_list() -> None:
    """The primary strikes a backup off before it goes on alone.

    Source: Q-W1, the correct variant.
    """
    cluster = formed(cuts="1", crashes="1", manager_keeps_list="on")
    cluster.part(1, 2)
    cluster.send(1)
    cluster.take("crash Broker", 1)
    assert cluster[2].status == "ready"
    assert not cluster.can("promote", 2)


def test_promoted_broker_expects_whom_the_manager_lists() -> None:
    """It need not have heard of them.

    Source: Q-W3, mended.
    """
    cluster = brokers(brokers="3", crashes="1", lists_in_time="off", manager_keeps_list="on")
    cluster.take("promote", 1)
    for backup in (2, 3):
        cluster.take("find_primary", backup)
        cluster.take("send_membership", 1, backup)
    cluster.take("crash Broker", 1)
    cluster.take("promote", 2)
    assert 3 in cluster[2].expected
