"""A broker with replication and a lock manager: its node, and what it does otherwise than one that votes.

Source: broker facts 2.9; 2.4, 2.5 and 2.8 for what is as with votes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hacheck.impl.node import Effect, Input, Name, Setup, Started, Unreachable
from hacheck.impl.protocols.artemis.lock_manager import activation
from hacheck.impl.protocols.artemis.lock_manager.activation import ANSWERED
from hacheck.impl.protocols.artemis.lock_manager.broker import SEQUENCE_KEY, LockedBroker
from hacheck.impl.protocols.artemis.lock_manager.messages import ManagerAnswer, ManagerPong
from hacheck.impl.protocols.artemis.lock_manager.states import LOCKED_BROKER, Standing, standing
from hacheck.impl.protocols.artemis.messages import (
    BackupAnnounced,
    FailOverTaken,
    SyncDone,
    SyncStarted,
    UpToDate,
)
from hacheck.impl.protocols.artemis.replication import active, backup, cluster
from hacheck.impl.protocols.artemis.replication import server as replication
from hacheck.impl.protocols.artemis.replication import start as replication_starting
from hacheck.impl.protocols.artemis.replication.broker import NO_SEQUENCE, Tables
from hacheck.impl.protocols.artemis.replication.states import Cause, State
from hacheck.impl.system import Member

# ---- a stale one becomes a replica ---------------------------------------------------------------------------------


def locate(broker: LockedBroker) -> None:
    """Looks for the one that serves. A primary will ask for its place back."""
    broker.failing_back = broker.role == "primary" and not broker.options.coordination_id
    backup.locate(broker)


def locate_again(broker: LockedBroker) -> None:
    """A new round; and a look at the number, which an operator may have set."""
    if broker.sequence != NO_SEQUENCE and broker.node_id:
        broker.link.ask("read", broker.node_id, "look")
    backup.locate_again(broker)


def looked(broker: LockedBroker, answer: ManagerAnswer | None) -> None:
    """Whether its data are the newest after all."""
    if broker.state is not State.LOCATING or answer is None:
        return
    if standing(broker.sequence, answer.value, broker.options) is not Standing.STALE:
        broker.go(Cause.CANDIDATE)


def taken(broker: LockedBroker, sender: Name, message: SyncStarted) -> None:
    """Only now, when somebody serves newer data, its own are laid aside, and its number with them."""
    if broker.state is State.REGISTERING and message.channel == broker.channel:
        broker.starting = False
        changes: list[tuple[str, bytes | None]] = [(SEQUENCE_KEY, None)]
        if broker.on_disk != NO_SEQUENCE:
            changes.extend(backup.lay_aside(broker))
        else:  # half a copy is no data
            changes.extend((key, None) for key in broker.files)
            broker.files = {}
        broker.process.write(tuple(changes))
        broker.sequence = broker.on_disk = NO_SEQUENCE
    backup.sync_started(broker, sender, message)


def sync_done(broker: LockedBroker, sender: Name, message: SyncDone) -> None:
    """The final question brings the number of what was copied."""
    link = broker.primary
    if link is None or link.name != message.channel or broker.state is not State.COPYING:
        backup.sync_done(broker, sender, message)
    elif message.sequence <= 0:
        broker.give_up("the active broker has no activation sequence")
    else:
        link.sequence = message.sequence
        backup.sync_done(broker, sender, message)


def in_sync(broker: LockedBroker, token: int, channel: str) -> None:
    """The copy is good, and has a number, in memory first."""
    link = broker.primary
    if link is None or link.name != channel or broker.state is not State.COPYING:
        return
    link.mirrored.clear()
    broker.up_to_date = True
    broker.sequence = link.sequence
    process = broker.process
    process.line(221024, server=process.member, primary=link.primary, node_id=link.node_id)
    broker.go(Cause.UP_TO_DATE)
    process.send(link.primary, UpToDate(link.name))
    process.write(((SEQUENCE_KEY, str(link.sequence).encode()),), f"announce:{link.name}")
    broker.on_disk = link.sequence


def announce(broker: LockedBroker, token: int, channel: str) -> None:
    """The number is on disk: the cluster is informed of this backup."""
    link = broker.primary
    if link is not None and link.name == channel and broker.state is State.IN_SYNC:
        broker.process.line(221031, node_id=link.node_id)
        broker.broadcast(BackupAnnounced(link.node_id))


# ---- who serves makes way, or stops --------------------------------------------------------------------------------


def give_way(broker: LockedBroker) -> None:
    """The lock is given back before the other is informed; then this one waits until the other has claimed a number."""
    broker.gave_way_us = broker.process.now_us
    broker.link.unlock(broker.node_id)
    broker.step_after(broker.options.retry_lock_us)


def look_for_claim(broker: LockedBroker) -> None:
    """Has it?"""
    broker.link.ask("read", broker.node_id, "gave-way")


def looked_for_claim(broker: LockedBroker, answer: ManagerAnswer | None) -> None:
    """It has, or there was time enough for it: this one competes again, as a backup."""
    if broker.state is not State.HANDED_OVER:
        return
    waited_us = broker.process.now_us - broker.gave_way_us
    if (answer is not None and answer.value != broker.sequence) or waited_us >= broker.options.claim_wait_us:
        active.restart(broker, Cause.HANDED_OVER)
    else:
        broker.step_after(broker.options.retry_lock_us)


def taken_over(broker: LockedBroker, sender: Name, message: FailOverTaken) -> None:
    """What counts is the number that it claims."""


def stop(broker: LockedBroker) -> None:
    """Ends the process, and gives the lock back first."""
    for node_id in sorted(broker.link.held):
        broker.link.unlock(node_id)
    cluster.stop(broker)


# ---- the manager's messages ----------------------------------------------------------------------------------------


def pong(broker: LockedBroker, sender: Name, message: ManagerPong) -> None:
    """The session lives. A lock that it does not have any more is lost; one that it has, and this broker knows nothing
    of, was requested in vain, and is given back."""
    link = broker.link
    if message.session != link.session:
        return
    link.confirm(message.number)
    gone = sorted(node_id for node_id in link.held if node_id not in message.holds)
    if gone and link.then != "locked" and message.number >= link.locked_number:
        link.held.difference_update(gone)
        activation.lock_gone(broker)


def manager_answered(broker: LockedBroker, sender: Name, message: ManagerAnswer) -> None:
    """What came of an operation."""
    if message.session != broker.link.session:
        return
    then = broker.link.answered(message)
    if then:
        ANSWERS[then](broker, message)


def manager_silent(broker: LockedBroker) -> None:
    """No answer in time."""
    then = broker.link.over()
    if then:
        ANSWERS[then](broker, None)


ANSWERS: Mapping[str, Callable[[LockedBroker, ManagerAnswer | None], None]] = {
    **ANSWERED,
    "look": looked,
    "gave-way": looked_for_claim,
}

TABLES = Tables(
    enter={
        State.STARTING: activation.begin,
        State.TRYING: activation.try_activate,
        State.CLAIMING: activation.claim,
        State.GOING_ALONE: activation.claim_alone,
        State.ACTIVATING: replication_starting.activate,
        State.ALONE: active.serve_alone,
        State.SYNCING: active.copy,
        State.REPLICATED: active.enter_replicated,
        State.HANDING_OVER: active.hand_over,
        State.HANDED_OVER: give_way,
        State.LOCATING: locate,
        State.REGISTERING: backup.register,
        State.COPYING: replication.nothing,
        State.IN_SYNC: replication.nothing,
        State.STOPPED: stop,
    },
    steps={
        State.TRYING: activation.try_activate,
        State.SYNCING: active.copy_due,
        State.REPLICATED: active.announcement_due,
        State.HANDED_OVER: look_for_claim,
        State.LOCATING: locate_again,
        State.REGISTERING: backup.not_taken,
        State.IN_SYNC: backup.stop_called_due,
    },
    written={
        "first": activation.first_written,
        "repair": activation.repair_written,
        "claim": activation.claim_written,
        "activation": activation.activated,
        "files": backup.files_written,
        "change": backup.change_written,
        "in-sync": in_sync,
        "announce": announce,
    },
    timers={
        "tick": cluster.tick,
        "step": replication.step,
        "manager": manager_silent,
        "manager-ping": activation.watch_manager,
    },
    messages={
        **{kind: handler for kind, handler in replication.MESSAGES.items() if kind not in replication.OF_VOTES},
        SyncStarted: taken,
        SyncDone: sync_done,
        FailOverTaken: taken_over,
        ManagerPong: pong,
        ManagerAnswer: manager_answered,
    },
    states=LOCKED_BROKER,
    votes=False,
)


class LockManagedBroker(replication.ReplicationBroker):
    """One broker of a live-backup group with replication and a lock manager."""

    broker: LockedBroker

    def __init__(self, member: Member, members: tuple[Member, ...], setup: Setup) -> None:
        manager = next(one.name for one in members if one.role == "manager")
        self.broker = LockedBroker(member, members, setup, TABLES, manager)

    def handle(self, given: Input, now_us: int) -> list[Effect]:
        """What is to be done about an input."""
        process = self.broker.process
        process.begin(now_us)
        if process.halted:
            pass
        elif isinstance(given, Unreachable) and given.peer == self.broker.link.manager:
            manager_silent(self.broker)
        else:
            INPUTS[type(given)](self.broker, given)
        return process.effects


def _started(broker: LockedBroker, given: Started) -> None:
    broker.process.set_timer("tick", broker.options.check_period_us)
    broker.link.ping()
    if broker.process.incarnation:
        broker.process.record("restarted", {})
    activation.begin(broker)


INPUTS: Mapping[type[Input], Callable[[Any, Any], None]] = {
    **replication.INPUTS,
    Started: _started,
}
