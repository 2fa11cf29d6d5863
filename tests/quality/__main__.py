"""Which method finds which seeded bug: `python -m tests.quality` prints the table.

    python -m tests.quality [--method NAME …] [--bug NAME …] [--seconds N] [--reducing N] [--first SEED]

`--seconds`: of the CPU, for each bug and method; `--reducing`: in which a run of the machine that fails is made small;
`--first`: the seed that methods with seeds begin with.
Instead of bugs, names of protocols may be given: then their code is as it is, and nothing is to be found.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from tests.quality.bugs import bugs
from tests.quality.methods import METHODS
from tests.quality.running import Job, Result, results

HEAD = "| bug | method | found | runs | steps | CPU s | length | what disagrees |\n|---|---|---|---|---|---|---|---|"


def row(job: Job, result: Result) -> str:
    """A row of the table. Of runs that were not compared to their ends it says how many there were."""
    found = "yes" if result.found else "no"
    length = str(result.length) if result.length else ""
    told = result.why or (f"{result.cut:,} not to their ends" if result.cut else "")
    counts = f"{result.runs:,} | {result.steps:,} | {result.cpu_seconds:.1f}"
    return f"| {job.name} | {job.method} | {found} | {counts} | {length} | {told.replace('|', '/')} |"


def table(jobs: Iterator[Job]) -> Iterator[str]:
    """The table, row by row as it comes about, and a line for each method."""
    yield HEAD
    found: dict[str, list[bool]] = {}
    every: dict[str, bool] = {}
    for job, result in results(jobs):
        found.setdefault(job.method, []).append(result.found)
        every[job.name] = every.get(job.name, False) or result.found
        yield row(job, result)
    yield ""
    for method, ones in found.items():
        yield f"{method}: {sum(ones)} of {len(ones)}"
    yield f"together: {sum(every.values())} of {len(every)}"


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.quality", description="Which method finds which bug.")
    parser.add_argument("--method", action="append", choices=list(METHODS))
    parser.add_argument("--bug", action="append")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--reducing", type=float, default=20.0)
    parser.add_argument("--first", type=int, default=0)
    given = parser.parse_args()
    names = given.bug or list(bugs())
    jobs = (Job(m, name, given.seconds, given.reducing, given.first) for name in names for m in given.method or METHODS)
    for line in table(jobs):
        print(line, flush=True)


if __name__ == "__main__":
    main()
