"""The reference implementation's messages and records, as real replicas call them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hacheck.impl.node import Message as Sent
from hacheck.impl.protocols.icestorm import messages as ice
from hacheck.replay.traffic import Message

OPERATIONS: Mapping[type[Sent], str] = {
    ice.AreYouCoordinator: "areYouCoordinator",
    ice.Invitation: "invitation",
    ice.Accept: "accept",
    ice.AreYouThere: "areYouThere",
    ice.Init: "init",
    ice.Ready: "ready",
    ice.Apply: "createTopic",
    ice.Sync: "sync",
    ice.Ping: "ice_ping",
}
"""What real replicas call the requests."""

LINES = {
    "group_created": "creating new self-coordinated group",
    "invitation_ignored": "invitation ignored",
    "not_enough_nodes": "not enough nodes",
    "sync_failed": "syncing failed",
    "init_failed": "initMaster failed",
    "commenced": "reporting for duty as coordinator",
    "ready_failed": "error calling ready",
    "coordinator_lost": "lost connection to coordinator",
}
"""How real replicas say it, as far as a step waits for it."""


def line_of(event: str, fields: Mapping[str, Any]) -> str:
    """A record as a line of a log."""
    text = LINES.get(event, event)
    if event == "state_change":
        text = f"transition from {fields['old']} to {fields['new']}"
    shown = ", ".join(f"{name} {value}" for name, value in fields.items() if name != "id")
    return f"{text} ({shown})" if shown else text


class Calls:
    """The calls of one cluster: an answer has the operation of its request."""

    def __init__(self) -> None:
        self._pending: dict[tuple[int, int, int], str] = {}

    def message(self, source: int, target: int, item: Sent, deliver: Callable[[bool], None]) -> Message:
        """What was sent, as a schedule sees it."""
        operation, call = OPERATIONS.get(type(item)), getattr(item, "call", 0)
        kind = "request"
        if operation is None:
            kind = "reply"
            operation = self._pending.get((target, source, call), "?")
        elif call:
            self._pending[source, target, call] = operation
        detail = str(getattr(item, "yes", getattr(item, "group", "")))
        return Message(source, target, kind, operation, call, detail, deliver)
