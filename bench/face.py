"""What pictures, stories and the page cost.

    python bench/face.py blame       what `--blame` adds for the 28 steps of `acknowledged_survives`
    python bench/face.py diagram     the picture of these steps in the terminal, and the diagram of IceStorm's states
    python bench/face.py page        the report of every check of `spec/icestorm.ha` in a real Chromium
    python bench/face.py page REPORT.html [--pictures FOLDER]
    python bench/face.py logs        the page of `conform` about 18,000 lines, and a run of 200 steps on it

The first two print CPU seconds; `blame` also those of the clock, twice: with an empty and with a filled cache folder.
`page` prints bytes and milliseconds as the browser measures them, the middle of some: the first paint; a step, from its
key to the next frame; a step of the explorer. It looks at each width for lines wider than the page, and asks axe-core
in both themes. `--pictures` keeps what is seen: light, dark, on a phone, printed. It needs Chromium with its driver and
the extra `test`.
"""

from __future__ import annotations

import argparse
import base64
import json
import statistics
import sys
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from measuring import Spent, machine, spent

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

SPEC = str(ROOT / "spec" / "icestorm.ha")
ASKED = ("--check", "default", "--property", "acknowledged_survives")
RUN = "#/run/icestorm.ha/default/acknowledged_survives"
WIDTHS = (320, 390, 768, 1400, 2560)

PRESSED = """
const [key, done] = arguments, begun = performance.now();
dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
requestAnimationFrame(() => setTimeout(() => done(performance.now() - begun)));
"""
"""Milliseconds from a key to the end of the frame that shows what it did."""

EXPLORED = """
const done = arguments[0], edge = document.querySelector("[data-edge]");
if (!edge) done(null);
const begun = performance.now();
edge?.click();
requestAnimationFrame(() => setTimeout(() => done(performance.now() - begun)));
"""


def hacheck(*words: str, cache: Path | None = None) -> Spent:
    """What a command costs."""
    kept = {} if cache is None else {"HACHECK_CACHE_DIR": str(cache)}
    return spent([sys.executable, "-m", "hacheck", *words], environment={**kept, "PYTHONPATH": str(ROOT)})


def print_blame() -> None:
    """What `--blame` adds to verifying, twice: nothing kept, all kept."""
    with TemporaryDirectory() as folder:
        found = Path(folder) / "found.json"
        for kept in ("nothing kept", "all kept"):
            without = hacheck("verify", SPEC, *ASKED, "--quiet", cache=Path(folder) / "without")
            asked = ("verify", SPEC, *ASKED, "--blame", "--quiet", "--json", str(found))
            blaming = hacheck(*asked, cache=Path(folder) / "with")
            cpu, wall = blaming.cpu_seconds - without.cpu_seconds, blaming.wall_seconds - without.wall_seconds
            (named,) = json.loads(found.read_text(encoding="utf-8"))["checks"][0]["properties"]
            trials = named["blame"]["trials"]
            states = sum(one["states"] for one in trials)
            print(
                f"  blame, {kept:13} {wall:5.1f} s, {cpu:.1f} of CPU, {len(trials)} trials, {states:,} states; "
                f"verifying {without.wall_seconds:.1f} s, {without.cpu_seconds:.1f} of CPU"
            )


def print_diagram() -> None:
    """The picture of a run that is read once, the middle of twenty; and the diagram of the states."""
    from time import process_time

    from hacheck.checker.pictures.glyphs import ASCII
    from hacheck.checker.pictures.picture_lines import picture_lines
    from hacheck.checker.run_view.view_reader import ViewReader

    with TemporaryDirectory() as folder:
        found, view = Path(folder) / "found.json", Path(folder) / "view.json"
        hacheck("verify", SPEC, *ASKED, "--quiet", "--json", str(found))
        hacheck("show", str(found), *ASKED[2:], "--format", "json", "--out", str(view))
        content = json.loads(view.read_text(encoding="utf-8"))
        for width in (80, 200):
            costs = []
            for _ in range(20):
                begun = process_time()
                lines = list(picture_lines(ViewReader(content), width, ASCII))
                costs.append(process_time() - begun)
            steps = len(content["steps"])
            cost = 1000 * statistics.median(costs)
            print(f"  {steps} steps at {width:3} columns {cost:5.1f} ms, {len(lines)} lines")
    cost = hacheck("diagram", SPEC, "--format", "svg", "--out", "/dev/null").cpu_seconds
    print(f"  hacheck diagram icestorm {cost:4.1f} s")


