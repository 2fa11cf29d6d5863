"""A pair in replicated mode, rule by rule."""

from __future__ import annotations

import pytest

from hacheck.impl.protocols.fiorano.messages import Publish, SendMessage, SetObject, Subscribe, SyncObjects
from tests.impl.fiorano.pairs import Pair, in_step

MESSAGE = SendMessage("orders", b"body")


def test_only_with_the_lock_does_a_server_begin_to_serve() -> None:
    """HA Locking Mechanism: a server can switch to Active only if it holds a lock over the LockFile."""
    pair = Pair()
    pair.holders["gateway"] = "somebody"
    pair.start()
    pair.run(10)
    assert (pair.state("primary"), pair.state("backup")) == ("WAITING", "WAITING")
    del pair.holders["gateway"]
    pair.run(3)
    assert sorted(pair.state(name) for name in ("primary", "backup")) == ["ACTIVE", "PASSIVE"]


def test_server_without_a_peer_waits_for_it_and_then_stands_alone() -> None:
    """R1, R6."""
    pair = Pair()
    pair.start("primary")
    pair.run(0.01)
    assert pair.state("primary") == "WAITING"
    pair.run(2)
    assert pair.rules("primary") == ["R1", "R6"]
    assert pair.holders == {"gateway": "primary"}


def test_peer_of_one_that_stands_alone_gets_a_copy() -> None:
    """R3, R8, R11, R17."""
    pair = in_step()
    assert pair.rules("primary") == ["R1", "R6", "R8", "R11"]
    assert pair.rules("backup") == ["R1", "R3", "R17"]


def test_lock_decides_between_two_that_wait_with_the_same_data() -> None:
    """R4, R5; diagram: which server obtains the lock."""
    pair = Pair()
    pair.start()
    pair.run(2)
    holder = pair.holders["gateway"]
    assert pair.serving() == (holder,)
    assert pair.rules(holder)[:2] == ["R1", "R4"]


@pytest.mark.parametrize("newer", ["primary", "backup"])
def test_timestamps_decide_between_two_that_wait(newer: str) -> None:
    """R4, R5; text: depending on the Repository Timestamps."""
    older = "backup" if newer == "primary" else "primary"
    pair = Pair()
    pair.start(newer)
    pair.run(2)
    pair.ask(newer, MESSAGE)
    pair.run(1)
    pair.crash(newer)
    pair.holders["gateway"] = "somebody"
    pair.start()
    pair.run(3)
    assert pair.serving() == ()
    del pair.holders["gateway"]
    pair.run(3)
    assert pair.serving() == (newer,)
    assert "R5" in pair.rules(older)
    assert pair.objects(older) == pair.objects(newer) != []


def test_broken_channel_leaves_the_one_with_the_lock_serving() -> None:
    """R14, R20."""
    pair = in_step()
    pair.part("primary", "backup")
    pair.run(4)
    assert (pair.state("primary"), pair.state("backup")) == ("STANDALONE", "WAITING")
    assert (pair.rules("primary")[-1], pair.rules("backup")[-1]) == ("R14", "R20")
    pair.heal()
    pair.run(2)
    assert (pair.state("primary"), pair.state("backup")) == ("ACTIVE", "PASSIVE")


def test_active_one_that_loses_channel_and_lock_waits() -> None:
    """R15; and the passive one takes over with the lock, R19."""
    pair = in_step()
    pair.part("primary", "backup", "gateway")
    del pair.holders["gateway"]
    pair.run(6)
    assert (pair.state("primary"), pair.state("backup")) == ("WAITING", "STANDALONE")
    assert (pair.rules("primary")[-1], pair.rules("backup")[-1]) == ("R15", "R19")


def test_one_that_stands_alone_and_loses_the_lock_waits() -> None:
    """R9."""
    pair = Pair()
    pair.start("primary")
    pair.run(2)
    pair.holders["gateway"] = "somebody"
    pair.run(2)
    assert pair.rules("primary")[-1] == "R9"
    assert pair.serving() == ()


@pytest.mark.parametrize(
    ("reading", "states"), [("stay", ("ACTIVE", "PASSIVE")), ("wait", ("WAITING", "WAITING"))], ids=["stay", "wait"]
)
def test_lock_lost_while_the_channel_is_up_is_read_in_two_ways(reading: str, states: tuple[str, str]) -> None:
    """R16, F-R6, FI-4: who stays serves without the lock; who waits makes a gateway's end an outage. The passive one
    does then what it does after a failure (F-R9): without the lock it waits, too (F-R8)."""
    pair = in_step(on_lock_lost=reading)
    pair.holders["gateway"] = "somebody"
    pair.run(5)
    assert (pair.state("primary"), pair.state("backup")) == states


