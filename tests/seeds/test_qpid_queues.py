"""Qpid high availability, queues and stores: one test for each rule about which queue a broker has.

"Module" is "High Availability Module"; Q-R1 to Q-R8 are our choices, Q-W1 to Q-W6 weak points.
"""

from __future__ import annotations

import pytest

from tests.seeds.qpid import Brokers, brokers, fill, formed, join, linked, tell

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
