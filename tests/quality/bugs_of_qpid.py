"""Seeded bugs of Qpid's cluster."""

from __future__ import annotations

from tests.quality.bugs import Bug


def cluster(name: str, module: str, old: str, new: str, why: str) -> Bug:
    """A bug of the cluster."""
    return Bug(name, "qpid", f"qpid.{module}", old, new, why)


def alone(name: str, module: str, old: str, new: str, why: str) -> Bug:
    """A bug of brokers without a cluster."""
    return Bug(name, "qpid-standalone", f"qpid.{module}", old, new, why)


STANDALONE = (
    alone(
        "copy_not_waited_for",
        "source",
        "            guard.delayed[message.id] = message\n            message.outstanding += 1\n",
        "            guard.delayed[message.id] = message\n",
        "A guard delays nothing: a message is complete before the copy has it.",
    ),
    alone(
        "snapshot_ignored",
        "source",
        "        self.skip = held & queue.positions.keys()\n",
        "        self.skip: set[int] = set()\n",
        "What the copy says it has is not looked at: all of it is sent again.",
    ),
    alone(
        "same_id_twice",
        "client_service",
        "max(queue.last_id + 1, self.first_id)",
        "max(queue.last_id, self.first_id)",
        "Off by one: each message has the id of the one before.",
    ),
)


QPID = (
    cluster(
        "expected_backups_not_awaited",
        "primary",
        "        if not self.expected and self.is_confirmed and",
        "        if self.is_confirmed and",
        "A new primary waits for nobody: it is active right after it has named the backups that it expects.",
    ),
    cluster(
        "disconnect_leaves_the_backup",
        "primary",
        "        self._cancel(backup, guards)\n        self._broadcast()\n",
        "        self._broadcast()\n",
        "State not reset: a backup whose connection is gone is kept, and its next connection overlaps with none.",
    ),
    cluster(
        "watchdog_not_armed",
        "manager_interface",
        '            if broker.options.fencing == "watchdog":\n                self._arm(order.lease_from_us)\n',
        "",
        "A primary that nobody hears goes on when another one has been promoted.",
    ),
    cluster(
        "each_try_is_the_first",
        "backup",
        "        self._has_tried = True\n",
        "",
        "State not kept: a backup that fails over says that it connects.",
    ),
)
