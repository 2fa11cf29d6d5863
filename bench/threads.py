"""Two threads beside one.

    python bench/threads.py [--threads 2] [N T K]...

Wall seconds of the exploration of QuorumElection, three runs of each number of threads in turn, the middle ones
printed; for a machine that does nothing else. Without sizes: 4 2 0, 3 4 1 and 4 2 1.
"""

from __future__ import annotations

import argparse
from functools import partial

from exploring import explored
from measuring import in_turn, machine, middle
from msgspec.structs import replace
from native import task_of

SIZES = ((4, 2, 0), (3, 4, 1), (4, 2, 1))


def row(size: tuple[int, ...], threads: int, runs: int) -> str:
    """One size: wall seconds with one thread and with several."""
    tasks = [replace(task_of(size), threads=count) for count in (1, threads)]
    alone, together = (
        middle(found, lambda run: run.seconds["exploring"])
        for found in in_turn([partial(explored, task, clock="wall") for task in tasks], runs)
    )
    if (alone.states, alone.steps, alone.depth) != (together.states, together.steps, together.depth):
        raise RuntimeError(f"{size}: the number of threads makes a difference: {alone}, {together}")
    before, after = alone.seconds["exploring"], together.seconds["exploring"]
    name = " ".join(map(str, size))
    return (
        f"{name:6} {alone.states:>11,} {before:>9.2f} {after:>9.2f} {before / after:>7.2f}"
        f" {together.states / after:>12,.0f} {together.steps / after:>13,.0f}"
    )


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", type=int, nargs="*", metavar="N T K")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    sizes = tuple(zip(*(given.sizes[place::3] for place in range(3)), strict=True)) or SIZES
    print(machine())
    print(f"N T K       states  1 thread {given.threads} threads speedup     states/s       steps/s")
    for size in sizes:
        print(row(size, given.threads, given.runs), flush=True)


if __name__ == "__main__":
    main()
