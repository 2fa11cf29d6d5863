"""Brokers with a store: what outlives a restart, and what a disk must be."""

from __future__ import annotations

import msgspec
import pytest

from hacheck.impl.node import Setup
from hacheck.impl.protocols.qpid import messages as wire
from hacheck.impl.protocols.qpid import objects
from hacheck.impl.protocols.qpid.broker import Broker, Place
from hacheck.impl.protocols.qpid.options import Options
from hacheck.impl.system import Refused
from tests.impl.qpid.stage import Stage, cluster


def test_durable_message_is_completed_when_it_is_on_the_disks_of_all() -> None:
    """Overview, "At-least-once and delayed completion": the persistent store is included."""
    stage = cluster(2, store=True)
    hand = stage.hand().connect("broker-1").declare("q", durable=True)
    stage.slow.update(stage.names)
    hand.publish("q", "a", durable=True).publish("q", "b")
    assert stage.on_queue("broker-2") == ["a", "b"]
    assert hand.completed == ["b"]
    for name in stage.names:
        stage.unslow(name)
    stage.settle()
    assert hand.completed == ["b", "a"]


def test_sole_broker_recovers_durable_messages_and_wiring() -> None:
    """Survey 1.8: with a store, the broker that is promoted recovers it. Ids are new."""
    stage = Stage(1, store=True, fencing="none").start()
    stage.pass_time(stage.options.heartbeat_us)
    stage.promote("broker-1")
    hand = stage.hand().connect("broker-1").declare("q", durable=True)
    hand.say(wire.DeclareExchange("e", "x", "direct", objects.Arguments(durable=True)))
    hand.say(wire.Bind("b", objects.BindingObject("x", "q", "k")))
    hand.publish("q", "a", "b", "c", durable=True).publish("q", "not durable").consume("q").accept("q", 1)
    stage.crash("broker-1").start("broker-1").pass_time(stage.options.heartbeat_us)
    assert stage.promote("broker-1").ok
    assert stage.on_queue("broker-1") == ["b", "c"]
    assert stage.ids("broker-1") == [1, 2]
    assert stage.nodes["broker-1"].wiring.exchanges["x"].bound() == (objects.BindingObject("x", "q", "k"),)


def test_restarted_backup_erases_its_store_and_synchronises() -> None:
    """Survey 1.8, 1.14: what the primary has counts, on the disk, too."""
    stage = cluster(2, store=True)
    hand = stage.hand().connect("broker-1").declare("q", durable=True).publish("q", "a", durable=True)
    stage.crash("broker-2")
    hand.publish("q", "b", durable=True).consume("q").accept("q", 1)
    stage.start("broker-2").pass_time(2 * stage.options.link_maintenance_us)
    assert stage.on_queue("broker-2") == ["b"]
    assert len([key for key in stage.disks["broker-2"] if key.startswith("message/")]) == 1


def test_first_broker_promoted_after_a_total_stop_wins_even_with_an_older_store() -> None:
    """QP-12, Q-W5: no broker looks for the freshest store."""
    stage = cluster(2, store=True)
    hand = stage.hand().connect("broker-1").declare("q", durable=True).publish("q", "a", durable=True)
    stage.crash("broker-2")
    hand.publish("q", "b", durable=True)
    assert hand.completed == ["a", "b"]
    stage.crash("broker-1").start("broker-2", "broker-1").pass_time(stage.options.heartbeat_us)
    stage.promote("broker-2")
    stage.pass_time(4 * stage.options.link_maintenance_us)
    assert stage.on_queue("broker-1") == stage.on_queue("broker-2") == ["a"]


def test_id_of_a_broker_outlives_restarts_and_is_no_other_brokers() -> None:
    """Survey 1.1: the system id."""
    stage = Stage(2, fencing="none").start()
    before = [stage.nodes[name].system for name in stage.names]
    assert before[0] != before[1]
    stage.crash(*stage.names).start()
    assert [stage.nodes[name].system for name in stage.names] == before
    stage.crash("broker-1")
    stage.disks["broker-1"].clear()
    stage.start("broker-1")
    assert stage.nodes["broker-1"].system not in before


def test_disk_of_a_newer_version_is_refused() -> None:
    """Unknown formats are not guessed at."""
    durable = {"broker": msgspec.msgpack.encode({"system": "x", "version": 2})}
    with pytest.raises(Refused, match="of version 2"):
        Broker(Setup("broker-1", 0, durable, Options()), Options(), Place((), "manager"))


def test_disk_that_cannot_be_read_is_refused() -> None:
    """A damaged disk is no empty one."""
    with pytest.raises(Refused, match="cannot be read"):
        Broker(Setup("broker-1", 0, {"broker": b"\xc1"}, Options()), Options(), Place((), "manager"))
