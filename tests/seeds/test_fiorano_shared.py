"""Fiorano's shared mode: one test for each rule of the documents.

"Guide" is "HA Locking Mechanism"; S1 to S9 are the transitions of the shared mode, F-R10 and F-R11 our choices.
"""

from __future__ import annotations

import pytest

from tests.seeds.fiorano import active_and_passive, shared

# ---- starting ----


def test_servers_are_dead_until_they_are_started() -> None:
    """A server that is down takes no part.

    Source: guide, 3.1.1 (DEAD).
    """
    pair = shared()
    assert pair.modes == ("dead", "dead")
    assert not pair.can("services_up", 1)
    assert not pair.can("watch_peer", 1)


def test_server_that_gets_the_lock_is_activating() -> None:
    """A start with the lock leads to ACTIVATING.

    Source: guide, 3.2.1; S1.
    """
    pair = shared()
    pair.take("start", 1)
    assert (pair[1].mode, pair.holder) == ("activating", 1)


def test_server_that_does_not_get_the_lock_is_passive() -> None:
    """A backup that is started while the other one has the lock is PASSIVE.

    Source: guide, 3.2.1; S2.
    """
    pair = shared()
    pair.take("start", 1)
    pair.take("start", 2)
    assert pair.modes == ("activating", "passive")


def test_server_that_cannot_reach_the_lock_file_is_passive() -> None:
    """Not reaching the lock file is not getting the lock.

    Source: guide, 3.2.1; S2.
    """
    pair = shared(gateway_cuts="1")
    pair.take("cut Server - Gateway", 1, 1)
    pair.take("start", 1)
    assert (pair[1].mode, pair.holder) == ("passive", None)


def test_nobody_waits_for_the_other_server() -> None:
    """There is no state WAITING: a server alone becomes ACTIVE.

    Source: guide, 3.2.1.
    """
    pair = shared()
    pair.take("start", 1)
    pair.take("services_up", 1)
    assert pair.modes == ("active", "dead")


def test_server_is_active_once_its_services_are_up() -> None:
    """ACTIVATING ends with the database read and the services up.

    Source: guide, 3.2.1; S3.
    """
    pair = active_and_passive(crashes="1")
    assert pair.send(1)
    pair.crash(1)
    pair.take("watch_peer", 2)
    assert (pair[2].mode, pair[2].stored) == ("activating", frozenset())
    pair.take("services_up", 2)
    assert (pair[2].mode, pair[2].stored) == ("active", {1})


# ---- serving ----


def test_active_server_takes_messages_and_stores_them_in_the_database() -> None:
    """All data is in the shared database.

    Source: guide, 3.2.
    """
    pair = active_and_passive()
    assert pair.send(1)
    assert pair.of("Database").stored == {1}
    assert pair.repository == {2}


@pytest.mark.parametrize("mode", ["dead", "passive", "activating"])
def test_other_servers_take_nothing(mode: str) -> None:
    """Clients are served in ACTIVE alone.

    Source: guide, 3.2.1.
    """
    pair = shared()
    if mode != "dead":
        pair.take("start", 2 if mode == "passive" else 1)
        pair.take("start", 1 if mode == "passive" else 2)
    assert pair[1].mode == mode
    assert not pair.send(1)
    assert pair.of("Database").stored == frozenset()


# ---- the lock ----


@pytest.mark.parametrize("active", [False, True])
def test_server_that_loses_its_lock_is_passive(active: bool) -> None:
    """The diagram leads from ACTIVATING and ACTIVE to PASSIVE; what was read before is forgotten.

    Source: guide, 3.2.1, diagram; S4, F-R10.
    """
    pair = shared(lock_losses="1")
    pair.take("start", 1)
    if active:
        pair.take("services_up", 1)
        assert pair.send(1)
    pair.take("lose LockFile")
    pair.take("lost_LockFile", 1)
    assert (pair[1].mode, pair[1].stored) == ("passive", frozenset())


