"""The reference implementation as processes: the product `--on reference-processes`.

The same code as in memory, each replica a process of the runtime (`hacheck cluster` starts the same), with a disk, real
timers, and connections that lead through a network which holds every message.
"""

from __future__ import annotations

import json
import sqlite3
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from hacheck.impl.kit.storage import decode
from hacheck.impl.protocols.icestorm import messages as ice
from hacheck.impl.protocols.icestorm.records import BEGINNING, Create, Stamp
from hacheck.impl.protocols.icestorm.store import STAMP, TOPIC, StampValue
from hacheck.impl.recording import SUFFIX, merged
from hacheck.impl.runtime.control import Line, Silent
from hacheck.impl.runtime.folder import VERSION, Cluster, Folder, store, token
from hacheck.impl.runtime.frames import messages_of
from hacheck.impl.runtime.process import Report, command
from hacheck.impl.systems import system
from hacheck.replay.icestorm.response_times import response_times
from hacheck.replay.icestorm.steps import holds
from hacheck.replay.outcomes import Awaited, EnvironmentLacks, Masked
from hacheck.replay.processes import ProcessGroup
from hacheck.replay.product import PAUSE_SECONDS, Position
from hacheck.replay.recording import Recording
from hacheck.replay.reference.call_messages import line_of
from hacheck.replay.reference.held_network import HeldNetwork
from hacheck.replay.reference.plugin import Reference, ReferenceSession, options_of
from hacheck.replay.traffic import Traffic
from hacheck.supervise.child_process import die_with_parent

TIMES = {
    "master_timeout_us": "1s",
    "election_timeout_us": "1s",
    "start_delay_us": "0",
    "invocation_timeout_us": "60s",
}
FORGETS = "bug_stamp_reset_at_start"
QUERY_SECONDS, CLIENT_SECONDS = 3.0, 15.0
NEWS_SECONDS = 0.3
"""So long a step is waited for before the replica whose step it is learns that others have ended."""

SETTLE_SECONDS = 0.1


class ReferenceProcesses(Reference):
    """The product."""

    name = "reference-processes"
    description = "the reference implementation, a process for each replica, with the options that the settings ask for"
    settle_seconds = 4.0

    @contextmanager
    def session(self, position: Position, recording: Recording) -> Iterator[ReferenceSession]:
        """Replicas in processes of their own."""
        settings = position.run.settings
        responses = response_times(position.run)
        traffic = Traffic(holds, recording.message)
        with ProcessGroup() as processes:
            place = recording.folder.resolve()
            chosen = {**options_of(settings), **TIMES}
            replicas = ProcessReplicas(place, int(settings["replicas"]), chosen, responses, traffic, processes)
            try:
                yield ProcessSession(position, replicas, traffic, max(responses.values()))
            finally:
                for member in list(processes.running):
                    replicas.kill(member)
                replicas.network.close()
                merged(place / "logs", "replay", place / "logs" / f"cluster{SUFFIX}")


