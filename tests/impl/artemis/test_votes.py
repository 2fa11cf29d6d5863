"""How many votes are needed, and what a voter says."""

from __future__ import annotations

import pytest

from hacheck.impl.protocols.artemis.replication.ballot import Ballot, votes_needed


@pytest.mark.parametrize(("size", "needed"), [(1, 0), (2, 1), (3, 2), (4, 3), (5, 3), (6, 4), (7, 4)])
def test_votes_needed_grow_with_the_cluster(size: int, needed: int) -> None:
    """Broker facts 2.6: 1->0, 2->1, 3->2, 4->3, 5->3, 6->4, 7->4."""
    assert votes_needed(size) == needed


@pytest.mark.parametrize(("size", "needed"), [(1, 0), (2, 0), (3, 0), (4, 1), (5, 2)])
def test_wrong_vote_size_lets_three_pairs_decide_with_no_vote(size: int, needed: int) -> None:
    """AR-2: gives 1, 2, 3, 4, 5 pairs -> 0, 0, 0, 1, 2."""
    assert votes_needed(size, wrong=True) == needed


def test_ballot_is_over_when_it_is_decided_or_everybody_has_voted() -> None:
    """Broker facts 2.6: unreachable voters count as no."""
    ballot = Ballot("b", "replace", ("a", "b"), 2, 0)
    ballot.count("a", yes=True)
    assert not ballot.over()
    ballot.count("a", yes=True)
    assert not ballot.won(), "a voter has one vote"
    ballot.count("b", yes=False)
    assert ballot.over()
    assert not ballot.won()
