"""Artemis' shared store while somebody serves: messages, clean stops, the lock, and how its loss is found out.

"Manual" is "High Availability and Failover"; "facts" is "Broker failover protocols"; A-S1 to A-S7 are our choices.
"""

from __future__ import annotations

import pytest

from tests.seeds.artemis_shared import (
    BACKUP,
    PRIMARY,
    active_and_passive,
    failed_over,
    failing_back,
    lock_lost,
    store,
)

# ---- messages ----


def test_acknowledged_message_is_in_the_journal() -> None:
    """Written first, acknowledged then.

    Source: facts, 2.7.
    """
    pair = active_and_passive()
    assert pair.send(PRIMARY)
    assert (pair.journal, pair.unsent) == ({1}, frozenset())


def test_passive_backup_takes_no_messages() -> None:
    """Only the active server serves.

    Source: manual, Live - Backup Groups.
    """
    pair = active_and_passive()
    assert not pair.send(BACKUP)
    assert pair.journal == frozenset()
    pair = active_and_passive(passive_accepts="on")
    assert pair.send(BACKUP)
    assert not pair.holds("p8_standby_never_serves")


@pytest.mark.parametrize(("without_ids", "once"), [("off", True), ("on", False)])
def test_message_that_is_sent_again_is_stored_once(without_ids: str, once: bool) -> None:
    """The server drops the second copy and acknowledges it.

    Source: facts, 2.14; manual, Handling Failover With Non Transactional Sessions; A-S6.
    """
    pair = active_and_passive(lost_answers="1", no_duplicate_detection=without_ids)
    assert not pair.send(PRIMARY, "answer lost")
    assert pair.journal == {1}
    assert pair.send(PRIMARY)
    assert pair.holds("p6_exactly_once") == once


@pytest.mark.parametrize(("mount", "mode"), [("soft", "stopped"), ("hard", "active")])
def test_server_that_cannot_write_acknowledges_nothing(mount: str, mode: str) -> None:
    """It stops where its mount is soft, and the client waits in vain where it is hard.

    Source: facts, 2.2 (critical I/O error); A-S5.
    """
    pair = active_and_passive(mount_cuts="1", mount=mount)
    pair.cut(PRIMARY)
    assert not pair.send(PRIMARY, "not done")
    assert (pair[PRIMARY].mode, pair.journal) == (mode, frozenset())


def test_unsynced_message_is_lost_with_its_server() -> None:
    """The disk has it only after the operating system wrote it.

    Source: facts, 2.7; A-S5.
    """
    pair = active_and_passive(acks_before_sync="on", crashes="1")
    assert pair.send(PRIMARY)
    assert not pair.holds("p5_only_copy_never_erased")
    pair.crash(PRIMARY)
    pair.take_over()
    assert not pair.holds("p2_acked_survives")


def test_operating_system_writes_what_it_took() -> None:
    """Sooner or later.

    Source: A-S5.
    """
    pair = active_and_passive(acks_before_sync="on")
    assert pair.send(PRIMARY)
    pair.take("sync_journal", PRIMARY)
    assert (pair.journal, pair[PRIMARY].unsynced) == ({1}, frozenset())


# ---- clean stops ----


@pytest.mark.parametrize(("failover", "byte"), [("off", "paused"), ("on", "live")])
def test_clean_stop_writes_p_unless_failover_is_wanted(failover: str, byte: str) -> None:
    """Then the backup stays passive; else it takes over.

    Source: manual, All Shared Store Configuration: failover-on-server-shutdown; facts, 2.2: ACTIVE, clean stop.
    """
    pair = active_and_passive(stops="1", failover_on_shutdown=failover)
    pair.take("stop_cleanly", PRIMARY)
    assert (pair[PRIMARY].mode, pair.byte, pair.holder) == ("stopped", byte, PRIMARY)
    pair.take("stop_cleanly.paused", PRIMARY)
    assert pair.holder is None
    pair.take("take_over", BACKUP)
    pair.take("take_over.locked", BACKUP)
    assert pair[BACKUP].mode == ("passive" if failover == "off" else "activating")


@pytest.mark.parametrize(("as_released", "byte"), [("off", "failing_back"), ("on", "paused")])
def test_primary_that_is_stopped_while_it_waits_leaves_its_f(as_released: str, byte: str) -> None:
    """The released code writes `P`, though another server serves.

    Source: facts, 2.2: `P` is written by a clean stop of the active one.
    """
    pair = failing_back(stops="1", waiting_stop_pauses=as_released)
    pair.take("stop_cleanly", PRIMARY)
    assert (pair.modes, pair.byte) == (("stopped", "active"), byte)


