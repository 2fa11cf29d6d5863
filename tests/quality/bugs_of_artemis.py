"""Seeded bugs of Artemis: over a shared store, and with replication."""

from __future__ import annotations

from tests.quality.bugs import Bug


def store(name: str, module: str, old: str, new: str, why: str) -> Bug:
    """A bug of the brokers over a shared store."""
    return Bug(name, "artemis-shared-store", f"artemis.{module}", old, new, why)


def replication(name: str, module: str, old: str, new: str, why: str) -> Bug:
    """A bug of the brokers with replication."""
    return Bug(name, "artemis-replication", f"artemis.{module}", old, new, why)


ARTEMIS = (
    store(
        "refused_lock_counts",
        "shared_waiting",
        "    if given.granted:\n        broker.go(Cause.PRIMARY_LOCK)\n",
        "    if given.granted or given.reason:\n        broker.go(Cause.PRIMARY_LOCK)\n",
        "Guard wrong: a backup takes over that was refused the lock.",
    ),
    store(
        "marked_store_taken",
        "shared_waiting",
        "    broker.go(Cause.MINE if byte == LIVE or broker.retaking else Cause.NOT_MINE)\n",
        "    broker.go(Cause.MINE if byte in (LIVE, FAILING_BACK) else Cause.NOT_MINE)\n",
        "A backup takes over though the primary has just said that it comes back.",
    ),
    store(
        "failback_begun_and_forgotten",
        "shared_serving",
        "        broker.process.line(221008, node_id=broker.node_id)\n        broker.go(Cause.FAILBACK)\n",
        "        broker.process.line(221008, node_id=broker.node_id)\n",
        "A backup says that it makes way, and goes on: it says so again.",
    ),
    store(
        "waits_no_more_for_the_lock",
        "shared_waiting",
        "        announce(broker)\n    broker.step_after(broker.options.lock_retry_us)\n",
        "        announce(broker)\n",
        "A timer forgotten: a primary that was refused the lock never asks again, while the backup makes way for it.",
    ),
    store(
        "activation_not_looked_at",
        "shared_serving",
        '    if not given.granted and monitored(broker):\n        broker.fail(f"the primary lock is lost: ',
        '    if not given.granted and not monitored(broker):\n        broker.fail(f"the primary lock is lost: ',
        "Guard wrong way round: a broker that lost its lock serves on until another one has activated.",
    ),
    replication(
        "unfinished_copy_taken",
        "voting",
        "    elif broker.up_to_date:\n",
        "    elif broker.node_id:\n",
        "Guard dropped: a replica takes over that has only a part of the copy.",
    ),
    replication(
        "no_vote_before_the_take_over",
        "replication_backup",
        "        broker.go(Cause.FAIL_OVER if link.stop_called else Cause.PRIMARY_LOST)\n",
        "        broker.go(Cause.FAIL_OVER)\n",
        "A replica that loses its primary takes over without having asked anybody.",
    ),
    replication(
        "starts_without_a_look",
        "replication_starting",
        "    if broker.asks_left > 0 or broker.identity.history == COPYING:\n",
        "    if broker.asks_left > 0 and broker.identity.history == COPYING:\n",
        "Or and and: a primary that comes back serves half a copy, or before anybody could say who serves its node.",
    ),
    replication(
        "vote_never_repeated",
        "voting",
        "            broker.left = ballot.left - 1\n            broker.step_after(broker.options.vote_retry_wait_us)\n",
        "            broker.left = ballot.left - 1\n",
        "A timer forgotten: who lost a vote waits for ever instead of asking again.",
    ),
    replication(
        "replica_lost_and_kept",
        "replication_active",
        "        lose_replica(broker, 222091)  # it would not ask if it still had its end of that channel\n",
        "        link.heard = broker.ticks  # it asks, so it lives\n",
        "State not reset: a replica that asks anew is refused until its old channel is found dead.",
    ),
    replication(
        "in_sync_told_to_nobody",
        "replication_backup",
        "    process.send(link.primary, UpToDate(link.name))\n",
        "",
        "A message forgotten: the primary waits, locked, for a replica that takes itself for up to date.",
    ),
)
