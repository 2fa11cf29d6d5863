"""`python -m tests.fuzz`: gives hacheck damaged input of every kind, and counts what fails.

    python -m tests.fuzz --kind spec-tokens --inputs 10000 --seed 7
    python -m tests.fuzz --inputs 1000                 # of each kind
    python -m tests.fuzz --kind commands --keep        # a small example of each failure goes into the corpus

Exit code 1 where something failed.
"""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path

from tests.fuzz.campaign import Found, keep, run, smaller
from tests.fuzz.kinds import Kind, registered


def main() -> int:
    """Runs it. Returns the exit code."""
    kinds = registered()
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--kind", action="append", choices=sorted(kinds), help="may be given often; by default all")
    parser.add_argument("--inputs", type=int, default=1000, help="so many of each kind")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--failures", type=Path, metavar="DIR", help="write the first input of each failure there")
    parser.add_argument("--keep", action="store_true", help="add a small example of each failure to the corpus")
    chosen = parser.parse_args()
    print(f"{'kind':16}{'inputs':>10}{'failed':>8}{'kinds':>7}{'CPU s':>9}{'ms each':>9}", flush=True)
    failed = False
    for name in chosen.kind or kinds:
        kind = kinds[name]
        found = run(kind, chosen.inputs, chosen.seed, partial(_note, kind, chosen.failures))
        _show(kind, found)
        failed |= bool(found.failures)
        if chosen.keep:
            for failure, content in found.examples.items():
                print(f"  kept: {keep(kind, smaller(kind, content, failure))}", flush=True)
    return 1 if failed else 0


def _note(kind: Kind, folder: Path | None, failure: str, content: bytes) -> None:
    print(f"  new: {failure}", file=sys.stderr, flush=True)
    if folder is not None:
        print(f"    {keep(kind, content, folder)}", file=sys.stderr, flush=True)


def _show(kind: Kind, found: Found) -> None:
    each = 1000 * found.cpu_seconds / max(found.inputs, 1)
    total = sum(found.failures.values())
    print(
        f"{kind.name:16}{found.inputs:>10,}{total:>8,}{len(found.failures):>7}{found.cpu_seconds:>9.1f}{each:>9.2f}",
        flush=True,
    )
    for failure, count in found.failures.most_common():
        print(f"    {count:>6,}  {failure}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
