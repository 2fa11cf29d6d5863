"""Settings of a cluster: how a broker is configured, what its resource manager does, what its clients do."""

from __future__ import annotations

from typing import Literal

from hacheck.impl.kit.settings import OrZero, Settings
from hacheck.impl.system import Refused

Level = Literal["none", "configuration", "all"]
"""What of a queue or exchange is replicated: nothing, that it is there, or its messages, too."""

Fencing = Literal["none", "watchdog"]

Transacted = Literal["local", "replicated"]
"""Who has a transaction: the primary alone, or its backups, too."""


class Options(Settings, frozen=True, kw_only=True):
    """Settings of one cluster. Times are in microseconds.

    Broker:
    `replicate`: the level of queues and exchanges that do not say their own (`ha-replicate`).
    `backup_timeout_us`: how long a new primary waits for expected backups that do not connect (`ha-backup-timeout`).
    `heartbeat_us`: how often each end of a connection says that it is there; the other end gives up after twice that.
    As shipped it is 120 s (`link-heartbeat-interval`), which is how long a stalled backup may hold up senders.
    `link_maintenance_us`: how often a backup without a primary tries the next address.
    `flow_messages`: how many copies may be on their way to a backup on one queue.
    `page_objects`: how many objects an answer about the configuration holds.
    `store`: durable queues and messages go to the broker's own disk, too.
    `trace_messages`: records of each message, as the broker's log has them at level trace.
    `transactions`: `local`, as since 2015: a transaction is one only at the primary; what it does is replicated one by
    one, and a failover in the middle of that shows part of it. `replicated`, as before: backups have it, too, prepare
    on request, and commit by themselves.

    Resource manager:
    `check_interval_us`, `check_timeout_us`: how often the status of brokers is checked, and how long an answer may take
    until a broker counts as gone. `start_timeout_us`: how long a promotion may take to be answered.
    `stop_timeout_us`: how long a broker that may be primary gets requests to stop before it is given up.
    `fencing`: `watchdog`: a primary halts when the manager has not answered it for `watchdog_us`, and the manager waits
    longer than that, for clocks that differ by less than `watchdog_margin_percent`, before it promotes another. `none`:
    a broker that does not answer is taken to be dead, so a manager whose view is cut makes a second primary.
    `restart_stuck_us`: after how long without anybody who can be promoted all brokers are started anew, as an operator
    would have to; 0: never. After a total failure all that is left may be brokers that refuse.

    Clients:
    `queues`: how many queues they share. `send_interval_us`: how often each sends, beginning after
    `send_from_us`. `window`: how many sent messages may
    be unsettled. `messages_max`: how many each sends at most, 0: no limit. `credit`: how many messages a consumer may
    hold; every second client consumes. `reconnect_interval_us`: the pause between two addresses.
    `churn_us`: how often a client deletes a queue of its own and declares another of the same name; 0: never.
    `transaction_every`: after so many sends there is a transaction of `transaction_size` messages, sent one at a time;
    0: there is none. `transactions_max`: how many each client begins at most, 0: no limit. `roll_back_every`: every so
    many of them are rolled back; 0: none is. `transaction_takes`: what a client is given while it has a transaction is
    accepted in it. `repeats_unknown`: it does a transaction again whose outcome is unknown, and may find parts of it.
    `relies_on_whole_transactions`: its application takes it that a transaction is there as a whole or not at all,
    whatever happens; it is wrong about that with `transactions=local`.

    Without a cluster (`qpid-standalone`), the operator:
    `set_up_after_us`: when he has copies kept. `go_over_after_us`: how long the first broker may be silent until he
    lets applications go over to the first copy, for good; 0: he never does. `ends_replication`: he ends it first.
    `reads_copies`: the last client consumes at the copy all the time; nothing keeps it from doing so.

    Beyond the documented protocol:
    `stays_apart`: a copy that has lost its connection makes no other one. As documented it comes back to a broker that
    was started again, and drops what that one has lost.
    `keeps_clients_out`: a broker takes no clients while it keeps copies.
    `registered_backups`: a primary lets go of a backup only when the resource manager knows, and the manager promotes
    only backups that the last primary has left registered. As documented, a backup that lost its link keeps calling
    itself ready (Q-W1, QP-13) and can be promoted without what was acknowledged in the meantime.

    Misbehaviour of releases:
    `bug_promote_joining` (QP-2): a broker that is joining can be promoted whatever others say.
    `bug_never_stopped` (QP-3): a subscription is ready only when its cursor has reached the guarded position.
    `bug_no_recheck` (QP-4): whether a backup is ready is checked only when one of its queues becomes so.
    `bug_same_name` (QP-5): a queue is known by its name alone.
    `bug_stale_responses` (QP-6): an answer about the configuration counts although an event has overtaken it.
    `bug_zero_ids` (QP-7): ids are given only from the first subscription on; earlier messages all have id 0.
    `bug_auto_delete_on_backup` (QP-8): backups delete auto-delete queues themselves when their link breaks.
    `bug_ready_during_tx` (QP-9): with `transactions=replicated`, a backup is ready while there is a transaction that it
    does not have: it may have a part of it when it is promoted.
    `bug_catchup_on_connect` (QP-10): catching up begins with the connection, not with the first message on it.
    `bug_delete_without_dequeue` (QP-11): deleting a queue does not release what is held up on it.
    `bug_ids_given_again` (section 1.3, no public thread): a promoted backup counts on from the highest replication id
    that it has itself seen, so it may give an id under which another backup holds another message: that backup then
    never gets the new one, which is completed all the same. Otherwise ids begin with the term of who gave them.
    `bug_old_answers` (section 1.3, no public thread): a broker that is joining goes by the answers that it got when it
    started, however old they are, and is promoted while another one is ready. Otherwise it asks again.
    """

    replicate: Level = "all"
    backup_timeout_us: int = 10_000_000
    heartbeat_us: int = 1_000_000
    link_maintenance_us: int = 2_000_000
    flow_messages: int = 1000
    page_objects: int = 10
    store: bool = False
    trace_messages: bool = False
    transactions: Transacted = "local"

    check_interval_us: int = 500_000
    check_timeout_us: int = 2_000_000
    start_timeout_us: int = 5_000_000
    stop_timeout_us: int = 2_000_000
    fencing: Fencing = "watchdog"
    watchdog_us: int = 3_000_000
    watchdog_margin_percent: OrZero = 50
    restart_stuck_us: OrZero = 0

    queues: int = 2
    send_interval_us: int = 50_000
    send_from_us: OrZero = 0
    window: int = 50
    messages_max: OrZero = 0
    credit: int = 10
    reconnect_interval_us: int = 500_000
    churn_us: OrZero = 0
    transaction_every: OrZero = 0
    transaction_size: int = 3
    transactions_max: OrZero = 0
    roll_back_every: OrZero = 0
    transaction_takes: bool = False
    repeats_unknown: bool = False
    relies_on_whole_transactions: bool = False

    set_up_after_us: OrZero = 0
    go_over_after_us: OrZero = 0
    ends_replication: bool = True
    reads_copies: bool = False

    stays_apart: bool = False
    keeps_clients_out: bool = False
    registered_backups: bool = False

    bug_promote_joining: bool = False
    bug_never_stopped: bool = False
    bug_no_recheck: bool = False
    bug_same_name: bool = False
    bug_stale_responses: bool = False
    bug_zero_ids: bool = False
    bug_auto_delete_on_backup: bool = False
    bug_ready_during_tx: bool = False
    bug_catchup_on_connect: bool = False
    bug_delete_without_dequeue: bool = False
    bug_ids_given_again: bool = False
    bug_old_answers: bool = False

    def check(self) -> None:
        """Errors: `Refused`, for a manager that gives up before anybody can answer."""
        if self.check_timeout_us < self.check_interval_us:
            raise Refused("`check_timeout_us` must be at least `check_interval_us`: a query precedes its answer")
        if self.watchdog_us < 2 * self.check_interval_us:
            raise Refused("`watchdog_us` must be at least twice `check_interval_us`, or it expires before an answer")
