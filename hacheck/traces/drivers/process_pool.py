"""Processes that work side by side, each on one task at a time, and say what they find.

They are started anew rather than forked, so that no thread of this process is lost in them. They do not hear Ctrl-C,
which a terminal sends to all: whoever leads them stops them.
"""

from __future__ import annotations

import multiprocessing
import signal
import threading
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from types import TracebackType
from typing import Any, Protocol, TypeAlias

from hacheck.model.data import dataclass
from hacheck.traces.drivers.contract import DriverError
from hacheck.traces.findings import TracesError

WAIT_SECONDS = 0.1
"""So long the lead waits before it looks whether it should stop."""

JOIN_SECONDS = 2.0

Send: TypeAlias = Callable[[Any], None]


class Work(Protocol):
    """What a process of a crew does: picklable, copied into each of them."""

    def do(self, task: Any, send: Send) -> None:
        """Does a task, and sends what it finds."""
        ...


@dataclass(frozen=True, slots=True)
class Done:
    """A task is over."""


@dataclass(frozen=True, slots=True)
class Failed:
    """A task has failed: with a mistake in the traces or the place (`told`), or with one of ours."""

    text: str
    told: tuple[str, str | None] | None


class ProcessPool:
    """`size` processes that do `work`."""

    def __init__(self, work: Work, size: int) -> None:
        context = multiprocessing.get_context("spawn")
        self._members: list[tuple[Any, Connection]] = []
        try:
            with _deaf():
                for number in range(size):
                    ours, theirs = context.Pipe()
                    process = context.Process(target=_member, args=(work, theirs), name=f"member {number}", daemon=True)
                    process.start()
                    theirs.close()
                    self._members.append((process, ours))
        except BaseException:
            self.stop()
            raise

    def __enter__(self) -> ProcessPool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def pids(self) -> tuple[int, ...]:
        """The ids of the processes."""
        return tuple(process.pid for process, _ in self._members)

    def all_do(self, task: Any) -> Iterator[Any]:
        """Gives every process the same task; otherwise as `do`."""
        yield from self._lead({member: deque([task]) for member in range(len(self._members))})

    def do(self, tasks: Iterable[Any]) -> Iterator[Any]:
        """Has the tasks done, in their order, each by whoever is free. Yields what is sent, `Done` for a task that is
        over, and `None` where nothing came for a while.

        Errors: `DriverError` when a process dies; `TracesError` as a task raised it.
        """
        shared = deque(tasks)
        yield from self._lead(dict.fromkeys(range(len(self._members)), shared))

    def _lead(self, tasks: dict[int, deque[Any]]) -> Iterator[Any]:
        busy: dict[Connection, int] = {}
        for member, (_, pipe) in enumerate(self._members):
            if tasks[member]:
                self._give(member, pipe, tasks[member].popleft())
                busy[pipe] = member
        while busy:
            ready = wait(list(busy), timeout=WAIT_SECONDS)
            if not ready:
                yield None
            for pipe in (pipe for pipe in list(busy) if pipe in ready):
                member = busy[pipe]
                message = self._taken(member, pipe)
                if isinstance(message, Failed):
                    raise _error(message)
                if not isinstance(message, Done):
                    yield message
                    continue
                # First the next task, so that nobody waits for whoever looks at what was found.
                if tasks[member]:
                    self._give(member, pipe, tasks[member].popleft())
                else:
                    del busy[pipe]
                yield message

    def _give(self, member: int, pipe: Connection, task: Any) -> None:
        try:
            pipe.send(task)
        except (BrokenPipeError, ConnectionResetError):
            raise self._died(member) from None

    def _taken(self, member: int, pipe: Connection) -> Any:
        try:
            return pipe.recv()
        except (EOFError, ConnectionResetError):
            raise self._died(member) from None

    def _died(self, member: int) -> DriverError:
        process, _ = self._members[member]
        process.join(JOIN_SECONDS)
        code = process.exitcode
        how = "has gone silent" if code is None else f"has ended with exit code {code}"
        hint = None
        if code is not None and code < 0:
            how = f"was killed by {signal.Signals(-code).name}"
            hint = "the system kills processes when memory runs out: use fewer of them, or give each less memory"
        return DriverError(f"a worker process {how}; there are no verdicts of what it was working on", hint)

    def stop(self) -> None:
        """Ends all processes, whatever they are doing."""
        for process, pipe in self._members:
            with suppress(OSError):
                pipe.close()
            process.terminate()
        for process, _ in self._members:
            process.join(JOIN_SECONDS)
            if process.exitcode is None:
                process.kill()
                process.join()
        self._members = []


@contextmanager
def _deaf() -> Iterator[None]:
    """Processes that are started meanwhile do not hear Ctrl-C, from their first moment on."""
    if not hasattr(signal, "pthread_sigmask") or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _member(work: Work, pipe: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    while True:
        try:
            task = pipe.recv()
        except (EOFError, OSError):  # the lead is gone
            return
        try:
            work.do(task, pipe.send)
            message: Done | Failed = Done()
        except TracesError as error:
            message = Failed(str(error), (error.message, error.hint))
        except BaseException:
            message = Failed(traceback.format_exc(), None)
        try:
            pipe.send(message)
        except OSError:
            return


def _error(failed: Failed) -> Exception:
    if failed.told is not None:
        return TracesError(*failed.told)
    return RuntimeError(f"a worker process failed:\n{failed.text}")
