"""Servers that scale down: where to, what goes there, and who is let in when."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from hacheck.impl.node import Received, Unreachable
from hacheck.impl.protocols.artemis.messages import Outgoing, StopServer
from hacheck.impl.protocols.artemis.scale_down.messages import ScalingDown
from hacheck.impl.protocols.artemis.scale_down.oracle import journal_of
from hacheck.impl.protocols.artemis.scale_down.system import SCALE_DOWN
from hacheck.impl.protocols.artemis.session_messages import (
    JoinSession,
    Perform,
    Performed,
    SessionJoined,
    Wanted,
)
from hacheck.impl.system import Refused
from tests.impl.stage import Stage


def cluster(replicas: int = 2, **settings: object) -> Stage:
    """Servers that serve, without clients; the operator is the test."""
    stage = Stage(SCALE_DOWN, replicas, 0, **settings)
    stage.start(*(member.name for member in stage.members if member.role in ("primary", "backup")))
    stage.run(3)
    assert stage.serving() == tuple(f"server-{number}" for number in range(1, replicas + 1))
    return stage


class Producer:
    """A client by hand. `kind`: of its session."""

    def __init__(self, stage: Stage, name: str, server: str, kind: str = "plain") -> None:
        self.stage, self.name, self.server = stage, name, server
        self.kind, self.commands, self.joins = kind, 0, 0
        self.node_id = ""
        assert isinstance(self.join(server), SessionJoined)

    def heard(self) -> list[object]:
        return [message for _, to, message in self.stage.sent if to == self.name]

    def join(self, server: str) -> object:
        """Asks for a session, as a client of the node that it had last."""
        self.server, self.commands = server, 0
        self.joins += 1
        session = f"{self.name}.{self.joins}"
        self.stage.tell(server, JoinSession(session, self.node_id, Wanted(self.kind)), self.name)  # type: ignore[arg-type]
        answer = self.heard()[-1]
        if isinstance(answer, SessionJoined):
            self.session, self.node_id = session, answer.node_id
        return answer

    def perform(self, command: str, message: str) -> str:
        self.commands += 1
        outgoing = (Outgoing("orders", message, b"."),) if command == "send" else ()
        asked = Perform(self.session, self.commands, command, outgoing, branch=message)  # type: ignore[arg-type]
        self.stage.tell(self.server, asked, self.name)
        self.stage.run(0.01)
        answer = self.heard()[-1]
        assert isinstance(answer, Performed)
        return answer.outcome

    def send(self, *messages: str) -> None:
        for message in messages:
            assert self.perform("send", message) == "ok"


def queue(stage: Stage, number: int) -> list[str]:
    """The messages on the disk of a server, in their order."""
    journal = journal_of(stage.shared[f"store-{number}"], stage.options)
    return [stored.duplicate_id for stored in journal.messages.values()]


def moves_before_removal(stage: Stage) -> Iterator[int]:
    """How many messages were at the target each time some were removed at home."""
    moved = 0
    before = len(queue(stage, 1))
    for _ in range(4000):
        stage.run(0.0005)
        moved = len(stage.fields("message_moved"))
        now = len(queue(stage, 1))
        if now < before:
            before = now
            yield moved


@pytest.mark.parametrize(("interval", "first"), [(1, 1), (3, 3), (-1, 6)])
def test_what_was_moved_is_removed_by_commit_intervals(interval: int, first: int) -> None:
    """Broker facts 2.12: committed per `commit-interval` messages, -1 once per address."""
    stage = cluster(commit_interval=interval)
    Producer(stage, "a", "server-1").send(*"abcdef")
    stage.tell("server-1", StopServer(False))
    at = next(moves_before_removal(stage))
    assert first <= at <= first + 3  # writes take longer than messages


def test_a_producer_finds_what_is_in_doubt_where_it_sent_it_last() -> None:
    """HornetQ manual, "Scale Down and Clients": after its own end, too. The server that it was for was scaled down to
    the other one, and ended before it knew."""
    stage = Stage(SCALE_DOWN, 2, 1, pause_us=50_000, spread_every=0, stops=1, stop_every_us=600_000_000)
    stage.start()
    stage.run(3)
    stage.run_until_sent(Perform)
    stage.part("client-1", "server-1")
    stage.tell("server-1", StopServer(False))
    while "stands_in" not in stage.events("server-2"):
        stage.run(0.0001)
    stage.crash("server-1")
    while stage.fields("connected")[-1]["broker"] != "server-2":
        stage.run(0.0001)
    stage.run_until_sent(Performed)
    stage.crash("client-1")
    stage.heal()
    stage.start("server-1")
    stage.run(3)
    stage.start("client-1")
    stage.run(1)
    assert set(stage.serving()) == {"server-1", "server-2"}
    assert stage.fields("connected")[-1]["broker"] == "server-2"
    asked = [one["request"] for one in stage.fields("asked")]
    (again,) = {name for name in asked if asked.count(name) > 1}
    assert [queue(stage, number).count(again) for number in (1, 2)] == [0, 1]


def test_settings_that_cannot_be_are_refused() -> None:
    with pytest.raises(Refused, match="2 replicas at least"):
        SCALE_DOWN.members(1, 0, SCALE_DOWN.options({}))
    with pytest.raises(Refused, match="too few for 3 groups"):
        SCALE_DOWN.members(2, 0, SCALE_DOWN.options({"groups": "3"}))
    with pytest.raises(Refused, match="did you mean `found_by`"):
        SCALE_DOWN.options({"found_bye": "discovery"})


def test_a_request_during_the_search_for_a_target_is_answered_by_where_to_go() -> None:
    """HornetQ manual, "Scale Down and Clients": clients hear of the target before they are disconnected."""
    stage = cluster()
    client = Producer(stage, "a", "server-1")
    stage.tell("server-1", StopServer(False))
    message = Perform(client.session, 1, "send", (Outgoing("orders", "m", b"."),))
    stage.inform("server-1", Received("a", message))
    stage.run(1)
    assert client.heard()[-2] == ScalingDown(client.session, "server-2")
    assert queue(stage, 2) == []


def test_a_server_has_no_backup_unless_it_is_configured_to() -> None:
    """HornetQ manual, "HA Policies": `live-only` is the default, and is where scale-down is configured."""
    for given, backups in (({}, 0), ({"backups": "true"}, 2)):
        members = SCALE_DOWN.members(2, 0, SCALE_DOWN.options(given))
        assert [member.role for member in members].count("backup") == backups


def test_transaction_that_a_server_does_not_have_is_not_taken_for_committed() -> None:
    """A server that stood in for another one before lets its clients in while that one is scaled down again, and has
    not got what was prepared there yet."""
    stage = Stage(SCALE_DOWN, 2, 2)
    stage.start()
    while not stage.fields("prepared", "client-2"):
        stage.run(0.1)
    (prepared,) = stage.fields("prepared", "client-2")
    (server,) = {fields["broker"] for fields in stage.fields("connected", "client-2")}
    stage.nodes[server].broker.server.journal.branches.clear()  # type: ignore[attr-defined]
    stage.inform("client-2", Unreachable(server))
    stage.run(5)
    outcomes = [one["outcome"] for one in stage.fields("told", "client-2") if one["request"] == prepared["branch"]]
    assert outcomes == ["unknown", "unknown"]
