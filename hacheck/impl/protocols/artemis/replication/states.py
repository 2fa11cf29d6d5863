"""The states of a broker with replication, and every way from one to another.

Source: broker facts 2.4, 2.5, 2.10; HornetQ manual, "Data Replication".
"""

from __future__ import annotations

from enum import Enum

from hacheck.impl.kit.state_table import StateTable


class State(Enum):
    """Where a broker is. Who serves: `ALONE`, `SYNCING`, `REPLICATED`."""

    STARTING = "starting"
    CHECKING = "checking for an active server"
    UNDECIDED = "undecided"
    """Its replica may know more, and does not answer: only with `last_server_starts`."""
    ALONE = "active alone"
    SYNCING = "active, replica being synchronized"
    REPLICATED = "active, replicated"
    HANDING_OVER = "handing over"
    HANDED_OVER = "handed over"
    SAVING = "laying old data aside"
    LOCATING = "locating an active server"
    REGISTERING = "registering"
    COPYING = "copying"
    IN_SYNC = "in sync"
    DECIDING = "deciding"
    ACTIVATING = "activating"
    ISOLATED = "isolated"
    STOPPED = "stopped"
    TRYING = "trying to get the lock"
    """This, and the next two, only with a lock manager."""
    CLAIMING = "claiming the next number"
    GOING_ALONE = "active, claiming the next number"


class Cause(Enum):
    """Why a broker changes its state."""

    CHECK = "a primary with data"
    FIRST_START = "a primary without data"
    UNCHECKED = "a primary that is not to check"
    AS_BACKUP = "started as backup"
    SERVER_FOUND = "the node is served by another"
    NO_SERVER_FOUND = "nobody serves the node"
    REPLICA_MAY_KNOW_MORE = "the replica may know more"
    ACTIVE = "ready for clients"
    REPLICA_REGISTERED = "a replica registered"
    REPLICA_UP_TO_DATE = "the replica is up to date"
    REPLICA_LOST = "the replica is lost"
    FAILBACK = "the primary is up to date again"
    DRAINED = "all writes replicated"
    HANDED_OVER = "the other takes over"
    SAVED = "old data laid aside"
    FOUND = "an active server found"
    NOT_TAKEN = "not taken as its replica"
    TAKEN = "taken as its replica"
    UP_TO_DATE = "everything copied"
    PRIMARY_LOST = "the active server is lost"
    FAIL_OVER = "the active server is gone"
    RETRY = "the active server may live"
    UNHEALTHY = "no host of the network check list answers"
    HEALTHY = "the network is back"
    STOP = "stopped"
    FAILURE = "critical error"
    STALE = "the data may be too old"
    CANDIDATE = "the data may be the newest"
    LOCKED = "has the lock, and the newest data"
    CLAIMED = "the next number is its own"


SERVING = (State.ALONE, State.SYNCING, State.REPLICATED, State.GOING_ALONE)
OF_LOCK_MANAGERS = (State.TRYING, State.CLAIMING, State.GOING_ALONE)
_ALIVE = tuple(state for state in State if state is not State.STOPPED and state not in OF_LOCK_MANAGERS)

BROKER: StateTable[State, Cause] = StateTable(
    "A broker with replication",
    "broker facts 2.4, 2.5, 2.10",
    State.STARTING,
    {
        (State.STARTING, Cause.CHECK): State.CHECKING,
        (State.STARTING, Cause.FIRST_START): State.ACTIVATING,
        (State.STARTING, Cause.UNCHECKED): State.ACTIVATING,
        (State.STARTING, Cause.AS_BACKUP): State.SAVING,
        (State.CHECKING, Cause.SERVER_FOUND): State.SAVING,
        (State.CHECKING, Cause.NO_SERVER_FOUND): State.ACTIVATING,
        (State.CHECKING, Cause.REPLICA_MAY_KNOW_MORE): State.UNDECIDED,
        (State.UNDECIDED, Cause.SERVER_FOUND): State.SAVING,
        (State.UNDECIDED, Cause.NO_SERVER_FOUND): State.ACTIVATING,
        (State.ACTIVATING, Cause.ACTIVE): State.ALONE,
        (State.ALONE, Cause.REPLICA_REGISTERED): State.SYNCING,
        (State.SYNCING, Cause.REPLICA_UP_TO_DATE): State.REPLICATED,
        (State.SYNCING, Cause.REPLICA_LOST): State.ALONE,
        (State.SYNCING, Cause.FAILBACK): State.HANDING_OVER,  # only with `bug_failback_by_sleeping`
        (State.REPLICATED, Cause.REPLICA_LOST): State.ALONE,
        (State.REPLICATED, Cause.FAILBACK): State.HANDING_OVER,
        (State.HANDING_OVER, Cause.DRAINED): State.HANDED_OVER,
        (State.HANDING_OVER, Cause.REPLICA_LOST): State.SAVING,
        (State.HANDED_OVER, Cause.HANDED_OVER): State.SAVING,
        (State.SAVING, Cause.SAVED): State.LOCATING,
        (State.LOCATING, Cause.FOUND): State.REGISTERING,
        (State.REGISTERING, Cause.NOT_TAKEN): State.LOCATING,
        (State.REGISTERING, Cause.TAKEN): State.COPYING,
        (State.COPYING, Cause.PRIMARY_LOST): State.DECIDING,
        (State.COPYING, Cause.UP_TO_DATE): State.IN_SYNC,
        (State.IN_SYNC, Cause.PRIMARY_LOST): State.DECIDING,
        (State.COPYING, Cause.RETRY): State.SAVING,
        (State.IN_SYNC, Cause.RETRY): State.SAVING,
        (State.IN_SYNC, Cause.FAIL_OVER): State.ACTIVATING,
        (State.DECIDING, Cause.FAIL_OVER): State.ACTIVATING,
        (State.DECIDING, Cause.RETRY): State.SAVING,
        (State.ACTIVATING, Cause.UNHEALTHY): State.ISOLATED,
        (State.ALONE, Cause.UNHEALTHY): State.ISOLATED,
        (State.SYNCING, Cause.UNHEALTHY): State.ISOLATED,
        (State.REPLICATED, Cause.UNHEALTHY): State.ISOLATED,
        (State.ISOLATED, Cause.HEALTHY): State.STARTING,
        **{(state, Cause.STOP): State.STOPPED for state in _ALIVE},
        **{(state, Cause.FAILURE): State.STOPPED for state in _ALIVE},
    },
)
