"""Publishers and subscribers of a replicated service, over failures of replicas."""

from __future__ import annotations

import pytest

from hacheck.impl.protocols.icestorm.system import SYSTEM
from hacheck.impl.simulator.faults import Fault, between
from hacheck.impl.simulator.history import History, Recorded
from hacheck.impl.simulator.running import Outcome, Plan, run
from tests.nightly import first_of

US = 1_000_000
SHARED = {"workload": "shared", "client_period": "500ms"}


def outcome(
    faults: str | tuple[Fault, ...], *, seed: int = 1, seconds: int = 40, **settings: str
) -> tuple[Outcome, list[Recorded]]:
    """A run of three replicas, a publisher and two subscribers, and what was recorded in it."""
    history = History(inputs=False)
    plan = Plan(seed=seed, faults=faults, clients=3, settings=SHARED | settings, fault_us=seconds * US)
    found = run(SYSTEM, plan, history)
    assert found.defect is None
    return found, [entry for entry in history.entries if isinstance(entry, Recorded)]


def fields(records: list[Recorded], event: str, member: str = "client-1") -> list[dict[str, object]]:
    return [dict(one.record.fields) for one in records if one.record.event == event and one.member == member]


def cut_off(replica: str, at_s: float, for_s: float) -> Fault:
    """The publisher does not reach a replica."""
    return Fault("cut", int(at_s * US), int(for_s * US), links=between(("client-1",), (replica,)))


@pytest.mark.parametrize("proxy", ["replicated", "non_replicated", "either"])
@pytest.mark.parametrize("faults", first_of(["chaos", "none", "crashes", "network", "disk", "pauses", "power"]))
def test_clients_keep_what_they_were_told_whatever_happens(faults: str, proxy: str) -> None:
    for seed in range(3):
        found, _ = outcome(faults, seed=seed, proxy=proxy, idle_close="3s", leave_after="15s")
        assert found.kept, found.broken


@pytest.mark.parametrize(
    ("settings", "told", "resent"),
    [
        ({"proxy": "replicated"}, True, False),
        ({"proxy": "replicated", "idempotent": "true"}, False, True),
        ({"proxy": "non_replicated"}, True, False),
        ({"proxy": "replicated", "one_endpoint": "true"}, True, False),
    ],
    ids=["replicated", "sent-again", "non-replicated", "one-endpoint"],
)
def test_publisher_gets_an_exception_unless_it_may_send_again(
    settings: dict[str, str], told: bool, resent: bool
) -> None:
    """Highly Available IceStorm, Publisher Considerations: retried at another replica if it can be, or an exception."""
    _, records = outcome((cut_off("replica-1", 20, 10),), **settings)
    assert bool(fields(records, "publisher_failed")) is told
    assert any(one["attempt"] == 2 and one["operation"] == "Publish" for one in fields(records, "asked")) is resent
    assert len({one["replica"] for one in fields(records, "publisher_bound")}) > 1


@pytest.mark.parametrize(("proxy", "replicas"), [("replicated", 3), ("non_replicated", 1)])
def test_idle_connection_is_closed_and_nobody_is_told(proxy: str, replicas: int) -> None:
    """Highly Available IceStorm, Publisher Considerations: ACM; with getNonReplicatedPublisher it leads to the same."""
    _, records = outcome("none", proxy=proxy, idle_close="300ms")
    assert len({one["replica"] for one in fields(records, "publisher_bound")}) == replicas
    assert not fields(records, "publisher_failed")


def test_subscriber_asks_again_after_an_unknown_outcome_until_it_is_subscribed() -> None:
    """Highly Available IceStorm, Client Considerations: UnknownException; AlreadySubscribed is expected then."""
    seen = set()
    for seed in range(2):
        _, records = outcome("cut,crash/coordinator", seed=seed, client_period="100ms")
        for member in ("client-2", "client-3"):
            asked = {str(one["request"]) for one in fields(records, "asked", member) if one["operation"] == "Subscribe"}
            told = [str(one["outcome"]) for one in fields(records, "told", member) if one["request"] in asked]
            assert told[-1] in ("ok", "AlreadySubscribed")
            seen.update(told)
    assert seen >= {"unknown", "ok"}
