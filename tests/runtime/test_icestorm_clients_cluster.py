"""A publisher and two subscribers of three real IceStorm replicas, of which one after the other is killed.

**Source**: Highly Available IceStorm, "Subscriber Considerations for IceStorm Replication", "Publisher Considerations
for IceStorm Replication".
"""

from __future__ import annotations

from pathlib import Path

import pytest

from hacheck.impl.node import Name
from hacheck.testing.reference_protocols import FOLLOWED
from tests.nightly import first_of
from tests.runtime.brokers import events
from tests.runtime.clusters import Running, running, until
from tests.runtime.test_icestorm_cluster import PATIENT, coordinator
from tests.traces.conformance.impl_recordings import verdicts, words_for

SUBSCRIBERS = ("client-2", "client-3")
SETTINGS = {**FOLLOWED["icestorm-clients"].options, **PATIENT, "client_period": "300ms", "messages_max": "24"}
"""As many messages as the spec has numbers for."""


def came(cluster: Running, who: Name) -> list[tuple[Name, int]]:
    """What a subscriber got: from which replica, and the publisher's number."""
    return [
        (line.fields["replica"], line.fields["number"]) for line in events(cluster, "delivered") if line.node == who
    ]


def get_more(cluster: Running) -> None:
    """Waits until each subscriber has two messages more."""
    before = {who: len(came(cluster, who)) for who in SUBSCRIBERS}
    until(lambda: all(len(came(cluster, who)) >= before[who] + 2 for who in SUBSCRIBERS), "messages come")


def bound_to(cluster: Running) -> Name:
    """The replica of the publisher's last connection."""
    *_, last = events(cluster, "publisher_bound")
    return str(last.fields["replica"])


@pytest.mark.parametrize("proxy", first_of(["replicated", "non_replicated"]))
def test_messages_come_from_another_replica_when_that_of_the_publisher_is_killed(tmp_path: Path, proxy: str) -> None:
    with running(tmp_path, "icestorm", 3, 3, {**SETTINGS, "proxy": proxy}) as cluster:
        coordinator(cluster, 3)
        get_more(cluster)
        killed = bound_to(cluster)
        cluster.do("kill", killed)
        get_more(cluster)
        assert bound_to(cluster) != killed
        cluster.do("restart", killed)
        second = coordinator(cluster, 3)
        cluster.do("kill", second)
        get_more(cluster)
        for who in SUBSCRIBERS:
            got = came(cluster, who)
            numbers = [number for _, number in got]
            assert len(set(numbers)) == len(numbers), "a message comes once"
            for replica in {replica for replica, _ in got}:
                of_it = [number for by, number in got if by == replica]
                assert of_it == sorted(of_it), "those of one replica come in order"
            assert killed in {replica for replica, _ in got}
            assert len({replica for replica, _ in got}) > 1
        assert len({line.fields["subscriber"] for line in events(cluster, "subscription_made")}) == len(SUBSCRIBERS)
        excepted = any(events(cluster, "publisher_failed"))
    assert excepted or proxy == "replicated", "who asked for a proxy of one replica is told that it is gone"
    words = (*words_for("icestorm-clients"), "--set", f"proxy={proxy}")
    assert verdicts(words, tmp_path / "records" / "cluster.jsonl") == {"conforms": 1}
