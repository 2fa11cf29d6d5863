"""Claims of one or two facts to begin with: what follows from what in every reachable state, said with as few as do.

Of all pairs of facts that never hold together those are left out that follow from two others, so that what is left says
the same as all of them. Of these the largest set is kept that one step never breaks (Houdini).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from hacheck.checker.symbolic.lemma_candidates import Claim, ClaimPrinter, Cube, Literal

STATES_SAMPLED = 6_000
FACTS_MAX = 800
CLAIMS_MAX = 300
PLAIN = 1
"""Facts more far-fetched than this are left for later."""


def base(printer: ClaimPrinter, bits: Any, rows: int, never: Callable[[Cube], bool]) -> tuple[Claim, ...]:
    """Claims of one or two plain facts that are true of every state at hand, the plainest first. `bits`: which facts
    hold in which states, packed; `never`: whether some facts hold together in no state."""
    holds = np.unpackbits(bits.view(np.uint8), axis=1, bitorder="little")[:, :rows]
    if rows > STATES_SAMPLED:
        holds = holds[:, np.random.default_rng(1).choice(rows, STATES_SAMPLED, replace=False)]
    plain = np.array([fact.weight <= PLAIN for fact in printer.facts], dtype=bool)
    found: dict[frozenset[Cube], Claim] = {}
    for cube in (*_single(holds, plain), *_pairs(holds, plain)):
        claim = printer.claim(cube)
        if claim is not None and all(never(one) for one in claim.cubes):
            found.setdefault(frozenset(claim.cubes), claim)
    return tuple(sorted(found.values(), key=lambda one: one.weight)[:CLAIMS_MAX])


def _single(holds: Any, plain: Any) -> Iterator[Cube]:
    for fact in np.flatnonzero(plain & ~holds.any(axis=1)):
        yield ((int(fact), True),)
    for fact in np.flatnonzero(plain & holds.all(axis=1)):
        yield ((int(fact), False),)


def _pairs(holds: Any, plain: Any) -> Iterator[Cube]:
    """Pairs that never hold together and follow from no two others."""
    index = np.flatnonzero(plain & holds.any(axis=1) & ~holds.all(axis=1))[:FACTS_MAX]
    size = len(index)
    if not size:
        return
    some = holds[index].astype(np.float32)
    both = np.concatenate([some, 1 - some])
    apart = (both @ both.T) == 0
    opposite = np.r_[size : 2 * size, 0:size]
    implied = apart[:, opposite]
    stronger = implied & ~implied.T
    apart[np.arange(2 * size), opposite] = False
    follows = (stronger.astype(np.float32) @ apart.astype(np.float32)) > 0
    literals: list[Literal] = [(int(fact), truth) for truth in (True, False) for fact in index]
    for one, other in np.argwhere(np.triu(apart & ~follows & ~follows.T)):
        first, second = sorted((literals[one], literals[other]))
        yield first, second
