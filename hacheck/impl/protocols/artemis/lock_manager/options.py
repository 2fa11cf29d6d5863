"""Settings of brokers with replication and a lock manager, and of the lock manager."""

from __future__ import annotations

from hacheck.impl.kit.settings import SECOND_US
from hacheck.impl.protocols.artemis.options import ReplicationOptions
from hacheck.impl.system import Refused


class LockManagerOptions(ReplicationOptions, frozen=True, kw_only=True):
    """Replication with a lock manager; settings of votes and of the network check are none of it. Source of the
    defaults: broker facts 2.9.

    `manager_ttl_us`: after so long without a sign of life a session is over, and its locks are free. `manager_ping_us`:
    how often a broker gives one. `manager_patience_us`: a broker that got no answer for so long takes the manager for
    gone; less than the TTL, so that it stops before its lock is another's. `manager_check_us`: how often the manager
    looks for sessions that are over. `retry_lock_us`: the pause before a lock that another has is tried again.
    `claim_wait_us`: how long a broker that gave way waits for the other to claim the next number. `coordination_id`:
    all brokers are primaries of one node id; there is no failback.

    `fenced` hardens the documented protocol: the manager changes the sequence for nobody but the last session that got
    the lock. A broker that was paused until its lock was another's then cannot commit a claim.

    Released misbehaviours: `bug_lock_alone` (AR-8): the lock decides, whatever the sequence says.
    `bug_claim_unrepaired` (AR-10): a claim that was not committed is stale for everybody. `bug_identity_forgotten`
    (AR-11): a backup that lost the manager goes on under a node id of its own. `bug_listeners_silent` (AR-28): nobody
    is informed that a lock, or the manager, is lost. `bug_channel_left_open` (AR-13) is as with votes.
    """

    manager_ttl_us: int = 3 * SECOND_US
    manager_ping_us: int = 500_000
    manager_patience_us: int = 2 * SECOND_US
    manager_check_us: int = 500_000
    retry_lock_us: int = 200_000
    claim_wait_us: int = 4 * SECOND_US
    coordination_id: bool = False
    fenced: bool = False
    bug_lock_alone: bool = False
    bug_claim_unrepaired: bool = False
    bug_identity_forgotten: bool = False
    bug_listeners_silent: bool = False

    def check(self) -> None:
        """Errors: `Refused`, for a broker that stops after its lock may be another's."""
        if self.manager_patience_us >= self.manager_ttl_us:
            raise Refused(
                "`manager_patience_us` is less than `manager_ttl_us`: a broker stops before its lock is another's"
            )


SETTINGS_OF_VOTES = frozenset(
    {
        *("pairs", "groups", "check_for_active_server", "check_wait_us", "vote_on_replication_failure", "quorum_size"),
        *("vote_retries", "vote_retry_wait_us", "quorum_vote_wait_us", "stay_vote_wait_us", "network_check"),
        *("network_check_period_us", "network_check_timeout_us", "last_server_starts", "bug_vote_size"),
        *("bug_vote_on_reachability", "bug_stay_vote_inverted", "bug_stay_vote_by_node_id", "bug_late_final_ack"),
        *("bug_health_overrides_vote", "bug_failback_by_sleeping", "bug_topology_unprobed", "bug_vote_in_failback"),
    }
)
"""Settings of the policy that votes: with a lock manager they cannot be set."""
