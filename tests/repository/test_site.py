"""The site has every document, and an installed hacheck prints them."""

from __future__ import annotations

import re
from pathlib import Path

from hacheck import shipped
from hacheck.model.language.word_reference import terms, words_of_the_language
from tests.cli.command import hacheck

FOLDERS = ("decisions/", "protocols/", "reports/", "schema/")
"""What the navigation takes in as a whole."""


def test_every_document_is_in_the_navigation_once(root: Path) -> None:
    nav = (root / "mkdocs.yml").read_text(encoding="utf-8").split("\nnav:\n")[1]
    named = re.findall(r"(?:: |- )([\w./-]+\.md|\w+/)$", nav, re.MULTILINE)
    own = [name for name in named if not name.startswith("source/") and name != "cli.md"]
    pages = [path.name for path in (root / "docs").glob("*.md")]
    assert sorted(own) == sorted([*pages, *FOLDERS])
    outside = [name.removeprefix("source/") for name in named if name.startswith("source/")]
    assert outside
    assert [name for name in outside if not (root / name).is_file()] == []


def test_a_document_is_printed_by_its_name(root: Path) -> None:
    text = (root / "docs" / "timing.md").read_text(encoding="utf-8")
    for name in ("timing", "timing.md", "docs/timing.md"):
        assert hacheck("explain", name, PYTHONIOENCODING="utf-8").out == text
    ended = hacheck("explain", "timng")
    assert ended.code == 2
    assert "did you mean timing" in ended.err
    assert "tutorial" in hacheck("explain").out


def test_messages_name_documents_that_there_are(root: Path) -> None:
    sources = (path.read_text(encoding="utf-8") for path in (root / "hacheck").rglob("*.py"))
    named = {name for text in sources for name in re.findall(r"hacheck explain ([a-z][a-z-]+)\b", text)}
    assert {"language", "proofs"} <= named
    assert named <= {*shipped.pages(), *words_of_the_language(), *terms()}
