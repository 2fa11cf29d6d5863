"""What the oracle counts as lost, and what nobody promised to keep."""

from __future__ import annotations

from typing import Any

from hacheck.impl.node import Record
from hacheck.impl.protocols.qpid.oracle import ClusterOracle
from hacheck.impl.protocols.qpid.system import SYSTEM
from tests.impl.qpid.stage import Stage, cluster


class Trial:
    """A oracle, and a cluster that has one message less than was completed."""

    def __init__(self, **options: Any) -> None:
        self.stage: Stage = cluster(3, **options)
        members = SYSTEM.members(3, 1, self.stage.options)
        self.oracle = ClusterOracle(members, self.stage.options)
        for _, member, record in self.stage.log:
            self.oracle.saw(0, member, record)

    def asked(self, name: str, operation: str = "send") -> None:
        fields = {"request": f"{operation} {name}", "operation": operation, "queue": "q", "messages": [name]}
        self.oracle.saw(0, "client-1", Record("asked", fields))

    def told(self, name: str, outcome: str = "ok", operation: str = "send") -> None:
        self.oracle.saw(0, "broker-1", Record("completed", {"messages": [f"{operation} {name}"]}))
        fields = {"request": f"{operation} {name}", "outcome": outcome, "by": "broker-1"}
        self.oracle.saw(0, "client-1", Record("told", fields))

    def broken(self) -> list[str]:
        return [one.promise for one in self.oracle.verdict(60_000_000, {}, self.stage.nodes)]


def test_completed_message_that_is_nowhere_is_lost() -> None:
    trial = Trial()
    trial.asked("a")
    assert trial.broken() == []
    trial.told("a")
    assert trial.broken() == ["kept"]


def test_message_that_somebody_asked_to_accept_is_not_missed() -> None:
    """An accept that is not answered may have been carried out."""
    trial = Trial()
    trial.asked("a")
    trial.told("a")
    trial.asked("a", "accept")
    assert trial.broken() == []


def test_message_is_not_missed_after_a_total_failure() -> None:
    """Q-G3: nobody is left who had everything."""
    trial = Trial()
    trial.asked("a")
    trial.told("a")
    for name in ("broker-1", "broker-3"):
        trial.oracle.crashed(0, name)
    assert trial.broken() == ["kept"]
    trial.oracle.crashed(0, "broker-2")
    assert trial.broken() == []


def test_loss_is_a_loss_when_a_better_broker_was_overlooked() -> None:
    trial = Trial()
    trial.asked("a")
    trial.told("a")
    trial.oracle.crashed(0, "broker-1")
    trial.oracle.crashed(0, "broker-2")
    trial.oracle.saw(0, "broker-2", Record("promoted", {"term": 2, "expected": []}))
    assert "kept" in trial.broken()


def test_old_primary_that_completes_after_another_was_promoted_is_found() -> None:
    trial = Trial()
    trial.oracle.saw(5, "broker-2", Record("promoted", {"term": 2, "expected": []}))
    trial.oracle.saw(6, "broker-1", Record("completed", {"messages": ["a"]}))
    assert "one-primary" in trial.broken()


def test_message_that_is_there_more_often_than_it_was_sent_is_found() -> None:
    """Q-G2: only what was in doubt may be there twice."""
    trial = Trial()
    trial.stage.hand().connect("broker-1").declare("q").publish("q", "a", "a")
    trial.asked("a")
    assert trial.broken() == ["doubt-only"]
    trial.oracle.saw(0, "client-1", Record("client_connected", {"broker": "broker-1", "resent": ["a"]}))
    assert trial.broken() == []


def test_replica_that_differs_is_found() -> None:
    trial = Trial()
    trial.stage.hand().connect("broker-1").declare("q").publish("q", "a")
    trial.stage.nodes["broker-3"].wiring.queues["q"].remove(1)
    assert trial.broken() == ["replicated"]


def test_cluster_without_service_is_found_if_somebody_could_serve() -> None:
    """P10."""
    trial = Trial()
    trial.stage.crash("broker-1")
    assert trial.broken() == []  # no resource manager runs either
    trial.oracle.term = 0
    assert trial.broken() == ["serves-again"]