def test_backup_that_serves_is_stopped_as_a_primary_is() -> None:
    """It behaves as the active server it is.

    Source: manual, All Shared Store Configuration: failover-on-server-shutdown of a backup.
    """
    pair = failed_over(stops="1")
    pair.take("stop_cleanly", BACKUP)
    assert pair.byte == "paused"


# ---- the lock ----


def test_lock_of_a_crashed_server_is_freed_late() -> None:
    """Until then nobody gets it.

    Source: facts, 2.2: ACTIVE, crash.
    """
    pair = active_and_passive(crashes="1")
    pair.take("crash Server", PRIMARY)
    assert not pair.can("take_over", BACKUP)
    pair.take("free PrimaryLock", PRIMARY)
    assert pair.can("take_over", BACKUP)


@pytest.mark.parametrize(
    ("settings", "expires"),
    [
        ({}, False),
        ({"monitor_in_time": "off"}, True),
        ({"mount": "hard"}, True),
        ({"monitor": "nothing"}, True),
        ({"monitor": "lock_object"}, True),
        ({"monitor": "state"}, False),
        ({"monitor": "lock_object", "lock_store": "database"}, False),
    ],
)
def test_lock_of_a_server_that_is_cut_off_expires(settings: dict[str, str], expires: bool) -> None:
    """Not before its monitor had time to see it, where there is one that can, if one believes that.

    Source: facts, A-W1; A-S4.
    """
    pair = active_and_passive(mount_cuts="1", lock_losses="1", **settings)
    assert not pair.can("lose PrimaryLock")
    pair.cut(PRIMARY)
    assert pair.can("lose PrimaryLock") == expires


def test_lock_of_a_paused_server_expires() -> None:
    """A monitor that does not run sees nothing.

    Source: facts, A-W1; A-S4.
    """
    pair = active_and_passive(pauses="1", lock_losses="1")
    pair.take("pause Server", PRIMARY)
    assert pair.can("lose PrimaryLock")


def test_lock_service_may_forget() -> None:
    """Or take a lease that has not run out for one that has.

    Source: facts, 2.2, A-W4; AR-22.
    """
    assert active_and_passive(lock_losses="1", locks_expire="any_time").can("lose PrimaryLock")


def test_server_without_the_lock_opens_the_store_where_it_does_not_ask() -> None:
    """Two primary-only servers.

    Source: AR-20.
    """
    pair = store(primaries_only="on", no_lock="on")
    for server in (PRIMARY, BACKUP):
        pair.take("start", server)
        pair.take("start_as_primary", server)
        pair.take("start_as_primary.write_f", server)
        pair.take("load_journal", server)
    assert not pair.holds("p1_one_serving")


# ---- the monitor ----


@pytest.mark.parametrize("monitor", ["lock_object", "state", "timestamp"])
def test_server_whose_mount_is_gone_stops_if_it_reads_the_byte(monitor: str) -> None:
    """Its lock object stays valid.

    Source: facts, 2.2: ACTIVE, monitor finds loss; AR-19.
    """
    pair = active_and_passive(mount_cuts="1", monitor=monitor)
    pair.cut(PRIMARY)
    assert pair.look_after_lock(PRIMARY) == (monitor != "lock_object")


@pytest.mark.parametrize("monitor", ["lock_object", "state", "timestamp"])
def test_server_whose_mount_is_back_finds_out_by_the_time_of_the_file(monitor: str) -> None:
    """The backup touched it when it took over.

    Source: facts, 2.2: ACTIVE, monitor finds loss; AR-19.
    """
    pair = lock_lost(monitor=monitor)
    assert pair.modes == ("active", "active")
    assert pair.look_after_lock(PRIMARY) == (monitor == "timestamp")


def test_server_goes_on_until_it_has_stopped() -> None:
    """To stop is a step of its own.

    Source: A-S7; facts, A-R3.
    """
    pair = lock_lost()
    assert pair.look_after_lock(PRIMARY)
    assert pair.send(PRIMARY)
    pair.take("watch_lock.stopping", PRIMARY)
    assert pair.modes == ("stopped", "active")


