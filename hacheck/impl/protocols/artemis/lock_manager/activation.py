"""Who may serve: the lock says who does, the number whose data is newest; and what is claimed before it serves alone.

To add one to two numbers, one on a disk and one at the manager, takes three steps: the coordinated one becomes the
negative of the next, the own one is written, the coordinated one becomes positive. A process may end after each, and
the one that comes next finds out from the two. Source: broker facts 2.9, `tryActivate` and `ENSURE`, AR-8, AR-10,
AR-11."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hacheck.impl.protocols.artemis.lock_manager.broker import COORDINATED, SEQUENCE_KEY, LockedBroker
from hacheck.impl.protocols.artemis.lock_manager.messages import ManagerAnswer
from hacheck.impl.protocols.artemis.lock_manager.states import Standing, standing
from hacheck.impl.protocols.artemis.replication import start
from hacheck.impl.protocols.artemis.replication.broker import EMPTY, NO_SEQUENCE
from hacheck.impl.protocols.artemis.replication.states import Cause, State

FOREVER = 1 << 62
"""A write that never comes: nothing is answered."""

CLAIMERS = (State.CLAIMING, State.GOING_ALONE)
REPLICA = (State.COPYING, State.IN_SYNC)
STOPPED_WITHOUT = (*CLAIMERS, State.ACTIVATING, State.ALONE, State.SYNCING, State.REPLICATED, State.HANDING_OVER)
"""States in which a broker that loses its lock, or the manager, stops."""


def begin(broker: LockedBroker) -> None:
    """The process starts. The first start of a primary has number 0."""
    broker.starting = True
    broker.link.confirmed_us = broker.process.now_us
    if broker.role == "primary" and broker.sequence == NO_SEQUENCE and broker.identity.history == EMPTY:
        node_id = COORDINATED if broker.options.coordination_id else broker.process.fresh()
        broker.identify(EMPTY, node_id=node_id)
        write_sequence(broker, 0, "first")
    else:
        broker.go(Cause.CHECK)


def write_sequence(broker: LockedBroker, value: int, purpose: str) -> None:
    """Writes the number of the data."""
    broker.process.write(((SEQUENCE_KEY, str(value).encode()),), f"{purpose}:{value}")


def first_written(broker: LockedBroker, token: int, value: str) -> None:
    """The first number is on disk."""
    broker.sequence = broker.on_disk = int(value)
    if broker.state is State.STARTING:
        broker.go(Cause.CHECK)


# ---- the lock, and a look at the number before and after -----------------------------------------------------------


def try_activate(broker: LockedBroker) -> None:
    """Looks at the coordinated number; the one that is stale need not ask for the lock."""
    if not broker.node_id:
        stale(broker)
    else:
        broker.link.ask("read", broker.node_id, "before")


def looked_before(broker: LockedBroker, answer: ManagerAnswer | None) -> None:
    """The first look."""
    if broker.state is not State.TRYING:
        return
    if answer is None:
        unavailable(broker)
    elif standing(broker.sequence, answer.value, broker.options) is Standing.STALE:
        stale(broker)
    else:
        broker.link.ask("lock", broker.node_id, "locked")


def locked(broker: LockedBroker, answer: ManagerAnswer | None) -> None:
    """The lock is there, or another has it."""
    link = broker.link
    if answer is not None and answer.done:
        link.held.add(broker.node_id)
        link.locked_number = link.number
    if broker.state is not State.TRYING:
        link.unlock(broker.node_id)
    elif answer is None:
        link.unlock(broker.node_id)  # it may be its own all the same
        unavailable(broker)
    elif answer.done:
        link.ask("read", broker.node_id, "again")
    else:
        refused(broker)


def looked_again(broker: LockedBroker, answer: ManagerAnswer | None) -> None:
    """The second look, under the lock. A claim that was not committed is repaired: since it was made nothing was
    acknowledged that is not here."""
    if broker.state is not State.TRYING:
        return
    if answer is None:
        broker.link.unlock(broker.node_id)
        unavailable(broker)
        return
    numbers = {"sequence": answer.value, "own": broker.sequence}
    broker.process.record("sequence_seen", {"of": broker.node_id, **numbers})
    match standing(broker.sequence, answer.value, broker.options):
        case Standing.STALE:
            broker.link.unlock(broker.node_id)
            stale(broker)
        case Standing.IN_SYNC:
            broker.go(Cause.LOCKED)
        case Standing.SELF_REPAIR:
            broker.link.ask("set", broker.node_id, "repaired", wanted=broker.sequence)
        case Standing.MAYBE_IN_SYNC:
            write_sequence(broker, -answer.value, "repair")


def repair_written(broker: LockedBroker, token: int, value: str) -> None:
    """The claim of another is on this disk."""
    broker.on_disk = int(value)
    if broker.state is State.TRYING:
        broker.sequence = broker.on_disk
        broker.link.ask("set", broker.node_id, "repaired", wanted=broker.sequence)


def repaired(broker: LockedBroker, answer: ManagerAnswer | None) -> None:
    """Both numbers are the same again."""
    if broker.state is not State.TRYING:
        return
    if answer is not None and answer.done:
        broker.go(Cause.LOCKED)
    else:
        broker.link.unlock(broker.node_id)
        broker.step_after(broker.options.retry_lock_us)


def stale(broker: LockedBroker) -> None:
    """There are newer data than these, or may be."""
    if broker.sequence != NO_SEQUENCE:
        broker.process.record("no_candidate", {"of": broker.node_id})
    broker.go(Cause.STALE)


def refused(broker: LockedBroker) -> None:
    """Another has the lock. A replica that wanted to take over starts again; the others wait for it."""
    if broker.taking_over:
        broker.process.line(221070, node_id=broker.node_id)
        broker.start_again("another has the lock")
    else:
        broker.step_after(broker.options.retry_lock_us)


def unavailable(broker: LockedBroker) -> None:
    """The manager does not answer: nobody begins to serve without it."""
    broker.process.record("lock_service_absent", {})
    if broker.taking_over:
        forget_if_buggy(broker)
        broker.start_again("the lock manager does not answer")
    else:
        forget_if_buggy(broker)
        broker.step_after(broker.options.retry_lock_us)


def forget_if_buggy(broker: LockedBroker) -> None:
    """AR-11."""
    if broker.options.bug_identity_forgotten and broker.role == "backup" and broker.node_id:
        broker.forget_identity()


# ---- to serve alone ------------------------------------------------------------------------------------------------


def claim(broker: LockedBroker) -> None:
    """First the number is claimed."""
    broker.next = broker.sequence + 1
    broker.link.ask("compare", broker.node_id, "claimed", broker.sequence, -broker.next)


def claim_alone(broker: LockedBroker) -> None:
    """A server whose replica is lost answers nobody before the next number is its own."""
    broker.alone_token = FOREVER
    claim(broker)


def claimed(broker: LockedBroker, answer: ManagerAnswer | None) -> None:
    """Then it is written."""
    if broker.state not in CLAIMERS:
        return
    if not broker.options.bug_lock_alone and (answer is None or not answer.done):
        stop_without(broker, "the next number cannot be claimed")
    elif not broker.link.has(broker.node_id):
        stop_without(broker, "the lock is lost")
    else:
        broker.process.record("sequence_claimed", {"of": broker.node_id, "sequence": broker.next})
        write_sequence(broker, broker.next, "claim")


def claim_written(broker: LockedBroker, token: int, value: str) -> None:
    """Then it is committed."""
    broker.on_disk = int(value)
    if broker.state in CLAIMERS and broker.on_disk == broker.next:
        broker.sequence = broker.on_disk
        broker.link.ask("compare", broker.node_id, "committed", -broker.next, broker.next)


def committed(broker: LockedBroker, answer: ManagerAnswer | None) -> None:
    """Now nobody else has data as new as these."""
    if broker.state not in CLAIMERS:
        return
    if not broker.options.bug_lock_alone and (answer is None or not answer.done):
        stop_without(broker, "the claim cannot be committed")
        return
    broker.process.record("sequence_incremented", {"of": broker.node_id, "sequence": broker.sequence})
    if not broker.link.has(broker.node_id):
        stop_without(broker, "the lock is lost")
        return
    alone = broker.state is State.GOING_ALONE
    if alone:
        broker.alone_token = 0
    broker.go(Cause.CLAIMED)


def activated(broker: LockedBroker, token: int, rest: str) -> None:
    """The data are loaded; that may have taken long."""
    if broker.state is State.ACTIVATING and token == broker.alone_token:
        if not broker.link.has(broker.node_id):
            stop_without(broker, "the lock was lost while the data were loaded")
            return
        broker.process.record("role_assumed", {"of": broker.node_id})
    start.activated(broker, token, rest)


def stop_without(broker: LockedBroker, reason: str) -> None:
    """The one that must not serve ends."""
    broker.give_up(reason)


# ---- the manager is lost -------------------------------------------------------------------------------------------


def watch_manager(broker: LockedBroker) -> None:
    """Shows that it lives, and looks whether the manager does."""
    broker.link.ping()
    if broker.options.bug_listeners_silent or broker.link.reachable():
        return
    if broker.state in STOPPED_WITHOUT:
        broker.process.record("lock_service_lost", {})
        stop_without(broker, "the lock manager does not answer")
    elif broker.state in REPLICA:
        broker.process.record("lock_service_lost", {})
        forget_if_buggy(broker)
        broker.start_again("the lock manager does not answer")


def lock_gone(broker: LockedBroker) -> None:
    """The manager says that the lock is another's, or nobody's."""
    if broker.state in STOPPED_WITHOUT and not broker.options.bug_listeners_silent:
        stop_without(broker, "the lock is lost")


ANSWERED: Mapping[str, Callable[[LockedBroker, ManagerAnswer | None], None]] = {
    "before": looked_before,
    "locked": locked,
    "again": looked_again,
    "repaired": repaired,
    "claimed": claimed,
    "committed": committed,
}
"""What is done when the manager answers, or does not."""
