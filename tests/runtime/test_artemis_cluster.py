"""Real Artemis brokers: over a shared store, and with replication: fail-over, fail-back, pauses and cuts.

**Source**: broker facts 2.2 (shared store: whoever holds the primary lock serves), 2.3 to 2.5 (replication and its
quorum vote); HornetQ manual, "Failover Modes", for what clients may rely on.
"""

from __future__ import annotations

import time
from pathlib import Path

from hacheck.cli.running.broker_administration import Operator
from hacheck.impl.node import Name
from hacheck.impl.recording import Line
from hacheck.impl.runtime.control import Guest
from tests.cli.command import hacheck
from tests.nightly import nightly
from tests.runtime.brokers import events, kept_by, served, standings, unserved
from tests.runtime.clusters import Running, running, until

CLIENT = {
    "connection_ttl_us": "800000",
    "check_period_us": "150000",
    "call_timeout_us": "1000000",
    "reconnect_us": "200000",
}
SHARED = CLIENT | {
    "lock_retry_us": "100000",
    "lock_error_wait_us": "300000",
    "poll_us": "200000",
    "failback_check_us": "200000",
    "failback_wait_us": "2000000",
    "monitor_us": "300000",
}
REPLICATED = CLIENT | {
    "check_wait_us": "500000",
    "vote_retries": "2",
    "vote_retry_wait_us": "300000",
    "quorum_vote_wait_us": "600000",
    "stay_vote_wait_us": "500000",
    "retry_replication_wait_us": "200000",
    "fail_over_wait_us": "500000",
    "stop_called_wait_us": "3000000",
    "replica_slow_us": "1500000",
}
QUEUES = ("orders", "archive")
PAUSE_SECONDS = 2.0
"""Longer than the time-outs of a connection and of the monitor of the lock."""


def sent_with(line: Line) -> list[str]:
    """The messages that a request sends."""
    return line.fields["sent"]


def serves(cluster: Running, broker: Name, after: Name = "") -> None:
    """Waits until a broker serves, alone, and knows who would after it, if that is asked for."""

    def so() -> bool:
        shown = standings(cluster)
        serving = [name for name, text in shown.items() if text.startswith("serves node")]
        return serving == [broker] and shown[broker].endswith(f"; after it {after}" if after else "")

    until(so, f"{broker} serves, and {after or 'anybody'} would after it")


def all_is_kept(cluster: Running, serving: Name) -> None:
    """What clients were told is there once, at the one that serves; what they consumed is not."""
    asked, present = kept_by(serving, cluster, QUEUES, sent_with)
    assert asked.again(present) == []
    assert max(present.values()) == 1


def test_shared_store_fails_over_and_back_and_keeps_all(tmp_path: Path) -> None:
    with running(tmp_path, "artemis-shared-store", 2, 2, SHARED) as cluster:
        serves(cluster, "primary-1", after="backup-1")
        served(cluster)
        cluster.do("kill", "primary-1")
        serves(cluster, "backup-1")
        served(cluster)
        cluster.do("restart", "primary-1")
        serves(cluster, "primary-1", after="backup-1")  # it fails back
        served(cluster)

        cluster.do("stop", "primary-1")
        unserved(cluster, PAUSE_SECONDS)
        assert standings(cluster)["backup-1"] == "does not serve"  # the lock is with a process that is paused
        cluster.do("cont", "primary-1")
        served(cluster)

        cluster.do("cut", "primary-1", others=("primary-lock",))
        until(lambda: any(events(cluster, "critical_io")), "it ends itself: the lock cannot be confirmed")
        serves(cluster, "backup-1")
        served(cluster)
        cluster.do("heal")
        serves(cluster, "primary-1", after="backup-1")
        all_is_kept(cluster, "primary-1")


def test_replicated_pair_fails_over_and_back_and_keeps_all(tmp_path: Path) -> None:
    with running(tmp_path, "artemis-replication", 2, 2, REPLICATED) as cluster:
        serves(cluster, "primary-1", after="backup-1")
        served(cluster)
        cluster.do("kill", "primary-1")
        serves(cluster, "backup-1")
        served(cluster)
        cluster.do("restart", "primary-1")
        serves(cluster, "primary-1", after="backup-1")
        served(cluster)

        cluster.do("cut", "primary-1", others=("client-1", "client-2"))
        unserved(cluster, PAUSE_SECONDS)
        serves(cluster, "primary-1", after="backup-1")
        cluster.do("heal")
        served(cluster)
        all_is_kept(cluster, "primary-1")


