"""Fiorano's replicated mode, who becomes what: one test for each rule of the documents.

"Guide" is "HA Locking Mechanism"; R1 to R21 are the transitions of the replicated mode, F-R1 to F-R9 our choices.
"""

from __future__ import annotations

import pytest

from tests.seeds.fiorano import BOTH, Pair, alone, formed, hear, link, linked, replicated, resolve, synchronize

# ---- starting, and the channel ----


def test_server_is_waiting_once_it_is_started() -> None:
    """Down is DEAD; up is WAITING.

    Source: guide, 3.1.1, 3.1.2; R1.
    """
    pair = replicated()
    assert pair.modes == ("dead", "dead")
    pair.take("start", 1)
    assert (pair[1].mode, pair[1].previous) == ("waiting", "dead")


def test_server_that_crashed_is_dead_and_comes_back_waiting() -> None:
    """What it knew of its peer is gone; its database is not.

    Source: guide, 3.1.1; R2.
    """
    pair = formed(crashes="1")
    assert pair.send(1)
    pair.take("crash Server", 1)
    assert (pair[1].mode, pair[1].peer, pair[1].stored) == ("dead", "dead", {1})
    pair.take("restart Server", 1)
    assert (pair[1].mode, pair[1].in_sync) == ("waiting", False)


def test_lock_of_a_crashed_server_is_freed_late() -> None:
    """Until the file system frees it, the PASSIVE server does not get it.

    Source: guide, LockFile; R2, F-R2.
    """
    pair = formed(crashes="1")
    pair.take("crash Server", 1)
    assert pair.holder == 1
    pair.take("watch_peer", 2)
    assert pair[2].mode == "waiting"
    pair.take("serve_alone", 2)
    assert pair[2].mode == "waiting"
    pair.take("free LockFile", 1)
    pair.take("serve_alone", 2)
    assert pair[2].mode == "standalone"


def test_channel_is_up_for_both_or_for_none() -> None:
    """A server in WAITING waits until the other one connects.

    Source: guide, 3.1.2; F-R1.
    """
    pair = replicated()
    pair.take("start", 1)
    pair.take("connect", 1)
    assert pair[1].channel is None
    pair.take("start", 2)
    pair.take("connect", 2)
    assert pair[1].channel == pair[2].channel is not None


def test_channel_that_is_cut_is_not_opened() -> None:
    """It fails both ways at once.

    Source: guide, 3.1.1, note (failure detected); F-R1.
    """
    pair = replicated(channel_cuts="1")
    for server in BOTH:
        pair.take("start", server)
    pair.take("cut Server - Server", 1, 2)
    pair.take("connect", 1, choices=("not done",))
    assert (pair[1].channel, pair[2].channel) == (None, None)


def test_every_change_is_broadcast_with_the_state_before() -> None:
    """Present and previous state go to the peer.

    Source: guide, 3.1.2.
    """
    pair = linked()
    pair.take("resolve_active", 1)
    pair.take("state_is", 2, 1)
    assert (pair[2].peer, pair[2].peer_previous) == ("active_sync", "waiting")


def test_peer_that_was_started_again_is_noticed_by_its_connecting() -> None:
    """Who believed the channel to be up learns that it had failed.

    Source: guide, 3.1.1, note (failure detected); R14.
    """
    pair = formed(crashes="1")
    pair.take("crash Server", 2)
    pair.take("restart Server", 2)
    pair.take("connect", 2)
    assert pair.modes == ("standalone", "waiting")


# ---- two servers in WAITING ----


def test_server_in_waiting_joins_one_that_is_standalone() -> None:
    """It becomes PASSIVE SYNC.

    Source: guide, 3.1.2; R3.
    """
    pair = alone()
    pair.take("heal Server - Server", 1, 2)
    link(pair, 2)
    assert pair.modes == ("standalone", "waiting")
    pair.take("resolve_passive", 2)
    assert pair[2].mode == "passive_sync"


def test_of_two_in_waiting_the_one_with_the_lock_is_active_sync() -> None:
    """With equal repositories either may get it; the other one becomes PASSIVE SYNC.

    Source: guide, 3.1.1, note (Resolve to Active/Passive); R4, R5, F-R3.
    """
    for active in BOTH:
        pair = linked()
        resolve(pair, active)
        assert (pair[active].mode, pair[3 - active].mode, pair.holder) == ("active_sync", "passive_sync", active)


def test_of_two_in_waiting_the_later_repository_wins() -> None:
    """Time stamps come before the lock.

    Source: guide, 3.1.2 (Repository Timestamps); R4, R5.
    """
    pair = newer_first()
    assert not pair.can("resolve_active", 2)
    pair.take("resolve_passive", 2)
    hear(pair)
    pair.take("resolve_active", 1)
    assert pair.modes == ("active_sync", "passive_sync")


