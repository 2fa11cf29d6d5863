"""Short branches of which both sides are run.

A branch that a processor guesses wrong costs as much as some dozens of instructions. So where both sides of a branch
are short and do nothing but compute, they are put one behind the other, and what is carried on is chosen from both.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from msgspec import Struct

Line = str | list[str]
"""A line of a function, or several that are still being written."""

_MOST = 24  # instructions of both sides

_BRANCH = re.compile(r"  br i1 (\S+), label %(\S+), label %(\S+)")
_COMPUTES = re.compile(r"  %\S+ = (?!load|call (?!\S+ @llvm\.))")


class Sides(Struct, frozen=True):
    """Lines of a function, from `start` up to `end`: a branch, and the blocks that it leads to. `labels`: of the block
    that runs if the condition holds, and of the other; one of them may be that of the block behind both, which is then
    no side. `lines`: what both sides compute."""

    start: int
    end: int
    condition: str
    labels: tuple[str, str]
    lines: tuple[Line, ...]


class _Block(Struct, frozen=True):
    """A block that only computes: its name, its place among the lines with its name and its end, what it computes."""

    label: str
    start: int
    end: int
    lines: tuple[Line, ...]


def last_sides(lines: Sequence[Line], target: str, single_entry: Collection[str]) -> Sides | None:
    """The last branch of a function of which all sides are short blocks from which only the block goes on that is
    called `target`; nothing but such blocks comes after them. `single_entry`: blocks that only one other leads to."""
    leave = f"  br label %{target}"
    behind: _Block | None = None
    end = len(lines)
    while end and lines[end - 1] == leave:
        block = _block(lines, end)
        if block is None or block.label not in single_entry:
            return None
        last = lines[block.start - 1]
        branch = _BRANCH.fullmatch(last) if isinstance(last, str) else None
        if branch is not None:
            labels = branch[2], branch[3]
            second = behind if behind is not None and behind.label in labels else None
            if {*labels} != {block.label, target if second is None else second.label}:
                return None
            computed = block.lines if second is None else (*block.lines, *second.lines)
            if _length(computed) > _MOST:
                return None
            return Sides(block.start - 1, (second or block).end, branch[1], labels, computed)
        behind, end = block, block.start
    return None


def _block(lines: Sequence[Line], end: int) -> _Block | None:
    """The block that ends there, if it only computes, and not much."""
    start = end - 1
    while start > 1 and end - start <= 2 * _MOST:
        start -= 1
        line = lines[start]
        if isinstance(line, str):
            if not _COMPUTES.match(line):
                return None
            continue
        name = lines[start - 1]
        if isinstance(name, str) and name.endswith(":"):
            return _Block(name[:-1], start - 1, end, tuple(lines[start + 1 : end - 1]))
    return None


def _length(lines: Iterable[Line]) -> int:
    return sum(1 if isinstance(line, str) else len(line) for line in lines)