@pytest.mark.parametrize(
    ("reading", "state"), [("anyone", "STANDALONE"), ("in_sync", "WAITING"), ("nobody", "WAITING")]
)
def test_who_was_just_started_goes_on_alone_only_as_the_diagram_reads(reading: str, state: str) -> None:
    """R6, F-R4."""
    pair = Pair(alone_from_waiting=reading)
    pair.start("primary")
    pair.run(5)
    assert pair.state("primary") == state


@pytest.mark.parametrize(("reading", "state"), [("in_sync", "STANDALONE"), ("nobody", "WAITING")])
def test_who_was_in_sync_and_got_the_lock_too_late_goes_on_alone_unless_the_text_is_followed(
    reading: str, state: str
) -> None:
    """R20, then R6, F-R4: the lock of the active one that ended is let go only after a while."""
    pair = Pair(alone_from_waiting=reading)
    pair.start()
    pair.run(3)
    first, second = sorted(("primary", "backup"), key=pair.state)
    assert (pair.state(first), pair.state(second)) == ("ACTIVE", "PASSIVE")
    pair.crash(first)
    pair.holders["gateway"] = "somebody"
    pair.run(4)
    assert pair.state(second) == "WAITING"
    del pair.holders["gateway"]
    pair.run(3)
    assert pair.state(second) == state


def test_passive_one_takes_over_from_one_that_waits() -> None:
    """R21."""
    pair = in_step(on_lock_lost="wait")
    pair.cut |= {("primary", "gateway")}
    del pair.holders["gateway"]
    pair.run(5)
    assert "R21" in pair.rules("backup")
    assert pair.serving() == ("backup",)
    assert pair.state("primary") == "PASSIVE"


@pytest.mark.parametrize("promoted", [False, True])
def test_copy_that_is_not_complete_never_serves(promoted: bool) -> None:
    """R18, F-R7, FI-5."""
    pair = Pair(sync_batch=1, bug_promote_passive_sync=promoted)
    pair.start("primary")
    pair.run(2)
    for number in range(5):
        pair.ask("primary", SetObject("admin", f"name-{number}", b"value"))
    pair.run(0.1)
    pair.start("backup")
    pair.run_until_sent(SyncObjects)
    pair.run(0.0005)
    assert pair.state("backup") == "PASSIVE_SYNC"
    pair.crash("primary")
    pair.run(5)
    assert pair.serving() == (("backup",) if promoted else ())
    assert ("complete-copy" in pair.promises_broken()) is promoted


def test_acknowledged_message_is_there_after_a_failover() -> None:
    """3.1: what is changed on the active one is propagated to the passive one."""
    pair = in_step()
    request = pair.ask("primary", MESSAGE)
    pair.run(0.01)
    assert pair.answers() == [request]
    pair.crash("primary")
    pair.run(2)
    assert pair.serving() == ("backup",)
    assert pair.node("backup").repository.messages()[0][1].request == request


@pytest.mark.parametrize("answer_after", ["both", "own"])
def test_client_is_answered_when_it_is_on_both_disks(answer_after: str) -> None:
    """F-W6."""
    pair = in_step(answer_after=answer_after)
    pair.slow.add("backup")
    request = pair.ask("primary", MESSAGE)
    pair.run(0.1)
    assert pair.answers() == ([request] if answer_after == "own" else [])
    pair.unslow("backup")
    pair.run(0.1)
    assert pair.answers() == [request]


def test_answers_that_wait_for_a_dead_peer_go_when_it_is_found_out() -> None:
    """R14."""
    pair = in_step()
    pair.slow.add("backup")
    request = pair.ask("primary", MESSAGE)
    pair.crash("backup")
    pair.run(1)
    assert pair.answers() == [request]


