"""The settings of IceStorm: time-outs, what hardens it, and the misbehaviours of released versions."""

from __future__ import annotations

from typing import Literal

from hacheck.impl.kit.settings import SECOND_US, OrZero, Settings


class Options(Settings, frozen=True, kw_only=True):
    """The settings. Times are in microseconds. Without a word to the contrary a default is that of the documents.

    `master_timeout_us`: how often a slave asks whether its coordinator is still there. `election_timeout_us`: how often
    a coordinator looks for others. `response_timeout_us`: how long invited members may take to accept; the unit of the
    delays by priority. `start_delay_us`: the first search waits this long for each identifier above the own one.
    `invocation_timeout_us`: how long a call between replicas may take; 0: for ever, the default of Ice, with which
    nobody finds out that a replica hangs, and a network that loses messages may stop the service for good.

    `full_startup`: without a memory of a full group, a group must have all replicas. `transient`: one replica without a
    database; replication is not supported in this mode. `retry_interval_us`: how long nothing is delivered to a
    subscriber that failed and has retries left. `attempts`: what it is given then: the message that comes next
    (`later`), or the one that failed (`same`), and with `ordered` what waits behind it.

    Hardening, beyond the documents:

    `promise_generations`: a coordinator has its majority promise the new generation, durably, before anybody stores
    its stamp. Without it the stamp of a group that never came about may outdo that of one that serves: a coordinator
    that fails twice in a row to form a group is later taken for the one with the latest database.
    `count_empty_disks=false`: a replica whose disk is empty does not count for a majority, unless all take part; so a
    lost disk cannot vote for the loss of what was on it. `probe_slaves`: a coordinator without work asks its slaves
    at every check whether they are there, and steps down without a majority; reads are then stale for a bounded time.

    Misbehaviours of 3.7.8 (the default, false, is the correct behaviour):

    `bug_stamp_reset_at_start` (IS-1, Q1): a start forgets the stamp of the last update.
    `bug_generation_from_slaves` (IS-2, Q2): the coordinator's own stamp does not count for the new generation.
    `bug_rejection_acknowledged` (Q3): an update that a slave rejects counts as done there.
    `bug_init_needs_all` (IS-4, Q5): one slave that cannot take the database ends the whole group.
    `bug_majority_by_ping` (Q6): any process that answers counts for the majority, whatever its group.
    `bug_calls_name_no_group`: a database is taken from the one that sends it, an update by its generation only.
    `bug_ready_unanswered`: a coordinator cannot see that a member has not taken up its duty.
    `bug_sync_by_name` (IS-6): a member keeps a topic in memory that has the right name, whatever is in it.
    `bug_destroy_marked_first` (IS-5, Q10): a topic is gone from memory before the disk has said so.
    `bug_unknown_create_hidden`: a topic whose creation had an unknown outcome is on the coordinator's disk only.
    `bug_inviter_forwarded`: forwarded invitations count the inviter, so that not all that were issued are accepted.
    `bug_slave_is_patient`: a slave whose group never comes about asks for its coordinator after the whole
    `master_timeout_us`, not after half the time between two checks. A coordinator that needs all replicas then finds
    one of them at one check and the other at the next, for ever, if both time-outs are the same, as they are.
    `bug_timeout_keeps_phase` (Q11): a slave that joins another group asks for its coordinator at the old times.
    `bug_joins_again`: a slave that is invited to its own group once more, by an invitation that was handed on and
    comes late, joins it anew, and waits for ever: its coordinator, which replicates, counts nobody any more.

    `one_endpoint`: publishers' proxies lead to one replica, the one that answered, whatever they ask for.

    `trace_messages`: records of each message that a replica takes.

    Of the clients in a run: `client_period_us` between two requests, `client_timeout_us` for each attempt. `workload`:
    what they do; with `shared` the first one publishes on a topic to which the others subscribe. `proxy`: what
    publishers ask for, `getPublisher` (`replicated`) or `getNonReplicatedPublisher`; `mixed`: every second client the
    one and the other; `either`: each the one and the other in turn. `idempotent`: a publication whose outcome is not
    known may be sent again, at another replica; else its publisher gets an exception. `idle_close_us`: after so long
    without work a connection is closed (ACM), and the next one may lead to another replica; 0: never. `leave_after_us`:
    with `shared`, when subscribers end their subscriptions; 0: never. `messages_max`: with `shared`, how many messages
    a publisher sends; 0: no limit.
    """

    master_timeout_us: int = 10 * SECOND_US
    election_timeout_us: int = 10 * SECOND_US
    response_timeout_us: int = 10 * SECOND_US
    start_delay_us: OrZero = 2 * SECOND_US
    invocation_timeout_us: OrZero = 2 * SECOND_US
    full_startup: bool = True
    transient: bool = False
    retry_interval_us: OrZero = 60 * SECOND_US
    attempts: Literal["later", "same"] = "later"
    trace_messages: bool = False

    promise_generations: bool = False
    count_empty_disks: bool = True
    probe_slaves: bool = False

    bug_stamp_reset_at_start: bool = False
    bug_generation_from_slaves: bool = False
    bug_rejection_acknowledged: bool = False
    bug_init_needs_all: bool = False
    bug_majority_by_ping: bool = False
    bug_calls_name_no_group: bool = False
    bug_ready_unanswered: bool = False
    bug_sync_by_name: bool = False
    bug_destroy_marked_first: bool = False
    bug_unknown_create_hidden: bool = False
    bug_inviter_forwarded: bool = False
    bug_slave_is_patient: bool = False
    bug_timeout_keeps_phase: bool = False
    bug_joins_again: bool = False

    client_period_us: int = SECOND_US // 5
    client_timeout_us: int = 5 * SECOND_US
    workload: Literal["mixed", "updates", "publishing", "shared", "none"] = "mixed"
    one_endpoint: bool = False
    proxy: Literal["mixed", "replicated", "non_replicated", "either"] = "mixed"
    idempotent: bool = False
    idle_close_us: OrZero = 0
    leave_after_us: OrZero = 0
    messages_max: OrZero = 0
