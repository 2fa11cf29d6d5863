"""The page of `--report` in a real browser: what a reader clicks, presses and sees."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import SPECS
from tests.browser.page import Page
from tests.cli.command import hacheck

BROKEN = "#/run/two_phase_commit.ha/gives_up/together"
FOREVER = "#/run/two_phase_commit.ha/blocks/decided"
WIDTHS = (320, 390, 768, 1400, 2560)

ARROW_RIGHT, ARROW_LEFT, HOME, END = "\ue014", "\ue012", "\ue011", "\ue010"


NAMED = """system Named "a server that leads is done"
node Server[2] symmetric { peer: Server? = none  busy: bool = false  done: bool = false }
define alone(s: Server) = s.peer == none
define leads(s: Server) = s.busy and alone(s)
action begin(s: Server) when not s.busy do s.busy := true
action end(s: Server) when s.busy do
  s.done := true
  s.busy := false
invariant kept "x": no s: Server where leads(s) and s.done
check default expect kept violated
"""


def properties(found: dict[str, Any]) -> list[dict[str, Any]]:
    return [one for check in found["checks"] for one in check["properties"]]


def test_verdicts_are_counted_and_filtered(page: Page, commit: str, found: dict[str, Any]) -> None:
    page.open(commit)
    every = properties(found)
    with_run = [one for one in every if one["run"] is not None]
    for name, count in (("all", len(every)), ("has a picture", len(with_run)), ("not as expected", 0)):
        page.click(f"[data-filter='{name}']")
        assert page.text(f"[data-filter='{name}'] span") == str(count)
        assert name == "all" or len(page.all(".verdicts tbody tr")) == count
    page.click("[data-filter='all']")
    page.press("/")
    page.press("together")
    assert 0 < len(page.all(".verdicts tbody tr")) < len(every)
    assert all("together" in row.text for row in page.all(".verdicts tbody tr"))


def test_a_link_opens_a_run_at_a_step_and_keys_move(page: Page, commit: str) -> None:
    page.open(f"{commit}{BROKEN}/2")
    last = len(page.all(".row")) - 1
    assert page.step == 2
    page.press(ARROW_RIGHT)
    assert (page.step, page.fragment) == (3, f"{BROKEN}/3")
    page.press(ARROW_LEFT)
    page.press(HOME)
    assert page.step == 0
    page.press(END)
    assert page.step == last
    assert "breaks here" in page.text(".row.break")
    page.click("[data-row='1']")
    assert page.fragment == f"{BROKEN}/1"
    page.run("document.querySelector('#slider').value = 2; slider.dispatchEvent(new Event('input'))")
    assert page.step == 2


def test_f_finds_the_next_fault(page: Page, standby: str) -> None:
    page.open(f"{standby}#/run/standby.ha/default/one_active/0")
    page.press("f")
    assert "fault" in page.all(".row")[page.step].get_attribute("class")
    assert page.text(f"[data-row='{page.step}'] .caption").startswith("lose LockFile")


def test_play_stops_at_the_end(page: Page, standby: str) -> None:
    page.open(f"{standby}#/run/standby.ha/default/one_active/4")
    page.press(" ")
    assert page.text("#play") == "stop"
    page.wait("return document.querySelector('#play').textContent === 'play'")
    assert page.step == 5


def test_why_names_the_servers_that_both_serve(page: Page, standby: str) -> None:
    page.open(f"{standby}#/run/standby.ha/default/one_active")
    assert "broken here" in page.text("#panel")
    rows = {row.text.split("\n")[0]: row for row in page.all("#panel tbody tr")}
    assert set(rows) == {"Server 1", "Server 2"}
    truth = [
        [cell.get_attribute("class").split()[0] for cell in row.find_elements("css selector", ".strip span")]
        for row in rows.values()
    ]
    assert truth == [["false"] * 3 + ["true"] * 3, ["false"] * 5 + ["true"]]
    page.click("#panel [data-cell='3']")
    assert page.step == 3
    assert "holds here" in page.text("#panel")


def test_definitions_are_rows_before_their_parts(page: Page, tmp_path: Path) -> None:
    spec, report = tmp_path / "named.ha", tmp_path / "named.html"
    spec.write_text(NAMED, encoding="utf-8")
    ended = hacheck("verify", str(spec), "--quiet", "--report", str(report))
    assert ended.code == 0, ended.err
    page.open(f"{report.as_uri()}#/run/named.ha/default/kept")
    rows = {row.text.split()[0]: row for row in page.all("#panel table.why tbody tr")}
    assert list(rows)[:4] == ["leads(s)", "s.busy", "alone(s)", "s.done"]
    inner = [name for name, row in rows.items() if row.find_elements("css selector", "th.depth1")]
    assert inner == ["s.busy", "alone(s)"]
    assert "s.peer = none" in rows["alone(s)"].text


def test_tabs_show_the_step_the_state_the_diagram_and_the_text(page: Page, standby: str) -> None:
    page.open(f"{standby}#/run/standby.ha/default/one_active/3")
    page.press("1")
    assert "activating" in page.text("#panel .was")
    assert page.text("#panel .changed") == "active"
    page.press("3")
    assert "mode" in page.text("#panel")
    page.press("4")
    (drawn,) = page.all("#panel svg[role=img]")
    assert drawn.get_attribute("aria-label").endswith("Server 1: active, Server 2: passive")
    page.press("5")
    assert "action serve(s: Server)" in page.text("#panel .lit")


def test_an_explored_step_goes_on_from_the_run_and_is_taken_back(page: Page, commit: str) -> None:
    page.open(f"{commit}{BROKEN}/2")
    rows = len(page.all(".row"))
    page.press("e")
    edges = page.all("[data-edge]")
    following = [edge for edge in edges if "as in the run" in edge.text]
    assert len(edges) > 1
    assert len(following) == 1
    other = next(edge for edge in edges if edge is not following[0])
    index = other.get_attribute("data-edge")
    other.click()
    assert page.fragment == f"{BROKEN}/2~{index}"
    assert (len(page.all(".row")), page.step) == (4, 3)
    page.press("u")
    assert (page.fragment, len(page.all(".row"))) == (f"{BROKEN}/2", rows)


def test_taking_the_steps_of_the_run_shows_where_it_breaks(page: Page, commit: str) -> None:
    page.open(f"{commit}{BROKEN}")
    before = len(page.all(".row")) - 2
    page.open(f"{commit}{BROKEN}/{before}")
    page.press("e")
    breaking = [edge for edge in page.all("[data-edge]") if "breaks it" in edge.text]
    assert breaking
    breaking[0].click()
    assert "breaks here" in page.text(".row.explored")


@pytest.mark.parametrize(
    ("fragment", "shown", "said"),
    [
        ("#/run/two_phase_commit.ha/gives_up/gone/3", "h2", "has no run"),
        (f"{BROKEN}/999", ".diagram", "has no step 999"),
        (f"{BROKEN}/-3", ".diagram", "has no step -3"),
        (f"{BROKEN}/x", ".diagram", "has no step x"),
        (f"{BROKEN}/1~99.0", ".diagram", "step 99 of this link is not known"),
        ("#/%E0%A4%A/zzz", "h2", "names no page"),
    ],
)
def test_a_damaged_link_opens_the_nearest_place_and_says_so(
    page: Page, commit: str, fragment: str, shown: str, said: str
) -> None:
    page.open(f"{commit}{fragment}")
    assert said in page.text("#notice")
    assert page.all(shown)


def test_a_loop_is_marked_and_said(page: Page, commit: str) -> None:
    page.open(f"{commit}{FOREVER}")
    assert "for ever" in page.text("main p")
    assert "then some time" in page.text("#panel")


def test_a_hidden_lane_takes_its_arrows_along(page: Page, commit: str) -> None:
    page.open(f"{commit}{BROKEN}")
    arrows = "return document.querySelectorAll('.rows line[marker-end]').length"
    before = page.run(arrows)
    lane = page.all("[data-lane]")[0]
    assert "Coordinator" in lane.text
    lane.click()
    assert page.run(arrows) < before
    assert "Coordinator" not in page.text(".heads")


def test_text_of_a_spec_is_text(page: Page, commit: str) -> None:
    page.open(commit)
    assert "<img src=x onerror='window.hacked = 1'>" in page.text("main")
    page.open(f"{commit}{BROKEN}/1")
    for key in "123456":
        page.press(key)
    page.press("1")
    assert "</script><script>window.hacked = 1</script>" in page.text("#panel")
    assert page.run("return [window.hacked ?? null, document.images.length, document.scripts.length]")[:2] == [None, 0]


def test_nothing_leaves_the_page_and_nothing_else_may_run(page: Page, commit: str) -> None:
    page.open(f"{commit}{BROKEN}/2")
    for key in "123456eu":
        page.press(key)
    assert {address.split("#")[0] for address in page.requests()} <= {commit, "about:blank", "data:,"}
    policy = page.run("return document.querySelector('meta[http-equiv]').content")
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    blocked = page.run(
        "const one = document.createElement('script'); one.textContent = 'window.hacked = 1';"
        "document.body.append(one); return window.hacked ?? null"
    )
    assert blocked is None
    messages = [entry["message"] for entry in page.driver.get_log("browser")]
    assert any("Content Security Policy" in message for message in messages)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_serious(page: Page, commit: str, standby: str, theme: str) -> None:
    page.theme(theme)
    page.open(commit)
    assert page.axe() == []
    page.open(f"{standby}#/run/standby.ha/default/one_active/2")
    for key in "123456":
        page.press(key)
        assert page.axe() == []


def test_the_theme_is_switched_by_hand(page: Page, commit: str) -> None:
    page.theme("light")
    page.open(commit)
    background = "return getComputedStyle(document.body).backgroundColor"
    before = page.run(background)
    page.press("t")
    assert page.run(background) != before
    page.click("#theme")
    assert page.run(background) == before


def test_help_opens_and_closes_by_keys(page: Page, commit: str) -> None:
    page.open(commit)
    page.press("?")
    assert "next fault" in page.text("#help-box")
    page.press("\ue00c")
    assert page.all("#help-box") == []


@pytest.mark.parametrize("width", WIDTHS)
def test_no_width_scrolls_sideways(page: Page, commit: str, width: int) -> None:
    page.size(width, 900)
    for fragment in ("", BROKEN, FOREVER):
        page.open(f"{commit}{fragment}")
        for key in "123456" if fragment else "":
            page.press(key)
            assert page.run("return document.documentElement.scrollWidth") <= width


def test_print_has_the_story_and_no_controls(page: Page, commit: str) -> None:
    page.open(f"{commit}{BROKEN}")
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        for selector in (".bar", ".tabs", "header button", "#pick"):
            assert page.all(selector) == []
        assert page.all("h2")
        printed = page.driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})
        content = base64.b64decode(printed["data"])
        assert content.startswith(b"%PDF")
        assert len(re.findall(rb"/Type\s*/Page\b", content)) <= 4
    finally:
        page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_tab_reaches_every_row_and_leaves_again(page: Page, standby: str) -> None:
    page.open(f"{standby}#/run/standby.ha/default/one_active")
    seen = []
    for _ in range(40):
        page.press("\ue004")
        seen.append(page.run("const one = document.activeElement; return one.dataset.row ?? one.id ?? one.tagName"))
    assert {"0", "5", "tab-why", "panel", "theme"} <= set(seen)


def opened(page: Page, title: str) -> str:
    """The text of a card that is clicked on. Where the page was redrawn since, it is opened again."""
    page.click("summary", title)
    script = (
        "for (const one of document.querySelectorAll('details.card')) if (one.textContent.startsWith('TITLE')) {"
        " one.open = true; return one.innerText; } return null;"
    )
    return str(page.wait(script.replace("TITLE", title)))


def test_what_a_violation_needs_and_the_nearest_good_run_are_cards(page: Page, tmp_path: Path) -> None:
    report = tmp_path / "standby.html"
    spec = str(SPECS / "standby.ha")
    ended = hacheck("verify", spec, "--property", "one_active", "--blame", "--quiet", "--report", str(report))
    assert ended.code in (0, 1), ended.err
    page.open(f"{report.as_uri()}#/run/standby.ha/default/one_active/0")
    page.wait("return document.querySelectorAll('.row').length")
    assert page.text(".row.fault .tag") == "needed"
    card = opened(page, "What it needs")
    assert "Prevents the violation" in card
    assert "not violated (all" in card
    assert "the first difference" in opened(page, "Nearest good run")
    page.click("a", "The whole run")
    page.wait("return document.querySelector('h2').textContent.includes('nearest good run')")
    assert not page.all(".row.break")
    page.run("history.back()")
    page.wait("return !document.querySelector('h2').textContent.includes('nearest good run')")
    opened(page, "What it needs")
    assert page.axe() == []
