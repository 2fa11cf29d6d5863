"""Processes that do jobs side by side, one at a time each.

A job is a callable that can be pickled. While it runs it tells how far it is, and learns from the answer whether to go
on. A process ends when nobody is there any more to tell. Jobs share nothing: what one leaves behind in its process,
such as modules loaded, saves the next one time and nothing else.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import pickle
import signal
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from typing import Any, Generic, TypeAlias, TypeVar

from hacheck.checker.engine import Progress, Report
from hacheck.cli.guard import BadInput
from hacheck.cli.main import GARBAGE_AFTER
from hacheck.compile.lowering.recursion import room_for_nesting
from hacheck.model.data import dataclass

Job: TypeAlias = Callable[[Report], object]

Key = TypeVar("Key")

_TELL_SECONDS = 0.1
_STOP = None  # what a process is sent in place of a job
_FROM_OUTSIDE = ("SIGHUP", "SIGINT", "SIGKILL", "SIGTERM")


@dataclass(frozen=True, slots=True)
class Told:
    """How far a job is."""

    progress: Progress


@dataclass(frozen=True, slots=True)
class Done:
    """What a job returned."""

    result: Any


@dataclass(frozen=True, slots=True)
class Failed:
    """What a job raised. `kind`: the name of the exception's class; `trace`: where it happened, for us."""

    kind: str
    message: str
    hint: str | None
    trace: str


@dataclass(frozen=True, slots=True)
class Died:
    """The process of a job has ended. `signal`: the name of the one that ended it, or empty."""

    signal: str
    exit_code: int

    @property
    def from_outside(self) -> bool:
        """Whether somebody ended it: a person, or a machine that is out of memory."""
        return self.signal in _FROM_OUTSIDE

    @property
    def how(self) -> str:
        """What became of the process, as the end of a sentence."""
        return f"was ended by {self.signal}" if self.signal else f"ended with exit code {self.exit_code}"


Event: TypeAlias = Told | Done | Failed | Died


@dataclass(frozen=True, slots=True, eq=False)
class _Process:
    process: Any  # its class depends on how processes are started
    connection: Connection


class Processes(Generic[Key]):
    """Up to `number` processes, each begun when there is a job for it. `Key`: how the caller knows a job again.

    To be closed, which ends all of them at once, whatever they do.
    """

    def __init__(self, number: int) -> None:
        self.number = number
        self._busy: dict[Key, _Process] = {}
        self._idle: list[_Process] = []

    def __enter__(self) -> Processes[Key]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def busy(self) -> int:
        """How many jobs are being done."""
        return len(self._busy)

    def begin(self, key: Key, job: Job) -> None:
        """Gives a job to a process that has none; there must be one. Sending it may wait until the process listens."""
        assert self.busy < self.number, "a process for each job"
        with room_for_nesting():
            content = pickle.dumps(job)
        while self._idle:
            process = self._idle.pop()
            try:
                process.connection.send_bytes(content)
            except OSError:  # somebody has ended it; another will do
                _end(process)
                continue
            self._busy[key] = process
            return
        process = self._busy[key] = _started()
        with suppress(OSError):  # it has ended: `wait` will tell
            process.connection.send_bytes(content)

    def wait(self, seconds: float) -> list[tuple[Key, Event]]:
        """What has happened, as soon as something has; nothing after so many seconds."""
        keys = {process.connection: key for key, process in self._busy.items()}
        events: list[tuple[Key, Event]] = []
        for connection in wait(list(keys), seconds):
            assert isinstance(connection, Connection), "nothing else was given"
            key = keys[connection]
            try:
                event: Event = connection.recv()
            except (EOFError, OSError):
                event = _death(self._busy[key])
            if not isinstance(event, Told):
                process = self._busy.pop(key)
                if isinstance(event, Died):
                    _end(process)
                else:
                    self._idle.append(process)
            events.append((key, event))
        return events

    def ask_to_stop(self) -> None:
        """Tells the jobs that are being done not to go on."""
        for process in self._busy.values():
            with suppress(OSError):
                process.connection.send(_STOP)

    def close(self) -> None:
        """Ends all processes."""
        for process in (*self._busy.values(), *self._idle):
            _end(process)
        self._busy.clear()
        self._idle.clear()


def _started() -> _Process:
    context = multiprocessing.get_context("spawn")  # a copy of this process would have its locks and not its threads
    here, there = context.Pipe()
    try:
        folder = os.getcwd()
    except OSError:  # it is gone
        folder = ""
    process = context.Process(target=serve, args=(there, folder), daemon=True)
    with _without_control_c():
        process.start()
    there.close()
    return _Process(process, here)


@contextmanager
def _without_control_c() -> Iterator[None]:
    """What is begun in the block never sees Ctrl-C, which a terminal sends to everybody: this process stops the others.
    It sees its own after the block."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing.resource_tracker import ensure_running

    ensure_running()  # else it is begun in the block, and would let the signals in again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _death(process: _Process) -> Died:
    """How a process ended whose end of the pipe is closed."""
    process.process.join(1.0)
    code = process.process.exitcode
    if code is None:
        return Died("", 0)
    try:
        return Died(signal.Signals(-code).name if code < 0 else "", code)
    except ValueError:
        return Died(f"signal {-code}", code)


def _end(process: _Process) -> None:
    process.connection.close()
    process.process.kill()
    process.process.join()
    process.process.close()


# ---- in the other process ----


def serve(connection: Connection, folder: str) -> None:
    """Does the jobs that come, in this folder, as long as somebody sends some; then ends the process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.set_threshold(GARBAGE_AFTER)
    with suppress(OSError):
        os.chdir(folder)
    with suppress(EOFError, OSError):
        while True:
            job = connection.recv()
            if job is not _STOP:  # which may have come when the last one was done
                connection.send_bytes(_outcome(job, connection))
    os._exit(0)  # work that was given up cannot be waited for


def _outcome(job: Job, connection: Connection) -> bytes:
    """What came of a job, pickled."""
    told = 0.0

    def tell(progress: Progress) -> bool:
        nonlocal told
        if connection.poll():  # told to stop, or nobody is there
            return False
        if time.monotonic() - told >= _TELL_SECONDS:
            told = time.monotonic()
            connection.send(Told(progress))
        return True

    try:
        result = job(tell)
        with room_for_nesting():
            return pickle.dumps(Done(result))
    except Exception as error:
        hint = error.hint if isinstance(error, BadInput) else None
        message = " ".join(str(error).split())
        return pickle.dumps(Failed(type(error).__name__, message, hint, traceback.format_exc()))
