"""Qpid high availability, who has what: one test for each rule about queues and messages.

"Module" is "High Availability Module"; Q-R1 to Q-R8 are our choices, Q-G1 to Q-G6 what is promised.
"""

from __future__ import annotations

import pytest

from tests.seeds.qpid import brokers, fill, formed, join, linked, shake_hands

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


@pytest.mark.parametrize("primary", [1, 2])
def test_address_that_moves_with_the_primary_leads_to_it(primary: int) -> None:
    """A client whose one address is that of whoever serves needs one attempt, before a failover and after it.

    Source: module, Locating the Primary: a virtual IP address.
    """
    cluster = formed(crashes="1", client_cuts="1")
    if primary == 2:
        cluster.take("crash Broker", 1)
        cluster.take("promote", 2)
    else:
        cluster.take("cut Client - Broker", 1, 1)
        cluster.take("watch_connection", 1)
        cluster.take("heal Client - Broker", 1, 1)
    if cluster.of("Client").at is not None:
        cluster.take("watch_connection", 1)
    (moved_to,) = (broker for broker in cluster.members if cluster[broker].status in ("active", "recovering"))
    cluster.use(moved_to)
    assert cluster.of("Client").at == primary == moved_to
    cluster.send()
    assert 2 in cluster.content(primary)


def test_replication_begins_with_the_first_message_that_the_backup_lacks() -> None:
    """Its cursor passes what is there already; what comes later is replicated as usual.

    Source: module, Queue Failover: position to start replicating from.
    """
    cluster = formed(cuts="1", messages="3")
    cluster.part(1, 2)
    cluster.send(1)
    cluster.take("heal Broker - Broker", 1, 2)
    cluster.take("find_primary", 2)
    shake_hands(cluster, 1, 2)
    assert (cluster.content(1), cluster.content(2)) == ((1, 2), (1,))
    for position, content in ((1, (1,)), (2, (1, 2))):
        cluster.take("deliver", 1, 2)
        assert (cluster.of_backup("position", 1, 2), cluster.content(2)) == (position, content)
    cluster.send()
    cluster.take("deliver", 1, 2)
    assert cluster.content(2) == cluster.content(1) == (1, 2, 3)
    cluster.take("acknowledge", 1)
    assert cluster.unsettled == frozenset()
