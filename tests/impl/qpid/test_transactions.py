"""Transactions, as they are and as they were, one rule of the sources in each test."""

from __future__ import annotations

from typing import Any

import pytest

from hacheck.impl.protocols.qpid import messages as wire
from tests.impl.qpid.stage import Hand, Stage, cluster
from tests.impl.qpid.test_client import told, with_client


def two(**options: Any) -> tuple[Stage, Hand]:
    """A primary with a queue, a backup that is ready, a client."""
    stage = cluster(2, **options)
    return stage, stage.hand().connect("broker-1").declare("q")


def replicated(**options: Any) -> tuple[Stage, Hand]:
    return two(transactions="replicated", **options)


@pytest.mark.parametrize("who", ["local", "replicated"])
def test_nothing_of_a_transaction_is_on_a_queue_before_it_is_committed(who: str) -> None:
    """Survey 1.14: what is not committed is invisible, on backups too."""
    stage, hand = two(transactions=who)
    hand.publish("q", "a", "b", transaction="t")
    assert stage.on_queue("broker-1") == stage.on_queue("broker-2") == []
    hand.commit("t")
    assert stage.on_queue("broker-1") == stage.on_queue("broker-2") == ["a", "b"]
    assert hand.heard[-1] == wire.Done("commit/t")


def test_messages_have_their_ids_before_they_are_on_a_queue() -> None:
    """Overview, "Message Identifiers": messages of an open transaction are on no queue, and have ids."""
    stage, hand = two()
    hand.publish("q", "a", transaction="t").publish("q", "other").commit("t")
    assert stage.on_queue("broker-1") == ["other", "a"]
    ids = stage.ids("broker-1")
    assert ids == [ids[1] + 1, ids[1]]
    assert stage.ids("broker-2") == ids


def test_local_transaction_is_there_in_part_after_a_failover() -> None:
    """Survey 1.9, QP-9: unsafe are transactions of several messages, between the commit and its confirmation."""
    stage, hand = two(flow_messages=1)
    hand.publish("q", "a", "b", transaction="t")
    stage.hold("broker-2", "broker-1")
    hand.commit("t")
    assert wire.Done("commit/t") not in hand.heard
    stage.crash("broker-1")
    stage.promote("broker-2")
    assert stage.on_queue("broker-2") == ["a"]


def test_replicated_transaction_that_no_backup_was_told_to_commit_is_not_there() -> None:
    """Survey 1.9: open transactions are dropped at a failover."""
    stage, hand = replicated(flow_messages=1)
    hand.publish("q", "a", "b", transaction="t")
    stage.hold_from("broker-2", "broker-1", wire.TxPrepared)
    hand.commit("t")
    assert stage.fields("tx_prepared", "broker-2")[0]["ok"]
    stage.crash("broker-1")
    stage.promote("broker-2")
    assert stage.on_queue("broker-2") == []


def test_replicated_transaction_is_there_as_a_whole_after_a_failover() -> None:
    """Survey 1.9: each backup has it, and commits it by itself."""
    stage, hand = replicated(flow_messages=1)
    hand.publish("q", "a", "b", transaction="t")
    stage.hold_from("broker-2", "broker-1", wire.Acknowledge)
    hand.commit("t")
    assert wire.Done("commit/t") not in hand.heard
    stage.crash("broker-1")
    stage.promote("broker-2")
    assert stage.on_queue("broker-2") == ["a", "b"]


def test_brokers_that_commit_by_themselves_have_orders_of_their_own() -> None:
    """Overview, "Message Identifiers": identical sequences are not required; ids tell which message is which."""
    stage, hand = replicated(flow_messages=1)
    hand.publish("q", "a", transaction="t")
    stage.hold_from("broker-2", "broker-1", wire.Acknowledge)
    hand.publish("q", "x", "y")  # the copy of y waits for the word that x is there
    stage.release(("broker-2", "broker-1"))
    stage.hold_from("broker-2", "broker-1", wire.Acknowledge)
    hand.publish("q", "z")
    stage.hold_from("broker-1", "broker-2", wire.TxPrepare)
    hand.commit("t")
    stage.release(("broker-1", "broker-2"))
    stage.release(("broker-2", "broker-1"))
    assert sorted(stage.on_queue("broker-1")) == sorted(stage.on_queue("broker-2")) == ["a", "x", "y", "z"]
    stage.hand("consumer").connect("broker-1").consume("q").accept("q", 1)
    assert "x" not in stage.on_queue("broker-2")