def test_clients_are_served_while_the_database_is_copied() -> None:
    """3.1.2: the server in ACTIVE SYNC continues to serve its clients."""
    pair = Pair(sync_batch=1)
    pair.start("primary")
    pair.run(2)
    for number in range(20):
        pair.ask("primary", SetObject("acl", f"name-{number}", b"old"))
    pair.start("backup")
    pair.run_until("primary", "ACTIVE_SYNC")
    request = pair.ask("primary", SetObject("acl", "name-19", b"new"))
    pair.ask("primary", SetObject("acl", "name-0", None))
    pair.run(0.002)
    assert pair.state("primary") == "ACTIVE_SYNC"
    assert request in pair.answers()
    pair.run(1)
    assert pair.state("backup") == "PASSIVE"
    assert pair.node("backup").repository.objects == pair.node("primary").repository.objects
    assert pair.node("backup").repository.objects["acl/name-19"] == b"new"
    assert "acl/name-0" not in pair.objects("backup")


def test_without_a_lock_file_both_stand_alone() -> None:
    """FI-1: the product's default is no lock file."""
    pair = in_step(lock_file=False)
    pair.part("primary", "backup")
    pair.run(4)
    assert pair.serving() == ("primary", "backup")
    assert "one-active" in pair.promises_broken()


@pytest.mark.parametrize("hardened", [False, True])
def test_stale_copy_serves_as_soon_as_it_gets_the_lock(hardened: bool) -> None:
    """FI-2, F-W3: the primary serves alone and ends; the backup, which waits, has what it had before."""
    pair = in_step(epochs_in_lock_file=hardened)
    pair.part("primary", "backup")
    pair.run(4)
    request = pair.ask("primary", MESSAGE)
    pair.run(0.1)
    assert pair.answers() == [request]
    pair.crash("primary")
    pair.run(5)
    assert pair.serving() == (() if hardened else ("backup",))
    pair.heal()
    pair.start("primary")
    pair.run(5)
    assert len(pair.serving()) == 1
    assert bool(pair.objects(pair.serving()[0])) is hardened


@pytest.mark.parametrize("hardened", [False, True])
def test_clock_that_is_ahead_makes_older_data_win(hardened: bool) -> None:
    """FI-3, F-W4: both have the first message; the second is written by a clock that is an hour behind."""
    pair = Pair(epochs_in_lock_file=hardened)
    pair.ahead["primary"] = 3600 * 1_000_000
    pair.start()
    pair.run(2)
    if pair.serving() != ("primary",):
        pair.crash("backup")
        pair.run(2)
        pair.start("backup")
        pair.run(2)
    pair.ask("primary", MESSAGE)
    pair.run(0.1)
    pair.crash("primary")
    pair.run(2)
    assert pair.serving() == ("backup",)
    second = pair.ask("backup", MESSAGE)
    pair.run(0.1)
    assert second in pair.answers()
    pair.crash("backup")
    pair.start()
    pair.run(4)
    (serving,) = pair.serving()
    assert (serving == "backup") is hardened
    assert len(pair.objects(serving)) == (2 if hardened else 1)


def test_two_that_claim_an_epoch_at_once_do_not_both_get_it() -> None:
    """FI-2 hardened: the lock is lost without a word, and both find the channel broken."""
    pair = in_step(epochs_in_lock_file=True, lock_check_us=60_000_000)
    pair.part("primary", "backup")
    pair.node("primary").channel.give_up()
    pair.node("backup").channel.give_up()
    for _ in range(2000):
        pair.holders.clear()
        pair.run(0.005)
        assert len(pair.serving()) <= 1 or pair.state("primary") != "STANDALONE"


def test_write_that_fails_ends_the_server_and_the_other_takes_over() -> None:
    pair = in_step()
    pair.failing.add("primary")
    pair.ask("primary", MESSAGE)
    pair.run(2)
    assert "primary" in pair.halted
    assert pair.answers() == []
    assert pair.serving() == ("backup",)


@pytest.mark.parametrize("copied", [False, True])
def test_objects_of_every_kind_are_in_both_databases(copied: bool) -> None:
    """3.1.3: PTP, ACL, principal, PubSub and admin objects; also those from before the backup was there."""
    pair = Pair() if copied else in_step()
    if copied:
        pair.start("primary")
        pair.run(2)
    objects = [SetObject(kind, "somebody", b"value") for kind in ("acl", "principal", "admin")]
    asked = [pair.ask("primary", what) for what in (MESSAGE, Subscribe("prices"), Publish("prices", b"1"), *objects)]
    pair.run(0.1)
    if copied:
        pair.start("backup")
        pair.run(2)
    assert pair.answers() == asked
    kinds = {name.partition("/")[0] for name in pair.objects("backup")}
    assert kinds >= {"ptp", "pubsub", "subscription", "acl", "principal", "admin"}
    assert pair.node("backup").repository.objects == pair.node("primary").repository.objects
