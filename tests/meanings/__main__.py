"""`python -m tests.meanings`: both meanings of many random systems compared; or which seeds cover the grammar.

`--systems N --seed FIRST`: those of N seeds, `--states` of each; what differs is printed as it is found, and so is what
fails. `--engines python`: generated Python explores each system, too, and must find as many states; `--engines all`:
so must machine code, and Z3 up to a depth. `--seconds`: how long one system may take; one that takes longer is counted,
but is not compared to its end.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import traceback
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from hacheck.model.direct import UnsupportedError
from hacheck.model.language import load
from tests.meanings.coverage import covered_by, exempt
from tests.meanings.engines import disagreements
from tests.meanings.exploring import compared, comparison
from tests.meanings.generator.program import seeded_program
from tests.meanings.productions import Item, every_item

COUNTED = (
    *("refused", "not supported", "took too long", "compared", "explored completely", "by engines"),
    *("states", "steps", "differ"),
)


class TooLongError(Exception):
    """A system took longer than it may."""


def compare(seeds: range, states_max: int, seconds: float, engines: str) -> int:
    """Compares the systems of some seeds; the number of differences."""
    counts: Counter[str] = Counter()
    signal.signal(signal.SIGALRM, _too_long)
    with TemporaryDirectory() as cache:
        for seed in seeds:
            signal.setitimer(signal.ITIMER_REAL, seconds)
            try:
                for difference in _differences(seed, states_max, engines, Path(cache), counts):
                    counts["differ"] += 1
                    print(f"seed {seed}: {difference}", flush=True)
            except TooLongError:
                counts["took too long"] += 1
                print(f"seed {seed}: took longer than {seconds:.0f} s", flush=True)
            except UnsupportedError as error:
                counts["not supported"] += 1
                print(f"seed {seed}: {error}", flush=True)
            except Exception as error:  # what this looks for; the seeds after it are compared, too
                counts["differ"] += 1
                where = traceback.extract_tb(error.__traceback__)[-1]
                print(f"seed {seed}: {type(error).__name__}: {error} ({where.filename}:{where.lineno})", flush=True)
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
    used = os.times()
    print(f"seeds {seeds[0]} to {seeds[-1]}, {used.user + used.system:.0f} CPU seconds")
    for name in COUNTED:
        print(f"{name:>20} {counts[name]:>12,}")
    return counts["differ"]


def _too_long(number: int, frame: object) -> None:
    raise TooLongError


def _differences(seed: int, states_max: int, engines: str, cache: Path, counts: Counter[str]) -> Iterator[str]:
    program = seeded_program(seed)
    specification = load(program.text, "random.ha", program.read).specification
    if specification is None:
        counts["refused"] += 1
        return
    two = comparison(specification)
    found = compared(two, states_max)
    counts["compared"] += 1
    counts["states"] += found.states
    counts["steps"] += found.steps
    counts["explored completely"] += found.complete
    for one in found.differences:
        yield f"{one.where}: {one.first[:300]} | {one.second[:300]}"
    if engines == "none":
        return
    states = found.states if found.complete else None
    more = disagreements(two.system, states, cache if engines == "all" else None)
    if more is not None:
        counts["by engines"] += 1
        yield from more


def cover(seeds: int) -> None:
    """Prints a few of some seeds that cover all that they cover, and what is missing."""
    by = {seed: covered_by(seed) for seed in range(seeds)}
    wanted = {item for item in every_item() if exempt(item) is None}
    left: set[Item] = wanted.intersection(*[frozenset().union(*by.values())])
    print("missing:", sorted(wanted - left))
    chosen = []
    while left:
        best = max(by, key=lambda seed: len(by[seed] & left))
        chosen.append(best)
        left -= by[best]
    print("covering:", sorted(chosen))


def main() -> int:
    """The command."""
    options = argparse.ArgumentParser(prog="python -m tests.meanings", description=__doc__)
    options.add_argument("--systems", type=int, default=1000)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--states", type=int, default=25)
    options.add_argument("--seconds", type=float, default=60.0)
    options.add_argument("--engines", choices=("none", "python", "all"), default="none")
    options.add_argument("--cover", type=int)
    given = options.parse_args()
    if given.cover is not None:
        cover(given.cover)
        return 0
    seeds = range(given.seed, given.seed + given.systems)
    return 1 if compare(seeds, given.states, given.seconds, given.engines) else 0


if __name__ == "__main__":
    sys.exit(main())