@pytest.mark.parametrize(("bug", "status"), [(False, "catchup"), (True, "ready")])
def test_backup_is_not_ready_while_there_is_a_transaction_that_it_does_not_have(bug: bool, status: str) -> None:
    """QP-9: it would have a part of the transaction, while its messages come one by one."""
    stage = Stage(3, fencing="none", transactions="replicated", flow_messages=1, bug_ready_during_tx=bug)
    stage.start("broker-1", "broker-2").pass_time(stage.options.heartbeat_us)
    stage.promote("broker-1")
    stage.pass_time(6 * stage.options.link_maintenance_us)
    hand = stage.hand().connect("broker-1").declare("q").publish("q", "a", "b", transaction="t")
    stage.start("broker-3").pass_time(6 * stage.options.link_maintenance_us)
    assert stage.status("broker-3") == status
    stage.hold_from("broker-3", "broker-1", wire.Acknowledge)
    hand.commit("t")
    assert stage.on_queue("broker-2") == ["a", "b"]
    assert (stage.on_queue("broker-3"), stage.status("broker-3")) == (["a"], status)
    stage.release(("broker-3", "broker-1"))
    assert (stage.on_queue("broker-3"), stage.status("broker-3")) == (["a", "b"], "ready")


def test_backup_that_has_caught_up_has_new_transactions_and_waits_for_older_ones_only() -> None:
    """However many there are, one after the other: it is ready at last."""
    stage = Stage(2, fencing="none", transactions="replicated")
    stage.start("broker-1").pass_time(stage.options.heartbeat_us)
    stage.promote("broker-1")
    hand = stage.hand().connect("broker-1").declare("q").publish("q", "a", transaction="old")
    stage.start("broker-2").pass_time(6 * stage.options.link_maintenance_us)
    hand.publish("q", "b", transaction="new")
    assert stage.status("broker-2") == "catchup"
    hand.commit("old")
    assert stage.status("broker-2") == "ready"
    hand.commit("new")
    assert stage.on_queue("broker-2") == ["a", "b"]


def test_transaction_is_rolled_back_when_a_backup_cannot_prepare() -> None:
    """Survey 1.9: prepare and commit."""
    stage, hand = replicated()
    hand.publish("q", "a", transaction="t")
    stage.nodes["broker-2"].backup.transactions.parts.clear()
    hand.commit("t")
    assert hand.heard[-1] == wire.Failed("commit/t", "rolled back: a backup could not prepare")
    assert stage.on_queue("broker-1") == stage.on_queue("broker-2") == []


def test_nobody_waits_for_a_backup_that_is_gone() -> None:
    """Overview, "Queue Replication": guards of a backup that is gone are cancelled; so is what it was to prepare."""
    stage, hand = replicated()
    stage.hold_from("broker-2", "broker-1", wire.TxPrepared)
    hand.publish("q", "a", transaction="t").commit("t")
    assert wire.Done("commit/t") not in hand.heard
    stage.crash("broker-2")
    assert hand.heard[-1] == wire.Done("commit/t")
    assert stage.on_queue("broker-1") == ["a"]


@pytest.mark.parametrize("who", ["local", "replicated"])
def test_rollback_leaves_no_trace(who: str) -> None:
    """Survey 1.9, 1.14."""
    stage, hand = two(transactions=who)
    hand.publish("q", "old").consume("q").publish("q", "a", transaction="t").accept("q", 1, transaction="t")
    hand.say(wire.RollBack("r", "t"))
    assert hand.heard[-1] == wire.Done("r")
    assert stage.on_queue("broker-1") == stage.on_queue("broker-2") == ["old"]
    hand.accept("q", 1)
    assert stage.on_queue("broker-1") == stage.on_queue("broker-2") == []


def test_transaction_of_a_client_that_is_gone_is_rolled_back() -> None:
    """Survey 1.9: what was not committed is aborted; what it had accepted is for others."""
    stage, hand = replicated()
    hand.publish("q", "old").consume("q").publish("q", "a", transaction="t").accept("q", 1, transaction="t")
    other = stage.hand("client-2").connect("broker-1").consume("q")
    stage.crash("client-1")
    assert other.delivered == ["old"]
    assert stage.nodes["broker-2"].backup.transactions.parts == {}


def test_what_a_committed_transaction_takes_is_gone_from_all() -> None:
    """Survey 1.9."""
    stage, hand = replicated()
    hand.publish("q", "old").consume("q").publish("q", "a", transaction="t").accept("q", 1, transaction="t").commit("t")
    assert stage.on_queue("broker-1") == stage.on_queue("broker-2") == ["a"]


def test_durable_transaction_is_confirmed_when_it_is_on_the_disks_of_all() -> None:
    """Survey 1.5: with a store, completion waits for the store."""
    stage = cluster(2, transactions="replicated", store=True)
    hand = stage.hand().connect("broker-1").declare("q", durable=True)
    stage.slow.update(stage.names)
    hand.publish("q", "a", transaction="t", durable=True).commit("t")
    assert wire.Done("commit/t") not in hand.heard
    for name in stage.names:
        stage.unslow(name)
    stage.settle()
    assert hand.heard[-1] == wire.Done("commit/t")


# ---- the client --------------------------------------------------------------------------------------------------


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
