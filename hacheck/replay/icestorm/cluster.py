"""A cluster of real IceStorm replicas on loopback: configured, started, changed by requests, killed, paused.

A folder of a cluster has `replica-<i>.log`, the trace logs of all incarnations of replica i, `timeline.txt`, what was
done to the replicas, and `client.jsonl`, the requests of clients and their answers.
**Source**: Real IceStorm HA, sections 1 and 6.
"""

from __future__ import annotations

import ctypes.util
import json
import re
import shutil
import struct
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from hacheck.replay.icestorm.ice_client import IDEMPOTENT, Connection, Failed, Identity, proxy, read_identity, text
from hacheck.replay.processes import ProcessGroup, free_base

INSTANCE = "DemoIceStorm"
PACKAGES = ("zeroc-icebox", "libzeroc-icestorm3.7")
LIBRARY = "37"
MANAGER, NODE, PUBLISH, NOBODY = 0, 20, 40, 60  # offsets of ports; nobody listens at the last
SPAN = 70
CALL_SECONDS_MAX = 2.0
COMMENCED = re.compile(r"reporting for duty in group \S+ as coordinator")
taken: set[int] = set()


def missing() -> str | None:
    """Why no cluster can be started here, or none."""
    if shutil.which("icebox") is None:
        return f"icebox is not installed (Debian and Ubuntu: apt-get install {' '.join(PACKAGES)})"
    try:
        ctypes.CDLL(f"libIceStormService.so.{LIBRARY}")
    except OSError:
        return f"libIceStormService.so.{LIBRARY} is not installed (apt-get install {PACKAGES[1]})"
    return None


@dataclass(frozen=True)
class Timers:
    """Of an election, in seconds. `invocation_ms`: how long any call may take; 0 is for ever, as by default."""

    election: int
    master: int
    response: int
    invocation_ms: int = 0


