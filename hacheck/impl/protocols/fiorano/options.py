"""Settings of both systems."""

from __future__ import annotations

from typing import Literal

from hacheck.impl.kit.settings import SECOND_US, OrZero, Settings
from hacheck.impl.system import Refused


class PairOptions(Settings, frozen=True, kw_only=True):
    """What servers and clients of both kinds have in common. Times are microseconds.

    Source of the names: broker facts 3.5. The product's ping interval and timeouts are 30 s, its time to create a
    socket 10 s; here they are a tenth of that or less, so that a run of a minute sees more than one failover.

    `ping_us`: how often a server gives its peer a sign of life. `socket_timeout_us`: after so long without one the
    channel is broken. `connect_us`: how long a server that starts waits for its peer before it takes it for dead.
    `lock_check_us`: how often a server tries the lock, or makes sure that it still has it. `lock_timeout_us`: a gateway
    that has not answered for so long has taken the lock away. `lock_file`: false is the product's default,
    `LockFile = null` (FI-1): servers behave as if each had the lock.

    `session_timeout_us`: a client that was silent for so long has no session any more. `detect_duplicates` hardens the
    durable connection, of which the documents do not say whether what is sent again is stored twice: servers remember
    the last request of each client, as part of the database.

    For clients: `call_timeout_us`: how long an answer is waited for. `reconnect_us`: the pause after both servers were
    tried. `pause_us`: between two operations. `operations`: how many a client does; 0: no end. `local_store_max`: so
    many requests are kept in the local store while there is no connection. `body_bytes`: how long a message is.
    """

    ping_us: int = 500_000
    socket_timeout_us: int = 2 * SECOND_US
    connect_us: int = 1 * SECOND_US
    lock_check_us: int = 1 * SECOND_US
    lock_timeout_us: int = 3 * SECOND_US
    lock_file: bool = True
    session_timeout_us: int = 5 * SECOND_US
    detect_duplicates: bool = False
    call_timeout_us: int = 3 * SECOND_US
    reconnect_us: int = 1 * SECOND_US
    pause_us: OrZero = 20_000
    operations: OrZero = 0
    local_store_max: int = 20
    body_bytes: int = 32


class ReplicatedOptions(PairOptions, frozen=True, kw_only=True):
    """Two copies of the database.

    `answer_after`: a client is answered when its change is on both disks, or on that of the serving one alone (F-W6);
    the documents do not say. `on_lock_lost`: an active server whose lock is lost while the channel is up stays active,
    as the documents read, or goes to WAITING (F-R6, FI-4). `alone_from_waiting`: who goes on alone from WAITING when it
    has the lock: anyone, as the diagram reads; who was in sync with its peer and has not been started since; nobody, as
    the text reads (F-R4). An unfinished copy never does. `sync_batch`: objects that are sent at a time.

    `epochs_in_lock_file` hardens the documented protocol (FI-2, FI-3). Who is to serve without its peer first writes a
    higher epoch into the lock file and reads that the peer has not; whose data is of a lower epoch than the peer's
    claim waits. Between two that wait, epoch and number of the last change decide, not the clocks of two hosts.

    `bug_promote_passive_sync` (FI-5): a failure during synchronisation is treated as one after it.
    """

    answer_after: Literal["both", "own"] = "both"
    on_lock_lost: Literal["stay", "wait"] = "stay"
    alone_from_waiting: Literal["anyone", "in_sync", "nobody"] = "anyone"
    sync_batch: int = 16
    epochs_in_lock_file: bool = False
    bug_promote_passive_sync: bool = False

    def check(self) -> None:
        """Errors: `Refused`, for epochs without a lock file to write them into."""
        if self.epochs_in_lock_file and not self.lock_file:
            raise Refused("`epochs_in_lock_file` needs a lock file; leave `lock_file` out, or make it `true`")


class SharedOptions(PairOptions, frozen=True, kw_only=True):
    """One database. Of the released misbehaviours only that without a lock file (FI-1) is one of code that shares its
    database: FI-2, FI-3 and FI-5 are about two copies, FI-4 about how a sentence is read.

    `compact_after`: so many changes are made one file again. `verify_before_answer` hardens the documented protocol: no
    client is answered before the database has confirmed, after the write, that nobody has activated since.
    """

    compact_after: int = 200
    verify_before_answer: bool = False
