"""Qpid high availability, who has what: one test for each rule about queues and messages.

"Module" is "High Availability Module"; Q-R1 to Q-R8 are our choices, Q-G1 to Q-G6 what is promised.
"""

from __future__ import annotations

import pytest

from tests.seeds.qpid import Brokers, brokers, fill, formed, join, shake_hands, tell

# ---- clients ----


@pytest.mark.parametrize("accepts", ["off", "on"])
def test_backup_aborts_the_connections_of_clients(accepts: str) -> None:
    """The client tries another address.

    Source: module, Locating the Primary; Q-G5.
    """
    cluster = formed(backup_accepts=accepts, client_cuts="1")
    cluster.take("cut Client - Broker", 1, 1)
    cluster.take("watch_connection", 1)
    cluster.use(2)
    assert cluster.of("Client").at == (2 if accepts == "on" else None)


def test_message_in_doubt_is_sent_again() -> None:
    """It was received, and the connection failed before the acknowledgement.

    Source: module, At-least-once and delayed completion; Q-G2.
    """
    cluster = formed(client_cuts="1")
    cluster.send()
    cluster.take("cut Client - Broker", 1, 1)
    cluster.take("watch_connection", 1)
    assert cluster.value("in_doubt") == {2}
    cluster.take("heal Client - Broker", 1, 1)
    cluster.use(1)
    cluster.send()
    assert cluster.content(1) == (1, 2, 2)
    assert not cluster.holds("p6_exactly_once")
    assert cluster.holds("duplicates_only_in_doubt")


def test_acknowledged_message_is_not_sent_again() -> None:
    """The client has forgotten it.

    Source: module, At-least-once and delayed completion.
    """
    cluster = formed(crashes="1")
    cluster.take("crash Broker", 1)
    cluster.take("promote", 2)
    cluster.take("watch_connection", 1)
    cluster.use(2)
    cluster.send(2)
    assert cluster.content(2) == (1, 2)


def test_broker_that_was_restarted_knows_no_connection() -> None:
    """A client that believes to have one learns that.

    Source: module, Locating the Primary.
    """
    cluster = brokers(crashes="1")
    cluster.take("promote", 1)
    cluster.use(1)
    cluster.restart(1)
    cluster.take("promote", 1)
    cluster.send()
    assert cluster.of("Client").at is None
    assert cluster.content(1) == ()


# ---- delayed completion ----


@pytest.mark.parametrize("early", ["off", "on"])
def test_message_is_acknowledged_once_its_backups_have_it(early: str) -> None:
    """Not before, unless the rule is left out.

    Source: module, At-least-once and delayed completion.
    """
    cluster = formed(acks_before_backups=early)
    cluster.send()
    assert cluster.can("acknowledge", 1) == (early == "on")
    cluster.take("deliver", 1, 2)
    assert cluster.content(2) == (1, 2)
    cluster.take("acknowledge", 1)
    assert cluster.unsettled == frozenset()


def test_new_queue_is_guarded_for_every_known_backup() -> None:
    """Though none of them has heard of it.

    Source: sources, ha/Primary: a queue is created.
    """
    cluster = brokers()
    cluster.take("promote", 1)
    join(cluster, 1, 2)
    cluster.use(1)
    cluster.send()
    assert cluster.of_backup("delayed", 1, 2) == {1}
    assert cluster[2].status == "ready"
    fill(cluster, 1, 2)
    assert cluster.of_backup("delayed", 1, 2) == frozenset()
    assert cluster.content(2) == (1,)


def test_consumed_message_is_complete() -> None:
    """No backup needs it any more; its id is told to those that may have it.

    Source: module, Queue Replication: dequeue.
    """
    cluster = formed(consumed_messages="1")
    cluster.send()
    cluster.take("consume", 1, choices=(2,))
    assert not cluster.can("acknowledge", 1)
    cluster.take("consume.accept", 1)
    assert cluster.can("acknowledge", 1)
    assert cluster.of_backup("dequeued", 1, 2) == {2}


