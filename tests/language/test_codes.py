"""Every code is explained, and its examples have it and have it not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hacheck.model.language import load
from hacheck.model.language.codes import CODES

SOURCES = Path(__file__).resolve().parents[2] / "hacheck" / "model" / "language"
ABOUT = {
    "codes.py",
    "code_info.py",
    "codes_of_text.py",
    "codes_of_names.py",
    "codes_of_types.py",
    "codes_of_meaning.py",
}
TOO_BIG_TO_SHOW = {
    "HA001": 'system A "x"\n' + "#" * (1 << 20),
    "HA003": 'system A "\x00"\n',
    "HA006": 'system A "x"\nnode S { v: bool }\ninvariant i: ' + "not " * 300 + "S.v\n",
}


def test_every_code_in_use_is_explained_and_no_other() -> None:
    used: set[str] = set()
    for path in SOURCES.glob("*.py"):
        if path.name not in ABOUT:
            used |= set(re.findall(r'"(HA\d{3})"', path.read_text(encoding="utf-8")))
    assert used == set(CODES)


def codes_of(text: str) -> set[str]:
    return {one.code for one in load(text, "example.ha").diagnostics}


@pytest.mark.parametrize("code", sorted(CODES))
def test_wrong_example_has_the_code_and_the_right_one_none(code: str) -> None:
    info = CODES[code]
    assert codes_of(info.example_wrong or TOO_BIG_TO_SHOW[code]) == {code}
    assert load(info.example_right, "example.ha").diagnostics == ()


@pytest.mark.parametrize("code", sorted(CODES))
def test_explanation_is_a_headline_and_sentences(code: str) -> None:
    info = CODES[code]
    assert info.code == code
    assert info.headline
    assert not info.headline.endswith(".")
    assert info.explanation.endswith(".")
    assert all(len(line) <= 120 for line in info.explanation.splitlines())


def test_warnings_do_not_stop_a_spec() -> None:
    for code, info in CODES.items():
        read = load(info.example_wrong or TOO_BIG_TO_SHOW[code], "example.ha")
        assert (read.specification is not None) == (code >= "HA201"), code
        assert {one.severity for one in read.diagnostics} == {"warning" if code >= "HA201" else "error"}
