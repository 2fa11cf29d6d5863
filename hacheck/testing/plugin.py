"""The plug-in of pytest: `.ha` files as tests, and options and progress of state machines. What explores or compares is
loaded when it is used."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options."""
    group = parser.getgroup("hacheck", "models of highly available systems, and tests against them")
    group.addoption("--hacheck", action="store_true", help="collect the checks of .ha files: a test for each property")
    group.addoption("--hacheck-wide", action="store_true", help="also those that run by request only")
    group.addoption(
        "--hacheck-seed",
        type=int,
        metavar="N",
        help="seed of the random choices of state machines; a failure reports it",
    )
    group.addoption(
        "--hacheck-runs",
        metavar="DIR",
        help="where state machines keep runs that fail, to do them first the next time (default: .hacheck-runs beside "
        "each test)",
    )
    group.addoption(
        "--hacheck-coverage",
        metavar="DIR",
        help="write what each state machine that passes has covered, as JSON, into this folder",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Takes the options that are there."""
    seed, *folders = (config.getoption(f"--hacheck-{name}") for name in ("seed", "runs", "coverage"))
    from hacheck.testing.pytest_options import Given
    from hacheck.testing.run_options import Options

    start = config.invocation_params.dir
    runs, coverage = (None if folder is None else start / folder for folder in folders)
    config.pluginmanager.register(Given(Options(seed, runs, coverage)))


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """A spec, where the command line selects them."""
    if file_path.suffix != ".ha" or not _runs_specs(parent.config):
        return None
    from hacheck.testing.pytest_collection import SpecFile

    return SpecFile.from_parent(parent, path=file_path)


def _runs_specs(config: pytest.Config) -> bool:
    return bool(config.getoption("--hacheck") or config.getoption("--hacheck-wide"))
