"""The page of `conform --report` in a real browser: lines of logs are text, however many there are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.browser.page import Page
from tests.cli.command import hacheck

SPEC = """system Switch "a switch"
node A {
  state mode: { off, on } = off
}
action go(a: A) when a.mode == off do
  a.mode := on
  log went()
action back(a: A) when a.mode == on do
  a.mode := off
  log came()
"""

HOSTILE = "</script><script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>"

LINES = 18_000


@pytest.fixture(scope="session")
def logs(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a page about 18,000 lines."""
    return log_page(tmp_path_factory.mktemp("logs")).as_uri()


def log_page(folder: Path) -> Path:
    """A page about 18,000 lines, of which the 201st does not fit."""
    spec, log, out = folder / "switch.ha", folder / "night.jsonl", folder / "night.html"
    spec.write_text(SPEC, encoding="utf-8")
    events = ["went" if number % 2 == 0 else "came" for number in range(LINES - 1)]
    events.insert(199, events[198])
    records = [
        {"trace_id": f"night {HOSTILE}", "node": "A 1", "seq": seq, "time": seq * 10**6, "event": event}
        for seq, event in enumerate(events, start=1)
    ]
    records[199]["fields"] = {"note": HOSTILE}
    log.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    ended = hacheck("conform", str(spec), str(log), "--report", str(out))
    assert ended.code == 1, ended.err
    return out


def test_the_line_that_no_run_explains_is_open(page: Page, logs: str) -> None:
    page.open(logs)
    page.wait("return document.querySelector('.log-line.dev')")
    assert "1 deviates" in page.text("h2")
    assert "A 1: came" in page.text(".deviation")
    assert "went" in page.text(".log-line.dev")
    page.click(".deviation a")
    assert len(page.all(".row")) == 200


def test_lines_are_text(page: Page, logs: str) -> None:
    page.open(logs)
    page.wait("return document.querySelector('.log-line.dev')")
    assert HOSTILE in page.text(".log-line.dev")
    assert HOSTILE in page.text(".chips")
    assert page.run("return [window.hacked ?? null, document.images.length]") == [None, 0]
    assert page.axe() == []


def test_eighteen_thousand_lines_are_a_window_of_lines(page: Page, logs: str) -> None:
    page.open(logs)
    page.wait("return document.querySelector('.log-line.dev')")
    for place in (0, 200_000, 10**9):
        page.run("const log = document.querySelector('#log'); log.scrollTop = arguments[0]", place)
        wanted = min(place // 24, LINES - 40)
        page.wait(
            "const lines = [...document.querySelectorAll('.log-line')].map((one) => parseInt(one.style.top) / 24);"
            f"return lines.length < 120 && lines.some((one) => Math.abs(one - {wanted}) < 60)"
        )
    assert page.run("return document.documentElement.scrollWidth") <= 1400


def test_a_run_of_200_steps_is_stepped_through_at_once(page: Page, logs: str) -> None:
    page.open(logs)
    page.wait("return document.querySelector('.log-line.dev')")
    page.click(".deviation a")
    for key in ("\ue011", *"jjjj", "\ue010"):
        page.press(key)
    assert page.step == 199
