"""The tiers of tests: quick (`make quick`), the rest (`make test`), and by night (see `nightly.py`).

A file is quick if `quick.txt` has it, which is measured: `pytest -n 2 --measure-tiers FILE` of everything rewrites it.
What is counted is CPU time, of this process and of those that it waited for, so that a busy machine does not matter; a
test of a quick file that takes `TEST_SECONDS_MAX` fails and says so. That is ten times what the list allows: enough for
a slow machine, and for code that is compiled for the first time.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Generator, Iterable
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
LIST = TESTS / "quick.txt"

FILE_SECONDS_MAX = 0.5
"""The CPU seconds of all tests of a quick file, as measured."""
TEST_SECONDS_MAX = 5.0
"""The CPU seconds at which a test of a quick file fails."""

HEADER = f"# Files whose tests take {FILE_SECONDS_MAX} CPU seconds at most in all; see tiers.py, which writes this.\n"


def quick_files() -> frozenset[str]:
    """The files that are quick, as paths from `tests`."""
    lines = LIST.read_text(encoding="utf-8").splitlines()
    return frozenset(line for line in lines if line and not line.startswith("#"))


def quick_text(seconds: Iterable[tuple[str, float]]) -> str:
    """The list, from the CPU seconds of tests by file."""
    totals: dict[str, float] = defaultdict(float)
    for file, taken in seconds:
        totals[file] += taken
    return HEADER + "".join(f"{file}\n" for file in sorted(totals) if totals[file] <= FILE_SECONDS_MAX)


def cpu_seconds() -> float:
    """CPU time of this process and of those that it has waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def name_of(path: Path) -> str:
    """How the list names a file; one outside of `tests` by its whole path."""
    return path.relative_to(TESTS).as_posix() if path.is_relative_to(TESTS) else path.as_posix()


class Tiers:
    """The plug-in. `only_quick`: other files are not even read; `measured`: the file to which each process adds what
    its tests take; `leads`: whether this process shows the results, and rewrites the list."""

    def __init__(self, *, only_quick: bool, measured: Path | None, leads: bool) -> None:
        self.quick = quick_files()
        self.only_quick, self.measured, self.leads = only_quick, measured, leads
        if leads and measured is not None:
            measured.unlink(missing_ok=True)

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """Leaves out files that are not quick."""
        is_test = collection_path.suffix == ".py" and collection_path.name.startswith("test_")
        return True if self.only_quick and is_test and name_of(collection_path) not in self.quick else None

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Counts a test, with what it sets up and tears down."""
        item.stash[BEGUN] = cpu_seconds()
        result = yield
        if self.measured is not None:
            with self.measured.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps([name_of(item.path), round(cpu_seconds() - item.stash[BEGUN], 4)]) + "\n")
        return result

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        """Fails a test of a quick file that is slow."""
        result = yield
        taken, name = cpu_seconds() - item.stash[BEGUN], name_of(item.path)
        if name in self.quick and taken > TEST_SECONDS_MAX:
            pytest.fail(
                f"{taken:.1f} s of CPU in a quick file (at most {TEST_SECONDS_MAX:.0f} s): make it faster, or take "
                f"{name} out of tests/{LIST.name}",
                pytrace=False,
            )
        return result

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Says what was left out, and rewrites the list where that is requested."""
        if self.only_quick:
            every = {name_of(path) for path in TESTS.rglob("test_*.py")}
            terminalreporter.write_line(
                f"quick: {len(every & self.quick)} of {len(every)} files of tests. Skipped: whole explorations and "
                "proofs, golden pages, Spark, processes and clusters (make test); raised bounds (make nightly)"
            )
        if self.leads and self.measured is not None:
            rows = [json.loads(line) for line in self.measured.read_text(encoding="utf-8").splitlines()]
            LIST.write_text(quick_text((file, taken) for file, taken in rows), encoding="utf-8")
            terminalreporter.write_line(f"wrote tests/{LIST.name} from {len(rows):,} tests")


BEGUN = pytest.StashKey[float]()
"""The CPU time at which a test began."""
