"""How fast recordings whose nodes logged apart are compared: records a CPU second, with the search for an explanation
and apart from it.

    python bench/records_apart.py [--copies N]

The recordings of `tests/data/icestorm`, so many times over as traces of their own, are compared with the released
protocol in one process whose machine code and specs are kept. Apart from the search are reading and matching the lines
of the logs, clocks, data, encoding and the verdicts; the start of the process is not. Then the same as traces in a
Parquet file, which need no reading of lines.
"""

from __future__ import annotations

import argparse
import gc
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from measuring import machine

from hacheck.cli import main as command
from hacheck.cli.logs import conformance
from hacheck.traces.conformance.interleavings import InterleavingSearch, SearchResult, Streams

ROOT = Path(__file__).resolve().parents[1]


class Searches:
    """The CPU time of all searches."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def timed(self, search: InterleavingSearch, streams: Streams, report: Callable[[], bool]) -> SearchResult | None:
        """Does the search."""
        start = time.process_time()
        found = _run(search, streams, report)
        self.seconds += time.process_time() - start
        return found


_run = InterleavingSearch.run


def compared(searches: Searches, *source: str) -> float:
    """CPU seconds of comparing the recordings."""
    searches.seconds, start = 0.0, time.process_time()
    words = ("conform", str(ROOT / "spec" / "icestorm.ha"), *source, "--quiet", "--check", "as_released")
    assert command.exit_code(words) == 0
    return time.process_time() - start


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--copies", type=int, default=60)
    given = parser.parse_args()
    print(machine())
    conformance.HERE_BYTES = 1 << 40
    gc.set_threshold(command.GARBAGE_AFTER)
    searches = Searches()
    InterleavingSearch.run = lambda *given: searches.timed(*given)  # type: ignore[method-assign]
    with TemporaryDirectory() as folder, TemporaryDirectory() as other:
        for copies in (1, given.copies):
            for place in sorted((ROOT / "tests" / "data" / "icestorm").iterdir()):
                for copy in range(copies if place.is_dir() else 0):
                    shutil.copytree(place, Path(folder) / f"{place.name}-{copy}", dirs_exist_ok=True)
            whole = compared(searches, folder, "--adapter", "icestorm")
        apart = whole - searches.seconds
        records = 322 * given.copies
        print(f"{records:,} records, {whole:.2f} CPU s: {records / whole:,.0f} a second")
        print(f"apart from the search {apart:.2f} CPU s: {records / apart:,.0f} a second")
        traces = str(Path(other) / "traces.parquet")
        words = ("traces", "convert", folder, "--adapter", "icestorm", "--out", traces, "--quiet")
        assert command.exit_code(words) == 0
        compared(searches, traces)
        whole = compared(searches, traces)
        print(f"as Parquet {whole:.2f} CPU s: {records / whole:,.0f} a second")


if __name__ == "__main__":
    main()
