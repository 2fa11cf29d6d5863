"""When lines are written: virtual time, which only grows, and the clocks of nodes, which may be wrong."""

from __future__ import annotations

from typing import Any

import numpy as np

from hacheck.traces.simulation import random_numbers
from hacheck.traces.simulation.random_walk import Walked
from hacheck.traces.simulation.walk_lines import Lines

BEGIN = 1_767_225_600_000_000_000
"""When every trace begins, in nanoseconds: 2026-01-01 00:00 UTC."""

SHORTEST, LONGEST = 1_000_000, 20_000_000
"""How long after the last step the next one comes, in nanoseconds: chance decides between the two."""

BETWEEN_LINES = 1_000
"""Nanoseconds between two lines of a step."""

LINES_OF_A_STEP = 100
"""No step writes so many."""


def step_times(walked: Walked, seed: int, first: int) -> Any:
    """When each step happens, in nanoseconds (int64). `first`: the number of the first trace."""
    starts = np.cumsum(walked.lengths) - walked.lengths
    traces = np.repeat(
        _of_traces(random_numbers.key(seed, random_numbers.TIME), first, len(walked.lengths)), walked.lengths
    )
    places = np.arange(len(walked.by)) - np.repeat(starts, walked.lengths)
    spread = np.uint64(LONGEST - SHORTEST + 1)
    gaps = (random_numbers.numbers(traces, places) % spread).astype(np.int64) + SHORTEST
    passed = np.cumsum(gaps)
    before = np.concatenate([np.zeros(1, np.int64), passed])[starts]
    return BEGIN + passed - np.repeat(before, walked.lengths)


def line_times(walked: Walked, found: Lines, steps: Any) -> Any:
    """When each line is written, in nanoseconds (int64): later than every line before it in its trace."""
    starts = np.cumsum(walked.lengths) - walked.lengths
    step = starts[found.trace] + found.step
    new = np.ones(len(step), np.bool_)
    new[1:] = step[1:] != step[:-1]
    places = np.arange(len(step))
    first = np.maximum.accumulate(np.where(new, places, 0)) if len(step) else places
    return steps[step] + (places - first) * BETWEEN_LINES


def clocks(seed: int, first: int, count: int, nodes: int, skew: int) -> Any:
    """How far the clock of each node is ahead in each trace, in nanoseconds: `count` rows of `nodes` (int64). The first
    one is nobody's, which is right. Two differ by less than `skew`, so that lines of one step do not lie farther apart.
    """
    starts = _of_traces(random_numbers.key(seed, random_numbers.CLOCK), first, count)
    most = max((skew - LINES_OF_A_STEP * BETWEEN_LINES) // 2, 0)
    found = random_numbers.numbers(starts[:, None], np.arange(nodes)[None, :]) % np.uint64(2 * most + 1)
    ahead = found.astype(np.int64) - most
    ahead[:, 0] = 0
    return ahead


def _of_traces(start: int, first: int, count: int) -> Any:
    """Where the numbers of some traces begin."""
    return random_numbers.numbers(np.uint64(start), np.arange(first, first + count))
