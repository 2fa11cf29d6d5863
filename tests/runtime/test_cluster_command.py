"""`hacheck cluster`: what it says, and that nothing stays behind, whatever ends it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from hacheck.impl.runtime import pids
from hacheck.impl.runtime.control import ask
from hacheck.impl.runtime.folder import Folder
from hacheck.impl.runtime.keeper import Ask
from tests.cli.command import Ended, hacheck
from tests.runtime.clusters import ROOT, TOY, until

COMMAND = (sys.executable, "-m", "hacheck", "cluster")
FINDABLE = {**os.environ, "PYTHONPATH": str(ROOT)}


def cluster(place: Path, *words: str) -> Ended:
    return hacheck("cluster", *words, "--dir", str(place), PYTHONPATH=str(ROOT))


def test_cluster_is_started_shown_hit_and_ended(tmp_path: Path) -> None:
    place = tmp_path / "toys"
    words = ("start", TOY, "--replicas", "1", "--clients", "1", "--record", str(tmp_path / "log"), "--dir", str(place))
    started = subprocess.run([*COMMAND, *words], capture_output=True, text=True, env=FINDABLE, cwd=ROOT, check=False)
    try:
        assert (started.returncode, started.stderr) == (0, "")
        rows = [line.split() for line in started.stdout.splitlines()]
        assert rows[0] == ["member", "state", "process", "starts", "port"]
        assert [row[:2] for row in rows[1:]] == [["replica-0", "running"], ["client-0", "running"]]
        assert cluster(place, "status").out == started.stdout
        assert "replica-0  paused" in cluster(place, "stop", "replica-0").out
        assert cluster(place, "status").code == 1
        assert cluster(place, "cont", "replica-0").code == 0
        assert "replica-0  down: was ended by SIGKILL" in cluster(place, "kill", "replica-0").out
        again = cluster(place, "kill", "replica-0")
        assert (again.code, again.err) == (2, "error: replica-0 is down: was ended by SIGKILL\n")
        assert cluster(place, "restart", "replica-0").out.splitlines()[1].split()[3] == "2"
        assert "cut: what client-0 sends to replica-0" in cluster(place, "cut", "client-0", "--one-way").out
        assert cluster(place, "status").code == 1
        assert "cut:" not in cluster(place, "heal").out
        assert cluster(place, "cut", "client-9").err.startswith("error: no member `client-9`: there are replica-0")
        assert "already" in cluster(place, "start", TOY).err
    finally:
        ended = cluster(place, "stop-all")
    assert ended.out == "all processes have ended\n"
    assert (tmp_path / "log" / "cluster.jsonl").exists()
    assert cluster(place, "status").err.startswith("error: the cluster in")


def test_folder_without_a_cluster_is_bad_input(tmp_path: Path) -> None:
    for words in (("status",), ("stop-all",), ("kill", "replica-1")):
        ended = cluster(tmp_path, *words)
        assert ended.code == 2
        assert "there is no cluster in" in ended.err
    assert cluster(tmp_path, "start").code == 2
    assert cluster(tmp_path, "start", "icestrom").err.startswith("error: no protocol `icestrom`")
    assert cluster(tmp_path, "strat", TOY).code == 2


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nobody_stays_when_the_command_in_the_foreground_ends(tmp_path: Path, number: signal.Signals) -> None:
    place = tmp_path / "toys"
    words = ("start", TOY, "--replicas", "1", "--foreground", "--dir", str(place))
    command = subprocess.Popen([*COMMAND, *words], stdout=subprocess.PIPE, env=FINDABLE, cwd=ROOT)
    with command:
        assert command.stdout is not None
        while b"Ctrl-C" not in (line := command.stdout.readline()):
            assert line, "it has ended"
        processes = [pids.of(member.pid) for member in ask(Folder(place), Ask("status")).members]
        assert all(pids.alive(process) for process in processes)
        command.send_signal(number)
        try:
            ended = command.wait(30)
        finally:
            command.kill()  # leaving the block waits for it
        assert ended == (-number if number == signal.SIGKILL else 0)
        until(lambda: not any(pids.alive(process) for process in processes), "all have ended")
