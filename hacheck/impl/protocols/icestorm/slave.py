"""What a slave does for its coordinator: it gives its database, takes another, gets ready, and applies updates.

**Source**: notes on IceStorm 3.7.8, section 2, items 8 to 10, and section 3, "Update at the coordinator".
"""

from __future__ import annotations

from hacheck.impl.node import Name
from hacheck.impl.protocols.icestorm.core import Core
from hacheck.impl.protocols.icestorm.messages import Answer, Apply, Database, Init, Ping, Propose, Ready, Sync
from hacheck.impl.protocols.icestorm.records import (
    Create,
    Destroy,
    Link,
    Subscribe,
    Topic,
    Unlink,
    Unsubscribe,
    Update,
    plan,
)
from hacheck.impl.protocols.icestorm.replica_state import State, Step

LINES: dict[type[Update], str] = {
    Create: "topic_created",
    Destroy: "topic_destroyed",
    Subscribe: "observer_added",
    Link: "observer_added",
    Unsubscribe: "observers_removed",
    Unlink: "observers_removed",
}
"""What a slave writes when it has made an update. A link is a subscriber to it."""


class Slave:
    """The slave's side. It has no state of its own: what it knows is its standing and its database."""

    __slots__ = ("core", "options", "process", "standing", "store")

    def __init__(self, core: Core) -> None:
        self.core = core
        self.process = core.process
        self.standing = core.standing
        self.store = core.store
        self.options = core.options
        self.store.finished["promised"] = self._written
        self.store.finished["initialized"] = self._initialized
        self.store.finished["applied"] = self._applied

    def _reorganizes(self, group: str) -> bool:
        standing = self.standing
        return (
            standing.state is State.REORGANIZATION
            and standing.coord != standing.ident
            and standing.draining is None
            and not self.store.busy
            and (standing.group == group or self.options.bug_calls_name_no_group)
        )

    def _refuse(self, sender: Name, call: int, reason: str) -> None:
        self.process.send(sender, Answer(call, False, reason))

    def _written(self, data: tuple[Name, int], failed: str) -> None:
        sender, call = data
        self.process.send(sender, Answer(call, not failed, failed))

    # ---- while the group reorganizes -------------------------------------------------------------------------------

    def propose(self, sender: Name, message: Propose) -> None:
        """A generation to be promised: only one above all promised before."""
        if not self._reorganizes(message.group) or message.generation <= self.store.promised:
            self._refuse(sender, message.call, "not in this group, or promised a later generation")
            return
        self.store.promise("promised", message.generation, (sender, message.call))

    def sync(self, sender: Name, message: Sync) -> None:
        """The coordinator wants this database: it is the latest."""
        if not self._reorganizes(message.group):
            self._refuse(sender, message.call, "not in this group")
            return
        self.process.send(sender, Database(message.call, self.store.stamp, self.store.snapshot()))

    def init(self, sender: Name, message: Init) -> None:
        """The database of the group, which replaces this one."""
        promised = self.store.promised
        if not self._reorganizes(message.group) or (
            self.options.promise_generations and message.llu.generation < promised
        ):
            self._refuse(sender, message.call, "not in this group")
            return
        topics = {topic.name: topic for topic in message.topics}
        kept = {}
        if self.options.bug_sync_by_name:
            kept = {name: topic for name, topic in self.store.topics.items() if name in topics}
        self.store.replace("initialized", topics, message.llu, (sender, message.call, kept))

    def _initialized(self, data: tuple[Name, int, dict[str, Topic]], failed: str) -> None:
        sender, call, kept = data
        if not failed:
            self.store.topics.update(kept)
            self.core.publishing.replaced()
            stamp = self.store.stamp
            self.process.record(
                "database_taken",
                id=self.standing.ident,
                generation=stamp.generation,
                iteration=stamp.iteration,
                topics=sorted(self.store.topics),
            )
        self.process.send(sender, Answer(call, not failed, failed))

    def ready(self, sender: Name, message: Ready) -> None:
        """The group replicates from now on."""
        standing = self.standing
        if standing.serves_in(message.group):  # said before
            self.process.send(sender, Answer(message.call, True))
            return
        mine = standing.group == message.group and standing.coord == self.core.idents.get(sender)
        if not mine or not standing.may(Step.READY):
            self._refuse(sender, message.call, "not in this group")
            return
        standing.seen_max = max(standing.seen_max, message.seen_max)
        standing.generation = message.generation
        self.process.record("ready", id=standing.ident, group=message.group, coordinator=standing.coord)
        standing.take(Step.READY)
        self.core.election.in_duty()
        self.process.send(sender, Answer(message.call, True))
        self.core.service.opened()

    # ---- while it replicates ---------------------------------------------------------------------------------------

    def ping(self, sender: Name, message: Ping) -> None:
        """Whether it is a working member of the caller's group."""
        yes = self.options.bug_majority_by_ping or self.standing.serves_in(message.group)
        self.process.send(sender, Answer(message.call, yes))

    def apply(self, sender: Name, message: Apply) -> None:
        """The next update of the group."""
        reason = self._objection(message)
        if not reason:
            changes = plan(self.store.topics, message.update)
            if isinstance(changes, dict):
                self.store.commit("applied", changes, message.llu, (sender, message.call, message.update))
                return
            reason = f"{changes}: {message.update.topic}"
        self.process.record("update_rejected", id=self.standing.ident, reason=reason)
        self._refuse(sender, message.call, reason)

    def _objection(self, message: Apply) -> str:
        standing = self.standing
        if standing.state is not State.NORMAL:
            return "update called on inactive node"
        if standing.coord == standing.ident:
            return "update called on the master"
        if message.llu.generation != standing.generation:
            return "invalid generation"
        if self.store.busy:
            return "the update before is not done"
        if self.options.bug_calls_name_no_group:
            return ""
        if message.group != standing.group:
            return "another group"
        return "" if message.llu == self.store.stamp.next() else "not the next update"

    def _applied(self, data: tuple[Name, int, Update], failed: str) -> None:
        sender, call, update = data
        if not failed:
            stamp = self.store.stamp
            self.process.record(
                LINES[type(update)],
                id=self.standing.ident,
                update=type(update).__name__,
                topic=update.topic,
                generation=stamp.generation,
                iteration=stamp.iteration,
            )
            self.core.publishing.changed((update.topic,))
        self.process.send(sender, Answer(call, not failed, failed))
