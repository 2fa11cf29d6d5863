"""Sizes, times, counts and settings are read as people write them, and refused with an example."""

from __future__ import annotations

import pytest

from hacheck.cli.console import seconds, size, visible
from hacheck.cli.guard import BadInput
from hacheck.cli.options import all_known, parse_count, parse_seconds, parse_settings, parse_size
from hacheck.cli.progress import thousands
from hacheck.wording import plural


@pytest.mark.parametrize(
    ("text", "bytes_meant"),
    [("8GiB", 8 << 30), ("500M", 500 << 20), ("1.5g", 3 << 29), ("1048576", 1 << 20), (" 2 kb ", 2048)],
)
def test_sizes_have_units(text: str, bytes_meant: int) -> None:
    assert parse_size(text) == bytes_meant


@pytest.mark.parametrize("text", ["", "0", "-1", "lots", "8 GiB x", "1e3", "\u0661"])
def test_what_is_no_size_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(BadInput, match="not a size") as refused:
        parse_size(text)
    assert refused.value.hint is not None
    assert "8GiB" in refused.value.hint


@pytest.mark.parametrize(("text", "meant"), [("90", 90), ("5m", 300), ("1.5h", 5400), ("2 min", 120), ("3s", 3)])
def test_times_have_units(text: str, meant: float) -> None:
    assert parse_seconds(text) == meant


@pytest.mark.parametrize("text", ["", "0", "-3", "soon", "inf", "nan"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="not a time"):
        parse_seconds(text)


@pytest.mark.parametrize(
    ("text", "meant"),
    [("1000000", 10**6), ("1_000_000", 10**6), ("1,000", 1000), ("5M", 5 * 10**6), ("2e6", 2 * 10**6)],
)
def test_counts_may_be_long_or_short(text: str, meant: int) -> None:
    assert parse_count("--states", text) == meant


@pytest.mark.parametrize("text", ["0", "-1", "0.5", "many", ""])
def test_what_is_no_count_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="not a whole number"):
        parse_count("--states", text)


@pytest.mark.parametrize(("option", "example"), [("--states", "1000000"), ("--threads", "4"), ("--depth", "20")])
def test_the_example_of_a_count_makes_sense_for_its_option(option: str, example: str) -> None:
    with pytest.raises(BadInput) as refused:
        parse_count(option, "0")
    assert refused.value.hint == f"for example {option} {example}"


def test_the_last_value_of_a_setting_wins() -> None:
    assert parse_settings(["a=1", " b = on ", "a=2"]) == {"a": "2", "b": "on"}


@pytest.mark.parametrize("text", ["a", "=1", "a=", ""])
def test_a_setting_is_a_name_and_a_value(text: str) -> None:
    with pytest.raises(BadInput, match="expected NAME=VALUE"):
        parse_settings([text])


def test_an_unknown_word_is_answered_with_near_ones_or_with_all() -> None:
    with pytest.raises(BadInput) as near:
        all_known("check", ["defalt"], ["default", "wide"])
    assert near.value.hint == "did you mean default?"
    with pytest.raises(BadInput) as far:
        all_known("check", ["x"], ["default", "wide"])
    assert far.value.hint == "there are: default, wide"


def test_numbers_are_said_as_people_say_them() -> None:
    assert [plural(1, "step"), plural(12345, "state")] == ["1 step", "12,345 states"]
    assert [seconds(0.042), seconds(12.34), seconds(245), seconds(7500)] == [
        "0.04 s",
        "12.3 s",
        "4 min 05 s",
        "2 h 05 min",
    ]
    assert [size(512), size(1536), size(300 << 20), size(3 << 30)] == ["512 B", "1.5 KiB", "300 MiB", "3.0 GiB"]
    assert [thousands(950), thousands(12_400), thousands(3_400_000)] == ["950", "12 k", "3.4 M"]


def test_what_cannot_be_seen_is_escaped() -> None:
    assert visible("a\x1b[0m\u202e\u00a0\tb\n") == "a\\x1b[0m\\u202e\\xa0\\tb\n"
