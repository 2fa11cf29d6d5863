"""The states of a server that shares the database with its peer, and every way from one to another.

Source: Fiorano Shared High Availability Working 3.2.1 and its diagram; broker facts 3.4, S1 to S9.
"""

from __future__ import annotations

from enum import Enum

from hacheck.impl.kit.state_table import StateTable


class Phase(Enum):
    """Where a server is. Who serves: `ACTIVE` alone."""

    DEAD = "DEAD"
    ACTIVATING = "ACTIVATING"
    ACTIVE = "ACTIVE"
    PASSIVE = "PASSIVE"


class Cause(Enum):
    """Why a server changes its state."""

    LOCK_OBTAINED = "lock obtained"
    LOCK_REFUSED = "lock not obtained"
    LOCK_LOST = "lock lost"
    SERVICES_UP = "services up"
    TAKEN_OVER = "another has activated"
    DATABASE_FAILED = "database unreachable"


SERVER = StateTable(
    "A server that shares the database",
    "broker facts 3.4",
    Phase.DEAD,
    {
        (Phase.DEAD, Cause.LOCK_OBTAINED): Phase.ACTIVATING,
        (Phase.DEAD, Cause.LOCK_REFUSED): Phase.PASSIVE,
        (Phase.ACTIVATING, Cause.SERVICES_UP): Phase.ACTIVE,
        (Phase.ACTIVATING, Cause.LOCK_LOST): Phase.PASSIVE,
        (Phase.ACTIVE, Cause.LOCK_LOST): Phase.PASSIVE,
        (Phase.ACTIVE, Cause.TAKEN_OVER): Phase.PASSIVE,
        (Phase.PASSIVE, Cause.LOCK_OBTAINED): Phase.ACTIVATING,
        (Phase.PASSIVE, Cause.LOCK_REFUSED): Phase.PASSIVE,
        **{(phase, Cause.DATABASE_FAILED): Phase.DEAD for phase in Phase},
    },
    {
        (Phase.DEAD, Cause.LOCK_OBTAINED): "S1",
        (Phase.DEAD, Cause.LOCK_REFUSED): "S2",
        (Phase.ACTIVATING, Cause.SERVICES_UP): "S3",
        (Phase.ACTIVATING, Cause.LOCK_LOST): "S4",
        (Phase.ACTIVE, Cause.LOCK_LOST): "S4",
        (Phase.ACTIVE, Cause.TAKEN_OVER): "S4",
        (Phase.PASSIVE, Cause.LOCK_OBTAINED): "S5",
        (Phase.PASSIVE, Cause.LOCK_REFUSED): "S6",
        **{(phase, Cause.DATABASE_FAILED): "S9" for phase in Phase},
    },
)
"""That a failure is detected while ACTIVE changes nothing (S7)."""
