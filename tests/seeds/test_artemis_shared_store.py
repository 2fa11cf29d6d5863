"""Artemis' shared store: one test for each rule of the documents.

"Manual" is "High Availability and Failover"; "facts" is "Broker failover protocols"; A-S1 to A-S7 are our choices.
"""

from __future__ import annotations

import pytest

from tests.seeds.artemis_shared import (
    BACKUP,
    PRIMARY,
    SECOND_BACKUP,
    active_and_passive,
    failed_over,
    failing_back,
    store,
)

# ---- the primary starts ----


def test_primary_writes_f_before_it_asks_for_the_lock() -> None:
    """At every start, also the first one.

    Source: facts, 2.2, primary role: WAIT_LOCK, entry.
    """
    pair = store()
    assert pair.byte == "first_start"
    pair.request()
    assert (pair[PRIMARY].mode, pair.byte, pair.holder) == ("waiting", "failing_back", None)


def test_primary_with_the_lock_reads_the_journal_and_then_writes_l() -> None:
    """It takes connections before the byte says so.

    Source: facts, 2.2, primary role: WAIT_LOCK, ACTIVATING.
    """
    pair = store()
    pair.request()
    pair.take("lock_primary", PRIMARY)
    assert (pair[PRIMARY].mode, pair.holder) == ("activating", PRIMARY)
    assert not pair.send(PRIMARY)
    pair.take("load_journal", PRIMARY)
    assert (pair[PRIMARY].mode, pair.byte) == ("active", "failing_back")
    pair.take("complete_activation", PRIMARY)
    assert pair.byte == "live"
    assert pair.send(PRIMARY)


def test_primary_waits_while_a_backup_serves() -> None:
    """The lock is tried again and again.

    Source: facts, 2.2, primary role: WAIT_LOCK.
    """
    pair = failing_back(no_failback="on")
    assert pair.modes == ("waiting", "active")
    assert not pair.can("lock_primary", PRIMARY)


@pytest.mark.parametrize(
    ("by_probe", "taken", "announced"), [("on", False, False), ("on", True, True), ("off", False, True)]
)
def test_primary_announces_itself(by_probe: str, taken: bool, announced: bool) -> None:
    """The released code does so only if the lock is taken when it looks.

    Source: facts, 2.2, primary role: START; A-S3.
    """
    pair = store(crashes="2", announces_by_probe=by_probe)
    if taken:
        pair = failed_over(announces_by_probe=by_probe)
        pair.take("restart Server", PRIMARY)
    pair.request()
    assert pair.can("tell_others", PRIMARY) == announced


def test_probe_leaves_the_lock_as_it_was() -> None:
    """The lock is tried and given back at once.

    Source: facts, 2.2, primary role: START.
    """
    pair = store(announces_by_probe="on")
    pair.take("start", PRIMARY)
    pair.take("start_as_primary", PRIMARY)
    assert pair.holder is None


def test_primary_asks_again_when_a_backup_took_over_while_it_waited() -> None:
    """Without its `F` no backup would give way.

    Source: A-S2.
    """
    pair = active_and_passive(mount_cuts="1", crashes="2")
    pair.crash(PRIMARY)
    pair.take("restart Server", PRIMARY)
    pair.request()
    pair.cut(PRIMARY)
    pair.take("give_up_on_primary", BACKUP)
    pair.heal(PRIMARY)
    assert (pair.modes, pair.byte) == (("waiting", "activating"), "live")
    pair.take("ask_again", PRIMARY)
    assert pair.byte == "failing_back"


@pytest.mark.parametrize("mount", ["soft", "hard"])
def test_primary_that_cannot_write_f_stops_or_waits(mount: str) -> None:
    """An I/O error is critical; a hard mount gives none.

    Source: facts, 2.2, primary role; A-S5.
    """
    pair = store(mount_cuts="1", mount=mount)
    pair.take("start", PRIMARY)
    pair.cut(PRIMARY)
    assert pair.can("start_as_primary", PRIMARY) == (mount == "soft")
    if mount == "soft":
        pair.take("start_as_primary", PRIMARY)
        assert pair.can("restart Server", PRIMARY)


# ---- backups ----


def test_one_backup_is_passive_and_the_others_queue() -> None:
    """The backup lock chooses.

    Source: manual, Live - Backup Groups; facts, 2.2, backup role: START.
    """
    pair = active_and_passive(backups="2")
    pair.take("start", SECOND_BACKUP)
    assert pair[BACKUP].mode == "passive"
    assert not pair.can("join", SECOND_BACKUP)


