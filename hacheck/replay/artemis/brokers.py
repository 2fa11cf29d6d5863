"""Servers of the real Artemis or HornetQ on loopback, each a JVM of its own, which know each other by the ports of
proxies; and a client, which speaks to a server itself.

A folder of a cluster has `server-<i>/log/artemis.log`, the log of all processes of server i (of HornetQ:
`hornetq.log`), and `timeline.txt`, what was done to them.
**Source**: Artemis user manual, "High Availability and Failover"; "Clusters".
"""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from hacheck.replay.artemis.broker_kind import ARTEMIS, BrokerKind
from hacheck.replay.processes import ProcessGroup, free_base
from hacheck.supervise.child_process import die_with_parent

SPAN = 80
OWN, KNOWN = 0, 40
"""Offsets of ports: a server's own, and that of its proxy."""

LINE_MAX = 160
CODED = re.compile(r"^\S+[T ](\d\S+) .*?((?:AMQ|HQ)\d{6}: .*)")
CALL_TIMEOUT_MS = 3000
"""How long a server waits for an answer of another one; also of one whose link was cut while the request was under
way."""

taken: set[int] = set()


class Brokers:
    """A cluster. `folder`: for logs and data; `members`: the numbers of its servers; `classes`: the class path, with
    `Broker` and `Clients`; `shared`: whether all have one journal; `kind`: what is started. `before_end`: is given a
    server before it is killed. `mounts`: by server, under which folder it finds what is shared, where that is not the
    folder itself."""

    def __init__(
        self,
        folder: Path,
        members: Sequence[int],
        classes: str,
        processes: ProcessGroup,
        *,
        shared: bool = False,
        kind: BrokerKind = ARTEMIS,
    ) -> None:
        self.folder, self.members, self.classes, self.processes = folder, tuple(members), classes, processes
        self.base = free_base(SPAN, taken)
        self.shared, self.kind = shared, kind
        self.voters: frozenset[int] = frozenset()
        self.mounts: dict[int, Path] = {}
        self.began = time.time()
        self.before_end: Callable[[int], None] = lambda member: None
        self._place = {member: place for place, member in enumerate(self.members)}
        self._first_line: dict[int, int] = {}
        self._client: subprocess.Popen[str] | None = None

    def own_port(self, member: int) -> int:
        """Where a server listens, and clients find it."""
        return self.base + OWN + self._place[member]

    def ports(self) -> dict[int, tuple[int, int]]:
        """Of each server the port that other servers know, and its own."""
        return {member: (self.base + KNOWN + place, self.own_port(member)) for member, place in self._place.items()}

    def home(self, member: int) -> Path:
        """The folder of a server. Those of voters are apart: a spec has no log of theirs."""
        folder = self.folder.parent / "voters" if member in self.voters else self.folder
        return folder / f"server-{member}"

    def data(self, member: int) -> Path:
        """Where it finds its journal."""
        if member in self.mounts:
            return self.mounts[member]
        return (self.folder if self.shared else self.home(member)) / "data"

    def configure(self, policies: Mapping[int, str]) -> None:
        """Writes the configuration of servers; `policies`: how they share data, in the words of their kind, by
        server."""
        ports, kind = self.ports(), self.kind
        connectors = kind.connectors({f"to-{other}": known for other, (known, _) in ports.items()})
        timing = f"<call-timeout>{CALL_TIMEOUT_MS}</call-timeout>"
        for member, policy in policies.items():
            home = self.home(member)
            (home / "log").mkdir(parents=True, exist_ok=True)
            others = "".join(f"<connector-ref>to-{other}</connector-ref>" for other in self.members if other != member)
            text = kind.configuration.format(
                name=home.name,
                data=self.data(member),
                connectors=connectors,
                own=ports[member][1],
                cluster=kind.cluster.format(own=f"to-{member}", timing=timing, others=others),
                policy=policy,
            )
            (home / "broker.xml").write_text(text)
            shutil.copy(kind.server / kind.logging, home)

    # ---- what is done to servers ----

    def note(self, what: str) -> None:
        """Stamps a line of the timeline."""
        now = time.time()
        clock = datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / "timeline.txt").open("a") as lines:
            lines.write(f"t=+{now - self.began:08.3f} {clock} {what}\n")

    def start(self, member: int) -> None:
        """Starts a server. One that has ended by itself is started again."""
        if member in self.processes.running:
            assert not self.processes.alive(member), f"server {member} runs"
            self.processes.kill(member)
        self.note(f"start server-{member}")
        self._first_line[member] = len(self._lines(member))
        command = self.kind.java(self.classes, "Broker", "broker.xml")
        self.processes.start(member, command, self.home(member), self.home(member) / "output.txt", {"TZ": "UTC"})

    def kill(self, member: int) -> None:
        """Ends its process at once."""
        self.note(f"kill -9 server-{member}")
        self.before_end(member)
        self.processes.kill(member)

    def pause(self, member: int) -> None:
        """Stops its process where it is."""
        self.note(f"kill -STOP server-{member}")
        self.processes.pause(member)

    def resume(self, member: int) -> None:
        """Has it continue."""
        self.note(f"kill -CONT server-{member}")
        self.processes.resume(member)

    def ask_to_stop(self, member: int) -> None:
        """Asks its process to end, and does not wait."""
        self.note(f"kill -TERM server-{member}")
        self.processes.running[member].terminate()

    def runs(self, member: int) -> bool:
        """Whether its process is there, paused or not."""
        return self.processes.alive(member)

    # ---- logs ----

    def _lines(self, member: int) -> list[str]:
        log = self.home(member) / self.kind.log
        return log.read_text(errors="replace").splitlines() if log.exists() else []

    def lines(self, member: int) -> list[str]:
        """The log of all its processes so far."""
        return self._lines(member)

    def evidence(self, member: int) -> list[str]:
        """The lines of its log that have a code, each as time, code and the beginning of its text."""
        found = (CODED.search(line) for line in self._lines(member))
        return [f"{one.group(1)} {one.group(2)}"[:LINE_MAX] for one in found if one is not None]

    def log_parts(self, member: int) -> tuple[list[str], list[str]]:
        """The lines of its earlier processes, and those of the latest."""
        lines, first = self._lines(member), self._first_line.get(member, 0)
        return lines[:first], lines[first:]

    # ---- clients ----

    def start_client(self) -> None:
        """Starts the process that speaks for clients."""
        shutil.copy(self.kind.server / self.kind.logging, self.folder)
        with (self.folder / "clients.txt").open("w") as errors:
            self._client = subprocess.Popen(
                self.kind.client_java(self.classes, "Clients"),
                cwd=self.folder,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                start_new_session=True,
                preexec_fn=die_with_parent,
            )

    def ask(self, command: str, member: int, *words: str) -> tuple[bool, str]:
        """Has a client ask a server: whether that went well, and the answer or what went wrong. A server that is there
        and does not answer takes 3 s."""
        assert self._client is not None
        commands, answers = self._client.stdin, self._client.stdout
        assert commands is not None
        assert answers is not None
        commands.write(" ".join((command, str(self.own_port(member)), *words)) + "\n")
        commands.flush()
        verdict, _, rest = answers.readline().strip().partition(" ")
        return verdict == "ok", rest

    def numbers(self, member: int) -> list[int] | None:
        """The numbers of the messages in the queue of a server; `None`, if it does not answer."""
        good, text = self.ask("numbers", member)
        return [int(word) for word in text.split()] if good else None

    def close(self) -> None:
        """Ends all processes, and removes what is no log."""
        if self._client is not None:
            self._client.kill()
            self._client.communicate()
        for member in list(self.processes.running):
            self.kill(member)
        for folder in (*self.folder.glob("**/data"), *(self.folder.parent / "voters").glob("**/data")):
            shutil.rmtree(folder, ignore_errors=True)
