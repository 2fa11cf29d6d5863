"""Three real Qpid brokers and their resource manager: the primary is killed, paused and cut off, and backups rejoin.

**Source**: overview of the HA module, Q-G1: what was completed to its publisher is on a backup that is ready; survey of
broker failover protocols, section 1.11, for the resource manager and the watchdog.
"""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path

from hacheck.impl.node import Name
from hacheck.impl.recording import Line
from tests.cli.command import hacheck
from tests.nightly import nightly
from tests.runtime.brokers import Asked, events, kept, kept_by, served, standings, stands, there
from tests.runtime.clusters import Running, running, until

QUICK = {
    "check_interval_us": "100000",
    "check_timeout_us": "500000",
    "start_timeout_us": "1000000",
    "stop_timeout_us": "500000",
    "watchdog_us": "700000",
    "heartbeat_us": "300000",
    "link_maintenance_us": "200000",
    "reconnect_interval_us": "100000",
    "send_interval_us": "20000",
    "backup_timeout_us": "2000000",
}
BROKERS = ("broker-1", "broker-2", "broker-3")
QUEUES = ("queue-1", "queue-2")
PAUSE_SECONDS = 2.0
"""Longer than all time-outs that another primary waits for."""


def sent_with(line: Line) -> list[str]:
    """The messages that a request sends."""
    return line.fields["messages"] if line.fields["operation"] == "send" else []


def primary(cluster: Running, ready: int, other_than: Name = "") -> Name:
    """Who is the primary, once it is active, and so many backups are ready."""
    found: list[Name] = []

    def there_is() -> bool:
        status = {name: text.partition(",")[0] for name, text in standings(cluster).items()}
        found[:] = [name for name, word in status.items() if word == "active" and name != other_than]
        return len(found) == 1 and sum(word == "ready" for word in status.values()) >= ready

    until(there_is, f"one primary other than {other_than or 'nobody'}, and {ready} ready backups")
    return found[0]


def test_nothing_completed_is_lost_by_a_kill_and_a_pause_of_the_primary(tmp_path: Path) -> None:
    with running(tmp_path, "qpid", 3, 2, QUICK) as cluster:
        first = primary(cluster, 2)
        served(cluster)
        cluster.do("kill", first)
        second = primary(cluster, 1, other_than=first)
        served(cluster)
        cluster.do("restart", first)
        assert primary(cluster, 2) == second  # it comes back as a backup

        cluster.do("stop", second)
        third = primary(cluster, 1, other_than=second)
        served(cluster)
        cluster.do("cont", second)
        until(lambda: cluster.standings()[second].incarnation > 0, "its watchdog has bitten")
        assert primary(cluster, 2) == third

        served(cluster)
        kept_by(third, cluster, QUEUES, sent_with)
        assert [line.fields["term"] for line in events(cluster, "promoted")] == [1, 2, 3]
        ended = {line.fields["reason"] for line in events(cluster, "shut_down")}
        assert ended == {"the watchdog was not fed"}


@nightly
def test_nothing_completed_is_lost_by_a_cut_of_the_primary(tmp_path: Path) -> None:
    with running(tmp_path, "qpid", 3, 2, QUICK) as cluster:
        first = primary(cluster, 2)
        served(cluster)
        cluster.do("cut", first)
        second = primary(cluster, 1, other_than=first)
        served(cluster)
        cluster.do("heal")
        assert primary(cluster, 2) == second
        served(cluster)
        kept_by(second, cluster, QUEUES, sent_with)


@nightly
def test_backup_that_is_cut_off_keeps_nobody_waiting_and_catches_up(tmp_path: Path) -> None:
    with running(tmp_path, "qpid", 2, 2, QUICK) as cluster:
        first = primary(cluster, 1)
        (backup,) = {"broker-1", "broker-2"} - {first}
        cluster.do("cut", backup, others=(first,))
        served(cluster)
        time.sleep(1.0)
        served(cluster)
        cluster.do("heal")
        stands(cluster, backup, "ready")
        served(cluster)
        listed = {line.fields["ready"][0] if line.fields["ready"] else "" for line in events(cluster, "membership")}
        assert "" in listed  # it was left out meanwhile
        _, present = there(cluster, *QUEUES)
        kept(Asked(cluster, sent_with), present)


def test_backup_that_was_cut_off_is_promoted_without_what_was_completed_meanwhile(tmp_path: Path) -> None:
    """**Source**: Q-W1: a backup that has lost its link still calls itself ready. The other way round nothing is lost:
    with `registered_backups` the manager knows who is in step."""
    with running(tmp_path, "qpid", 2, 2, QUICK) as cluster:
        first = primary(cluster, 1)
        (backup,) = {"broker-1", "broker-2"} - {first}
        served(cluster)
        cluster.do("cut", backup, others=(first,))
        left_out(cluster)
        served(cluster)
        cluster.do("kill", first)
        assert primary(cluster, 0, other_than=first) == backup
        served(cluster)
        _, present = there(cluster, *QUEUES)
        asked = Asked(cluster, sent_with)
        assert len(asked.lost(present)) >= 3
        assert len(asked.sent) > len(asked.lost(present)) + 3


