"""Whose copy is the better one, when two servers wait for each other.

Source: How Do Server State Changes (Repository Timestamps); broker facts R4, R5, F-W4.
"""

from __future__ import annotations

from hacheck.impl.node import Name
from hacheck.impl.protocols.fiorano.messages import State
from hacheck.impl.protocols.fiorano.options import ReplicatedOptions
from hacheck.impl.protocols.fiorano.replicated_states import Merit
from hacheck.impl.protocols.fiorano.repository import Meta


def merit(mine: Meta, theirs: State, options: ReplicatedOptions, names: tuple[Name, Name]) -> Merit:
    """How the own copy compares with what the peer said of its own. `names`: the own one and the peer's, which decide
    between equals where there is no lock to decide."""
    if not (mine.complete and theirs.complete):
        return Merit.WINS if mine.complete else Merit.LOSES if theirs.complete else Merit.NONE
    if options.epochs_in_lock_file:
        own, other = (mine.epoch, mine.sequence), (theirs.epoch, theirs.sequence)
    else:
        own, other = (mine.timestamp_us, 0), (theirs.timestamp_us, 0)
    if own != other:
        return Merit.WINS if own > other else Merit.LOSES
    if options.lock_file:
        return Merit.EQUAL
    return Merit.WINS if names[0] < names[1] else Merit.LOSES
