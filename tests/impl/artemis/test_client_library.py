"""The client library: what a failover does to sessions, calls and transactions, rule by rule."""

from __future__ import annotations

from typing import Any

import pytest

from hacheck.impl.node import Unreachable
from hacheck.impl.protocols.artemis.client_library.states import Phase
from hacheck.impl.protocols.artemis.client_library.system import CLIENT
from hacheck.impl.protocols.artemis.messages import CreateSession, Outgoing
from hacheck.impl.protocols.artemis.session_messages import (
    Delivery,
    JoinSession,
    Perform,
    Performed,
    SessionJoined,
    Wanted,
)
from hacheck.impl.protocols.artemis.session_server import Server
from hacheck.impl.system import Refused
from tests.impl.stage import Stage


def begun(clients: int = 0, **settings: object) -> Stage:
    """Brokers, of which the primary serves; then clients."""
    stage = Stage(CLIENT, clients=clients, **{"pause_us": 100_000, **settings})
    stage.start("primary-1", "backup-1")
    stage.run(3)
    assert stage.serving() == ("primary-1",)
    for number in range(1, clients + 1):
        stage.start(f"client-{number}")
    return stage


def library(stage: Stage, name: str = "client-1") -> Any:
    """A client's library."""
    return stage.nodes[name]


def run_until_sent(stage: Stage, command: str, name: str = "client-1") -> None:
    """Lets time go on until a client sends a command."""
    before = len(stage.sent)
    for _ in range(100_000):
        if any(
            who == name and isinstance(what, Perform) and what.command == command
            for who, _, what in stage.sent[before:]
        ):
            return
        stage.run(0.0001)
    raise AssertionError(f"{name} does not send {command}")


def answers(stage: Stage, name: str = "client-1") -> list[tuple[str, str]]:
    """What calls of a client came to: command and outcome, `unblocked` among them."""
    found = []
    for _, who, record in stage.log:
        if who == name and record.event in ("answered", "unblocked", "timed_out"):
            found.append((record.fields["command"], record.fields.get("outcome", record.event)))
    return found


def kept(stage: Stage) -> list[str]:
    """The messages of the one that serves, by number."""
    (name,) = stage.serving()
    server: Server = stage.nodes[name].server  # type: ignore[attr-defined]
    return [message.body.decode().partition(" ")[2] for message in server.journal.messages.values()]


# ---- connections ----


def test_client_knows_the_backup_only_after_its_first_connection() -> None:
    """HornetQ manual, "Failing over on the Initial Connection"."""
    stage = begun(clients=1)
    assert library(stage).servers == ("primary-1",)
    stage.run(1)
    assert library(stage).servers == ("primary-1", "backup-1")


@pytest.mark.parametrize(("attempts", "phase"), [(0, Phase.CLOSED), (-1, Phase.CONNECTED)])
def test_client_that_cannot_connect_gives_up_after_its_initial_attempts(attempts: int, phase: Phase) -> None:
    """HornetQ manual, "Failing over on the Initial Connection": the default of 0 is to try only once."""
    stage = begun(initial_connect_attempts=attempts, clients=1)
    stage.crash("client-1")
    stage.part("client-1", "primary-1", "backup-1")
    stage.start("client-1")
    stage.run(5)
    stage.heal()
    stage.run(6)
    assert library(stage).phase is phase


@pytest.mark.parametrize("server_list", [False, True])
def test_client_with_a_server_list_gets_in_at_the_backup(server_list: bool) -> None:
    """HornetQ manual, "Automatic Client Failover": the list may be given; without it only the live server is known."""
    stage = begun(clients=1, server_list=server_list)
    stage.crash("client-1")
    stage.crash("primary-1")
    stage.run(10)
    stage.start("client-1")
    stage.run(5)
    assert (library(stage).phase is Phase.CONNECTED) is server_list


def test_client_fails_over_and_its_listener_is_told() -> None:
    """HornetQ manual, "Getting Notified of Connection Failure": always, with FAILOVER where there was one."""
    stage = begun(clients=1)
    stage.run(1)
    stage.crash("primary-1")
    stage.run(12)
    assert library(stage).phase is Phase.CONNECTED
    assert library(stage).server == "backup-1"
    assert stage.events("client-1").count("connection_failed") == 1
    assert stage.fields("notified") == [{"code": "failover"}]


