"""The states of a broker with replication and a lock manager, and what its number says of its data.

Source: broker facts 2.9.
"""

from __future__ import annotations

from enum import Enum

from hacheck.impl.kit.state_table import StateTable
from hacheck.impl.protocols.artemis.lock_manager.options import LockManagerOptions
from hacheck.impl.protocols.artemis.replication.broker import NO_SEQUENCE
from hacheck.impl.protocols.artemis.replication.states import Cause, State

_USED = (
    *(State.STARTING, State.TRYING, State.CLAIMING, State.ACTIVATING, State.ALONE, State.SYNCING, State.REPLICATED),
    *(State.GOING_ALONE, State.HANDING_OVER, State.HANDED_OVER, State.LOCATING, State.REGISTERING, State.COPYING),
    State.IN_SYNC,
)

LOCKED_BROKER = StateTable(
    "A broker with replication and a lock manager",
    "broker facts 2.9",
    State.STARTING,
    {
        (State.STARTING, Cause.CHECK): State.TRYING,
        (State.TRYING, Cause.STALE): State.LOCATING,
        (State.TRYING, Cause.RETRY): State.TRYING,
        (State.TRYING, Cause.LOCKED): State.CLAIMING,
        (State.CLAIMING, Cause.CLAIMED): State.ACTIVATING,
        (State.ACTIVATING, Cause.ACTIVE): State.ALONE,
        (State.ALONE, Cause.REPLICA_REGISTERED): State.SYNCING,
        (State.SYNCING, Cause.REPLICA_UP_TO_DATE): State.REPLICATED,
        (State.SYNCING, Cause.REPLICA_LOST): State.GOING_ALONE,
        (State.REPLICATED, Cause.REPLICA_LOST): State.GOING_ALONE,
        (State.GOING_ALONE, Cause.CLAIMED): State.ALONE,
        (State.REPLICATED, Cause.FAILBACK): State.HANDING_OVER,
        (State.HANDING_OVER, Cause.DRAINED): State.HANDED_OVER,
        (State.HANDING_OVER, Cause.REPLICA_LOST): State.TRYING,
        (State.HANDED_OVER, Cause.HANDED_OVER): State.TRYING,
        (State.LOCATING, Cause.CANDIDATE): State.TRYING,
        (State.LOCATING, Cause.FOUND): State.REGISTERING,
        (State.REGISTERING, Cause.NOT_TAKEN): State.LOCATING,
        (State.REGISTERING, Cause.TAKEN): State.COPYING,
        (State.COPYING, Cause.UP_TO_DATE): State.IN_SYNC,
        (State.COPYING, Cause.PRIMARY_LOST): State.TRYING,
        (State.COPYING, Cause.RETRY): State.TRYING,
        (State.IN_SYNC, Cause.PRIMARY_LOST): State.TRYING,
        (State.IN_SYNC, Cause.FAIL_OVER): State.TRYING,
        (State.IN_SYNC, Cause.RETRY): State.TRYING,
        **{(state, Cause.STOP): State.STOPPED for state in _USED},
        **{(state, Cause.FAILURE): State.STOPPED for state in _USED},
    },
)


class Standing(Enum):
    """What a broker's number says of its data."""

    IN_SYNC = "in sync"
    SELF_REPAIR = "its own claim was not committed"
    MAYBE_IN_SYNC = "a claim of another was not committed"
    STALE = "stale"


def standing(own: int, coordinated: int, options: LockManagerOptions) -> Standing:
    """Compares a broker's number with the coordinated one, which is negative while it is claimed and not committed."""
    if options.bug_lock_alone:
        return Standing.IN_SYNC
    if own == NO_SEQUENCE:
        return Standing.STALE
    if own == coordinated:
        return Standing.IN_SYNC
    if coordinated >= 0 or options.bug_claim_unrepaired:
        return Standing.STALE
    if own == -coordinated:
        return Standing.SELF_REPAIR
    return Standing.MAYBE_IN_SYNC if own + 1 == -coordinated else Standing.STALE
