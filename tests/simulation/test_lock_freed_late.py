"""Fiorano's replicated pair: what becomes of a PASSIVE server whose first try of the lock is refused.

The lock of a machine that lost its power stays for a while. Until it is freed the PASSIVE server goes to WAITING, and
by the guide's text no server leaves that state alone. The spec says the same (`fiorano_replicated.ha`, check
`text_alone`), so this is a flaw of the protocol as its text reads, and not of the code.
"""

from __future__ import annotations

import pytest

from hacheck.testing.simulated_adapter import adapter_for


@pytest.mark.parametrize(
    ("alone_from_waiting", "fault", "states"),
    [
        ("nobody", "fault_power", ["WAITING"]),
        ("nobody", "fault_crash", ["STANDALONE"]),
        ("in_sync", "fault_power", ["WAITING", "STANDALONE"]),
    ],
)
def test_passive_server_that_is_refused_the_lock_at_first(
    alone_from_waiting: str, fault: str, states: list[str]
) -> None:
    pair = adapter_for("fiorano-replicated", {"alone_from_waiting": alone_from_waiting})()
    pair.start()
    pair.wait(6.0)
    active = [event.node for event in pair.events() if event.fields.get("new") == "ACTIVE"][-1]
    pair.act(fault, {"member": active, "seconds": 10_000.0})
    pair.wait(60.0)
    assert [event.fields["new"] for event in pair.events() if event.name == "state_change"] == states
