"""The invitation election: groups of one, that are combined into larger ones by their coordinators.

**Source**: Highly Available IceStorm, "IceStorm Replication Algorithm"; the delays by priority and the messages: notes
on IceStorm 3.7.8, section 2, items 1 to 7 and 11.
"""

from __future__ import annotations

from hacheck.impl.kit.rpc import Round
from hacheck.impl.node import Name
from hacheck.impl.protocols.icestorm.core import Core
from hacheck.impl.protocols.icestorm.messages import (
    Accept,
    Answer,
    AreYouCoordinator,
    AreYouThere,
    Invitation,
    Ping,
)
from hacheck.impl.protocols.icestorm.replica_state import Drained, State, Step

CHECK, MERGE, RESPONSE, MASTER = "check", "merge", "response", "master"
"""The timers: when to look for other coordinators; to invite those found; to wait no longer for their answers; to ask
whether the own coordinator is still there."""

ROUND_CHECK, ROUND_MASTER, ROUND_PROBE = "check", "master", "probe"


class Election:
    """`due`: a merge is, with the coordinators `found`. `invited`: by this coordinator or by those whom it invited;
    `gone`: of these, those that do not run. `asks`: it asks for its coordinator from time to time. `kept`: invitations
    that came while a recovery waited for an update; they count when it is over, for only an election ignores them."""

    __slots__ = ("asks", "core", "due", "found", "gone", "invited", "kept", "options", "process", "standing", "store")

    def __init__(self, core: Core) -> None:
        self.core = core
        self.process = core.process
        self.standing = core.standing
        self.store = core.store
        self.options = core.options
        self.asks = False
        self.due = False
        self.found: tuple[int, ...] = ()
        self.invited: set[int] = set()
        self.gone: set[int] = set()
        self.kept: list[Invitation] = []
        self.process.finished[ROUND_CHECK] = self._checked
        self.process.finished[ROUND_MASTER] = self._master_answered
        self.process.finished[ROUND_PROBE] = self._probed

    def start(self) -> None:
        """The first input: a group of one, and the first check, the later the lower the priority."""
        above = max(0, self.standing.size - self.standing.ident)
        self._new_group()
        self.process.set_timer(CHECK, max(1, above * self.options.start_delay_us))

    # ---- recovery --------------------------------------------------------------------------------------------------

    def recover(self, why: str) -> None:
        """It is in error: back to a group of its own, as soon as no update is in flight. Members are not informed. A
        service without replicas has no group to leave."""
        standing = self.standing
        if not standing.nodes:
            return
        self.process.record("recovery", id=standing.ident, reason=why)
        self._leave_normal(Step.RECOVER)
        self._no_merge()
        self.process.cancel_timer(RESPONSE)
        self.process.cancel_timer(MASTER)
        self.asks = False
        self.core.forming.abandon()
        standing.draining = Drained(Step.RECOVER)

    def drained(self) -> None:
        """No update is in flight any more: what had to wait for this goes on."""
        after = self.standing.draining
        assert after is not None
        self.standing.draining = None
        if after.step is Step.RECOVER:
            self._new_group()
            kept, self.kept = self.kept, []
            for message in kept:
                self._answer(message)
        elif after.step is Step.MERGE:
            self._invite(after.members)
        else:
            self._join(after.coordinator, after.group, after.members)

    def _new_group(self) -> None:
        standing = self.standing
        standing.group = self._fresh_group()
        standing.generation = -1
        standing.coord = standing.ident
        standing.members = {}
        self.process.record("group_created", id=standing.ident, group=standing.group)

    def _fresh_group(self) -> str:
        return f"{self.standing.ident}:{self.process.fresh_number():X}"

    def _leave_normal(self, step: Step) -> None:
        was_normal = self.standing.state is State.NORMAL
        self.standing.take(step)
        if was_normal:
            self.core.updating.give_back()

    # ---- looking for other coordinators ----------------------------------------------------------------------------

    def check(self) -> None:
        """The check timer: a coordinator looks for others, unless a merge is due already."""
        self.process.set_timer(CHECK, self.options.election_timeout_us)
        if self._disabled():
            self.store.probe()
            return
        if not self.standing.coordinates() or self.due:
            return
        self.process.drop(ROUND_CHECK)
        self.process.ask(ROUND_CHECK, self.standing.nodes.items(), AreYouCoordinator)
        if self.options.probe_slaves and self.standing.state is State.NORMAL:
            group = self.standing.group
            self.process.ask(ROUND_PROBE, self.standing.others(), lambda call: Ping(call, group), group)

    def _disabled(self) -> bool:
        """Whether its disk does not write: until it does again, it takes part in no election."""
        return self.store.broken and not self.options.bug_init_needs_all

    def _checked(self, round_: Round) -> None:
        standing = self.standing
        for ident, answer in round_.answers.items():
            if answer is None:
                self.process.record("call_failed", id=standing.ident, target=ident)
        found = tuple(ident for ident, answer in round_.answers.items() if _yes(answer))
        if not found or not standing.coordinates() or self.due or self._disabled():
            return
        self.found = found
        self.due = True
        highest = max(found)
        delay_us = 0 if standing.ident > highest else self.options.response_timeout_us * (1 + highest - standing.ident)
        self.process.record("coordinators_found", id=standing.ident, highest=highest)
        if delay_us:
            self.process.record("merge_scheduled", id=standing.ident, delay=delay_us)
            self.process.set_timer(MERGE, delay_us)
        else:
            self.merge()

    def _probed(self, round_: Round) -> None:
        standing = self.standing
        if not standing.serves_in(round_.data) or standing.coord != standing.ident:
            return
        for ident, answer in round_.answers.items():
            if not _yes(answer) and ident in standing.members:
                standing.leave(ident, "no answer" if answer is None else "not in the group")
        if len(standing.members) < standing.majority:
            self.recover("lost the majority")

    def are_you_coordinator(self, sender: Name, message: AreYouCoordinator) -> None:
        """Whether it can be joined with others; with a disk that does not write, it cannot."""
        yes = self.standing.coordinates() and not self._disabled()
        self.process.send(sender, Answer(message.call, yes))

    # ---- combining groups, as the coordinator ----------------------------------------------------------------------

    def merge(self) -> None:
        """The merge is due: a new group, to which the coordinators found and the own members are invited."""
        self.due = False
        standing = self.standing
        if standing.coord != standing.ident or not standing.may(Step.MERGE) or self._disabled():
            return
        self._leave_normal(Step.MERGE)
        standing.draining = Drained(Step.MERGE, members=tuple(standing.members))

    def _no_merge(self) -> None:
        if self.due:
            self.due = False
            self.process.cancel_timer(MERGE)

    def _invite(self, members: tuple[int, ...]) -> None:
        standing = self.standing
        self.invited = {*self.found, *members}
        self.gone = set()
        standing.group = self._fresh_group()
        standing.generation = -1
        standing.members = {}
        self.process.record("merge_started", id=standing.ident, invited=sorted(self.invited), group=standing.group)
        for ident in sorted(self.invited):
            self.process.record("invitation_sent", id=standing.ident, target=ident, group=standing.group)
            self.process.send(standing.nodes[ident], Invitation(standing.ident, standing.group))
        self.process.record("invites", id=standing.ident, pending=sorted(self.invited))
        self.process.set_timer(RESPONSE, self.options.response_timeout_us)

    def accept(self, sender: Name, message: Accept) -> None:
        """Somebody joins. When all who were invited have, the group reorganizes at once."""
        standing = self.standing
        if not self._gathering() or message.group != standing.group or self.core.idents.get(sender) != message.member:
            return
        standing.members[message.member] = message
        standing.seen_max = max(standing.seen_max, message.seen_max)
        self.invited.update(message.forwarded)
        self.gone.difference_update(message.forwarded)
        self.process.record(
            "accepted",
            id=standing.ident,
            sender=message.member,
            forwarded=list(message.forwarded),
            generation=message.llu.generation,
            iteration=message.llu.iteration,
            group=message.group,
            size=len(standing.members) + 1,
        )
        answered = sorted(standing.members)
        self.process.record("invites", id=standing.ident, pending=sorted(self.invited), accepted=answered)
        self._all_accepted()

    def _all_accepted(self) -> None:
        if (
            len(self.standing.members) == len(self.standing.nodes)
            or self.invited - self.gone <= self.standing.members.keys()
        ):
            self.gathered()

    def unreachable(self, ident: int) -> None:
        """Somebody invited does not run: it is not waited for."""
        if self._gathering() and ident in self.invited and ident not in self.standing.members:
            self.gone.add(ident)
            self._all_accepted()

    def gathered(self) -> None:
        """All have accepted, or have had their time."""
        if not self._gathering():
            return
        self.process.cancel_timer(RESPONSE)
        self.standing.members = {ident: self.standing.members[ident] for ident in sorted(self.standing.members)}
        self.standing.take(Step.GATHERED)
        self.core.forming.begin()

    def _gathering(self) -> bool:
        standing = self.standing
        return standing.state is State.ELECTION and standing.coord == standing.ident and standing.draining is None

    # ---- joining another group -------------------------------------------------------------------------------------

    def invitation(self, sender: Name, message: Invitation) -> None:
        """An invitation, from its coordinator or handed on. Any node may invite any other: priority only delays."""
        standing, inviter = self.standing, message.coordinator
        if inviter not in standing.nodes:
            self.process.record("stranger_ignored", id=standing.ident, call="invitation", sender=inviter)
            return
        self.process.record("invitation_received", id=standing.ident, sender=inviter, group=message.group)
        if standing.draining is not None and standing.draining.step is Step.RECOVER:
            self.kept.append(message)
        else:
            self._answer(message)

    def _answer(self, message: Invitation) -> None:
        """An invitation is accepted, unless it comes during an election, or is one to the group that replicates here:
        who is invited by two comes once."""
        standing = self.standing
        if not standing.may(Step.INVITED) or self._disabled():
            self.process.record("invitation_ignored", id=standing.ident)
            return
        if message.group == standing.group and not self.options.bug_joins_again:
            return
        self._no_merge()
        self._leave_normal(Step.INVITED)
        members = tuple(standing.members)
        standing.draining = Drained(Step.INVITED, message.coordinator, message.group, members)

    def _join(self, coordinator: int, group: str, members: tuple[int, ...]) -> None:
        standing = self.standing
        counts_inviter = self.options.bug_inviter_forwarded
        own = tuple(ident for ident in members if ident != coordinator or counts_inviter)
        standing.members = {}
        standing.coord = coordinator
        standing.group = group
        standing.generation = -1
        for ident in own:
            self.process.send(standing.nodes[ident], Invitation(coordinator, group))
        standing.take(Step.JOINED)
        if not (self.options.bug_timeout_keeps_phase and self.asks):
            self.asks = True
            self.process.set_timer(MASTER, self._asks_after_us())
        store = self.store
        accept = Accept(standing.ident, group, own, store.stamp, standing.seen_max, store.promised, store.empty)
        self.process.send(standing.nodes[coordinator], accept)

    # ---- whether the coordinator is still there --------------------------------------------------------------------

    def in_duty(self) -> None:
        """The group replicates: from now on its coordinator is checked at the usual times."""
        if not self.options.bug_timeout_keeps_phase:
            self.process.set_timer(MASTER, self.options.master_timeout_us)

    def ask_master(self) -> None:
        """The time-out of a slave: it asks its coordinator."""
        standing = self.standing
        self.asks = standing.coord != standing.ident
        if not self.asks:
            return
        self.process.set_timer(MASTER, self._asks_after_us())
        group, ident = standing.group, standing.ident
        master = (standing.coord, standing.nodes[standing.coord])
        self.process.ask(ROUND_MASTER, [master], lambda call: AreYouThere(call, group, ident), group)

    def _asks_after_us(self) -> int:
        """While the group reorganizes, a slave asks often enough to be free again when its coordinator, which shows
        nobody that it has given up, looks for others the next time."""
        master_us = self.options.master_timeout_us
        if self.standing.state is State.NORMAL or self.options.bug_slave_is_patient:
            return master_us
        return max(1, min(master_us, self.options.election_timeout_us) // 2)

    def _master_answered(self, round_: Round) -> None:
        standing = self.standing
        if standing.group != round_.data or standing.coord == standing.ident or standing.draining is not None:
            return
        ((master, answer),) = round_.answers.items()
        if not _yes(answer):
            self.process.record("coordinator_lost", id=standing.ident, coordinator=master, denied=answer is not None)
            self.recover("lost the coordinator")

    def are_you_there(self, sender: Name, message: AreYouThere) -> None:
        """Whether the caller is a member of the group that this replica coordinates. Its state does not matter."""
        standing = self.standing
        mine = standing.coord == standing.ident and standing.group == message.group
        self.process.send(sender, Answer(message.call, mine and message.member in standing.members))


def _yes(answer: object) -> bool:
    return isinstance(answer, Answer) and answer.yes
