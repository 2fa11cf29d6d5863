"""Servers that scale down: where to, what goes there, and who is let in when."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from hacheck.impl.node import Received, Unreachable
from hacheck.impl.protocols.artemis.messages import Outgoing, SessionRefused, StopServer
from hacheck.impl.protocols.artemis.scale_down.messages import Adopt, FindTarget, Move, MoveRefused, ScalingDown
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


def stop(stage: Stage, server: str, seconds: float = 3) -> None:
    stage.tell(server, StopServer(False))
    stage.run(seconds)


def test_a_server_that_is_stopped_moves_its_messages_behind_those_of_the_other() -> None:
    """HornetQ manual, "Scaling Down": 1, 3, 5 and 2, 4, 6 become 2, 4, 6, 1, 3, 5: the order is lost."""
    stage = cluster()
    Producer(stage, "a", "server-1").send("c-1.0.1", "c-1.0.3", "c-1.0.5")
    Producer(stage, "b", "server-2").send("c-1.0.2", "c-1.0.4", "c-1.0.6")
    stop(stage, "server-1")
    assert "server-1" in stage.halted
    assert queue(stage, 1) == []
    assert [name[-1] for name in queue(stage, 2)] == ["2", "4", "6", "1", "3", "5"]
    assert stage.lines("server-1")[-2:] == [221078, 221002]
    assert stage.fields("scaled_down", "server-1")[0]["messages"] == 3


def test_a_crash_moves_nothing() -> None:
    """HornetQ manual, "Scaling Down": it deals with a server being stopped, and not with a crash."""
    stage = cluster()
    Producer(stage, "a", "server-1").send("m")
    stage.crash("server-1")
    stage.run(20)
    assert (queue(stage, 1), queue(stage, 2)) == (["m"], [])


def test_clients_are_told_where_to_go_and_let_in_when_everything_is_there() -> None:
    """HornetQ manual, "Scale Down and Clients"."""
    stage = cluster()
    client = Producer(stage, "a", "server-1")
    client.send("m", "n")
    stage.tell("server-1", StopServer(False))
    stage.run_until_sent(Move)
    assert ScalingDown(client.session, "server-2") in client.heard()
    assert isinstance(client.join("server-2"), SessionRefused)
    stage.run(3)
    assert isinstance(client.join("server-2"), SessionJoined)
    assert client.perform("send", "m") == "ok"  # its duplicate id was moved, too
    assert queue(stage, 2) == ["m", "n"]
    assert 222059 in stage.lines("server-2")


def test_prepared_transactions_follow_and_are_committed_there() -> None:
    """HornetQ manual, "Scaling Down": transaction state; broker facts 2.12: re-created and prepared on the target."""
    stage = cluster()
    manager = Producer(stage, "tm", "server-1", "xa")
    assert [manager.perform(word, "x") for word in ("send", "prepare")] == ["ok", "ok"]
    stop(stage, "server-1")
    assert list(journal_of(stage.shared["store-2"], stage.options).branches) == ["x"]
    assert not journal_of(stage.shared["store-1"], stage.options).branches
    assert isinstance(manager.join("server-2"), SessionJoined)
    assert manager.perform("commit-branch", "x") == "ok"
    assert queue(stage, 2) == ["x"]


def test_a_crash_between_the_steps_of_a_move_leaves_the_message_on_both() -> None:
    """Broker facts 2.12: sending and acknowledging are not one step: duplicates, never loss."""
    stage = cluster()
    Producer(stage, "a", "server-1").send("m")
    stage.tell("server-1", StopServer(False))
    stage.run_until_sent(Move)
    stage.crash("server-1")
    stage.run(1)
    assert (queue(stage, 1), queue(stage, 2)) == (["m"], ["m"])
    stage.start("server-1")
    stage.run(3)
    assert "server-1" in stage.serving()


def test_a_server_that_finds_nobody_keeps_what_it_has() -> None:
    """Two servers of two groups: HornetQ manual, "Scale Down with groups"."""
    stage = cluster(groups=2)
    Producer(stage, "a", "server-1").send("m")
    stop(stage, "server-1")
    assert "server-1" in stage.halted
    assert (queue(stage, 1), queue(stage, 2)) == (["m"], [])
    assert stage.fields("scale_down_failed") == [{"left": 1, "server": "server-1"}]


def test_only_servers_of_the_same_group_are_scaled_down_to() -> None:
    """HornetQ manual, "Scale Down with groups"."""
    stage = cluster(3, groups=2)  # 1 and 2 are of one, 3 of another
    Producer(stage, "b", "server-2").send("m")
    stop(stage, "server-2")
    assert stage.fields("scale_down_begun")[0]["target"] == "server-1"
    assert queue(stage, 1) == ["m"]


def test_a_target_that_stops_ends_the_move_and_the_rest_is_kept() -> None:
    """A server that is scaled down itself takes nothing any more."""
    stage = cluster()
    Producer(stage, "a", "server-1").send("m", "n", "o")
    stage.tell("server-1", StopServer(False))
    stage.run_until_sent(Move)
    stage.tell("server-2", StopServer(False))
    stage.run_until_sent(MoveRefused)
    stage.run(10)
    assert sorted(set(queue(stage, 1) + queue(stage, 2))) == ["m", "n", "o"]
    assert stage.fields("scale_down_failed", "server-1")[0]["target"] == "server-2"


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


def test_a_backup_scales_down_instead_of_serving() -> None:
    """HornetQ manual, "Scale Down and Backups"; broker facts 2.2: 221047, stop, restart if restart-backup."""
    stage = cluster(backups=True)
    Producer(stage, "a", "server-1").send("m")
    stage.crash("server-1")
    stage.run(20)
    assert queue(stage, 2) == ["m"]
    assert stage.lines("backup-1")[-7:-1] == [221078, 221047, 221002, 221032, 221033, 221109]
    assert "backup-1" not in stage.serving()
    stage.start("server-1")
    stage.run(5)
    assert "server-1" in stage.serving()


def test_without_a_connector_a_backup_moves_to_the_server_beside_it_and_a_live_server_nowhere() -> None:
    """HornetQ manual, "Scaling Down": the first INVM connector."""
    stage = cluster(backups=True, found_by="in_process")
    Producer(stage, "a", "server-1").send("m")
    Producer(stage, "b", "server-2").send("n")
    stop(stage, "server-2")
    assert queue(stage, 2) == ["n"]
    stage.start("server-2")
    stage.run(5)
    stage.crash("server-1")
    stage.run(20)
    assert queue(stage, 2) == ["n", "m"]


def test_a_server_that_is_started_again_is_another_node() -> None:
    """Its node lives on at the target, which has its clients: only they know where their state is."""
    stage = cluster()
    client = Producer(stage, "a", "server-1")
    client.send("m")
    stop(stage, "server-1")
    stage.start("server-1")
    stage.run(5)
    assert isinstance(client.join("server-1"), SessionRefused)
    assert isinstance(client.join("server-2"), SessionJoined)


def test_who_stands_in_for_a_node_passes_that_on() -> None:
    stage = cluster(3)
    client = Producer(stage, "a", "server-1")
    client.send("m")
    stop(stage, "server-1")
    stop(stage, "server-2")
    (adopt,) = [message for sender, _, message in stage.sent if isinstance(message, Adopt) and sender == "server-2"]
    assert client.node_id in adopt.nodes
    assert isinstance(client.join("server-3"), SessionJoined)
    assert queue(stage, 3) == ["m"]


def test_a_producer_sends_what_is_in_doubt_again_after_its_own_end() -> None:
    """HornetQ manual, "Handling Failover With Non Transactional Sessions": duplicate detection."""
    stage = Stage(SCALE_DOWN, 2, 1, pause_us=50_000, spread_every=0, stops=1, stop_every_us=600_000_000)
    stage.start()
    stage.run(3)
    asked = stage.fields("asked")[-1]["request"]
    stage.run_until_sent(Performed)
    stage.crash("client-1")
    stage.start("client-1")
    stage.run(3)
    assert stage.verdict() == []
    assert queue(stage, 1).count(asked) == 1


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


@pytest.mark.parametrize(("found_by", "asked"), [("connector", {"server-3"}), ("discovery", {"server-1", "server-3"})])
def test_target_is_the_one_of_the_connector_or_one_that_is_discovered(found_by: str, asked: set[str]) -> None:
    """HornetQ manual, "Scaling Down": a specific connector, or discovery. The connector leads to the next server."""
    stage = cluster(3, found_by=found_by)
    Producer(stage, "a", "server-2").send("m")
    before = len(stage.sent)
    stop(stage, "server-2")
    assert {to for by, to, what in stage.sent[before:] if by == "server-2" and isinstance(what, FindTarget)} == asked
    (begun,) = stage.fields("scale_down_begun")
    assert begun["target"] in asked
    assert queue(stage, int(begun["target"][-1])) == ["m"]


@pytest.mark.parametrize(("attempts", "gives_up"), [(2, True), (-1, False)])
def test_a_client_that_asks_too_few_times_gives_up(attempts: int, gives_up: bool) -> None:
    """HornetQ manual, "Scale Down and Clients": settings must be high enough for the time needed to scale down."""
    stage = Stage(SCALE_DOWN, 2, 1, reconnect_attempts=attempts, reconnect_us=300_000, spread_every=0, pause_us=20_000)
    stage.start("server-1", "server-2", "client-1")
    stage.run(3)
    stage.slow.add("server-2")
    stage.tell("server-1", StopServer(False))
    stage.run(2)
    stage.unslow("server-2")
    assert stage.fields("sent_away") == [{"target": "server-2"}]
    assert stage.fields("gave_up") == ([{"target": "server-2"}] if gives_up else [])
    stage.run(3)
    assert stage.fields("connected")[-1]["broker"] == "server-2"


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
