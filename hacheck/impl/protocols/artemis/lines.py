"""The lines of a broker's log: the product's number of each, and the event that it is.

Events are those that the adapter of real logs, `artemis.toml`, makes of the same lines: so both are compared with a
spec in the same way. Source: broker facts 2.15.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

EVENTS: Mapping[int, str] = {
    221001: "started",
    221002: "stopped",
    221006: "lock_waited_for",
    221007: "active",
    221008: "failback_begun",
    221010: "backup_active",
    221024: "in_sync",
    221031: "backup_announced",
    221032: "backup_lock_waited_for",
    221033: "backup_lock_obtained",
    221034: "lock_waited_for",
    221035: "lock_obtained",
    221037: "becoming_active",
    221039: "failback_begun",
    221047: "scaled_down",
    221049: "colocated_backup",
    221050: "colocated_backup",
    221055: "old_replica_removed",
    221060: "vote_traffic",
    221062: "vote_traffic",
    221064: "vote_found_node",
    221065: "vote_found_node",
    221066: "vote_begun",
    221068: "vote_ended",
    221069: "vote_ended",
    221070: "vote_result",
    221071: "vote_result",
    221078: "scaled_down",
    221083: "vote_traffic",
    221084: "vote_traffic",
    221109: "backup_started",
    222010: "critical_io",
    222013: "replication_not_started",
    222059: "duplicate_rejected",
    222091: "replica_gone",
    222092: "replica_gone",
    222207: "replica_gone",
    222213: "isolated",
    222261: "colocated_backup",
    222294: "possible_split_brain",
    222295: "possible_split_brain",
    224057: "failback_denied",
    224098: "vote_saw_other",
}
"""What is logged, by number (AMQ, or HQ)."""

SHOWN: Mapping[int, Mapping[str, Any]] = {
    221049: {"code": "1049"},
    221050: {"code": "1050"},
    221060: {"code": "60"},
    221062: {"code": "62"},
    221064: {"found": "found"},
    221065: {"found": "not found"},
    221068: {"timed_out": False},
    221069: {"timed_out": True},
    221070: {"fail_over": False},
    221071: {"fail_over": True},
    221083: {"code": "83"},
    221084: {"code": "84"},
    222091: {"code": "091"},
    222092: {"code": "092"},
    222207: {"code": "207"},
    222261: {"code": "2261"},
}
"""What distinguishes lines of one event."""


def line(number: int, fields: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """A line as a record: its event, and what it shows; `amq` is the number itself."""
    return EVENTS[number], {"amq": number, **SHOWN.get(number, {}), **fields}
