"""The client, one rule of the sources in each test."""

from __future__ import annotations

from typing import Any

import pytest

from hacheck.impl.protocols.qpid.client import Client
from tests.impl.qpid.stage import Stage, cluster


def with_client(stage: Stage, index: int = 0) -> Client:
    name = f"client-{index + 1}"
    client = stage.play(name, lambda setup: Client(setup, stage.options, stage.names, index))
    stage.settle()
    return client


def told(stage: Stage, name: str = "client-1") -> dict[str, Any]:
    return {fields["request"]: fields["outcome"] for fields in stage.fields("told", name)}


def test_client_finds_the_primary_among_the_addresses() -> None:
    """Overview, "Locating the Primary": backups refuse it, so it tries the next address."""
    stage = cluster(3)
    stage.crash("broker-1")
    stage.promote("broker-3")
    client = with_client(stage)
    stage.pass_time(2 * stage.options.reconnect_interval_us)
    assert client.live
    assert client.channel is not None
    assert client.channel.peer == "broker-3"


def test_client_sends_unsettled_messages_again_in_order_under_the_same_ids() -> None:
    """Overview, "At-least-once": what is in doubt is sent again, and may be there twice (Q-G2)."""
    stage = cluster(2)
    client = with_client(stage)
    stage.hold("broker-1", "client-1")
    stage.pass_time(3 * stage.options.send_interval_us)
    names = list(client.unsettled)
    assert len(names) == 3
    assert stage.on_queue("broker-2", "queue-1") == names
    stage.crash("broker-1")
    stage.release(lost=True)
    stage.promote("broker-2")
    stage.pass_time(2 * stage.options.reconnect_interval_us)
    assert stage.on_queue("broker-2", "queue-1")[:6] == names + names
    stage.start("broker-1").pass_time(4 * stage.options.link_maintenance_us)
    assert all(told(stage)[name] == "ok" for name in names)


def test_client_holds_no_more_unsettled_messages_than_its_window() -> None:
    """A sender has a capacity."""
    stage = cluster(2, window=4)
    stage.hold("broker-2", "broker-1")
    client = with_client(stage)
    stage.pass_time(10 * stage.options.send_interval_us)
    assert len(client.unsettled) == 4


def test_consumer_is_not_told_of_an_accept_that_was_not_answered() -> None:
    """Its outcome is unknown; the message comes again if it is still there (near miss: re-delivery)."""
    stage = cluster(2)
    with_client(stage, 1)
    stage.pass_time(5 * stage.options.send_interval_us)
    asked = [fields for fields in stage.fields("asked", "client-2") if fields["operation"] == "accept"]
    assert {told(stage, "client-2")[fields["request"]] for fields in asked} == {"ok"}
    stage.hold("client-2", "broker-1")
    stage.pass_time(stage.options.send_interval_us)
    stage.crash("broker-1")
    unknown = [request for request, outcome in told(stage, "client-2").items() if outcome == "unknown"]
    later = [fields for fields in stage.fields("asked", "client-2") if fields["operation"] == "accept"][len(asked) :]
    assert unknown == [fields["request"] for fields in later]


def test_client_declares_a_queue_again_that_a_failover_lost() -> None:
    """Survey 1.5: changes of the configuration complete on the primary alone."""
    stage = cluster(2)
    stage.hold("broker-1", "broker-2")
    client = with_client(stage)
    stage.pass_time(2 * stage.options.send_interval_us)
    stage.crash("broker-1")
    stage.release(lost=True)
    stage.promote("broker-2")
    assert "queue-1" not in stage.nodes["broker-2"].wiring.queues
    stage.pass_time(2 * stage.options.reconnect_interval_us)
    assert client.live
    asked = [fields["request"] for fields in stage.fields("asked", "client-1")]
    assert stage.on_queue("broker-2", "queue-1")[:2] == asked[:2]


# ---- transactions ----


def test_transaction_that_was_not_committed_is_aborted_and_one_that_was_is_unknown() -> None:
    """Survey 1.9: two distinct errors."""
    stage = cluster(2, transaction_every=1, transaction_size=2)
    client = with_client(stage)
    stage.pass_time(stage.options.send_interval_us)
    first = client.transactions.name
    stage.crash("broker-1")
    assert told(stage)[first] == "aborted"
    stage.promote("broker-2")
    stage.pass_time(2 * stage.options.reconnect_interval_us)
    stage.hold("broker-2", "client-1")
    while not client.transactions.requests:
        stage.pass_time(stage.options.send_interval_us)
    (request,) = client.transactions.requests
    stage.crash("broker-2")
    assert told(stage)[request] == "unknown"


@pytest.mark.parametrize(("again", "times"), [(False, 1), (True, 2)])
def test_application_that_does_a_transaction_again_finds_it_there_twice(again: bool, times: int) -> None:
    """Overview, "At-least-once": duplicates are the application's matter."""
    stage = cluster(2, transaction_every=1, transactions_max=1, repeats_unknown=again, messages_max=3)
    client = with_client(stage)
    stage.pass_time(3 * stage.options.send_interval_us)
    stage.hold("broker-1", "client-1")
    stage.pass_time(stage.options.send_interval_us)
    assert client.transactions.requests
    stage.crash("broker-1")
    stage.release(lost=True)
    stage.promote("broker-2")
    stage.pass_time(2 * stage.options.reconnect_interval_us + 6 * stage.options.send_interval_us)
    queue = stage.on_queue("broker-2", "queue-1")
    assert [queue.count(name) for name in dict.fromkeys(queue)] == [times] * 3
