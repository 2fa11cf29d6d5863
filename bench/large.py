"""Large explorations: bytes for each state, and how far a minute goes.

    python bench/large.py [--threads N] [--seconds 60] [--set NAME=VALUE]...

QuorumElection 4 2 1 (54,512,334 states), and IceStorm with more crashes than any of its checks has, explored completely
or until the wall seconds or 16 GiB are used up, whichever is first. One run each. `--set` sets something else of
IceStorm.
"""

from __future__ import annotations

import argparse
import os

from exploring import Explored, Task, explored
from icestorm import SPEC as ICESTORM
from measuring import machine
from msgspec.structs import replace
from native import task_of

from hacheck.checker.engine import Limits

BUDGET = {"crashes": "6", "updates": "2", "highest_first": "on"}
"""Of IceStorm: 193,832,447 states."""

MEMORY_BYTES_MAX = 16 * 2**30


def row(name: str, found: Explored) -> str:
    """What was found and what it took."""
    return (
        f"{name:26} {found.states:>13,} {found.steps:>14,} {found.depth:>5} {found.seconds['exploring']:>9.1f}"
        f" {found.cost.cpu_seconds:>7.1f} {found.bytes_per_state or 0:>8.1f}"
        f" {found.cost.memory_bytes / 2**30:>7.2f}  {found.stopped or 'every state'}"
    )


def main() -> None:
    """Prints the rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--seconds", type=float, default=60)
    given = parser.parse_args()
    settings = tuple({**BUDGET, **dict(item.split("=", 1) for item in given.set)}.items())
    print(machine())
    print(f"threads {given.threads}; exploring: wall seconds; CPU: seconds of the whole process")
    print(f"{'':26} {'states':>13} {'steps':>14} {'depth':>5} {'exploring':>9} {'CPU':>7} {'B/state':>8} {'GiB':>7}")
    tasks = {
        "QuorumElection 4 2 1": task_of((4, 2, 1), threads=given.threads),
        "icestorm": Task(ICESTORM, settings=settings, threads=given.threads, kinds="safety"),
    }
    limits = Limits(wall_seconds_max=given.seconds, memory_bytes_max=MEMORY_BYTES_MAX)
    for name, task in tasks.items():
        found = explored(replace(task, limits=limits), clock="wall")
        print(row(name, found), flush=True)
    print("icestorm:", ", ".join(f"{name} = {value}" for name, value in settings))


if __name__ == "__main__":
    main()
