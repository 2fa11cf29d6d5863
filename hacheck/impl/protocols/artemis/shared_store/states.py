"""The states of a broker over a shared store, and every way from one to another.

Source: broker facts 2.2, "Primary role" and "Backup role".
"""

from __future__ import annotations

from enum import Enum

from hacheck.impl.kit.state_table import StateTable


class State(Enum):
    """Where a broker is. Who serves: `ACTIVE` alone."""

    STARTING = "starting"
    WAITING_FOR_PRIMARY_LOCK = "waiting for primary lock"
    WAITING_FOR_BACKUP_LOCK = "waiting for backup lock"
    PASSIVE = "passive"
    EXAMINING = "examining"
    """Has the primary lock, and looks whether it is meant for it."""
    LOADING = "loading"
    ACTIVATING = "activating"
    ACTIVE = "active"
    HANDING_OVER = "handing over"
    """Serves no more; the last writes are under way."""
    HANDED_OVER = "handed over"
    SCALING = "scaling down"
    """Serves no more, or not at all; its messages are moved to another server."""
    STOPPING = "stopping"
    STOPPED = "stopped"


class Cause(Enum):
    """Why a broker changes its state."""

    STARTED_AS_PRIMARY = "started as primary"
    STARTED_AS_BACKUP = "started as backup"
    PRIMARY_LOCK = "primary lock obtained"
    BACKUP_LOCK = "backup lock obtained"
    BACKUP_LOCK_LOST = "backup lock lost"
    NOT_MINE = "paused, or the primary comes back"
    MINE = "the primary is gone"
    LOADED = "journal loaded"
    ANNOUNCED_ACTIVE = "state byte written"
    FAILBACK = "the primary wants to come back"
    DRAINED = "all writes done"
    PRIMARY_SERVES = "the primary serves"
    PRIMARY_GONE = "no sign of the primary"
    SCALE_DOWN = "to be scaled down"
    SCALED = "scaled down, as far as possible"
    SCALED_BACKUP = "nothing left to stand in for"
    STOP = "stopped by an operator"
    FAILURE = "critical error"


_ALIVE = tuple(state for state in State if state is not State.STOPPED)

BROKER = StateTable(
    "A broker over a shared store",
    "broker facts 2.2",
    State.STARTING,
    {
        (State.STARTING, Cause.STARTED_AS_PRIMARY): State.WAITING_FOR_PRIMARY_LOCK,
        (State.STARTING, Cause.STARTED_AS_BACKUP): State.WAITING_FOR_BACKUP_LOCK,
        (State.WAITING_FOR_PRIMARY_LOCK, Cause.PRIMARY_LOCK): State.LOADING,
        (State.WAITING_FOR_BACKUP_LOCK, Cause.BACKUP_LOCK): State.PASSIVE,
        (State.PASSIVE, Cause.BACKUP_LOCK_LOST): State.WAITING_FOR_BACKUP_LOCK,
        (State.PASSIVE, Cause.PRIMARY_LOCK): State.EXAMINING,
        (State.EXAMINING, Cause.NOT_MINE): State.PASSIVE,
        (State.EXAMINING, Cause.MINE): State.LOADING,
        (State.LOADING, Cause.LOADED): State.ACTIVATING,
        (State.ACTIVATING, Cause.ANNOUNCED_ACTIVE): State.ACTIVE,
        (State.ACTIVE, Cause.FAILBACK): State.HANDING_OVER,
        (State.HANDING_OVER, Cause.DRAINED): State.HANDED_OVER,
        (State.HANDED_OVER, Cause.PRIMARY_SERVES): State.STARTING,
        (State.HANDED_OVER, Cause.PRIMARY_GONE): State.STARTING,
        (State.ACTIVE, Cause.STOP): State.STOPPING,
        (State.ACTIVE, Cause.SCALE_DOWN): State.SCALING,
        (State.LOADING, Cause.SCALE_DOWN): State.SCALING,
        (State.SCALING, Cause.SCALED): State.STOPPING,
        (State.STOPPING, Cause.DRAINED): State.STOPPED,
        (State.STOPPING, Cause.SCALED_BACKUP): State.STARTING,
        **{(state, Cause.STOP): State.STOPPED for state in _ALIVE if state is not State.ACTIVE},
        **{(state, Cause.FAILURE): State.STOPPED for state in _ALIVE},
    },
)
