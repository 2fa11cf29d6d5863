"""Real pairs of Fiorano servers: with a copy of the database each, and with one that they share.

**Source**: Fiorano Replicated High Availability Working 3.1, Shared High Availability Working 3.2, HA Locking
Mechanism: whoever has the lock serves, and the lock is let go when its holder ends, not when it is paused or cut off.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from hacheck.cli.running.broker_administration import Operator
from hacheck.impl.node import Name
from hacheck.impl.recording import Line
from hacheck.impl.runtime.control import Guest
from tests.cli.command import hacheck
from tests.nightly import nightly
from tests.runtime.brokers import CLIENTS, events, kept_by, served, standings, stands, unserved
from tests.runtime.clusters import Running, running, until

QUICK = {
    "ping_us": "150000",
    "socket_timeout_us": "600000",
    "connect_us": "300000",
    "lock_check_us": "200000",
    "lock_timeout_us": "1500000",
    "session_timeout_us": "1500000",
    "call_timeout_us": "1000000",
    "reconnect_us": "200000",
}
SERVERS = ("primary", "backup")
PLACES = ("orders", *(f"prices/{name}" for name in CLIENTS))
PAUSE_SECONDS = 1.5
"""Longer than all time-outs of a pair."""


def sent_with(line: Line) -> list[str]:
    """The messages that a request sends. What is published counts for the subscribers of its time; that all clients
    have subscribed comes first."""
    return [line.fields["request"]] if line.fields["operation"] in ("SendMessage", "Publish") else []


def peer(name: Name) -> Name:
    """The other one."""
    return SERVERS[SERVERS[0] == name]


def active(cluster: Running, *states: str, other_than: Name = "") -> Name:
    """Who serves, once one does and says to be in one of these states."""
    found: list[Name] = []

    def there_is() -> bool:
        found[:] = [name for name, text in standings(cluster).items() if text.startswith(states) and name != other_than]
        return len(found) == 1

    until(there_is, f"one server other than {other_than or 'nobody'} is {' or '.join(states)}")
    return found[0]


def all_is_kept(cluster: Running, serving: Name) -> None:
    """What clients were told is there, at the one that serves."""
    kept_by(serving, cluster, PLACES, sent_with)


def test_replicated_pair_keeps_all_in_a_kill_a_pause_and_a_cut_from_peer_and_lock(tmp_path: Path) -> None:
    with running(tmp_path, "fiorano-replicated", 2, 2, QUICK) as cluster:
        first = active(cluster, "ACTIVE,")
        served(cluster)
        cluster.do("kill", first)
        second = active(cluster, "STANDALONE,", other_than=first)
        served(cluster)
        cluster.do("restart", first)
        stands(cluster, first, "PASSIVE,")
        served(cluster)

        cluster.do("stop", second)
        unserved(cluster, PAUSE_SECONDS)
        assert standings(cluster)[first].startswith("WAITING,")  # the lock is with a process that is paused
        cluster.do("cont", second)
        third = active(cluster, "ACTIVE,")
        served(cluster)

        cluster.do("cut", third, others=("gateway",))
        until(lambda: "lock not held" in standings(cluster)[third], "it hears that the lock is out of reach")
        served(cluster)  # the channel is up: it stays active
        cluster.do("cut", third, others=(peer(third),))
        stands(cluster, third, "WAITING,")
        cluster.do("heal")
        fourth = active(cluster, "ACTIVE,")
        served(cluster)
        all_is_kept(cluster, fourth)


def test_shared_pair_keeps_all_and_the_lock_decides(tmp_path: Path) -> None:
    with running(tmp_path, "fiorano-shared", 2, 2, QUICK) as cluster:
        first = active(cluster, "ACTIVE,")
        served(cluster)
        cluster.do("kill", first)
        second = active(cluster, "ACTIVE,", other_than=first)
        served(cluster)
        cluster.do("restart", first)
        stands(cluster, first, "PASSIVE,")

        cluster.do("stop", second)
        unserved(cluster, PAUSE_SECONDS)
        assert standings(cluster)[first].startswith("PASSIVE,")
        cluster.do("cont", second)
        served(cluster)

        cluster.do("cut", second, others=("database",))
        third = active(cluster, "ACTIVE,", other_than=second)  # S9: a server without its database ends
        served(cluster)
        cluster.do("heal")
        stands(cluster, second, "PASSIVE,")
        all_is_kept(cluster, third)


@nightly
def test_shared_pair_has_nobody_serving_while_the_holder_is_cut_off_from_the_lock(tmp_path: Path) -> None:
    with running(tmp_path, "fiorano-shared", 2, 2, QUICK) as cluster:
        first = active(cluster, "ACTIVE,")
        served(cluster)
        cluster.do("cut", first, others=("gateway",))
        stands(cluster, first, "PASSIVE,")
        unserved(cluster, PAUSE_SECONDS)
        assert standings(cluster)[peer(first)].startswith("PASSIVE,")
        cluster.do("heal")
        second = active(cluster, "ACTIVE,")
        served(cluster)
        all_is_kept(cluster, second)


@pytest.mark.parametrize("safe", [False, True])
def test_first_of_two_that_ended_starts_without_what_the_second_served_alone(tmp_path: Path, safe: bool) -> None:
    """**Source**: F-W3: each starts with the lock if its peer is not there, however old its copy is; with
    `epochs_in_lock_file` it sees that the peer has served since."""
    settings = QUICK | {"epochs_in_lock_file": str(safe).lower()}
    with running(tmp_path, "fiorano-replicated", 2, 0, settings) as cluster:
        operator = Operator(Guest(cluster.folder), 20.0)
        first = active(cluster, "ACTIVE,")
        both = operator.send("news", "both have it")
        cluster.do("kill", first)
        alone = operator.send("news", "one has it")
        assert [message for _, message, _ in operator.browse("news")] == [both, alone]
        cluster.do("kill", peer(first))
        cluster.do("restart", first)
        if safe:
            until(lambda: any(events(cluster, "stale")), "it has seen the claim")
            assert standings(cluster)[first].startswith("WAITING,")
            cluster.do("restart", peer(first))
        left = [message for _, message, _ in operator.browse("news")]
        assert left == ([both, alone] if safe else [both])


def test_operator_sees_both_servers(tmp_path: Path) -> None:
    with running(tmp_path, "fiorano-shared", 2, 0, QUICK) as cluster:
        place = str(cluster.folder.place)
        first = active(cluster, "ACTIVE,")
        stands(cluster, peer(first), "PASSIVE, before DEAD; peer ACTIVE")
        shown = hacheck("admin", "state", "--dir", place).out.splitlines()
        assert f"{first:<7}  ACTIVE, before ACTIVATING; peer PASSIVE; lock held" in shown
        assert f"{peer(first):<7}  PASSIVE, before DEAD; peer ACTIVE; lock not held" in shown
        message = hacheck("admin", "send", "news", "one", "--dir", place).out.removeprefix("acknowledged: ").strip()
        cluster.do("kill", first)
        listed = hacheck("admin", "browse", "news", "--dir", place).out
        assert listed.startswith(f"{peer(first)}: news: {message} ptp/news/")