def print_page(report: Path, pictures: Path | None) -> None:
    """The page in a browser."""
    from tests.browser.conftest import browser, lacking
    from tests.browser.page import Page

    if (reason := lacking()) is not None:
        sys.exit(reason)
    address = report.resolve().as_uri()
    print(f"  size {report.stat().st_size / 1e6:.2f} MB")
    with closing(_Quitting(browser())) as opened:
        page = Page(opened.driver)
        page.size(1400, 1000)
        for name, fragment in (("verdicts", ""), ("a run", RUN)):
            print(f"  first paint of {name:9} {_middle([_paint(page, address + fragment) for _ in range(5)])}")
        page.open(f"{address}{RUN}/0")
        steps = [page.later(PRESSED, "ArrowRight") for _ in range(28)]
        print(f"  step                     {_middle(steps)}")
        page.open(f"{address}{RUN}/14")
        page.later(PRESSED, "e")
        explored = []
        for _ in range(10):
            explored.append(page.later(EXPLORED))
            page.later(PRESSED, "u")
        print(f"  step of the explorer     {_middle([one for one in explored if one is not None])}")
        _print_wide(page, address)
        for theme in ("light", "dark"):
            page.theme(theme)
            page.size(1400, 1000)
            found = []
            for fragment in ("", f"{RUN}/28"):
                page.open(address + fragment)
                for key in "123456" if fragment else " ":
                    page.later(PRESSED, key)
                    found += page.axe()
            print(f"  axe-core, {theme:5}          {len(found)} serious: {sorted(set(found))}"[:400])
        if pictures is not None:
            _keep(page, address, pictures)


SCROLLED = """
const [place, done] = arguments, begun = performance.now();
document.querySelector("#log").scrollTop = place;
requestAnimationFrame(() => setTimeout(() => done(performance.now() - begun)));
"""


def print_logs() -> None:
    """The page about a long log."""
    from tests.browser.conftest import browser, lacking
    from tests.browser.page import Page
    from tests.browser.test_log_page import LINES, log_page

    if (reason := lacking()) is not None:
        sys.exit(reason)
    with TemporaryDirectory() as folder, closing(_Quitting(browser())) as opened:
        report = log_page(Path(folder))
        page = Page(opened.driver)
        page.size(1400, 1000)
        print(f"  size {report.stat().st_size / 1e6:.2f} MB, {LINES:,} lines")
        print(f"  first paint              {_middle([_paint(page, report.as_uri()) for _ in range(5)])}")
        page.wait("return document.querySelector('.log-line.dev')")
        print(f"  scrolling by 100 lines   {_middle([page.later(SCROLLED, place * 2_400) for place in range(100)])}")
        page.click(".deviation a")
        page.later(PRESSED, "Home")
        print(f"  step of 200              {_middle([page.later(PRESSED, 'ArrowRight') for _ in range(100)])}")


class _Quitting:
    """A browser that is left behind by nobody."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def close(self) -> None:
        self.driver.quit()


def _middle(values: list[float]) -> str:
    return f"{statistics.median(values):5.0f} ms (most {max(values):.0f}, {len(values)} times)"


def _paint(page: Any, address: str) -> float:
    page.open(address)
    script = "return performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
    return float(page.wait(script))


def _print_wide(page: Any, address: str) -> None:
    for width in WIDTHS:
        page.size(width, 900)
        wide = []
        for fragment in ("", RUN):
            page.open(address + fragment)
            for key in "123456" if fragment else " ":
                page.later(PRESSED, key)
                if page.run("return document.documentElement.scrollWidth") > width:
                    wide.append(f"{fragment or 'verdicts'} {key}")
        print(f"  width {width:4}               {'wider: ' + ', '.join(wide) if wide else 'nothing is wider'}")


def _keep(page: Any, address: str, folder: Path) -> None:
    """What is seen, as files."""
    folder.mkdir(parents=True, exist_ok=True)
    for theme in ("light", "dark"):
        page.theme(theme)
        for name, width, fragment, key in (
            ("verdicts", 1400, "", ""), ("why", 1400, f"{RUN}/28", "2"), ("step", 1400, f"{RUN}/15", "1"),
            ("state", 1400, f"{RUN}/28", "3"), ("modes", 1400, f"{RUN}/28", "4"), ("spec", 1400, f"{RUN}/28", "5"),
            ("explore", 1400, f"{RUN}/14", "6"), ("phone", 390, f"{RUN}/28", "2"), ("phone-verdicts", 390, "", ""),
            ("wide", 2560, f"{RUN}/28", "2"),
        ):  # fmt: skip
            page.size(width, 844 if width < 400 else 1000)
            page.open(address + fragment)
            if key:
                page.later(PRESSED, key)
            page.driver.save_screenshot(str(folder / f"{name}-{theme}.png"))
    page.theme("light")
    page.size(1400, 1000)
    page.open(f"{address}{RUN}/28")
    printed = page.driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})
    (folder / "printed.pdf").write_bytes(base64.b64decode(printed["data"]))
    print(f"  pictures in {folder}")


def main() -> None:
    """Prints the rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("blame", "diagram", "page", "logs"))
    parser.add_argument("report", nargs="?", type=Path)
    parser.add_argument("--pictures", type=Path)
    given = parser.parse_args()
    print(machine())
    if given.what == "blame":
        print_blame()
    elif given.what == "diagram":
        print_diagram()
    elif given.what == "logs":
        print_logs()
    elif given.report is not None:
        print_page(given.report, given.pictures)
    else:
        with TemporaryDirectory() as folder:
            report = Path(folder) / "icestorm.html"
            print(f"  made in {hacheck('verify', SPEC, '--quiet', '--report', str(report)).cpu_seconds:.0f} s of CPU")
            print_page(report, given.pictures)


if __name__ == "__main__":
    main()
