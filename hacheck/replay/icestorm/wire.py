"""Reads Ice messages, protocol version 1.0, as far as a schedule needs it: headers, operations, a few arguments.

**Source**: Ice manual, "The Ice Protocol"; the operations: Real IceStorm HA, section 2.
"""

from __future__ import annotations

import struct

from hacheck.replay.icestorm.ice_client import HEADER, REPLY, REQUEST
from hacheck.replay.relayed_connection import Heard

MAGIC = b"IceP"
SHOWN_MAX = 48
GROUP_SHOWN = 10
LLU = struct.Struct("<qqi")
"""How the arguments of `accept` end: generation and iteration of the last update, and the largest group seen."""


class IceReader:
    """One connection. `pending`: the operations of requests that were not answered yet, by their number."""

    greetings = 1  # the server validates a new connection

    def __init__(self) -> None:
        self.pending: dict[int, str] = {}

    @property
    def unanswered(self) -> int:
        """How many requests wait for a reply."""
        return len(self.pending)

    def length(self, begin: bytes) -> int | None:
        """How long the first message is. Errors: `ValueError`, for what is none."""
        if len(begin) < HEADER.size:
            return None
        if not begin.startswith(MAGIC):
            raise ValueError("no Ice message")
        return int(HEADER.unpack_from(begin)[-1])

    def read(self, raw: bytes, *, to_server: bool) -> Heard | None:
        """A request or a reply; of batches, validations and closings nothing."""
        kind, body = HEADER.unpack_from(raw)[5], raw[HEADER.size :]
        if kind == REQUEST and to_server:
            number, operation, arguments = read_request(body)
            if number:
                self.pending[number] = operation
            return Heard("request", operation, number, brief(operation, arguments))
        if kind == REPLY and not to_server:
            number, status = struct.unpack_from("<iB", body)
            operation = self.pending.pop(number, "?")
            return Heard("reply", operation, number, answer(operation, status, body))
        return None


def short(data: bytes, at: int) -> tuple[int, int]:
    """A size, and where what follows it begins."""
    if data[at] < 255:
        return data[at], at + 1
    return struct.unpack_from("<i", data, at + 1)[0], at + 5


def string(data: bytes, at: int) -> tuple[str, int]:
    """A string, and where what follows it begins."""
    length, at = short(data, at)
    return data[at : at + length].decode(errors="replace"), at + length


def read_request(body: bytes) -> tuple[int, str, bytes]:
    """Number, operation and arguments, these without the header of their encapsulation."""
    number = struct.unpack_from("<i", body)[0]
    _, at = string(body, 4)
    _, at = string(body, at)
    facets, at = short(body, at)
    for _ in range(facets):
        _, at = string(body, at)
    operation, at = string(body, at)
    contexts, at = short(body, at + 1)
    for _ in range(2 * contexts):
        _, at = string(body, at)
    return number, operation, body[at + 6 :]


def brief(operation: str, arguments: bytes) -> str:
    """What of the arguments a reader wants to see."""
    try:
        if operation in ("invitation", "accept", "ready"):
            group, _ = string(arguments, 4)
            stamp = ""
            if operation == "accept":
                generation, iteration, _ = LLU.unpack(arguments[-LLU.size :])
                stamp = f", {generation}/{iteration}"
            return f"{struct.unpack_from('<i', arguments)[0]}, {group[:GROUP_SHOWN]}{stamp}"
        if operation == "areYouThere":
            return string(arguments, 0)[0][:GROUP_SHOWN]
        if operation in ("init", "createTopic", "destroyTopic", "addSubscriber", "removeSubscriber"):
            generation, iteration = struct.unpack_from("<qq", arguments)
            topic = "" if operation == "init" else ", " + string(arguments, 16)[0]
            return f"{generation}/{iteration}{topic}"
        if operation == "create":
            return string(arguments, 0)[0]
    except (struct.error, IndexError):
        return "?"
    return ""


def answer(operation: str, status: int, body: bytes) -> str:
    """What of a reply a reader wants to see: yes or no, or the exception."""
    if status == 1:
        return body[12 : 12 + SHOWN_MAX].split(b"\0")[0].decode(errors="replace")
    if status:
        return f"status {status}"
    if operation in ("areYouCoordinator", "areYouThere") and len(body) > 11:
        return str(bool(body[11]))
    return ""
