"""The status of a broker: one table of the transitions that are legal, and why each is made.

**Source:** survey of broker failover protocols, section 1.2.
"""

from __future__ import annotations

from typing import Final

from hacheck.impl.kit.state_table import StateTable

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

STATUS: Final = StateTable(
    "The status of a broker",
    "survey of broker failover protocols, section 1.2",
    STANDALONE,
    {
        (STANDALONE, "started as a member of a cluster"): JOINING,
        (JOINING, "the first message from the primary about its configuration"): CATCHUP,
        (JOINING, "promoted: no member that answered was further than joining"): RECOVERING,
        (CATCHUP, "the primary lists this broker as ready"): READY,
        (READY, "promoted"): RECOVERING,
        (READY, "the primary gave up waiting for this broker, and lists it as catching up"): CATCHUP,
        (RECOVERING, "every expected backup is ready, or was given up"): ACTIVE,
    },
)
"""Every transition there is. None leaves `active`: a primary ends only with its process."""
