"""What a broker over a shared store does while another one serves, or before anybody does.

Source: broker facts 2.2, "Primary role" up to `WAIT_LOCK`, "Backup role" up to `PASSIVE`.
"""

from __future__ import annotations

from hacheck.impl.node import LockAnswered, SharedRead
from hacheck.impl.protocols.artemis.shared_store.broker import (
    BACKUP_LOCK,
    FAILING_BACK,
    FIRST_START,
    LIVE,
    NODE_ID_KEY,
    NOT_STARTED,
    PRIMARY_LOCK,
    STATE_KEY,
    STORE,
    Broker,
)
from hacheck.impl.protocols.artemis.shared_store.states import Cause, State


def begin(broker: Broker) -> None:
    """A start, of the process or after a hand-over."""
    broker.server = None
    broker.announcing = False
    broker.failing_back_since_us = -1
    broker.read(NODE_ID_KEY, "node-id")


def node_id_read(broker: Broker, _: str, given: SharedRead) -> None:
    """Next: the role."""
    if given.failed:
        broker.step_after(broker.options.lock_error_wait_us)
        return
    broker.node_id = (given.value or b"").decode()
    if broker.role == "primary":
        broker.try_lock(PRIMARY_LOCK)
    else:
        broker.go(Cause.STARTED_AS_BACKUP)


def probed(broker: Broker, given: LockAnswered) -> None:
    """A primary knows whether somebody else serves; if so, it is a backup to the others for as long as it waits."""
    if not given.granted:
        announce(broker)
    broker.go(Cause.STARTED_AS_PRIMARY)


def announce(broker: Broker) -> None:
    """From now on the others are informed that this one waits."""
    broker.announcing = True
    broker.process.line(221031, node_id=broker.node_id)
    broker.announce()


def wait_for_primary_lock(broker: Broker) -> None:
    """The mark that it wants to fail back comes first, the one that holds the lock."""
    broker.process.line(221034)
    broker.marked = False
    mark(broker)


def mark(broker: Broker) -> None:
    """Sets the state byte to `F`."""
    broker.process.write(((STATE_KEY, FAILING_BACK),), "failing-back", STORE)


def marked(broker: Broker) -> None:
    """The mark is there; now the lock."""
    if broker.state is not State.WAITING_FOR_PRIMARY_LOCK:
        return
    broker.marked = True
    if PRIMARY_LOCK in broker.holding or broker.options.bug_lock_skipped:
        obtain_primary_lock(broker)
    else:
        broker.try_lock(PRIMARY_LOCK)


def primary_lock_answered(broker: Broker, given: LockAnswered) -> None:
    """A primary asks again until it has the lock. It may have lost it since it was started: then a backup serves that
    has not heard of it."""
    if given.granted:
        obtain_primary_lock(broker)
        return
    if not broker.announcing:
        announce(broker)
    broker.step_after(broker.options.lock_retry_us)


def obtain_primary_lock(broker: Broker) -> None:
    """The primary is next to serve."""
    broker.process.line(221035)
    broker.go(Cause.PRIMARY_LOCK)


def ask_for_primary_lock(broker: Broker) -> None:
    """The next try of a primary; one whose mark could not be written begins with that."""
    if not broker.marked:
        mark(broker)
    elif broker.options.bug_failing_back_wedge:
        broker.try_lock(PRIMARY_LOCK)
    else:
        broker.read(STATE_KEY, "mark")


def mark_looked_for(broker: Broker, _: str, given: SharedRead) -> None:
    """A backup may have given this one up while it was silent, and have taken over: then the mark is set again, or
    nobody would ever make way."""
    if given.failed or broker.state_byte(given) == FAILING_BACK:
        broker.try_lock(PRIMARY_LOCK)
    else:
        mark(broker)


def wait_for_backup_lock(broker: Broker) -> None:
    """One backup at a time waits for the primary lock; the others wait for its place."""
    broker.process.line(221032)
    ask_for_backup_lock(broker)


def ask_for_backup_lock(broker: Broker) -> None:
    """The next try of a backup."""
    broker.try_lock(BACKUP_LOCK)


def backup_lock_answered(broker: Broker, given: LockAnswered) -> None:
    """It is this one's turn."""
    if not given.granted:
        broker.step_after(broker.options.lock_retry_us)
        return
    broker.process.line(221033)
    broker.process.line(221109, server=broker.node_id)
    announce(broker)
    broker.go(Cause.BACKUP_LOCK)


def wait_passively(broker: Broker) -> None:
    """Looks at the state byte, at once or, where the lock was not meant for this one, later."""
    if PRIMARY_LOCK in broker.holding:
        broker.unlock(PRIMARY_LOCK)
        broker.step_after(broker.options.poll_us)
    else:
        poll(broker)


def poll(broker: Broker) -> None:
    """Reads the state byte."""
    broker.read(STATE_KEY, "poll")


def polled(broker: Broker, _: str, given: SharedRead) -> None:
    """Nobody takes over before somebody has served."""
    if given.failed:
        broker.step_after(broker.options.lock_error_wait_us)
    elif broker.state_byte(given) in (None, FIRST_START, NOT_STARTED):
        broker.step_after(broker.options.poll_us)
    else:
        broker.try_lock(PRIMARY_LOCK)


def passive_lock_answered(broker: Broker, given: LockAnswered) -> None:
    """With the lock it looks again; without, somebody serves, or is about to."""
    if given.granted:
        broker.go(Cause.PRIMARY_LOCK)
    else:
        broker.failing_back_since_us = -1
        broker.step_after(broker.options.lock_retry_us)


def examine(broker: Broker) -> None:
    """Holding the lock, it reads what the one that held it last has left."""
    broker.read(STATE_KEY, "examine")


def examined(broker: Broker, _: str, given: SharedRead) -> None:
    """Takes over from one that served; makes way for one that is paused, or comes back and shows that it lives."""
    byte = None if given.failed else broker.state_byte(given)
    broker.retaking = byte == FAILING_BACK and primary_has_given_up(broker)
    broker.go(Cause.MINE if byte == LIVE or broker.retaking else Cause.NOT_MINE)


def primary_has_given_up(broker: Broker) -> bool:
    """Whether the mark of a primary that wants to fail back stands there without a sign of life from it, for long."""
    now = broker.process.now_us
    if broker.failing_back_since_us < 0:
        broker.failing_back_since_us = now
    if broker.options.bug_failing_back_wedge:
        return False
    return now - max(broker.failing_back_since_us, broker.primary_heard_us()) >= broker.options.failback_wait_us
