"""How a broker answers for itself: status queries, promotion, being stopped, and its watchdog.

A broker never decides to become the primary; the resource manager does. With a watchdog, a primary halts itself when
the manager has not answered it for so long: the manager echoes the broker's own clock, so that the time runs from when
the broker sent its request, however late the echo comes.

**Source:** survey of broker failover protocols, sections 1.3 and 1.11.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hacheck.impl.node import Name
from hacheck.impl.protocols.qpid import status as statuses
from hacheck.impl.protocols.qpid.orders import (
    EndReplication,
    Promote,
    PromoteAnswer,
    Registered,
    Replicate,
    Replicating,
    Restart,
    StatusAnswer,
    StatusQuery,
    Stop,
    Stopped,
)

if TYPE_CHECKING:
    from hacheck.impl.protocols.qpid.broker import Broker

CHECK = "status-check"
WATCHDOG = "watchdog"


class ManagerInterface:
    """`term`: the highest the resource manager has spoken of. `pending`: a promotion that waits for the status check,
    with who sent it. `checked_for`: the promotion for which the others were last checked. `stopped`: promotions up to
    this term are over. `has_ended`: it was ordered to keep no copies any more. `lease_until_us`: when the watchdog
    bites; none: it is not armed."""

    __slots__ = ("_broker", "checked_for", "has_ended", "lease_until_us", "pending", "stopped", "term")

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self.term = 0
        self.stopped = 0
        self.has_ended = False
        self.checked_for = 0
        self.pending: tuple[Name, Promote] | None = None
        self.lease_until_us: int | None = None

    # ---- status -----------------------------------------------------------------------------------------------------

    def start_check(self) -> None:
        """Joining: ask every other broker how it is, and wait one heartbeat for answers."""
        broker = self._broker
        if broker.backup is not None:
            broker.backup.begin_check()
        for address in broker.place.addresses:
            broker.process.send(address, StatusQuery(0))
        broker.process.set_timer(CHECK, broker.options.heartbeat_us)

    def status_query(self, sender: Name, query: StatusQuery) -> None:
        """Somebody asks how this broker is; the resource manager's question feeds the watchdog."""
        broker = self._broker
        process = broker.process
        if self.lease_until_us is not None and query.incarnation == process.incarnation:
            self._feed(query.lease_from_us)
        about = broker.myself()
        answer = StatusAnswer(query.number, about, process.incarnation, process.now_us, self.term)
        process.send(sender, answer)

    def heard_status(self, sender: Name, answer: StatusAnswer) -> None:
        """A broker answers the status check."""
        if self._broker.backup is not None:
            self._broker.backup.checked(sender, answer.about.status)
            self.check_progress()

    def check_timeout(self) -> None:
        """The one that is silent has no objection (Q-W6)."""
        if self._broker.backup is not None:
            self._broker.backup.check_is_over()
            self.check_progress()

    def check_progress(self) -> None:
        """If a promotion has waited for the status check, and this is over, decide."""
        backup = self._broker.backup
        if self.pending is not None and backup is not None and not backup.unchecked:
            (sender, order), self.pending = self.pending, None
            self.promote(sender, order)

    # ---- promotion --------------------------------------------------------------------------------------------------

    def promote(self, sender: Name, order: Promote) -> None:
        """The resource manager wants this broker to be the primary."""
        broker = self._broker
        if order.term < self.term or order.term <= self.stopped:
            return  # overtaken by a later decision
        self.term = order.term
        refusal = self._refusal(order)
        if refusal is None and broker.status == statuses.JOINING and not broker.options.bug_promote_joining:
            assert broker.backup is not None
            if not broker.options.bug_old_answers and self.checked_for != order.term:
                self.checked_for = order.term
                self.start_check()
            if broker.backup.unchecked:
                self.pending = (sender, order)
                return
            if broker.backup.objections:
                refusal = "joining an active cluster, cannot be promoted"
        if refusal is not None:
            broker.process.record("promotion-refused", term=order.term, reason=refusal)
            broker.process.send(sender, PromoteAnswer(order.term, False, refusal))
            return
        if broker.primary is not None:
            broker.primary.term = order.term
        else:
            if broker.options.fencing == "watchdog":
                self._arm(order.lease_from_us)
            broker.become_primary(order.term)
        broker.process.send(sender, PromoteAnswer(order.term, True))

    def _refusal(self, order: Promote) -> str | None:
        broker = self._broker
        if order.incarnation != broker.process.incarnation:
            return "restarted since"
        if broker.status == statuses.CATCHUP:
            return "still catching up, cannot be promoted"
        late = broker.process.now_us >= order.lease_from_us + broker.options.watchdog_us
        if broker.options.fencing == "watchdog" and late:
            return "the order came too late for the watchdog"
        return None

    def stop(self, sender: Name, order: Stop) -> None:
        """The resource manager wants no primary of this term or an earlier one here."""
        broker = self._broker
        if self.pending is not None and self.pending[1].term <= order.term:
            self.pending = None
        self.stopped = max(self.stopped, order.term)
        broker.process.send(sender, Stopped(order.term))
        if broker.primary is not None and broker.primary.term <= order.term:
            broker.shut_down("stopped by the resource manager")

    def restart(self, sender: Name, order: Restart) -> None:
        """An operator starts all brokers anew."""
        if order.term >= self.term:
            self._broker.shut_down("restarted by an operator")

    def registered(self, sender: Name, given: Registered) -> None:
        """The resource manager has heard which backups are in step."""
        primary = self._broker.primary
        if primary is not None and given.term == primary.term:
            primary.confirmed(given.number)
            self._broker.serving.may_complete = primary.is_confirmed

    # ---- without a cluster, from an operator -----------------------------------------------------------------------

    def replicate(self, sender: Name, order: Replicate) -> None:
        """Keep copies of these, if it does not yet."""
        broker = self._broker
        if broker.replica is None:
            broker.process.record("replication_begun", names=list(order.names))
            broker.replicate(frozenset(order.names))
        broker.process.send(sender, Replicating(order.number, True))

    def end_replication(self, sender: Name, order: EndReplication) -> None:
        """Keep no copies any more."""
        broker = self._broker
        if broker.replica is not None:
            broker.replica.end()
            broker.replica = None
        if not self.has_ended:
            self.has_ended = True
            broker.process.record("replication_ended")
        broker.process.send(sender, Replicating(order.number, False))

    # ---- watchdog ---------------------------------------------------------------------------------------------------

    def _arm(self, lease_from_us: int) -> None:
        self.lease_until_us = 0
        self._feed(lease_from_us)

    def _feed(self, lease_from_us: int) -> None:
        broker = self._broker
        until = lease_from_us + broker.options.watchdog_us
        if self.lease_until_us is not None and until > self.lease_until_us:
            self.lease_until_us = until
            broker.process.set_timer(WATCHDOG, until - broker.process.now_us)

    def lease_is_over(self) -> None:
        """The resource manager has been silent for too long: by now it may make another broker the primary."""
        self._broker.shut_down("the watchdog was not fed")
