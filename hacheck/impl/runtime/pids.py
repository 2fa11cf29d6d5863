"""Processes by their numbers: whether one is still the one that was started, and how it ends with its parent."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import msgspec

SET_PARENT_DEATH_SIGNAL = 1
START_TIME_FIELD = 22
POLL_SECONDS = 0.02
PROC = Path("/proc/self/stat")


class Pid(msgspec.Struct, frozen=True):
    """A process: its number, and when it started as its system says it; a number is given again, both are not."""

    pid: int
    started: str


def of(pid: int) -> Pid:
    """A process that runs. One that does not has the start time ``."""
    return Pid(pid, _started(pid))


def alive(process: Pid) -> bool:
    """Whether that very process still runs."""
    return process.started != "" and _started(process.pid) == process.started


def _started(pid: int) -> str:
    if PROC.exists():
        try:
            stat = Path(f"/proc/{pid}/stat").read_text()
        except OSError:
            return ""
        rest = stat.rpartition(")")[2].split()  # a name in brackets may have blanks in it
        return "" if rest[0] in "ZX" else rest[START_TIME_FIELD - 3]
    found = subprocess.run(["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return found.stdout.strip()


def end(process: Pid, number: int) -> bool:
    """Sends a signal to that very process, if it still runs. Returns whether it did."""
    if not alive(process):
        return False
    try:
        os.kill(process.pid, number)
    except ProcessLookupError:
        return False
    return True


def ended(process: Pid, seconds_max: float) -> bool:
    """Waits until a process is gone. Returns whether it is."""
    until = time.monotonic() + seconds_max
    while alive(process):
        if time.monotonic() > until:
            return False
        time.sleep(POLL_SECONDS)
    return True


def end_with_parent(parent: int) -> None:
    """Makes this process end when its parent does, even if it is paused then. Where the system has no such thing the
    end of its standard input must do. Errors: `SystemExit`, if the parent is gone already."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(SET_PARENT_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        raise SystemExit(1)
