"""What properties of infinite runs cost, beside the safety search of the same graph.

    python bench/liveness.py [CHECK]...

Explores checks of IceStorm (`default` by default) with their safety properties, and with all of them; three runs of
each in turn, the middle ones printed, in CPU seconds. The ratio is judging to exploring.
"""

from __future__ import annotations

import argparse
from functools import partial

from exploring import Explored, Task, explored
from icestorm import SPEC
from measuring import in_turn, machine, middle

JUDGING = "checking liveness"


def row(check: str, runs: int) -> str:
    """One check."""
    tasks = [Task(SPEC, check, kinds=kinds) for kinds in ("safety", "all")]
    safe, whole = (middle(found, cost) for found in in_turn([partial(explored, task) for task in tasks], runs))
    judging, exploring = whole.seconds[JUDGING], safe.seconds["exploring"]
    return (
        f"{check:16} {safe.states:>11,} {safe.steps:>12,} {exploring:>9.2f} {judging:>9.2f} {judging / exploring:>6.2f}"
    )


def cost(run: Explored) -> float:
    """Seconds of exploring and judging."""
    return run.seconds["exploring"] + run.seconds.get(JUDGING, 0.0)


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checks", nargs="*", default=("default",), metavar="CHECK")
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    print(machine())
    print(f"{'':16} {'states':>11} {'steps':>12} {'exploring':>9} {'judging':>9} {'ratio':>6}")
    for check in given.checks:
        print(row(check, given.runs), flush=True)


if __name__ == "__main__":
    main()
