"""Code beside its model: steps a second of the state machine, schedules and steps a second of the explorer.

    python bench/testing.py [PROTOCOL …] [--seconds N]

Each protocol's code in the simulator, beside its spec: random runs of Hypothesis' state machine, then schedules with
more and more deviations, then recorded runs, whose records are compared when they are complete. So many CPU seconds
each, on one core; the model is compiled before. Nothing may be found.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from measuring import machine

sys.path.insert(0, str(Path(__file__).parents[1]))  # the methods stand with the tests that have them find bugs
from hacheck.testing.reference_protocols import FOLLOWED
from tests.quality.methods import METHODS
from tests.quality.running import Job, results

COUNTED = {"machine": ("runs", "steps"), "schedules": ("schedules", "steps"), "conformance": ("runs", "records")}


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("protocols", nargs="*", default=list(FOLLOWED), metavar="PROTOCOL")
    parser.add_argument("--seconds", type=float, default=20.0)
    given = parser.parse_args()
    print(machine())
    for job, result in results([Job(method, name, given.seconds) for name in given.protocols for method in METHODS]):
        (runs, steps), spent = COUNTED[job.method], result.cpu_seconds
        rates = f"{result.runs / spent:8,.1f} {runs}/s {result.steps / spent:10,.0f} {steps}/s"
        print(f"{job.name:20} {job.method:12} {rates}{'   FOUND: ' + result.why if result.found else ''}", flush=True)


if __name__ == "__main__":
    main()
