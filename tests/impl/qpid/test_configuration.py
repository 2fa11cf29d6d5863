"""How backups follow queues, exchanges and bindings, one rule of the sources in each test."""

from __future__ import annotations

import pytest

from hacheck.impl.protocols.qpid import messages as wire
from hacheck.impl.protocols.qpid import objects
from tests.impl.qpid.stage import Stage, cluster


def test_level_decides_what_is_replicated() -> None:
    """Survey 1.1: nothing, the queue, or its messages, too."""
    stage = cluster(2)
    hand = stage.hand().connect("broker-1")
    for level in ("none", "configuration", "all"):
        hand.declare(level, replicate=level).publish(level, f"m-{level}")
    assert hand.completed == ["m-none", "m-configuration", "m-all"]
    assert list(stage.nodes["broker-2"].wiring.queues) == ["configuration", "all"]
    assert stage.on_queue("broker-2", "configuration") == []
    assert stage.on_queue("broker-2", "all") == ["m-all"]


def test_primary_writes_the_level_and_an_id_into_the_arguments() -> None:
    """Survey 1.1: only the primary decides."""
    stage = cluster(2, replicate="configuration")
    stage.hand().connect("broker-1").declare("q")
    arguments = stage.nodes["broker-2"].wiring.queues["q"].arguments
    assert arguments.replicate == "configuration"
    assert arguments.uuid == stage.nodes["broker-1"].wiring.queues["q"].arguments.uuid != ""


def test_exchanges_and_bindings_route_the_same_after_a_failover() -> None:
    """Overview, "Overview of HA classes": queues, exchanges and bindings are replicated."""
    stage = cluster(2)
    hand = stage.hand().connect("broker-1").declare("one").declare("two")
    hand.say(wire.DeclareExchange("e", "news", "direct", objects.Arguments()))
    hand.say(wire.DeclareExchange("f", "all", "fanout", objects.Arguments()))
    for exchange, queue, key in (("news", "one", "k"), ("all", "one", ""), ("all", "two", ""), ("news", "two", "gone")):
        hand.say(wire.Bind("b", objects.BindingObject(exchange, queue, key)))
    hand.say(wire.Unbind("u", objects.BindingObject("news", "two", "gone")))
    stage.crash("broker-1")
    stage.promote("broker-2")
    other = stage.hand("client-2").connect("broker-2")
    for number, (exchange, key) in enumerate((("news", "k"), ("all", "x"), ("news", "gone"))):
        other.say(wire.Publish(objects.Content(f"m{number}", "", False), exchange, key))
    assert stage.on_queue("broker-2", "one") == ["m0", "m1"]
    assert stage.on_queue("broker-2", "two") == ["m1"]
    assert other.completed == ["m0", "m1", "m2"]


def test_long_answers_come_in_pages() -> None:
    """A backup asks for the next page when it has dealt with the last; bindings come after what they bind."""
    stage = Stage(2, fencing="none", page_objects=2).start("broker-1")
    stage.pass_time(stage.options.heartbeat_us)
    stage.promote("broker-1")
    hand = stage.hand().connect("broker-1")
    hand.say(wire.DeclareExchange("e", "x", "direct", objects.Arguments()))
    for number in range(7):
        hand.declare(f"q{number}").publish(f"q{number}", f"m{number}")
        hand.say(wire.Bind("b", objects.BindingObject("x", f"q{number}", str(number))))
    stage.start("broker-2").pass_time(2 * stage.options.link_maintenance_us)
    assert stage.status("broker-2") == "ready"
    bound = [stage.nodes[name].wiring.exchanges["x"].bound() for name in stage.names]
    assert bound[0] == bound[1]
    assert all(stage.on_queue("broker-2", f"q{number}") == [f"m{number}"] for number in range(7))


def test_what_no_answer_names_is_deleted() -> None:
    """Survey 1.7: leftovers of a deletion that the backup missed."""
    stage = cluster(2)
    hand = stage.hand().connect("broker-1").declare("gone").publish("gone", "a").declare("q")
    stage.hold("broker-1", "broker-2")
    hand.say(wire.DeleteQueue("d", "gone"))
    stage.release(lost=True)
    stage.pass_time(10 * stage.options.link_maintenance_us)
    assert list(stage.nodes["broker-2"].wiring.queues) == ["q"]


def _deleted_and_made_again_unseen(**options: bool) -> Stage:
    """Broker 3 misses that a queue was deleted and another of the same name was made."""
    stage = cluster(3, **options)
    hand = stage.hand().connect("broker-1").declare("q").publish("q", "old")
    stage.hold("broker-1", "broker-3")
    stage.pass_time(5 * stage.options.heartbeat_us)
    hand.say(wire.DeleteQueue("d", "q")).declare("q").publish("q", "new")
    stage.release(lost=True)
    stage.pass_time(10 * stage.options.link_maintenance_us)
    return stage


def test_queue_made_again_under_the_same_name_is_another_one() -> None:
    """QP-5: its id shows."""
    stage = _deleted_and_made_again_unseen()
    assert stage.on_queue("broker-3") == stage.on_queue("broker-1") == ["new"]


def test_queue_known_by_name_alone_keeps_old_messages() -> None:
    """QP-5, the released behaviour: the new message has the id of the old one, so the backup never gets it."""
    stage = _deleted_and_made_again_unseen(bug_same_name=True)
    assert stage.on_queue("broker-3") == ["old"]


