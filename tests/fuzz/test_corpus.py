"""What the fuzzers found once is not found again; and by night they go on searching."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from random import Random

import pytest

from tests.fuzz.campaign import corpus, failure_of, run
from tests.fuzz.kinds import registered
from tests.nightly import nightly

KINDS = registered()
KEPT = [(name, path) for name, kind in KINDS.items() for path in corpus(kind)]
BY_NIGHT = {"commands": 300, "processes": 30, "checks": 500, "monitors": 2_000}
"""So many inputs of a kind are read each night, where not 10,000."""


@pytest.mark.parametrize(("name", "path"), KEPT, ids=[f"{name}-{path.stem}" for name, path in KEPT])
def test_what_was_found_once_is_read_well(name: str, path: Path) -> None:
    assert failure_of(KINDS[name], path.read_bytes()) is None


def test_corpus_is_small_and_of_known_kinds() -> None:
    assert KEPT
    assert all(path.stat().st_size <= 20_000 for _, path in KEPT)


@pytest.mark.parametrize("name", [name for name in KINDS if name not in BY_NIGHT])
def test_each_kind_of_input_is_read_well(name: str) -> None:
    assert not run(KINDS[name], 20, seed=0).failures


@pytest.mark.parametrize("name", KINDS)
def test_inputs_are_the_same_for_the_same_seed(name: str) -> None:
    first, second = (KINDS[name].draw(Random(f"{name} 7")) for _ in range(2))
    assert first == second


@nightly
@pytest.mark.parametrize("name", KINDS)
def test_other_inputs_each_night(name: str) -> None:
    seed = datetime.now(UTC).toordinal()
    found = run(KINDS[name], BY_NIGHT.get(name, 10_000), seed)
    assert not found.failures, f"python -m tests.fuzz --kind {name} --seed {seed} --keep: {dict(found.failures)}"
