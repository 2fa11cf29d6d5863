"""Methods on bugs, each in a process of its own.

    echo '["machine", "not_synced", 60, 20, 0]' | python -m tests.quality.running

takes jobs, a line each: a method, a bug, CPU seconds, seconds for reducing, a first seed; and writes what came of each.
Instead of a bug the name of a protocol may stand: its code as it is. The models are read once; then each job has a
process that is split off, which loads the protocol's modules anew, with the bug in one of them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec import Struct
from msgspec.structs import asdict, astuple

from hacheck.testing.tested_model import model_for
from tests.quality.bugs import PACKAGE, bugs
from tests.quality.methods import METHODS, Result, adapter, judge_of, variants
from tests.quality.seeding import seeded

ROOT = Path(__file__).parents[2]


class Job(Struct, frozen=True):
    """A method on a bug, or on the code of a protocol as it is. `seconds`: of the CPU; `reducing`: in which a run that
    fails may be made small; `first`: the first seed."""

    method: str
    name: str
    seconds: float
    reducing: float = 0.0
    first: int = 0

    @property
    def protocol(self) -> str:
        """Whose code it is."""
        bug = bugs().get(self.name)
        return self.name if bug is None else bug.protocol


def results(jobs: Iterable[Job]) -> Iterator[tuple[Job, Result]]:
    """What came of jobs, one after the other, done by another process. Errors: `RuntimeError` if it failed."""
    listed = list(jobs)
    asked = "".join(json.dumps(astuple(job)) + "\n" for job in listed)
    command = [sys.executable, "-m", "tests.quality.running"]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(asked)
        process.stdin.close()
        for job, line in zip(listed, process.stdout, strict=False):
            found = json.loads(line)
            if "failed" in found:
                raise RuntimeError(f"{job.method} on {job.name}: {found['failed']}")
            yield job, Result(**found)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)}: exit code {process.returncode}")


def prepare(job: Job) -> None:
    """Reads what a job needs besides code: its model."""
    if job.method == "conformance":
        judge_of(job.protocol)
    else:
        for variant in range(variants(job.protocol)):
            model_for(adapter(job.protocol, variant))


RELOADED = (f"{PACKAGE}.protocols.", f"{PACKAGE}.kit.")
"""What a bug may be in."""


def run_here(job: Job) -> Result:
    """Does a job in this process, with the protocol's modules loaded anew. Not for more than one bug in a process."""
    for name in [name for name in sys.modules if name.startswith(RELOADED)]:
        del sys.modules[name]
    with seeded(bugs().get(job.name)):
        return METHODS[job.method](job.protocol, job.seconds, job.reducing, job.first)


def run_apart(job: Job) -> str:
    """Does a job in a process that is split off, and returns what came of it, as JSON."""
    prepare(job)
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            told = json.dumps(asdict(run_here(job)))
        except BaseException as error:
            told = json.dumps({"failed": f"{type(error).__name__}: {error}"})
        with os.fdopen(writing, "w") as pipe:
            pipe.write(told)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        told = pipe.read()
    _, status = os.waitpid(child, 0)
    return told or json.dumps({"failed": f"its process ended with status {status}"})


def main() -> None:
    """The command."""
    for line in sys.stdin:
        print(run_apart(Job(*json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
