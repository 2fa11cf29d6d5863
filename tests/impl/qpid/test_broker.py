"""What of brokers no scenario shows: the table of states, a clock that stood still, a frame that comes twice."""

from __future__ import annotations

from hacheck.impl.protocols.qpid import messages as wire
from hacheck.impl.protocols.qpid import objects
from hacheck.impl.protocols.qpid.status import STATUS
from tests.impl.qpid.stage import Stage, cluster


def test_nothing_leaves_active() -> None:
    """Survey 1.2: there is no demotion."""
    assert STATUS.final == ("active",)
    assert not STATUS.leads("catchup", "recovering")


def test_primary_that_slept_past_its_watchdog_does_nothing_more() -> None:
    """A process that was paused finds the messages of clients before its timer: it must not answer them."""
    stage = Stage(1, fencing="watchdog", watchdog_us=3_000_000).start()
    stage.pass_time(stage.options.heartbeat_us)
    stage.promote("broker-1")
    hand = stage.hand().connect("broker-1").declare("q")
    for process in stage.processes.values():
        process.timers.clear()
    stage.now += 10_000_000
    hand.publish("q", "late")
    assert hand.completed == []
    assert "broker-1" in stage.halted


def test_frame_that_comes_twice_counts_once() -> None:
    """A stream delivers once."""
    stage = cluster(2)
    hand = stage.hand().connect("broker-1").declare("q")
    assert hand.channel is not None
    frame = wire.Frame(hand.channel.connection, 2, wire.Publish(objects.Content("a", "", False), "", "q"))
    hand.process.begin(0)
    hand.channel.sent += 1
    for _ in range(2):
        stage.put_under_way("client-1", "broker-1", frame)
    stage.settle()
    assert stage.on_queue("broker-1") == ["a"]
