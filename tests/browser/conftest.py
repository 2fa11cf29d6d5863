"""A real browser, driven by clicks and keys, and the pages that it looks at."""

from __future__ import annotations

import importlib.util
import json
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.page import Page
from tests.cli.command import hacheck

SPECS = Path(__file__).parent / "specs"
BROWSERS, DRIVERS = ("chromium", "chromium-browser", "google-chrome"), ("chromedriver", "chromium.chromedriver")

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--force-prefers-reduced-motion",
)


def which(names: tuple[str, ...]) -> str | None:
    return next((path for name in names if (path := shutil.which(name)) is not None), None)


def lacking() -> str | None:
    """What is not here that the tests need, and how to get it."""
    if which(BROWSERS) is None or which(DRIVERS) is None:
        return "no Chromium with its driver; on Debian and Ubuntu: apt-get install chromium chromium-driver"
    missing = [name for name in ("selenium", "axe_selenium_python") if importlib.util.find_spec(name) is None]
    return f"{', '.join(missing)} not installed; pip install -e '.[test]'" if missing else None


@pytest.fixture(scope="session")
def driver() -> Iterator[Any]:
    """One browser for the tests of a process."""
    if (reason := lacking()) is not None:
        pytest.skip(reason)
    opened = browser()
    try:
        yield opened
    finally:
        opened.quit()


def browser() -> Any:
    """A browser of its own, to be quit."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = which(BROWSERS) or ""
    for flag in FLAGS:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(which(DRIVERS)))
    driver.set_script_timeout(30)
    return driver


@pytest.fixture
def page(driver: Any) -> Iterator[Page]:
    """The browser as a reader uses it. What the page complains of fails the test."""
    driver.get("about:blank")
    found = Page(driver)
    found.size(1400, 1000)
    found.requests()
    yield found
    complaints = [entry["message"] for entry in driver.get_log("browser") if entry["level"] == "SEVERE"]
    assert complaints == []


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What was verified: `NAME.html` and `NAME.json` for each spec."""
    made = tmp_path_factory.mktemp("reports")
    for spec in sorted(SPECS.glob("*.ha")):
        place = made / spec.stem
        ended = hacheck("verify", str(spec), "--quiet", "--report", f"{place}.html", "--json", f"{place}.json")
        assert ended.code == 0, ended.err
    return made


@pytest.fixture(scope="session")
def commit(folder: Path) -> str:
    """The address of the report on two-phase commit."""
    return (folder / "two_phase_commit.html").as_uri()


@pytest.fixture(scope="session")
def standby(folder: Path) -> str:
    """The address of the report on two servers and a lock."""
    return (folder / "standby.html").as_uri()


@pytest.fixture(scope="session")
def found(folder: Path) -> dict[str, Any]:
    """What `verify --json` says of two-phase commit."""
    content: dict[str, Any] = json.loads((folder / "two_phase_commit.json").read_text(encoding="utf-8"))
    return content


@pytest.fixture
def live(folder: Path) -> Iterator[str]:
    """The address of a page with the interpreter behind it."""
    from hacheck.cli.exploring.explorer import ExploreRequest, from_saved, live_page
    from hacheck.cli.exploring.loopback_server import LoopbackServer
    from hacheck.cli.sources import load_specification

    spec, runs = str(SPECS / "two_phase_commit.ha"), str(folder / "two_phase_commit.json")
    request = ExploreRequest(spec, None, {}, None, runs, None, None, None, 0, False, True)
    specification = load_specification(spec)
    shown, document = from_saved(request, specification, runs)
    content, views = live_page(request, specification, shown, document)
    with LoopbackServer(0, content, views.answer) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server.url
        finally:
            server.shutdown()
            thread.join()
