"""Settings of both systems, with the defaults that their documents give."""

from __future__ import annotations

from typing import Literal

from hacheck.impl.kit.settings import SECOND_US, OrUnlimited, OrZero, Settings


class BrokerOptions(Settings, frozen=True, kw_only=True):
    """What brokers and clients of both kinds have in common. Times are microseconds.

    `connection_ttl_us`: after so long without a sign of life a connection is dead. `check_period_us`: how often both
    ends give one. `id_cache_size`: how many duplicate ids are kept for each address. `persist_id_cache`: on disk, too.
    `large_message_bytes`: bodies from this size on have files of their own. `page_after`: a queue that holds so many
    messages puts more into pages. `compact_after`: so many journal records are made one again.

    For clients: `call_timeout_us`: how long a blocking call waits. `reconnect_us`: the pause after all connectors were
    tried. `pause_us`: between two operations. `operations`: how many operations a client does; 0: no end.
    `body_bytes`: how long a message is; every eighth is ten times as long.
    """

    allow_failback: bool = True
    restart_backup: bool = True
    connection_ttl_us: int = 3 * SECOND_US
    check_period_us: int = 1 * SECOND_US
    id_cache_size: int = 20_000
    persist_id_cache: bool = True
    large_message_bytes: int = 100 * 1024
    page_after: OrZero = 1_000
    compact_after: int = 1_000
    call_timeout_us: int = 5 * SECOND_US
    reconnect_us: int = 2 * SECOND_US
    pause_us: OrZero = 20_000
    operations: OrZero = 0
    body_bytes: int = 32


class SharedStoreOptions(BrokerOptions, frozen=True, kw_only=True):
    """Shared store. Source of the defaults: broker facts 2.2.

    `failover_on_shutdown`: an orderly stop lets the backup take over. `monitor_us`: how often a broker that serves
    makes sure that it still holds its lock. `failback_wait_us`: how long the one that made way for a primary, or finds
    its mark, waits for it to serve, without a sign of life from it.

    `verify_before_answer` hardens the documented protocol: each activation writes journal files of its own, and no
    client is answered before the store has confirmed, after the write, that nobody has activated since. A lock that
    was lost unnoticed then costs no acknowledged message.

    Released misbehaviours: `bug_failing_back_wedge` (AR-26): the one that finds the mark of a primary that wants to
    fail back waits for it for ever. `bug_lock_unmonitored`, `bug_lock_checked_locally` (AR-19): nobody looks after the
    lock, or only at the process's own idea of it. `bug_backup_unmonitored` (AR-29): a backup that took over does not
    look after it. `bug_takeover_by_clock` (AR-27): a take-over is noticed by the clocks of two hosts.
    `bug_state_cached` (AR-21): the state byte is read from a cache that may be old. `bug_lock_skipped` (AR-20): a
    primary starts without a request for the lock."""

    failover_on_shutdown: bool = False
    lock_retry_us: int = 500_000
    lock_error_wait_us: int = 2 * SECOND_US
    poll_us: int = 2 * SECOND_US
    failback_check_us: int = 1 * SECOND_US
    failback_wait_us: int = 10 * SECOND_US
    monitor_us: int = 2 * SECOND_US
    verify_before_answer: bool = False
    bug_failing_back_wedge: bool = False
    bug_lock_unmonitored: bool = False
    bug_lock_checked_locally: bool = False
    bug_backup_unmonitored: bool = False
    bug_takeover_by_clock: bool = False
    bug_state_cached: bool = False
    bug_lock_skipped: bool = False


