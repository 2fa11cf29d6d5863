"""Spin beside hacheck on QuorumElection.

    python bench/native.py [--engine native] [N T K]...

Every size is explored completely by each, three times in turn; the middle one counts. Without sizes: 3 3 1, 4 2 0 and
3 4 1. User seconds of the CPU; the ratio is states a second of hacheck to those of Spin.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from by_hand import quorum_election
from exploring import Task
from measuring import machine
from versus import HEAD, compare, told_missing

SPEC = Path(__file__).resolve().parent / "quorum_election.ha"
SIZES = ((3, 3, 1), (4, 2, 0), (3, 4, 1))


def task_of(size: tuple[int, ...], engine: str = "native", threads: int = 1) -> Task:
    """The exploration of QuorumElection for N, T and K."""
    settings = tuple(zip(("replicas", "terms", "crashes"), map(str, size), strict=True))
    return Task(SPEC, settings=settings, engine=engine, threads=threads)


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", type=int, nargs="*", metavar="N T K")
    parser.add_argument("--engine", choices=("native", "portable"), default="native")
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    sizes = tuple(zip(*(given.sizes[place::3] for place in range(3)), strict=True)) or SIZES
    told_missing()
    print(machine())
    print("  " + HEAD)
    for size in sizes:
        title = "QuorumElection " + " ".join(map(str, size))
        compare(title, task_of(size, given.engine), quorum_election(*size), given.runs)


if __name__ == "__main__":
    main()
