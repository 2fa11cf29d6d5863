"""Real Artemis brokers that scale down, and that run backups for each other in one process.

**Source**: HornetQ manual, "Scaling Down" and "Colocated Backup Servers"; broker facts 2.11, 2.12.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from hacheck.cli.running.broker_administration import Operator
from hacheck.impl.recording import Line
from hacheck.impl.runtime.control import Guest
from tests.runtime.brokers import Asked, events, kept, served, standings
from tests.runtime.clusters import Running, running, until

BROKERS = {
    "connection_ttl_us": "800000",
    "check_period_us": "150000",
    "call_timeout_us": "1000000",
    "reconnect_us": "200000",
    "pause_us": "30000",
}
SCALE_DOWN = BROKERS | {
    "lock_retry_us": "100000",
    "lock_error_wait_us": "300000",
    "poll_us": "200000",
    "monitor_us": "300000",
    "discovery_wait_us": "300000",
    "prepared_us": "50000",
    "stop_every_us": "2500000",
    "stops": "1",
}
COLOCATED = BROKERS | {
    "check_wait_us": "500000",
    "vote_retries": "2",
    "vote_retry_wait_us": "300000",
    "quorum_vote_wait_us": "600000",
    "retry_replication_wait_us": "200000",
    "fail_over_wait_us": "500000",
    "stop_called_wait_us": "3000000",
    "backup_request_retry_interval_us": "300000",
    "standing_wait_us": "300000",
}


def sent_with(line: Line) -> list[str]:
    """The messages that a request sends."""
    return line.fields["sent"]


def at_servers(cluster: Running, *queues: str) -> Counter[str]:
    """How often each message is there, at all servers that serve. Clients end first."""
    for name in ("client-1", "client-2"):
        if cluster.standings()[name].state == "running":
            cluster.do("kill", name)
    operator = Operator(Guest(cluster.folder), 20.0)
    return Counter(message for queue in queues for _, message, _ in operator.browse(queue))


def test_a_server_that_is_stopped_moves_all_to_another_one_and_clients_go_on_there(tmp_path: Path) -> None:
    with running(tmp_path, "artemis-scale-down", 2, 2, SCALE_DOWN) as cluster:
        served(cluster)
        until(lambda: any(events(cluster, "scaled_down")), "the operator stops server-1, and it is scaled down")
        (begun,) = events(cluster, "scale_down_begun")
        (done,) = events(cluster, "scaled_down")
        assert (begun.node, begun.fields["target"]) == ("server-1", "server-2")
        assert done.fields["messages"] > 0
        served(cluster)
        cluster.do("kill", "server-2")
        cluster.do("restart", "server-2")
        served(cluster)
        present = at_servers(cluster, "orders")
        kept(Asked(cluster, sent_with), present)
        assert max(present.values()) == 1


def test_a_process_that_is_killed_is_stood_in_for_by_the_backup_in_another_one(tmp_path: Path) -> None:
    with running(tmp_path, "artemis-colocated", 2, 2, COLOCATED) as cluster:

        def backed() -> bool:
            return {line.fields["live"] for line in events(cluster, "backup_may_take_over")} == {"server-1", "server-2"}

        until(backed, "each server has a backup in the other process")
        served(cluster)
        cluster.do("kill", "server-1")
        until(lambda: any(events(cluster, "backup_serves")), "the backup of server-1 serves in the other process")
        (serves,) = events(cluster, "backup_serves")
        assert (serves.node, serves.fields["live"]) == ("server-2", "server-1")
        served(cluster)
        cluster.do("restart", "server-1")

        def back() -> bool:
            return len([line for line in events(cluster, "live_serves") if line.node == "server-1"]) == 2

        until(back, "it gives way")
        until(lambda: standings(cluster)["server-1"].endswith("; after it server-2/colocated_backup_2"), "and another")
        served(cluster)
        present = at_servers(cluster, "orders", "archive")
        kept(Asked(cluster, sent_with), present)
        assert max(present.values()) == 1
