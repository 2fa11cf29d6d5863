"""What a broker over a shared store does from the moment the primary lock is its own, until it makes way.

Source: broker facts 2.2, `ACTIVATING` and after, A-W1 to A-W4 and A-W8; HornetQ manual, "Failing Back to live Server".
"""

from __future__ import annotations

from msgspec.structs import replace

from hacheck.impl.kit.storage import decode, encode
from hacheck.impl.node import LockAnswered, SharedRead
from hacheck.impl.protocols.artemis.journal import VERSION
from hacheck.impl.protocols.artemis.session_server import Server
from hacheck.impl.protocols.artemis.shared_store.broker import (
    ACTIVATION_KEY,
    BACKUP_LOCK,
    FAILING_BACK,
    LIVE,
    NODE_ID_KEY,
    PAUSED,
    PRIMARY_LOCK,
    STATE_KEY,
    STORE,
    Activation,
    Broker,
)
from hacheck.impl.protocols.artemis.shared_store.journal_reader import JournalReader
from hacheck.impl.protocols.artemis.shared_store.states import Cause, State
from hacheck.impl.system import Refused

WATCHED = (State.ACTIVE, State.SCALING)
"""The states in which a broker looks after its lock."""

# ---- activation ----------------------------------------------------------------------------------------------------


def load(broker: Broker) -> None:
    """The lock is there; whose store is it, and who activated before?"""
    broker.loading = None
    broker.read(NODE_ID_KEY, "owner")


def owner_read(broker: Broker, _: str, given: SharedRead) -> None:
    """The node may have got its id after this broker started."""
    if given.failed:
        broker.fail(f"the store cannot be read: {given.failed}")
        return
    broker.node_id = (given.value or b"").decode()
    broker.read(ACTIVATION_KEY, "activation")


def activation_read(broker: Broker, _: str, given: SharedRead) -> None:
    """Puts its own name there, before it reads anything of the journal."""
    old = decoded(broker, given)
    if broker.state is State.STOPPED:
        return
    broker.activation = Activation(
        VERSION,
        old.count + 1 if old is not None else 1,
        f"{broker.process.member}.{broker.process.incarnation}",
        old.folder if old is not None else "",
        broker.process.now_us,
    )
    changes: list[tuple[str, bytes | None]] = [(ACTIVATION_KEY, encode(broker.activation))]
    if not broker.node_id:
        broker.node_id = broker.process.fresh()
        changes.append((NODE_ID_KEY, broker.node_id.encode()))
    if broker.retaking:
        broker.retaking = False
        changes.append((STATE_KEY, LIVE))
    broker.process.write(tuple(changes), "activation", STORE)


def decoded(broker: Broker, given: SharedRead) -> Activation | None:
    """Who activated last, or `None`. What cannot be read ends the process."""
    if given.failed:
        broker.fail(f"the store cannot be read: {given.failed}")
    elif given.value is not None:
        try:
            return decode(given.value, Activation, "lock file")
        except Refused as refused:
            broker.fail(str(refused))
    return None


def activation_written(broker: Broker) -> None:
    """Now the journal."""
    if broker.state is State.LOADING and broker.activation is not None:
        broker.loading = JournalReader(broker.options, broker.activation.folder)
        read_files(broker, broker.loading)


def read_files(broker: Broker, loading: JournalReader) -> None:
    """Asks for what is wanted next."""
    for key in loading.wanted:
        broker.read(key, f"file:{key}")


def file_read(broker: Broker, key: str, given: SharedRead) -> None:
    """One file more."""
    loading = broker.loading
    assert loading is not None
    if given.failed:
        broker.fail(f"the store cannot be read: {given.failed}")
        return
    try:
        complete = loading.got(key, given.value)
    except Refused as refused:
        broker.fail(str(refused))
        return
    if loading.problem:
        broker.fail(loading.problem)
    elif complete and loading.wanted:
        read_files(broker, loading)
    elif complete:
        files_loaded(broker, loading)