def test_client_that_may_not_try_again_does_not_fail_over() -> None:
    """HornetQ manual, "Automatic Client Failover": reconnection attempts must not be zero."""
    stage = begun(clients=1, reconnect_attempts=0)
    stage.run(1)
    stage.crash("primary-1")
    stage.run(12)
    assert library(stage).phase is Phase.CLOSED
    assert stage.fields("notified") == [{"code": "disconnect"}]


def test_pauses_between_tries_grow_up_to_a_limit() -> None:
    """Broker facts 2.13: the interval times a multiplier, with a cap."""
    stage = begun(clients=1, reconnect_us=100_000, retry_multiplier_percent=300, max_retry_us=500_000)
    stage.run(1)
    stage.part("client-1", "primary-1", "backup-1")
    stage.run(30)
    assert library(stage).retry_us == 500_000


def test_application_fails_over_by_itself() -> None:
    """HornetQ manual, "Application-Level Failover": the listener closes the connection and makes another one."""
    stage = begun(clients=1, reconnect_attempts=0, application_level=True, operations=3, session="plain")
    stage.run(0.15)
    stage.crash("primary-1")
    stage.run(15)
    assert library(stage).server == "backup-1"
    assert sorted(kept(stage)) == ["1", "2", "3"]


# ---- sessions ----


def test_session_that_is_still_there_goes_on_and_the_call_is_answered_as_before() -> None:
    """Broker facts 2.13: re-attached, unconfirmed commands are sent again, and nobody notices."""
    stage = begun(clients=1, confirmation_window=True, session="plain", operations=1)
    stage.slow.add("primary-1")
    run_until_sent(stage, "send")
    stage.run(0.01)
    stage.inform("client-1", Unreachable("primary-1"))
    stage.run(0.01)
    stage.unslow("primary-1")
    stage.run(1)
    assert stage.fields("reconnected")[-1]["attached"] is True
    assert answers(stage) == [("produce", "done")]
    assert kept(stage) == ["1"]


def test_call_that_waits_is_unblocked_in_a_new_session_and_done_again() -> None:
    """HornetQ manual, "Handling Blocking Calls During Failover"."""
    stage = begun(clients=1, session="plain", operations=1)
    run_until_sent(stage, "send")
    stage.crash("primary-1")
    stage.run(12)
    assert answers(stage) == [("produce", "unblocked"), ("produce", "done")]
    assert kept(stage) == ["1"]


def test_message_whose_answer_was_lost_is_stored_once() -> None:
    """Broker facts 2.14: the second one has the duplicate id of the first."""
    stage = begun(clients=1, session="plain", operations=1)
    run_until_sent(stage, "send")
    stage.cut.add(("primary-1", "client-1"))
    stage.run(0.1)
    stage.crash("primary-1")
    stage.heal()
    stage.run(15)
    assert "duplicate_rejected" in stage.events("backup-1")
    assert kept(stage) == ["1"]


def test_temporary_queue_is_made_again_in_a_new_session() -> None:
    """HornetQ manual, "Failover Modes"."""
    stage = begun(clients=2)
    stage.run(1)
    stage.crash("primary-1")
    stage.run(12)
    assert [fields["temporary"] for fields in stage.fields("reconnected", "client-2")] == [True]
    assert stage.promises_broken() == set()


# ---- transactions ----


def test_transaction_with_something_in_it_can_only_be_rolled_back_after_a_failover() -> None:
    """HornetQ manual, "Handling Failover With Transactions"; and the application does all of it again."""
    stage = begun(clients=1, operations=2)
    run_until_sent(stage, "send")
    stage.run(0.05)
    stage.crash("primary-1")
    stage.run(15)
    assert answers(stage) == [
        ("produce", "done"),
        *([("produce", "done"), ("rollback", "done")]),
        *([("produce", "done"), ("produce", "done"), ("commit", "done")]),
    ]
    assert kept(stage) == ["1", "2"]


