"""A server that gives numbers, replicated by PySyncObj. `python server.py FOLDER PORT RAFT_PORT OTHER_RAFT_PORTS…`

Answers each line of a connection: `take` with a number or `unanswered`, `leader` with the Raft port of the leader.
"""

from __future__ import annotations

import socketserver
import sys

from pysyncobj import SyncObj, SyncObjConf, SyncObjException, replicated


class Numbers(SyncObj):
    """A counter. What is replicated is on the disk of each server, in its journal."""

    def __init__(self, folder: str, own: str, others: list[str]) -> None:
        self.last = 0
        quick = {"raftMinTimeout": 0.3, "raftMaxTimeout": 0.7, "appendEntriesPeriod": 0.05, "autoTickPeriod": 0.02}
        patience = {"connectionRetryTime": 0.1, "commandsWaitLeader": False}
        configuration = SyncObjConf(journalFile=f"{folder}/{own}", **quick, **patience)
        super().__init__(f"127.0.0.1:{own}", [f"127.0.0.1:{port}" for port in others], configuration)

    @replicated
    def take(self) -> int:
        """The next number."""
        self.last += 1
        return self.last


def main(folder: str, port: str, own: str, *others: str) -> None:
    """Answers until it is killed."""
    numbers = Numbers(folder, own, list(others))

    class Answers(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            for line in self.rfile:
                try:
                    leader = numbers._getLeader()
                    answer = numbers.take(sync=True, timeout=1.0) if line == b"take\n" else leader and leader.port
                except SyncObjException:
                    answer = "unanswered"
                self.wfile.write(f"{answer}\n".encode())

    socketserver.ThreadingTCPServer.allow_reuse_address = True
    socketserver.ThreadingTCPServer(("127.0.0.1", int(port)), Answers).serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
