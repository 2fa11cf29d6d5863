"""The parser's tree: lark's tokens and nodes, with where in the text they stand."""

from __future__ import annotations

from typing import Any, TypeAlias, cast

import lark

Place: TypeAlias = tuple[int, int, int]
"""Start and end in the text, and the line of the start, counted from 1."""
NOWHERE: Place = (0, 0, 0)
"""The place of a node for which nothing is written, like an empty body."""


class Token(lark.Token):
    """A word, number, text or sign; `kind` is its name in the grammar."""

    __slots__ = ()

    @property
    def kind(self) -> str:
        return self.type

    @property
    def text(self) -> str:
        return str(self.value)

    @property
    def place(self) -> Place:
        return cast(Place, (self.start_pos, self.end_pos, self.line))


class Tree(lark.Tree[Any]):
    """What a rule of the grammar has read: `data` is the rule's name, or what its alternative is called.

    The children are trees, tokens, and `None` where something optional is not written. `height`: how many levels of
    trees there are below.
    """

    children: list[Any]
    height: int

    def __init__(self, data: str, children: list[Any], meta: Any = None) -> None:
        super().__init__(data, children, meta)
        self.height = max((child.height + 1 for child in children if isinstance(child, Tree)), default=0)

    @property
    def place(self) -> Place:
        meta = self.meta
        return NOWHERE if meta.empty else (meta.start_pos, meta.end_pos, meta.line)