def files_loaded(broker: Broker, loading: JournalReader) -> None:
    """Writes what was read as one; where activations have files of their own, into those."""
    assert broker.activation is not None
    folder = broker.activation.folder
    if broker.options.verify_before_answer:
        folder = f"{broker.activation.count}.{broker.activation.holder}/"
        broker.activation = replace(broker.activation, folder=folder)
    changes = loading.journal.open(folder)
    broker.process.write((*changes, (ACTIVATION_KEY, encode(broker.activation))), "folder", STORE)


def folder_written(broker: Broker) -> None:
    """The journal is there."""
    if broker.state is State.LOADING:
        broker.go(Cause.LOADED)


def activate(broker: Broker) -> None:
    """A primary says that it serves; for a backup that took over the byte says so already."""
    if broker.role == "primary":
        broker.process.write(((STATE_KEY, LIVE),), "live", STORE)
    else:
        broker.go(Cause.ANNOUNCED_ACTIVE)


def live_written(broker: Broker) -> None:
    """All is ready for clients."""
    if broker.state is State.ACTIVATING:
        broker.go(Cause.ANNOUNCED_ACTIVE)


# ---- serving -------------------------------------------------------------------------------------------------------


def serve(broker: Broker) -> None:
    """Opens to clients, and looks after the lock from now on."""
    assert broker.loading is not None
    broker.server = broker.serves_with(broker.process, broker, broker.loading.journal, broker.node_id, broker.options)
    broker.loading = None
    broker.announcing = False
    broker.verifying = 0
    broker.unconfirmed.clear()
    broker.unlock(BACKUP_LOCK)
    if broker.role == "primary":
        broker.process.line(221007, node_id=broker.node_id)
        broker.process.line(221001, server=broker.node_id)
    else:
        broker.process.line(221010, node_id=broker.node_id)
    if monitored(broker):
        monitor(broker)
    if broker.role == "backup" and broker.options.allow_failback:
        broker.process.set_timer("failback", broker.options.failback_check_us)


def monitored(broker: Broker) -> bool:
    """Whether this one looks after its lock."""
    options = broker.options
    if options.bug_backup_unmonitored and broker.role == "backup":
        return False
    return not (options.bug_lock_unmonitored or options.bug_lock_checked_locally or options.bug_lock_skipped)


def monitor(broker: Broker) -> None:
    """Asks the lock's host for the lock that it has, and the store who activated last; both must answer in time."""
    if broker.state not in WATCHED:
        return
    if broker.unconfirmed:
        broker.fail(f"no answer about {' and '.join(sorted(broker.unconfirmed))}")
        return
    broker.unconfirmed.update(("the lock", "the lock file"))
    broker.try_lock(PRIMARY_LOCK)
    broker.read(ACTIVATION_KEY, "monitor")
    broker.process.set_timer("monitor", broker.options.monitor_us)


def lock_confirmed(broker: Broker, given: LockAnswered) -> None:
    """The lock's host has spoken."""
    broker.unconfirmed.discard("the lock")
    if not given.granted and monitored(broker):
        broker.fail(f"the primary lock is lost: {given.reason or 'held by another'}")


def lock_file_confirmed(broker: Broker, _: str, given: SharedRead) -> None:
    """The store has spoken."""
    broker.unconfirmed.discard("the lock file")
    last = decoded(broker, given)
    if broker.state in WATCHED and taken_over(broker, last):
        broker.fail("another broker has activated")


def taken_over(broker: Broker, last: Activation | None) -> bool:
    """Whether somebody has activated since this one did."""
    own = broker.activation
    assert own is not None
    if last is None:
        return True  # the lock file is gone
    if broker.options.bug_takeover_by_clock:
        return last.stamp_us > own.stamp_us
    return (last.count, last.holder) != (own.count, own.holder)


