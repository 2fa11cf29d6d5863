"""The model of QuorumElection written for Spin has the reference counts."""

from __future__ import annotations

from pathlib import Path

import pytest
from by_hand import quorum_election
from spin import missing, verifier

from tests.models.quorum_election import REFERENCE


@pytest.mark.skipif(missing() is not None, reason=f"{missing()}")
@pytest.mark.parametrize("size", [(2, 3, 2), (3, 1, 1)], ids=str)
def test_spin_finds_the_reference_counts(size: tuple[int, int, int], tmp_path: Path) -> None:
    verified = verifier(quorum_election(*size), tmp_path, ("-O0", "-DSAFETY", "-DNOREDUCE")).run(slots=18)
    assert (verified.states, verified.steps - 1) == REFERENCE[size][:2]


def test_every_replica_and_link_has_its_steps() -> None:
    text = quorum_election(3, 2, 1)
    assert text.count(":: d_step") == 3 * 3 + 6 * 4
