"""Updates at the coordinator: one at a time, done when a majority has it on disk.

**Source**: notes on IceStorm 3.7.8, section 3, "Update at the coordinator"; Highly Available IceStorm, "Client
Considerations for IceStorm Replication", for an outcome that is unknown.
"""

from __future__ import annotations

from collections import deque

from msgspec import Struct

from hacheck.impl.kit.rpc import Round
from hacheck.impl.protocols.icestorm.core import Core
from hacheck.impl.protocols.icestorm.messages import Answer, Apply, Ping
from hacheck.impl.protocols.icestorm.records import (
    FAILED,
    OK,
    UNKNOWN,
    Create,
    Destroy,
    Link,
    Stamp,
    Subscribe,
    Unlink,
    Unsubscribe,
    Update,
    plan,
)
from hacheck.impl.protocols.icestorm.replica_state import State

LINES: dict[type[Update], str] = {
    Destroy: "topic_destroyed",
    Subscribe: "subscribed",
    Unsubscribe: "unsubscribed",
    Link: "linked",
    Unlink: "unlinked",
}
"""What a coordinator writes before it makes an update. The line of a new topic comes last, when all have answered."""


class Work(Struct):
    """An update that was requested, and by whom: a client with its request, or a slave with its call; or nobody."""

    update: Update
    client: str = ""
    request: str = ""
    attempt: int = 0
    slave: str = ""
    call: int = 0


class Updates:
    """`queue`: what waits its turn. `work`: the one being done; `committed`: it is on its way to the disks, so that
    the group cannot be left before it is through."""

    __slots__ = ("committed", "core", "options", "process", "queue", "standing", "store", "work")

    def __init__(self, core: Core) -> None:
        self.core = core
        self.process = core.process
        self.standing = core.standing
        self.store = core.store
        self.options = core.options
        self.queue: deque[Work] = deque()
        self.work: Work | None = None
        self.committed = False
        self.process.finished["majority"] = self._majority_answered
        self.process.finished["apply"] = self._applied
        self.store.finished["committed"] = self._committed

    def add(self, work: Work) -> None:
        """An update for this coordinator, whose group replicates."""
        self.queue.append(work)
        if self.work is None:
            self._next()

    def give_back(self) -> None:
        """The group does not replicate any more: what is not on its way yet waits at the gate."""
        if self.work is not None and not self.committed:
            self.process.drop("majority")
            self.queue.appendleft(self.work)
            self.work = None
        for work in self.queue:
            self.core.service.wait(work)
        self.queue.clear()

    def _next(self) -> None:
        self.work, self.committed = None, False
        if not self.queue or self.standing.state is not State.NORMAL:
            return
        self.work = self.queue.popleft()
        group = self.standing.group
        self.process.ask("majority", self.standing.others(), lambda call: Ping(call, group), group)

    # ---- is there a majority? --------------------------------------------------------------------------------------

    def _majority_answered(self, round_: Round) -> None:
        work = self.work
        if work is None or self.committed or not self.standing.serves_in(round_.data):
            return
        self._lose_failing(round_)
        if len(self.standing.members) < self.standing.majority:
            self.core.election.recover("lost the majority")
            return
        changes = plan(self.store.topics, work.update)
        if isinstance(changes, str):
            self.core.service.done(work, changes)
            self._next()
            return
        self.committed = True
        if not isinstance(work.update, Create):
            self.process.record(LINES[type(work.update)], id=self.standing.ident, topic=work.update.topic)
        if self.options.bug_destroy_marked_first and isinstance(work.update, Destroy):
            self.store.topics.pop(work.update.topic, None)
        self.store.commit("committed", changes, self.store.stamp.next(), round_.data)

    def _lose_failing(self, round_: Round) -> None:
        for ident, answer in round_.answers.items():
            if ident not in self.standing.members or (isinstance(answer, Answer) and answer.yes):
                continue
            if answer is not None and round_.kind == "apply" and self.options.bug_rejection_acknowledged:
                continue
            reason = answer.reason if isinstance(answer, Answer) and answer.reason else "no answer"
            self.standing.leave(ident, reason)

    # ---- on its own disk, then on the others' ----------------------------------------------------------------------

    def _committed(self, group: str, failed: str) -> None:
        work = self.work
        assert work is not None
        if failed:
            self.core.service.done(work, FAILED, failed)
            self._next()
            if self.standing.serves_in(group):
                self.core.election.recover("the disk failed")
            return
        self._record(work, self.store.stamp)
        stamp, update = self.store.stamp, work.update
        self.process.ask("apply", self.standing.others(), lambda call: Apply(call, group, stamp, update), group)

    def _record(self, work: Work, stamp: Stamp) -> None:
        self.process.record(
            "committed",
            id=self.standing.ident,
            update=type(work.update).__name__,
            topic=work.update.topic,
            generation=stamp.generation,
            iteration=stamp.iteration,
        )
        update = work.update
        if isinstance(update, Subscribe):
            self.process.record("subscription_made", topic=update.topic, subscriber=update.subscriber.endpoint)
        elif isinstance(update, Link):
            self.process.record("link_made", topic=update.topic, to=update.to)
        elif isinstance(update, Unsubscribe):
            for identity in update.identities:
                self.process.record("subscription_ended", topic=update.topic, subscriber=identity)

    def _applied(self, round_: Round) -> None:
        work = self.work
        assert work is not None
        self._lose_failing(round_)
        enough = len(self.standing.members) >= self.standing.majority
        if enough:
            if isinstance(work.update, Create):
                self.process.record("topic_created", id=self.standing.ident, topic=work.update.topic)
            self.core.publishing.changed((work.update.topic,))
            self.core.service.done(work, OK)
        else:
            self.process.record("update_failed", id=self.standing.ident, topic=work.update.topic)
            if self.options.bug_unknown_create_hidden and isinstance(work.update, Create):
                self.store.topics.pop(work.update.topic, None)
            self.core.service.done(work, UNKNOWN)
        self._next()
        if not enough and self.standing.serves_in(round_.data):
            self.core.election.recover("lost the majority")
