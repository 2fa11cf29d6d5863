"""Fiorano's replicated mode and its clients, what happens to messages: one test for each rule of the documents.

"Guide" is "HA Locking Mechanism"; R and F-R are the transitions of the replicated mode and our choices.
"""

from __future__ import annotations

import pytest

from tests.seeds.fiorano import BOTH, alone, formed, hear, link, linked, replicated, resolve, synchronize

# ---- messages ----


def test_message_is_acknowledged_when_both_databases_have_it() -> None:
    """Changes of the one database go to the other.

    Source: guide, 3.1.
    """
    pair = formed()
    assert pair.send(1)
    assert (pair[1].stored, pair[2].stored, pair.repository) == ({1}, {1}, {2})


def test_early_acknowledgement_leaves_the_message_in_one_database() -> None:
    """The guide does not say when a client is answered.

    Source: guide, 3.1.
    """
    pair = formed(acks_before_passive="on")
    assert pair.send(1)
    assert pair[2].stored == frozenset()
    pair.take("replicate_later", 1)
    assert pair[2].stored == {1}


def test_active_server_that_cannot_replicate_has_detected_a_failure() -> None:
    """With the lock it goes on alone, and acknowledges.

    Source: guide, 3.1.2; R14.
    """
    pair = formed(channel_cuts="1")
    pair.take("cut Server - Server", 1, 2)
    assert pair.send(1, "not done")
    assert (pair[1].mode, pair[2].stored) == ("standalone", frozenset())


@pytest.mark.parametrize("mode", ["dead", "waiting", "passive_sync", "passive"])
def test_server_that_does_not_serve_takes_no_message(mode: str) -> None:
    """No clients in WAITING, nor on the standby.

    Source: guide, 3.1, 3.1.1.
    """
    pair = replicated() if mode == "dead" else linked()
    if mode in ("passive_sync", "passive"):
        resolve(pair)
    if mode == "passive":
        synchronize(pair)
    assert pair[2].mode == mode
    assert not pair.send(2)
    assert pair[2].stored == frozenset()


def test_servers_that_serve_take_messages() -> None:
    """ACTIVE SYNC serves during the copy; STANDALONE serves alone.

    Source: guide, 3.1.1.
    """
    syncing = linked()
    resolve(syncing)
    assert (syncing[1].mode, syncing.send(1)) == ("active_sync", True)
    single = alone()
    assert (single[1].mode, single.send(1)) == ("standalone", True)


# ---- the copy ----


def test_copy_ends_in_active_and_passive() -> None:
    """The whole database, and both know it.

    Source: guide, 3.1.2; R11, R17.
    """
    pair = linked()
    resolve(pair)
    assert pair.send(1)
    pair.take("begin_copy", 1)
    assert (pair[2].complete, pair.modes) == (False, ("active_sync", "passive_sync"))
    pair.take("finish_copy", 1)
    assert (pair[2].complete, pair.modes) == (True, ("active", "passive"))
    assert pair[2].stored == {1}
    assert (pair[1].in_sync, pair[2].in_sync) == (True, True)


def test_what_clients_send_during_the_copy_is_part_of_it() -> None:
    """Otherwise the two would differ.

    Source: guide, 3.1.2; R11.
    """
    for misses, copied in (("off", {1}), ("on", set())):
        pair = linked(copy_misses_new=misses)
        resolve(pair)
        pair.take("begin_copy", 1)
        assert pair.send(1)
        pair.take("finish_copy", 1)
        assert pair[2].stored == copied
        assert pair.holds("p9_replica_equals_after_quiesce") == (misses == "off")


