"""The processes of the local driver: each has a copy of the work, and does one task of it at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, Protocol, TypeAlias

from hacheck.supervise.process_pool import Caller, Died, Done, Failed, Message, ProcessPool
from hacheck.traces.arrow_without_pandas import leave_pandas_out
from hacheck.traces.drivers.contract import DriverError
from hacheck.traces.findings import TracesError

WAIT_SECONDS = 0.1
"""How long the caller waits before it looks whether it should stop."""

Send: TypeAlias = Callable[[Any], None]


class Work(Protocol):
    """What the processes do: picklable, copied into each of them."""

    def do(self, task: Any, send: Send) -> None:
        """Does a task, and sends what it finds."""
        ...


class WorkerProcesses:
    """`size` processes that do `work`. To be closed."""

    def __init__(self, work: Work, size: int) -> None:
        self._pool: ProcessPool[int] = ProcessPool(partial(_do, work), size, stateful=True)

    def __enter__(self) -> WorkerProcesses:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.close()

    @property
    def pids(self) -> tuple[int, ...]:
        """The ids of the processes."""
        return self._pool.pids

    def each_does(self, task: Any) -> Iterator[Any]:
        """Gives every process the same task; otherwise as `do`."""
        yield from self.do([task] * len(self.pids))

    def do(self, tasks: Iterable[Any]) -> Iterator[Any]:
        """Has the tasks done, in their order, each by a process that is free. Yields what is sent, `Done` for a task
        that is over, and `None` where nothing came for a while.

        Errors: `DriverError` when a process dies; `TracesError` as a task raised it.
        """
        waiting = deque(enumerate(tasks))
        self._begin(waiting)
        while self._pool.busy:
            events = self._pool.wait(WAIT_SECONDS)
            if not events:
                yield None
            for _, event in events:
                match event:
                    case Message(content):
                        yield content
                    case Done():
                        self._begin(waiting)  # before the caller looks at what was found
                        yield event
                    case Failed("TracesError", message, hint):
                        raise TracesError(message, hint)
                    case Failed():
                        raise RuntimeError(f"a worker process failed:\n{event.trace}")
                    case Died():
                        raise _died(event)

    def _begin(self, waiting: deque[tuple[int, Any]]) -> None:
        while waiting and self._pool.busy < self._pool.size:
            self._pool.begin(*waiting.popleft())


class ThisProcess:
    """The same interface without further processes: tasks are done one after the other where they are given."""

    def __init__(self, work: Work) -> None:
        self._work = work

    def __enter__(self) -> ThisProcess:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def each_does(self, task: Any) -> Iterator[Any]:
        """As that of `WorkerProcesses`."""
        yield from self.do([task])

    def do(self, tasks: Iterable[Any]) -> Iterator[Any]:
        """As that of `WorkerProcesses`; what a task sends is yielded when the task is over."""
        for task in tasks:
            sent: list[Any] = []
            self._work.do(task, sent.append)
            yield from sent
            yield Done(None)


def _do(work: Work, task: Any, caller: Caller) -> None:
    leave_pandas_out()
    work.do(task, caller.send)


def _died(died: Died) -> DriverError:
    how, hint = f"has ended with exit code {died.exit_code}", None
    if died.signal:
        how = f"was killed by {died.signal}"
        hint = "the system kills processes when memory runs out: use fewer of them, or give each less memory"
    return DriverError(f"a worker process {how}; there are no verdicts of what it was working on", hint)
