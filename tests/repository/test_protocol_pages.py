"""The pages of `docs/protocols/` are what the specs say.

What a page takes from the text of its spec is compared each time; of one spec the whole page, its checks run anew. The
whole pages of all specs take a minute, and are compared by night. A page that is out
of date is made again: `hacheck doc NAME --out docs/protocols/NAME.md`.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hacheck import shipped
from tests.cli.command import hacheck
from tests.nightly import nightly

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "protocols"
CHEAPEST = "fiorano_shared"
VERIFIED = ("Properties", "What holds, what does not, and how far that reaches", "State diagram")
"""The parts of a page that come from exploring."""


def parts(page: str) -> dict[str, str]:
    """The parts of a page by their headings; what stands above the first one under no heading."""
    title, *found = re.split(r"^## ", page, flags=re.MULTILINE)
    named = {part.partition("\n")[0]: part for part in found}
    return {"": title.split("\nMade by ")[0], **named}


def test_every_shipped_spec_has_its_page_and_no_page_is_left_over() -> None:
    assert sorted(path.stem for path in PAGES.glob("*.md") if path.stem != "README") == sorted(shipped.names())


def test_every_page_is_in_the_list_of_them() -> None:
    listed = re.findall(r"\]\((\w+)\.md\)", (PAGES / "README.md").read_text(encoding="utf-8"))
    assert sorted(listed) == sorted(shipped.names())


@pytest.mark.parametrize("name", shipped.names())
def test_page_says_what_the_text_of_its_spec_says(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    now = parts((PAGES / f"{name}.md").read_text(encoding="utf-8"))
    made = parts(static_page(name))
    assert {heading: text for heading, text in now.items() if heading not in VERIFIED} == {
        heading: text for heading, text in made.items() if heading not in VERIFIED
    }


def static_page(name: str) -> str:
    """The page of a spec as it would stand in its folder, without verifying and without a diagram."""
    from hacheck.cli.document.page import Source, page
    from hacheck.cli.document.protocol_page import texts_of
    from hacheck.cli.selection import one_system
    from hacheck.cli.sources import load_specification

    specification = load_specification(name)
    system = one_system(specification, None, {}, no_color=True)
    return page(Source(name, specification, system, texts_of(specification), PAGES / f"{name}.md"), None, [])


def test_whole_page_of_one_spec_is_what_verifying_it_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    compare(CHEAPEST, monkeypatch)


@nightly
@pytest.mark.parametrize("name", [name for name in shipped.names() if name != CHEAPEST])
def test_whole_page_is_what_verifying_its_spec_finds(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    compare(name, monkeypatch)


def compare(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes a page anew, and compares."""
    monkeypatch.chdir(ROOT)
    ended = hacheck("doc", name, "--out", f"docs/protocols/{name}.md", "--check")
    assert (ended.code, ended.out) == (0, "")


@pytest.mark.parametrize("path", sorted(PAGES.glob("*.md")), ids=lambda path: path.stem)
def test_page_shows_a_picture_that_is_there(path: Path) -> None:
    for picture in re.findall(r"!\[[^]]*\]\(([^)]+)\)", path.read_text(encoding="utf-8")):
        assert (path.parent / picture).is_file()
