"""Votes: how many are needed, and one ballot while it is counted. Source: broker facts 2.6, AR-2."""

from __future__ import annotations

from hacheck.impl.node import Name


def votes_needed(size: int, *, wrong: bool = False) -> int:
    """How many others must say yes in a cluster of so many nodes. `wrong`: as computed before AR-2."""
    if wrong:
        others = max(size - 2, 0)
        return others // 2 if others <= 2 else others // 2 + 1
    return size // 2 if size <= 2 else size // 2 + 1


class Ballot:
    """One vote. `question`: `replace` or `stay`. `open`: who has not answered. `left`: how often it may be repeated."""

    __slots__ = ("left", "name", "needed", "open", "question", "yes")

    def __init__(self, name: str, question: str, voters: tuple[Name, ...], needed: int, left: int) -> None:
        self.name = name
        self.question = question
        self.open = dict.fromkeys(voters)
        self.needed = needed
        self.yes = 0
        self.left = left

    def count(self, voter: Name, *, yes: bool) -> None:
        """A vote; the first of each voter counts."""
        if voter in self.open:
            del self.open[voter]
            self.yes += yes

    def won(self) -> bool:
        """Whether it is decided in favour."""
        return self.yes >= self.needed

    def over(self) -> bool:
        """Whether it is decided."""
        return self.won() or not self.open
