"""How far a live server is with its request for a backup, and every way from one state to another.

Source: HornetQ manual, "Colocated Backup Servers"; broker facts 2.11.
"""

from __future__ import annotations

from enum import Enum

from hacheck.impl.kit.state_table import StateTable


class Asking(Enum):
    """Where a live server is."""

    IDLE = "not asking"
    """It does not serve, or is not to have a backup."""
    COUNTING = "asking who has how many"
    REQUESTING = "waiting for an answer"
    REFUSED = "waiting to ask again"
    GRANTED = "has a backup"
    BEREFT = "waiting to ask for another backup"
    GIVEN_UP = "asks no more"


class Cause(Enum):
    """Why that changes."""

    SERVES = "it serves"
    SERVES_NO_MORE = "it serves no more"
    COUNTED = "one is chosen"
    NOBODY = "nobody has room"
    GRANTED = "a backup was started"
    REFUSED = "no backup was started, or nobody says so"
    AGAIN = "it is time"
    ENOUGH = "it has asked often enough"
    GONE = "the backup is gone"


REQUEST = StateTable(
    "A live server's request for a backup",
    'HornetQ manual, "Colocated Backup Servers"',
    Asking.IDLE,
    {
        (Asking.IDLE, Cause.SERVES): Asking.COUNTING,
        (Asking.COUNTING, Cause.COUNTED): Asking.REQUESTING,
        (Asking.COUNTING, Cause.NOBODY): Asking.REFUSED,
        (Asking.REQUESTING, Cause.GRANTED): Asking.GRANTED,
        (Asking.REQUESTING, Cause.REFUSED): Asking.REFUSED,
        (Asking.REFUSED, Cause.AGAIN): Asking.COUNTING,
        (Asking.REFUSED, Cause.ENOUGH): Asking.GIVEN_UP,
        (Asking.GRANTED, Cause.GONE): Asking.BEREFT,
        (Asking.BEREFT, Cause.AGAIN): Asking.COUNTING,
        **{(state, Cause.SERVES_NO_MORE): Asking.IDLE for state in Asking if state is not Asking.IDLE},
    },
)
