"""From `python` to the verdict on a small model: nothing kept from earlier runs, and everything.

    python bench/start_up.py [N T K]

The command line, verifying QuorumElection (3 2 1 by default), with an empty and with a filled cache folder; and Spin,
from the model's text. Five runs of each in turn, the middle ones printed: CPU seconds of the process and those it
waited for.
"""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from by_hand import quorum_election
from measuring import Spent, in_turn, machine, middle, spent
from native import SPEC
from spin import missing, verifier
from versus import told_missing


def verified(size: tuple[int, ...], cache: Path) -> Spent:
    """One run of the command line."""
    settings = [f"{name}={value}" for name, value in zip(("replicas", "terms", "crashes"), size, strict=True)]
    command = [sys.executable, "-m", "hacheck", "verify", str(SPEC), "--check", "default", "--quiet", "--threads", "1"]
    for setting in settings:
        command += ["--set", setting]
    # Python keeps its own modules compiled unless it is told not to, as on machines that build and test.
    return spent(command, environment={"HACHECK_CACHE_DIR": str(cache), "PYTHONDONTWRITEBYTECODE": ""})


def with_nothing_kept(size: tuple[int, ...]) -> Spent:
    """One run of the command line with an empty cache folder."""
    with TemporaryDirectory() as empty:
        return verified(size, Path(empty))


def by_spin(size: tuple[int, ...]) -> Spent:
    """Spin, the compiler, and the verifier."""
    with TemporaryDirectory() as folder:
        made = verifier(quorum_election(*size), Path(folder))
        found = made.run().cost
    return Spent(made.made + found.cpu_seconds, found.wall_seconds, found.memory_bytes, found.output)


def main() -> None:
    """Prints the rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("size", type=int, nargs="*", metavar="N T K")
    parser.add_argument("--runs", type=int, default=5)
    given = parser.parse_args()
    size = tuple(given.size) or (3, 2, 1)
    told_missing()
    print(machine())
    print(f"QuorumElection {' '.join(map(str, size))}: CPU seconds from start to verdict")
    with TemporaryDirectory() as filled:
        verified(size, Path(filled))
        contest = {
            "hacheck, nothing kept": partial(with_nothing_kept, size),
            "hacheck, all kept": partial(verified, size, Path(filled)),
        }
        if missing() is None:
            contest["Spin, by hand"] = partial(by_spin, size)
        for name, found in zip(contest, in_turn(list(contest.values()), given.runs), strict=True):
            cost = middle(found, lambda run: run.cpu_seconds)
            print(f"  {name:24} {cost.cpu_seconds:.3f}")


if __name__ == "__main__":
    main()
