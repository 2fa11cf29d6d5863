"""`python -m tests.meanings`: both meanings of many random systems compared; or which seeds cover the grammar.

`--systems N --seed FIRST`: those of N seeds, `--states` of each; what differs is printed as it is found.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter

from hacheck.model.direct import UnsupportedError
from hacheck.model.language import load
from tests.meanings.coverage import covered_by, exempt
from tests.meanings.exploring import compared, comparison
from tests.meanings.generator.program import seeded_program
from tests.meanings.productions import Item, every_item


def compare(first: int, systems: int, states_max: int) -> int:
    """Compares the systems of some seeds; the number of those that differ."""
    counts: Counter[str] = Counter()
    begun = time.process_time()
    for seed in range(first, first + systems):
        program = seeded_program(seed)
        specification = load(program.text, "random.ha", program.read).specification
        if specification is None:
            counts["refused"] += 1
            continue
        try:
            found = compared(comparison(specification), states_max)
        except UnsupportedError as error:
            counts["not supported"] += 1
            print(f"seed {seed}: {error}", flush=True)
            continue
        counts["compared"] += 1
        counts["states"] += found.states
        counts["steps"] += found.steps
        counts["explored completely"] += found.complete
        for one in found.differences:
            counts["differ"] += 1
            print(f"seed {seed}: {one.where}: {one.first[:300]} | {one.second[:300]}", flush=True)
    print(f"seeds {first} to {first + systems - 1}, {time.process_time() - begun:.0f} CPU seconds")
    for name in ("refused", "not supported", "compared", "explored completely", "states", "steps", "differ"):
        print(f"{name:>20} {counts[name]:>12,}")
    return counts["differ"]


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
    options.add_argument("--cover", type=int)
    given = options.parse_args()
    if given.cover is not None:
        cover(given.cover)
        return 0
    return 1 if compare(given.seed, given.systems, given.states) else 0


if __name__ == "__main__":
    sys.exit(main())