def data_written(broker: Broker, server: Server) -> None:
    """Writes are done: their answers may go out, once the store has confirmed it where that is wanted."""
    if not broker.options.verify_before_answer:
        server.release(broker.process.written)
    elif not broker.verifying and not server.idle():
        broker.verifying = broker.process.written
        broker.read(ACTIVATION_KEY, "verify")
    if server.idle() and broker.state in (State.HANDING_OVER, State.STOPPING):
        drained(broker)


def verified(broker: Broker, _: str, given: SharedRead) -> None:
    """What was written before this was read has been seen by the one that activates later."""
    safe, broker.verifying = broker.verifying, 0
    last = decoded(broker, given)
    if broker.state is State.STOPPED or broker.server is None:
        return
    if taken_over(broker, last):
        broker.fail("another broker has activated")
        return
    broker.server.release(safe)
    if broker.process.written > safe or broker.server.idle():
        data_written(broker, broker.server)


# ---- making way ----------------------------------------------------------------------------------------------------


def check_failback(broker: Broker) -> None:
    """A backup that serves looks for the mark of its primary."""
    if broker.state is State.ACTIVE:
        broker.read(STATE_KEY, "failback")
        broker.process.set_timer("failback", broker.options.failback_check_us)


def failback_checked(broker: Broker, _: str, given: SharedRead) -> None:
    """It makes way for a primary that is there."""
    if given.failed or broker.state_byte(given) != FAILING_BACK:
        return
    heard = broker.primary_heard_us()
    if broker.options.bug_failing_back_wedge:
        there = heard >= 0
    else:
        there = heard >= 0 and broker.process.now_us - heard < broker.options.failback_wait_us
    if there:
        broker.process.line(221008, node_id=broker.node_id)
        broker.go(Cause.FAILBACK)


def finish(broker: Broker) -> None:
    """Serves no more; what was begun is finished."""
    assert broker.server is not None
    broker.server.held.clear()
    if broker.server.idle():
        drained(broker)
    elif broker.options.verify_before_answer:
        broker.verifying = broker.process.written
        broker.read(ACTIVATION_KEY, "verify")


def drained(broker: Broker) -> None:
    """The last answer is out."""
    assert broker.server is not None
    broker.server.disconnect()
    broker.server = None
    if broker.state is State.HANDING_OVER or broker.stop_with_failover:
        broker.go(Cause.DRAINED)
    else:
        broker.process.write(((STATE_KEY, PAUSED),), "paused", STORE)


def paused_written(broker: Broker) -> None:
    """The backup will stay passive."""
    if broker.state is State.STOPPING:
        broker.go(Cause.DRAINED)


def hand_over(broker: Broker) -> None:
    """Lets the lock go, and waits until the primary serves."""
    broker.handed_over_us = broker.process.now_us
    broker.process.line(221002, reason="failback")
    broker.unlock(PRIMARY_LOCK)
    broker.step_after(broker.options.failback_check_us)


def look_for_primary(broker: Broker) -> None:
    """Reads the state byte."""
    broker.read(STATE_KEY, "handed-over")


def primary_looked_for(broker: Broker, _: str, given: SharedRead) -> None:
    """Starts again as a backup when the primary serves, or gives no sign of life."""
    options = broker.options
    if not given.failed and broker.state_byte(given) == LIVE:
        restart(broker, Cause.PRIMARY_SERVES)
        return
    since = max(broker.handed_over_us, broker.primary_heard_us())
    if broker.process.now_us - since >= options.failback_wait_us and not options.bug_failing_back_wedge:
        restart(broker, Cause.PRIMARY_GONE)
    else:
        broker.step_after(options.failback_check_us)


def restart(broker: Broker, cause: Cause) -> None:
    """Starts again, if it may."""
    broker.go(cause if broker.options.restart_backup else Cause.STOP)


def stop(broker: Broker) -> None:
    """Ends the process, which gives its locks back."""
    if broker.failure:
        broker.process.critical(broker.failure)
    else:
        broker.process.halt("stopped by an operator")
