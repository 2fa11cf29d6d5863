"""The released misbehaviours of brokers over a shared store: each does what it did, and the default does not."""

from __future__ import annotations

import pytest

from hacheck.impl.protocols.artemis.shared_store.broker import PRIMARY_LOCK, STATE_KEY, STORE
from hacheck.impl.protocols.artemis.system import SHARED_STORE
from tests.impl.stage import SECOND, Stage


def group(**settings: object) -> Stage:
    stage = Stage(SHARED_STORE, 2, 0, **settings)
    stage.start()
    stage.run(4.5)  # between two looks of the monitor
    return stage


@pytest.mark.parametrize("bug", [True, False])
def test_failing_back_wedge(bug: bool) -> None:
    """AR-26: the primary writes F, crashes; the backup stops for it and waits for ever."""
    stage = group(bug_failing_back_wedge=bug)
    stage.crash("primary-1")
    stage.run(3)
    stage.start("primary-1")
    stage.run(0.05)
    stage.crash("primary-1")
    stage.run(120)
    assert stage.shared[STORE][STATE_KEY] == (b"F" if bug else b"L")
    assert stage.serving() == (() if bug else ("backup-1",))


@pytest.mark.parametrize("bug", ["bug_lock_unmonitored", "bug_lock_checked_locally", ""])
def test_lock_that_is_lost_unnoticed(bug: str) -> None:
    """AR-19: the mount is lost, the lock expires, the backup takes over, the mount comes back."""
    stage = group(**({bug: True} if bug else {}))
    stage.lose_lock(PRIMARY_LOCK)
    stage.run(60)
    assert (len(stage.serving()) == 2) is bool(bug)


@pytest.mark.parametrize("bug", [True, False])
def test_backup_that_took_over_is_not_monitored(bug: bool) -> None:
    """AR-29: the monitor is started on the natural primary's path alone."""
    stage = group(bug_backup_unmonitored=bug, allow_failback=False)
    stage.crash("primary-1")
    stage.run(3)
    stage.start("primary-1")
    stage.run(1)
    stage.lose_lock(PRIMARY_LOCK)
    stage.run(10)
    assert set(stage.serving()) == ({"backup-1", "primary-1"} if bug else {"primary-1"})


@pytest.mark.parametrize("bug", [True, False])
def test_take_over_is_judged_by_two_clocks(bug: bool) -> None:
    """AR-27: the backup's clock is behind, and the lock's host says nothing. The counter shows it all the same."""
    stage = Stage(SHARED_STORE, 2, 0, bug_takeover_by_clock=bug)
    stage.ahead = {"primary-1": 3600 * SECOND}
    stage.start()
    stage.run(4.5)
    stage.lose_lock(PRIMARY_LOCK)
    stage.run(1)  # the backup has it
    assert stage.holders[PRIMARY_LOCK] == "backup-1"
    stage.holders[PRIMARY_LOCK] = "primary-1"  # and the host believes in the old one again
    stage.run(3)
    assert ("primary-1" in stage.serving()) is bug


@pytest.mark.parametrize("bug", [True, False])
def test_state_byte_from_a_cache_hides_a_returning_primary(bug: bool) -> None:
    """AR-21: failback is not seen."""
    stage = Stage(SHARED_STORE, 2, 0, bug_state_cached=bug)
    stage.start("primary-1")
    stage.run(1)
    stage.start("backup-1")
    stage.run(3)
    stage.crash("primary-1")
    stage.run(3)
    stage.start("primary-1")
    stage.run(6)
    assert stage.serving() == (("backup-1",) if bug else ("primary-1",))


@pytest.mark.parametrize("bug", [True, False])
def test_two_actives_on_one_store_without_a_lock(bug: bool) -> None:
    """AR-20: nobody asks for the lock before opening the store."""
    stage = group(bug_lock_skipped=bug, allow_failback=False)
    stage.crash("primary-1")
    stage.run(3)
    stage.start("primary-1")
    stage.run(1)
    assert ("one-active" in stage.promises_broken()) is bug
