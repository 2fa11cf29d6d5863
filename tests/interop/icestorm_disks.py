"""Recordings of real IceStorm replicas that are started with the disks of an earlier life, in eight ways in which not
all of them have the newest.

    python -m tests.interop.icestorm_disks --keep FOLDER

An earlier life makes three databases, one newer than the other: with topic A, with A and B, and with A, B and C. Its
logs are not kept: each recording begins as logs do whose older part was rotated away. In each the replicas are started
together, a client creates a topic D, the coordinator is killed and comes back, and a client creates a topic E.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from hacheck.replay.icestorm.cluster import Cluster, Timers, missing
from hacheck.replay.processes import ProcessGroup

REPLICAS = 3
TIMERS = Timers(2, 2, 1, 2000)
SETTLE_SECONDS = 9.0
EMPTY, OLD, OLDER, NEW = "empty", "with-a", "with-a-b", "with-a-b-c"
KINDS: Mapping[str, tuple[str, str, str]] = {
    "all-newest": (NEW, NEW, NEW),
    "newest-at-1": (NEW, OLDER, OLDER),
    "newest-at-2": (OLDER, NEW, OLDER),
    "newest-at-3": (OLDER, OLDER, NEW),
    "all-differ": (NEW, OLD, OLDER),
    "one-empty": (NEW, NEW, EMPTY),
    "two-empty": (NEW, EMPTY, EMPTY),
    "oldest-leads": (NEW, NEW, OLD),
}
"""What is on the disk of each replica."""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="interop-icestorm-disks", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--keep", type=Path, required=True, help="the folder for the logs, which must not be there yet")
    parser.add_argument("--kinds", nargs="*", choices=KINDS, default=list(KINDS))
    options = parser.parse_args(arguments)
    reason = missing()
    if reason is not None:
        print(f"skipped: {reason}")
        return 0
    options.keep.mkdir(parents=True)
    disks = options.keep / "disks"
    earlier_life(disks)
    threads = [threading.Thread(target=record, args=(options.keep, kind, disks)) for kind in options.kinds]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    shutil.rmtree(disks)
    return 0


def earlier_life(disks: Path) -> None:
    """Makes the databases: a copy of each, when it is written and no replica runs."""
    with ProcessGroup() as processes:
        cluster = Cluster(disks / "life", REPLICAS, TIMERS, False, processes)
        cluster.configure()
        shutil.copytree(cluster.working / "db1", disks / EMPTY)
        for topic, name in (("A", OLD), ("B", OLDER), ("C", NEW)):
            for replica in cluster.ids:
                cluster.start(replica)
            created(cluster, topic)
            for replica in cluster.ids:
                cluster.stop(replica)
            shutil.copytree(cluster.working / "db1", disks / name)


def created(cluster: Cluster, topic: str) -> None:
    """Creates a topic as soon as a group serves."""
    end = time.monotonic() + 60
    while cluster.ask(1, "create", topic) not in ("ok", "TopicExists"):
        assert time.monotonic() < end, "no group serves"
        time.sleep(1.0)


def record(folder: Path, kind: str, disks: Path) -> None:
    """A recording of one kind."""
    with ProcessGroup() as processes:
        cluster = Cluster(folder / kind, REPLICAS, TIMERS, False, processes)
        cluster.configure()
        for replica, disk in zip(cluster.ids, KINDS[kind], strict=True):
            shutil.rmtree(cluster.working / f"db{replica}")
            shutil.copytree(disks / disk, cluster.working / f"db{replica}")
        for replica in cluster.ids:
            cluster.start(replica)
        time.sleep(SETTLE_SECONDS)
        cluster.ask(1, "create", "D")
        leader = cluster.coordinator()
        if leader is not None:
            cluster.kill(leader)
            time.sleep(SETTLE_SECONDS)
            cluster.start(leader)
        time.sleep(SETTLE_SECONDS)
        cluster.ask(2, "create", "E")
        time.sleep(1.0)
        for replica in cluster.left():
            cluster.stop(replica)
        cluster.note("end")
        cluster.tidy()
    print(f"recorded {kind}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
