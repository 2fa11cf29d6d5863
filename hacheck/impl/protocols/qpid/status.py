"""The status of a broker: one table of the transitions that are legal, and why each is made.

**Source:** survey of broker failover protocols, section 1.2.
"""

from __future__ import annotations

from typing import Final

STANDALONE: Final = "standalone"
JOINING: Final = "joining"
CATCHUP: Final = "catchup"
READY: Final = "ready"
RECOVERING: Final = "recovering"
ACTIVE: Final = "active"

PRIMARY_LIKE: Final = frozenset({STANDALONE, RECOVERING, ACTIVE})
"""Clients may connect."""

BACKUP_LIKE: Final = frozenset({JOINING, CATCHUP, READY})
"""Clients are turned away."""

LEGAL: Final = {
    (STANDALONE, JOINING): "started as a member of a cluster",
    (JOINING, CATCHUP): "the first message from the primary about its configuration",
    (JOINING, RECOVERING): "promoted: no member that answered was further than joining",
    (CATCHUP, READY): "the primary lists this broker as ready",
    (READY, RECOVERING): "promoted",
    (READY, CATCHUP): "the primary gave up waiting for this broker, and lists it as catching up",
    (RECOVERING, ACTIVE): "every expected backup is ready, or was given up",
}
"""Every transition there is. None leaves `active`: a primary ends only with its process."""


def is_legal(old: str, new: str) -> bool:
    """Whether a broker may go from one status to the other; anything else shuts it down."""
    return (old, new) in LEGAL