def test_server_goes_on_until_it_looks_at_its_lock() -> None:
    """A lock that was given away is not missed at once.

    Source: guide, 3.2.1 (Lock Lost).
    """
    pair = active_and_passive(lock_losses="1")
    pair.take("lose LockFile")
    assert pair.send(1)
    assert not pair.holds("p12_serving_holds_lock")


def test_server_cut_off_from_the_lock_file_is_passive() -> None:
    """It pings the machine of the lock file, and counts its lock as lost.

    Source: guide, HA Locking Mechanism (gateway machine); S4.
    """
    pair = active_and_passive(gateway_cuts="1")
    pair.take("cut Server - Gateway", 1, 1)
    pair.take("watch_gateway", 1)
    assert pair.modes == ("passive", "passive")
    assert pair.holder == 1


# ---- the peer ----


def test_passive_server_takes_over_from_one_that_failed() -> None:
    """No heartbeat, and the lock: ACTIVATING, then ACTIVE.

    Source: guide, 3.2.1; S5.
    """
    pair = active_and_passive(crashes="1")
    pair.crash(1)
    pair.take("watch_peer", 2)
    assert pair[2].mode == "activating"


def test_passive_server_stays_so_without_the_lock() -> None:
    """The link between the servers fails, but the ACTIVE one has the lock.

    Source: guide, 3.2.1; S6.
    """
    pair = active_and_passive(channel_cuts="1")
    pair.take("cut Server - Server", 1, 2)
    pair.take("watch_peer", 2)
    assert pair.modes == ("active", "passive")


def test_lock_of_a_crashed_server_is_freed_late() -> None:
    """Until the file system frees it, nobody gets it: not the peer, nor the same server started again.

    Source: guide, HA Locking Mechanism (LockFile); S5, S6.
    """
    pair = active_and_passive(crashes="1")
    pair.take("crash Server", 1)
    pair.take("watch_peer", 2)
    assert pair[2].mode == "passive"
    pair.take("restart Server", 1)
    assert pair.modes == ("passive", "passive")
    pair.take("free LockFile", 1)
    pair.take("watch_peer", 2)
    assert pair.modes == ("passive", "activating")


def test_active_server_stays_so_when_its_peer_fails() -> None:
    """There is no state STANDALONE.

    Source: guide, 3.2.1; S7.
    """
    pair = active_and_passive(crashes="1")
    pair.crash(2)
    assert pair[1].mode == "active"
    assert not pair.can("watch_peer", 1)
    assert pair.send(1)


def test_server_that_crashed_is_dead_and_comes_back_passive() -> None:
    """Once it is started again, the other one serves.

    Source: guide, 3.2.1; S8, S2.
    """
    pair = active_and_passive(crashes="1")
    pair.crash(1)
    assert pair[1].mode == "dead"
    pair.take("watch_peer", 2)
    pair.take("restart Server", 1)
    assert pair.modes == ("passive", "activating")


def test_peer_that_answers_but_is_not_at_work_counts_as_failed() -> None:
    """Two PASSIVE servers do not wait for each other; in the diagram only a broken link counts.

    Source: guide, 3.2.1, note; S5.
    """
    for literal, expected in (("off", "activating"), ("on", "passive")):
        pair = active_and_passive(lock_losses="1", only_broken_link_counts=literal)
        pair.take("lose LockFile")
        pair.take("lost_LockFile", 1)
        pair.take("watch_peer", 2)
        assert pair.modes == ("passive", expected)


# ---- the database ----


@pytest.mark.parametrize("mode", ["activating", "active"])
def test_server_without_the_database_stops(mode: str) -> None:
    """The servers cannot work without it.

    Source: guide, 3.2, note; S9, F-R11.
    """
    pair = shared(database_cuts="1")
    pair.take("start", 1)
    if mode == "active":
        pair.take("services_up", 1)
    pair.take("cut Server - Database", 1, 1)
    pair.take("services_up" if mode == "activating" else "watch_database", 1)
    assert pair[1].mode == "dead"


