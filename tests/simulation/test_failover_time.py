"""For how long nobody serves when the active server of a pair fails, against the settings that decide it.

A process that ends closes its connections, so its peer knows at once. Where that does not reach the peer, it misses the
signs of life, and goes by `socket_timeout_us`, which it looks at every `ping_us`. Then it asks for the lock; who is
refused asks again every `lock_check_us`.
"""

from __future__ import annotations

import pytest

from hacheck.impl.protocols.fiorano.system import REPLICATED
from hacheck.impl.simulator.faults import Fault, between
from hacheck.impl.simulator.history import Came, History, Recorded, Went
from hacheck.impl.simulator.hosts import HostTimes
from hacheck.impl.simulator.running import Plan, run

SECOND = 1_000_000
SERVING = {"ACTIVE_SYNC", "ACTIVE", "STANDALONE"}
AT_ONCE_US = SECOND // 10
"""Messages to the peer and to the lock's host, and back; both servers' clocks are right."""

USUAL = {"ping_us": "500000", "socket_timeout_us": "2000000", "lock_check_us": "1000000"}
QUICK = {"ping_us": "100000", "socket_timeout_us": "600000", "lock_check_us": "300000"}
each_settings = pytest.mark.parametrize("settings", [USUAL, QUICK], ids=["usual", "quick"])

BACKUP_RESTARTS = Fault("crash", 2 * SECOND, SECOND, ("backup",))
"""After this the primary is the active one, with the backup in step."""
ENDS_US = 12 * SECOND
CHANNEL_FIRST = Fault("cut", ENDS_US - 1_000, 15 * SECOND, links=between(("primary",), ("backup",)))


def gaps_us(history: History) -> list[int]:
    """How long each time was in which nobody served, from when a server that did was gone to when one does again."""
    serving: set[str] = set()
    found: list[int] = []
    since: int | None = None
    for entry in history.entries:
        match entry:
            case Recorded(at_us=at_us, member=member, record=record) if record.event == "state_change":
                serving = serving | {member} if record.fields["new"] in SERVING else serving - {member}
            case Came(at_us=at_us, member=member) | Went(at_us=at_us, member=member):
                serving = serving - {member}
            case _:
                continue
        if serving and since is not None:
            found.append(at_us - since)
        if serving:
            since = None
        elif since is None and isinstance(entry, Went):
            since = at_us
    return found


def failover_us(seed: int, settings: dict[str, str], kind: str, *before: Fault) -> int:
    """For how long nobody serves after the active server of a pair that is in step is gone, once."""
    faults = (BACKUP_RESTARTS, *before, Fault(kind, ENDS_US, 15 * SECOND, ("primary",)))
    plan = Plan(seed=seed, faults=faults, replicas=2, settings={"pause_us": "200000", **settings}, fault_us=30 * SECOND)
    history = History(inputs=False)
    outcome = run(REPLICATED, plan, history)
    assert outcome.defect is None
    (gap,) = gaps_us(history)
    return gap


@pytest.mark.parametrize("seed", range(3))
def test_passive_server_serves_at_once_when_the_active_process_ends(seed: int) -> None:
    """HA Locking Mechanism, 3.1: the failover happens at once."""
    assert failover_us(seed, USUAL, "crash") <= AT_ONCE_US


@each_settings
@pytest.mark.parametrize("seed", range(3))
def test_nobody_serves_for_as_long_as_it_takes_to_miss_a_silent_peer(seed: int, settings: dict[str, str]) -> None:
    """HA Locking Mechanism, 3.1: at once, that is when the failure is detected: a time-out and a ping later at most."""
    ping, timeout = int(settings["ping_us"]), int(settings["socket_timeout_us"])
    gap = failover_us(seed, settings, "crash", CHANNEL_FIRST)
    assert timeout - ping <= gap <= timeout + ping + AT_ONCE_US


@each_settings
@pytest.mark.parametrize("seed", range(3))
def test_nobody_serves_for_as_long_as_the_lock_of_a_dead_machine_stays(seed: int, settings: dict[str, str]) -> None:
    """Broker failover protocols, F-R2: the file system frees it late, and nobody goes on without it."""
    lease = HostTimes().lease_us
    assert lease <= failover_us(seed, settings, "power") <= lease + int(settings["lock_check_us"]) + AT_ONCE_US