@dataclass
class Cluster:
    """Replicas 1 to `replicas`. `known`: the port of a replica that others know, where it is not its own (a proxy);
    `responses`: the ResponseTimeout of a replica in seconds, where it is not that of `timers`; `connect_ms`: how long a
    connection may take; `began`: when the story began."""

    folder: Path
    replicas: int
    timers: Timers
    messages: bool
    processes: ProcessGroup
    base: int = field(default_factory=lambda: free_base(SPAN, taken))
    known: Mapping[int, int] = field(default_factory=dict)
    responses: Mapping[int, int] = field(default_factory=dict)
    connect_ms: int = 2000
    call_seconds_max: float = CALL_SECONDS_MAX
    began: float = field(default_factory=time.time)
    operations: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def ids(self) -> range:
        return range(1, self.replicas + 1)

    def log(self, replica: int) -> Path:
        return self.folder / f"replica-{replica}.log"

    def configure(self) -> None:
        """Writes the property files, and makes empty databases, in a folder of their own."""
        self.folder.mkdir(parents=True)
        self.working.mkdir()
        for replica in self.ids:
            (self.working / f"db{replica}").mkdir()
            (self.working / f"icebox-{replica}.cfg").write_text(
                f"IceBox.Service.IceStorm=IceStormService,{LIBRARY}:createIceStorm "
                f"--Ice.Config=icestorm-{replica}.cfg\nIce.ProgramName=replica{replica}\n"
            )
            (self.working / f"icestorm-{replica}.cfg").write_text("\n".join(self.properties(replica)) + "\n")
        (self.folder / "timeline.txt").touch()

    @property
    def working(self) -> Path:
        return self.folder / "work"

    def properties(self, replica: int) -> list[str]:
        def endpoint(offset: int, of: int) -> str:
            return f"tcp -h 127.0.0.1 -p {self.base + offset + of}"

        lines = {
            "NodeId": str(replica),
            "InstanceName": INSTANCE,
            "Node.Endpoints": endpoint(NODE, replica) + f" -t {self.connect_ms}",
            "TopicManager.Endpoints": endpoint(MANAGER, replica),
            "Publish.Endpoints": endpoint(PUBLISH, replica),
            "ReplicatedTopicManagerEndpoints": ":".join(endpoint(MANAGER, i) for i in self.ids),
            "ReplicatedPublishEndpoints": ":".join(endpoint(PUBLISH, i) for i in self.ids),
            "Election.ElectionTimeout": str(self.timers.election),
            "Election.MasterTimeout": str(self.timers.master),
            "Election.ResponseTimeout": str(self.responses.get(replica, self.timers.response)),
            "Trace.Election": "1",
            "Trace.Replication": "1",
            "Trace.TopicManager": "2",
            "Trace.Topic": "1",
            "Trace.Subscriber": "1",
            "LMDB.Path": f"db{replica}",
        }
        lines |= {f"Nodes.{i}": f"{INSTANCE}/node{i}:{self.node_endpoint(i)}" for i in self.ids}
        if self.known:
            lines["Node.PublishedEndpoints"] = self.node_endpoint(replica)
        plain = [f"IceStorm.{name}={value}" for name, value in lines.items()] + ["Ice.Warn.Connections=0"]
        if self.timers.invocation_ms:
            plain.append(f"Ice.Default.InvocationTimeout={self.timers.invocation_ms}")
        if self.messages:
            plain.append("Ice.Trace.Protocol=1")
        return plain

    def node_endpoint(self, replica: int) -> str:
        """Where others find the node of a replica."""
        port = self.known.get(replica, self.base + NODE + replica)
        return f"tcp -h 127.0.0.1 -p {port} -t {self.connect_ms}"

    # ---- what is done to replicas ----

    def note(self, what: str) -> None:
        """Stamps a line of the timeline."""
        now = time.time()
        clock = datetime.fromtimestamp(now, UTC).strftime("%m/%d/%y %H:%M:%S.%f")[:-3]
        with (self.folder / "timeline.txt").open("a") as lines:
            lines.write(f"t=+{now - self.began:08.3f} {clock} {what}\n")

    def start(self, replica: int) -> None:
        if replica in self.processes.running:
            assert not self.processes.alive(replica), f"replica {replica} runs"
            self.note(f"replica {replica} has ended by itself")
            self.processes.kill(replica)
        self.note(f"start replica {replica}")
        command = ["icebox", f"--Ice.Config=icebox-{replica}.cfg"]
        self.processes.start(replica, command, self.working, self.log(replica), {"TZ": "UTC"})

    def kill(self, replica: int) -> None:
        self.note(f"kill -9 replica {replica}")
        self.processes.kill(replica)

    def pause(self, replica: int) -> None:
        self.note(f"kill -STOP replica {replica}")
        self.processes.pause(replica)

    def resume(self, replica: int) -> None:
        self.note(f"kill -CONT replica {replica}")
        self.processes.resume(replica)

    def stop(self, replica: int) -> None:
        self.note(f"kill -TERM replica {replica}")
        if not self.processes.stop(replica):
            self.note(f"replica {replica} did not end in time, and was killed")

    def left(self) -> list[int]:
        """Replicas that run, or should."""
        return [replica for replica in self.ids if replica in self.processes.running]

    def died(self) -> list[int]:
        """Replicas that ended though nobody ended them."""
        return [replica for replica in self.processes.running if not self.processes.alive(replica)]

    def coordinator(self) -> int | None:
        """The live replica whose log says as the latest that its group is ready; none if no live one's does."""
        latest: dict[str, int] = {}
        for replica in self.processes.running:
            lines = self.log(replica).read_text(errors="replace").splitlines()
            stamps = [line[3:24] for line in lines if COMMENCED.search(line)]
            if stamps:
                latest[stamps[-1]] = replica
        return latest[max(latest)] if latest else None

    # ---- what clients ask ----

    def ask(self, replica: int, operation: str, topic: str, subscriber: str = "") -> str:
        """One change through one replica, on a connection of its own. Returns what came of it, and notes it.
        `subscriber`: who subscribes, or the topic that is linked to."""
        called = time.time() - self.began
        try:
            outcome = self.request(replica, operation, topic, subscriber)
        except Failed as failure:
            outcome = str(failure)
        except TimeoutError:
            outcome = "InvocationTimeoutException"
        except OSError as error:
            outcome = type(error).__name__
        with self.lock, (self.folder / "client.jsonl").open("a") as lines:
            self.operations += 1
            record = {"op_id": self.operations, "replica": replica, "op": operation, "arg": topic}
            times = {"t_call": round(called, 3), "t_return": round(time.time() - self.began, 3)}
            lines.write(json.dumps({**record, **times, "outcome": outcome}) + "\n")
        return outcome

    def request(self, replica: int, operation: str, topic: str, subscriber: str) -> str:
        connection = Connection(self.base + MANAGER + replica, self.call_seconds_max)
        try:
            manager, itself = Identity("TopicManager", INSTANCE), Identity(f"topic.{topic}", INSTANCE)
            listener = proxy(Identity(subscriber, ""), self.base + NOBODY)
            if operation == "create":
                connection.call(manager, "create", text(topic))
            elif operation == "destroy":
                connection.call(itself, "destroy")
            elif operation == "subscribe":
                connection.call(itself, "subscribeAndGetPublisher", b"\0" + listener)
            elif operation == "unsubscribe":
                connection.call(itself, "unsubscribe", listener, IDEMPOTENT)
            elif operation == "link":
                other = Identity(f"topic.{subscriber}", INSTANCE)
                connection.call(itself, "link", proxy(other, self.base + MANAGER + replica) + struct.pack("<i", 0))
            else:
                assert operation == "publish", operation
                publisher = read_identity(connection.call(itself, "getPublisher", mode=IDEMPOTENT))
                self.published(replica, publisher)
        finally:
            connection.close()
        return "ok"

    def published(self, replica: int, publisher: Identity) -> None:
        """An event, which nobody gets: subscribers that cannot be reached are dropped."""
        connection = Connection(self.base + PUBLISH + replica, self.call_seconds_max)
        try:
            connection.call(publisher, "happened")
        finally:
            connection.close()

    def tidy(self) -> None:
        """Removes what is no log: properties and databases."""
        shutil.rmtree(self.working)