def test_message_that_does_not_reach_the_database_is_not_acknowledged() -> None:
    """The server stops instead.

    Source: guide, 3.2, note; S9, F-R11.
    """
    pair = active_and_passive(database_cuts="1")
    pair.take("cut Server - Database", 1, 1)
    assert not pair.send(1, "not done")
    assert pair[1].mode == "dead"


def test_server_that_goes_on_without_the_database_acknowledges_what_it_may_lose() -> None:
    """Unavailability of the database can lead to data loss.

    Source: guide, 3.2, note; S9.
    """
    pair = active_and_passive(database_cuts="1", crashes="1", without_database="go_on")
    pair.take("cut Server - Database", 1, 1)
    assert pair.send(1, "not done")
    assert not pair.holds("p5_only_copy_never_erased")
    pair.crash(1)
    pair.take("watch_peer", 2)
    pair.take("services_up", 2)
    assert not pair.holds("p2_acked_survives")


def test_what_was_taken_without_the_database_is_written_after_the_peer_opened_it() -> None:
    """Unavailability of the database can lead to corruption.

    Source: guide, 3.2, note; S9.
    """
    pair = active_and_passive(database_cuts="1", channel_cuts="1", lock_losses="1", without_database="go_on")
    pair.take("cut Server - Database", 1, 1)
    assert pair.send(1, "not done")
    pair.take("lose LockFile")
    pair.take("cut Server - Server", 1, 2)
    pair.take("watch_peer", 2)
    pair.take("services_up", 2)
    pair.take("heal Server - Database", 1, 1)
    assert pair.holds("only_the_active_writes")
    pair.take("write_later", 1)
    assert not pair.holds("only_the_active_writes")


def test_database_that_fences_takes_writes_of_the_last_session_only() -> None:
    """A server that still believes that it serves learns from the database that it does not.

    Source: guide, 3.2: changes come from the active server alone.
    """
    pair = active_and_passive(lock_losses="1", channel_cuts="1", database_fences="on")
    pair.take("lose LockFile")
    pair.take("cut Server - Server", 1, 2)
    pair.take("watch_peer", 2)
    pair.take("services_up", 2)
    assert pair.modes == ("active", "active")
    assert not pair.send(1)
    assert pair.modes == ("passive", "active")
    assert pair.of("Database").stored == frozenset()


@pytest.mark.parametrize(("back", "kept"), [("empty", frozenset()), ("mirrored", {1})])
def test_damage_to_the_one_database_is_damage_to_the_service(back: str, kept: frozenset[int]) -> None:
    """Whoever serves next lacks what it lost. While it is away nobody becomes ACTIVE.

    Source: guide, 3.3: there is just one database.
    """
    pair = active_and_passive(crashes="1", disasters="1", database_back=back)
    assert pair.send(1)
    pair.take("wipe Database" if back == "empty" else "crash Database", 1)
    pair.crash(1)
    pair.take("watch_peer", 2)
    pair.take("services_up", 2)
    assert pair.modes == ("dead", "dead")
    pair.take("free LockFile", 2)
    pair.take("restart Database", 1)
    pair.take("restart Server", 2)
    pair.take("services_up", 2)
    assert (pair.modes, pair[2].stored) == (("dead", "active"), kept)
    assert pair.holds("p2_acked_survives") is (back == "mirrored")


@pytest.mark.parametrize(("tries", "reached"), [("again", True), ("once", False)])
def test_active_server_tries_again_and_again_to_reach_its_peer(tries: str, reached: bool) -> None:
    """The peer is away when it tries first.

    Source: guide, 3.2.1: after switching to ACTIVE; S7.
    """
    pair = active_and_passive(crashes="1", active_tries=tries)
    pair.take("crash Server", 2)
    pair.take("reach_peer", 1)
    assert not pair[1].reached
    pair.take("restart Server", 2)
    if pair.can("reach_peer", 1):
        pair.take("reach_peer", 1)
    assert pair[1].reached is reached