def newer_first(**settings: str) -> Pair:
    """Both in WAITING and linked; server 1 served alone while server 2 was down, and has a message more."""
    pair = formed(crashes="2", **settings)
    pair.crash(2)
    pair.take("watch_peer", 1)
    assert pair.send(1)
    pair.crash(1)
    for server in BOTH:
        pair.take("restart Server", server)
    link(pair)
    return pair


def test_nobody_resolves_to_active_without_the_lock() -> None:
    """A server that does not reach the lock file stays in WAITING.

    Source: guide, HA Locking Mechanism; R4, F-R3.
    """
    pair = linked(gateway_cuts="1")
    pair.take("cut Server - Gateway", 1, 1)
    pair.take("resolve_active", 1)
    assert pair[1].mode == "waiting"
    pair.take("resolve_active", 2)
    assert pair[2].mode == "active_sync"


def test_server_may_resolve_on_what_is_no_longer_true() -> None:
    """A broadcast that is under way has not been heard yet, unless it is assumed to come first.

    Source: guide, 3.1.2; R4.
    """
    for latest in ("off", "on"):
        pair = linked(crashes="1", resolves_on_latest=latest)
        pair.take("resolve_active", 1)
        assert pair.send(1)
        pair.crash(1)
        assert pair.can("resolve_active", 2) == (latest == "off")
        if latest == "off":
            pair.take("resolve_active", 2)
            assert not pair.holds("p2_acked_survives")


# ---- alone ----


def test_server_that_was_in_sync_goes_on_alone_with_the_lock() -> None:
    """WAITING without a channel tries to get the lock.

    Source: guide, 3.1.1 (WAITING); R6, R7, F-R4.
    """
    pair = alone(crashes="1")
    pair.take("serve_alone", 2)
    assert pair[2].mode == "waiting"
    pair.crash(1)
    pair.take("serve_alone", 2)
    assert pair.modes == ("dead", "standalone")


@pytest.mark.parametrize(("who", "can"), [("anyone", True), ("in_sync", False)])
def test_server_that_was_just_started_waits_for_its_peer(who: str, can: bool) -> None:
    """It may be old. The diagram lets it serve all the same.

    Source: guide, 3.1.2, and its diagram; R6, F-R4.
    """
    pair = replicated(alone_from_waiting=who)
    pair.take("start", 1)
    assert pair.can("serve_alone", 1) == can


def test_server_that_lost_contact_before_the_copy_is_not_in_sync() -> None:
    """Only the last contact counts.

    Source: guide, 3.1.2; R6, F-R4.
    """
    pair = alone(crashes="1")
    pair.take("heal Server - Server", 1, 2)
    link(pair, 2)
    pair.crash(1)
    pair.take("watch_peer", 2)
    assert (pair[2].mode, pair[2].in_sync) == ("waiting", False)
    assert not pair.can("serve_alone", 2)


def test_standalone_server_takes_back_its_peer() -> None:
    """STANDALONE meets WAITING: ACTIVE SYNC, and after the copy ACTIVE.

    Source: guide, 3.1.2; R8.
    """
    pair = alone()
    pair.take("heal Server - Server", 1, 2)
    link(pair, 2)
    pair.take("take_back", 1)
    hear(pair)
    pair.take("resolve_passive", 2)
    hear(pair)
    synchronize(pair)
    assert pair.modes == ("active", "passive")


def test_standalone_server_that_loses_its_lock_waits() -> None:
    """Without the lock it must not serve.

    Source: guide, 3.1.2; R9.
    """
    pair = alone(lock_losses="1")
    pair.take("lose LockFile")
    pair.take("lost_LockFile", 1)
    assert pair[1].mode == "waiting"
    assert not pair.send(1)


def test_two_standalone_servers_need_two_locks() -> None:
    """With the lock the second one waits; without a LockFile both go on.

    Source: guide, HA Locking Mechanism (before there was a lock); R10, F-R5.
    """
    assert alone().modes == ("standalone", "waiting")
    pair = alone(no_lock_file="on")
    assert pair.modes == ("standalone", "standalone")
    assert not pair.holds("never_both_standalone")


@pytest.mark.parametrize(("way", "mode"), [("stop", "dead"), ("resync", "waiting")])
def test_of_two_standalone_servers_that_meet_one_gives_way(way: str, mode: str) -> None:
    """The guide does not say what happens; a relative of the protocol lets the operator choose.

    Source: SwiftMQ HA Router manual, STANDALONE vs STANDALONE; R10, F-R5.
    """
    pair = alone(no_lock_file="on", two_standalones=way)
    pair.take("heal Server - Server", 1, 2)
    link(pair)
    pair.take("standalones_meet", 2)
    assert pair.modes == ("standalone", mode)