def test_backup_drops_what_was_dequeued() -> None:
    """The id tells which one.

    Source: module, Message Identifiers.
    """
    cluster = formed(consumed_messages="1")
    cluster.take("consume", 1)
    cluster.take("consume.accept", 1)
    assert cluster.content(2) == (1,)
    cluster.take("deliver", 1, 2)
    assert cluster.content(2) == ()


def test_consumed_message_may_come_again_after_a_failover() -> None:
    """The backup had not heard of it. That is no loss.

    Source: sources, ha/ReplicatingSubscription: consumers are answered at once.
    """
    cluster = formed(consumed_messages="1", crashes="1")
    cluster.take("consume", 1)
    cluster.take("consume.accept", 1)
    cluster.take("crash Broker", 1)
    cluster.take("promote", 2)
    assert cluster.content(2) == (1,)
    assert cluster.holds("p2_acked_survives")


# ---- the subscription handshake ----


def linked(**settings: str) -> Brokers:
    """Broker 1 is the primary and has acknowledged message 1; broker 2 has just found it."""
    cluster = brokers(**settings)
    cluster.take("promote", 1)
    cluster.use(1)
    cluster.send(1)
    cluster.take("find_primary", 2)
    cluster.take("read_response", 2)
    return cluster


def test_guard_is_set_before_its_first_position_is_read() -> None:
    """A message that comes in between is delayed, and counts as one from before as well.

    Source: module, Queue Failover; sources, ha/QueueGuard.
    """
    cluster = linked()
    cluster.take("subscribe", 2)
    cluster.send()
    assert not cluster.can("acknowledge", 1)
    cluster.take("first_guarded_position", 1, 2)
    assert cluster.of_backup("first", 1, 2) == 3


def test_message_between_position_and_guard_is_acknowledged_too_early() -> None:
    """Where the two are read the other way round.

    Source: module, Queue and Backup ready.
    """
    cluster = linked(handshake="position_first")
    cluster.take("subscribe", 2)
    cluster.send(1)
    cluster.take("first_guarded_position", 1, 2)
    cluster.take("take_snapshot", 1, 2)
    cluster.take("deliver", 1, 2)
    assert cluster.of_backup("listed", 1, 2) == "ready"
    assert not cluster.holds("ready_means_safe_or_delayed")


def test_backup_is_ready_when_all_from_before_the_guard_is_there() -> None:
    """What comes after is delayed.

    Source: module, Queue and Backup ready.
    """
    cluster = linked()
    shake_hands(cluster, 1, 2)
    assert cluster.of_backup("listed", 1, 2) == "catchup"
    cluster.send()
    cluster.take("deliver", 1, 2)
    assert cluster.of_backup("listed", 1, 2) == "ready"
    assert cluster.content(2) == (1,)
    assert cluster.of_backup("delayed", 1, 2) == {2}


@pytest.mark.parametrize("only_position", ["off", "on"])
def test_backup_is_ready_when_nothing_is_left_to_send(only_position: str) -> None:
    """The last message was consumed; the cursor stays before the guard.

    Source: sources, ha/ReplicatingSubscription: stopped.
    """
    cluster = linked(consumed_messages="1", ready_by_position_only=only_position)
    shake_hands(cluster, 1, 2)
    cluster.take("consume", 1)
    cluster.take("consume.accept", 1)
    fill(cluster, 1, 2)
    assert cluster[2].status == ("catchup" if only_position == "on" else "ready")


def test_what_the_backup_has_is_not_sent_again() -> None:
    """Its snapshot tells; and what it has counts as acknowledged by it.

    Source: module, Queue Failover.
    """
    cluster = formed(cuts="1")
    cluster.part(1, 2)
    cluster.take("heal Broker - Broker", 1, 2)
    cluster.take("find_primary", 2)
    shake_hands(cluster, 1, 2)
    assert cluster.of_backup("skip", 1, 2) == {1}
    fill(cluster, 1, 2)
    assert cluster.content(2) == (1,)


