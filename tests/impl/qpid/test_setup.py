"""Settings from text, and who takes part."""

from __future__ import annotations

import msgspec
import pytest

from hacheck.impl.node import Message
from hacheck.impl.protocols.qpid import messages as wire
from hacheck.impl.protocols.qpid import objects, orders
from hacheck.impl.protocols.qpid.options import Options
from hacheck.impl.protocols.qpid.system import STANDALONE, SYSTEM
from hacheck.impl.system import Refused


def test_settings_are_read_from_text() -> None:
    options = SYSTEM.options({"store": "yes", "replicate": "configuration", "window": "7", "fencing": "none"})
    assert options == Options(store=True, replicate="configuration", window=7, fencing="none")


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("stoer", "yes", "did you mean `store`"),
        ("store", "maybe", "`true` or `false`"),
        ("replicate", "al", "try `all`"),
        ("window", "0", "from 1 to "),
        ("window", "many", "from 1 to "),
        ("check_timeout_us", "1", "a query precedes its answer"),
        ("watchdog_us", "600000", "twice"),
    ],
)
def test_wrong_setting_is_refused_with_what_to_write(name: str, text: str, says: str) -> None:
    with pytest.raises(Refused, match=says):
        SYSTEM.options({name: text})


def test_cluster_has_brokers_a_resource_manager_and_clients() -> None:
    members = SYSTEM.members(3, 2, Options())
    assert [member.role for member in members] == ["replica"] * 3 + ["resource-manager"] + ["client"] * 2
    with pytest.raises(Refused, match="at least one broker"):
        SYSTEM.members(0, 1, Options())


def test_standalone_replication_needs_two_brokers_and_no_manager() -> None:
    roles = [member.role for member in STANDALONE.members(2, 1, Options())]
    assert roles == ["replica", "replica", "operator", "client"]
    with pytest.raises(Refused, match="at least 2"):
        STANDALONE.members(1, 1, Options())


def test_every_message_goes_over_the_wire_and_back() -> None:
    """Frames carry what is said on connections; each kind is informed by its tag."""
    union = SYSTEM.messages[0]
    for kind in SYSTEM.messages[1:]:
        union = union | kind
    content = objects.Content("m", "body", True)
    said: list[Message] = [
        wire.Frame("c", 1, wire.Publish(content, "", "q")),
        wire.Frame("c", 2, wire.Commit("r", "t")),
        wire.Frame("c", 3, wire.QueuesPage((objects.QueueObject("q", objects.Arguments()),), True)),
        wire.Frame("c", 4, wire.SubscribeQueue(1, "q", "u", ((1, 3), (5, 5)))),
        wire.Open("c", "backup", objects.Info("s", "broker-1", "ready")),
        orders.Promote(1, 0, 5),
    ]
    for message in said:
        assert msgspec.msgpack.decode(msgspec.msgpack.encode(message), type=union) == message
