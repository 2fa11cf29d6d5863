"""What happens to a pair of brokers, each step waiting for what the one before brings about."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from hacheck.replay.hornetq.broker_kind import HORNETQ
from tests.interop.broker_pair import NAMES, Pair

PRIMARY, BACKUP = 1, 2
P, B = NAMES[PRIMARY], NAMES[BACKUP]
WAIT_SECONDS_MAX = 180.0
SETTLE_SECONDS = 6.0
SPLIT_SECONDS = 41.0
LONGER_THAN_A_CONNECTION_SECONDS = 12.0

Seen = tuple[str, str]  # a node and an event of it


class TooLate(Exception):
    """What a step waits for does not come."""


def until(pair: Pair, member: int, code: str, times: int) -> None:
    """Waits for a code to stand in a log so many times. Errors: `TooLate`."""
    end = time.monotonic() + WAIT_SECONDS_MAX
    while pair.times(member, code) < times:
        if time.monotonic() > end:
            raise TooLate(
                f"{pair.policy}: code {code} at {NAMES[member]}, {times} times, not within {WAIT_SECONDS_MAX:g} s"
            )
        time.sleep(0.1)


def paired(pair: Pair) -> None:
    """Both are up, and the backup can take over."""
    pair.start(PRIMARY)
    until(pair, PRIMARY, "221007", 1)
    pair.start(BACKUP)
    until(pair, BACKUP, "221031", 1)


def is_hornetq(pair: Pair) -> bool:
    return pair.kind is HORNETQ


def served_by_backup(pair: Pair) -> None:
    """A replicating backup of HornetQ writes only that it lets clients in (221020)."""
    until(pair, BACKUP, ("221020" if is_hornetq(pair) else "221007") if pair.policy == "replication" else "221010", 1)


def replica_lost(pair: Pair) -> None:
    """HornetQ writes nothing of it where nothing is to be replicated: a connection lives 4 s."""
    if is_hornetq(pair):
        time.sleep(SETTLE_SECONDS)
    else:
        until(pair, PRIMARY, "222092", 1)


def served_again_by_primary(pair: Pair) -> None:
    until(pair, PRIMARY, "221020" if is_hornetq(pair) and pair.policy == "replication" else "221007", 2)


def crash_and_failback(pair: Pair) -> Sequence[Seen]:
    """The primary is killed, the backup takes over; the primary comes back, and serves again. A client writes."""
    paired(pair)
    pair.write("a", PRIMARY, BACKUP)
    time.sleep(SETTLE_SECONDS)
    pair.kill(PRIMARY)
    served_by_backup(pair)
    pair.start(PRIMARY)
    served_again_by_primary(pair)
    until(pair, BACKUP, "221031", 2)
    pair.end_writers()
    pair.read_all(PRIMARY)
    return (*took_over(pair), (B, "failback_begun"), serves_again(pair), (B, "backup_announced"))


def orderly_stop(pair: Pair) -> Sequence[Seen]:
    """The primary is asked to end; the backup takes over."""
    paired(pair)
    pair.stop(PRIMARY)
    served_by_backup(pair)
    return ((P, "active"), (P, "stopped"), taking_over(pair))


def pause(pair: Pair) -> Sequence[Seen]:
    """The primary is paused for longer than connections live, then goes on. With replication the backup takes over, and
    then both serve: a pair cannot vote. On a shared store the primary has the lock all the time."""
    paired(pair)
    pair.pause(PRIMARY)
    if pair.policy == "replication":
        served_by_backup(pair)
    time.sleep(SETTLE_SECONDS)
    pair.resume(PRIMARY)
    time.sleep(SETTLE_SECONDS)
    if pair.policy == "replication":
        return (*took_over(pair), *lost_replica(pair), *hears_of_rival(pair))
    return ((P, "active"), (B, "backup_announced"))


def split_brain(pair: Pair) -> Sequence[Seen]:
    """The primary is paused until its backup serves, and wakes: for 41 s both serve, and two clients write. Then the
    primary is started anew, and copies what its backup has: what it had acknowledged meanwhile is lost."""
    paired(pair)
    pair.write("a", PRIMARY, BACKUP)
    pair.write("b", BACKUP, PRIMARY)
    time.sleep(SETTLE_SECONDS)
    pair.pause(PRIMARY)
    served_by_backup(pair)
    pair.resume(PRIMARY)
    time.sleep(SPLIT_SECONDS)
    pair.stop(PRIMARY)
    pair.start(PRIMARY)
    served_again_by_primary(pair)
    until(pair, BACKUP, "221031", 2)
    pair.end_writers()
    pair.read_all(PRIMARY)
    return (*took_over(pair), *lost_replica(pair), *hears_of_rival(pair), (P, "stopped"), serves_again(pair))


def backup_wakes_alone(pair: Pair) -> Sequence[Seen]:
    """The backup is paused for longer than connections live, wakes, and asks a quorum of nobody: it serves beside its
    primary, which went on alone. Two clients write."""
    paired(pair)
    pair.write("a", PRIMARY, BACKUP)
    pair.write("b", BACKUP, PRIMARY)
    time.sleep(SETTLE_SECONDS)
    pair.pause(BACKUP)
    time.sleep(LONGER_THAN_A_CONNECTION_SECONDS)
    replica_lost(pair)
    pair.resume(BACKUP)
    served_by_backup(pair)
    time.sleep(2 * SETTLE_SECONDS)
    pair.end_writers()
    pair.read_all(PRIMARY)
    pair.read_all(BACKUP)
    return (*took_over(pair), *lost_replica(pair))


def backup_crash(pair: Pair) -> Sequence[Seen]:
    """The backup is killed; the primary goes on alone; another backup comes."""
    paired(pair)
    pair.kill(BACKUP)
    if pair.policy == "replication":
        replica_lost(pair)
    pair.start(BACKUP)
    until(pair, BACKUP, "221031", 2)
    if pair.policy == "replication":
        return ((B, "in_sync"), *lost_replica(pair), (B, "in_sync"))
    return ((B, "backup_lock_obtained"), (B, "backup_lock_obtained"), (B, "backup_announced"))


def wrong_order(pair: Pair) -> Sequence[Seen]:
    """The primary is killed, the backup serves, and is killed. On a shared store the backup, started first, serves what
    there is, and gives way to its primary. With replication the primary, started first, serves its older journal; the
    backup, whose journal is the newer one, moves it aside, and copies the older. A client writes."""
    paired(pair)
    pair.write("a", PRIMARY, BACKUP)
    time.sleep(SETTLE_SECONDS)
    pair.kill(PRIMARY)
    served_by_backup(pair)
    time.sleep(SETTLE_SECONDS)
    pair.end_writers()
    pair.kill(BACKUP)
    if pair.policy == "shared_store":
        pair.start(BACKUP)
        until(pair, BACKUP, "221010", 2)
        pair.start(PRIMARY)
        until(pair, PRIMARY, "221007", 2)
    else:
        pair.start(PRIMARY)
        until(pair, PRIMARY, "221007", 2)
        pair.start(BACKUP)
    until(pair, BACKUP, "221031", 2)
    pair.read_all(PRIMARY)
    if pair.policy == "shared_store":
        return (*took_over(pair), taking_over(pair), (B, "failback_begun"), (P, "active"))
    return (*took_over(pair), (P, "active"), (B, "in_sync"))


def taking_over(pair: Pair) -> Seen:
    if pair.policy == "shared_store":
        return (B, "backup_active")
    return (B, "acceptor_started" if is_hornetq(pair) else "active")


def serves_again(pair: Pair) -> Seen:
    """What a primary writes that gets its place back."""
    return (P, "acceptor_started" if is_hornetq(pair) and pair.policy == "replication" else "active")


def lost_replica(pair: Pair) -> Sequence[Seen]:
    """HornetQ writes of a replica that is gone only where something is to be replicated."""
    return () if is_hornetq(pair) else ((P, "replica_gone"),)


def hears_of_rival(pair: Pair) -> Sequence[Seen]:
    """HornetQ writes nothing of another server of the same node id."""
    return () if is_hornetq(pair) else ((B, "possible_split_brain"),)


def took_over(pair: Pair) -> tuple[Seen, ...]:
    ready = "in_sync" if pair.policy == "replication" else "backup_lock_obtained"
    return ((P, "active"), (B, ready), taking_over(pair))


def who_served(pair: Pair, story: str) -> set[str]:
    """Who may serve in a story, by what its logs must say."""
    only_primary = story == "backup_crash" or (story == "pause" and pair.policy == "shared_store")
    return {P} if only_primary else {P, B}


STORIES: dict[str, Callable[[Pair], Sequence[Seen]]] = {
    "crash_and_failback": crash_and_failback,
    "orderly_stop": orderly_stop,
    "pause": pause,
    "backup_crash": backup_crash,
    "split_brain": split_brain,
    "backup_wakes_alone": backup_wakes_alone,
    "wrong_order": wrong_order,
}
OF_REPLICATION = frozenset({"split_brain", "backup_wakes_alone"})
"""Where two brokers have one journal, its lock forbids these."""


def stories_of(policy: str) -> list[str]:
    """What is played with a policy."""
    return [story for story in STORIES if policy == "replication" or story not in OF_REPLICATION]