def test_what_was_dequeued_meanwhile_is_dropped() -> None:
    """The primary's snapshot lacks it.

    Source: module, Queue Failover: messages that can be discarded by the backup.
    """
    cluster = formed(cuts="1", consumed_messages="1")
    cluster.part(1, 2)
    cluster.take("consume", 1)
    cluster.take("consume.accept", 1)
    cluster.take("heal Broker - Broker", 1, 2)
    cluster.take("find_primary", 2)
    shake_hands(cluster, 1, 2)
    assert cluster.of_backup("dequeued", 1, 2) == {1}
    fill(cluster, 1, 2)
    assert cluster.content(2) == ()


@pytest.mark.parametrize("handshake", ["guard_first", "snapshot_first"])
def test_dequeues_are_observed_before_the_snapshot_is_taken(handshake: str) -> None:
    """Else the backup keeps what was consumed in between.

    Source: sources, ha/ReplicatingSubscription.
    """
    cluster = formed(cuts="1", consumed_messages="1", handshake=handshake)
    cluster.part(1, 2)
    cluster.take("heal Broker - Broker", 1, 2)
    cluster.take("find_primary", 2)
    cluster.take("read_response", 2)
    cluster.take("subscribe", 2)
    cluster.take("first_guarded_position", 1, 2)
    cluster.take("consume", 1)
    cluster.take("consume.accept", 1)
    cluster.take("take_snapshot", 1, 2)
    fill(cluster, 1, 2)
    assert cluster.content(2) == (() if handshake == "guard_first" else (1,))


@pytest.mark.parametrize("start_over", ["off", "on"])
def test_promoted_broker_numbers_on_from_the_highest_id(start_over: str) -> None:
    """Else a new message has the id of an old one.

    Source: module, Message Identifiers; sources, ha/IdSetter.
    """
    cluster = formed(crashes="1", ids_start_over=start_over)
    cluster.take("crash Broker", 1)
    cluster.take("promote", 2)
    cluster.take("watch_connection", 1)
    cluster.use(2)
    cluster.send()
    assert cluster.content(2) == ((2,) if start_over == "on" else (1, 2))


# ---- queues ----


def replaced(**settings: str) -> Brokers:
    """Broker 2 has message 1 and loses its link; the queue is deleted, and declared again with message 2."""
    cluster = formed(**{"cuts": "1", "deletions": "1", **settings})
    cluster.part(1, 2)
    cluster.take("delete_queue", 1)
    cluster.send(1)
    cluster.take("heal Broker - Broker", 1, 2)
    cluster.take("find_primary", 2)
    return cluster


@pytest.mark.parametrize("by_name", ["off", "on"])
def test_queue_of_the_same_name_is_another_queue(by_name: str) -> None:
    """Its uuid tells; the backup throws its own one away.

    Source: sources, ha/BrokerReplicator: uuid of a queue.
    """
    cluster = replaced(queues_by_name=by_name)
    fill(cluster, 1, 2)
    assert cluster.content(2) == ((1,) if by_name == "on" else (2,))
    assert cluster.holds("p9_replica_equals_after_quiesce") == (by_name == "off")


def test_queue_that_the_primary_does_not_name_is_deleted() -> None:
    """When all responses are in.

    Source: sources, ha/BrokerReplicator.
    """
    cluster = formed(cuts="1", deletions="1")
    cluster.part(1, 2)
    cluster.take("delete_queue", 1)
    cluster.take("heal Broker - Broker", 1, 2)
    cluster.take("find_primary", 2)
    cluster.take("read_response", 2)
    assert (cluster[2].uuid, cluster.content(2)) == (None, ())


