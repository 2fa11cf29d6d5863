"""A real process is killed, paused, and has a clock that is off and a disk that fails."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from hacheck.supervise.child_process import stands_still
from hacheck.testing.process_faults import CannotFault, Process

PROGRAM = """
import os, time
file, full = os.open("data", os.O_CREAT | os.O_WRONLY), 0
while True:
    try:
        os.fsync(file)
        said = "synced"
    except OSError as error:
        said = f"errno-{error.errno}"
    try:
        os.write(1, f"{time.time()} {said} {full}\\n".encode())
    except OSError as error:
        full += error.errno == 28
    time.sleep(0.01)
"""
PATIENCE_SECONDS = 20.0


def has(package: str) -> bool:
    """Whether this machine has what a fault needs."""
    if package == "fiu-utils":
        return shutil.which("fiu-ctrl") is not None
    return any(Path("/usr/lib").glob("**/libfaketime.so.1"))


needs_faketime = pytest.mark.skipif(not has("libfaketime"), reason="needs the package libfaketime")
needs_fiu = pytest.mark.skipif(not has("fiu-utils"), reason="needs the package fiu-utils")


def process(folder: Path, *, clock: bool = False, disk: bool = False) -> Process:
    """A process that says again and again what time it is, and whether it could sync."""
    command = [sys.executable, "-c", PROGRAM]
    return Process(command, folder=folder, output=folder / "said", clock=clock, disk=disk)


def said(folder: Path) -> list[list[str]]:
    """All that it has said, in whole lines, by words."""
    text = (folder / "said").read_text(encoding="utf-8") if (folder / "said").exists() else ""
    return [line.split() for line in text.splitlines(keepends=True) if line.endswith("\n")]


def wait_for(what: Callable[[], bool]) -> None:
    """Waits until it is so."""
    until = time.monotonic() + PATIENCE_SECONDS
    while not what():
        assert time.monotonic() < until, "it did not come about"
        time.sleep(0.01)


def test_it_is_started_killed_and_started_again(tmp_path: Path) -> None:
    with process(tmp_path) as one:
        assert not one.kill()
        one.start()
        wait_for(lambda: bool(said(tmp_path)))
        pid = one.pid
        assert one.kill()
        assert one.pid is None
        assert not Path(f"/proc/{pid}").exists()
        before = len(said(tmp_path))
        one.start()
        assert one.pid != pid
        wait_for(lambda: len(said(tmp_path)) > before)
        assert one.stop()
        assert one.pid is None


def test_it_says_nothing_while_it_is_paused(tmp_path: Path) -> None:
    with process(tmp_path) as one:
        assert not one.pause()
        one.start()
        wait_for(lambda: bool(said(tmp_path)))
        assert one.pause()
        assert one.pid is not None
        assert stands_still(one.pid)
        assert not one.pause()
        before = len(said(tmp_path))
        time.sleep(0.1)
        assert len(said(tmp_path)) == before
        assert one.resume()
        assert not one.resume()
        wait_for(lambda: len(said(tmp_path)) > before)


def test_what_it_started_ends_with_it(tmp_path: Path) -> None:
    shell = "import subprocess, time; print(subprocess.Popen(['sleep', '60']).pid, flush=True); time.sleep(60)"
    with Process([sys.executable, "-c", shell], output=tmp_path / "said") as one:
        one.start()
        wait_for(lambda: bool(said(tmp_path)))
        child = int(said(tmp_path)[0][0])
        one.kill()
    stat = Path(f"/proc/{child}/stat")
    wait_for(lambda: not stat.exists() or stat.read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "Z")


def test_what_was_not_asked_for_cannot_fail(tmp_path: Path) -> None:
    with process(tmp_path) as one:
        one.start()
        with pytest.raises(CannotFault, match="clock=True"):
            one.shift_clock(3.0)
        with pytest.raises(CannotFault, match="disk=True"):
            one.fail_disk("full")


@needs_faketime
def test_its_clock_is_shifted(tmp_path: Path) -> None:
    with process(tmp_path, clock=True) as one:
        assert not one.shift_clock(1000.0)  # nobody runs yet, but it is so when it does
        one.start()
        wait_for(lambda: bool(said(tmp_path)))
        assert float(said(tmp_path)[0][0]) > time.time() + 900
        assert one.shift_clock(-1000.0)
        wait_for(lambda: float(said(tmp_path)[-1][0]) < time.time() - 900)


@needs_fiu
def test_its_disk_fails_and_is_repaired(tmp_path: Path) -> None:
    with process(tmp_path, disk=True) as one:
        assert not one.fail_disk("no_sync")
        one.start()
        wait_for(lambda: said(tmp_path)[-1:] != [] and said(tmp_path)[-1][1] == "synced")
        assert one.fail_disk("no_sync")
        wait_for(lambda: said(tmp_path)[-1][1] == "errno-5")
        assert one.repair_disk()
        wait_for(lambda: said(tmp_path)[-1][1] == "synced")
        assert said(tmp_path)[-1][2] == "0"
        assert one.fail_disk("full")
        before = len(said(tmp_path))
        time.sleep(0.1)
        assert len(said(tmp_path)) <= before + 1
        assert one.repair_disk()
        wait_for(lambda: said(tmp_path)[-1][2] != "0")


def test_a_program_that_does_not_hear_of_it_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hacheck.testing.process_faults._library", lambda name, package: f"/nowhere/{name}")
    with process(tmp_path, clock=True) as one:
        one.start()
        with pytest.raises(CannotFault, match="has not loaded"):
            one.shift_clock(5.0)


def test_a_library_that_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hacheck.testing.process_faults._FOLDERS", (str(tmp_path),))
    with pytest.raises(CannotFault, match="Debian and Ubuntu have it as libfaketime"):
        process(tmp_path, clock=True)
    with pytest.raises(CannotFault, match="take `clock` or `disk`"):
        process(tmp_path, clock=True, disk=True)
