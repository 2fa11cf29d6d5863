"""Stamps with a part of a second are read as `strptime` reads them, also in the hour that comes twice."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hacheck.traces.adapters.time_stamps import Clock

FORM = "%Y-%m-%d %H:%M:%S.%f"
BERLIN = "Europe/Berlin"


@given(st.datetimes(datetime(1980, 1, 1), datetime(2100, 1, 1)), st.integers(1, 6))
def test_part_of_a_second_is_read_as_it_is_by_strptime(moment: datetime, digits: int) -> None:
    text = moment.strftime("%Y-%m-%d %H:%M:%S.") + f"{moment.microsecond:06d}"[:digits]
    wanted = datetime.strptime(text, FORM).replace(tzinfo=ZoneInfo(BERLIN))
    since = wanted - datetime(1970, 1, 1, tzinfo=UTC)
    assert (
        Clock((FORM,), BERLIN).read(text) == (since.days * 86_400 + since.seconds) * 10**9 + since.microseconds * 1000
    )


@pytest.mark.parametrize("text", ["2026-11-26 01:02:03.", "2026-11-26 01:02:03.1234567", "2026-11-26 01:02:03", "x.1"])
def test_other_stamps_have_no_time(text: str) -> None:
    assert Clock((FORM,), BERLIN).read(text) is None


def test_hour_that_comes_twice_goes_on() -> None:
    clock = Clock((FORM,), BERLIN)
    texts = ("2026-10-25 02:30:00.5", "2026-10-25 02:59:59.9", "2026-10-25 02:30:00.5", "2026-10-25 03:00:00.0")
    times = [clock.read(text) for text in texts]
    steps = [(after or 0) - (before or 0) for before, after in pairwise(times)]
    assert steps == [1_799_400_000_000, 1_800_600_000_000, 1_799_500_000_000]
