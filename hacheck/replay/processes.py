"""Processes of a system under test: started, killed, paused, and none left behind, whatever happens.

Each process dies with the thread that started it (on Linux), and all are ended when the group is left. So nothing
stays after an error, Ctrl-C or the death of the driver. Only processes that were started here are ever signalled, by
their own number.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from hacheck.supervise.child_process import die_with_parent, wait_until_still

STOP_SECONDS_MAX = 10.0
HOST = "127.0.0.1"
PORTS = range(20_000, 32_000)
"""Below those that Linux hands out by itself."""

_one_at_a_time = threading.Lock()


@dataclass(slots=True)
class ProcessGroup:
    """The processes of one cluster, by number. `paused`: those that were stopped and not yet continued."""

    running: dict[int, subprocess.Popen[bytes]] = field(default_factory=dict)
    paused: set[int] = field(default_factory=set)

    def __enter__(self) -> ProcessGroup:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for member in list(self.running):
            self.kill(member)

    def start(self, member: int, command: Sequence[str], folder: Path, log: Path, extra: Mapping[str, str]) -> None:
        """Starts a member; what it prints goes to the end of `log`. It is in a session of its own, so that Ctrl-C
        reaches the driver alone. `extra`: variables of its environment besides those of the driver."""
        assert member not in self.running, f"member {member} is running"
        with log.open("ab") as output:
            self.running[member] = subprocess.Popen(
                command,
                cwd=folder,
                env={**os.environ, **extra},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=die_with_parent,
            )

    def alive(self, member: int) -> bool:
        """Whether the member runs, or is paused."""
        process = self.running.get(member)
        return process is not None and process.poll() is None

    def process_ids(self) -> dict[int, int]:
        """The process of each member that was started and not ended."""
        return {member: process.pid for member, process in list(self.running.items())}

    def kill(self, member: int) -> None:
        """Ends it at once, paused or not."""
        process = self.running.pop(member)
        self.paused.discard(member)
        process.kill()
        process.wait()

    def pause(self, member: int) -> None:
        """Stops it where it is."""
        process = self.running[member]
        process.send_signal(signal.SIGSTOP)
        wait_until_still(process)
        self.paused.add(member)

    def resume(self, member: int) -> None:
        """Has it continue."""
        self.running[member].send_signal(signal.SIGCONT)
        self.paused.discard(member)

    def stop(self, member: int, seconds_max: float = STOP_SECONDS_MAX) -> bool:
        """Asks it to end, and waits. Returns whether it did so in time; else it is killed."""
        process = self.running[member]
        if member in self.paused:
            self.resume(member)
        process.terminate()
        try:
            process.wait(seconds_max)
        except subprocess.TimeoutExpired:
            self.kill(member)
            return False
        self.running.pop(member)
        return True


def free_base(span: int, taken: set[int]) -> int:
    """The first of `span` ports on loopback that nobody listens at. `taken` has those given out before by this process;
    threads may ask at the same time. Errors: `RuntimeError` if there are none."""
    start = PORTS.start + (os.getpid() * 101 + int(time.time())) % (len(PORTS) // 2)
    with _one_at_a_time:
        for base in range(start, PORTS.stop - span):
            ports = range(base, base + span)
            if taken.isdisjoint(ports) and all(is_free(port) for port in ports):
                taken.update(ports)
                return base
    raise RuntimeError(f"no {span} free ports in a row between {start} and {PORTS.stop}")


def is_free(port: int) -> bool:
    """Whether nobody listens at this port of loopback."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True