class ProcessReplicas:
    """One cluster in a folder. `settings`: options of the implementation by name; `responses`: the response time of
    each replica, in seconds. `acting`: the replica whose step it is."""

    def __init__(
        self,
        place: Path,
        replicas: int,
        settings: Mapping[str, str],
        responses: Mapping[int, int],
        traffic: Traffic,
        processes: ProcessGroup,
    ) -> None:
        self.ids = range(1, replicas + 1)
        self.acting: int | None = None
        self.traffic, self.processes = traffic, processes
        self._settings, self._responses = dict(settings), responses
        self._forgotten: dict[int, bytes] = {}  # stamps that a replica had on its disk when it was started
        self._system = system("icestorm")
        self._folder, self._logs = Folder(place / "cluster"), place / "logs"
        self._logs.mkdir()
        members = self._system.members(replicas, 0, self._system.options(self._settings))
        self._cluster = Cluster(VERSION, "icestorm", self._settings, members, token(), str(self._logs))
        self._folder.make(self._cluster)
        self.network = HeldNetwork(self._system, {self._name(n): n for n in self.ids}, traffic)

    def _name(self, replica: int) -> str:
        return f"replica-{replica}"

    # ---- replicas ----

    def start(self, replica: int) -> None:
        """Starts a replica, and waits until it listens. Errors: `EnvironmentLacks`."""
        settings = {**self._settings, "response_timeout_us": f"{self._responses[replica]}s"}
        store(self._folder.cluster, msgspec.structs.replace(self._cluster, settings=settings))
        name = self._name(replica)
        if settings[FORGETS] == "true" and (value := self._disk(replica).get(STAMP)) is not None:
            self._forgotten[replica] = value
        with self._folder.output(name).open("ab") as output:
            process = subprocess.Popen(
                command(self._folder.place, name, self.network.port),
                stdin=subprocess.PIPE,  # it ends when this is closed
                stdout=subprocess.PIPE,
                stderr=output,
                start_new_session=True,
                preexec_fn=die_with_parent,
            )
        self.processes.running[replica] = process
        assert process.stdout is not None
        said = process.stdout.readline()
        report = msgspec.json.decode(said, type=Report) if said else Report("failed", "it ended at once")
        if report.what != "ready":
            raise EnvironmentLacks(f"replica {replica} does not start: {report.why}")
        self.network.ports[replica] = report.port

    def kill(self, replica: int) -> None:
        """Ends one at once."""
        process = self.processes.running[replica]
        self.processes.kill(replica)
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()
        self.network.ended(replica)

    def pause(self, replica: int) -> None:
        """Stops one where it is."""
        self.processes.pause(replica)

    def resume(self, replica: int) -> None:
        """Has it continue."""
        self.processes.resume(replica)

    def left(self) -> Sequence[int]:
        """The replicas that run, or are paused."""
        return sorted(self.processes.running)

    def lines(self, replica: int) -> Sequence[str]:
        """The records of all its processes, in the words of real logs."""
        found = []
        for log in sorted(self._logs.glob(f"{self._name(replica)}-*.log")):
            for text in log.read_text(encoding="utf-8").splitlines(keepends=True):
                if text.endswith("\n"):
                    record = json.loads(text)
                    found.append(line_of(record["event"], record.get("fields", {})))
        return found

    def standing(self, replica: int) -> ice.View | None:
        """How a replica says that it stands; none, if it is down or does not answer."""
        if replica not in self.processes.running or replica in self.processes.paused:
            return None
        view = self._reply(replica, "guest", ice.Query(0), QUERY_SECONDS)
        return view if isinstance(view, ice.View) else None

    def topics(self, replica: int) -> list[str]:
        """The topics on its disk."""
        return sorted(key.removeprefix(TOPIC) for key in self._disk(replica) if key.startswith(TOPIC))

    def stamp(self, replica: int) -> Stamp | None:
        """The stamp on its disk; none, where it has forgotten that at its start and nothing was written since."""
        value = self._disk(replica).get(STAMP)
        if value is None:
            return BEGINNING
        if value == self._forgotten.get(replica):
            return None
        return decode(value, StampValue, "the stamp").stamp

    def _disk(self, replica: int) -> Mapping[str, bytes]:
        path = self._folder.disk(self._name(replica))
        if not path.exists():
            return {}
        connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        try:
            return {key: bytes(value) for key, value in connection.execute("SELECT key, value FROM data")}
        except sqlite3.Error:  # it has not made its tables yet
            return {}
        finally:
            connection.close()

    def _reply(self, replica: int, guest: str, question: Any, seconds: float) -> Any:
        port = self.network.ports.get(replica)
        if port is None:
            return None
        try:
            line = Line(self._cluster, guest, self._name(replica), port, seconds)
        except Silent:
            return None
        try:
            line.send(question)
            return messages_of(self._system).decode(line.receive(seconds))
        except Silent:
            return None
        finally:
            line.close()

    def begin_request(self, replica: int, topic: str, done: Callable[[str], None]) -> None:
        """A client asks for a topic, in a thread of its own."""

        def work() -> None:
            reply = self._reply(replica, f"asker-{topic}", ice.Request(topic, 1, Create(topic)), CLIENT_SECONDS)
            done(reply.outcome if isinstance(reply, ice.Reply) else "no answer")

        threading.Thread(target=work, daemon=True).start()

    # ---- what happens ----

    def settle(self) -> None:
        """Lets what was just released take effect."""
        time.sleep(SETTLE_SECONDS)

    def until(self, what: str, found: Callable[[], Any], seconds: float, meanwhile: Callable[[], None]) -> Any:
        """The first true value of `found`. What a replica does not come to otherwise it does when it learns that others
        have ended."""
        began = time.monotonic()
        while True:
            value = found()
            if value:
                return value
            waited = time.monotonic() - began
            if waited >= seconds:
                raise Awaited(what, seconds)
            meanwhile()
            if waited >= NEWS_SECONDS and self.traffic.acting is not None:
                self.network.inform(self.traffic.acting)
            time.sleep(PAUSE_SECONDS)


class ProcessSession(ReferenceSession):
    """One run on one cluster of processes."""

    def __init__(self, position: Position, replicas: ProcessReplicas, traffic: Traffic, response: int) -> None:
        super().__init__(position, replicas, traffic, response)

    def linger(self, seconds: float) -> None:
        """Nothing is held any more: checks and polls go on, and nothing else may come. Errors: `Masked`."""
        before = {replica: len(self.replicas.lines(replica)) for replica in self.replicas.ids}
        for message in self.traffic.held():
            self.traffic.let(message, drop=not message.operation.startswith("are"))
        self.traffic.let_all(kind="reply")
        self.traffic.holds = lambda message: False
        time.sleep(seconds)
        for replica in self.replicas.ids:
            changed = [line for line in self.replicas.lines(replica)[before[replica] :] if "transition" in line]
            if changed:
                raise Masked(f"replica {replica} goes on by itself: {changed[0]}")
