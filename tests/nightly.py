"""What is tested by night only: what takes long and says the same of one more spec, setting or seed.

`pytest` leaves it out, `pytest --nightly` (`make nightly`) runs everything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

nightly = pytest.mark.nightly


def by_night(cases: Iterable[Any], but: Callable[[Any], bool]) -> list[Any]:
    """Cases of a test: each by night, and in every run those that `but` picks. A tuple is several arguments."""
    return [
        pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=() if but(case) else (nightly,))
        for case in cases
    ]


def first_of(cases: Iterable[Any], count: int = 1) -> list[Any]:
    """Cases of a test: the first ones in every run, the others by night."""
    listed = list(cases)
    early = listed[:count]
    return by_night(listed, lambda case: case in early)
