"""How a coordinator makes the members who accepted into a group that replicates: the most recent database goes to all.

The stages follow each other: (promise, with `promise_generations`,) pull, stamp, init, ready. A member that does not
take the database is no member any more. What leaves no majority, goes wrong with the coordinator itself or with a
member that is ordered to be ready, or with anybody at a full start, leads to recovery.

**Source**: Highly Available IceStorm, "IceStorm Replication Algorithm"; notes on IceStorm 3.7.8, section 2, items 8-10.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from hacheck.impl.kit.rpc import Round
from hacheck.impl.node import Message
from hacheck.impl.protocols.icestorm.core import Core
from hacheck.impl.protocols.icestorm.messages import Answer, Database, Init, Propose, Ready, Sync
from hacheck.impl.protocols.icestorm.records import Stamp, Topic
from hacheck.impl.protocols.icestorm.replica_state import State, Step

ROUNDS = ("propose", "sync", "init", "ready")


class Attempt(Struct):
    """An attempt to form a group. `source`: who has the most recent database, with `llu`; `topics`: that database."""

    group: str
    generation: int
    source: int
    llu: Stamp
    topics: dict[str, Topic]


class GroupFormation:
    """`attempt`: the one under way."""

    __slots__ = ("attempt", "core", "options", "process", "standing", "store")

    def __init__(self, core: Core) -> None:
        self.core = core
        self.process = core.process
        self.standing = core.standing
        self.store = core.store
        self.options = core.options
        self.attempt: Attempt | None = None
        self.process.finished["propose"] = self._promised
        self.process.finished["sync"] = self._pulled
        self.process.finished["init"] = self._initialized
        self.process.finished["ready"] = self._ready_answered
        self.store.finished["own-promise"] = self._own_promised
        self.store.finished["stamped"] = self._stamped

    def abandon(self) -> None:
        """Recovery: nothing more comes of the attempt."""
        self.attempt = None
        for kind in ROUNDS:
            self.process.drop(kind)

    def begin(self) -> None:
        """All have accepted, or have had their time: is it enough, and who has the most recent database?"""
        standing = self.standing
        size = len(standing.members) + 1
        self.process.record("merge_decided", id=standing.ident, size=size)
        refusal = self._refusal()
        if refusal:
            self.process.record(
                "not_enough_nodes", id=standing.ident, size=size, total=standing.size, full_start=refusal == "full"
            )
            self.core.election.recover("not enough replicas")
            return
        attempt = self.attempt = self._decided()
        if not self.options.promise_generations:
            self._pull(attempt)
        else:
            self.store.promise("own-promise", attempt.generation, attempt.group)

    def _refusal(self) -> str:
        standing, members = self.standing, self.standing.members
        everybody = len(members) == len(standing.nodes)
        if self._starts() and not everybody:
            return "full"
        # A majority of N is N // 2 others beside the coordinator; in numbers of replicas N // 2 + 1.
        if self.options.count_empty_disks or everybody:
            return "" if len(members) >= standing.majority else "majority"
        voters = sum(not accept.empty for accept in members.values()) + (not self.store.empty)
        return "" if voters > standing.majority else "majority"

    def _starts(self) -> bool:
        """Whether this is a full start, as far as the members know: all replicas must take part."""
        return self.options.full_startup and self.standing.seen_max != self.standing.size

    def _decided(self) -> Attempt:
        standing, store = self.standing, self.store
        source, llu = standing.ident, store.stamp
        for ident, accept in standing.members.items():
            self._record_llu(ident, accept.llu)
            if accept.llu > llu:
                source, llu = ident, accept.llu
        self._record_llu(standing.ident, store.stamp)
        slaves = standing.members.values()
        known = [accept.llu.generation for accept in slaves]
        if not self.options.bug_generation_from_slaves:
            known.append(store.stamp.generation)
        if self.options.promise_generations:
            known += [store.promised, *(accept.promised for accept in slaves)]
        return Attempt(standing.group, max(known) + 1, source, llu, {})

    def _record_llu(self, node: int, llu: Stamp) -> None:
        generation, iteration = llu.generation, llu.iteration
        self.process.record("last_update", id=self.standing.ident, of=node, generation=generation, iteration=iteration)

    # ---- the stages ------------------------------------------------------------------------------------------------

    def _current(self, group: str) -> Attempt | None:
        """The attempt, if it is still this one."""
        attempt, standing = self.attempt, self.standing
        if attempt is None or attempt.group != group or standing.draining is not None:
            return None
        return attempt if standing.state is State.REORGANIZATION and standing.group == group else None

    def _ask_members(self, kind: str, question: Callable[[int], Message], attempt: Attempt) -> None:
        self.process.ask(kind, self.standing.others(), question, attempt.group)

    def _own_promised(self, group: str, failed: str) -> None:
        attempt = self._current(group)
        if attempt is None:
            return
        if failed:
            self.core.election.recover("the disk failed")
            return
        generation = attempt.generation
        self._ask_members("propose", lambda call: Propose(call, group, generation), attempt)

    def _promised(self, round_: Round) -> None:
        attempt = self._current(round_.data)
        if attempt is not None and self._kept_majority(round_, "promised nothing"):
            if attempt.source == self.standing.ident or attempt.source in self.standing.members:
                self._pull(attempt)
            else:
                self.core.election.recover("lost the member with the latest database")

    def _pull(self, attempt: Attempt) -> None:
        standing = self.standing
        if attempt.source == standing.ident:
            self.process.record("database_is_latest", id=standing.ident)
            attempt.topics = dict(self.store.topics)
            self._stamp(attempt)
            return
        self.process.record("sync", id=standing.ident, target=attempt.source)
        source = (attempt.source, standing.nodes[attempt.source])
        self.process.ask("sync", [source], lambda call: Sync(call, attempt.group), attempt.group)

    def _pulled(self, round_: Round) -> None:
        attempt = self._current(round_.data)
        if attempt is None:
            return
        answer = round_.answers[attempt.source]
        if not isinstance(answer, Database) or answer.llu < attempt.llu:
            self.process.record("sync_failed", id=self.standing.ident, target=attempt.source)
            self.core.election.recover("could not get the latest database")
            return
        attempt.topics = {topic.name: topic for topic in answer.topics}
        self._stamp(attempt)

    def _stamp(self, attempt: Attempt) -> None:
        self.store.replace("stamped", attempt.topics, Stamp(attempt.generation, 0), attempt.group)

    def _stamped(self, group: str, failed: str) -> None:
        attempt = self._current(group)
        if attempt is None:
            return
        if failed:
            self.core.election.recover("the disk failed")
            return
        if attempt.source != self.standing.ident:
            self.process.record("database_taken", id=self.standing.ident, topics=sorted(self.store.topics))
        self.core.publishing.replaced()
        stamp, topics = self.store.stamp, self.store.snapshot()
        self._ask_members("init", lambda call: Init(call, group, stamp, topics), attempt)

    def _initialized(self, round_: Round) -> None:
        attempt = self._current(round_.data)
        if attempt is None:
            return
        needs_all = self.options.bug_init_needs_all or self._starts()
        taken = sum(_yes(answer) for answer in round_.answers.values())
        if taken < (len(round_.answers) if needs_all else self.standing.majority):
            self.process.record("init_failed", id=self.standing.ident)
            self.core.election.recover("a slave did not take the database")
            return
        self._kept_majority(round_, "did not take the database")
        standing = self.standing
        standing.seen_max = max(standing.seen_max, len(standing.members) + 1)
        self._send_ready(attempt, 0)

    def _send_ready(self, attempt: Attempt, place: int) -> None:
        """Informs the member at this place among the others, which come by identifier, one after the other."""
        standing = self.standing
        if place == len(standing.members):
            self._commence(attempt)
            return
        group, generation, seen_max = attempt.group, attempt.generation, standing.seen_max
        member = standing.others()[place]
        self.process.ask("ready", [member], lambda call: Ready(call, group, generation, seen_max), (group, place))

    def _ready_answered(self, round_: Round) -> None:
        group, place = round_.data
        attempt = self._current(group)
        if attempt is None:
            return
        ((ident, answer),) = round_.answers.items()
        if _yes(answer) or (answer is not None and self.options.bug_ready_unanswered):
            self._send_ready(attempt, place + 1)
            return
        self.process.record("ready_failed", id=self.standing.ident, target=ident)
        self.core.election.recover("a member was not ready")

    def _commence(self, attempt: Attempt) -> None:
        standing = self.standing
        standing.generation = attempt.generation
        self.attempt = None
        self.process.record(
            "commenced",
            id=standing.ident,
            group=standing.group,
            size=len(standing.members) + 1,
            total=standing.size,
            generation=attempt.generation,
        )
        standing.take(Step.COMMENCE)
        self.core.service.opened()

    def _kept_majority(self, round_: Round, why: str) -> bool:
        """Members who failed leave the group; without a majority it recovers. Whether it goes on."""
        for ident, answer in round_.answers.items():
            if not _yes(answer) and ident in self.standing.members:
                self.standing.leave(ident, why)
        if len(self.standing.members) >= self.standing.majority:
            return True
        self.core.election.recover("lost the majority")
        return False


def _yes(answer: Any) -> bool:
    return isinstance(answer, Answer) and answer.yes
