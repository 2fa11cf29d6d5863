"""Fiorano's replicated mode, what a server does when the channel or its lock is gone: one test for each rule.

"Guide" is "HA Locking Mechanism"; R1 to R21 are the transitions of the replicated mode, F-R1 to F-R9 our choices.
"""

from __future__ import annotations

import pytest

from tests.seeds.fiorano import alone, formed, hear, link, linked, resolve, synchronize

# ---- the channel fails ----


def test_active_sync_server_with_the_lock_goes_on_alone() -> None:
    """As an ACTIVE one does.

    Source: guide, 3.1.1, diagram; R12.
    """
    pair = linked(channel_cuts="1")
    resolve(pair)
    pair.take("cut Server - Server", 1, 2)
    pair.take("watch_peer", 1)
    assert pair[1].mode == "standalone"


@pytest.mark.parametrize("synchronized", [False, True])
def test_serving_server_without_the_lock_waits_when_the_channel_fails(synchronized: bool) -> None:
    """In the literal reading it went on until then.

    Source: guide, 3.1.2; R13, R15, F-R6.
    """
    pair = linked(channel_cuts="1", gateway_cuts="1", stays_active_without_lock="on")
    resolve(pair)
    if synchronized:
        synchronize(pair)
    serving = pair[1].mode
    pair.take("cut Server - Gateway", 1, 1)
    pair.take("watch_gateway", 1)
    assert pair[1].mode == serving
    pair.take("cut Server - Server", 1, 2)
    pair.take("watch_peer", 1)
    assert pair[1].mode == "waiting"


def test_active_server_with_the_lock_goes_on_alone() -> None:
    """STANDALONE serves clients, too.

    Source: guide, 3.1.2; R14.
    """
    pair = alone()
    assert (pair[1].mode, pair.holder) == ("standalone", 1)
    assert pair.send(1)


@pytest.mark.parametrize(("literal", "mode"), [("off", "waiting"), ("on", "active")])
def test_active_server_that_loses_its_lock_while_the_channel_is_up(literal: str, mode: str) -> None:
    """Our choice is to stop serving; read literally, the guide wants the channel to fail, too.

    Source: guide, 3.1.2; R16, F-R6.
    """
    pair = formed(lock_losses="1", stays_active_without_lock=literal)
    pair.take("lose LockFile")
    pair.take("lost_LockFile", 1)
    assert pair[1].mode == mode


def test_passive_sync_server_waits_when_the_channel_fails() -> None:
    """Its copy is not complete: it must not serve.

    Source: guide, 3.1.1 (PASSIVE_TRANSITION_STATE); R18, F-R7.
    """
    for literal, mode in (("off", "waiting"), ("on", "standalone")):
        pair = linked(crashes="1", unfinished_copy_serves=literal)
        resolve(pair)
        pair.take("begin_copy", 1)
        pair.crash(1)
        pair.take("watch_peer", 2)
        assert pair[2].mode == mode
        assert pair.holds("p3_no_incomplete_copy_serves") == (literal == "off")


def test_passive_server_that_gets_the_lock_takes_over() -> None:
    """PASSIVE to STANDALONE, at once.

    Source: guide, 3.1.2; R19.
    """
    pair = formed(crashes="1")
    assert pair.send(1)
    pair.crash(1)
    pair.take("watch_peer", 2)
    assert (pair[2].mode, pair[2].stored) == ("standalone", {1})
    assert pair.send(2)


def test_passive_server_that_does_not_get_the_lock_waits() -> None:
    """Its peer may well be alive.

    Source: guide, 3.1.2; R20, F-R8.
    """
    assert alone()[2].mode == "waiting"


@pytest.mark.parametrize(("reached", "mode"), [(True, "standalone"), (False, "waiting")])
def test_passive_server_takes_over_from_a_peer_that_says_it_is_waiting(reached: bool, mode: str) -> None:
    """The channel is up, and the peer has lost its lock.

    Source: guide, 3.1.2; R21, F-R9.
    """
    pair = formed(gateway_cuts="2")
    pair.take("cut Server - Gateway", 1, 1)
    if not reached:
        pair.take("cut Server - Gateway", 2, 1)
    pair.take("watch_gateway", 1)
    pair.take("free LockFile", 1)
    pair.take("state_is", 2, 1)
    assert pair[2].peer == "waiting"
    pair.take("take_over", 2)
    assert pair.modes == ("waiting", mode)


def test_server_that_comes_back_does_not_take_its_role_back() -> None:
    """Primary and secondary are names of profiles: who serves goes on.

    Source: guide, 3.1.
    """
    pair = formed(crashes="1")
    pair.crash(1)
    pair.take("watch_peer", 2)
    pair.take("restart Server", 1)
    link(pair)
    pair.take("take_back", 2)
    hear(pair)
    pair.take("resolve_passive", 1)
    hear(pair)
    synchronize(pair, 2)
    assert pair.modes == ("passive", "active")


def test_server_that_lost_its_disk_gets_the_database_of_the_other_one() -> None:
    """There are two copies: what one host loses, the other one has. It comes back as a replacement, and empty.

    Source: guide, 3.1 and 3.3.
    """
    pair = formed(disk_losses="1")
    assert pair.send(1)
    pair.take("wipe Server", 1)
    assert pair[1].stored == frozenset()
    pair.take("free LockFile", 1)
    pair.take("watch_peer", 2)
    pair.take("restart Server", 1)
    link(pair)
    pair.take("take_back", 2)
    hear(pair)
    pair.take("resolve_passive", 1)
    hear(pair)
    synchronize(pair, 2)
    assert (pair.modes, pair[1].stored) == (("passive", "active"), {1})
