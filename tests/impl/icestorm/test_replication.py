"""What a group promises about updates, and how released versions and the protocol itself broke it."""

from __future__ import annotations

import pytest

from hacheck.impl.protocols.icestorm.messages import Answer, Apply, Init, Propose, Request
from hacheck.impl.protocols.icestorm.records import (
    FAILED,
    NO_SUCH_TOPIC,
    OK,
    TOPIC_EXISTS,
    UNKNOWN,
    Create,
    Destroy,
    Retrieve,
    RetrieveAll,
    Stamp,
    Subscribe,
    Subscriber,
    Topic,
)
from hacheck.impl.protocols.icestorm.standing import State
from hacheck.impl.protocols.icestorm.store import decoded
from tests.impl.icestorm.rooms import Room, formed


def outcome(room: Room, ident: int, operation: object) -> str | None:
    reply = room.ask(ident, operation)  # type: ignore[arg-type]
    return None if reply is None else reply.outcome


# ---- updates -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("asked", [1, 2, 3])
def test_acknowledged_update_is_on_every_disk_of_the_group(asked: int) -> None:
    """Notes on IceStorm 3.7.8, section 3: an update at a slave is forwarded; the coordinator commits, then all
    observers."""
    room = formed()
    assert outcome(room, asked, Create("A")) == OK
    assert [sorted(decoded(room.disks[f"replica-{n}"], "r").topics) for n in (1, 2, 3)] == [["A"]] * 3
    assert {decoded(room.disks[f"replica-{n}"], "r").stamp for n in (1, 2, 3)} == {Stamp(1, 1)}


def test_majority_is_enough_for_an_update() -> None:
    room = formed()
    room.crash(1)
    assert outcome(room, 3, Create("A")) == OK
    assert outcome(room, 3, Create("A")) == TOPIC_EXISTS


def test_update_without_a_majority_waits_for_the_next_group() -> None:
    """Notes on IceStorm 3.7.8, section 3: too few observers answer the ping: recovery, and the update waits."""
    room = formed()
    room.crash(1, 2)
    room.write("somebody", 3, Request("r", 1, Create("A")))
    assert room.reply("r") is None
    assert room.states() == {3: "inactive"}
    room.start(1, 2)
    room.run(60)
    reply = room.reply("r")
    assert reply is not None
    assert reply.outcome == OK


def test_outcome_is_unknown_when_the_majority_is_lost_meanwhile() -> None:
    """Highly Available IceStorm, Client Considerations: if a replica loses the majority and thus progresses to the
    inactive state during request processing, the result of the request is indeterminate."""
    room = formed()
    room.loses = lambda message: isinstance(message, Apply)
    room.write("somebody", 3, Request("r", 1, Create("A")))
    room.run(3)
    reply = room.reply("r")
    assert reply is not None
    assert reply.outcome == UNKNOWN
    assert room.states()[3] != "normal"


def test_retry_after_an_unknown_outcome_may_find_it_done() -> None:
    """Highly Available IceStorm, Client Considerations: the client should retry the request and be prepared for the
    request to fail."""
    room = formed()
    room.loses = lambda message: isinstance(message, Answer) and room.replica(3).updating.committed
    room.write("somebody", 3, Request("r", 1, Create("A")))
    room.run(3)
    room.loses = lambda _: False
    room.run(60)
    assert outcome(room, 1, Create("A")) == TOPIC_EXISTS


def test_update_that_the_own_disk_refuses_is_not_done() -> None:
    room = formed()
    room.failing = {"replica-3"}
    assert outcome(room, 3, Create("A")) == FAILED
    room.failing = set()
    room.run(60)
    assert outcome(room, 1, Retrieve("A")) == NO_SUCH_TOPIC