def test_next_backup_is_passive_once_the_first_one_serves() -> None:
    """The backup lock is given back at the end of the activation.

    Source: manual, Live - Backup Groups; facts, 2.2: ACTIVATING, done.
    """
    pair = active_and_passive(backups="2", crashes="1")
    pair.take("start", SECOND_BACKUP)
    pair.crash(PRIMARY)
    pair.take("take_over", BACKUP)
    pair.take("take_over.locked", BACKUP)
    pair.take("load_journal", BACKUP)
    assert not pair.can("join", SECOND_BACKUP)
    pair.take("complete_activation", BACKUP)
    pair.take("join", SECOND_BACKUP)
    assert pair[SECOND_BACKUP].mode == "passive"


def test_backups_do_not_queue_without_a_backup_lock() -> None:
    """Then all of them are passive.

    Source: facts, 2.2, backup role: START.
    """
    pair = active_and_passive(backups="2", no_backup_lock="on")
    pair.take("start", SECOND_BACKUP)
    pair.take("join", SECOND_BACKUP)
    assert not pair.holds("one_passive")


def test_backup_does_not_try_the_lock_before_a_first_start() -> None:
    """The byte says that nobody has served yet.

    Source: facts, 2.2, backup role: PASSIVE, byte 0 or N.
    """
    pair = store()
    pair.take("start", BACKUP)
    pair.take("join", BACKUP)
    pair.take("take_over", BACKUP)
    assert (pair[BACKUP].mode, pair.holder) == ("passive", None)
    assert not pair.can("take_over.locked", BACKUP)


def test_backup_takes_over_with_the_lock_and_an_l() -> None:
    """It reads the journal, and has what was acknowledged.

    Source: manual, Shared Store; facts, 2.2, backup role: PASSIVE.
    """
    pair = active_and_passive(crashes="1")
    assert pair.send(PRIMARY)
    pair.crash(PRIMARY)
    pair.take_over()
    assert (pair[BACKUP].mode, pair.holder, pair.byte) == ("active", BACKUP, "live")
    assert pair[BACKUP].stored == {1}


@pytest.mark.parametrize("byte", ["failing_back", "paused"])
def test_backup_lets_go_of_the_lock_where_it_is_not_meant_to_serve(byte: str) -> None:
    """It holds the lock while it looks, and tries again later.

    Source: facts, 2.2, backup role: PASSIVE, byte P or F.
    """
    pair = active_and_passive(crashes="1", stops="1")
    if byte == "failing_back":
        pair.crash(PRIMARY)
        pair.take("restart Server", PRIMARY)
        pair.request()
    else:
        pair.take("stop_cleanly", PRIMARY)
        pair.take("stop_cleanly.paused", PRIMARY)
    assert pair.byte == byte
    pair.take("take_over", BACKUP)
    assert pair.holder == BACKUP
    pair.take("take_over.locked", BACKUP)
    assert (pair[BACKUP].mode, pair.holder) == ("passive", None)
    assert pair.can("take_over", BACKUP)


def test_backup_goes_by_the_byte_it_reads_with_the_lock() -> None:
    """What it read before does not count.

    Source: facts, 2.2, backup role: PASSIVE.
    """
    pair = active_and_passive(crashes="1")
    pair.crash(PRIMARY)
    pair.take("take_over", BACKUP)
    pair.take("restart Server", PRIMARY)
    pair.request()
    pair.take("take_over.locked", BACKUP)
    assert pair.modes == ("waiting", "passive")


@pytest.mark.parametrize("mount", ["soft", "hard"])
def test_backup_that_loses_its_mount_with_the_lock_does_not_take_over(mount: str) -> None:
    """It stops, or lets go and tries again.

    Source: facts, 2.2, backup role; A-S5.
    """
    pair = active_and_passive(crashes="1", mount_cuts="1", mount=mount)
    pair.crash(PRIMARY)
    pair.take("take_over", BACKUP)
    pair.cut(BACKUP)
    pair.take("take_over.locked", BACKUP)
    assert pair[BACKUP].mode == ("stopped" if mount == "soft" else "passive")
    pair.take("free PrimaryLock", BACKUP)
    assert pair.holder is None


# ---- a primary that does not come back ----


def test_backup_gives_up_on_a_primary_that_died_between_f_and_l() -> None:
    """It takes over and says so with an `L`.

    Source: A-S1; the defect without it is AR-26.
    """
    pair = active_and_passive(crashes="2")
    pair.crash(PRIMARY)
    pair.take("restart Server", PRIMARY)
    pair.request()
    assert not pair.can("give_up_on_primary", BACKUP)
    pair.crash(PRIMARY)
    pair.take("give_up_on_primary", BACKUP)
    assert (pair[BACKUP].mode, pair.holder, pair.byte) == ("activating", BACKUP, "live")


