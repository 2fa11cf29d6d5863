"""A number on two servers, as somebody might ship it: plain TCP, a line for each message. There is a mistake in it.

    python register.py ID PORT PEER_PORT FILE [--copies-first]

A client sends `write N` and is answered `ok N`; `state` is answered `leads STORED`. Servers send each other `copy N`,
`copied N` and `ping`. What is stored is in FILE.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

PING_SECONDS = 0.2
ANSWER_SECONDS = 30.0


class Server:
    """One server. `leads` and `stored` are on disk; `waiting`: the client that is answered when both have its write."""

    def __init__(self, number: int, peer_port: int, file: Path, copies_first: bool) -> None:
        self.number, self.peer_port, self.file, self.copies_first = number, peer_port, file, copies_first
        words = file.read_text().split() if file.exists() else [str(int(number == 1)), "0"]
        self.leads, self.stored = words[0] == "1", int(words[1])
        self.waiting: asyncio.StreamWriter | None = None
        self.peer: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    def store(self, leads: bool, stored: int) -> None:
        """Replaces what is on the disk."""
        self.leads, self.stored = leads, stored
        beside = self.file.with_suffix(".new")
        beside.write_text(f"{int(leads)} {stored}")
        os.replace(beside, self.file)

    async def ask(self, line: str, answered: bool = False) -> str | None:
        """Sends a line to the other server; returns its answer, or nothing where there is none. A connection that was
        there may be one to a process that has ended: then a new one is tried."""
        for is_new in (self.peer is None, True):
            try:
                if self.peer is None:
                    self.peer = await asyncio.open_connection("127.0.0.1", self.peer_port)
                reader, writer = self.peer
                writer.write(f"{line}\n".encode())
                await writer.drain()
                answer = await asyncio.wait_for(reader.readline(), ANSWER_SECONDS) if answered else b"sent"
            except (OSError, TimeoutError):
                answer = b""
            if answer:
                return answer.decode().strip()
            self.peer = None
            if is_new:
                break
        return None

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection: a line at a time."""
        while line := (await reader.readline()).decode().split():
            what, number = line[0], int(line[1]) if len(line) > 1 else 0
            if what == "state":
                writer.write(f"{int(self.leads)} {self.stored}\n".encode())
            elif what == "ping":
                writer.write(b"pong\n")
            elif what == "write" and self.leads:
                self.store(True, number)
                self.waiting = writer if self.copies_first else None
                if not self.copies_first:
                    writer.write(f"ok {number}\n".encode())
                print(f"stored {number}", flush=True)
                await self.ask(f"copy {number}")
            elif what == "copy":
                self.store(self.leads, max(self.stored, number))
                print(f"copied {number}", flush=True)
                await self.ask(f"copied {number}")
            elif what == "copied" and self.waiting is not None:
                self.waiting.write(f"ok {number}\n".encode())
                self.waiting = None

    async def look(self) -> None:
        """The follower asks whether the leader is there."""
        while True:
            await asyncio.sleep(PING_SECONDS)
            if not self.leads and await self.ask("ping", answered=True) is None:
                self.store(True, self.stored)
                print("takes over", flush=True)


async def main(number: int, port: int, peer_port: int, file: str, copies_first: bool) -> None:
    """Serves until it is killed."""
    server = Server(number, peer_port, Path(file), copies_first)
    listening = await asyncio.start_server(server.serve, "127.0.0.1", port)
    print("started", flush=True)
    await asyncio.gather(listening.serve_forever(), server.look())


if __name__ == "__main__":
    given = [word for word in sys.argv[1:] if word != "--copies-first"]
    asyncio.run(main(int(given[0]), int(given[1]), int(given[2]), given[3], "--copies-first" in sys.argv))
