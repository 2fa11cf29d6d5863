"""The parser's tree: tokens and nodes, and where in the text they stand."""

from __future__ import annotations

from typing import Any, TypeAlias

from hacheck.model.data import dataclass

Place: TypeAlias = tuple[int, int, int]
"""Start and end in the text, and the line of the start, counted from 1."""
NOWHERE: Place = (0, 0, 0)
"""The place of a node for which nothing is written, like an empty body."""


@dataclass(frozen=True, slots=True)
class Token:
    """A word, number, text or sign; `kind` is its name in the grammar."""

    kind: str
    text: str
    place: Place


@dataclass(frozen=True, slots=True)
class Tree:
    """What a rule of the grammar has read: `data` is the rule's name, or what its alternative is called.

    The children are trees, tokens, and `None` where something optional is not written. `height`: how many levels of
    trees there are below.
    """

    data: str
    children: list[Any]
    place: Place
    height: int
