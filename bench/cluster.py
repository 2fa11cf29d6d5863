"""A cluster of real processes: acknowledged updates a second, and how long a fail-over takes.

    python bench/cluster.py [--seconds S] [--failovers N]

IceStorm with 3 and 5 replicas. Updates: clients that ask for the next change as soon as they are told of the last one
(an update is on the disks of a majority, each with `synchronous=FULL`, when it is acknowledged). Fail-overs: kill -9 of
the coordinator, until a client is told of an update again, against the time-outs that are set. Where IceStorm 3.7 is
installed, the same of it in the same run: one client, which creates and destroys topics at the coordinator.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
from measuring import machine

from hacheck.cli.administering import Administrator
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


def failovers(replicas: int, count: int) -> None:
    """Measures fail-overs, and prints them."""
    took = []
    with cluster(replicas, 2, {"workload": "updates", "client_period": "5ms"}) as (folder, records):
        for _ in range(count):
            first = coordinator(folder, replicas)
            time.sleep(0.5)
            ask(folder, Ask("kill", (first,)))
            killed = time.time_ns()
            until = time.monotonic() + PATIENCE_SECONDS
            while not (after := acknowledged(records, killed)):
                if time.monotonic() > until:
                    raise SystemExit("no service after a fail-over")
                time.sleep(0.02)
            took.append((after[0] - killed) / 1e9)
            ask(folder, Ask("restart", (first,)))
    print(
        f"{replicas} replicas: service again after kill -9 of the coordinator: "
        f"{median(took):.2f} s, {min(took):.2f} to {max(took):.2f} s, {count} times"
    )


def peer(seconds: float, count: int) -> None:
    """Measures the same of IceStorm itself, with three replicas, and prints it."""
    from tests.interop.ice_client import Connection, Identity, text
    from tests.interop.icestorm_cluster import CALL_SECONDS_MAX, INSTANCE, MANAGER, Cluster, Timers, missing
    from tests.interop.processes import Crew

    if why := missing():
        print(f"IceStorm itself was not measured: {why}")
        return
    with TemporaryDirectory() as place, Crew() as crew:
        real = Cluster(Path(place) / "icestorm", 3, Timers(1, 1, 1, 500), False, crew)
        real.configure()
        for replica in real.ids:
            real.start(replica)
        served_by(real, "first")
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
        print(f"IceStorm itself, 3 replicas, 1 client: {done / elapsed:7.0f} acknowledged updates/s")
        took = []
        for number in range(count):
            leader = real.coordinator()
            assert leader is not None
            real.kill(leader)
            killed = time.monotonic()
            served_by(real, f"after{number}")
            took.append(time.monotonic() - killed)
            real.start(leader)
            time.sleep(4.0)
        print(
            f"IceStorm itself, 3 replicas: service again after kill -9 of the coordinator: "
            f"{median(took):.2f} s, {min(took):.2f} to {max(took):.2f} s, {count} times"
        )


def served_by(real: Any, topic: str) -> None:
    """Waits until any replica has created a topic, or says that it is there."""
    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until:
        for replica in real.left():
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
    peer(given.seconds, given.failovers)
    for replicas in (3, 5):
        for clients in (1, 4):
            updates(replicas, clients, given.seconds)
        failovers(replicas, given.failovers)


if __name__ == "__main__":
    main()
