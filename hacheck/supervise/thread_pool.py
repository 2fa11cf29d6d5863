"""Threads that run kernels side by side. A kernel lets go of Python while it runs, so they share all processors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from queue import SimpleQueue
from threading import Thread
from typing import TypeAlias

Job: TypeAlias = Callable[[], int]
"""A call of a kernel, with its arguments."""


class _Last(Exception):
    """The answer of a job that is given only to have an answer."""

    def raise_it(self) -> int:
        """Answers with itself."""
        raise self


class ThreadPool:
    """The calling thread and some more. To be closed, which waits for whatever is still running."""

    __slots__ = ("_answers", "_inboxes", "_threads", "size")

    def __init__(self, size: int) -> None:
        """`size`: how many threads, the calling one included."""
        self.size = size
        self._inboxes: list[SimpleQueue[Job | None]] = [SimpleQueue() for _ in range(size - 1)]
        self._answers: SimpleQueue[tuple[int, int | BaseException]] = SimpleQueue()
        self._threads = [
            Thread(target=self._serve, args=(number,), name=f"hacheck-{number}", daemon=True)
            for number in range(1, size)
        ]
        for thread in self._threads:
            thread.start()

    def run(self, jobs: Sequence[Job]) -> list[int]:
        """Does the jobs at once, the first on the calling thread; what they return. Returns, or raises what a signal
        raises, only when none of them runs any more: kernels work in memory that the caller may free."""
        assert len(jobs) <= self.size, "a job for each thread"
        answers = [0] * len(jobs)
        try:
            for inbox, job in zip(self._inboxes, jobs[1:], strict=False):
                inbox.put(job)
            answers[0] = jobs[0]()
            for _ in jobs[1:]:
                number, answer = self._answers.get()
                if isinstance(answer, BaseException):
                    raise answer
                answers[number] = answer
        except BaseException:
            self._wait()
            raise
        return answers

    def _wait(self) -> None:
        """Waits until nobody works, however often it is interrupted. A signal may have come at any place in `run`, so
        nobody knows who was given a job: each has done with it when it has done a further one."""
        while True:
            try:
                last = _Last()
                for inbox in self._inboxes:
                    inbox.put(last.raise_it)
                busy = set(range(1, self.size))
                while busy:
                    number, answer = self._answers.get()
                    if answer is last:
                        busy.discard(number)
                return
            except BaseException:
                continue

    def close(self) -> None:
        """Ends the threads."""
        for inbox in self._inboxes:
            inbox.put(None)
        for thread in self._threads:
            thread.join()
        self._inboxes, self._threads = [], []

    def _serve(self, number: int) -> None:
        inbox = self._inboxes[number - 1]
        while (job := inbox.get()) is not None:
            try:
                self._answers.put((number, job()))
            except BaseException as failure:
                self._answers.put((number, failure))