@pytest.mark.parametrize(("bug", "queues"), [(False, []), (True, ["q"])])
def test_event_makes_later_answers_about_its_name_stale(bug: bool, queues: list[str]) -> None:
    """QP-6: an answer shows what there was when the question came; the queue was deleted since."""
    stage = Stage(2, fencing="none", page_objects=1, bug_stale_responses=bug).start("broker-1")
    stage.pass_time(stage.options.heartbeat_us)
    stage.promote("broker-1")
    hand = stage.hand().connect("broker-1").declare("first").declare("q")
    stage.hold_from("broker-2", "broker-1", wire.NextPage)
    stage.start("broker-2")
    hand.say(wire.DeleteQueue("d", "q"))
    stage.release(("broker-2", "broker-1"))
    stage.pass_time(2 * stage.options.link_maintenance_us)
    assert list(stage.nodes["broker-2"].wiring.queues) == ["first", *queues]


@pytest.mark.parametrize("level", ["none", "configuration"])
def test_what_was_made_again_unseen_is_another_one_whatever_its_level(level: str) -> None:
    """Survey 1.7: another id means to delete, and to make it anew where it is replicated."""
    stage = cluster(3)
    hand = stage.hand().connect("broker-1").declare("q").publish("q", "old")
    hand.say(wire.DeclareExchange("e", "x", "direct", objects.Arguments()))
    stage.hold("broker-1", "broker-3")
    stage.pass_time(5 * stage.options.heartbeat_us)
    hand.say(wire.DeleteQueue("d", "q")).declare("q", replicate=level).publish("q", "new")
    hand.say(wire.DeleteExchange("f", "x"))
    hand.say(wire.DeclareExchange("g", "x", "direct", objects.Arguments(replicate=level)))
    stage.release(lost=True)
    stage.pass_time(10 * stage.options.link_maintenance_us)
    wiring, kept = stage.nodes["broker-3"].wiring, [] if level == "none" else ["q"]
    assert list(wiring.queues) == kept
    assert len(wiring.exchanges) == len(kept)
    assert "q" not in wiring.queues or stage.on_queue("broker-3", "q") == []


@pytest.mark.parametrize("remade", ["exchange", "queue"])
def test_what_is_made_again_between_two_pages_of_bindings_has_none_of_the_old_ones(remade: str) -> None:
    """QP-6: the answer shows of bindings of something that is gone."""
    stage = Stage(2, fencing="none", page_objects=1).start("broker-1")
    stage.pass_time(stage.options.heartbeat_us)
    stage.promote("broker-1")
    hand = stage.hand().connect("broker-1").declare("q")
    hand.say(wire.DeclareExchange("e", "x", "direct", objects.Arguments()))
    for key in ("first", "second"):
        hand.say(wire.Bind("b", objects.BindingObject("x", "q", key)))
    stage.hold_from("broker-2", "broker-1", wire.NextPage)
    stage.start("broker-2")
    assert len(stage.nodes["broker-2"].wiring.exchanges["x"].bound()) == 1
    if remade == "exchange":
        hand.say(wire.DeleteExchange("d", "x")).say(wire.DeclareExchange("f", "x", "direct", objects.Arguments()))
    else:
        hand.say(wire.DeleteQueue("d", "q")).declare("q")
    hand.say(wire.Bind("b", objects.BindingObject("x", "q", "new")))
    stage.release(("broker-2", "broker-1"))
    stage.pass_time(2 * stage.options.link_maintenance_us)
    bound = [stage.nodes[name].wiring.exchanges["x"].bound() for name in stage.names]
    assert bound[0] == bound[1] == (objects.BindingObject("x", "q", "new"),)


def test_auto_delete_queue_ends_with_its_last_consumer_and_its_messages_move_on() -> None:
    """QP-8: the primary deletes it and re-routes; backups follow."""
    stage = cluster(2)
    hand = stage.hand().connect("broker-1").declare("rest").declare("q", auto_delete=True, alternate="dead")
    hand.say(wire.DeclareExchange("e", "dead", "fanout", objects.Arguments()))
    hand.say(wire.Bind("b", objects.BindingObject("dead", "rest", "")))
    consumer = stage.hand("client-2").connect("broker-1").consume("q")
    hand.publish("q", "a")
    assert consumer.delivered == ["a"]
    stage.crash("client-2")
    assert list(stage.nodes["broker-2"].wiring.queues) == ["rest"]
    assert stage.on_queue("broker-1", "rest") == stage.on_queue("broker-2", "rest") == ["a"]


@pytest.mark.parametrize(("bug", "queues"), [(False, ["rest", "q"]), (True, ["rest"])])
def test_backup_deletes_no_auto_delete_queue_when_its_link_breaks(bug: bool, queues: list[str]) -> None:
    """QP-8: the new primary does, once."""
    stage = cluster(2, bug_auto_delete_on_backup=bug)
    stage.hand().connect("broker-1").declare("rest").declare("q", auto_delete=True)
    stage.crash("broker-1")
    assert list(stage.nodes["broker-2"].wiring.queues) == queues
    stage.promote("broker-2")
    assert list(stage.nodes["broker-2"].wiring.queues) == ["rest"]