def test_slave_that_misses_an_update_leaves_the_group() -> None:
    room = formed()
    room.failing = {"replica-1"}
    assert outcome(room, 3, Create("A")) == OK
    assert sorted(room.replica(3).standing.members) == [2]
    room.failing = set()
    room.run(60)
    assert room.topics(1) == ["A"]
    assert sorted(room.replica(3).standing.members) == [1, 2]


def test_slave_passes_an_update_on_again_after_the_next_election() -> None:
    """Notes on IceStorm 3.7.8, section 3: connect failure: the slave recovers and retries after the next election."""
    room = formed()
    room.crash(3)
    room.write("somebody", 1, Request("r", 1, Create("A")))
    assert room.reply("r") is None
    room.run(60)
    reply = room.reply("r")
    assert reply is not None
    assert reply.outcome == OK


def test_slave_refuses_an_update_that_is_not_the_next() -> None:
    room = formed()
    group = room.replica(3).standing.group
    room.write(3, 1, Apply(77, group, Stamp(1, 2), Create("A")))
    assert room.topics(1) == []


# ---- reads ---------------------------------------------------------------------------------------------------------


def test_reads_are_answered_by_any_replica() -> None:
    """Notes on IceStorm 3.7.8, section 3: reads are local at any normal replica."""
    room = formed()
    room.ask(3, Create("A"))
    for ident in (1, 2, 3):
        reply = room.ask(ident, RetrieveAll())
        assert reply is not None
        assert reply.names == ("A",)


def test_read_waits_while_there_is_no_group() -> None:
    """Highly Available IceStorm, Client Considerations, Inactive: all requests block until the replica is either down
    or becomes active."""
    room = Room()
    room.start(1)
    room.write("somebody", 1, Request("r", 1, RetrieveAll()))
    room.run(30)
    assert room.reply("r") is None
    room.start(2, 3)
    room.run(60)
    assert room.reply("r") is not None


@pytest.mark.parametrize("crashes", [False, True])
def test_request_that_waits_fails_when_its_replica_goes_down(crashes: bool) -> None:
    """Highly Available IceStorm, Client Considerations, Inactive: it blocks until the replica is either down, in which
    case it fails, or becomes active."""
    room = Room(3, clients=1, workload="mixed", client_timeout_us=600_000_000)
    room.start()
    room.crash(2, 3)
    room.run(10)
    (asked,) = room.fields("asked")
    assert (asked["replica"], room.fields("told")) == ("replica-1", [])
    if crashes:
        room.crash(1)
        room.run(0.01)
        (told,) = room.fields("told")
        assert (told["request"], told["outcome"], told["detail"]) == (asked["request"], "unknown", "unreachable")
    else:
        room.start(2, 3)
        room.run(60)
        assert room.fields("told")[0]["outcome"] == "ok"


def test_every_request_fails_while_all_replicas_are_down() -> None:
    """Highly Available IceStorm, Client Considerations, Down: all requests to IceStorm fail."""
    room = Room(3, clients=1, workload="mixed")
    room.start()
    room.crash(1, 2, 3)
    room.run(60)
    asked, told = room.fields("asked"), room.fields("told")
    assert {one["replica"] for one in asked} == {"replica-1", "replica-2", "replica-3"}
    assert len(told) > 5
    assert {(one["outcome"], one["detail"]) for one in told} == {("unknown", "unreachable")}


@pytest.mark.parametrize("probe_slaves", [False, True])
def test_cut_off_coordinator_answers_reads_until_it_notices(probe_slaves: bool) -> None:
    """Notes on IceStorm 3.7.8, section 3, "Idle coordinator": nothing pings slaves between updates."""
    room = formed(probe_slaves=probe_slaves)
    room.isolate(3)
    room.run(40)
    assert (room.replica(3).standing.state is State.NORMAL) is not probe_slaves


# ---- formation of groups, and what was wrong with it ---------------------------------------------------------------


