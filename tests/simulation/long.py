"""What long runs of each protocol are like: the time-outs of the products, and clients that do something every two
minutes. One hour of such a cluster is one to four thousand events."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from hacheck.impl.simulator.running import Plan

HOUR_US = 3_600_000_000
RUN_HOURS = 10
STRETCH = 240
"""Faults come 2 minutes to an hour apart, by the draw of each run; they last up to 80 minutes, a pause two hours."""


class Long(Struct, frozen=True, kw_only=True):
    """Long runs of one protocol. `runs`: how many, of `RUN_HOURS` each."""

    runs: int
    settings: Mapping[str, str]
    replicas: int = 3

    def plan(self, seed: int, faults: str) -> Plan:
        """One of them."""
        return Plan(
            seed=seed,
            faults=faults,
            replicas=self.replicas,
            settings=self.settings,
            fault_us=RUN_HOURS * HOUR_US,
            stretch=STRETCH,
        )


FIORANO = {
    "ping_us": "30000000",
    "socket_timeout_us": "90000000",
    "connect_us": "10000000",
    "lock_check_us": "30000000",
    "lock_timeout_us": "90000000",
    "session_timeout_us": "120000000",
    "call_timeout_us": "30000000",
    "reconnect_us": "30000000",
    "pause_us": "120000000",
    "detect_duplicates": "true",
}
ARTEMIS = {
    "connection_ttl_us": "60000000",
    "check_period_us": "30000000",
    "call_timeout_us": "30000000",
    "pause_us": "120000000",
}
STORE = {
    "lock_retry_us": "30000000",
    "poll_us": "30000000",
    "monitor_us": "30000000",
    "failback_check_us": "30000000",
    "failback_wait_us": "120000000",
}
QPID = {
    "heartbeat_us": "120000000",
    "link_maintenance_us": "30000000",
    "backup_timeout_us": "300000000",
    "check_interval_us": "30000000",
    "check_timeout_us": "60000000",
    "start_timeout_us": "60000000",
    "stop_timeout_us": "60000000",
    "watchdog_us": "90000000",
    "reconnect_interval_us": "10000000",
    "send_interval_us": "120000000",
}
LONG: Mapping[str, Long] = {
    "icestorm": Long(
        runs=20,
        settings={
            "master_timeout": "30s",
            "election_timeout": "30s",
            "client_period": "2min",
            "workload": "updates",
            "promise_generations": "true",  # without it the documented protocol does not keep its promise
        },
    ),
    "icestorm-topics": Long(
        runs=4,
        settings={"client_period": "2min", "ask_period": "10min", "invocation_timeout": "30s"},
        replicas=1,
    ),
    "fiorano-replicated": Long(runs=28, settings=FIORANO, replicas=2),
    "fiorano-shared": Long(runs=28, settings=FIORANO, replicas=2),
    "qpid": Long(runs=20, settings=QPID),
    "qpid-standalone": Long(runs=50, settings=QPID),
    "artemis-shared-store": Long(
        runs=20,
        settings={**ARTEMIS, **STORE},
        replicas=2,
    ),
    "artemis-replication": Long(runs=44, settings={**ARTEMIS, "retry_replication_wait_us": "60000000"}),
    "artemis-scale-down": Long(
        runs=4,
        settings={**ARTEMIS, **STORE, "stop_every_us": "3600000000"},
        replicas=2,
    ),
    "artemis-colocated": Long(runs=2, settings={**ARTEMIS, "retry_replication_wait_us": "60000000"}, replicas=2),
    "artemis-client": Long(runs=4, settings={**ARTEMIS, **STORE}, replicas=2),
    "artemis-lock-manager": Long(
        runs=4,
        settings={
            **ARTEMIS,
            "manager_ttl_us": "180000000",
            "manager_ping_us": "30000000",
            "manager_patience_us": "120000000",
            "manager_check_us": "30000000",
            "retry_lock_us": "30000000",
            "claim_wait_us": "240000000",
        },
        replicas=2,
    ),
}
