"""Settings, who takes part, what is on disk, and that equal runs are equal."""

from __future__ import annotations

import msgspec
import pytest

from hacheck.impl.node import Message, Setup
from hacheck.impl.protocols.icestorm.client import Client
from hacheck.impl.protocols.icestorm.options import Options
from hacheck.impl.protocols.icestorm.records import Create, Stamp, Subscribe, Subscriber, Topic
from hacheck.impl.protocols.icestorm.store import decoded, encoded
from hacheck.impl.protocols.icestorm.system import SYSTEM
from hacheck.impl.system import Member, Refused
from tests.impl.icestorm.rooms import formed


def test_settings_are_read_from_text() -> None:
    given = {"master_timeout": "500ms", "election_timeout_us": "7", "transient": "true", "workload": "updates"}
    read = SYSTEM.options(given)
    assert (read.master_timeout_us, read.election_timeout_us, read.transient) == (500_000, 7, True)
    assert read.workload == "updates"


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("master_timout", "1s", "did you mean `master_timeout_us`"),
        ("zzz", "1", "there is no setting `zzz`"),
        ("master_timeout", "1 week", "is a time such as"),
        ("master_timeout", "0", "above 0 to 30 years"),
        ("master_timeout", "-1s", "is a time such as"),
        ("invocation_timeout", "-1", "is a time such as"),
        ("master_timeout", "nan", "is a time such as"),
        ("full_startup", "perhaps", "is `true` or `false`"),
        ("workload", "all", "is one of mixed"),
    ],
)
def test_wrong_setting_is_refused(name: str, text: str, says: str) -> None:
    with pytest.raises(Refused, match=says):
        SYSTEM.options({name: text})


@pytest.mark.parametrize(("replicas", "transient"), [(0, False), (2, False), (3, True), (0, True)])
def test_wrong_number_of_replicas_is_refused(replicas: int, transient: bool) -> None:
    """Highly Available IceStorm, Replication Algorithm: a minimum of three replicas are necessary. Concepts, Transient
    Mode: replication is not supported in this mode."""
    with pytest.raises(Refused):
        SYSTEM.members(replicas, 0, Options(transient=transient))


def test_two_replicas_with_one_identifier_are_refused() -> None:
    members = (Member("a-1", "replica"), Member("b-1", "replica"), Member("c-2", "replica"))
    with pytest.raises(Refused, match="both have the identifier 1"):
        SYSTEM.start(members[0], members, Setup("a-1", 0, {}, Options()))


def test_identifiers_need_not_follow_each_other() -> None:
    """Notes on IceStorm 3.7.8, section 2: non-contiguous ids such as 10/20/30 start fine."""
    members = tuple(Member(f"replica-{ident}", "replica") for ident in (10, 20, 30))
    node = SYSTEM.start(members[1], members, Setup("replica-20", 0, {}, Options()))
    assert sorted(node.standing.nodes) == [10, 30]  # type: ignore[attr-defined]


def test_replica_without_a_number_is_refused() -> None:
    members = tuple(Member(name, "replica") for name in ("one", "two", "three"))
    with pytest.raises(Refused, match="ends with its identifier"):
        SYSTEM.start(members[0], members, Setup("one", 0, {}, Options()))


# ---- what is on disk -----------------------------------------------------------------------------------------------


def test_disk_is_read_as_it_was_written() -> None:
    topic = Topic("A", (Subscriber("s", "e", {"retryCount": "3"}),))
    disk = decoded({key: value for key, value in encoded({"A": topic}, Stamp(4, 2), 7) if value}, "replica-1")
    assert (disk.topics, disk.stamp, disk.promised, disk.empty) == ({"A": topic}, Stamp(4, 2), 7, False)


def test_new_disk_is_empty() -> None:
    assert decoded({}, "replica-1").empty


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("stamp", msgspec.msgpack.encode({"version": 2, "stamp": [1, 2]}), "of version 2"),
        ("topic/A", msgspec.msgpack.encode({"version": 9, "anything": 1}), "of version 9"),
        ("promise", b"\xc1", "damaged"),
        ("stamp", msgspec.msgpack.encode({"version": 1, "stamp": "x"}), "damaged"),
        ("queue/1", b"", "another system's"),
    ],
)
def test_disk_that_cannot_be_read_is_refused(key: str, value: bytes, says: str) -> None:
    with pytest.raises(Refused, match=says):
        decoded({key: value}, "replica-1")


# ---- messages and clients ------------------------------------------------------------------------------------------


def test_every_message_has_a_name_of_its_own_on_the_wire() -> None:
    names = [kind.__struct_config__.tag for kind in SYSTEM.messages]
    assert len(names) == len(set(names))


def test_messages_pass_the_wire() -> None:
    room = formed(3)
    room.ask(1, Create("A"))
    room.ask(1, Subscribe("A", Subscriber("s", "s", {"retryCount": "1"})))
    union: Message = SYSTEM.messages[0]  # type: ignore[assignment]
    for kind in SYSTEM.messages[1:]:
        union |= kind  # type: ignore[operator, assignment]
    decoder = msgspec.msgpack.Decoder(union)
    assert room.sent
    for _, _, message in room.sent:
        assert decoder.decode(msgspec.msgpack.encode(message)) == message


def test_client_asks_the_next_replica_when_one_does_not_answer() -> None:
    """Highly Available IceStorm, Publisher Considerations: binds to a single replica and continues using that replica
    unless there is a failure."""
    room = formed(3, clients=1, workload="mixed")
    client = room.nodes["client-1"]
    assert isinstance(client, Client)
    room.isolate(1)
    room.run(20)
    asked = [event for event in room.fields("asked") if event["attempt"] == 2]
    assert asked
    assert {event["replica"] for event in room.fields("asked")} >= {"replica-1", "replica-2"}
    told = {event["request"]: event["outcome"] for event in room.fields("told")}
    assert told[asked[0]["request"]] in ("ok", "TopicExists", "AlreadySubscribed")


def test_publisher_of_one_replica_is_told_of_its_failure() -> None:
    """Highly Available IceStorm, Publisher Considerations: with getNonReplicatedPublisher no transparent failover to a
    different replica can occur; the publisher recovers by requesting another proxy."""
    room = formed(3, clients=2, workload="publishing")
    room.run(5)
    room.crash(2)  # the second client is bound to it
    room.run(60)
    assert room.fields("publisher_failed")
    asked = [event for event in room.fields("asked") if str(event["request"]).startswith("client-2")]
    assert asked[-1]["replica"] != "replica-2"
