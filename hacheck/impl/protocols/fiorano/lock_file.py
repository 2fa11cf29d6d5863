"""The lock on the LockFile, as one server knows it. Source: HA locking mechanism; broker facts 3.2, F-W5."""

from __future__ import annotations

from enum import Enum

from hacheck.impl.protocols.fiorano.process import Process

GATEWAY = "gateway"


class Lock(Enum):
    """What a server knows of the lock."""

    HELD = "held"
    FREE = "not held"
    UNKNOWN = "unknown"


class LockFile:
    """One request at a time is under way, so that every answer belongs to a request.

    `state`: what is known. `pending`: a request is under way, since `requested_us`. `void`: its answer says nothing,
    for the lock was given back, or doubted, after the request; `again`: ask anew then. `used`: false where there is no
    lock file: then everybody holds it. `had`: it was held when it was last heard of, so that a line shows what is new.
    """

    __slots__ = ("_again", "_had", "_process", "_requested_us", "_timeout_us", "_used", "_void", "pending", "state")

    def __init__(self, process: Process, used: bool, timeout_us: int) -> None:
        self._process = process
        self._used = used
        self._timeout_us = timeout_us
        self._void = self._again = self._had = False
        self._requested_us = 0
        self.pending = False
        self.state = Lock.FREE if used else Lock.HELD

    def ask(self) -> None:
        """Tries to get the lock, or makes sure that it is still there. An answer that is overdue is a lock lost."""
        if not self._used:
            return
        if not self.pending:
            self.pending, self._void, self._again = True, False, False
            self._requested_us = self._process.now_us
            self._process.try_lock(GATEWAY)
        elif self._process.now_us - self._requested_us >= self._timeout_us:
            self._is_refused()
            self.state, self._void = Lock.FREE, True

    def doubt(self) -> None:
        """What counts from now on is an answer to a request that is made now."""
        if self._used:
            self.state = Lock.UNKNOWN
            self._void = self._again = self.pending
            self.ask()

    def answered(self, granted: bool) -> None:
        """The gateway has spoken, or is out of reach."""
        self.pending = False
        if not self._void:
            self.state = Lock.HELD if granted else Lock.FREE
            if not granted:
                self._is_refused()
            elif not self._had:
                self._had = True
                self._process.record("lock", {"what": "acquired"})
        elif self._again:
            self.ask()

    def lost(self) -> None:
        """The gateway says that the lock is no longer held."""
        self._is_lost()
        self.state = Lock.FREE
        self._void = self.pending

    def give_back(self) -> None:
        """Lets go of the lock."""
        if self._used:
            self._process.unlock(GATEWAY)
            if self._had:
                self._had = False
                self._process.record("lock", {"what": "released"})
            self.state = Lock.FREE
            self._void = self.pending
            self._again = False

    def _is_refused(self) -> None:
        if self._had:
            self._is_lost()
        else:
            self._process.record("lock", {"what": "refused"})

    def _is_lost(self) -> None:
        if self._had:
            self._had = False
            self._process.record("lock", {"what": "lost"})
