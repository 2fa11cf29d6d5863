"""A cluster of real processes: acknowledged updates a second, how long a fail-over takes, and what publishers notice.

    python bench/cluster.py [--seconds S] [--failovers N]

IceStorm with 3 and 5 replicas. Updates: clients that ask for the next change as soon as they are told of the last one
(an update is on the disks of a majority, each with `synchronous=FULL`, when it is acknowledged). Fail-overs: kill -9 or
kill -STOP of the coordinator, until a client is told of an update again, against the time-outs that are set.
Publishing: two publishers, which wait for the answer to each message, from half a second before kill -9 of the
coordinator until three seconds after it: how long messages took, and the longest time without an answer. Where
IceStorm 3.7 is installed, the same of it in the same run: one client, which creates and destroys topics at the
coordinator, and two publishers, each of which goes to the next replica when its own fails.
"""

from __future__ import annotations

import argparse
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
from measuring import machine

from hacheck.cli.running.administration import Administrator
from hacheck.impl.protocols.icestorm.messages import View
from hacheck.impl.recording import Line
from hacheck.impl.runtime.control import ask, planned, start, stop_all
from hacheck.impl.runtime.folder import Folder
from hacheck.impl.runtime.keeper import Ask

TIMES = {
    "start_delay": "50ms",
    "election_timeout": "1s",
    "master_timeout": "1s",
    "response_timeout": "1s",
    "invocation_timeout": "500ms",
    "client_timeout": "1s",
}
PATIENCE_SECONDS = 60.0
sys.path.insert(0, str(Path(__file__).parents[1]))  # what starts and speaks to IceStorm is with the tests of it


@contextmanager
def cluster(replicas: int, clients: int, settings: Mapping[str, str]) -> Iterator[tuple[Folder, Path]]:
    """A cluster that runs, and the folder of its records."""
    with TemporaryDirectory() as place:
        folder, records = Folder(Path(place) / "cluster"), Path(place) / "records"
        keeper = start(
            folder, planned(folder, "icestorm", replicas, clients, TIMES | dict(settings), records, 0), attended=True
        )
        try:
            yield folder, records
        finally:
            stop_all(folder)
            keeper.wait()


def acknowledged(records: Path, asked_after: int = 0) -> list[int]:
    """When clients were told that an update is done that they asked for after a time, in nanoseconds."""
    decode = msgspec.json.Decoder(Line).decode
    asked: set[tuple[str, int]] = set()
    times = []
    for log in records.glob("client-*.log"):
        for line in map(decode, log.read_bytes().split(b"\n")[:-1]):
            attempt = (line.fields.get("request", ""), line.fields.get("attempt", 0))
            if line.event == "asked" and line.time > asked_after:
                asked.add(attempt)
            elif line.event == "told" and line.fields["outcome"] == "ok" and attempt in asked:
                times.append(line.time)
    return sorted(times)


def coordinator(folder: Folder, size: int) -> str:
    """Who coordinates a group of this size, once there is one."""
    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until:
        for number, view in Administrator(folder, 5.0).stands():
            if isinstance(view, View) and view.state == "normal" and len(view.group) + 1 == size:
                return f"replica-{number}"
        time.sleep(0.05)
    raise SystemExit(f"no group of {size} within {PATIENCE_SECONDS:.0f} s")


def updates(replicas: int, clients: int, seconds: float) -> None:
    """Measures updates a second, and prints them."""
    settings = {"workload": "updates", "client_period": "200us"}
    with cluster(replicas, clients, settings) as (folder, records):
        coordinator(folder, replicas)
        time.sleep(0.5)
        begun = time.time_ns()
        time.sleep(seconds)
        ended = time.time_ns()
        count = sum(begun <= at <= ended for at in acknowledged(records))
    print(f"{replicas} replicas, {clients} clients: {count / (ended - begun) * 1e9:7.0f} acknowledged updates/s")


def failovers(replicas: int, count: int, action: str) -> None:
    """Measures fail-overs after a `kill` or `stop` of the coordinator, and prints them."""
    took = []
    with cluster(replicas, 2, {"workload": "updates", "client_period": "5ms"}) as (folder, records):
        for _ in range(count):
            first = coordinator(folder, replicas)
            time.sleep(0.5)
            ask(folder, Ask(action, (first,)))
            hit = time.time_ns()
            until = time.monotonic() + PATIENCE_SECONDS
            while not (after := acknowledged(records, hit)):
                if time.monotonic() > until:
                    raise SystemExit("no service after a fail-over")
                time.sleep(0.02)
            took.append((after[0] - hit) / 1e9)
            ask(folder, Ask("restart" if action == "kill" else "cont", (first,)))
    tell_failovers(f"{replicas} replicas", action, took)