@pytest.mark.parametrize("counts", ["off", "on"])
def test_event_makes_a_late_response_stale(counts: str) -> None:
    """The queue was deleted after the query was answered.

    Source: sources, ha/BrokerReplicator.
    """
    cluster = brokers(deletions="1", late_response_counts=counts)
    cluster.take("promote", 1)
    cluster.use(1)
    cluster.send(1)
    cluster.take("find_primary", 2)
    cluster.take("delete_queue", 1)
    cluster.take("send_queue_event", 1, 2)
    assert cluster.can("read_response", 2) == (counts == "on")
    if counts == "on":
        cluster.take("read_response", 2)
    assert (cluster[2].uuid is None) == (counts == "off")


@pytest.mark.parametrize("keeps", ["off", "on"])
def test_queue_that_replaces_another_one_is_subscribed_anew(keeps: str) -> None:
    """Both events came as one: deleted, and declared again.

    Source: sources, ha/BrokerReplicator.
    """
    cluster = formed(deletions="1", replaced_queue_keeps_session=keeps)
    cluster.take("delete_queue", 1)
    cluster.send()
    fill(cluster, 1, 2)
    assert cluster.content(2) == (() if keeps == "on" else (2,))
    assert cluster.can("acknowledge", 1) == (keeps == "off")


@pytest.mark.parametrize("forgets", ["off", "on"])
def test_deleted_queue_completes_what_it_delayed(forgets: str) -> None:
    """Also a message that a consumer has acquired.

    Source: sources, ha/Primary: a queue is destroyed.
    """
    cluster = formed(deletions="1", consumed_messages="1", delete_forgets_acquired=forgets)
    cluster.send()
    cluster.take("consume", 1, choices=(2,))
    cluster.take("delete_queue", 1)
    assert cluster.can("acknowledge", 1) == (forgets == "off")
    cluster.take("consume.accept", 1)
    assert cluster[1].acquired is None


def test_backup_that_waited_for_a_deleted_queue_is_ready() -> None:
    """Nothing else is missing.

    Source: sources, ha/Primary: readiness is looked at again.
    """
    cluster = linked(deletions="1")
    cluster.take("delete_queue", 1)
    cluster.take("check_after_deletion", 1, 2)
    tell(cluster, 1)
    assert cluster[2].status == "ready"


# ---- stores ----


@pytest.mark.parametrize("stored", ["off", "on"])
def test_restarted_broker_has_what_is_in_its_store(stored: str) -> None:
    """Without one it has nothing.

    Source: sources, manual chapter on active-passive clusters; Q-R2.
    """
    cluster = formed(crashes="1", durable_queue=stored)
    cluster.restart(2)
    assert cluster.content(2) == ((1,) if stored == "on" else ())


def test_restarted_broker_erases_its_store_when_it_meets_a_primary() -> None:
    """It is filled anew.

    Source: sources, manual chapter on active-passive clusters; Q-R2.
    """
    cluster = formed(crashes="1", durable_queue="on")
    cluster.restart(2)
    cluster.take("find_primary", 2)
    tell(cluster, 1)
    assert cluster.content(2) == ()
    fill(cluster, 1, 2)
    assert cluster.content(2) == (1,)


def test_first_store_wins() -> None:
    """The other one is newer, and is erased.

    Source: sources, manual chapter on active-passive clusters; Q-W5.
    """
    cluster = formed(crashes="2", durable_queue="on")
    cluster.take("crash Broker", 2)
    cluster.take("watch_backups", 1)
    cluster.send(1)
    cluster.take("crash Broker", 1)
    cluster.take("restart Broker", 2)
    cluster.take("total_failure")
    cluster.take("promote", 2)
    assert cluster.content(2) == (1,)
    cluster.take("restart Broker", 1)
    assert cluster.content(1) == (1, 2)
    join(cluster, 2, 1)
    assert cluster.content(1) == (1,)
