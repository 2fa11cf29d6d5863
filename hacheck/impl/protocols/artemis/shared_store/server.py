"""A broker over a shared store: lock files decide who serves, a byte in them informs the others what they are to do.

This module takes the inputs and knows who is to have them; `states` is the protocol as a table, and
`passive` and `active` say what is done in each state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hacheck.impl.node import (
    Effect,
    Fired,
    Input,
    LockAnswered,
    LockLost,
    Message,
    Name,
    Received,
    Setup,
    SharedRead,
    Started,
    Unreachable,
    WriteFailed,
    Written,
)
from hacheck.impl.protocols.artemis.messages import (
    BackupAnnounced,
    CreateSession,
    SessionClosed,
    SessionRefused,
    StopServer,
)
from hacheck.impl.protocols.artemis.session_server import REQUESTS, Server
from hacheck.impl.protocols.artemis.shared_store import active, passive
from hacheck.impl.protocols.artemis.shared_store.broker import BACKUP_LOCK, PRIMARY_LOCK, Broker, Tables
from hacheck.impl.protocols.artemis.shared_store.states import Cause, State
from hacheck.impl.system import Member

OWNING = (
    *(State.EXAMINING, State.LOADING, State.ACTIVATING, State.ACTIVE),
    *(State.HANDING_OVER, State.SCALING, State.STOPPING),
)
"""The states in which the primary lock is this one's."""


def tick(broker: Broker) -> None:
    """What is done all the time, in whatever state."""
    broker.process.set_timer("tick", broker.options.check_period_us)
    if broker.announcing:
        broker.announce()
    if broker.server is not None and broker.state is State.ACTIVE:
        oldest = broker.process.now_us - broker.options.connection_ttl_us
        backups = tuple(name for name, heard_us in sorted(broker.announced.items()) if heard_us >= oldest)
        broker.server.connectors = (broker.process.member, *backups)
        broker.server.check_sessions()


def step(broker: Broker) -> None:
    """A state's own time has come."""
    broker.tables.steps[broker.state](broker)


TABLES = Tables(
    enter={
        State.STARTING: passive.begin,
        State.WAITING_FOR_PRIMARY_LOCK: passive.wait_for_primary_lock,
        State.WAITING_FOR_BACKUP_LOCK: passive.wait_for_backup_lock,
        State.PASSIVE: passive.wait_passively,
        State.EXAMINING: passive.examine,
        State.LOADING: active.load,
        State.ACTIVATING: active.activate,
        State.ACTIVE: active.serve,
        State.HANDING_OVER: active.finish,
        State.HANDED_OVER: active.hand_over,
        State.STOPPING: active.finish,
        State.STOPPED: active.stop,
    },
    timers={"tick": tick, "step": step, "monitor": active.monitor, "failback": active.check_failback},
    steps={
        State.STARTING: passive.begin,
        State.WAITING_FOR_PRIMARY_LOCK: passive.ask_for_primary_lock,
        State.WAITING_FOR_BACKUP_LOCK: passive.ask_for_backup_lock,
        State.PASSIVE: passive.poll,
        State.HANDED_OVER: active.look_for_primary,
    },
    read={
        "node-id": passive.node_id_read,
        "poll": passive.polled,
        "examine": passive.examined,
        "mark": passive.mark_looked_for,
        "owner": active.owner_read,
        "activation": active.activation_read,
        "file": active.file_read,
        "monitor": active.lock_file_confirmed,
        "verify": active.verified,
        "failback": active.failback_checked,
        "handed-over": active.primary_looked_for,
    },
    written={
        "failing-back": passive.marked,
        "activation": active.activation_written,
        "folder": active.folder_written,
        "live": active.live_written,
        "paused": active.paused_written,
    },
    locks={
        (State.STARTING, PRIMARY_LOCK): passive.probed,
        (State.WAITING_FOR_PRIMARY_LOCK, PRIMARY_LOCK): passive.primary_lock_answered,
        (State.WAITING_FOR_BACKUP_LOCK, BACKUP_LOCK): passive.backup_lock_answered,
        (State.PASSIVE, PRIMARY_LOCK): passive.passive_lock_answered,
        (State.ACTIVE, PRIMARY_LOCK): active.lock_confirmed,
    },
)


