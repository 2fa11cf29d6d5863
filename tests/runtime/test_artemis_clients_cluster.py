"""Real processes of Artemis' client library and of brokers with a lock manager: kills, cuts, fail-over and fail-back.

**Source**: HornetQ manual, "Automatic Client Failover", "Handling Failover With Transactions"; broker facts 2.9.
"""

from __future__ import annotations

from pathlib import Path

from tests.nightly import nightly
from tests.runtime.brokers import events, kept_by, served
from tests.runtime.clusters import Running, running, until
from tests.runtime.test_artemis_cluster import CLIENT, QUEUES, REPLICATED, SHARED, sent_with, serves

LIBRARY = SHARED | {"max_retry_us": "200000", "pause_us": "50000"}
LOCKED = {name: value for name, value in REPLICATED.items() if "vote" not in name and name != "check_wait_us"} | {
    "manager_ttl_us": "1000000",
    "manager_ping_us": "150000",
    "manager_patience_us": "700000",
    "manager_check_us": "150000",
    "claim_wait_us": "1000000",
    **CLIENT,
}


def settled(cluster: Running) -> int:
    """How many messages the consumer has handled for good."""
    return sum(len(line.fields["messages"]) for line in events(cluster, "settled"))


def test_clients_fail_over_with_their_transactions(tmp_path: Path) -> None:
    with running(tmp_path, "artemis-client", 2, 2, LIBRARY) as cluster:
        serves(cluster, "primary-1", after="backup-1")
        served(cluster)
        cluster.do("kill", "primary-1")
        serves(cluster, "backup-1")
        served(cluster)
        assert {line.node for line in events(cluster, "notified")} == {"client-1", "client-2"}
        before = settled(cluster)
        until(lambda: settled(cluster) > before, "messages are handled")
        handled = [name for line in events(cluster, "settled") for name in line.fields["messages"]]
        assert len(handled) == len(set(handled))


@nightly
def test_clients_that_are_killed_go_on(tmp_path: Path) -> None:
    """A transaction manager that ends carries out what it had decided, or rolls it back."""
    with running(tmp_path, "artemis-client", 2, 2, LIBRARY | {"session": "xa"}) as cluster:
        serves(cluster, "primary-1", after="backup-1")
        served(cluster)
        cluster.do("kill", "client-1", "client-2", "primary-1")
        serves(cluster, "backup-1")
        cluster.do("restart", "client-1", "client-2", "primary-1")
        serves(cluster, "primary-1", after="backup-1")
        served(cluster)


def test_brokers_with_a_lock_manager_fail_over_and_back_and_keep_all(tmp_path: Path) -> None:
    with running(tmp_path, "artemis-lock-manager", 2, 2, LOCKED) as cluster:
        serves(cluster, "primary-1", after="backup-1")
        served(cluster)
        cluster.do("kill", "primary-1")
        serves(cluster, "backup-1")
        served(cluster)
        cluster.do("restart", "primary-1")
        serves(cluster, "primary-1", after="backup-1")  # it fails back
        served(cluster)

        cluster.do("cut", "primary-1", others=("manager-1",))
        until(lambda: any(events(cluster, "lock_service_lost")), "it stops: it may have lost its lock")
        serves(cluster, "backup-1")
        cluster.do("heal")
        served(cluster)
        until(lambda: len(list(events(cluster, "sequence_incremented"))) >= 4, "each that served alone has claimed")
        asked, present = kept_by("backup-1", cluster, QUEUES, sent_with)
        assert asked.again(present) == []
        assert max(present.values()) == 1
