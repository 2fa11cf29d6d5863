"""Specifications and systems that are kept: what is found is what would be made, and only of the same text."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from hacheck.compile import kept_models
from hacheck.compile.kept_models import kept_instance, kept_load, kept_result
from hacheck.compile.machine.object_cache import ObjectCache
from hacheck.model.canonical_text import text_of
from hacheck.model.language import load
from hacheck.model.language.specification import Reader

LIBRARY = "library Small\n\nparam limit = {limit}\n"
SPEC = """system Counter "counts"
use "small.ha"

node Server[2] {
  n : 0..3 = 0
  kind : { low, high }? = none
}

action count(s: Server) when s.n < limit and s.kind in { none, low } do s.n := s.n + 1

invariant small "stays small": every s: Server satisfies s.n <= limit

check default expect all hold
"""


def reader(limit: int, asked: list[str] | None = None) -> Reader:
    def read(path: str) -> str | None:
        if asked is not None:
            asked.append(path)
        return LIBRARY.format(limit=limit)

    return read


@pytest.fixture
def cache(tmp_path: Path) -> ObjectCache:
    return ObjectCache(tmp_path / "objects")


def not_to_be_read(*_: object, **__: object) -> None:
    raise AssertionError("it is made again")


def test_a_spec_found_is_the_one_that_would_be_read(cache: ObjectCache, monkeypatch: pytest.MonkeyPatch) -> None:
    made = kept_load(SPEC, "spec.ha", reader(2), cache=cache)
    assert made == load(SPEC, "spec.ha", reader(2))
    monkeypatch.setattr(kept_models, "load", not_to_be_read)
    assert kept_load(SPEC, "spec.ha", reader(2), cache=cache) == made


@pytest.mark.parametrize("text", [SPEC.replace("s.n + 1", "s.n + 0"), SPEC + "\n"])
def test_a_spec_of_another_text_is_read(cache: ObjectCache, text: str) -> None:
    kept_load(SPEC, "spec.ha", reader(2), cache=cache)
    assert kept_load(text, "spec.ha", reader(2), cache=cache) == load(text, "spec.ha", reader(2))


def test_a_spec_whose_library_has_changed_is_read_again(cache: ObjectCache) -> None:
    kept_load(SPEC, "spec.ha", reader(2), cache=cache)
    again = kept_load(SPEC, "spec.ha", reader(1), cache=cache)
    assert again == load(SPEC, "spec.ha", reader(1))
    assert again.specification is not None
    assert [one.default for one in again.specification.parameters] == ["1"]


def test_a_spec_that_is_wrong_is_not_kept(cache: ObjectCache) -> None:
    asked: list[str] = []
    wrong = SPEC.replace("s.n <= limit", "s.m <= limit")
    assert kept_load(wrong, "spec.ha", reader(2, asked), cache=cache).specification is None
    assert kept_load(wrong, "spec.ha", reader(2, asked), cache=cache).diagnostics
    assert len(asked) == 2


def test_a_system_found_is_the_one_that_would_be_made(cache: ObjectCache, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = load(SPEC, "spec.ha", reader(2)).specification
    assert spec is not None
    made = kept_instance(spec, {"limit": "3"}, "default", cache=cache)
    assert made == spec.instantiate({"limit": "3"}, "default")
    assert kept_instance(spec, {"limit": "1"}, "default", cache=cache) == spec.instantiate({"limit": "1"}, "default")
    monkeypatch.setattr(type(spec), "instantiate", not_to_be_read)
    assert kept_instance(spec, {"limit": "3"}, "default", cache=cache) == made


def test_settings_that_are_wrong_are_not_kept(cache: ObjectCache) -> None:
    spec = load(SPEC, "spec.ha", reader(2)).specification
    assert spec is not None
    for _ in range(2):
        assert kept_instance(spec, {"limit": "none"}, "default", cache=cache).diagnostics
    assert not cache.folder.exists() or not list(cache.folder.iterdir())


def test_a_result_without_a_text_is_made_each_time(cache: ObjectCache) -> None:
    made: list[int] = []
    for _ in range(2):
        kept_result("test", None, lambda: made.append(1), cache=cache)
    assert made == [1, 1]


def test_sets_of_words_have_the_same_text_in_every_process() -> None:
    data = "(frozenset(['alpha', 'beta', None, 'gamma']), frozenset([1, 2]), frozenset(['delta']))"
    program = f"from hacheck.model.canonical_text import text_of; print(text_of({data}))"
    texts = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(kept_models.__file__).parents[2])},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(texts) == 1
    assert "alpha" in texts.pop()


def test_sets_whose_order_is_not_known_have_no_text() -> None:
    assert text_of(frozenset({("a", 1), ("b", 2)})) is None
