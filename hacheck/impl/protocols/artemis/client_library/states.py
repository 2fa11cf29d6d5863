"""What a client's connection goes through, and every way from one state to another.

Source: broker facts 2.13; HornetQ manual, "Automatic Client Failover", "Failing over on the Initial Connection".
"""

from __future__ import annotations

from enum import Enum

from hacheck.impl.kit.state_table import StateTable


class Phase(Enum):
    """Where a connection is. Only `CONNECTED` has a session that commands can be sent in."""

    NEW = "new"
    CONNECTED = "connected"
    FAILED = "failed"
    CLOSED = "closed"


class Cause(Enum):
    """Why it is somewhere else now."""

    OPENED = "connected for the first time"
    LOST = "the server is silent, or the connection broken"
    ATTACHED = "the old session goes on"
    CREATED = "a new session in place of the old one"
    GIVEN_UP = "tried as often as it may"
    ANEW = "the application makes a new connection"


CONNECTION = StateTable(
    "A client's connection",
    "broker facts 2.13",
    Phase.NEW,
    {
        (Phase.NEW, Cause.OPENED): Phase.CONNECTED,
        (Phase.NEW, Cause.GIVEN_UP): Phase.CLOSED,
        (Phase.CONNECTED, Cause.LOST): Phase.FAILED,
        (Phase.FAILED, Cause.ATTACHED): Phase.CONNECTED,
        (Phase.FAILED, Cause.CREATED): Phase.CONNECTED,
        (Phase.FAILED, Cause.GIVEN_UP): Phase.CLOSED,
        (Phase.CLOSED, Cause.ANEW): Phase.NEW,
    },
)
