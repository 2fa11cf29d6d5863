"""Seeded bugs of Artemis: over a shared store, and with replication."""

from __future__ import annotations

from tests.quality.bugs import Bug


def store(name: str, module: str, old: str, new: str, why: str) -> Bug:
    """A bug of the brokers over a shared store."""
    return Bug(name, "artemis-shared-store", f"artemis.{module}", old, new, why)


def replication(name: str, module: str, old: str, new: str, why: str) -> Bug:
    """A bug of the brokers with replication."""
    return Bug(name, "artemis-replication", f"artemis.{module}", old, new, why)


def scale_down(name: str, module: str, old: str, new: str, why: str) -> Bug:
    """A bug of servers that scale down."""
    return Bug(name, "artemis-scale-down", f"artemis.{module}", old, new, why)


def colocated(name: str, module: str, old: str, new: str, why: str) -> Bug:
    """A bug of processes that run backups for each other."""
    return Bug(name, "artemis-colocated", f"artemis.{module}", old, new, why)


ARTEMIS = (
    store(
        "failback_begun_and_forgotten",
        "shared_store.active",
        "        broker.process.line(221008, node_id=broker.node_id)\n        broker.go(Cause.FAILBACK)\n",
        "        broker.process.line(221008, node_id=broker.node_id)\n",
        "A backup says that it makes way, and goes on: it says so again.",
    ),
    store(
        "waits_no_more_for_the_lock",
        "shared_store.passive",
        "        announce(broker)\n    broker.step_after(broker.options.lock_retry_us)\n",
        "        announce(broker)\n",
        "A timer forgotten: a primary that was refused the lock never asks again, while the backup makes way for it.",
    ),
    store(
        "hand_over_keeps_the_lock",
        "shared_store.active",
        '    broker.process.line(221002, reason="failback")\n    broker.unlock(PRIMARY_LOCK)\n',
        '    broker.process.line(221002, reason="failback")\n',
        "The lock is not given back: who made way waits for the primary, and the primary for the lock, for ever.",
    ),
    replication(
        "unfinished_copy_taken",
        "replication.votes",
        "    elif broker.up_to_date:\n",
        "    elif broker.node_id:\n",
        "Guard dropped: a replica takes over that has only a part of the copy.",
    ),
    replication(
        "no_vote_before_the_take_over",
        "replication.backup",
        "        broker.go(Cause.FAIL_OVER if link.stop_called else Cause.PRIMARY_LOST)\n",
        "        broker.go(Cause.FAIL_OVER)\n",
        "A replica that loses its primary takes over without having asked anybody.",
    ),
    replication(
        "serves_on_after_the_hand_over",
        "replication.active",
        "    stop_serving(broker)\n    broker.go(Cause.DRAINED)\n",
        "    broker.go(Cause.DRAINED)\n",
        "Who hands over does not stop serving.",
    ),
    replication(
        "still_up_to_date",
        "replication.backup",
        "    broker.starting = broker.up_to_date = False\n",
        "    broker.starting = False\n",
        "Stale in-sync: a replica that begins again takes itself for up to date, and takes over with half a copy.",
    ),
    scale_down(
        "last_message_stays",
        "scale_down.message_moves",
        "    if not scaling.left:\n        adopt(broker, scaling)\n",
        "    if len(scaling.left) < 2:\n        adopt(broker, scaling)\n",
        "Off by one: the last message is not moved, and the server says that it has been scaled down.",
    ),
    scale_down(
        "moved_and_kept",
        "scale_down.message_moves",
        "        broker.store(server_of(broker).give_up(tuple(scaling.moved)))\n",
        "",
        "What was moved is not removed: who is started again has it, too.",
    ),
    scale_down(
        "everybody_is_let_in",
        "scale_down.target_server",
        "        return super().stands_in(node_id) or node_id in self.absorbed\n",
        "        return True\n",
        "Guard dropped: clients are let in by a server that has not got what theirs had.",
    ),
    scale_down(
        "message_in_doubt_forgotten",
        "scale_down.client",
        '            self._report("unknown")\n\n',
        '            self._report("unknown")\n            self.message = None\n\n',
        "A message that was not answered is not sent again; the next one is.",
    ),
    colocated(
        "count_not_compared",
        "colocated.backup_requests",
        "        fits = self._room() and len(process.hosted) == message.seen\n",
        "        fits = self._room()\n",
        "Guard dropped: a backup is started although there are more than its live server was told.",
    ),
    colocated(
        "numbers_given_again",
        "colocated.process",
        "        self.started += 1\n",
        "        self.started = len(self.hosted) + 1\n",
        "Backups are counted by those that run: two get one name, one after the other.",
    ),
    colocated(
        "granted_whatever_comes_of_it",
        "colocated.backup_requests",
        "        process.send(sender, BackupAnswered(message.round, fits, address))\n",
        "        process.send(sender, BackupAnswered(message.round, True, address))\n",
        "A request is answered with yes, also where no backup was started.",
    ),
    colocated(
        "asks_on",
        "colocated.backup_requests",
        '            self._process.record("backup_granted", {"target": sender})\n            self.go(Cause.GRANTED)\n',
        '            self._process.record("backup_granted", {"target": sender})\n            self.go(Cause.REFUSED)\n',
        "A wrong transition: who has got a backup asks for another one.",
    ),
)
