"""A cluster of real processes: acknowledged updates a second, and how long a fail-over takes.

    python bench/cluster.py [--seconds S] [--failovers N]

IceStorm with 3 and 5 replicas. Updates: clients that ask for the next change as soon as they are told of the last one
(an update is on the disks of a majority, each with `synchronous=FULL`, when it is acknowledged). Fail-overs: kill -9 of
the coordinator, until a client is told of an update again, against the time-outs that are set.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

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
    "response_timeout": "500ms",
    "invocation_timeout": "500ms",
    "client_timeout": "1s",
}
PATIENCE_SECONDS = 60.0


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


def acknowledged(records: Path) -> list[int]:
    """When clients were told that an update is done, in nanoseconds."""
    decode = msgspec.json.Decoder(Line).decode
    lines = (decode(line) for log in records.glob("client-*.log") for line in log.read_bytes().split(b"\n")[:-1])
    return sorted(line.time for line in lines if line.event == "told" and line.fields["outcome"] == "ok")


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
            while not (after := [at for at in acknowledged(records) if at > killed]):
                if time.monotonic() > until:
                    raise SystemExit("no service after a fail-over")
                time.sleep(0.02)
            took.append((after[0] - killed) / 1e9)
            ask(folder, Ask("restart", (first,)))
    print(
        f"{replicas} replicas: service again after kill -9 of the coordinator: "
        f"{median(took):.2f} s, {min(took):.2f} to {max(took):.2f} s, {count} times"
    )


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--failovers", type=int, default=5)
    given = parser.parse_args()
    print(machine())
    print("time-outs: " + ", ".join(f"{name} {value}" for name, value in TIMES.items()))
    for replicas in (3, 5):
        for clients in (1, 4):
            updates(replicas, clients, given.seconds)
        failovers(replicas, given.failovers)


if __name__ == "__main__":
    main()