class ReplicationOptions(BrokerOptions, frozen=True, kw_only=True):
    """Replication with a quorum vote. Source of the defaults: broker facts 2.3.

    `pairs`: how many primaries; 0: half of the brokers. What is left are backups. `groups`: 0: any backup may pair with
    any primary; otherwise both are dealt out to so many groups, by turns. `check_for_active_server`: a starting primary
    looks for a broker that serves its node; the product's default is false, though its manual says that it must be set
    where a primary is restarted after a failover. `vote_on_replication_failure`: a primary that loses its replica asks
    the others whether it is still the one. `quorum_size`: how many nodes a majority is counted of; -1: the most that
    were ever seen. `network_check`: there is a host that every broker pings; who cannot does not serve.
    `max_saved_replicated_journals_size`: how many old copies of its data a backup keeps; 0: none.
    `sync_batch`: files of the initial copy that are sent at a time. `replica_slow_us`: a replica that owes an answer
    for so long is given up.

    A primary that was ended while it copied never serves that copy: it asks for the one that has the whole one. That
    one, if it was ended as well, started as a backup and laid it aside, as documented: nobody serves until somebody
    decides.

    Two settings harden the documented protocol. `replica_ack=written`: the replica answers when a change is on its
    disk, not when it has received it (AR-15). `last_server_starts`: a broker remembers on its disk whether it served,
    and with whom. Who served alone when it ended serves again, a backup too; who had a replica, or was one, does so
    once the other has laid its own copy aside without having served it (AR-8). If that one never comes back, somebody
    must decide.

    Released misbehaviours: `bug_vote_size` (AR-2): too few votes are needed. `bug_vote_on_reachability` (AR-3): voters
    say yes when they were reached. `bug_stay_vote_inverted` (AR-4a): who asks to stay gets the answer to the other
    question. `bug_stay_vote_by_node_id` (AR-4b): the backup that took over counts as the primary.
    `bug_health_overrides_vote` (AR-6): a reachable gateway makes up for a lost vote. `bug_late_final_ack` (AR-12): a
    primary goes on when the last answer of the initial copy is late. `bug_channel_left_open` (AR-13): a slow replica is
    given up without a word to it. `bug_pending_left_out` (AR-14): the initial copy lacks what is just being written.
    `bug_failback_by_sleeping` (AR-16): who fails back waits for a time instead of for answers.
    `bug_topology_unprobed` (AR-17): a starting primary believes others that its node is served.
    `bug_vote_in_failback` (AR-18): a returning primary takes the other's orderly end for a failure.
    `bug_replicate_first` (AR-24): a change goes to the replica before it is written here.
    """

    pairs: OrZero = 0
    groups: OrZero = 0
    check_for_active_server: bool = True
    check_wait_us: int = 5 * SECOND_US
    vote_on_replication_failure: bool = False
    quorum_size: OrUnlimited = -1
    vote_retries: OrZero = 12
    vote_retry_wait_us: int = 5 * SECOND_US
    quorum_vote_wait_us: int = 30 * SECOND_US
    stay_vote_wait_us: int = 5 * SECOND_US
    retry_replication_wait_us: int = 2 * SECOND_US
    initial_replication_sync_timeout_us: int = 30 * SECOND_US
    max_saved_replicated_journals_size: OrZero = 2
    announcement_wait_us: int = 60 * SECOND_US
    stop_called_wait_us: int = 60 * SECOND_US
    fail_over_wait_us: int = 5 * SECOND_US
    network_check: bool = False
    network_check_period_us: int = 5 * SECOND_US
    network_check_timeout_us: int = 1 * SECOND_US
    sync_batch: int = 16
    replica_slow_us: int = 10 * SECOND_US
    replica_ack: Literal["received", "written"] = "received"
    last_server_starts: bool = False
    bug_vote_size: bool = False
    bug_vote_on_reachability: bool = False
    bug_stay_vote_inverted: bool = False
    bug_stay_vote_by_node_id: bool = False
    bug_health_overrides_vote: bool = False
    bug_late_final_ack: bool = False
    bug_channel_left_open: bool = False
    bug_pending_left_out: bool = False
    bug_failback_by_sleeping: bool = False
    bug_topology_unprobed: bool = False
    bug_vote_in_failback: bool = False
    bug_replicate_first: bool = False