class SharedStoreBroker:
    """One broker of a live-backup group over a shared store."""

    def __init__(
        self, member: Member, members: tuple[Member, ...], setup: Setup, serves_with: type[Server] = Server
    ) -> None:
        self.broker = Broker(member, members, setup, TABLES, serves_with)

    @property
    def serving(self) -> bool:
        """Whether clients are served here."""
        return self.broker.state is State.ACTIVE

    @property
    def server(self) -> Server | None:
        """What clients are served with, while they are."""
        return self.broker.server if self.broker.state is State.ACTIVE else None

    def handle(self, given: Input, now_us: int) -> list[Effect]:
        """What is to be done about an input."""
        return self.broker.process.dispatch(INPUTS, self.broker, given, now_us)


def _started(broker: Broker, given: Started) -> None:
    broker.process.set_timer("tick", broker.options.check_period_us)
    if broker.role == "primary":
        broker.process.line(221006)
    passive.begin(broker)


def _received(broker: Broker, given: Received) -> None:
    message = given.message
    if isinstance(message, REQUESTS):
        if broker.server is not None and broker.state is State.ACTIVE:
            broker.server.request(given.sender, message)
        else:
            refuse(broker, given.sender, message)
    elif isinstance(message, BackupAnnounced):
        broker.announced[given.sender] = broker.process.now_us
    elif isinstance(message, StopServer):
        broker.stop_with_failover = message.failover or broker.options.failover_on_shutdown
        if broker.state is not State.STOPPING:
            broker.go(Cause.STOP)


def refuse(broker: Broker, sender: Name, message: Message) -> None:
    """Nobody is served here."""
    if isinstance(message, CreateSession):
        broker.process.send(sender, SessionRefused(message.session, ()))
    else:
        broker.process.send(sender, SessionClosed(message.session))  # type: ignore[attr-defined]


def _unreachable(broker: Broker, given: Unreachable) -> None:
    broker.announced.pop(given.peer, None)
    if broker.server is not None:
        broker.server.forget(given.peer)


def _fired(broker: Broker, given: Fired) -> None:
    broker.tables.timers[given.timer](broker)


def _written(broker: Broker, given: Written) -> None:
    process = broker.process
    counts = process.done(given.token)
    token = given.token
    while counts and token:
        purpose = process.purposes.pop(token, "")
        if broker.server is not None:
            active.data_written(broker, broker.server)
        if purpose:
            broker.tables.written[purpose](broker)
        token = process.next_done()


def _write_failed(broker: Broker, given: WriteFailed) -> None:
    purpose = broker.process.purposes.pop(given.token, "")
    if purpose == "failing-back" and broker.state is State.WAITING_FOR_PRIMARY_LOCK:
        broker.process.done(given.token)
        broker.step_after(broker.options.lock_error_wait_us)
    else:
        broker.fail(f"a write to the store failed: {given.reason}")


def _lock_answered(broker: Broker, given: LockAnswered) -> None:
    broker.trying.discard(given.lock)
    if given.granted:
        broker.holding.add(given.lock)
    answer = broker.tables.locks.get((broker.state, given.lock))
    if answer is not None:
        answer(broker, given)
    elif given.granted and not of_use(broker, given.lock):
        broker.unlock(given.lock)


def of_use(broker: Broker, lock: str) -> bool:
    """Whether a lock that was granted when nobody waited for it is of use all the same."""
    return broker.state in (State.PASSIVE, State.EXAMINING) if lock == BACKUP_LOCK else broker.state in OWNING


def _lock_lost(broker: Broker, given: LockLost) -> None:
    broker.holding.discard(given.lock)
    if given.lock == BACKUP_LOCK:
        if broker.state is State.PASSIVE:
            broker.go(Cause.BACKUP_LOCK_LOST)
    elif broker.state is State.EXAMINING:
        broker.go(Cause.NOT_MINE)
    elif broker.state in OWNING and (broker.state is not State.ACTIVE or active.monitored(broker)):
        broker.fail("the primary lock is lost")


def _shared_read(broker: Broker, given: SharedRead) -> None:
    purpose = broker.process.purposes.pop(given.token)
    if broker.expected.get(purpose) == given.token:
        del broker.expected[purpose]
        word, _, rest = purpose.partition(":")
        broker.tables.read[word](broker, rest, given)


INPUTS: Mapping[type[Input], Callable[[Broker, Any], None]] = {
    Started: _started,
    Received: _received,
    Unreachable: _unreachable,
    Fired: _fired,
    Written: _written,
    WriteFailed: _write_failed,
    LockAnswered: _lock_answered,
    LockLost: _lock_lost,
    SharedRead: _shared_read,
}