@pytest.mark.parametrize("bug", [False, True])
def test_update_of_a_majority_survives_a_full_restart(bug: bool) -> None:
    """Bug corpus, IS-1: the highest priority is down while the others commit; all stop; all start."""
    room = formed(bug_stamp_reset_at_start=bug)
    room.crash(3)
    room.run(60)
    assert outcome(room, 2, Create("A")) == OK
    room.crash(1, 2)
    room.start()
    room.run(60)
    assert room.coordinator() == 3
    assert (room.topics(1) == ["A"]) is not bug


@pytest.mark.parametrize("bug", [False, True])
def test_stamp_of_a_new_group_outdoes_that_of_its_coordinator(bug: bool) -> None:
    """Bug corpus, IS-2: the maximum over the slaves only gives a generation that has been, and the stamp of the
    coordinator goes back."""
    room = formed(bug_generation_from_slaves=bug)
    room.loses = lambda message: isinstance(message, Init)
    room.crash(3)
    room.start(3)
    room.run(45)
    room.loses = lambda _: False
    before = room.replica(3).store.stamp
    assert before.generation > 1
    room.run(60)
    assert room.coordinator() == 3
    assert (room.replica(3).store.stamp > before) is not bug


@pytest.mark.parametrize("bug", [False, True])
def test_member_that_cannot_take_the_database_does_not_stop_the_others(bug: bool) -> None:
    """Bug corpus, IS-4: 2 of 3 are fine, and all service stops."""
    room = formed(bug_init_needs_all=bug)
    room.crash(3)
    room.run(60)
    room.start(3)
    room.failing = {"replica-1"}
    room.run(60)
    assert (room.states()[3] == room.states()[2] == "normal") is not bug


def test_member_with_a_broken_disk_stays_out_until_it_works() -> None:
    """Bug corpus, IS-4, the remainder: a member that was left out must not be merged again and again."""
    room = formed()
    room.failing = {"replica-1"}
    room.ask(3, Create("A"))
    room.run(120)
    since = len(room.fields("merge_decided"))
    room.run(120)
    assert len(room.fields("merge_decided")) == since
    room.failing = set()
    room.run(60)
    assert sorted(room.replica(3).standing.members) == [1, 2]


@pytest.mark.parametrize("bug", [False, True])
def test_topic_that_changed_is_taken_over_as_it_is_now(bug: bool) -> None:
    """Bug corpus, IS-6: a lagging slave keeps its record in memory when the name matches although contents changed."""
    room = formed(bug_sync_by_name=bug)
    room.ask(3, Create("A"))
    room.isolate(1)
    room.ask(3, Subscribe("A", Subscriber("s", "somebody")))
    room.run(3)
    room.release(lost=True)
    room.run(60)
    subscribers = room.replica(1).store.topics["A"].subscribers
    assert (len(subscribers) == 1) is not bug


@pytest.mark.parametrize("bug", [False, True])
def test_database_of_another_group_is_refused(bug: bool) -> None:
    """Notes on IceStorm 3.7.8, section 2, item 9: init carries no group and its generation is not checked."""
    room = formed(bug_calls_name_no_group=bug)
    room.loses = lambda message: type(message).__name__ == "Ready"
    room.crash(3)
    room.start(3)
    room.run(11)
    assert room.states()[1] == "reorganization"
    room.write(2, 1, Init(99, "2:other", Stamp(9, 0), (Topic("foreign"),)))
    assert (room.topics(1) == ["foreign"]) is bug


@pytest.mark.parametrize(("by_ping", "rejected"), [(False, False), (True, False), (False, True), (True, True)], ids=str)
def test_deposed_coordinator_acknowledges_nothing(by_ping: bool, rejected: bool) -> None:
    """Notes on IceStorm 3.7.8, section 5, Q3 and Q6: a deposed coordinator acknowledges updates that every slave
    rejects; they vanish at the next merge."""
    room = formed(bug_majority_by_ping=by_ping, bug_rejection_acknowledged=rejected)
    room.isolate(3)
    room.run(60)
    assert room.replica(2).standing.coord == 2
    assert room.replica(3).standing.state is State.NORMAL
    room.release(lost=True)
    told = outcome(room, 3, Create("A"))
    assert told == (OK if by_ping and rejected else UNKNOWN if by_ping else None)
    room.run(60)
    if told == OK:
        assert room.topics(1) == []
    elif told is None:
        assert room.topics(1) == ["A"]