def test_commit_that_was_done_and_not_answered_is_refused_as_a_duplicate() -> None:
    """HornetQ manual, "Handling Failover With Transactions": duplicate detection is the remedy."""
    stage = begun(clients=1, operations=2)
    run_until_sent(stage, "commit")
    stage.cut.add(("primary-1", "client-1"))
    stage.run(0.1)
    stage.crash("primary-1")
    stage.heal()
    stage.run(15)
    assert answers(stage)[2:] == [
        ("commit", "unblocked"),
        ("produce", "done"),
        ("produce", "done"),
        ("commit", "duplicate"),
    ]
    assert kept(stage) == ["1", "2"]
    assert stage.promises_broken() == set()


@pytest.mark.parametrize("plain_error", [False, True])
def test_commit_that_times_out_is_rolled_back(plain_error: bool) -> None:
    """AR-23: reported as a plain error, it left the session as it was, and its messages were lost."""
    stage = begun(clients=1, operations=2, call_timeout_us=500_000, bug_commit_timeout_is_plain_error=plain_error)
    run_until_sent(stage, "commit")
    stage.part("client-1", "primary-1")
    stage.run(0.55)
    assert answers(stage)[2:] == [("commit", "timed_out")]
    stage.heal()
    stage.crash("primary-1")
    stage.run(20)
    assert ("acknowledged-kept" in stage.promises_broken()) is plain_error
    assert kept(stage) == ([] if plain_error else ["1", "2"])


def test_prepared_transaction_is_committed_however_often_it_takes() -> None:
    """HornetQ manual, "2 phase commit": XA_RETRY; what is prepared survives its server."""
    stage = begun(clients=1, operations=2, session="xa")
    run_until_sent(stage, "commit-branch")
    stage.crash("primary-1")
    stage.run(15)
    assert answers(stage)[2:] == [("prepare", "done"), ("commit_prepared", "unblocked"), ("commit_prepared", "done")]
    assert kept(stage) == ["1", "2"]


def test_branch_that_is_not_there_any_more_counts_as_committed() -> None:
    """HornetQ manual, "Handling Failover With Transactions", XA: it was committed, and not answered."""
    stage = begun(clients=1, operations=2, session="xa")
    run_until_sent(stage, "commit-branch")
    stage.cut.add(("primary-1", "client-1"))
    stage.run(0.1)
    stage.crash("primary-1")
    stage.heal()
    stage.run(15)
    assert answers(stage)[3:] == [("commit_prepared", "unblocked"), ("commit_prepared", "done")]
    assert [what.outcome for _, _, what in stage.sent if isinstance(what, Performed)][-1] == "no-branch"
    assert kept(stage) == ["1", "2"]


def test_branch_whose_prepare_was_not_answered_is_rolled_back() -> None:
    """Broker facts 2.13: XA before prepare: rollback."""
    stage = begun(clients=1, operations=2, session="xa")
    run_until_sent(stage, "prepare")
    stage.cut.add(("primary-1", "client-1"))
    stage.run(0.1)
    stage.crash("primary-1")
    stage.heal()
    stage.run(15)
    shown = answers(stage)[2:]
    assert shown[:2] == [("prepare", "unblocked"), ("rollback", "done")]
    assert shown[-2:] == [("prepare", "done"), ("commit_prepared", "done")]
    assert kept(stage) == ["1", "2"]


def test_manager_that_ends_carries_out_what_it_had_decided() -> None:
    """A decision is on disk before anything is done about it; what has none is rolled back."""
    stage = begun(clients=1, operations=2, session="xa")
    run_until_sent(stage, "commit-branch")
    stage.crash("client-1")
    stage.run(1)
    stage.start("client-1")
    stage.run(0.5)
    assert kept(stage)[:2] == ["1", "2"]
    (server,) = (stage.nodes["primary-1"].server,)  # type: ignore[attr-defined]
    assert server.journal.branches == {}


# ---- consumers ----


@pytest.mark.parametrize("remembers", [True, False])
def test_consumer_that_undoes_a_commit_in_doubt_may_lose_its_messages(remembers: bool) -> None:
    """HornetQ manual, "Handling Failover With Transactions", promises none is lost: it says nothing of those who
    receive, whom duplicate ids do not help."""
    stage = begun(clients=2, operations=2, remembers=remembers)
    run_until_sent(stage, "commit", "client-2")
    stage.cut.add(("primary-1", "client-2"))
    stage.run(0.1)
    stage.crash("primary-1")
    stage.heal()
    stage.run(15)
    assert ("handled" in stage.promises_broken()) is not remembers


