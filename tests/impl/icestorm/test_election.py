"""The replication algorithm, one rule of the documents per test."""

from __future__ import annotations

from itertools import product

import pytest

from hacheck.impl.node import Fired, Received, Send, Written
from hacheck.impl.protocols.icestorm.messages import Answer, Apply, AreYouThere, Invitation, Query, Ready, View
from hacheck.impl.protocols.icestorm.records import Create, Stamp
from hacheck.impl.protocols.icestorm.standing import REPLICA, State, Step
from tests.impl.icestorm.rooms import Room, formed


def test_replica_starts_as_the_coordinator_of_a_group_of_its_own() -> None:
    """Highly Available IceStorm, Replication Algorithm: during startup, replicas form a single self-coordinated
    group."""
    room = Room()
    room.start(2)
    room.settle()
    standing = room.replica(2).standing
    assert (standing.state, standing.coord, standing.members) == (State.INACTIVE, 2, {})
    assert standing.group.startswith("2:")


def test_replica_with_the_highest_priority_coordinates() -> None:
    """Highly Available IceStorm, Replication Algorithm: the replica with the highest priority in the group becomes the
    coordinator, and the remaining replicas are slaves."""
    room = formed(5)
    assert room.coordinator() == 5
    assert sorted(room.replica(5).standing.members) == [1, 2, 3, 4]


def test_first_check_comes_two_seconds_later_for_each_priority_below_the_highest() -> None:
    """Notes on IceStorm 3.7.8, section 2: first check after 2 * (N - id) s."""
    room = Room()
    room.start(1, 2)
    room.run(1.9)
    assert room.fields("coordinators_found") == []
    room.run(0.2)
    assert [found["id"] for found in room.fields("coordinators_found")] == [2]
    assert room.fields("merge_scheduled") == []  # it begins at once


def test_lower_priority_waits_longer_before_it_merges() -> None:
    """Notes on IceStorm 3.7.8, section 2: the merge delay is 0 above every coordinator found, else
    R * (1 + maxFound - id)."""
    room = Room(response_timeout_us=7_000_000)
    room.start(3)  # alone it finds nobody, and looks again in 10 s
    room.run(0.1)
    room.start(1)
    room.run(4.1)
    assert room.fields("coordinators_found") == [{"id": 1, "highest": 3}]
    assert room.fields("merge_scheduled") == [{"id": 1, "delay": 7_000_000 * (1 + 3 - 1)}]


def test_majority_is_not_enough_when_all_were_down() -> None:
    """Highly Available IceStorm, Replication Algorithm: during full system startup, replication can only commence with
    the participation of every replica in the group."""
    room = Room()
    room.start(1, 2)
    room.run(120)
    assert room.coordinator() is None
    assert room.fields("not_enough_nodes")[0] == {"id": 2, "size": 2, "total": 3, "full_start": True}
    room.start(3)
    room.run(60)
    assert room.coordinator() is not None


def test_full_participation_can_be_switched_off() -> None:
    """Bug corpus, IS-7: the full startup is the price for stamps that are lost; ours are kept."""
    room = Room(full_startup=False)
    room.start(1, 2)
    room.run(60)
    assert room.coordinator() == 2


def test_majority_goes_on_after_the_coordinator_is_killed() -> None:
    """Highly Available IceStorm, Replication Algorithm: slaves contact their coordinator at regular intervals; if a
    failure occurs, the replica performs error recovery."""
    room = formed()
    room.crash(3)
    room.run(60)
    assert room.coordinator() == 2
    assert {room.replica(ident).standing.seen_max for ident in (1, 2)} == {3}


def test_minority_never_replicates() -> None:
    """Highly Available IceStorm, Replication Algorithm: replication commences once a group contains a majority."""
    room = formed(5)
    room.crash(5, 4, 3)
    room.run(200)
    assert set(room.states().values()).isdisjoint({"normal"}), room.states()


@pytest.mark.parametrize("reason", ["other group", "not a member"])
def test_coordinator_that_is_asked_by_a_stranger_says_no(reason: str) -> None:
    """Notes on IceStorm 3.7.8, section 2, item 11: true iff group equal, callee is its own coordinator, caller a
    member."""
    room = formed()
    group = room.replica(3).standing.group
    if reason == "not a member":
        del room.replica(3).standing.members[1]
    room.write("somebody", 3, AreYouThere(7, "other" if reason == "other group" else group, 1))
    assert room.inbox["somebody"] == [Answer(7, False)]


def test_any_known_node_may_invite_any_other() -> None:
    """Notes on IceStorm 3.7.8, section 2, item 6: no priority test."""
    room = formed()
    room.hold(3, 1)
    room.write(1, 3, Invitation(1, "1:x"))
    standing = room.replica(3).standing
    assert (standing.coord, standing.group, standing.state) == (1, "1:x", State.REORGANIZATION)


def test_coordinator_that_joins_hands_the_invitation_on() -> None:
    """Notes on IceStorm 3.7.8, section 2, item 6: if it was a coordinator, it forwards the invitation to its old
    members."""
    room = formed(5)
    room.write(4, 5, Invitation(4, "4:x"))
    forwarded = [to for sender, to, m in room.sent if m == Invitation(4, "4:x") and sender == "replica-5"]
    assert forwarded == ["replica-1", "replica-2", "replica-3"]


def test_inviter_is_not_among_those_it_is_handed_on_to() -> None:
    """Notes on IceStorm 3.7.8, section 4, row 13: forwarded invitations may include the inviter itself."""
    assert _accept_of_5(formed(5)).forwarded == (1, 2, 3)
    assert _accept_of_5(formed(5, bug_inviter_forwarded=True)).forwarded == (1, 2, 3, 4)