def test_a_single_pair_that_is_cut_apart_splits_and_loses_what_one_side_acknowledged(tmp_path: Path) -> None:
    """**Source**: broker facts 2.10: with one pair nobody else can vote, so a backup that is cut off takes over."""
    with running(tmp_path, "artemis-replication", 2, 0, REPLICATED) as cluster:
        serves(cluster, "primary-1", after="backup-1")
        operator = Operator(Guest(cluster.folder), 20.0)
        both = operator.send("orders", "before the cut")
        cluster.do("cut", "primary-1", others=("backup-1",))

        def split() -> bool:
            return all(text.startswith("serves node primary-1.0.1;") for text in standings(cluster).values())

        until(split, "both serve the same node")
        one = operator.send("orders", "to the primary, which is asked first")
        assert [item[:2] for item in operator.browse("orders")] == [
            ("primary-1", both),
            ("primary-1", one),
            ("backup-1", both),
        ]
        cluster.do("kill", "primary-1")
        other = operator.send("orders", "to the backup")
        assert [item[:2] for item in operator.browse("orders")] == [("backup-1", both), ("backup-1", other)]


@nightly
def test_with_three_pairs_a_backup_that_is_cut_off_from_its_primary_does_not_serve(tmp_path: Path) -> None:
    with running(tmp_path, "artemis-replication", 6, 2, REPLICATED) as cluster:

        def paired() -> bool:
            shown = standings(cluster)
            return all("after it backup" in shown[f"primary-{number}"] for number in (1, 2, 3))

        until(paired, "each primary has a backup")
        served(cluster)
        backup = standings(cluster)["primary-1"].rpartition(" ")[2]
        cluster.do("cut", "primary-1", others=(backup,))
        until(lambda: standings(cluster)["primary-1"].endswith("; after it none"), "the primary goes on alone")
        served(cluster)
        time.sleep(2 * PAUSE_SECONDS)
        assert standings(cluster)[backup].startswith("does not serve")
        served(cluster)


def test_operator_sees_the_topology_as_clients_do(tmp_path: Path) -> None:
    with running(tmp_path, "artemis-shared-store", 3, 0, SHARED) as cluster:
        place = str(cluster.folder.place)
        serves(cluster, "primary-1")
        said = hacheck("admin", "send", "orders", "one", "--dir", place)
        assert (said.code, said.err) == (0, "")
        message = said.out.removeprefix("acknowledged: ").strip()
        assert hacheck("admin", "browse", "orders", "--dir", place).out == f"primary-1: orders: {message} one\n"
        cluster.do("kill", "primary-1")
        until(lambda: any(text.startswith("serves") for text in standings(cluster).values()), "a backup serves")
        shown = hacheck("admin", "topology", "--dir", place).out.splitlines()
        assert shown[0] == "primary-1  primary-1 is down"
        assert sorted(line[len("primary-1  ") :].partition(" node")[0] for line in shown[1:]) == [
            "does not serve",
            "serves",
        ]
        assert hacheck("admin", "browse", "orders", "--dir", place).out.endswith(f": orders: {message} one\n")


@nightly
def test_primary_that_was_given_up_while_it_waited_fails_back_all_the_same(tmp_path: Path) -> None:
    """**Source**: A-S1, A-S2: a backup gives up on a primary that marked its return and is silent; that one marks it
    again."""
    with running(tmp_path, "artemis-shared-store", 2, 2, SHARED) as cluster:
        serves(cluster, "primary-1", after="backup-1")
        cluster.do("kill", "primary-1")
        serves(cluster, "backup-1")
        cluster.do("stop", "client-1", "client-2")
        cluster.do("restart", "primary-1")
        until(lambda: len(list(events(cluster, "lock_waited_for"))) == 4, "it waits: two lines of each start")
        cluster.do("stop", "primary-1")
        cluster.do("restart", "backup-1")
        serves(cluster, "backup-1")  # after a while
        cluster.do("cont", "primary-1", "client-1", "client-2")
        serves(cluster, "primary-1", after="backup-1")
        served(cluster)
