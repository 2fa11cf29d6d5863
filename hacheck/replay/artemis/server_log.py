"""What the log of a server says of its role. **Source**: Broker failover protocols, 2.15: the codes of log lines."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

CODE = re.compile(r"(?:AMQ|HQ)(\d{6}): ")

ACTIVE = ("221007", "221010")
STARTED_AS_BACKUP, IN_SYNC, STOPPED, MOVED_AWAY = "221109", "221024", "221002", "222162"
ANNOUNCED, PRIMARY_LOCK_WAITED_FOR, PRIMARY_LOCK_OBTAINED = "221031", "221034", "221035"
CONNECTED = "221027"
VOTE_BEGUN, VOTE_WON, VOTE_LOST = "221066", "221071", "221070"
STRANDED = ("224000", "214002")
"""Its take-over failed, since it was not in sync; or its vote did, since it did not yet know of whom to ask."""

VOTES_COUNTED = ("221068", "221069", "221083")
REPLICA_GONE = r"(?:AMQ|HQ)22(2091|2092|2013|2207)"


class Role(Struct, frozen=True):
    """`mode`: starting, active, waiting (a backup without a synchronized primary), in_sync, voting, stopped or
    stranded (a backup whose take-over failed: its process stays, and does nothing).
    `complete`: whether its data was never moved away, or was copied to the end since. `begun`: whether the process has
    written anything yet."""

    mode: str
    complete: bool
    begun: bool


def codes(lines: Iterable[str]) -> list[str]:
    """The codes of lines, in order."""
    return [found.group(1) for line in lines if (found := CODE.search(line))]


def role(before: Iterable[str], current: Iterable[str], *, backup: bool) -> Role:
    """The role of a server. `before`: the lines of its earlier processes; `current`: those of the one that runs;
    `backup`: whether it is configured as one."""
    complete = not backup
    for code in codes(before):
        complete = _complete_after(code, complete)
    mode, begun = "waiting" if backup else "starting", False
    for code in codes(current):
        begun = True
        complete = _complete_after(code, complete)
        mode = _mode_after(code, mode)
    return Role(mode, complete, begun)


def _complete_after(code: str, complete: bool) -> bool:
    if code in (STARTED_AS_BACKUP, MOVED_AWAY):
        return False
    return True if code == IN_SYNC else complete


def _mode_after(code: str, mode: str) -> str:
    if code in ACTIVE:
        return "active"
    if code in (STARTED_AS_BACKUP, VOTE_LOST):
        return "waiting"
    if code == IN_SYNC:
        return "in_sync"
    if code == VOTE_BEGUN and mode in ("waiting", "in_sync"):
        return "voting"
    if code in STRANDED and mode in ("voting", "waiting"):
        return "stranded"
    if code == STOPPED and mode != "starting":
        return "stopped"
    return mode


def shared_store_mode(current: Iterable[str], *, backup: bool) -> str:
    """The mode of a server with a shared store, by the lines of the process that runs."""
    mode = "joining" if backup else "starting"
    for code in codes(current):
        if code in ACTIVE:
            mode = "active"
        elif code == PRIMARY_LOCK_WAITED_FOR:
            mode = "waiting"
        elif code == PRIMARY_LOCK_OBTAINED:
            mode = "activating"
        elif code == STARTED_AS_BACKUP:
            mode = "passive"
        elif code == STOPPED:
            mode = "handed_over" if backup else "stopped"
    return mode