@nightly
def test_only_registered_backups_are_promoted_where_that_is_wanted(tmp_path: Path) -> None:
    with running(tmp_path, "qpid", 2, 2, QUICK | {"registered_backups": "yes"}) as cluster:
        first = primary(cluster, 1)
        (backup,) = {"broker-1", "broker-2"} - {first}
        served(cluster)
        cluster.do("cut", backup, others=(first,))
        left_out(cluster)
        served(cluster)
        cluster.do("stop", first)
        time.sleep(PAUSE_SECONDS)
        assert standings(cluster)[backup].startswith("ready")  # it would serve, and is not asked to


def left_out(cluster: Running) -> None:
    """Waits until the primary goes on without its only backup."""
    seen = sum(1 for _ in events(cluster, "membership"))

    def gone() -> bool:
        latest = list(events(cluster, "membership"))
        return len(latest) > seen and not latest[-1].fields["ready"]

    until(gone, "the primary goes on alone")


def test_operator_sees_each_broker_and_uses_queues_as_a_client_does(tmp_path: Path) -> None:
    with running(tmp_path, "qpid", 2, 1, QUICK) as cluster:
        place = str(cluster.folder.place)
        first = primary(cluster, 1)
        until(lambda: any(events(cluster, "told")), "the client has made its queue, and uses it")
        cluster.do("kill", "client-1")
        assert f"{first}  active, term 1" in hacheck("admin", "status", "--dir", place).out.splitlines()
        said = hacheck("admin", "send", "queue-1", "a last word", "--dir", place)
        message = said.out.removeprefix("acknowledged: ").strip()
        assert hacheck("admin", "browse", "queue-1", "--dir", place).out.splitlines()[-1] == (
            f"{first}: queue-1: {message} a last word"
        )
        refused = hacheck("admin", "send", "orders", "x", "--dir", place)
        assert (refused.code, refused.err) == (2, "error: send orders: no queue `orders`\n")
        wrong = hacheck("admin", "topology", "--dir", place, columns=200)
        assert (wrong.code, wrong.out) == (2, "")
        assert wrong.err.startswith("error: topology is for artemis-shared-store, artemis-replication, ")
        assert "that has: status, browse, send" in wrong.err
        cluster.do("kill", *BROKERS[:2])
        nobody = hacheck("admin", "send", "queue-1", "x", "--time", "1s", "--dir", place)
        assert nobody.code == 3
        assert "is not acknowledged: broker-2: broker-2 is down" in nobody.out
        assert hacheck("admin", "status", "--dir", place).out.splitlines() == [
            "broker-1  broker-1 is down",
            "broker-2  broker-2 is down",
        ]


def test_replicated_transactions_are_whole_after_a_kill_of_the_primary(tmp_path: Path) -> None:
    """**Source**: survey of broker failover protocols, section 1.9: each backup commits a transaction by itself."""
    settings = {"transactions": "replicated", "transaction_every": "1", "transaction_size": "4"}
    with running(tmp_path, "qpid", 3, 2, QUICK | settings) as cluster:
        first = primary(cluster, 2)
        served(cluster)
        cluster.do("kill", first)
        primary(cluster, 1, other_than=first)
        served(cluster)
        _, present = there(cluster, *QUEUES)
        commits = {
            line.fields["request"]: line.fields["messages"]
            for line in events(cluster, "asked")
            if line.fields["operation"] == "commit"
        }
        taken = {
            message
            for line in events(cluster, "asked")
            if line.fields["operation"] == "accept"
            for message in line.fields["messages"]
        }
        assert len(commits) > 6
        for messages in commits.values():
            left = [message for message in messages if message not in taken]
            assert {present[message] > 0 for message in left} in (set(), {True}, {False})
        done = [line for line in events(cluster, "told") if line.fields["outcome"] == "ok"]
        kept_ones = [one for line in done for one in commits.get(line.fields["request"], ())]
        assert all(present[message] or message in taken for message in kept_ones)


def test_applications_go_over_to_the_copy_of_a_broker_that_was_killed(tmp_path: Path) -> None:
    """**Source**: survey of broker failover protocols, section 1.10: nobody promotes; what was completed is there."""
    settings = QUICK | {"go_over_after_us": "1500000"}
    with running(tmp_path, "qpid-standalone", 2, 2, settings) as cluster:
        until(lambda: len(list(events(cluster, "caught-up"))) >= len(QUEUES), "the copy has caught up")
        served(cluster)
        cluster.do("kill", "broker-1")
        until(lambda: len(list(events(cluster, "gone_over"))) == 2, "both clients use the copy")
        cluster.do("restart", "broker-1")
        served(cluster)
        brokers, present = there_at(cluster, "broker-2")
        asked = Asked(cluster, sent_with)
        assert brokers == {"broker-2"}
        assert not asked.lost(present)


def there_at(cluster: Running, broker: Name) -> tuple[set[Name], Counter[str]]:
    """What one broker has, where several would answer."""
    for name in ("client-1", "client-2", *(one for one in BROKERS[:2] if one != broker)):
        cluster.do("kill", name)
    return there(cluster, *QUEUES)
