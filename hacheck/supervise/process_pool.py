"""Processes that work side by side, each on one task at a time.

They are started anew rather than forked, which would copy the locks of this process and not its threads, and each when
there is a task for it. A process does several tasks: what one leaves behind, such as modules loaded, saves the next one
time. They do not hear Ctrl-C, which a terminal sends to every process: their caller stops them. A process whose caller
is gone ends with its task.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import pickle
import signal
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from typing import Any, Generic, TypeAlias, TypeVar

from msgspec import Struct

from hacheck.supervise.recursion_limit import pickled

Key = TypeVar("Key")

_FROM_OUTSIDE = ("SIGHUP", "SIGINT", "SIGKILL", "SIGTERM")


class JobFailed(AssertionError):
    """A task could not be done to its end, for a mistake of ours: which one, and what happened."""


class Message(Struct, frozen=True):
    """What a task has sent before its end."""

    content: Any


class Done(Struct, frozen=True):
    """What a task returned."""

    result: Any


class Failed(Struct, frozen=True):
    """What a task raised. `kind`: the name of the exception's class; `trace`: where it happened, for us."""

    kind: str
    message: str
    hint: str | None
    trace: str

    def as_mistake(self, title: str) -> JobFailed:
        """It as a mistake of ours, with where it happened. `title`: the task."""
        error = JobFailed(f"{title}: {self.kind}: {self.message}")
        error.add_note(self.trace)
        return error


class Died(Struct, frozen=True):
    """The process of a task has ended. `signal`: the name of the one that ended it, or empty."""

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


Event: TypeAlias = Message | Done | Failed | Died


class Caller:
    """The caller of a task, as its process sees it."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def send(self, content: Any) -> None:
        """Sends something before the end of the task. Errors: `OSError` where the caller is gone."""
        self._connection.send(Message(content))

    @property
    def wants_stop(self) -> bool:
        """Whether the task is to end: on request, or because the caller is gone."""
        return self._connection.poll()


Handler: TypeAlias = Callable[[Any, Caller], Any]
"""Does a task and returns its result; picklable, and copied once into each process."""


class _Stop(Struct, frozen=True):
    """Sent in place of a task: the one under way is to end."""


class _Process(Struct, frozen=True, eq=False):
    process: Any  # its class depends on how processes are started
    connection: Connection


class ProcessPool(Generic[Key]):
    """Up to `size` processes that do tasks with `handler`. `Key`: how the caller knows a task again.

    `stateful`: tasks need what earlier ones left in their process. So one that died without a task is reported by the
    next one it is given; else another process does that task.

    To be closed, which ends all of them at once, whatever they do.
    """

    def __init__(self, handler: Handler, size: int, *, stateful: bool = False) -> None:
        self.size = size
        self._handler, self._stateful = handler, stateful
        self._busy: dict[Key, _Process] = {}
        self._idle: list[_Process] = []

    def __enter__(self) -> ProcessPool[Key]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def busy(self) -> int:
        """How many tasks are under way."""
        return len(self._busy)

    @property
    def pids(self) -> tuple[int, ...]:
        """The ids of the processes."""
        return tuple(one.process.pid for one in (*self._busy.values(), *self._idle))

    def begin(self, key: Key, task: Any) -> None:
        """Gives a task to a process that has none; there must be one. Sending it may wait until the process listens."""
        assert self.busy < self.size, "a process for each task"
        content = pickled(task)
        while self._idle:
            process = self._idle.pop(0)
            try:
                process.connection.send_bytes(content)
            except OSError:  # somebody has ended it
                if not self._stateful:
                    _end(process)
                    continue
            self._busy[key] = process
            return
        process = self._busy[key] = self._started()
        with suppress(OSError):  # it has ended: `wait` will report that
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
            if not isinstance(event, Message):
                process = self._busy.pop(key)
                if isinstance(event, Died):
                    _end(process)
                else:
                    self._idle.append(process)
            events.append((key, event))
        return events

    def ask_to_stop(self) -> None:
        """Asks the tasks under way to end."""
        for process in self._busy.values():
            with suppress(OSError):
                process.connection.send(_Stop())

    def close(self) -> None:
        """Ends all processes."""
        for process in (*self._busy.values(), *self._idle):
            _end(process)
        self._busy.clear()
        self._idle.clear()

    def _started(self) -> _Process:
        context = multiprocessing.get_context("spawn")
        here, there = context.Pipe()
        try:
            folder = os.getcwd()
        except OSError:  # it is gone
            folder = ""
        arguments = (self._handler, there, folder, gc.get_threshold()[0])
        process = context.Process(target=serve, args=arguments, daemon=True)
        with _without_control_c():
            process.start()
        there.close()
        return _Process(process, here)


@contextmanager
def _without_control_c() -> Iterator[None]:
    """What is started in the block never sees Ctrl-C; this process sees its own after the block."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing.resource_tracker import ensure_running

    ensure_running()  # else it is started in the block, and would let the signals in again
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


def serve(handler: Handler, connection: Connection, folder: str, garbage_after: int) -> None:
    """Does the tasks that come, in this folder, as long as somebody sends some; then ends the process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.set_threshold(garbage_after)
    with suppress(OSError):
        os.chdir(folder)
    with suppress(EOFError, OSError):
        while True:
            task = connection.recv()
            if not isinstance(task, _Stop):  # which may have come when the last one was done
                connection.send_bytes(_outcome(handler, task, connection))
    os._exit(0)  # work that was given up cannot be waited for


def _outcome(handler: Handler, task: Any, connection: Connection) -> bytes:
    """What came of a task, pickled."""
    try:
        result = handler(task, Caller(connection))
        return pickled(Done(result))
    except Exception as error:
        message = " ".join(str(getattr(error, "message", error)).split())
        return pickle.dumps(Failed(type(error).__name__, message, getattr(error, "hint", None), traceback.format_exc()))
