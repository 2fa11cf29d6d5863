"""Requests and answers: calls to other processes, with time-outs.

Nothing waits. A `Round` is one question to several processes; when each has answered, or has failed to, the handler of
its kind is given all the answers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

from hacheck.impl.kit.process import Process
from hacheck.impl.node import Message, Name, Setup

TIMER = "calls"


class Round:
    """A question to several processes. `answers`: by key, in the order of the requests; `None`: no answer came. `data`:
    what its handler needs to know."""

    __slots__ = ("answers", "data", "kind", "live", "waiting")

    def __init__(self, kind: str, data: Any) -> None:
        self.kind = kind
        self.data = data
        self.answers: dict[int, Message | None] = {}
        self.waiting = 0
        self.live = True


class Caller(Process[Any]):
    """A process that calls others. `finished`: the handler of each kind of round."""

    __slots__ = ("_calls", "_deadlines", "_rounds", "_timeout_us", "finished")

    def __init__(self, setup: Setup, timeout_us: int) -> None:
        super().__init__(setup)
        self.finished: dict[str, Callable[[Round], None]] = {}
        self._calls: dict[int, tuple[Round, int, Name]] = {}
        self._deadlines: deque[tuple[int, int]] = deque()
        self._rounds: dict[str, Round] = {}
        self._timeout_us = timeout_us

    def ask(
        self, kind: str, to: Iterable[tuple[int, Name]], question: Callable[[int], Message], data: Any = None
    ) -> Round:
        """Ask processes, each under a key; `question` is given the number of the call. With nobody to ask, the handler
        is called at once."""
        round_ = Round(kind, data)
        self._rounds[kind] = round_
        for key, name in to:
            call = self.fresh_number()
            round_.answers[key] = None
            round_.waiting += 1
            self._calls[call] = (round_, key, name)
            self.send(name, question(call))
            if self._timeout_us:
                if not self._deadlines:
                    self.set_timer(TIMER, self._timeout_us)
                self._deadlines.append((self.now_us + self._timeout_us, call))
        if not round_.waiting:
            self.finished[kind](round_)
        return round_

    def drop(self, kind: str) -> None:
        """Forget the latest round of a kind: its handler is not called any more."""
        round_ = self._rounds.get(kind)
        if round_ is not None:
            round_.live = False

    def answered(self, sender: Name, call: int, message: Message | None) -> None:
        """An answer has come (`None`: it will not). One that nobody waits for is left unread."""
        waiting = self._calls.get(call)
        if waiting is None or waiting[2] != sender:
            return
        del self._calls[call]
        round_, key, _ = waiting
        round_.answers[key] = message
        round_.waiting -= 1
        if not round_.waiting and round_.live:
            self.finished[round_.kind](round_)

    def unreachable(self, peer: Name) -> None:
        """All calls to a process have failed."""
        for call in [call for call, waiting in self._calls.items() if waiting[2] == peer]:
            self.answered(peer, call, None)

    def fired(self) -> None:
        """The timer of the calls has fired: those whose time is over have failed."""
        while self._deadlines:
            deadline_us, call = self._deadlines[0]
            waiting = self._calls.get(call)
            if waiting is not None and deadline_us > self.now_us:
                self.set_timer(TIMER, deadline_us - self.now_us)
                return
            self._deadlines.popleft()
            if waiting is not None:
                self.answered(waiting[2], call, None)
