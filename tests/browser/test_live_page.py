"""The page of `hacheck explore` in a real browser, with the interpreter behind it."""

from __future__ import annotations

from tests.browser.page import Page

BROKEN = "#/run/two_phase_commit.ha/gives_up/together"


def test_every_state_has_its_steps(page: Page, live: str) -> None:
    page.open(f"{live}{BROKEN}/0")
    page.press("e")
    for taken in range(1, 7):
        page.wait("return document.querySelectorAll('[data-edge]').length")
        page.click("[data-edge]")
        assert page.step == taken
    assert page.fragment.endswith("/0~0.0.0.0.0.0")


def test_a_link_to_an_explored_run_is_followed(page: Page, live: str) -> None:
    page.open(f"{live}{BROKEN}/1~0.0.0")
    page.wait("return document.querySelectorAll('.row').length === 5")
    assert page.step == 4
    page.open(f"{live}{BROKEN}/1~0.999")
    page.wait("return !document.querySelector('#notice').hidden")
    assert "999" in page.text("#notice")
    assert page.step == 2


def test_expressions_of_the_reader_are_evaluated_on_every_state(page: Page, live: str) -> None:
    page.open(f"{live}{BROKEN}")
    page.press("e")
    page.wait("return document.querySelector('#expression')")
    rows = len(page.all(".row"))
    for text in ("some p: Participant where p.mode == committed", "count p: Participant where p.mode == prepared"):
        page.click("#expression")
        page.press(f"{text}\ue007")
        page.wait(f"return document.querySelector('#values').textContent.includes({text!r})")
    strips = page.all("#values .strip")
    assert len(strips) == 1
    assert len(strips[0].find_elements("css selector", "span")) == rows
    assert "from step 0" in page.text("#values table")


def test_a_wrong_expression_is_explained_as_text(page: Page, live: str) -> None:
    page.open(f"{live}{BROKEN}")
    page.press("e")
    page.wait("return document.querySelector('#expression')")
    page.click("#expression")
    page.press("some p: Participant where p.mood == <img src=x>\ue007")
    page.wait("return document.querySelector('#values pre')")
    assert page.run("return document.images.length") == 0
    page.click("#values button", "remove")
    page.click("#expression")
    page.press("some p: Participant where p.mood == committed\ue007")
    page.wait("return document.querySelector('#values pre')")
    assert "Participant has no field `mood`" in page.text("#values pre")


def test_only_this_address_is_asked(page: Page, live: str) -> None:
    page.open(f"{live}{BROKEN}/0")
    page.press("e")
    page.wait("return document.querySelectorAll('[data-edge]').length")
    assert all(address.startswith((live, "about:", "data:")) for address in page.requests())
