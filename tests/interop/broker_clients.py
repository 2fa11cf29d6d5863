"""Clients of a pair of brokers: they write one message after another to whichever broker takes it, and read all
messages at the end. What they were answered stands in `client.jsonl`, which `hacheck conform` reads beside the logs.
"""

from __future__ import annotations

import json
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hacheck.replay.artemis.broker_kind import BrokerKind
from hacheck.supervise.child_process import die_with_parent

PACE_SECONDS = 0.4


class ClientProcess:
    """A process that speaks for one client: one call at a time. Ends with the thread that started it."""

    def __init__(self, kind: BrokerKind, jars: str, folder: Path) -> None:
        self.process = subprocess.Popen(
            kind.client_java(jars, str(kind.server / "Clients.java")),
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
            preexec_fn=die_with_parent,
        )

    def ask(self, *words: str) -> tuple[str, str]:
        """The outcome of a call, `ok` or an error by its name, and what was answered."""
        commands, answers = self.process.stdin, self.process.stdout
        assert commands is not None
        assert answers is not None
        commands.write(" ".join(words) + "\n")
        commands.flush()
        outcome, _, rest = answers.readline().strip().partition(" ")
        return (outcome, rest) if outcome == "ok" else (rest.partition(":")[0] or "NoAnswer", "")

    def end(self) -> None:
        """Ends the process."""
        self.process.kill()
        self.process.communicate()


@dataclass
class Journal:
    """Where calls are written. `began`: when the time line began; `ports`: where each broker is found; `kind`, `jars`:
    what a client runs on."""

    path: Path
    began: float
    ports: Mapping[int, int]
    kind: BrokerKind
    jars: str
    lock: threading.Lock = field(default_factory=threading.Lock)
    calls: int = 0
    acknowledged: threading.Event = field(default_factory=threading.Event)

    def client(self) -> ClientProcess:
        """Starts a client."""
        return ClientProcess(self.kind, self.jars, self.path.parent)

    def called(self, process: ClientProcess, client: str, member: int, operation: str, name: str) -> bool:
        """Has a client call, and writes what came of it. Returns whether it went well."""
        start = time.time() - self.began
        words = (operation, str(self.ports[member]), name) if name else (operation, str(self.ports[member]))
        outcome, answer = process.ask(*words)
        end = time.time() - self.began
        with self.lock:
            self.calls += 1
            line = {
                "op_id": self.calls,
                "client": client,
                "replica": f"server-{member}",
                "op": operation,
                "arg": name,
                "t_call": round(start, 3),
                "t_return": round(end, 3),
                "outcome": outcome,
            }
            if operation == "numbers" and outcome == "ok":
                line["result"] = answer.split()
            with self.path.open("a", encoding="utf-8") as lines:
                lines.write(json.dumps(line) + "\n")
        if operation == "send" and outcome == "ok":
            self.acknowledged.set()
        return outcome == "ok"


class Writer:
    """A client that writes its own messages, each until a broker takes it or the next one is due; it stays with the
    broker that took the last one. `order`: which broker it tries first. Its thread owns its process."""

    def __init__(self, name: str, order: Sequence[int], journal: Journal) -> None:
        self.name, self.order, self.journal = name, tuple(order), journal
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._write, daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Ends it after the call that is under way."""
        self._ended.set()
        self._thread.join()

    def _write(self) -> None:
        process = self.journal.client()
        try:
            number, first = 0, 0
            while not self._ended.wait(PACE_SECONDS):
                number += 1
                if not self.journal.called(process, self.name, self.order[first], "send", f"{self.name}{number}"):
                    first = (first + 1) % len(self.order)
        finally:
            process.end()


def read_all(journal: Journal, member: int) -> bool:
    """A client reads all messages of a broker."""
    process = journal.client()
    try:
        return journal.called(process, "reader", member, "numbers", "")
    finally:
        process.end()
