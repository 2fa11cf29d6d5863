"""A client of IceStorm in plain Python: just enough of the Ice protocol, version 1.0, to ask for changes.

One connection, one request at a time, values in encoding 1.0. **Source**: Ice manual, "The Ice Protocol".
"""

from __future__ import annotations

import socket
import struct
from dataclasses import dataclass

REQUEST, REPLY, VALIDATE = 0, 2, 3
NORMAL, IDEMPOTENT = 0, 2
TCP = 1
HEADER = struct.Struct("<4sBBBBBBi")
STATUS = {
    2: "ObjectNotExistException",
    3: "FacetNotExistException",
    4: "OperationNotExistException",
    5: "UnknownLocalException",
    6: "UnknownUserException",
    7: "UnknownException",
}


@dataclass(frozen=True)
class Identity:
    """Of an object at a server."""

    name: str
    category: str


class Failed(Exception):
    """A call that ended otherwise than by success: the name of the exception, or `NoAnswer`."""


class Connection:
    """A connection to one server. Errors: `OSError` (with time-outs) where the server cannot be reached."""

    def __init__(self, port: int, seconds_max: float) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), seconds_max)
        self.last = 0
        kind, _ = self.receive()
        assert kind == VALIDATE, f"message of kind {kind} before the connection is validated"

    def close(self) -> None:
        self.socket.close()

    def call(self, target: Identity, operation: str, arguments: bytes = b"", mode: int = NORMAL) -> bytes:
        """Calls and waits: the encoded results. Errors: `Failed`, `OSError`."""
        self.last += 1
        self.send(self.last, target, operation, arguments, mode)
        while True:
            kind, body = self.receive()
            if kind != REPLY:
                raise Failed("ConnectionClosed")
            number, status = struct.unpack_from("<iB", body)
            if number == self.last:
                break
        if status == 0:
            return body[11:]
        raise Failed(user_exception(body[11:]) if status == 1 else STATUS.get(status, f"status {status}"))

    def send(self, number: int, target: Identity, operation: str, arguments: bytes, mode: int) -> None:
        body = struct.pack("<i", number) + identity(target) + size(0) + text(operation) + bytes([mode]) + size(0)
        body += encapsulated(arguments)
        self.socket.sendall(HEADER.pack(b"IceP", 1, 0, 1, 0, REQUEST, 0, HEADER.size + len(body)) + body)

    def receive(self) -> tuple[int, bytes]:
        """The kind of the next message, and what comes after its header."""
        magic, *_, kind, _, length = HEADER.unpack(self.exactly(HEADER.size))
        if magic != b"IceP":
            raise Failed("not the Ice protocol")
        return kind, self.exactly(length - HEADER.size)

    def exactly(self, length: int) -> bytes:
        parts = bytearray()
        while len(parts) < length:
            part = self.socket.recv(length - len(parts))
            if not part:
                raise ConnectionResetError("the server closed the connection")
            parts += part
        return bytes(parts)


def size(number: int) -> bytes:
    return bytes([number]) if number < 255 else b"\xff" + struct.pack("<i", number)


def text(value: str) -> bytes:
    encoded = value.encode()
    return size(len(encoded)) + encoded


def identity(value: Identity) -> bytes:
    return text(value.name) + text(value.category)


def encapsulated(value: bytes) -> bytes:
    return struct.pack("<iBB", len(value) + 6, 1, 0) + value


def proxy(target: Identity, port: int) -> bytes:
    """A twoway proxy for an object at a port of loopback."""
    endpoint = text("127.0.0.1") + struct.pack("<iiB", port, 2000, 0)
    return identity(target) + size(0) + b"\0\0" + size(1) + struct.pack("<h", TCP) + encapsulated(endpoint)


def read_identity(value: bytes) -> Identity:
    """The identity with which an encoded proxy begins."""
    first = value[0]
    second = value[1 + first]
    return Identity(value[1 : 1 + first].decode(), value[2 + first : 2 + first + second].decode())


def user_exception(value: bytes) -> str:
    """The name of an encoded exception, without its module."""
    length = value[1]
    return value[2 : 2 + length].decode().rpartition("::")[2]
