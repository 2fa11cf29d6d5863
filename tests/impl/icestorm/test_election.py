"""The replication algorithm, one rule of the documents per test."""

from __future__ import annotations

from itertools import product

from hacheck.impl.node import Fired, Received, Send, Written
from hacheck.impl.protocols.icestorm.messages import Answer, Apply, Invitation
from hacheck.impl.protocols.icestorm.records import Create, Stamp
from hacheck.impl.protocols.icestorm.replica_state import REPLICA, State, Step
from tests.impl.icestorm.rooms import Room, formed


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


def test_every_state_has_a_way_back() -> None:
    assert all(REPLICA.next(state, Step.RECOVER) is State.INACTIVE for state in State)


def test_no_election_begins_within_another() -> None:
    for state, step in product((State.ELECTION, State.REORGANIZATION), (Step.MERGE, Step.INVITED)):
        assert not REPLICA.has(state, step)


def test_stamps_order_by_generation_first() -> None:
    assert Stamp(2, 0) > Stamp(1, 99) > Stamp(1, 98)
