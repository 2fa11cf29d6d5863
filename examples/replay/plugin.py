"""What `hacheck replay` needs to carry runs of `register.ha` out on the service: a wire reader, a table, a query."""

from __future__ import annotations

import os
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from hacheck import replay

SERVICE = Path(__file__).with_name("register.py")
IDS, SECONDS = (1, 2), 20.0


class LineReader:
    """Reads one connection: each message is a line, and answers come in the order of their requests."""

    greetings = unanswered = 0

    def length(self, begin: bytes) -> int | None:
        """Up to the end of the first line."""
        return begin.index(b"\n") + 1 if b"\n" in begin else None

    def read(self, raw: bytes, *, to_server: bool) -> replay.Heard | None:
        """A line: what it is, and its number."""
        operation, _, number = raw.decode().strip().partition(" ")
        return replay.Heard("request" if to_server else "reply", operation, 0, number)


def holds(message: replay.Message) -> bool:
    """Copies and pings wait for their steps; everything else passes at once."""
    return message.kind == "request" and message.operation in ("copy", "copied", "ping")


class Register:
    """The product. The environment may have REGISTER_OPTIONS for the servers, such as --copies-first."""

    name = "register"
    description = "two servers of examples/replay/register.py"
    specs = ("register",)
    observed = ("Server.leads", "Server.stored", "acknowledged", "asked", "message.*")
    idle_actions: frozenset[str] = frozenset()

    def missing(self) -> str | None:
        """Only Linux says who calls whom."""
        return None if sys.platform.startswith("linux") else "it needs Linux"

    def unfit(self, run: replay.ModelRun) -> str | None:
        """Every run is tried."""
        return None

    @contextmanager
    def session(self, position: replay.Position, recording: replay.Recording) -> Iterator[RegisterSession]:
        """Two processes behind proxies."""
        with replay.ProcessGroup() as processes:
            session = RegisterSession(position, recording, processes)
            try:
                yield session
            finally:
                session.proxies.close()


class RegisterSession:
    """One run on two servers."""

    def __init__(self, position: replay.Position, recording: replay.Recording, processes: replay.ProcessGroup) -> None:
        self.position, self.folder, self.processes = position, recording.folder, processes
        self.acknowledged, base = 0, replay.free_base(6, set())
        self.own, self.known = {i: base + i for i in IDS}, {i: base + 2 + i for i in IDS}
        self.traffic = replay.Traffic(holds, recording.message)
        pairs = {i: (self.known[i], self.own[i]) for i in IDS}
        self.proxies = replay.TcpProxies(self.traffic, pairs, processes.process_ids, LineReader)
        self.steps = {
            "write": self.write,
            "copy": lambda s, l: self.take("copy", l, s),  # noqa: E741
            "copied": lambda s, f: self.take("copied", f, s),
            "take_over": self.take_over,
            "crash Server": lambda n: self.processes.kill(n),
            "restart Server": lambda n: self.start(n),
            "cut Server - Server": lambda a, b: self.traffic.cut(a, b),
            "heal Server - Server": lambda a, b: self.traffic.mend(a, b),
        }

    def begin(self) -> None:
        """Both are started."""
        for number in IDS:
            self.start(number)

    def start(self, number: int) -> None:
        """Starts a server, and waits until it listens."""
        words = [number, self.own[number], self.known[3 - number], f"server-{number}.disk"]
        options = os.environ.get("REGISTER_OPTIONS", "").split()
        command = [sys.executable, str(SERVICE), *map(str, words), *options]
        since = len(self.lines()[number])
        self.processes.start(number, command, self.folder, self.folder / f"server-{number}.log", {})
        replay.until(f"start of {number}", lambda: "started" in self.lines()[number][since:], SECONDS)

    def write(self, s: int) -> None:
        """A client writes; its answer is waited for by a thread of its own."""
        line = f"write {self.position.after['asked']}"
        threading.Thread(target=self.ask, args=(s, line), daemon=True).start()
        replay.until(line, lambda: f"stored {line[6:]}" in self.lines()[s], SECONDS)

    def ask(self, server: int, line: str) -> str:
        """A client's request, and the answer."""
        answer = ""
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.own[server]), SECONDS) as connection:
            connection.sendall(f"{line}\n".encode())
            answer = connection.makefile().readline().strip()
        if answer.startswith("ok "):
            self.acknowledged = max(self.acknowledged, int(answer[3:]))
        return answer

    def take(self, operation: str, source: int, target: int) -> None:
        """A message that is held arrives."""
        self.traffic.let(replay.until(operation, lambda: self.traffic.held(operation, source, target), SECONDS)[0])

    def take_over(self, s: int) -> None:
        """The follower's ping is answered, or it fails: then it leads."""
        self.traffic.acting = s
        if self.position.of("Server.leads", s):
            replay.until("take-over", lambda: "takes over" in self.lines()[s], SECONDS)
        else:
            since = len(self.traffic.log)
            self.take("ping", s, 3 - s)
            replay.until("pong", lambda: self.traffic.passed(since, "pong", "reply"), SECONDS)
        self.traffic.acting = None

    def observe(self) -> dict[str, object]:
        """Who leads, what is stored, what was acknowledged."""
        shown = {str(i): words for i in IDS if (words := self.ask(i, "state").split())}
        leads = {server: words[0] == "1" for server, words in shown.items()}
        stored = {server: int(words[1]) for server, words in shown.items()}
        return {"Server.leads": leads, "Server.stored": stored, "acknowledged": self.acknowledged}

    def linger(self, seconds: float) -> None:
        """A run of this spec has no end that is watched: all its actions change something."""

    def conclude(self) -> list[str]:
        """What clients and servers say."""
        return [f"server {i}: {self.ask(i, 'state')}" for i in IDS] + [f"acknowledged: {self.acknowledged}"]

    def lines(self) -> dict[int, list[str]]:
        """What each server has printed."""
        logs = {i: self.folder / f"server-{i}.log" for i in IDS}
        return {i: log.read_text().splitlines() if log.exists() else [] for i, log in logs.items()}
