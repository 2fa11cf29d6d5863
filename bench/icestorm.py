"""Spin beside hacheck on checks of IceStorm.

    python bench/icestorm.py [--engine native] [CHECK]...

Both ask the check's invariants that hold; Spin's model is printed by `bench/promela.py`. Without names: `default` and
`split_calls`. As for the rest, see `bench/native.py`.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from exploring import Task
from measuring import machine
from versus import HEAD, compare, told_missing

SPEC = Path(__file__).resolve().parents[1] / "spec" / "icestorm.ha"
CHECKS = ("default", "split_calls")


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checks", nargs="*", default=CHECKS, metavar="CHECK")
    parser.add_argument("--engine", choices=("native", "portable"), default="native")
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    told_missing()
    print(machine())
    print("  " + HEAD)
    for check in given.checks:
        compare(f"icestorm {check}", Task(SPEC, check, engine=given.engine), runs=given.runs)


if __name__ == "__main__":
    main()