def test_copy_overwrites_what_its_receiver_had() -> None:
    """Whoever is PASSIVE SYNC gives up its own database, newer or not.

    Source: guide, 3.1, 3.1.2; R3.
    """
    pair = alone(crashes="1")
    assert pair.send(1)
    pair.crash(1)
    pair.take("serve_alone", 2)
    pair.take("heal Server - Server", 1, 2)
    pair.take("restart Server", 1)
    link(pair)
    pair.take("resolve_passive", 1)
    hear(pair)
    pair.take("take_back", 2)
    hear(pair)
    pair.take("begin_copy", 2)
    assert pair[1].stored == pair[2].stored == frozenset()
    assert not pair.holds("p5_only_copy_never_erased")


def test_copy_that_was_interrupted_does_not_count_as_recent() -> None:
    """An unfinished copy never wins, unless it keeps its time stamp.

    Source: guide, 3.1.2 (Repository Timestamps); R4, F-R7.
    """
    for keeps, can in (("off", False), ("on", True)):
        pair = linked(crashes="2", unfinished_copy_keeps_stamp=keeps)
        resolve(pair)
        pair.take("begin_copy", 1)
        for server in BOTH:
            pair.crash(server)
        for server in BOTH:
            pair.take("restart Server", server)
        link(pair)
        assert pair.can("resolve_active", 2) == can


# ---- which database is the newest ----


def test_epoch_in_the_lock_file_grows_whenever_somebody_begins_to_serve() -> None:
    """The LockFile is a file one can write to: it can say whose database is the newest.

    Source: guide, HA Locking Mechanism (a read and write file).
    """
    pair = alone(epoch_in_lock_file="on")
    assert pair.value("file_epoch") == pair[1].epoch == 3
    assert pair[2].epoch == 2


def test_older_database_does_not_serve_where_epochs_are_counted() -> None:
    """The lock alone does not tell; the epoch does.

    Source: guide, HA Locking Mechanism.
    """
    for epochs, mode in (("off", "standalone"), ("on", "waiting")):
        pair = formed(channel_cuts="1", crashes="1", epoch_in_lock_file=epochs)
        pair.take("cut Server - Server", 1, 2)
        assert pair.send(1, "not done")
        pair.crash(1)
        pair.take("watch_peer", 2)
        assert pair[2].mode == mode
        assert pair.holder == (2 if epochs == "off" else None)
        assert pair.holds("p2_acked_survives") == (epochs == "on")


# ---- durable connections ----


def test_connection_keeps_what_nobody_acknowledged() -> None:
    """Its local repository holds what is sent while no server is there.

    Source: guide, 3.2.2.
    """
    pair = replicated()
    assert pair.repository == {1, 2}
    assert not pair.send(1)
    assert pair.repository == {1, 2}


def test_connection_sends_the_oldest_message_first_and_then_the_others() -> None:
    """What was kept is sent once there is a server.

    Source: guide, 3.2.2.
    """
    pair = formed()
    assert pair.send(1)
    assert pair.repository == {2}
    assert pair.send(1)
    assert pair.repository == frozenset()
    assert not pair.can("send_next", 1)


def test_message_in_doubt_is_sent_again_and_stored_twice() -> None:
    """Its answer was lost, so the connection does not know.

    Source: guide, 3.2.2.
    """
    pair = formed(lost_answers="1")
    assert not pair.send(1, "answer lost")
    assert pair[1].stored == {1}
    assert pair.send(1)
    assert pair.value("kept_twice") == {1}
    assert pair.holds("p2_acked_survives")


def test_connection_goes_to_the_other_server_when_one_does_not_take_its_message() -> None:
    """The backup server's address is tried next.

    Source: guide, 3.2.2.
    """
    pair = formed(crashes="1", addresses="in_turn")
    assert pair.send(1)
    assert pair.of("Client").at == 1
    pair.crash(1)
    assert not pair.send(1, "not done")
    assert pair.of("Client").at == 2


def test_connection_that_knows_one_server_waits_for_it() -> None:
    """Without a backup server it waits until that server is started again.

    Source: guide, 3.2.2.
    """
    pair = formed(crashes="1", addresses="one")
    assert pair.send(1)
    pair.crash(1)
    assert not pair.send(1, "not done")
    assert pair.of("Client").at == 1
