"""The texts of the project speak of the project alone, not of where or with what it was made."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

# The one-letter groups keep this file from being a finding of its own.
FOREIGN = re.compile(
    r"(?<![\w.-])/wor[k]/"  # a folder of one machine
    r"|(?<![\w.])(?:\.\./)+share[d]\b"  # a folder beside one checkout
    r"|\b(?:DESIG[N]|STYL[E])\.md\b"  # documents this repository does not have
    r"|pyp[i]\.org|pythonhoste[d]"  # where packages come from is the installer's business
)


def test_no_text_speaks_of_the_workplace(owned: tuple[Path, ...], root: Path) -> None:
    found = [
        f"{path.relative_to(root)}:{number}: {line.strip()[:100]}"
        for path in owned
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1)
        if FOREIGN.search(line)
    ]
    assert found == []


@pytest.mark.parametrize(
    "text",
    [
        "see /wor" + "k/notes.txt",
        "from ../share" + "d/seeds",
        "as DESIG" + "N.md says",
        "index-url = https://pyp" + "i.org/simple",
        "files.pythonhoste" + "d.org",
    ],
)
def test_mention_of_the_workplace_is_found(text: str) -> None:
    assert FOREIGN.search(text)


@pytest.mark.parametrize("text", ["homework/a", "the shared folder", "a/wor" + "k/b", "REDESIG" + "N.md"])
def test_ordinary_words_are_no_finding(text: str) -> None:
    assert not FOREIGN.search(text)
