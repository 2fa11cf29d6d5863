"""Seeded bugs of Qpid's cluster."""

from __future__ import annotations

from tests.quality.bugs import Bug


def cluster(name: str, module: str, old: str, new: str, why: str) -> Bug:
    """A bug of the cluster."""
    return Bug(name, "qpid", f"qpid.{module}", old, new, why)


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
        "governed",
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
