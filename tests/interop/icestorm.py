"""Fresh clusters of real IceStorm replicas: random stories, their logs compared with the spec. `make interop-icestorm`.

Every log must conform, and logs with one line changed must not. Exit code 0 if so, or if IceStorm is not installed;
else 1. Logs are kept in a folder below the temporary one, or in `--keep`.
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
import threading
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import FrameType

from hacheck.replay.icestorm.cluster import Cluster, missing
from hacheck.replay.processes import ProcessGroup
from tests.interop.damage import KINDS, damaged
from tests.interop.icestorm_schedule import Player, Schedule, schedule
from tests.interop.log_verdicts import LogVerdict, conform


def main(arguments: Sequence[str] | None = None) -> int:
    options = parsed(arguments)
    reason = missing()
    if reason is not None:
        print(f"skipped: {reason}")
        return 0
    signal.signal(signal.SIGTERM, interrupted)
    folder = options.keep or Path(tempfile.mkdtemp(prefix="interop-icestorm-"))
    stories = [schedule(seed, 3) for seed in seeds(options.of_three)]
    stories += [schedule(seed, 5) for seed in seeds(options.of_five)]
    print(f"{len(stories)} stories of real clusters, {options.clusters} at a time; logs in {folder}", flush=True)
    recorded = record_all(stories, folder, options.clusters)
    wrong = [story.name for story in recorded if not check(story, folder, options.seconds)]
    if not options.unchanged:
        wrong += check_damaged(recorded, folder, options.seconds)
    print(f"wrong: {', '.join(wrong)}" if wrong else "all as expected")
    return 1 if wrong else 0


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="interop-icestorm", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--of-three", default="1-10", metavar="SEEDS", help="stories with 3 replicas: 1-10, 7, none")
    parser.add_argument("--of-five", default="1-4", metavar="SEEDS", help="stories with 5 replicas")
    parser.add_argument("--clusters", type=int, default=5, help="that run at the same time")
    parser.add_argument("--seconds", type=float, default=120.0, help="for each verdict")
    parser.add_argument("--keep", type=Path, help="the folder for the logs, which must not be there yet")
    parser.add_argument("--unchanged", action="store_true", help="leaves out logs with a changed line")
    return parser.parse_args(arguments)


def seeds(text: str) -> range:
    """`1-10`, `7`, or `none`."""
    if text == "none":
        return range(0)
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def interrupted(number: int, frame: FrameType | None) -> None:
    """Being asked to end is as Ctrl-C: clusters are stopped first."""
    raise KeyboardInterrupt


# ---- recording ----


def record_all(stories: Sequence[Schedule], folder: Path, clusters: int) -> list[Schedule]:
    """Plays every story. When this is left, no replica runs, whatever happened."""
    folder.mkdir(parents=True, exist_ok=True)
    halt = threading.Event()
    with ThreadPoolExecutor(clusters) as pool:
        tasks: list[Future[None]] = [pool.submit(record, story, folder, halt) for story in stories]
        try:
            for task in tasks:
                task.result()
        except BaseException:
            halt.set()
            pool.shutdown(cancel_futures=True)
            raise
    return list(stories)


def record(story: Schedule, folder: Path, halt: threading.Event) -> None:
    """Plays one story on a cluster of its own."""
    with ProcessGroup() as processes:
        cluster = Cluster(folder / story.name, story.replicas, story.timers, story.messages, processes)
        cluster.configure()
        Player(story, cluster, halt).play()
    if halt.is_set():
        return
    cluster.tidy()
    by_itself = ", a replica ended by itself" if "by itself" in (cluster.folder / "timeline.txt").read_text() else ""
    print(f"recorded {story.name}: {cluster.operations} requests{by_itself}", flush=True)


# ---- verdicts ----


def check(story: Schedule, folder: Path, seconds_max: float) -> bool:
    """Whether the log conforms; tells it."""
    found = compared(folder / story.name, seconds_max)
    show(story.name, found)
    return found.kind == "conforms"


def check_damaged(stories: Sequence[Schedule], folder: Path, seconds_max: float) -> list[str]:
    """Changes a line of the shortest logs, one for each kind of change; the names of those not found out."""
    by_length = sorted(stories, key=lambda story: length(folder / story.name))
    wrong = []
    for kind in KINDS:
        target = folder / f"changed-{kind}"
        for story in by_length:
            change = damaged(folder / story.name, target, kind)
            if change is not None:
                found = compared(target, seconds_max)
                show(f"{story.name}, {kind} at {change.replica}.log:{change.line}", found)
                wrong += [] if found.kind == "deviates" else [target.name]
                break
        else:
            print(f"no log has a line for the change `{kind}`")
            wrong.append(target.name)
    return wrong


def length(logs: Path) -> int:
    return sum(log.stat().st_size for log in logs.glob("replica-*.log"))


def compared(logs: Path, seconds_max: float) -> LogVerdict:
    return conform("icestorm", logs, ["--adapter", "icestorm", "--check", "as_released"], seconds_max)


def show(name: str, found: LogVerdict) -> None:
    where = f" at {found.place}: {found.said}" if found.place else f" {found.said}" if found.said else ""
    print(f"{found.kind:9} {found.seconds:6.1f} s {found.records:6} records, width {found.width:5}  {name}{where}")
    sys.stdout.flush()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        print("interrupted; no replica is left", file=sys.stderr)
        sys.exit(130)
