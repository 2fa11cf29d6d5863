"""A program that is started, killed, paused and continued; nothing of it is left behind.

On Linux it dies with the thread that started it, and whether a signal took effect is read from `/proc`. Only the
process that was started here, and its group, are ever signalled.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

PR_SET_PDEATHSIG = 1
STOP_SECONDS_MAX = 10.0
EFFECT_SECONDS_MAX = 2.0
"""So long the threads of a process may take to stand still after SIGSTOP."""

_LOOK_SECONDS = 0.002


def die_with_parent() -> None:
    """In the child, before it becomes the program: the kernel kills it when the thread that started it ends."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class ChildProcess:
    """One process. `folder`: where it runs; `output`: the file to whose end it prints, of which nobody else needs to
    know; `environment`: variables besides those of this process. It leads a session of its own, so Ctrl-C does not
    reach it, and what it starts ends with it."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        folder: Path | None = None,
        output: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.command, self.folder, self.output = tuple(command), folder, output
        self.environment = dict(environment or {})
        self.paused = False
        """Whether it was stopped and not yet continued."""
        self._running: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """Its number, while it runs or is paused."""
        return self._running.pid if self._running is not None and self._running.poll() is None else None

    def start(self) -> None:
        """Starts it. Errors: `OSError` where the program cannot be started; it must not run yet."""
        assert self.pid is None, f"{self.command[0]} is running"
        output = os.open(os.devnull if self.output is None else self.output, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        try:
            self._running = subprocess.Popen(
                self.command,
                cwd=self.folder,
                env={**os.environ, **self.environment},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=die_with_parent,
            )
        finally:
            os.close(output)
        self.paused = False

    def kill(self) -> bool:
        """Ends it at once (SIGKILL), paused or not. Returns whether it was running."""
        if self._running is None:
            return False
        was_running = self._running.poll() is None
        _signal_group(self._running.pid, signal.SIGKILL)
        self._running.wait()
        self._running, self.paused = None, False
        return was_running

    def pause(self) -> bool:
        """Stops it where it is (SIGSTOP), and waits until each of its threads stands still. Returns whether that
        happened."""
        pid = self.pid
        if pid is None or self.paused:
            return False
        assert self._running is not None, "it has a number"
        os.kill(pid, signal.SIGSTOP)
        self.paused = wait_until_still(self._running)
        return self.paused

    def resume(self) -> bool:
        """Has it continue (SIGCONT). Returns whether it was paused."""
        pid = self.pid
        if pid is None or not self.paused:
            return False
        os.kill(pid, signal.SIGCONT)
        self.paused = False
        return True

    def stop(self, seconds_max: float = STOP_SECONDS_MAX) -> bool:
        """Asks it to end (SIGTERM), and waits. Returns whether it did so in time; else it is killed."""
        if self._running is None:
            return True
        self.resume()
        self._running.terminate()
        try:
            self._running.wait(seconds_max)
        except subprocess.TimeoutExpired:
            self.kill()
            return False
        self.kill()  # what it started and left
        return True


def wait_until_still(process: subprocess.Popen[bytes]) -> bool:
    """Waits until each thread of a process stands still after SIGSTOP; whether that came about."""
    until = time.monotonic() + EFFECT_SECONDS_MAX
    while not stands_still(process.pid):
        if process.poll() is not None or time.monotonic() > until:
            return False
        time.sleep(_LOOK_SECONDS)
    return True


def stands_still(pid: int) -> bool:
    """Whether every thread of a process is stopped; where there is no `/proc`, that is taken for granted."""
    if not Path("/proc/self").exists():
        return True
    try:
        stats = [(thread / "stat").read_text(encoding="utf-8") for thread in Path(f"/proc/{pid}/task").iterdir()]
    except (FileNotFoundError, ProcessLookupError):  # one has ended meanwhile
        return False
    return all(stat.rpartition(")")[2].split()[0] in "Tt" for stat in stats)


def _signal_group(pid: int, number: int) -> None:
    try:
        os.killpg(pid, number)
    except (ProcessLookupError, PermissionError):  # nobody is left of it
        return
