"""What is on the wire: frames of a length and msgpack, the first of which says who speaks to whom.

A connection carries frames of four bytes of length, the highest first, and so many bytes of msgpack. The first frame is
a `Hello`; the one that cannot accept it answers with a `Refusal` and hangs up. Then come the messages of the system.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from operator import or_
from typing import Any

import msgspec

from hacheck.impl.node import Message, Name
from hacheck.impl.system import System

VERSION = 1
LENGTH_BYTES = 4
FRAME_BYTES_MAX = 64 << 20


class Damaged(Exception):
    """What has come is no frame, or no message: the one that sent it is to be hung up on."""


class Hello(msgspec.Struct, frozen=True, tag=True):
    """Who speaks to whom. `token`: the cluster's own, which strangers do not have. `guest`: the sender is no member;
    answers go back on this connection. `incarnation`: how often the sender was started before."""

    version: int
    token: str
    system: str
    sender: Name
    to: Name
    incarnation: int = 0
    guest: bool = False


class Refusal(msgspec.Struct, frozen=True, tag=True):
    """Why a connection is not accepted."""

    reason: str


class _Version(msgspec.Struct, frozen=True):
    version: int


_encode = msgspec.msgpack.encode
_hello = msgspec.msgpack.Decoder(Hello)


def frame(content: object) -> bytes:
    """A value as a frame."""
    body = _encode(content)
    return len(body).to_bytes(LENGTH_BYTES, "big") + body


class Frames:
    """Cuts what arrives into frames."""

    __slots__ = ("_left",)

    def __init__(self) -> None:
        self._left = bytearray()

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The content of each frame that is whole now. Errors: `Damaged`, for one that is too long."""
        left = self._left
        left += data
        begin = 0
        try:
            while len(left) - begin >= LENGTH_BYTES:
                length = int.from_bytes(left[begin : begin + LENGTH_BYTES], "big")
                if length > FRAME_BYTES_MAX:
                    raise Damaged(f"a frame of {length} bytes, where {FRAME_BYTES_MAX} are the most")
                end = begin + LENGTH_BYTES + length
                if len(left) < end:
                    break
                content = bytes(left[begin + LENGTH_BYTES : end])
                begin = end
                yield content
        finally:
            del left[:begin]


def messages_of(system: System) -> msgspec.msgpack.Decoder[Any]:
    """What reads the messages of a system."""
    kinds: Any = reduce(or_, system.messages)
    return msgspec.msgpack.Decoder(kinds)


def read_message(decoder: msgspec.msgpack.Decoder[Any], content: bytes) -> Message:
    """A message. Errors: `Damaged`."""
    try:
        message: Message = decoder.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Damaged(f"no message of this system: {error}") from None
    return message


def read_hello(content: bytes) -> Hello:
    """The first frame. Errors: `Damaged`, for one of another version, or none at all."""
    try:
        version = msgspec.msgpack.decode(content, type=_Version).version
        if version != VERSION:
            raise Damaged(f"a hello of version {version}, where this program speaks {VERSION}")
        return _hello.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Damaged(f"no hello: {error}") from None


def objection(hello: Hello, token: str, system: str, to: Name) -> str:
    """Why this hello is not for a process of that name, or nothing."""
    if hello.token != token:
        return "you belong to another cluster"
    if hello.system != system:
        return f"you speak {hello.system}, and this is {system}"
    if hello.to != to:
        return f"you want {hello.to}, and this is {to}"
    return ""