def tell_failovers(whose: str, action: str, took: list[float]) -> None:
    """Prints them."""
    signal = {"kill": "kill -9", "stop": "kill -STOP"}[action]
    print(
        f"{whose}: service again after {signal} of the coordinator: "
        f"{median(took):.2f} s, {min(took):.2f} to {max(took):.2f} s, {len(took)} times"
    )


# ---- publishing ----------------------------------------------------------------------------------------------------

BEFORE_SECONDS, AFTER_SECONDS = 0.5, 3.0
Published = tuple[int, int]
"""A message: when it was first sent, and when its publisher got the answer, in nanoseconds."""


def messages(records: Path) -> dict[str, list[Published]]:
    """The messages of each publisher, in order."""
    decode = msgspec.json.Decoder(Line).decode
    found: dict[str, list[Published]] = {}
    for log in sorted(records.glob("client-*.log")):
        sent: dict[int, int] = {}
        numbers: dict[str, int] = {}
        for line in map(decode, log.read_bytes().split(b"\n")[:-1]):
            if line.event == "asked" and line.fields["operation"] == "Publish":
                number = numbers[line.fields["request"]] = line.fields["number"]
                sent.setdefault(number, line.time)  # what is sent again was first sent then
            elif line.event == "told" and line.fields["outcome"] == "ok" and line.fields["request"] in numbers:
                found.setdefault(log.name, []).append((sent[numbers[line.fields["request"]]], line.time))
    return found


def publishing(replicas: int, count: int) -> None:
    """Measures what publishers notice of fail-overs, and prints it."""
    windows = []
    with cluster(replicas, 2, {"workload": "publishing", "client_period": "2ms"}) as (folder, records):
        for _ in range(count):
            first = coordinator(folder, replicas)
            time.sleep(1.0)
            ask(folder, Ask("kill", (first,)))
            hit = time.time_ns()
            time.sleep(AFTER_SECONDS)
            windows.append(hit)
            ask(folder, Ask("restart", (first,)))
        published = messages(records)
    tell_publishing(f"{replicas} replicas", windows, published)


def tell_publishing(whose: str, windows: list[int], published: Mapping[str, list[Published]]) -> None:
    """Prints how long messages took around these moments, and the longest time that a publisher got no answer."""
    took, gap = [], 0
    for hit in windows:
        begin, end = hit - int(BEFORE_SECONDS * 1e9), hit + int(AFTER_SECONDS * 1e9)
        for each in published.values():
            told = [(sent, answered) for sent, answered in each if begin <= sent and answered <= end]
            took += [answered - sent for sent, answered in told]
            times = [begin, *(answered for _, answered in told), end]
            gap = max(gap, *(later - earlier for earlier, later in pairwise(times)))
    ordered = sorted(took)
    print(
        f"{whose}: publishing around kill -9 of the coordinator: median {median(ordered) / 1e6:.2f} ms, "
        f"p99 {ordered[len(ordered) * 99 // 100] / 1e6:.2f} ms, longest {ordered[-1] / 1e6:.0f} ms, "
        f"longest without an answer {gap / 1e6:.0f} ms; {len(ordered)} messages, {len(windows)} times"
    )


# ---- IceStorm itself -----------------------------------------------------------------------------------------------


def peer(replicas: int, seconds: float, count: int) -> None:
    """Measures the same of IceStorm itself, and prints it."""
    from hacheck.replay.icestorm.cluster import Cluster, Timers, missing
    from hacheck.replay.processes import ProcessGroup

    if why := missing():
        print(f"IceStorm itself was not measured: {why}")
        return
    with TemporaryDirectory() as place, ProcessGroup() as processes:
        real = Cluster(Path(place) / "icestorm", replicas, Timers(1, 1, 1, 500), False, processes)
        real.configure()
        for replica in real.ids:
            real.start(replica)
        served_by(real, "first")
        peer_updates(real, seconds)
        whose = f"IceStorm itself, {replicas} replicas"
        for action in ("kill", "stop"):
            took = []
            for number in range(count):
                leader = real.coordinator()
                assert leader is not None
                (real.kill if action == "kill" else real.pause)(leader)
                hit = time.monotonic()
                served_by(real, f"{action}{number}", but=leader)
                took.append(time.monotonic() - hit)
                (real.start if action == "kill" else real.resume)(leader)
                settled(real)
            tell_failovers(whose, action, took)
        peer_publishing(real, whose, count)


