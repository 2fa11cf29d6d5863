"""Sessions, sends, transactions and deliveries of a broker that serves."""

from __future__ import annotations

import pytest

from hacheck.impl.protocols.artemis.messages import (
    Answered,
    Commit,
    CreateSession,
    Delivered,
    Fetch,
    Outgoing,
    Produce,
    SessionClosed,
    SessionCreated,
    SessionRefused,
)
from hacheck.impl.protocols.artemis.system import SHARED_STORE
from tests.impl.stage import Stage


class Talk:
    """A client by hand."""

    def __init__(self, stage: Stage, broker: str = "primary-1", name: str = "me") -> None:
        self.stage, self.broker, self.name = stage, broker, name
        self.session = f"{name}.1"
        self.calls = 0
        stage.tell(broker, CreateSession(self.session, ""), name)

    def answers(self) -> list[object]:
        return [message for _, to, message in self.stage.sent if to == self.name]

    def say(self, message: object) -> object:
        self.stage.tell(self.broker, message, self.name)  # type: ignore[arg-type]
        self.stage.run(0.01)
        return self.answers()[-1]

    def send(self, *names: str, done: tuple[int, ...] = (), alone: bool = False) -> str:
        self.calls += 1
        outgoing = tuple(Outgoing("q", name, name.encode()) for name in names)
        if alone:
            answer = self.say(Produce(self.session, self.calls, outgoing[0]))
        else:
            answer = self.say(Commit(self.session, self.calls, outgoing, done))
        assert isinstance(answer, Answered)
        assert answer.call == self.calls
        return answer.outcome

    def fetch(self, credit: int = 10) -> list[tuple[int, str]]:
        self.calls += 1
        answer = self.say(Fetch(self.session, self.calls, "q", credit))
        assert isinstance(answer, Delivered)
        return [(message.number, message.duplicate_id) for message in answer.messages]


@pytest.fixture
def stage() -> Stage:
    stage = Stage(SHARED_STORE)
    stage.start()
    stage.run(3)
    assert stage.serving() == ("primary-1",)
    return stage


def test_answer_comes_when_the_record_is_on_the_disk(stage: Stage) -> None:
    """Broker facts 2.7: the send is answered when the journal is written."""
    talk = Talk(stage)
    stage.slow.add("primary-1")
    stage.tell("primary-1", Produce("me.1", 1, Outgoing("q", "a", b"")), "me")
    stage.run(0.5)
    assert not any(isinstance(message, Answered) for message in talk.answers())
    stage.unslow("primary-1")
    stage.run(0.1)
    assert Answered("me.1", 1, "ok") in talk.answers()


def test_message_is_not_delivered_before_it_is_on_the_disk(stage: Stage) -> None:
    talk, other = Talk(stage), Talk(stage, name="other")
    stage.slow.add("primary-1")
    stage.tell("primary-1", Produce("me.1", 1, Outgoing("q", "a", b"")), "me")
    assert other.fetch() == []
    stage.unslow("primary-1")
    stage.run(0.1)
    assert [name for _, name in other.fetch()] == ["a"]
    assert talk.answers()


def test_duplicate_outside_a_transaction_is_dropped_without_a_word(stage: Stage) -> None:
    """Broker facts 2.14: message dropped silently, 222059."""
    talk = Talk(stage)
    assert talk.send("a", alone=True) == "ok"
    assert talk.send("a", alone=True) == "ok"
    assert 222059 in stage.lines("primary-1")
    assert [name for _, name in talk.fetch()] == ["a"]


def test_duplicate_of_what_is_not_safe_yet_waits_with_it(stage: Stage) -> None:
    talk = Talk(stage)
    stage.slow.add("primary-1")
    stage.tell("primary-1", Produce("me.1", 1, Outgoing("q", "a", b"")), "me")
    stage.tell("primary-1", Produce("me.1", 2, Outgoing("q", "a", b"")), "me")
    stage.run(0.5)
    assert not any(isinstance(message, Answered) for message in talk.answers())


def test_one_duplicate_rolls_the_whole_transaction_back(stage: Stage) -> None:
    """Broker facts 2.14: inside a transaction the whole of it is rolled back."""
    talk = Talk(stage)
    talk.send("a")
    assert talk.send("b", "a") == "duplicate"
    assert [name for _, name in talk.fetch()] == ["a"]


def test_transaction_with_an_acknowledgement_is_all_or_nothing(stage: Stage) -> None:
    """Broker facts P7."""
    talk = Talk(stage)
    talk.send("a")
    ((number, _),) = talk.fetch()
    assert talk.send("b", done=(number,)) == "ok"
    assert [name for _, name in talk.fetch()] == ["b"]


def test_acknowledging_what_the_session_does_not_have_rolls_back(stage: Stage) -> None:
    talk, other = Talk(stage), Talk(stage, name="other")
    talk.send("a")
    ((number, _),) = other.fetch()
    assert talk.send("b", done=(number,)) == "rolled-back"
    assert talk.fetch() == []


def test_deliveries_come_back_in_order_when_a_session_ends(stage: Stage) -> None:
    """HornetQ manual, "A Note on Server Replication": a new session knows nothing of the old one."""
    talk, other = Talk(stage), Talk(stage, name="other")
    talk.send("a", "b", "c")
    assert len(talk.fetch(2)) == 2
    stage.tell("primary-1", CreateSession("me.2", ""), "me")
    assert [name for _, name in other.fetch()] == ["a", "b", "c"]


def test_silent_session_is_closed_after_its_time_to_live(stage: Stage) -> None:
    talk = Talk(stage)
    talk.send("a")
    talk.fetch()
    stage.run(6)
    assert SessionClosed("me.1") in talk.answers()
    assert [name for _, name in Talk(stage, name="other").fetch()] == ["a"]


def test_broker_that_does_not_serve_refuses_clients(stage: Stage) -> None:
    """HornetQ manual, "Live - Backup Groups": only the live server serves."""
    talk = Talk(stage, "backup-1")
    assert talk.answers() == [SessionRefused("me.1", ())]
    assert talk.say(Produce("me.1", 1, Outgoing("q", "a", b""))) == SessionClosed("me.1")


def test_client_learns_who_would_take_over(stage: Stage) -> None:
    """HornetQ manual, "Failing over on the Initial Connection": the topology comes with the first connection."""
    created = Talk(stage).answers()[0]
    assert isinstance(created, SessionCreated)
    assert created.connectors == ("primary-1", "backup-1")
    assert Talk(stage, name="lost").say(CreateSession("lost.2", "another-node")) == SessionRefused("lost.2", ())
