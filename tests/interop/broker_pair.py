"""A pair of real brokers of Artemis or HornetQ, primary and backup, on loopback: configured, started, killed, paused;
its logs kept.

In `brokers`, `<broker>/log/artemis.log` (or `hornetq.log`) is the log of all incarnations of a broker, `timeline.txt`
what was done to them, and `client.jsonl` what clients were answered.
The brokers are called as the specs call them: server 1 is the primary, server 2 its backup.
**Source**: Broker failover protocols, 2.2 to 2.5; Artemis user manual, "High Availability and Failover".
"""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from hacheck.replay.artemis.broker_kind import ARTEMIS, BrokerKind
from hacheck.replay.hornetq.broker_kind import HORNETQ
from hacheck.replay.processes import ProcessGroup, free_base
from tests.interop.broker_clients import Journal, Writer, read_all

NAMES = {1: "server-1", 2: "server-2"}
SHARED = "<shared-store>true</shared-store><failover-on-shutdown>true</failover-on-shutdown>"
APART = "<shared-store>false</shared-store>"
POLICIES = {
    "replication": {
        1: "<replication><primary><check-for-active-server>true</check-for-active-server></primary></replication>",
        2: "<replication><backup><allow-failback>true</allow-failback>"
        "<restart-backup>true</restart-backup></backup></replication>",
    },
    "shared_store": {
        1: "<shared-store><primary><failover-on-shutdown>true</failover-on-shutdown></primary></shared-store>",
        2: "<shared-store><backup><failover-on-shutdown>true</failover-on-shutdown>"
        "<allow-failback>true</allow-failback><restart-backup>true</restart-backup></backup></shared-store>",
    },
}
HORNETQ_POLICIES = {
    "replication": {
        1: f"{APART}<check-for-live-server>true</check-for-live-server>",
        2: f"{APART}<backup>true</backup><allow-failback>true</allow-failback>",
    },
    "shared_store": {
        1: SHARED,
        2: f"{SHARED}<backup>true</backup><allow-failback>true</allow-failback>",
    },
}
OF_KIND = {ARTEMIS.product: POLICIES, HORNETQ.product: HORNETQ_POLICIES}
TIMING = "<check-period>1000</check-period><connection-ttl>4000</connection-ttl>"
FIRST_MESSAGE_SECONDS_MAX = 60.0


@dataclass
class Pair:
    """A primary, 1, and its backup, 2. `policy`: how they share data, a key of `POLICIES`; `kind`: what is started."""

    folder: Path
    policy: str
    jars: str
    processes: ProcessGroup
    kind: BrokerKind = ARTEMIS
    base: int = field(default_factory=lambda: free_base(4, set()))
    began: float = field(default_factory=time.time)
    writers: list[Writer] = field(default_factory=list)

    @property
    def brokers(self) -> Path:
        """The folder of their folders: what an adapter is given."""
        return self.folder / "brokers"

    def log(self, member: int) -> Path:
        return self.brokers / NAMES[member] / self.kind.log

    def configure(self) -> None:
        """Each broker gets a folder with its configuration; a shared store lies beside them."""
        for member, name in NAMES.items():
            home = self.brokers / name
            (home / "log").mkdir(parents=True)
            data = (self.folder if self.policy == "shared_store" else home) / "data"
            own = self.base + member
            connectors = self.kind.connectors({"own": own, "other": self.base + 3 - member})
            others = "<connector-ref>other</connector-ref>"
            text = self.kind.configuration.format(
                name=name,
                data=data,
                connectors=connectors,
                own=own,
                cluster=self.kind.cluster.format(own="own", timing=TIMING, others=others),
                policy=OF_KIND[self.kind.product][self.policy][member],
            )
            (home / "broker.xml").write_text(text)
            shutil.copy(self.kind.server / self.kind.logging, home)

    def note(self, what: str) -> None:
        now = time.time()
        clock = datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
        with (self.brokers / "timeline.txt").open("a") as lines:
            lines.write(f"t=+{now - self.began:08.3f} {clock} {what}\n")

    # ---- clients ----

    @cached_property
    def journal(self) -> Journal:
        """Where clients write what they were answered."""
        shutil.copy(self.kind.server / self.kind.logging, self.brokers)
        ports = {member: self.base + member for member in NAMES}
        return Journal(self.brokers / "client.jsonl", self.began, ports, self.kind, self.jars)

    def write(self, name: str, *order: int) -> None:
        """A client begins to write, to the first of these brokers that takes it; the first of several has a message
        acknowledged before this returns, unless no broker takes it for long."""
        self.writers.append(Writer(name, order, self.journal))
        self.journal.acknowledged.wait(FIRST_MESSAGE_SECONDS_MAX)

    def end_writers(self) -> None:
        """No client writes any more."""
        while self.writers:
            self.writers.pop().end()

    def read_all(self, member: int) -> bool:
        """A client reads all messages of a broker."""
        return read_all(self.journal, member)

    # ---- what is done to brokers ----

    def start(self, member: int) -> None:
        self.note(f"start {NAMES[member]}")
        home = self.brokers / NAMES[member]
        command = self.kind.java(self.jars, str(self.kind.server / "Broker.java"), "broker.xml", memory="256m")
        self.processes.start(member, command, home, self.folder / f"{NAMES[member]}.out", {"TZ": "UTC"})

    def kill(self, member: int) -> None:
        self.note(f"kill -9 {NAMES[member]}")
        self.processes.kill(member)

    def pause(self, member: int) -> None:
        self.note(f"kill -STOP {NAMES[member]}")
        self.processes.pause(member)

    def resume(self, member: int) -> None:
        self.note(f"kill -CONT {NAMES[member]}")
        self.processes.resume(member)

    def stop(self, member: int) -> None:
        if member in self.processes.paused:
            self.resume(member)
        self.note(f"kill -TERM {NAMES[member]}")
        if not self.processes.stop(member):
            self.note(f"{NAMES[member]} did not end in time, and was killed")

    def times(self, member: int, code: str) -> int:
        """How often a code stands in the log of a broker."""
        log = self.log(member)
        return log.read_text(errors="replace").count(f"Q{code}:") if log.exists() else 0
