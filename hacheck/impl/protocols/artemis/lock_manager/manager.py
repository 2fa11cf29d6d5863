"""The lock manager: for each node id a lock that one session may have, and a number that is kept.

It stands for a whole ensemble, so what it has answered is on its disk. A session that is silent for as long as its TTL
is over, and its locks are free: until then a process that has ended keeps them. Time in which the manager itself did
nothing, for it was stopped or its clock jumped, is no silence of others. Source: broker facts 2.9.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from msgspec import Struct

from hacheck.impl.kit.process import ProcessNode
from hacheck.impl.kit.storage import decode, encode
from hacheck.impl.node import Effect, Fired, Input, Message, Name, Received, Setup, Started, WriteFailed, Written
from hacheck.impl.protocols.artemis.journal import VERSION
from hacheck.impl.protocols.artemis.lock_manager.messages import (
    ForceSequence,
    ManagerAnswer,
    ManagerPing,
    ManagerPong,
    ManagerRequest,
)
from hacheck.impl.protocols.artemis.lock_manager.options import LockManagerOptions
from hacheck.impl.protocols.artemis.process import Process

KEPT = "lock-manager/"


class Kept(Struct, frozen=True):
    """What is kept for a node id. `sequence`: committed where it is positive, claimed where it is negative. `holder`:
    the session that has the lock, or empty. `entered`: the last one that got it."""

    version: int
    sequence: int = 0
    holder: str = ""
    entered: str = ""


class LockManager(ProcessNode[Process]):
    """The service as one process. `lived_us`: how long it has worked; of a stretch in which nothing happened, not even
    its own timer, one period of that timer counts. `heard_us`: of each session, when by that measure it last gave a
    sign of life."""

    def __init__(self, setup: Setup) -> None:
        self.process = Process(setup)
        self.options: LockManagerOptions = setup.options
        self.kept: dict[str, Kept] = {
            key[len(KEPT) :]: decode(raw, Kept, "lock manager's data")
            for key, raw in sorted(setup.durable.items())
            if key.startswith(KEPT)
        }
        self.lived_us = 0
        self.heard_us: dict[str, int] = {}
        self._looked_us = 0
        self._waiting: dict[int, tuple[Name, Message]] = {}

    def handle(self, given: Input, now_us: int) -> list[Effect]:
        """What to do about an input."""
        self.lived_us += min(now_us - self._looked_us, self.options.manager_check_us)
        self._looked_us = now_us
        return super().handle(given, now_us)

    def _started(self, given: Started) -> None:
        self.heard_us = {kept.holder: self.lived_us for kept in self.kept.values() if kept.holder}
        self._look(given)

    def _look(self, given: Input) -> None:
        self._expire()
        self.process.set_timer("expire", self.options.manager_check_us)

    def _received(self, given: Received) -> None:
        message = given.message
        if isinstance(message, ManagerPing):
            self._ping(given.sender, message)
        elif isinstance(message, ManagerRequest):
            self._request(given.sender, message)
        elif isinstance(message, ForceSequence):
            self._force(message)

    def _written(self, given: Written) -> None:
        self.process.done(given.token)
        answer = self._waiting.pop(given.token, None)
        if answer is not None:
            self.process.send(*answer)

    def _write_failed(self, given: WriteFailed) -> None:
        self.process.end(f"the lock manager cannot write: {given.reason}")

    def _ping(self, sender: Name, message: ManagerPing) -> None:
        self.heard_us[message.session] = self.lived_us
        holds = tuple(node_id for node_id, kept in self.kept.items() if kept.holder == message.session)
        self.process.send(sender, ManagerPong(message.session, message.number, holds))

    def _expire(self) -> None:
        oldest = self.lived_us - self.options.manager_ttl_us
        for session in [session for session, heard_us in self.heard_us.items() if heard_us < oldest]:
            del self.heard_us[session]
            for node_id, kept in self.kept.items():
                if kept.holder == session:
                    self.process.record("lock_expired", {"of": node_id, "session": session})
                    self._keep(node_id, Kept(VERSION, kept.sequence, "", kept.entered))

    def _keep(self, node_id: str, kept: Kept) -> int:
        self.kept[node_id] = kept
        return self.process.write(((KEPT + node_id, encode(kept)),))

    def _request(self, sender: Name, message: ManagerRequest) -> None:
        self.heard_us[message.session] = self.lived_us
        old = self.kept.get(message.node_id, Kept(VERSION))
        new = OPERATIONS[message.operation](self, old, message)
        kept = new or old
        answer = ManagerAnswer(message.session, message.number, new is not None, kept.sequence)
        token = self._keep(message.node_id, kept) if kept != old else self.process.requested
        if token > self.process.written:
            self._answer_after(token, sender, answer)
        else:
            self.process.send(sender, answer)

    def _answer_after(self, token: int, sender: Name, answer: Message) -> None:
        """What is said is on disk. Several answers may wait for one write: each but the first waits for one of its
        own."""
        if token in self._waiting:
            token = self.process.write(())
        self._waiting[token] = (sender, answer)

    def _read(self, old: Kept, message: ManagerRequest) -> Kept | None:
        return old

    def _set(self, old: Kept, message: ManagerRequest) -> Kept | None:
        if self.options.fenced and old.entered != message.session:
            return None
        return Kept(VERSION, message.wanted, old.holder, old.entered)

    def _compare(self, old: Kept, message: ManagerRequest) -> Kept | None:
        return self._set(old, message) if old.sequence == message.expected else None

    def _lock(self, old: Kept, message: ManagerRequest) -> Kept | None:
        if old.holder not in ("", message.session):
            return None
        return Kept(VERSION, old.sequence, message.session, message.session)

    def _unlock(self, old: Kept, message: ManagerRequest) -> Kept | None:
        return Kept(VERSION, old.sequence, "", old.entered) if old.holder == message.session else None

    def _force(self, message: ForceSequence) -> None:
        old = self.kept.get(message.node_id, Kept(VERSION))
        self.process.record("sequence_forced", {"of": message.node_id, "sequence": message.value})
        self._keep(message.node_id, Kept(VERSION, message.value, old.holder, old.entered))

    inputs: ClassVar[Mapping[type[Input], Callable[[Any, Any], None]]] = {
        Started: _started,
        Received: _received,
        Fired: _look,
        Written: _written,
        WriteFailed: _write_failed,
    }


OPERATIONS: Mapping[str, Callable[[LockManager, Kept, ManagerRequest], Kept | None]] = {
    "read": LockManager._read,
    "set": LockManager._set,
    "compare": LockManager._compare,
    "lock": LockManager._lock,
    "unlock": LockManager._unlock,
}
"""What each operation makes of what is kept; `None`: it is not done."""