@pytest.mark.parametrize("bug", [False, True])
def test_topic_is_there_until_the_disk_has_said_that_it_is_not(bug: bool) -> None:
    """Bug corpus, IS-5: destroy marks the topic destroyed before its commit can fail."""
    room = formed(bug_destroy_marked_first=bug)
    room.ask(3, Create("A"))
    room.failing = {"replica-3"}
    assert outcome(room, 3, Destroy("A")) == FAILED
    assert ("A" in room.replica(3).store.topics) is not bug


@pytest.mark.parametrize("bug", [False, True])
def test_memory_shows_what_the_disk_has_after_an_unknown_outcome(bug: bool) -> None:
    """Notes on IceStorm 3.7.8, section 3, (d): the topic is then in the database but not in memory."""
    room = formed(bug_unknown_create_hidden=bug)
    room.loses = lambda message: isinstance(message, Apply)
    room.write("somebody", 3, Request("r", 1, Create("A")))
    room.run(3)
    assert "A" in decoded(room.disks["replica-3"], "r").topics
    assert ("A" in room.replica(3).store.topics) is not bug


# ---- where the protocol itself does not keep what it promises ------------------------------------------------------


@pytest.mark.parametrize("promise", [False, True])
def test_stamp_of_a_group_that_never_came_about_outdoes_no_update(promise: bool) -> None:
    """The coordinator stores the stamp of its group before anybody else has it. Two groups that never come about give
    it a stamp above that of the group which the others make without it; it then counts as the latest, and what was
    acknowledged meanwhile is lost. That a majority promises a generation first rules this out."""
    room = formed(promise_generations=promise)
    room.isolate(2)
    room.loses = lambda message: isinstance(message, Init)
    room.crash(3)
    room.start(3)
    while room.replica(3).store.stamp.generation < 3:
        room.run(1)
    room.release(lost=True)
    room.loses = lambda _: False
    room.isolate(3)
    room.run(100)
    assert room.replica(2).standing.coord == 2
    assert outcome(room, 1, Create("A")) == OK
    room.release(lost=True)
    room.run(100)
    assert room.coordinator() is not None
    assert (room.topics(1) == ["A"]) is promise


def test_generation_below_a_promised_one_is_refused() -> None:
    room = formed(promise_generations=True)
    room.loses = lambda message: type(message).__name__ == "Ready"
    room.crash(3)
    room.start(3)
    room.run(11)
    room.inbox.clear()
    slave = room.replica(1)
    assert slave.store.promised == 2
    room.write("somebody", 1, Propose(5, slave.standing.group, 2))
    (answer,) = room.inbox["somebody"]
    assert isinstance(answer, Answer)
    assert not answer.yes


@pytest.mark.parametrize("counted", [True, False])
def test_lost_disk_votes_for_nothing(counted: bool) -> None:
    """A disk that is lost is a fault that IceStorm does not promise to survive: with one that lags behind it makes a
    majority that knows nothing of an acknowledged update."""
    room = formed(count_empty_disks=counted)
    room.isolate(2)
    assert room.ask(3, Create("A")) is None
    room.run(3)
    assert [event["topic"] for event in room.fields("committed")] == ["A"]
    room.crash(1, 3)
    room.disks["replica-1"].clear()
    room.release(lost=True)
    room.start(1)
    room.run(100)
    assert (room.coordinator() == 2) is counted
    room.start(3)
    room.run(100)
    assert (room.topics(1) == ["A"]) is not counted
