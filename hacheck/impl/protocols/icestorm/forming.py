"""How a coordinator makes the members who accepted into a group that replicates: the most recent database goes to all.

The stages follow each other: (promise, with `promise_generations`,) pull, stamp, init, ready. What goes wrong with a
member costs its membership; what leaves no majority, or goes wrong with the coordinator itself, leads to recovery.

**Source**: Highly Available IceStorm, "IceStorm Replication Algorithm"; notes on IceStorm 3.7.8, section 2, items 8-10.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from hacheck.impl.node import Message
from hacheck.impl.protocols.icestorm.core import Core
from hacheck.impl.protocols.icestorm.messages import Answer, Database, Init, Propose, Ready, Sync
from hacheck.impl.protocols.icestorm.records import Stamp, Topic
from hacheck.impl.protocols.icestorm.standing import State, Step
from hacheck.impl.protocols.icestorm.wire import Round

ROUNDS = ("propose", "sync", "init", "ready")


class Attempt(Struct):
    """An attempt to form a group. `source`: who has the most recent database, with `llu`; `topics`: that database."""

    group: str
    generation: int
    source: int
    llu: Stamp
    topics: dict[str, Topic]


class Forming:
    """`attempt`: the one under way."""

    __slots__ = ("attempt", "core", "options", "standing", "store", "wire")

    def __init__(self, core: Core) -> None:
        self.core = core
        self.wire = core.wire
        self.standing = core.standing
        self.store = core.store
        self.options = core.options
        self.attempt: Attempt | None = None
        self.wire.finished["propose"] = self._promised
        self.wire.finished["sync"] = self._pulled
        self.wire.finished["init"] = self._initialized
        self.wire.finished["ready"] = self._all_ready
        self.store.finished["own-promise"] = self._own_promised
        self.store.finished["stamped"] = self._stamped

    def abandon(self) -> None:
        """Recovery: nothing more comes of the attempt."""
        self.attempt = None
        for kind in ROUNDS:
            self.wire.drop(kind)

    def begin(self) -> None:
        """All have accepted, or have had their time: is it enough, and who has the most recent database?"""
        standing = self.standing
        size = len(standing.members) + 1
        self.wire.record("coordinator_for", id=standing.ident, size=size)
        refusal = self._refusal()
        if refusal:
            self.wire.record(
                "not_enough_nodes", id=standing.ident, size=size, replicas=standing.size, full=refusal == "full"
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
        seen_max = max([standing.seen_max, *(accept.seen_max for accept in members.values())])
        if self.options.full_startup and seen_max != standing.size and not everybody:
            return "full"
        # A majority of N is N // 2 others beside the coordinator; in numbers of replicas N // 2 + 1.
        if self.options.count_empty_disks or everybody:
            return "" if len(members) >= standing.majority else "majority"
        voters = sum(not accept.empty for accept in members.values()) + (not self.store.empty)
        return "" if voters > standing.majority else "majority"

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
        self.wire.record("llu", id=self.standing.ident, node=node, generation=llu.generation, iteration=llu.iteration)

    # ---- the stages ------------------------------------------------------------------------------------------------

    def _current(self, group: str) -> Attempt | None:
        """The attempt, if it is still this one."""
        attempt, standing = self.attempt, self.standing
        if attempt is None or attempt.group != group or standing.draining is not None:
            return None
        return attempt if standing.state is State.REORGANIZATION and standing.group == group else None

    def _ask_members(self, kind: str, question: Callable[[int], Message], attempt: Attempt) -> None:
        self.wire.ask(kind, self.standing.others(), question, attempt.group)

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
            self.wire.record("latest_here", id=standing.ident)
            attempt.topics = dict(self.store.topics)
            self._stamp(attempt)
            return
        self.wire.record("syncing", id=standing.ident, node=attempt.source)
        source = (attempt.source, standing.nodes[attempt.source])
        self.wire.ask("sync", [source], lambda call: Sync(call, attempt.group), attempt.group)

    def _pulled(self, round_: Round) -> None:
        attempt = self._current(round_.data)
        if attempt is None:
            return
        answer = round_.answers[attempt.source]
        if not isinstance(answer, Database) or answer.llu < attempt.llu:
            self.wire.record("sync_failed", id=self.standing.ident, node=attempt.source)
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
        self.core.publishing.changed(list(self.core.publishing.outlets))
        stamp, topics = self.store.stamp, self.store.snapshot()
        self._ask_members("init", lambda call: Init(call, group, stamp, topics), attempt)

    def _initialized(self, round_: Round) -> None:
        attempt = self._current(round_.data)
        if attempt is None:
            return
        if self.options.bug_init_needs_all and not all(_yes(answer) for answer in round_.answers.values()):
            self.core.election.recover("a slave did not take the database")
            return
        if not self._kept_majority(round_, "did not take the database"):
            return
        standing, generation = self.standing, attempt.generation
        known = [accept.seen_max for accept in standing.members.values()]
        standing.seen_max = max([standing.seen_max, len(standing.members) + 1, *known])
        seen_max, group = standing.seen_max, attempt.group
        self._ask_members("ready", lambda call: Ready(call, group, generation, seen_max), attempt)

    def _all_ready(self, round_: Round) -> None:
        attempt = self._current(round_.data)
        if attempt is None:
            return
        if self.options.bug_ready_unanswered:
            round_.answers = {ident: answer and Answer(0, True) for ident, answer in round_.answers.items()}
        if not self._kept_majority(round_, "was not ready"):
            return
        standing = self.standing
        standing.generation = attempt.generation
        self.attempt = None
        self.wire.record(
            "commencing",
            id=standing.ident,
            group=standing.group,
            size=len(standing.members) + 1,
            replicas=standing.size,
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
