"""The client library: how a failed connection is found out, who is informed, and what the backup has never heard of."""

from __future__ import annotations

from typing import Any

import pytest

from hacheck.impl.node import Unreachable
from hacheck.impl.protocols.artemis.client_library.system import CLIENT
from hacheck.impl.protocols.artemis.messages import Outgoing
from hacheck.impl.protocols.artemis.session_messages import Delivery, JoinSession, Perform, Performed, Wanted
from tests.impl.stage import Stage


def begun(clients: int = 0, **settings: object) -> Stage:
    """Brokers, of which the primary serves; then clients, which are connected."""
    stage = Stage(CLIENT, clients=clients, **{"pause_us": 100_000, **settings})
    stage.start("primary-1", "backup-1")
    stage.run(3)
    assert stage.serving() == ("primary-1",)
    for number in range(1, clients + 1):
        stage.start(f"client-{number}")
    stage.run(1)
    return stage


def failed_after(stage: Stage, since: int) -> float:
    """So many seconds after a time the first client found its connection failed."""
    (at,) = (at for at, who, one in stage.log if (who, one.event) == ("client-1", "connection_failed"))
    return (at - since) / 1_000_000


@pytest.mark.parametrize("ttl_us", [2_000_000, 5_000_000])
def test_connection_that_brings_nothing_for_a_while_has_failed(ttl_us: int) -> None:
    """HornetQ manual, "Automatic Client Failover": no packets within the time that was set."""
    stage = begun(clients=1, connection_ttl_us=ttl_us, call_timeout_us=60_000_000)
    since = stage.now
    stage.part("client-1", "primary-1")
    stage.run(10)
    assert ttl_us / 1_000_000 - 1 <= failed_after(stage, since) <= ttl_us / 1_000_000 + 1


def test_connection_to_a_process_that_was_killed_has_failed_at_once() -> None:
    """HornetQ manual, "Automatic Client Failover": the operating system closes the socket."""
    stage = begun(clients=1)
    since = stage.now
    stage.crash("primary-1")
    stage.run(1)
    assert failed_after(stage, since) < 0.001


def test_listener_is_told_of_its_own_session_alone() -> None:
    """HornetQ manual, "Application-Level Failover": it is set on a session."""
    stage = begun(clients=3)
    stage.part("client-2", "primary-1")
    stage.run(6)
    stage.heal()
    stage.run(6)
    assert [len(stage.fields("notified", f"client-{number}")) for number in (1, 2, 3)] == [0, 1, 0]


def test_connection_that_the_application_makes_has_no_transaction_to_roll_back() -> None:
    """HornetQ manual, "Application-Level Failover": the old connection is closed, and its session with it."""
    stage = begun(clients=1, reconnect_attempts=0, application_level=True, transaction_size=20)
    stage.crash("primary-1")
    before = len(stage.fields("answered"))
    assert before > 1, "a transaction is open"
    stage.run(20)
    assert stage.serving() == ("backup-1",)
    commands = [answer["command"] for answer in stage.fields("answered")[before:]]
    assert commands[:21] == ["produce"] * 20 + ["commit"]


def test_connection_that_the_application_makes_goes_on_with_no_old_session() -> None:
    """HornetQ manual, "Application-Level Failover": with a confirmation window, too, that is for the connection that
    failed. Here its server is the only one there is, and still has the session."""
    stage = begun(
        clients=1, reconnect_attempts=0, initial_connect_attempts=0, application_level=True, confirmation_window=True
    )
    (before,) = stage.nodes["primary-1"].server.sessions  # type: ignore[attr-defined]
    stage.inform("client-1", Unreachable("primary-1"))
    stage.run(1)
    (after,) = stage.nodes["primary-1"].server.sessions  # type: ignore[attr-defined]
    assert [one["to"] for one in stage.fields("connected")] == ["primary-1", "primary-1"]
    assert after != before


class Hand:
    """A library by hand. `server`: the one that it has its session at."""

    def __init__(self, stage: Stage, server: str, wanted: Wanted) -> None:
        self.stage, self.server, self.number = stage, server, 0
        self.session = f"hand.{server}"
        stage.tell(server, JoinSession(self.session, "", wanted), "hand")

    def heard(self, kind: type[Any]) -> list[Any]:
        return [what for _, to, what in self.stage.sent if to == "hand" and isinstance(what, kind)]

    def do(self, command: Any, name: str = "", *, to: str = "q", durable: bool = True, branch: str = "") -> str:
        self.number += 1
        outgoing = (Outgoing(to, name, name.encode(), durable),) if name else ()
        asked = Perform(self.session, self.number, command, outgoing, branch=branch)
        self.stage.tell(self.server, asked, "hand")
        self.stage.run(0.01)
        answer: Performed = self.heard(Performed)[-1]
        assert answer.number == self.number
        return answer.outcome


def test_messages_of_a_prepared_branch_that_are_not_durable_are_lost_by_a_failover() -> None:
    """HornetQ manual, "2 phase commit": a side effect of committing again later. The oldest one would come first."""
    stage = begun()
    manager = Hand(stage, "primary-1", Wanted("xa"))
    for name, durable in (("lost", False), ("kept", True)):
        assert manager.do("send", name, durable=durable) == "ok"
    assert manager.do("prepare", branch="x") == "ok"
    stage.crash("primary-1")
    stage.run(12)
    again = Hand(stage, "backup-1", Wanted("xa", ("q",)))
    assert again.do("commit-branch", branch="x") == "ok"
    stage.run(0.1)
    assert [what.incoming.duplicate_id for what in again.heard(Delivery)] == ["kept"]


def test_without_a_failover_messages_that_are_not_durable_are_committed_as_well() -> None:
    """The other side of the test before."""
    stage = begun()
    manager = Hand(stage, "primary-1", Wanted("xa", ("q",)))
    assert manager.do("send", "there", durable=False) == "ok"
    assert [manager.do(word, branch="x") for word in ("prepare", "commit-branch")] == ["ok", "ok"]
    stage.run(0.1)
    assert [what.incoming.duplicate_id for what in manager.heard(Delivery)] == ["there"]


def test_backup_knows_no_temporary_queue_until_its_consumer_makes_it_again() -> None:
    """HornetQ manual, "Failover Modes": the backup node has no knowledge of such queues."""
    stage = begun(clients=2)
    queue = "temporary/client-2.0"
    assert Hand(stage, "primary-1", Wanted("plain")).do("send", "before", to=queue) == "ok"
    stage.part("client-2", "backup-1")
    stage.crash("primary-1")
    stage.run(12)
    assert stage.serving() == ("backup-1",)
    hand = Hand(stage, "backup-1", Wanted("plain"))
    assert hand.do("send", "between", to=queue) == "no-queue"
    stage.heal()
    stage.run(3)
    assert hand.do("send", "after", to=queue) == "ok"
