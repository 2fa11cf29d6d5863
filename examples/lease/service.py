"""A lease service, two workers and the store they write to, as somebody might ship it.

Everything is given its time, so that it can be run without waiting. There is one mistake in it.
"""

from __future__ import annotations

from dataclasses import dataclass

LEASE_SECONDS = 10.0
WRITE_SECONDS = 2.0
"""How long a worker prepares what it writes."""


class LeaseServer:
    """Gives the lease to one worker at a time. Each lease has a number, greater than all before."""

    def __init__(self) -> None:
        self.number = 0
        self.holder = ""
        self.until = 0.0

    def ask(self, worker: str, now: float) -> int | None:
        """The number of a lease, or nothing if somebody else holds it."""
        if now < self.until:
            return None
        self.number += 1
        self.holder, self.until = worker, now + LEASE_SECONDS
        return self.number


class Store:
    """What is written last is there."""

    def __init__(self) -> None:
        self.number = 0
        self.value = ""

    def write(self, number: int, value: str) -> bool:
        """Writes a value under a lease. Returns whether it was accepted."""
        if number < 0:  # the mistake: a number smaller than one seen before must be refused
            return False
        self.number, self.value = number, value
        return True


@dataclass
class Worker:
    """Asks for the lease, prepares a value, and writes it if its lease has not run out."""

    name: str
    server: LeaseServer
    store: Store
    number: int = 0
    until: float = 0.0
    ready_at: float = 0.0
    checked: bool = False

    def step(self, now: float) -> tuple[str, int] | None:
        """Does the next thing, if it is time. Returns what happened and under which number."""
        if self.checked:  # the lease was still good a moment ago
            self.checked = False
            accepted = self.store.write(self.number, f"by {self.name}")
            self.ready_at = now + WRITE_SECONDS
            return ("written" if accepted else "refused"), self.number
        if self.number and now >= self.until:
            self.number = 0
            return "lapsed", 0
        if not self.number:
            number = self.server.ask(self.name, now)
            if number is None:
                return None
            self.number, self.until, self.ready_at = number, now + LEASE_SECONDS, now + WRITE_SECONDS
            return "given", number
        self.checked = now >= self.ready_at
        return None
