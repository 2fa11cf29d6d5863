"""How many random models are tried: few in every run of the tests, thousands when somebody searches for mistakes.

`pytest tests/properties --hypothesis-profile searching` is the run of a night: for Hypothesis as many examples as the
profile says, by chance and not the same again; of each test over seeds twenty times as many seeds. Measured on a busy
machine of two cores: 2,000 systems by the interpreter and two engines in 4 minutes; all of it takes some hours.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.nightly import first_of

TIMES = 20


def searching() -> bool:
    """Whether this run is to find what no run has found before. The profile is chosen before tests are imported."""
    return not settings.default.derandomize


def examples(usual: int) -> settings:
    """So many examples, or those of the profile that searches on."""
    if not searching():
        return settings(max_examples=usual)
    return settings(max_examples=max(usual, settings.default.max_examples), suppress_health_check=list(HealthCheck))


def seeds(first: int, count: int, together: int) -> Callable[[Any], Any]:
    """A test for each stretch of `together` seeds, `first` and the `count` from it on, or so many times more. The first
    stretch is tried in every run, the others by night."""
    after = first + count * (TIMES if searching() else 1)
    stretches = [range(start, start + together) for start in range(first, after, together)]
    return pytest.mark.parametrize("seeds", stretches if searching() else first_of(stretches))
