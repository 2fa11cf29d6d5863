"""No text makes the language fail in any other way than by diagnostics, and none takes long."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hacheck.model.language import Loaded, load
from hacheck.model.language.codes import CODES
from hacheck.model.language.format import format_text
from tests.language.examples import examples

ROOT = Path(__file__).resolve().parents[2]
SECONDS_MAX = 20.0
SHORT = [one.text for path in sorted((ROOT / "tests" / "language" / "cases").glob("*.md")) for one in examples(path)]
REAL = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "bench").glob("*.ha"))]
HEAD = 'system A "x"\nnode S { v: bool = false  n: 0..9 = 0 }\n'


def read(text: str) -> Loaded:
    """The text as loaded: a specification, or at least one error; every code explained, every span inside."""
    started = time.monotonic()
    found = load(text, "bad.ha")
    assert time.monotonic() - started < SECONDS_MAX
    errors = [one for one in found.diagnostics if one.severity == "error"]
    assert (found.specification is None) == bool(errors)
    for one in found.diagnostics:
        assert one.code in CODES
        assert one.message
        for span in (one.span, *(span for span, _ in one.labels)):
            assert 0 <= span.start <= span.end <= len(text), (one, text)
    return found


@given(st.text(max_size=300))
def test_any_text(text: str) -> None:
    read(text)
    format_text(text)


@given(st.binary(max_size=300))
def test_any_bytes(data: bytes) -> None:
    read(data.decode("utf-8", errors="replace"))
    read(data.decode("latin-1"))


@given(st.lists(st.sampled_from([word for text in (*REAL, *SHORT) for word in text.split()]), max_size=60))
@settings(max_examples=150)
def test_words_of_the_language_in_any_order(words: list[str]) -> None:
    read(HEAD + " ".join(words))


@given(st.sampled_from([*SHORT, *REAL]), st.data())
@settings(max_examples=250)
def test_damaged_specs(text: str, data: st.DataObject) -> None:
    places = [found.span() for found in re.finditer(r'"[^"\n]*"|\w+|[^\w\s]+', text)]
    kind = data.draw(st.sampled_from(["delete", "duplicate", "swap", "replace"]))
    first, second = sorted(data.draw(st.tuples(*[st.integers(0, len(places) - 1)] * 2)))
    (a, b), (c, d) = places[first], places[second]
    match kind:
        case "delete":
            text = text[:a] + text[b:]
        case "duplicate":
            text = text[:b] + " " + text[a:]
        case "replace":
            text = text[:a] + text[c:d] + text[b:]
        case _ if first != second:
            text = text[:a] + text[c:d] + text[b:c] + text[a:b] + text[d:]
    read(text)
    format_text(text)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "HA002"),
        ("  \n# nothing\n", "HA002"),
        ("\x7fELF\x01\x02\x00", "HA003"),
        (HEAD + "invariant i: " + "(" * 10_000 + "S.v" + ")" * 10_000, None),
        (HEAD + "invariant i: " + "(" * 10_000, "HA005"),
        (HEAD + "invariant i: " + "not " * 10_000 + "S.v", "HA006"),
        (HEAD + "invariant i: S.n == " + "-" * 10_000 + "1", "HA006"),
        (HEAD + "invariant i: " + "S.v and " * 10_000 + "S.v", "HA006"),
        (HEAD + "action f(s: S) do " + "if s.v then " * 5_000 + "s.n := 1", "HA006"),
        (HEAD + "action f(s: S) do " + "s.n := 1 " * 3_000, None),
        ("x" * 10_000_000, "HA001"),
        (HEAD + "invariant i: in_flight()", "HA108"),
        (HEAD + "invariant i: holds() or free() or time(S) or clock() or running() or up()", "HA108"),
        (HEAD + "invariant i: some x: 0..999_999_999 where x == 5", "HA112"),
        (HEAD + "invariant i: no x: 0..4000, y: 0..4000, z: 0..4000 where x + y + z == 99_999", None),
        (HEAD + "invariant i: (each k: 0..999_999_999 -> k)[1] == 1", "HA112"),
        (HEAD + "action go(s: S, x: 0..999_999_999) do s.n := x", "HA112"),
        (HEAD + "node T { q: sequence of 0..1 up to 999_999_999 }", "HA111"),
        (HEAD + "message m() from S to S up to 999_999_999", "HA111"),
        (HEAD + "node T { m: map 0..999_999_999 to bool }", "HA112"),
        (HEAD + "node T[999_999_999] { }", "HA111"),
        ('system A "' + "y" * 900_000 + '"', None),
        (HEAD + 'invariant i "never closed: S.v', "HA004"),
        (HEAD + "invariant i: S.n == " + "9" * 5_000, "HA008"),
        ("system A\n" + "invariant i: ,\n" * 400, "HA005"),
    ],
)
def test_extremes(text: str, code: str | None) -> None:
    found = read(text)
    codes = {one.code for one in found.diagnostics}
    assert codes == ({code} if code else set()), [one.message for one in found.diagnostics][:3]
    format_text(text)


def test_definition_that_grows_without_end_is_bounded() -> None:
    lines = ["define d0(n: S) = n.v"]
    lines += [f"define d{k}(n: S) = d{k - 1}(n) and not d{k - 1}(n)" for k in range(1, 40)]
    found = read(HEAD + "\n".join(lines) + "\ninvariant i: d39(S)\n")
    assert {one.code for one in found.diagnostics} == {"HA117"}
