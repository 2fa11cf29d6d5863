"""Stand-alone replication with an operator, one rule of the sources in each test."""

from __future__ import annotations

from typing import Any

from hacheck.impl.protocols.qpid import messages as wire
from hacheck.impl.protocols.qpid.applications import Application
from hacheck.impl.protocols.qpid.broker import Place
from hacheck.impl.protocols.qpid.operator import GONE_OVER, Operator
from tests.impl.qpid.stage import Stage

BROKERS = ("broker-1", "broker-2")


def start_operator(stage: Stage) -> Operator:
    queues = frozenset(("q", "queue-1"))
    operator = stage.play("operator", lambda setup: Operator(setup, stage.options, BROKERS, queues, ("client-1",)))
    stage.settle()
    return operator


def operated(**options: Any) -> tuple[Stage, Operator]:
    """Two brokers, the second with copies as an operator has told it, and an application."""
    stage = Stage(2, **{"go_over_after_us": 3_000_000, **options})
    stage.start_as("broker-1", Place())
    stage.start_as("broker-2", Place(sources=("broker-1",), waits=True))
    operator = start_operator(stage)
    start_application(stage)
    stage.pass_time(stage.options.link_maintenance_us)
    return stage, operator


def start_application(stage: Stage) -> Application:
    client = stage.play("client-1", lambda setup: Application(setup, stage.options, "broker-1", 0))
    stage.settle()
    return client


def test_operator_has_copies_kept_again_by_a_broker_that_was_started_again() -> None:
    """Survey 1.10: the replication is set up; a broker without a store does not know of it any more."""
    stage, _ = operated()
    assert stage.on_queue("broker-2", "queue-1") == stage.on_queue("broker-1", "queue-1") != []
    stage.crash("broker-2")
    stage.start_as("broker-2", Place(sources=("broker-1",), waits=True))
    stage.pass_time(2 * stage.options.link_maintenance_us)
    assert stage.on_queue("broker-2", "queue-1") == stage.on_queue("broker-1", "queue-1")


def test_copies_begin_when_the_operator_says_so() -> None:
    """Survey 1.10: any queue, at any time; what is on it already is copied."""
    stage, _ = operated(set_up_after_us=10_000_000, go_over_after_us=0)
    assert stage.nodes["broker-2"].replica is None
    stage.pass_time(14_000_000)
    assert stage.on_queue("broker-2", "queue-1") == stage.on_queue("broker-1", "queue-1")


def test_applications_go_over_when_the_first_broker_is_gone_and_stay_there() -> None:
    """Survey 1.10: nobody promotes; who goes over does so for good, and the copy is one no more."""
    stage, operator = operated()
    before = stage.on_queue("broker-1", "queue-1")
    stage.crash("broker-1").pass_time(6_000_000)
    assert operator.state == GONE_OVER
    assert stage.nodes["broker-2"].replica is None
    assert stage.on_queue("broker-2", "queue-1")[: len(before)] == before
    stage.start_as("broker-1", Place())
    stage.crash("client-1")
    client = start_application(stage)
    stage.pass_time(3_000_000)
    assert client.channel is not None
    assert client.channel.peer == "broker-2"
    assert "queue-1" not in stage.nodes["broker-1"].wiring.queues


def test_operator_who_was_started_again_goes_on_where_he_was() -> None:
    """What he has decided is on his disk."""
    stage, operator = operated()
    stage.crash("broker-1")
    stage.hold("operator", "broker-2")
    stage.pass_time(6_000_000)
    assert operator.state != GONE_OVER
    stage.crash("operator")
    stage.release(lost=True)
    stage.start_as("broker-1", Place())
    assert start_operator(stage).state == GONE_OVER


def test_copy_of_a_broker_that_comes_back_empty_is_emptied() -> None:
    """Survey 1.10: the copy has no way to know; what had been completed is nowhere."""
    stage, _ = operated(go_over_after_us=0, messages_max=3)
    stage.pass_time(1_000_000)
    assert len(stage.on_queue("broker-2", "queue-1")) == 3
    stage.crash("broker-1")
    stage.start_as("broker-1", Place())
    stage.pass_time(8_000_000)
    assert stage.on_queue("broker-1", "queue-1") == stage.on_queue("broker-2", "queue-1") == []


def test_copy_that_stays_apart_keeps_what_it_has() -> None:
    """Beyond the documents."""
    stage, _ = operated(go_over_after_us=0, messages_max=3, stays_apart=True)
    stage.pass_time(1_000_000)
    stage.crash("broker-1")
    stage.start_as("broker-1", Place())
    stage.pass_time(8_000_000)
    assert len(stage.on_queue("broker-2", "queue-1")) == 3


def test_broker_that_keeps_clients_out_takes_them_when_it_is_a_copy_no_more() -> None:
    """Beyond the documents."""
    stage, _ = operated(keeps_clients_out=True)
    intruder = stage.hand("intruder").connect("broker-2")
    assert isinstance(intruder.heard[-1], wire.Closed)
    stage.crash("broker-1").pass_time(6_000_000)
    assert not isinstance(stage.hand("late").connect("broker-2").heard[-1], wire.Closed)
