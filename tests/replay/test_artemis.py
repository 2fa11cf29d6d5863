"""What the plug-ins of Artemis read of packets and logs, what they hold, and that their tables cover the specs."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from hacheck.cli.replaying.chosen_run import Chosen, chosen_run
from hacheck.cli.selection import one_system
from hacheck.cli.sources import load_specification
from hacheck.replay.artemis import jars
from hacheck.replay.artemis.broker_kind import ARTEMIS
from hacheck.replay.artemis.brokers import Brokers
from hacheck.replay.artemis.replication import ArtemisReplication, ReplicationSession, policy_of
from hacheck.replay.artemis.replication_steps import ReplicationSteps
from hacheck.replay.artemis.scale_down import ArtemisScaleDown, ScaleDownSession
from hacheck.replay.artemis.server_log import role, shared_store_mode
from hacheck.replay.artemis.shared_store import Gate, SharedStoreSession
from hacheck.replay.artemis.wire import CoreReader
from hacheck.replay.outcomes import EnvironmentLacks, Masked
from hacheck.replay.processes import ProcessGroup
from hacheck.replay.product import Position
from hacheck.replay.relayed_connection import Heard
from hacheck.replay.replayer import carry_out
from hacheck.replay.traffic import Message, Traffic

PACKETS: dict[str, str] = json.loads((Path(__file__).parent / "recorded" / "artemis_packets.json").read_text())
"""One packet of each kind, in hexadecimal digits, as Artemis 2.41 sent it."""

LOGS = Path(__file__).parents[1] / "data" / "artemis" / "replication-crash_and_failback"
NO_ROW = {
    *("publish.replicating", "publish.writing", "refuse"),  # the way of a message in steps; a journal that refuses
    "come_back",  # the network check
}


@cache
def run_of(spec: str, check: str, claim: str) -> Chosen:
    return chosen_run(spec, check, claim, {}, no_color=True)


def heard(name: str) -> Heard | None:
    return CoreReader().read(bytes.fromhex(PACKETS[name]), to_server=name.startswith("request"))


# ---- packets ----


@pytest.mark.parametrize("name", [name for name in PACKETS if " " in name and name != "reply message"])
def test_packet_is_read_as_what_it_is(name: str) -> None:
    found = heard(name)
    assert found is not None
    assert f"{found.kind} {found.operation}" == name


def test_moved_message_has_its_number_and_so_has_its_answer() -> None:
    reader = CoreReader()
    request = reader.read(bytes.fromhex(PACKETS["request message"]), to_server=True)
    assert request is not None
    assert request.number == 1
    answer = reader.read(bytes.fromhex(PACKETS["reply message"]), to_server=False)
    assert answer == Heard("reply", "message", 1, "1")
    assert reader.read(bytes.fromhex(PACKETS["reply message"]), to_server=False) is None


def test_packets_that_no_schedule_holds_are_nothing() -> None:
    assert CoreReader().read(bytes.fromhex(PACKETS["other"]), to_server=True) is None
    assert CoreReader().read(b"ARTEMIS", to_server=True) is None


def test_stream_is_divided_into_packets() -> None:
    names = ("greeting", "other", "request vote", "other")
    stream, lengths = b"".join(bytes.fromhex(PACKETS[name]) for name in names), []
    reader = CoreReader()
    while stream:
        length = reader.length(stream)
        assert length is not None
        lengths.append(length)
        stream = stream[length:]
    assert lengths == [len(PACKETS[name]) // 2 for name in names]
    assert reader.length(b"ART") is None


@pytest.mark.parametrize("begin", [b"GET / HTTP/1.1", b"\xff\xff\xff\xff", b"\0\0\0\x01"])
def test_what_is_no_packet_is_refused(begin: bytes) -> None:
    with pytest.raises(ValueError, match="a packet of"):
        CoreReader().length(begin)


# ---- logs ----


def log_of(broker: str) -> list[str]:
    return (LOGS / broker / "log" / "artemis.log").read_text().splitlines()


def modes_of(broker: str, *, backup: bool) -> list[tuple[str, bool]]:
    """The roles that a log goes through, each with whether the data is complete."""
    lines, found = log_of(broker), []
    for end in range(1, len(lines) + 1):
        shown = role((), lines[:end], backup=backup)
        if not found or found[-1] != (shown.mode, shown.complete):
            found.append((shown.mode, shown.complete))
    return found


def test_roles_of_a_backup_that_takes_over_and_gives_way() -> None:
    assert modes_of("server-2", backup=True)[:5] == [
        ("waiting", False),
        ("in_sync", True),
        ("voting", True),
        ("active", True),
        ("stopped", True),
    ]


def test_primary_that_comes_back_is_incomplete_until_it_is_in_sync() -> None:
    lines = log_of("server-1")
    again = max(number for number, line in enumerate(lines) if "AMQ221000" in line)
    before, current = lines[:again], lines[again:]
    waiting = next(number for number, line in enumerate(current) if "AMQ221109" in line) + 1
    assert role(before, current[:waiting], backup=False).complete is False
    assert role(before, current[:waiting], backup=False).mode == "waiting"
    synced = next(number for number, line in enumerate(current) if "AMQ221024" in line) + 1
    assert role(before, current[:synced], backup=False).complete is True


def test_copy_stays_incomplete_over_a_restart() -> None:
    moved = ["2026 INFO AMQ222162: Moving data directory"]
    serves = ["2026 INFO AMQ221007: Server is now active"]
    assert role(moved, serves, backup=False).complete is False
    assert role((), serves, backup=False).complete is True


def test_modes_of_servers_with_a_shared_store() -> None:
    logs = LOGS.parent / "shared_store-crash_and_failback"
    found = {}
    for broker, backup in (("server-1", False), ("server-2", True)):
        lines = (logs / broker / "log" / "artemis.log").read_text().splitlines()
        modes = [shared_store_mode(lines[:end], backup=backup) for end in range(1, len(lines) + 1)]
        found[broker] = [mode for mode, _ in groupby(modes)]
    assert found["server-1"][:4] == ["starting", "waiting", "activating", "active"]
    assert found["server-2"][:4] == ["joining", "passive", "active", "handed_over"]


# ---- tables ----


def steps_of(chosen: Chosen) -> ReplicationSteps:
    data = chosen.data
    position = Position(data, 0, data.initial, data.initial)
    brokers = Brokers(Path("nowhere"), range(1, 3), "", ProcessGroup())
    return ReplicationSteps(position, brokers, Traffic(lambda message: False, lambda message: None), lambda n, p: "")


def test_every_action_of_replication_has_a_row() -> None:
    specification = load_specification("artemis_replication", no_color=True)
    table = steps_of(run_of("artemis_replication", "outage_in_failback", "p3_no_incomplete_copy_serves")).table
    for check in ("wide", "disk_lost"):
        system = one_system(specification, check, {}, no_color=True)
        actions = {action.name.partition("#")[0] for action in system.actions}
        assert actions - set(table) <= NO_ROW, check


def test_every_action_of_scaling_down_has_a_row() -> None:
    chosen = run_of("artemis_scale_down", "crash_with_another_target", "one_place")
    data = chosen.data
    brokers = Brokers(Path("nowhere"), range(1, 4), "", ProcessGroup())
    traffic = Traffic(lambda message: False, lambda message: None)
    session = ScaleDownSession(Position(data, 0, data.initial, data.initial), brokers, traffic)
    assert {action.name.partition("#")[0] for action in chosen.system.actions} - set(session.steps) == {"move.removed"}
    assert {step.action for step in data.steps} <= set(session.steps)


def test_every_action_of_a_shared_store_has_a_row(tmp_path: Path) -> None:
    chosen = run_of("artemis_shared_store", "failing_back_for_ever", "p10_someone_serves")
    data = chosen.data
    brokers = Brokers(tmp_path, range(1, 3), "", ProcessGroup(), shared=True)
    traffic = Traffic(lambda message: False, lambda message: None)
    session = SharedStoreSession(Position(data, 0, data.initial, data.initial), brokers, traffic)
    specification = load_specification("artemis_shared_store", no_color=True)
    system = one_system(specification, "wide_pause", {}, no_color=True)
    actions = {action.name.partition("#")[0] for action in system.actions}
    session.gate.close()
    assert actions - set(session.steps) == {
        "stop_with_failover",
        "sync_journal",
    }


def test_lock_that_the_replay_has_is_taken_by_no_other_process(tmp_path: Path) -> None:
    gate = Gate(tmp_path / "journal")
    program = f"import fcntl; fcntl.lockf(open({str(tmp_path / 'journal' / 'serverlock.1')!r}, 'r+'), 6)"
    tried = [sys.executable, "-c", program]
    assert gate.shut()
    assert subprocess.run(tried, capture_output=True, check=False).returncode == 1
    gate.open()
    assert subprocess.run(tried, capture_output=True, check=False).returncode == 0
    gate.close()


def packet(operation: str, source: int, target: int, kind: str) -> Message:
    return Message(source, target, kind, operation, 0, "", lambda goes: None)


def test_votes_of_a_backup_are_held_and_those_of_a_server_that_serves_are_not() -> None:
    chosen = run_of("artemis_replication", "outage_in_failback", "p3_no_incomplete_copy_serves")
    steps = steps_of(chosen)
    asked = next(step.number for step in chosen.data.steps if step.action == "ask_votes")
    steps.position.move_to(asked)
    assert steps.holds(packet("vote", 2, 11, "request"))
    steps.position.done()
    assert not steps.holds(packet("vote", 2, 11, "request"))
    assert steps.holds(packet("fail_over", 2, 1, "reply"))
    assert steps.holds(packet("register", 3, 2, "request"))
    assert not steps.holds(packet("sync_begin", 2, 3, "reply"))


# ---- configuration ----


def test_settings_are_configured() -> None:
    chosen = run_of("artemis_replication", "outage_in_failback", "p3_no_incomplete_copy_serves")
    policy = policy_of({**chosen.data.settings, "quorum_size": "2", "saved_journals": "0"})
    primary, backup, voter = policy(1, True), policy(2, False), policy(11, True)
    assert "<check-for-active-server>true<" in primary
    assert "<quorum-size>2<" in backup
    assert "<max-saved-replicated-journals-size>0<" in backup
    groups = [text.split("group-name>")[1] for text in (primary, backup, voter)]
    assert groups[0] == groups[1] != groups[2]


@pytest.mark.parametrize(
    ("product", "settings", "said"),
    [
        (ArtemisReplication(), {"detail": "lines"}, "only runs with detail = steps"),
        (ArtemisReplication(), {"network_check": "on"}, "network_check: the plug-in does not configure"),
        (ArtemisScaleDown(), {"found_by": "in_process"}, "only runs with found_by = discovery"),
    ],
)
def test_settings_that_are_not_mapped_are_named(product: Any, settings: dict[str, str], said: str) -> None:
    spec, check, claim = (
        ("artemis_scale_down", "crash_with_another_target", "one_place")
        if product.name == "artemis-scale-down"
        else ("artemis_replication", "outage_in_failback", "p3_no_incomplete_copy_serves")
    )
    data = run_of(spec, check, claim).data
    assert product.unfit(data) is None
    other = replace(data, settings={**data.settings, **settings})
    assert said in str(product.unfit(other))


def test_messages_before_a_hand_over_are_sent_before_the_synchronization_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = run_of("artemis_replication", "both_down", "p2_acked_survives")
    publishes = next(step.number for step in chosen.data.steps if step.action == "publish")
    failback = {"Server.for_failback": {"1": False, "2": True}}
    steps = [
        replace(step, state={**step.state, **failback, "outbox": [1] if step.number < publishes else []})
        for step in chosen.data.steps
    ]
    data = replace(chosen.data, steps=tuple(steps))
    position = Position(data, publishes - 1, steps[publishes - 3].state, steps[publishes - 2].state)
    asked: list[tuple[str, ...]] = []

    def ask(self: Brokers, command: str, member: int, *words: str) -> tuple[bool, str]:
        asked.append((command, str(member), *words))
        return True, ""

    monkeypatch.setattr(Brokers, "ask", ask)
    table = steps_of(chosen)
    table.position = position
    table._send_early(2).join()
    assert asked == [("send", "2", "1")]
    assert table.sent == {}
    position.move_to(publishes)
    table.publish(2)
    assert table.sent == {1: "ok"}
    assert len(asked) == 1


def test_server_that_has_stopped_by_itself_masks_what_the_run_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    data = run_of("artemis_replication", "outage_in_failback", "p3_no_incomplete_copy_serves").data
    last = data.steps[-1].state
    assert last["Server.mode"] == {"1": "active", "2": "active"}
    lines = {1: ["AMQ221007: serves"], 2: ["AMQ221007: serves"]}
    monkeypatch.setattr(Brokers, "runs", lambda self, n: True)
    monkeypatch.setattr(Brokers, "lines", lambda self, n: lines[n])
    monkeypatch.setattr(Brokers, "log_parts", lambda self, n: ([], lines[n]))
    monkeypatch.setattr(Brokers, "ask", lambda self, command, n, *words: (True, ""))
    brokers = Brokers(Path("nowhere"), range(1, 3), "", ProcessGroup())
    traffic = Traffic(lambda message: False, lambda message: None)
    session = ReplicationSession(Position(data, 16, last, last), brokers, traffic, ())
    assert all("acknowledged" in line for line in session.conclude())
    lines[2].append("AMQ221002: stopped")
    with pytest.raises(Masked, match="server 2 serve, and it has stopped by itself"):
        session.conclude()


def test_jars_that_maven_cannot_get_are_no_fault_of_the_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(jars, "classpath", lambda folder, kind: None)
    jars.programs.cache_clear()
    data = run_of("artemis_replication", "outage_in_failback", "p3_no_incomplete_copy_serves").data
    result = carry_out(data, ArtemisReplication(), tmp_path / "run", lambda step: None)
    assert result.outcome == "environment"
    assert "Maven cannot get the jars" in result.reason
    assert list((tmp_path / "run").iterdir()) == [tmp_path / "run" / "messages.txt"]


def test_compiler_that_takes_too_long_is_no_defect_of_hacheck(monkeypatch: pytest.MonkeyPatch) -> None:
    def late(command: list[str], **_: object) -> None:
        raise subprocess.TimeoutExpired(command, 1)

    monkeypatch.setattr(jars, "classpath", lambda folder, kind: "some.jar")
    monkeypatch.setattr("subprocess.run", late)
    jars.programs.cache_clear()
    with pytest.raises(EnvironmentLacks, match="not compiled within"):
        jars.programs(ARTEMIS)
    jars.programs.cache_clear()


def test_backup_whose_take_over_failed_is_stranded() -> None:
    syncs = ["2026 INFO AMQ221109: started", "2026 INFO AMQ221066: Initiating quorum vote"]
    assert role((), syncs, backup=True).mode == "voting"
    for failure in ("AMQ224000: Failure in initialisation", "AMQ214002: Failed to execute failure listener"):
        assert role((), [*syncs, f"2026 ERROR {failure}"], backup=True).mode == "stranded"


def test_link_that_is_well_is_watched_without_a_vote(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = run_of("artemis_replication", "outage_in_failback", "p3_no_incomplete_copy_serves")
    linked = next(step for step in chosen.data.steps if step.state["Server.link"]["2"] is not None)
    table = steps_of(chosen)
    table.position = Position(chosen.data, linked.number, linked.state, linked.state)

    def waits(*words: object, **more: object) -> None:
        raise AssertionError(f"waits for {words}")

    monkeypatch.setattr(table.log, "code", waits)
    monkeypatch.setattr(table.log, "line", waits)
    table.watch_link(2)


def scaling(chosen: Chosen, number: int) -> ScaleDownSession:
    data = chosen.data
    brokers = Brokers(Path("nowhere"), range(1, 3), "", ProcessGroup())
    position = Position(data, 0, data.initial, data.initial)
    position.move_to(number)
    return ScaleDownSession(position, brokers, Traffic(lambda message: False, lambda message: None))


def test_answer_that_the_run_loses_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = run_of("artemis_scale_down", "in_doubt_after_crash", "one_place")
    doubtful = next(step for step in chosen.data.steps if step.state["Client.doubt"]["1"])
    assert doubtful.action == "send_next"
    session = scaling(chosen, doubtful.number)
    asked: list[int] = []

    def ask(self: Brokers, command: str, member: int, *words: str) -> tuple[bool, str]:
        asked.append(member)
        return True, ""

    monkeypatch.setattr(Brokers, "ask", ask)
    session.send_next(1)
    assert session.sent[1] != "ok"
    arrived = any(1 in queue for queue in doubtful.state["Server.queue"].values())
    assert asked == ([1] if arrived else [])


def test_message_that_the_model_has_nowhere_and_is_there_masks_its_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = run_of("artemis_scale_down", "back_and_forth", "p2_acked_survives")
    session = scaling(chosen, len(chosen.data.steps))
    session.sent[1] = "ok"
    there: list[int] = []
    monkeypatch.setattr(ScaleDownSession, "_kept", lambda self, s: ("active", there))
    assert any("messages []" in line for line in session.conclude())
    there.append(1)
    with pytest.raises(Masked, match="message 1, which the model has lost, is there"):
        session.conclude()