def test_released_backup_never_gives_up() -> None:
    """It gets the lock, and lets go of it.

    Source: facts, A-W3; AR-26.
    """
    pair = active_and_passive(crashes="2", failing_back_for_ever="on")
    pair.crash(PRIMARY)
    pair.take("restart Server", PRIMARY)
    pair.request()
    pair.crash(PRIMARY)
    assert "give_up_on_primary" not in pair.possible
    pair.take("take_over", BACKUP)
    pair.take("take_over.locked", BACKUP)
    assert pair[BACKUP].mode == "passive"


def test_backup_that_finds_no_f_has_nobody_to_give_up_on() -> None:
    """It lets go of the lock.

    Source: A-S1.
    """
    pair = active_and_passive(crashes="1")
    pair.crash(PRIMARY)
    pair.take("give_up_on_primary", BACKUP)
    assert (pair[BACKUP].mode, pair.holder) == ("passive", None)


def test_impatient_backup_gives_up_on_a_primary_that_waits() -> None:
    """How long is long enough is an assumption.

    Source: A-S1.
    """
    pair = active_and_passive(crashes="1", patient_backup="off")
    pair.crash(PRIMARY)
    pair.take("restart Server", PRIMARY)
    pair.request()
    pair.take("give_up_on_primary", BACKUP)
    assert pair.modes == ("waiting", "activating")


# ---- failback ----


def test_backup_gives_way_to_the_primary() -> None:
    """It lets go of the lock, and the byte stays `F`.

    Source: manual, Failing Back to live Server; facts, 2.2, backup role: ACTIVE_BACKUP.
    """
    pair = failing_back()
    pair.take("check_failback", BACKUP)
    assert pair.modes == ("waiting", "active")
    pair.take("check_failback.stopping", BACKUP)
    assert (pair.modes, pair.byte, pair.holder) == (("waiting", "handed_over"), "failing_back", None)
    pair.take("lock_primary", PRIMARY)
    pair.activate(PRIMARY)
    pair.take("come_back", BACKUP)
    pair.take("join", BACKUP)
    assert pair.modes == ("active", "passive")


def test_backup_does_not_give_way_before_it_has_heard_of_another() -> None:
    """Somebody must be there to take over.

    Source: facts, 2.2, backup role: ACTIVE_BACKUP.
    """
    pair = failed_over()
    pair.take("restart Server", PRIMARY)
    pair.request()
    assert not pair.can("check_failback", BACKUP)
    pair.take("tell_others", PRIMARY)
    assert pair.can("check_failback", BACKUP)


def test_backup_does_not_give_way_unless_the_byte_is_f() -> None:
    """What it heard may be long ago.

    Source: facts, 2.2, backup role: ACTIVE_BACKUP.
    """
    pair = failed_over(backups="2")
    pair.take("start", SECOND_BACKUP)
    pair.take("join", SECOND_BACKUP)
    pair.take("tell_others", SECOND_BACKUP)
    pair.take("check_failback", BACKUP)
    assert not pair.can("check_failback.stopping", BACKUP)


def test_backup_without_failback_stays() -> None:
    """allow-failback is a setting of the backup.

    Source: manual, All Shared Store Configuration: allow-failback.
    """
    assert "check_failback" not in failing_back(no_failback="on").possible


@pytest.mark.parametrize("by_delay", ["on", "off"])
def test_server_that_gave_way_waits_for_an_l(by_delay: str) -> None:
    """HornetQ waited for some time instead.

    Source: facts, 2.2, backup role: HANDED_OVER; manual, failback-delay.
    """
    pair = failing_back(hand_over_by_delay=by_delay)
    pair.take("check_failback", BACKUP)
    pair.take("check_failback.stopping", BACKUP)
    pair.take("come_back", BACKUP)
    assert pair[BACKUP].mode == ("joining" if by_delay == "on" else "handed_over")


def test_server_that_gave_way_serves_again_when_the_primary_dies() -> None:
    """It waits for an `L`, but not for ever.

    Source: A-S1; the defect without it is AR-26.
    """
    pair = failing_back(crashes="2")
    pair.take("check_failback", BACKUP)
    pair.take("check_failback.stopping", BACKUP)
    pair.crash(PRIMARY)
    pair.take("give_up_on_primary", BACKUP)
    assert pair[BACKUP].mode == "activating"
