"""What a group promises about updates, and how released versions and the protocol itself broke it."""

from __future__ import annotations

import pytest

from hacheck.impl.protocols.icestorm.messages import Answer, Request
from hacheck.impl.protocols.icestorm.records import (
    TOPIC_EXISTS,
    Create,
)
from tests.impl.icestorm.rooms import Room, formed


def outcome(room: Room, ident: int, operation: object) -> str | None:
    reply = room.ask(ident, operation)  # type: ignore[arg-type]
    return None if reply is None else reply.outcome


# ---- updates -------------------------------------------------------------------------------------------------------


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


# ---- reads ---------------------------------------------------------------------------------------------------------


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


# ---- formation of groups, and what was wrong with it ---------------------------------------------------------------


# ---- where the protocol itself does not keep what it promises ------------------------------------------------------
