"""The network keeps what `hacheck.impl.node` promises of it, and no more."""

from __future__ import annotations

import pytest

from hacheck.impl.simulator.faults import Fault, between
from tests.simulation.puppets import US, Strings, send

AB = between(["a"], ["b"])


def test_messages_of_one_direction_arrive_in_order_and_once() -> None:
    strings = Strings()
    strings.run(US)
    for number in range(2000):
        strings.act("a", send("b", str(number)))
    strings.run(2 * US)
    assert strings.words("b") == [str(number) for number in range(2000)]


def test_what_is_sent_into_a_cut_arrives_in_order_after_the_healing_and_nobody_is_told() -> None:
    strings = Strings(faults=[Fault("cut", US, 5 * US, links=AB)])
    strings.run(US + 1)
    strings.act("a", send("b", "1"), send("b", "2"))
    strings.run(5 * US)
    strings.act("a", send("b", "3"))
    strings.run(6 * US - 1)
    assert (strings.words("a"), strings.words("b")) == ([], [])
    strings.run(8 * US)
    strings.act("a", send("b", "4"))
    strings.run(9 * US)
    assert (strings.words("a"), strings.words("b")) == ([], ["1", "2", "3", "4"])


def test_connections_may_not_last_as_long_as_a_cut() -> None:
    strings = Strings(faults=[Fault("cut", 2 * US, US, links=AB, amount=1)])
    strings.run(US)
    strings.act("a", send("b", "1"))
    strings.run(2 * US + 1)
    strings.act("a", send("b", "lost"))
    strings.run(4 * US)
    strings.act("a", send("b", "2"))
    strings.run(5 * US)
    assert strings.words("a") == ["!"]
    assert strings.words("b") == ["1", "!", "2"]


def test_a_cut_of_one_direction_leaves_the_other() -> None:
    strings = Strings(faults=[Fault("cut", US, 5 * US, links=(("a", "b"),))])
    strings.run(US - 1)
    strings.act("a", send("b", "before"))
    strings.run(2 * US)
    strings.act("b", send("a", "heard"))
    strings.act("a", send("b", "held"))
    strings.run(5 * US)
    assert strings.words("a") == ["heard"]
    assert strings.words("b") == ["before"]
    strings.run(9 * US)
    assert strings.words("b") == ["before", "held"]


def test_who_is_connected_finds_out_that_a_process_ends_and_others_when_they_send() -> None:
    strings = Strings(3, faults=[Fault("crash", 2 * US, 5 * US, ("b",))])
    strings.run(US)
    strings.act("a", send("b", "1"))
    strings.run(3 * US)
    assert (strings.words("a"), strings.words("c")) == (["!"], [])
    strings.act("c", send("b", "2"), send("b", "3"))
    strings.run(4 * US)
    assert strings.words("c") == ["!"], "one attempt, one refusal"
    strings.run(8 * US)
    strings.act("c", send("b", "4"))
    strings.run(9 * US)
    assert strings.words("b") == ["1", "4"]


def test_what_is_on_its_way_to_a_process_that_ends_is_lost_and_what_it_sent_arrives() -> None:
    strings = Strings()
    strings.run(US)
    strings.act("a", send("b", "1"))
    strings.run(2 * US)
    strings.act("a", send("b", "lost"))
    strings.act("b", send("a", "last"))
    process = strings.world.processes["b"]
    strings.world.halt(process, "test")
    strings.run(10 * US)
    assert strings.words("a") == ["last", "!"]
    assert strings.words("b") == ["1"]
    assert strings.setups[-1].incarnation == 1, "who ends itself is started again"


def test_nobody_hears_of_a_machine_that_goes_down_until_it_is_up_again() -> None:
    strings = Strings(faults=[Fault("power", 2 * US, 10 * US, ("b",))])
    strings.run(US)
    strings.act("a", send("b", "1"))
    strings.run(3 * US)
    strings.act("a", send("b", "lost"))
    strings.run(12 * US - 1)
    assert strings.words("a") == []
    strings.run(13 * US)
    strings.act("a", send("b", "refused"))
    strings.run(14 * US)
    strings.act("a", send("b", "2"))
    strings.run(15 * US)
    found = strings.words("a"), strings.words("b")
    assert found in ((["!"], ["1", "2"]), (["!"], ["1", "refused", "2"])), "the second where it was told at once"


def test_news_of_a_process_that_ends_does_not_pass_a_cut() -> None:
    cut, crash = Fault("cut", 2 * US, 10 * US, links=AB), Fault("crash", 3 * US, US, ("b",))
    strings = Strings(faults=[cut, crash])
    strings.run(US)
    strings.act("a", send("b", "1"))
    strings.run(5 * US)
    strings.act("a", send("b", "lost"), send("b", "lost, too"))
    strings.run(12 * US - 1)
    assert strings.words("a") == []
    strings.run(14 * US)
    assert strings.words("a") == ["!"]
    assert strings.words("b") == ["1"]


@pytest.mark.parametrize("seed", range(8))
def test_who_missed_that_a_peer_started_again_is_told_before_its_first_new_message(seed: int) -> None:
    strings = Strings(faults=[Fault("power", 2 * US, US, ("b",))], seed=str(seed))
    strings.run(US)
    strings.act("a", send("b", "1"))
    strings.run(2 * US + 1)
    strings.act("a", send("b", "lost"))
    strings.run(3 * US)
    strings.act("b", send("a", "new"))
    strings.run(4 * US)
    assert strings.words("a") == ["!", "new"]


def test_connections_that_break_are_told_to_both_ends_and_lose_what_is_on_its_way() -> None:
    strings = Strings(faults=[Fault("reset", 2 * US, links=AB)])
    strings.run(US)
    strings.act("a", send("b", "1"))
    strings.run(2 * US - 1)
    strings.act("a", send("b", "lost"))
    strings.run(3 * US)
    strings.act("b", send("a", "2"))
    strings.run(4 * US)
    assert strings.words("a") == ["!", "2"]
    assert strings.words("b") == ["1", "!"]


@pytest.mark.parametrize("kind", ["loss", "duplicate", "reorder"])
def test_a_network_that_is_told_to_loses_repeats_and_reorders(kind: str) -> None:
    strings = Strings(faults=[Fault(kind, US, 5 * US, links=AB, amount=500)])
    strings.run(2 * US)
    sent = [str(number) for number in range(200)]
    for text in sent:
        strings.act("a", send("b", text))
    strings.run(10 * US)
    found = strings.words("b")
    assert (set(found) < set(sent)) == (kind == "loss")
    assert (len(found) > len(sent)) == (kind == "duplicate")
    assert (found != sorted(found, key=int)) == (kind in ("duplicate", "reorder"))
    assert strings.world.hits[0] > 100


def test_a_slow_network_is_slow_and_keeps_order() -> None:
    strings = Strings(faults=[Fault("slow", US, 60 * US, links=AB, amount=3000)])
    strings.run(2 * US)
    strings.act("a", send("b", "1"), send("b", "2"))
    strings.run(2 * US + 200_000)
    assert strings.words("b") == []
    strings.run(30 * US)
    assert strings.words("b") == ["1", "2"]
