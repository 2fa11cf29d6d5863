"""A real IceStorm service with a publisher and subscribers: it is killed, and so is a subscriber.

**Source**: IceStorm Concepts, "Persistent Mode", "Subscriber Errors".
"""

from __future__ import annotations

from pathlib import Path

from hacheck.impl.node import Name
from tests.runtime.brokers import events
from tests.runtime.clusters import Running, running, until

QUICK = {"client_period": "50ms", "client_timeout": "1s", "invocation_timeout": "500ms", "ask_period": "300ms"}


def came(cluster: Running, who: Name) -> list[tuple[str, int]]:
    """The messages that a subscriber got: publisher and number."""
    return [
        (line.fields["publisher"], line.fields["number"]) for line in events(cluster, "delivered") if line.node == who
    ]


def gets_more(cluster: Running, who: Name) -> None:
    """Waits until a subscriber gets messages."""
    before = len(came(cluster, who))
    until(lambda: len(came(cluster, who)) >= before + 3, f"{who} gets messages")


def test_subscriptions_and_links_outlive_a_kill_of_the_service_and_messages_do_not(tmp_path: Path) -> None:
    with running(tmp_path, "icestorm-topics", 1, 4, QUICK | {"ask_period": "0"}) as cluster:
        for number in (1, 2, 3):
            gets_more(cluster, f"subscriber-{number}")
        made = len(list(events(cluster, "subscription_made")))
        cluster.do("kill", "service-1")
        cluster.do("restart", "service-1")
        for number in (1, 2, 3):
            gets_more(cluster, f"subscriber-{number}")
            got = came(cluster, f"subscriber-{number}")
            assert got == sorted(set(got))
        assert len(list(events(cluster, "subscription_made"))) == made


def test_killed_subscriber_is_taken_off_and_subscribes_again(tmp_path: Path) -> None:
    with running(tmp_path, "icestorm-topics", 1, 3, QUICK) as cluster:
        gets_more(cluster, "subscriber-1")
        cluster.do("kill", "subscriber-1")
        until(lambda: any(events(cluster, "subscription_ended")), "it is off the topic")
        cluster.do("restart", "subscriber-1")
        gets_more(cluster, "subscriber-1")
        gets_more(cluster, "subscriber-2")
