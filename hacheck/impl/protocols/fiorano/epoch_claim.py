"""Claiming an epoch in the lock file before serving without the peer: what hardens the documented protocol.

Each server has a number of its own in the file. Who is to serve alone reads the peer's, writes a higher one, and reads
the peer's again. The file does things one after the other, so of two that do this at once one sees the other, whatever
has become of the lock. A peer's number that is higher than what is known of its data says that it may have served
since: then the own copy is stale (FI-2). In step with each other, two copies have the same epoch.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from msgspec.structs import replace

from hacheck.impl.kit.storage import encode
from hacheck.impl.node import Name, SharedRead
from hacheck.impl.protocols.fiorano.lock_file import GATEWAY
from hacheck.impl.protocols.fiorano.process import Process
from hacheck.impl.protocols.fiorano.repository import META, Meta


class Step(Enum):
    """How far a claim is. `CLEARED`: the epoch is durable here, and nobody else has it."""

    IDLE = "idle"
    LOOKING = "looking"
    NOTING = "noting"
    FILING = "filing"
    LOOKING_AGAIN = "looking again"
    KEEPING = "keeping"
    CLEARED = "cleared"
    REFUSED = "refused"


class Claim:
    """One attempt at a time; `attempt` counts them, so that answers to one that was dropped say nothing."""

    __slots__ = ("_attempt", "_known", "_member", "_peer", "_process", "_target", "step")

    def __init__(self, process: Process, peer: Name) -> None:
        self._process = process
        self._member = process.member
        self._peer = peer
        self._attempt = 0
        self._known = 0
        self._target = 0
        self.step = Step.IDLE

    def start(self, known: int) -> None:
        """Begins. `known`: the highest epoch of the peer that does not contradict what is known of its data."""
        self._attempt += 1
        self._known = known
        self._look(Step.LOOKING)

    def drop(self) -> None:
        """What was begun does not count."""
        self._attempt += 1
        self.step = Step.IDLE

    def _look(self, step: Step) -> None:
        self.step = step
        self._process.read(GATEWAY, f"epoch/{self._peer}", ("claim", self._attempt))

    def read(self, attempt: int, given: SharedRead, meta: Meta, keep: Callable[[Meta], None]) -> None:
        """The file has spoken."""
        if attempt != self._attempt:
            return
        theirs = int(given.value or b"0")
        if given.failed or theirs > self._known:
            self.step = Step.REFUSED
            self._process.record("stale", {"reason": given.failed or f"{self._peer} has claimed epoch {theirs}"})
        elif self.step is Step.LOOKING:
            self._target = max(meta.epoch, meta.claim, self._known) + 1
            self.step = Step.NOTING
            keep(replace(meta, claim=self._target))
        else:
            self.step = Step.KEEPING
            keep(replace(meta, epoch=self._target))

    def keep(self, meta: Meta) -> None:
        """Writes what this server knows of its own copy."""
        self._process.write(((META, encode(meta)),), ("claim", self._attempt))

    def written(self, attempt: int, *, failed: bool) -> None:
        """A write is done, here or in the file."""
        if attempt != self._attempt:
            return
        if failed:
            self.step = Step.REFUSED
            self._process.record("stale", {"reason": "the lock file cannot be written"})
        elif self.step is Step.NOTING:
            self.step = Step.FILING
            number = str(self._target).encode()
            self._process.write(((f"epoch/{self._member}", number),), ("claim", self._attempt), GATEWAY)
        elif self.step is Step.FILING:
            self._look(Step.LOOKING_AGAIN)
        elif self.step is Step.KEEPING:
            self.step = Step.CLEARED
