"""Clusters of processes, with a toy that has a lock and a shared disk: they start, end and are hit as they should."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
from pathlib import Path

import msgspec
import pytest

from hacheck.impl.runtime import pids
from hacheck.impl.runtime.control import Guest, Silent, address, ask, planned, start, stop_all
from hacheck.impl.runtime.disk import Database
from hacheck.impl.runtime.folder import Cluster, Folder, store
from hacheck.impl.runtime.frames import Hello, frame
from hacheck.impl.runtime.keeper import Ask
from hacheck.impl.runtime.pids import Pid
from hacheck.impl.system import Refused
from tests.runtime.clusters import TOY, Running, findable, refused, running, until
from tests.simulation.toys import Add, Added, Refusal


def told(cluster: Running, name: str = "client-0") -> set[int]:
    """The numbers that a client was told are there."""
    lines = (msgspec.json.decode(line) for line in cluster.lines(name))
    return {line["fields"]["number"] for line in lines if line["event"] == "told"}


def stored(folder: Folder, client: str = "client-0") -> set[int]:
    """The numbers that are there."""
    database = Database(folder.shared("gate"), TOY)
    content = database.content()
    database.close()
    return {int(key.partition(":")[2]) for key in content if key.startswith(f"{client}:")}


def serving(cluster: Running) -> str:
    """Who has taken the lock last."""
    terms = {
        msgspec.json.decode(line)["fields"]["term"]: name
        for name in ("replica-0", "replica-1")
        for line in cluster.lines(name)
        if '"serving"' in line
    }
    return terms[max(terms)] if terms else ""


def goes_on(cluster: Running) -> None:
    """Waits until clients are served."""
    before = len(told(cluster))
    until(lambda: len(told(cluster)) >= before + 3, "clients are served")


def test_nothing_acknowledged_is_lost_when_whoever_holds_the_lock_is_killed(tmp_path: Path) -> None:
    with running(tmp_path, TOY, 2, 1) as cluster:
        for _ in range(2):
            goes_on(cluster)
            first = serving(cluster)
            cluster.do("kill", first)
            assert cluster.standings()[first].why == "was ended by SIGKILL"
            until(lambda first=first: serving(cluster) != first, "the other one takes the lock")
            goes_on(cluster)
            cluster.do("restart", first)
            assert cluster.standings()[first].incarnation > 0
    assert told(cluster) <= stored(cluster.folder)


def test_paused_holder_keeps_the_lock(tmp_path: Path) -> None:
    with running(tmp_path, TOY, 2, 1) as cluster:
        goes_on(cluster)
        first = serving(cluster)
        cluster.do("stop", first)
        assert cluster.standings()[first].state == "paused"
        before = told(cluster)
        guest = Guest(cluster.folder)
        port = guest.ports()[first]
        with pytest.raises(Silent, match="does not answer within 1 s"):
            guest.call(first, port, Add(1), 1.0)
        assert len(told(cluster) - before) <= 1  # one answer may have been on its way
        assert serving(cluster) == first
        cluster.do("cont", first)
        goes_on(cluster)


def test_cut_holds_everything_back_until_it_heals(tmp_path: Path) -> None:
    with running(tmp_path, TOY, 1, 2) as cluster:
        goes_on(cluster)
        cluster.do("cut", "client-0")
        until(lambda: True, "the cut is there")
        before, other = told(cluster), len(told(cluster, "client-1"))
        until(lambda: len(told(cluster, "client-1")) > other + 3, "the other client is served")
        assert len(told(cluster) - before) <= 1  # one answer may have been past the keeper
        cluster.do("heal")
        goes_on(cluster)
    assert told(cluster) <= stored(cluster.folder)


def test_cut_may_be_of_one_direction_only(tmp_path: Path) -> None:
    with running(tmp_path, TOY, 1, 1) as cluster:
        goes_on(cluster)
        cluster.do("cut", "replica-0", others=("client-0",), one_way=True)
        assert ask(cluster.folder, Ask("status")).cuts == (("replica-0", "client-0"),)
        until(lambda: stored(cluster.folder) > told(cluster), "what is sent arrives, and the answer does not")
        cluster.do("heal", "client-0")
        goes_on(cluster)


def test_end_of_a_process_is_not_heard_of_across_a_cut(tmp_path: Path) -> None:
    with running(tmp_path, TOY, 1, 1) as cluster:
        cluster.do("kill", "client-0")
        found = address(cluster.folder)
        assert found is not None
        described = cluster.folder.load()
        hello = Hello(1, described.token, described.system, "client-0", "replica-0")
        with socket.create_connection(("127.0.0.1", found.port), 5.0) as connection:  # in the place of the client
            connection.sendall(frame(hello))
            cluster.do("cut", "replica-0", others=("client-0",), one_way=True)
            cluster.do("kill", "replica-0")
            connection.settimeout(0.5)
            with pytest.raises(TimeoutError):
                connection.recv(1)
            cluster.do("heal", "client-0")
            connection.settimeout(5.0)
            assert connection.recv(1) == b""


def test_connection_asked_for_across_a_cut_is_made_when_it_heals(tmp_path: Path) -> None:
    with running(tmp_path, TOY, 1, 1) as cluster:
        cluster.do("cut", "client-0")
        cluster.do("restart", "client-0")
        before = told(cluster)
        cluster.do("heal", "replica-0")
        until(lambda: told(cluster) > before, "what was sent across the cut has arrived")
    assert told(cluster) <= stored(cluster.folder)


def test_guest_is_answered_and_a_stranger_is_not(tmp_path: Path) -> None:
    with running(tmp_path, TOY, 1, 0) as cluster:
        until(lambda: serving(cluster) != "", "somebody serves")
        guest = Guest(cluster.folder)
        port = guest.ports()["replica-0"]
        assert guest.call("replica-0", port, Add(7), 5.0) == Added(7)
        guest.cluster = msgspec.structs.replace(guest.cluster, token="wrong")
        with pytest.raises(Silent, match="you belong to another cluster"):
            guest.call("replica-0", port, Add(8), 5.0)
        guest = Guest(cluster.folder, "replica-0")
        with pytest.raises(Silent, match="`replica-0` is a member"):
            guest.call("replica-0", port, Add(8), 5.0)
    assert stored(cluster.folder, guest.name) == set()


def test_process_that_raises_ends_and_says_why(tmp_path: Path) -> None:
    with running(tmp_path, TOY, 1, 1, {"raises": "5"}) as cluster:
        until(lambda: cluster.standings()["replica-0"].state == "down", "it raises")
        assert cluster.standings()["replica-0"].why == "failed: ValueError: so many"
        assert "so many" in cluster.folder.output("replica-0").read_text()


# ---- nobody stays behind -------------------------------------------------------------------------------------------


def everybody(cluster: Running) -> list[Pid]:
    return [pids.of(member.pid) for member in cluster.standings().values()]


def gone(processes: list[Pid]) -> bool:
    return not any(pids.alive(process) for process in processes)


def test_members_end_with_their_keeper_even_if_paused(tmp_path: Path) -> None:
    with running(tmp_path, TOY, 1, 1) as cluster:
        cluster.do("stop", "replica-0")
        processes = everybody(cluster)
        assert not gone(processes)
        os.kill(cluster.keeper, signal.SIGKILL)
        until(lambda: gone(processes), "all have ended")
        with pytest.raises(Refused, match="does not run: start it"):
            ask(cluster.folder, Ask("status"))


def test_stop_all_ends_everybody_and_puts_the_records_together(tmp_path: Path) -> None:
    with running(tmp_path, TOY, 1, 1) as cluster:
        goes_on(cluster)
        processes = everybody(cluster)
        cluster.do("stop", "client-0")
        stop_all(cluster.folder)
        assert gone(processes)
        assert not list(cluster.folder.place.glob("*/process.json"))
    trace = (cluster.records / "cluster.jsonl").read_text().splitlines()
    assert len(trace) == 1 + len(cluster.lines("client-0")) + len(cluster.lines("replica-0"))


def test_stop_all_ends_nobody_else(tmp_path: Path) -> None:
    with running(tmp_path, TOY, 1, 0) as cluster:
        pass
    other = subprocess.Popen(["sleep", "60"])
    store(cluster.folder.process("replica-0"), Pid(other.pid, "a long time ago"))
    assert stop_all(cluster.folder) == 0
    assert other.poll() is None
    other.kill()
    other.wait()


# ---- what does not start -------------------------------------------------------------------------------------------


def toys(folder: Folder) -> Cluster:
    """A cluster of two toys in this folder."""
    return planned(folder, TOY, 2, 0, {}, None, 0)


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """A cluster that does not run any more."""
    with running(tmp_path, TOY, 2, 0) as cluster:
        pass
    return cluster.folder


def behind_a_free_one() -> socket.socket:
    """Listens at a port, the one before which is free."""
    for _ in range(100):
        taken = socket.create_server(("127.0.0.1", 0))
        try:
            socket.create_server(("127.0.0.1", taken.getsockname()[1] - 1)).close()
        except OSError:
            taken.close()
        else:
            return taken
    raise AssertionError("no two ports in a row are free")


def test_port_that_is_taken_is_named(tmp_path: Path) -> None:
    with behind_a_free_one() as taken:
        port = taken.getsockname()[1]
        folder = Folder(tmp_path / "cluster")
        assert f"the port {port} is taken" in refused(folder, planned(folder, TOY, 1, 0, {}, None, port))
        plan = planned(folder, TOY, 1, 0, {}, None, port - 1)
        assert f"replica-0: the port {port} of replica-0 is taken" in refused(folder, plan)


def test_every_disk_that_cannot_be_used_is_named(folder: Folder) -> None:
    folder.disk("replica-0").write_bytes(b"nonsense, and a lot of it" * 100)
    database = Database(folder.disk("replica-1"), TOY)
    database._connection.execute("PRAGMA user_version=9")
    database.close()
    first, second = refused(folder, toys(folder)).splitlines()
    assert first.startswith("replica-0: the database")
    assert "is damaged" in first
    assert second.startswith("replica-1: the database")
    assert "is in version 9, and this program reads 1" in second


def test_lock_file_that_cannot_be_opened_is_named(folder: Folder) -> None:
    folder.lock_file("gate").unlink()
    folder.lock_file("gate").mkdir()
    assert "gate.lock is not writable" in refused(folder, toys(folder))


def test_two_members_of_one_name_are_named(folder: Folder) -> None:
    cluster = folder.load()
    store(folder.cluster, msgspec.structs.replace(cluster, members=(cluster.members[0], cluster.members[0])))
    with pytest.raises(Refused, match="two members with the name replica-0: give each its own"):
        planned(folder, TOY, 2, 0, {}, None, 0)


def test_folder_is_for_one_cluster(folder: Folder) -> None:
    with pytest.raises(Refused, match="has a cluster of other members"):
        planned(folder, TOY, 3, 0, {}, None, 0)
    with pytest.raises(Refused, match=f"has a cluster of {TOY}, not of icestorm"):
        planned(folder, "icestorm", 3, 0, {}, None, 0)
    store(folder.cluster, {"version": 2, "members": []})
    with pytest.raises(Refused, match="is in version 2, and this program reads 1"):
        folder.load()


def test_cluster_that_runs_is_not_started_twice(tmp_path: Path) -> None:
    with running(tmp_path, TOY, 1, 0) as cluster:
        plan = planned(cluster.folder, TOY, 1, 0, {}, None, 0)
        with pytest.raises(Refused, match=f"runs already \\(process {cluster.keeper}\\): end it with stop-all"):
            start(cluster.folder, plan, with_caller=False)
        cluster.folder.keeper.rename(tmp_path / "aside")  # the lock alone is enough
        with findable(), pytest.raises(Refused, match=f"is locked by another process \\({cluster.keeper}\\)"):
            start(cluster.folder, plan, with_caller=False)
        (tmp_path / "aside").rename(cluster.folder.keeper)


# ---- the hosts of locks and shared disks ---------------------------------------------------------------------------


def test_cut_from_the_host_of_the_lock_and_disk_alone(tmp_path: Path) -> None:
    with running(tmp_path, TOY, 1, 1) as cluster:
        goes_on(cluster)
        cluster.do("cut", "replica-0", others=("gate",))
        assert ask(cluster.folder, Ask("status")).cuts == (("gate", "replica-0"), ("replica-0", "gate"))
        until(lambda: cluster.standings()["replica-0"].incarnation > 0, "a write fails, and it ends itself")
        guest = Guest(cluster.folder)
        until(lambda: guest.ports()["replica-0"] > 0, "it is there again")
        before = told(cluster)
        assert guest.call("replica-0", guest.ports()["replica-0"], Add(1), 5.0) == Refusal(1)  # without the lock
        assert told(cluster) == before
        cluster.do("heal", "gate")
        goes_on(cluster)
        cluster.do("cut", "gate")
    assert told(cluster) <= stored(cluster.folder)
    with running(tmp_path, TOY, 1, 1) as again:  # cuts end with the cluster
        assert ask(again.folder, Ask("status")).cuts == ()
        goes_on(again)


def test_answer_of_a_host_waits_until_the_cut_heals(tmp_path: Path) -> None:
    with running(tmp_path, TOY, 1, 1) as cluster:
        goes_on(cluster)
        cluster.do("cut", "gate", others=("replica-0",), one_way=True)
        until(lambda: stored(cluster.folder) > told(cluster), "what is written is there, and nobody is told")
        before = told(cluster)
        cluster.do("heal")
        goes_on(cluster)
    assert told(cluster) > before
    assert told(cluster) <= stored(cluster.folder)


def test_cut_of_what_does_not_speak_to_each_other_is_refused(tmp_path: Path) -> None:
    with running(tmp_path, TOY, 1, 1) as cluster:
        assert ask(cluster.folder, Ask("cut", ("client-0",), ("gate",))).wrong == (
            "nothing goes between client-0 and gate"
        )
        assert ask(cluster.folder, Ask("cut", ("gat",))).wrong == (
            "no member `gat`: there are replica-0, client-0; locks and shared disks are at gate"
        )
        assert ask(cluster.folder, Ask("kill", ("gate",))).wrong.startswith("no member `gate`: there are replica-0")
