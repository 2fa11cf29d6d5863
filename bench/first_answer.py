"""How long a first answer about a small recording takes: CPU seconds of `hacheck conform`, all processes.

    python bench/first_answer.py [--runs N]

Each recording of `tests/data/icestorm` is compared with the released protocol: once with nothing kept from before (the
machine code is made), then with what the run before kept; of the latter the least of several runs.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from measuring import machine

ROOT = Path(__file__).resolve().parents[1]
WORDS = ("--adapter", "icestorm", "--check", "as_released", "--quiet")


def spent(recording: Path, cache: str) -> float:
    """CPU seconds of one run, and of what it starts."""
    command = [sys.executable, "-m", "hacheck", "conform", str(ROOT / "spec" / "icestorm.ha"), str(recording), *WORDS]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, "HACHECK_CACHE_DIR": cache, "PYTHONDONTWRITEBYTECODE": ""}
    done = subprocess.run(command, env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    print(machine())
    print(f"{'recording':<22}{'nothing kept':>14}{'kept':>9}")
    for recording in sorted((ROOT / "tests" / "data" / "icestorm").iterdir()):
        if recording.is_dir():
            with TemporaryDirectory() as cache:
                first = spent(recording, cache)
                later = min(spent(recording, cache) for _ in range(given.runs))
            print(f"{recording.name:<22}{first:>12.2f} s{later:>7.2f} s", flush=True)


if __name__ == "__main__":
    main()
