"""One IceStorm service with its clients under faults: what is promised is kept, and what is not shows."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from hacheck.impl.node import Record, Setup
from hacheck.impl.protocols.icestorm.topics_system import TOPICS
from hacheck.impl.simulator.faults import Fault, between
from hacheck.impl.simulator.history import History, Recorded
from hacheck.impl.simulator.running import Outcome, Plan, run
from hacheck.impl.system import Refused
from tests.nightly import first_of

US = 1_000_000


def outcome(
    faults: str | tuple[Fault, ...] = "none", *, seed: int = 1, clients: int = 2, seconds: int = 20, **settings: str
) -> tuple[Outcome, list[Recorded]]:
    """A run, and what was recorded in it."""
    history = History(inputs=False)
    plan = Plan(seed=seed, faults=faults, replicas=1, clients=clients, settings=settings, fault_us=seconds * US)
    found = run(TOPICS, plan, history)
    assert found.defect is None
    return found, [entry for entry in history.entries if isinstance(entry, Recorded)]


def came(records: list[Recorded], who: str) -> list[tuple[str, int]]:
    """The messages that a subscriber got: by which topic, and their numbers."""
    return [
        (one.record.fields["topic"], one.record.fields["number"])
        for one in records
        if one.member == who and one.record.event == "delivered"
    ]


def crash(member: str, at_s: float, for_s: float) -> Fault:
    return Fault("crash", int(at_s * US), int(for_s * US), members=(member,))


def cut(one: str, other: str, at_s: float, for_s: float) -> Fault:
    return Fault("cut", int(at_s * US), int(for_s * US), links=between((one,), (other,)))


KINDS: Mapping[str, Mapping[str, str]] = {
    "figure": {"published_on": "3", "message_cost": "2"},
    "cycle": {"graph": "cycle", "interests": "both", "published_on": "3", "topics_missing": "true"},
    "lenient": {"interests": "first", "delivery": "twoway", "retry_count": "1", "retry_interval": "2s"},
    "leaving": {"interests": "first", "leave_after": "8s", "exceptions_every": "7"},
    "oneway": {"interests": "first", "delivery": "oneway"},
    "transient": {"interests": "both", "transient": "true"},
    "again": {"interests": "first", "attempts": "same", "retry_count": "2", "retry_interval": "1s"},
}


@pytest.mark.parametrize("kind", list(KINDS))
@pytest.mark.parametrize("faults", first_of(["chaos", "none", "crashes", "network", "disk", "pauses", "power"]))
def test_every_promise_is_kept_whatever_happens(faults: str, kind: str) -> None:
    for seed in range(3):
        found, _ = outcome(faults, seed=seed, clients=5, publishers="2", **KINDS[kind])
        assert found.kept, found.broken


def test_subscribers_of_the_figure_get_what_the_document_says() -> None:
    """IceStorm Concepts, Federation: subscribers of T2 get what is published on it and on T1."""
    _, records = outcome(clients=4, published_on="2", messages_max="4")
    assert came(records, "subscriber-1") == [("T2", number) for number in (1, 2, 3, 4)]
    assert came(records, "subscriber-2") == [("T1", number) for number in (1, 3)]
    assert came(records, "subscriber-3") == [("T3", number) for number in (1, 3)]


def test_message_goes_one_hop_and_not_over_links_that_cost_less() -> None:
    """IceStorm Concepts, Federation: not published on the links of the receiving topic; costs."""
    _, records = outcome(clients=4, graph="chain", message_cost="2", messages_max="3")
    assert came(records, "subscriber-1") == [("T2", 1), ("T2", 2)]
    assert came(records, "subscriber-3") == []


def test_subscriber_of_two_linked_topics_gets_each_message_twice() -> None:
    """IceStorm Concepts, Federation: it makes no attempt to prevent duplicates."""
    _, records = outcome(interests="both", messages_max="2")
    assert sorted(came(records, "subscriber-1")) == [("T2", 1), ("T2", 2), ("T3", 1), ("T3", 2)]


@pytest.mark.parametrize(("period", "comes_back"), [("1s", True), ("0", False)])
def test_subscriber_that_was_removed_is_not_told(period: str, comes_back: bool) -> None:
    """IceStorm Concepts, Subscriber Errors: what helps is to subscribe again."""
    fault = cut("service-1", "subscriber-1", 5, 4)
    found, records = outcome((fault,), interests="first", ask_period=period)
    late = [one for one in records if one.at_us > 14 * US and one.record.event == "delivered"]
    assert bool(late) is comes_back
    assert any(one.record.event == "subscriber_failed" for one in records)
    assert found.kept


def test_what_was_published_while_a_subscriber_was_down_is_nowhere() -> None:
    """IceStorm Concepts, Persistent Mode: nothing is queued for a subscriber after an error."""
    _, records = outcome((crash("subscriber-1", 5, 3),), interests="first")
    numbers = [number for _, number in came(records, "subscriber-1")]
    assert numbers == sorted(set(numbers))
    assert len(numbers) + 5 < numbers[-1] - numbers[0]


@pytest.mark.parametrize(("transient", "stay"), [("false", True), ("true", False)])
def test_links_outlive_the_service_in_persistent_mode_only(transient: str, stay: bool) -> None:
    """IceStorm Concepts, Persistent Mode, Transient Mode."""
    found, records = outcome((crash("service-1", 8, 1),), transient=transient, topics_missing="true")
    assert any(one.at_us > 12 * US and one.record.event == "delivered" for one in records) is stay
    assert found.kept


def test_answer_that_is_late_hides_no_error_that_came_before_it() -> None:
    """A subscription is made, a delivery by it fails, and only then its subscriber hears that it was made: what was
    published since need not come."""
    options = TOPICS.options({"ask_period": "0"})
    members = TOPICS.members(1, 2, options)
    oracle = TOPICS.oracle(members, options)
    subscribe = {"request": "r", "operation": "Subscribe", "topic": "T2", "attempt": 1}
    oracle.saw(1 * US, "subscriber-1", Record("asked", subscribe))
    oracle.saw(2 * US, "service-1", Record("subscription_made", {"topic": "T2", "subscriber": "subscriber-1"}))
    oracle.saw(3 * US, "service-1", Record("delivery_failed", {"topic": "T2", "subscriber": "subscriber-1"}))
    oracle.saw(4 * US, "subscriber-1", Record("told", {"request": "r", "outcome": "ok"}))
    service = TOPICS.start(members[0], members, Setup("service-1", 0, {}, options))
    running = {"service-1": service, "subscriber-1": service}
    assert not oracle.verdict(9 * US, {}, running)


def test_one_service_is_one() -> None:
    with pytest.raises(Refused, match="one service without replicas"):
        run(TOPICS, Plan(replicas=3))


@pytest.mark.parametrize(("name", "text"), [("graph", "star"), ("published_on", "4"), ("retry_count", "-2")])
def test_wrong_setting_is_refused(name: str, text: str) -> None:
    with pytest.raises(Refused, match=name):
        TOPICS.options({name: text})
