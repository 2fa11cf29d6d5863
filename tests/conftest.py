"""What all tests share: Hypothesis without chance, what is left for the night, and rewriting golden outputs."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.heartbeat import Heartbeat
from tests.tiers import Tiers

# A test that passes must pass again, on any machine: no random seed, no deadline that a busy machine misses.
# To search on for new counterexamples: pytest --hypothesis-profile searching
settings.register_profile(
    "repeatable",
    derandomize=True,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("searching", deadline=None, max_examples=2_000, print_blob=True)
settings.load_profile("repeatable")


def pytest_configure(config: pytest.Config) -> None:
    """Keeps machine code beside what pytest keeps, not in the user's folder; where pytest keeps nothing, where the
    environment says, or until the machine tidies up."""
    if config.pluginmanager.hasplugin("cacheprovider"):
        os.environ["HACHECK_CACHE_DIR"] = str(config.cache.mkdir("hacheck"))
    else:
        os.environ.setdefault("HACHECK_CACHE_DIR", tempfile.mkdtemp(prefix="hacheck-"))
    os.environ["TERM"] = "xterm-256color"  # what a command shows on a terminal is tested wherever the tests run
    leads = not hasattr(config, "workerinput")
    measured = config.getoption("--measure-tiers")
    tiers = Tiers(only_quick=config.getoption("--quick"), measured=measured, leads=leads)
    config.pluginmanager.register(tiers, "hacheck-tiers")
    if leads:
        config.pluginmanager.register(Heartbeat(config), "hacheck-heartbeat")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds `--update-golden`, and which tiers run."""
    parser.addoption(
        "--update-golden",
        "--update",
        action="store_true",
        help="write what commands print and scenarios lead to now as what is expected; then read the difference",
    )
    parser.addoption("--quick", action="store_true", help="only the files in tests/quick.txt: see tests/tiers.py")
    parser.addoption("--measure-tiers", type=Path, metavar="FILE", help="write what tests take, and tests/quick.txt")
    parser.addoption("--nightly", action="store_true", help="also what takes long: see tests/nightly.py")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out what is for the night, unless it is asked for; puts the tests of Spark first: one worker waits for
    Spark for minutes, and the others have something to do meanwhile."""
    items.sort(key=lambda item: not item.path.name.startswith("test_spark"))
    if config.getoption("--nightly"):
        return
    left_out = [item for item in items if item.get_closest_marker("nightly")]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if not item.get_closest_marker("nightly")]


@pytest.fixture(scope="session")
def update_golden(request: pytest.FixtureRequest) -> bool:
    """Whether the expected outputs are to be rewritten instead of compared."""
    return bool(request.config.getoption("--update-golden"))