def _accept_of_5(room: Room):  # type: ignore[no-untyped-def]
    room.write(4, 5, Invitation(4, "4:x"))
    return next(m for sender, _, m in reversed(room.sent) if sender == "replica-5" and type(m).__name__ == "Accept")


def test_invitation_is_ignored_while_a_group_is_being_made() -> None:
    """Notes on IceStorm 3.7.8, section 2, item 6: ignored if state is election or reorganization."""
    room = formed()
    room.hold(1, 2)
    room.hold(1, 3)
    room.write(2, 1, Invitation(2, "2:x"))
    room.write(3, 1, Invitation(3, "3:x"))
    assert room.replica(1).standing.group == "2:x"
    assert room.fields("invitation_received")[-1]["group"] == "3:x"
    assert room.fields("invitation_ignored") == [{"id": 1}]


@pytest.mark.parametrize("again", [False, True])
def test_invitation_to_the_own_group_that_comes_late_changes_nothing(again: bool) -> None:
    """Notes on IceStorm 3.7.8, section 2, items 6, 7 and 11: it is joined in any state but two; its coordinator counts
    nobody any more, and says that it is there."""
    room = formed(bug_joins_again=again)
    room.write(2, 1, Invitation(3, room.replica(1).standing.group))
    room.run(300)
    assert (room.replica(1).standing.state is State.REORGANIZATION) is again
    assert room.replica(3).standing.state is State.NORMAL


def test_invitation_counts_when_the_recovery_before_it_is_over() -> None:
    """Notes on IceStorm 3.7.8, section 2, items 2 and 6: recovery waits for what is in flight; inactive replicas ignore
    no invitation."""
    slave = formed().replica(1)
    group, stamp = slave.standing.group, slave.store.stamp.next()
    (write,) = slave.handle(Received("replica-3", Apply(1, group, stamp, Create("news"))), 0)
    (asked,) = (effect.message for effect in slave.handle(Fired("master"), 0) if isinstance(effect, Send))
    slave.handle(Received("replica-3", Answer(asked.call, False)), 0)  # type: ignore[attr-defined]
    assert slave.standing.state is State.INACTIVE
    shown = slave.handle(Received("replica-2", Invitation(2, "2:A")), 0)
    assert [record.event for record in shown] == ["invitation_received"]
    slave.handle(Written(write.token), 0)
    assert (slave.standing.state, slave.standing.coord, slave.standing.group) == (State.REORGANIZATION, 2, "2:A")


def test_ready_of_another_group_is_refused() -> None:
    """Notes on IceStorm 3.7.8, section 2, item 10: acted on only if state, group and coordinator are right."""
    room = formed()
    room.hold(1, 2)
    room.write(2, 1, Invitation(2, "2:x"))
    room.release()
    room.write(3, 1, Ready(9, "3:old", 5, 3))
    assert room.replica(1).standing.generation != 5


def test_late_coordinator_takes_all_into_one_group_again() -> None:
    """Highly Available IceStorm, Replication Algorithm: coordinators periodically attempt to combine their groups."""
    room = formed()
    room.crash(3)
    room.run(60)
    room.start(3)
    room.run(60)
    assert room.coordinator() == 3
    assert sorted(room.replica(3).standing.members) == [1, 2]


def test_generation_outdoes_every_stamp_of_the_group() -> None:
    """Bug corpus, IS-2: the new generation is above every stamp in the group, the coordinator's own included."""
    room = formed()
    generations = [room.replica(3).standing.generation]
    for _ in range(3):
        room.crash(1, 2)
        room.ask(3, Create(f"T{room.now}"))
        room.start(1, 2)
        room.run(60)
        generations.append(room.replica(room.coordinator() or 3).standing.generation)
    assert generations == sorted(set(generations))


@pytest.mark.parametrize("patient", [False, True])
def test_slave_whose_group_never_comes_about_is_free_at_the_next_check(patient: bool) -> None:
    """A coordinator that needs all three finds one slave at one check and the other at the next, if each that was
    turned down waits as long as the coordinator does between two checks."""
    room = Room(bug_slave_is_patient=patient)
    room.start(1, 3)
    room.run(0.5)
    room.start(2)
    room.run(300)
    assert (room.coordinator() is None) is patient
    if patient:
        found = [event["size"] for event in room.fields("not_enough_nodes")]
        assert len(found) > 20
        assert set(found) == {2}


def test_administrators_see_what_the_tool_shows() -> None:
    """Highly Available IceStorm, IceStorm Replica States: id, coord, group name, state, group, max."""
    room = formed()
    room.write("admin", 3, Query(1))
    room.write("admin", 1, Query(2))
    group = room.replica(3).standing.group
    assert room.inbox["admin"] == [
        View(1, 3, 3, group, "normal", (1, 2), 3),
        View(2, 1, 3, group, "normal", (), 3),
    ]


def test_every_state_has_a_way_back() -> None:
    assert all(REPLICA.next(state, Step.RECOVER) is State.INACTIVE for state in State)


def test_no_election_begins_within_another() -> None:
    for state, step in product((State.ELECTION, State.REORGANIZATION), (Step.MERGE, Step.INVITED)):
        assert not REPLICA.has(state, step)


def test_stamps_order_by_generation_first() -> None:
    assert Stamp(2, 0) > Stamp(1, 99) > Stamp(1, 98)