def test_monitor_compares_times_only_while_the_byte_is_l() -> None:
    """A primary that starts changes the file, and is no reason to stop.

    Source: facts, 2.2: ACTIVE, monitor finds loss.
    """
    pair = failing_back()
    assert pair.of("FileSystem").newer_for == {BACKUP}
    assert not pair.look_after_lock(BACKUP)


def test_clock_that_is_behind_hides_the_takeover() -> None:
    """The file looks no newer.

    Source: facts, A-W2; AR-27.
    """
    for behind in (True, False):
        pair = active_and_passive(pauses="1", lock_losses="1", clocks_agree="off")
        pair.take("pause Server", PRIMARY)
        pair.take("lose PrimaryLock")
        pair.take("take_over", BACKUP)
        pair.take("take_over.locked", BACKUP, choices=("answered", "answered", behind))
        pair.activate(BACKUP)
        pair.take("resume Server", PRIMARY)
        assert pair.look_after_lock(PRIMARY) == (not behind)


@pytest.mark.parametrize(("lock_store", "as_released"), [("files", False), ("database", True)])
def test_backup_that_serves_watches_its_lock(lock_store: str, as_released: bool) -> None:
    """In the released code only with a database: there the renewal is the monitor.

    Source: facts, A-W8, and 2.2, JDBC variant; AR-29.
    """
    assert failed_over(lock_store=lock_store).can("watch_lock", BACKUP)
    released = failed_over(lock_store=lock_store, backup_unwatched="on")
    assert released.can("watch_lock", BACKUP) == as_released


@pytest.mark.parametrize("forgotten", ["on", "off"])
def test_server_remembers_its_own_touch(forgotten: str) -> None:
    """Else it would take it for another's, if it watched.

    Source: facts, 2.2: the primary remembers the time it wrote; A-W8.
    """
    pair = failed_over(touch_forgotten=forgotten)
    assert pair.look_after_lock(BACKUP) == (forgotten == "on")


def test_holder_of_a_lease_learns_at_its_next_renewal() -> None:
    """The row is another's by then.

    Source: facts, 2.2, JDBC variant.
    """
    pair = active_and_passive(lock_losses="1", lock_store="database", locks_expire="any_time")
    pair.take("lose PrimaryLock")
    assert not pair.look_after_lock(PRIMARY)
    pair.take("lost_PrimaryLock", PRIMARY)
    assert pair.look_after_lock(PRIMARY)


@pytest.mark.parametrize(("as_released", "byte"), [("on", "paused"), ("off", "live")])
def test_server_that_lost_its_lock_leaves_the_byte_alone(as_released: str, byte: str) -> None:
    """It is the byte of the server that serves now.

    Source: facts, 2.2: critical stop.
    """
    pair = lock_lost(critical_stop_pauses=as_released)
    assert pair.look_after_lock(PRIMARY)
    pair.take("watch_lock.stopping", PRIMARY)
    assert pair.byte == byte


# ---- the byte ----


@pytest.mark.parametrize(("fresh", "mode"), [(True, "passive"), (False, "activating")])
def test_byte_without_a_lock_on_it_may_be_an_earlier_one(fresh: bool, mode: str) -> None:
    """An NFS client answers from its cache: an `L`, though the primary is coming back.

    Source: AR-21.
    """
    pair = active_and_passive(crashes="1", byte_from_cache="on")
    pair.crash(PRIMARY)
    pair.take("take_over", BACKUP, choices=("answered", True))
    pair.take("restart Server", PRIMARY)
    pair.request()
    outcome = ("answered", fresh) if fresh else ("answered", fresh, "answered")
    pair.take("take_over.locked", BACKUP, choices=outcome)
    assert (pair[BACKUP].mode, pair.byte) == (mode, "failing_back")


# ---- what mends it ----


def test_name_in_the_lock_file_needs_no_clock_and_no_l() -> None:
    """Whoever finds another name has lost the lock.

    Source: AR-27 asks for something in the file that no clock can spoil.
    """
    pair = lock_lost(name_in_lock_file="on")
    assert pair.of("FileSystem").name == BACKUP
    assert pair.look_after_lock(PRIMARY)
    assert not pair.look_after_lock(BACKUP)


def test_fenced_journal_refuses_whoever_is_not_the_last_to_have_opened_it() -> None:
    """And that server stops.

    Source: facts, A-W4.
    """
    pair = lock_lost(journal_fenced="on")
    assert not pair.send(PRIMARY)
    assert (pair.modes, pair.journal) == (("stopped", "active"), frozenset())
    assert pair.send(BACKUP)
