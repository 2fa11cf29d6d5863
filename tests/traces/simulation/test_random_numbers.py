"""Chance is the same wherever it is computed."""

from __future__ import annotations

import numpy as np

from hacheck.compile.kernels.to_python import as_python
from hacheck.traces.simulation import random_numbers, walk_kernel

ODD = (0, 1, 2, 12345, 2**32, 2**63, 2**64 - 1)


def test_numpy_kernels_and_python_agree() -> None:
    mixed = as_python([walk_kernel.mixed], {})["mixed"]
    for number in ODD:
        assert mixed(number) == random_numbers.mixed(number)
        found = random_numbers.numbers(np.uint64(number), np.arange(5)).tolist()
        assert found == [random_numbers.of_trace(number, count) for count in range(5)]


def test_seeds_and_uses_begin_apart() -> None:
    seeds = (*ODD, 2**64, 2**65, 2**64 + 1, 10**40)
    keys = {random_numbers.key(seed, use) for seed in seeds for use in range(6)}
    assert len(keys) == 6 * len(seeds)


def test_dice_are_even_and_stay_below_their_limit() -> None:
    dice = random_numbers.Dice(random_numbers.key(1, random_numbers.DAMAGE), 7)
    counts = np.bincount([dice.below(6) for _ in range(6000)], minlength=6)
    assert len(counts) == 6
    assert all(850 < count < 1150 for count in counts.tolist())
    start = random_numbers.of_trace(random_numbers.key(1, random_numbers.DAMAGE), 7)
    again = random_numbers.Dice(random_numbers.key(1, random_numbers.DAMAGE), 7)
    wanted = [
        random_numbers.mixed((start + count * random_numbers.STEP) & random_numbers.MASK) for count in range(1, 6)
    ]
    assert [again.below(1 << 64) for _ in range(5)] == wanted
    shares = [dice.share() for _ in range(1000)]
    assert 0 <= min(shares) < max(shares) < 1