def test_message_that_was_delivered_and_not_acknowledged_is_delivered_again() -> None:
    """HornetQ manual, "A Note on Server Replication"."""
    stage = begun(clients=2, operations=1, session="plain", remembers=False)
    run_until_sent(stage, "acknowledge", "client-2")
    stage.crash("primary-1")
    stage.run(12)
    assert [fields["message"] for fields in stage.fields("handled")] == [1, 1]
    assert kept(stage) == []


# ---- what servers do with commands ----


class Hand:
    """A library by hand."""

    def __init__(self, stage: Stage, name: str, wanted: Wanted) -> None:
        self.stage, self.name, self.session, self.number = stage, name, f"{name}.1", 0
        stage.tell("primary-1", JoinSession(self.session, "", wanted), name)

    def heard(self, kind: type[Any]) -> list[Any]:
        return [what for _, to, what in self.stage.sent if to == self.name and isinstance(what, kind)]

    def do(self, command: Any, *names: str, durable: bool = True, to: str = "q", **more: Any) -> str:
        self.number += 1
        outgoing = tuple(Outgoing(to, name, f"{name} 1".encode(), durable) for name in names)
        self.stage.tell("primary-1", Perform(self.session, self.number, command, outgoing, **more), self.name)
        self.stage.run(0.01)
        answer: Performed = self.heard(Performed)[-1]
        assert answer.number == self.number
        return answer.outcome


def test_what_is_sent_in_a_transaction_is_seen_when_it_is_committed() -> None:
    stage = begun()
    one = Hand(stage, "one", Wanted("local"))
    other = Hand(stage, "other", Wanted("plain", ("q",)))
    assert one.do("send", "a") == "ok"
    assert other.heard(Delivery) == []
    assert one.do("commit") == "ok"
    assert [what.incoming.duplicate_id for what in other.heard(Delivery)] == ["a"]


def test_what_a_branch_acknowledges_is_nobody_elses_until_it_is_rolled_back() -> None:
    stage = begun()
    one = Hand(stage, "one", Wanted("xa", ("q",)))
    assert one.do("send", "a") == "ok"
    assert one.do("prepare", branch="x") == "ok"
    assert one.do("commit-branch", branch="x") == "ok"
    assert one.do("acknowledge", delivery=1) == "ok"
    assert one.do("prepare", branch="y") == "ok"
    other = Hand(stage, "other", Wanted("plain", ("q",)))
    stage.run(0.1)
    assert other.heard(Delivery) == []
    assert one.do("rollback-branch", branch="y") == "ok"
    assert len(one.heard(Delivery)) + len(other.heard(Delivery)) == 2
    assert one.do("commit-branch", branch="y") == "no-branch"


def test_temporary_queue_ends_with_its_session_and_so_do_messages_that_are_not_durable() -> None:
    stage = begun()
    one = Hand(stage, "one", Wanted("plain"))
    owner = Hand(stage, "owner", Wanted("plain", ("temporary/o",), "temporary/o"))
    assert owner.heard(SessionJoined)[-1].temporary
    assert one.do("send", "a", to="temporary/o") == "ok"
    assert [what.incoming.duplicate_id for what in owner.heard(Delivery)] == ["a"]
    stage.tell("primary-1", CreateSession("owner.2", ""), "owner")
    assert one.do("send", "b", to="temporary/o") == "no-queue"
    assert one.do("send", "c", durable=False) == "ok"
    stage.crash("primary-1")
    stage.run(12)
    assert kept(stage) == []
    taken: Server = stage.nodes["backup-1"].server  # type: ignore[attr-defined]
    assert "c" in taken.journal.duplicates["q"]


def test_settings_are_read_and_wrong_ones_refused() -> None:
    options = CLIENT.options({"session": "xa", "reconnect-attempts": "-1", "volatile_messages": "0"})
    assert (options.session, options.reconnect_attempts) == ("xa", -1)
    with pytest.raises(Refused, match="plain, local, xa"):
        CLIENT.options({"session": "jta"})