def settled(real: Any) -> None:
    """Waits until all replicas are one group again: longer than an election and the look for other coordinators."""
    time.sleep(5.0)
    served_by(real, f"settled{time.monotonic_ns()}")


def peer_updates(real: Any, seconds: float) -> None:
    """Updates a second, of one client at the coordinator."""
    from hacheck.replay.icestorm.cluster import CALL_SECONDS_MAX, INSTANCE, MANAGER
    from hacheck.replay.icestorm.ice_client import Connection, Identity, text

    first = real.coordinator()
    assert first is not None
    connection = Connection(real.base + MANAGER + first, CALL_SECONDS_MAX)
    manager = Identity("TopicManager", INSTANCE)
    begun, done = time.monotonic(), 0
    while (elapsed := time.monotonic() - begun) < seconds:
        connection.call(manager, "create", text(f"t{done}"))
        connection.call(Identity(f"topic.t{done}", INSTANCE), "destroy")
        done += 2
    connection.close()
    print(f"IceStorm itself, {real.replicas} replicas, 1 client: {done / elapsed:7.0f} acknowledged updates/s")


class Publisher(threading.Thread):
    """Publishes to one replica of IceStorm itself, and to the next one when that fails. `published`: its messages."""

    def __init__(self, real: Any, identity: Any, first: int) -> None:
        super().__init__(daemon=True)
        self.real, self.identity, self.replica = real, identity, first
        self.published: list[Published] = []
        self.over = threading.Event()

    def run(self) -> None:
        """Until it is over."""
        from hacheck.replay.icestorm.cluster import PUBLISH
        from hacheck.replay.icestorm.ice_client import Connection, Failed

        connection: Any = None
        while not self.over.is_set():
            sent = time.time_ns()
            while not self.over.is_set():
                try:
                    if connection is None:
                        connection = Connection(self.real.base + PUBLISH + self.replica, 1.0)
                    connection.call(self.identity, "happened")
                    break
                except (Failed, OSError):
                    if connection is not None:
                        connection.close()
                    connection, self.replica = None, self.replica % self.real.replicas + 1
                    time.sleep(0.002)
            self.published.append((sent, time.time_ns()))
            time.sleep(0.002)


def peer_publishing(real: Any, whose: str, count: int) -> None:
    """What publishers of IceStorm itself notice. Nobody subscribes: who cannot be reached would be dropped anyway."""
    from hacheck.replay.icestorm.cluster import CALL_SECONDS_MAX, INSTANCE, MANAGER
    from hacheck.replay.icestorm.ice_client import IDEMPOTENT, Connection, Identity, read_identity

    served_by(real, "events")
    connection = Connection(real.base + MANAGER + real.coordinator(), CALL_SECONDS_MAX)
    found = read_identity(connection.call(Identity("topic.events", INSTANCE), "getPublisher", mode=IDEMPOTENT))
    connection.close()
    publishers = [Publisher(real, found, replica) for replica in (1, 2)]
    for publisher in publishers:
        publisher.start()
    windows = []
    for _ in range(count):
        settled(real)
        leader = real.coordinator()
        assert leader is not None
        real.kill(leader)
        windows.append(time.time_ns())
        time.sleep(AFTER_SECONDS)
        real.start(leader)
    for publisher in publishers:
        publisher.over.set()
        publisher.join()
    tell_publishing(whose, windows, {one.name: one.published for one in publishers})


def served_by(real: Any, topic: str, but: int = 0) -> None:
    """Waits until any replica but one has created a topic, or says that it is there."""
    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until:
        for replica in real.left():
            if replica == but:
                continue
            outcome = real.ask(replica, "create", topic)
            if outcome == "ok" or "Exists" in outcome:
                return
        time.sleep(0.02)
    raise SystemExit("IceStorm itself does not serve")


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--failovers", type=int, default=5)
    given = parser.parse_args()
    print(machine())
    print("time-outs: " + ", ".join(f"{name} {value}" for name, value in TIMES.items()))
    for replicas in (3, 5):
        peer(replicas, given.seconds, given.failovers)
        for clients in (1, 4):
            updates(replicas, clients, given.seconds)
        for action in ("kill", "stop"):
            failovers(replicas, given.failovers, action)
        publishing(replicas, given.failovers)


if __name__ == "__main__":
    main()
