"""Reads Artemis core packets: which ones a schedule holds, and what they say.

A connection begins with seven bytes that name the protocol; then each packet has its length, a type and a channel.
**Source**: the public classes of artemis-core-client 2.41, `PacketImpl` and the messages that it names.
"""

from __future__ import annotations

import re

from hacheck.replay.relayed_connection import Heard

GREETING = b"ARTEMIS"
LENGTH, HEADER = 4, 13
BYTES_MAX = 1 << 28

SEND, RESPONSE = 71, 21
REGISTRATION, SYNC_FILE, SYNC_PHASE, STOPPING = 115, 103, 120, 121
VOTE, VOTE_ANSWER = -2, -3
OPERATIONS = {
    REGISTRATION: "register",
    SYNC_FILE: "sync_file",
    VOTE: "vote",
    VOTE_ANSWER: "vote_answer",
}
STOPPING_WORDS = ("stop_called", "fail_over")
NUMBER = re.compile("number".encode("utf-16-le") + rb".{5}((?:\d\x00)+)", re.DOTALL)
"""Where a message of `Clients.java` has its number: a property, its type and length, and digits of two bytes each."""


class CoreReader:
    """The packets of one connection."""

    greetings = 0
    unanswered = 0  # a connection that breaks is broken at both ends at once
    keeps_order = frozenset(STOPPING_WORDS)  # a server closes its connections behind them

    def __init__(self) -> None:
        self._sending: dict[bytes, str] = {}  # by channel: the message whose answer is due

    def length(self, begin: bytes) -> int | None:
        """How many bytes the first packet takes. Errors: `ValueError`, for what is no packet."""
        if len(begin) < LENGTH:
            return None
        if GREETING.startswith(begin[:LENGTH]):
            return len(GREETING)
        length = int.from_bytes(begin[:LENGTH], signed=True)
        if not HEADER - LENGTH <= length <= BYTES_MAX:
            raise ValueError(f"a packet of {length} bytes")
        return LENGTH + length

    def read(self, raw: bytes, *, to_server: bool) -> Heard | None:
        """What a schedule cares about: registrations, the files of a synchronization and its end, the two messages of
        a server that stops, votes, and messages that are moved with their answers."""
        if raw.startswith(GREETING):
            return None
        code = int.from_bytes(raw[LENGTH : LENGTH + 1], signed=True)
        channel, content = raw[LENGTH + 1 : HEADER], raw[HEADER:]
        kind = "request" if to_server else "reply"
        if code in OPERATIONS:
            return Heard(kind, OPERATIONS[code], 0, "")
        if code == SYNC_PHASE:
            return Heard(kind, "sync_end" if content[0] else "sync_begin", 0, "")
        if code == STOPPING:
            return Heard(kind, STOPPING_WORDS[int.from_bytes(content[:4])], 0, "")
        if code == SEND and to_server and (found := NUMBER.search(content)):
            number = found.group(1).decode("utf-16-le")
            self._sending[channel] = number
            return Heard(kind, "message", int(number), number)
        if code == RESPONSE and not to_server and channel in self._sending:
            number = self._sending.pop(channel)
            return Heard(kind, "message", int(number), number)
        return None
