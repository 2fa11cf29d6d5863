"""Blocks of the lowered form as LLVM basic blocks.

Ways through a block meet again in a join; a way that has already set the temporary by which the next branch decides
goes there at once. What was computed is remembered for what comes after it on every way, and nothing is computed ahead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from msgspec import Struct, field

from hacheck.compile.codegen.code_placement import Placed
from hacheck.compile.codegen.function_text import Fork, Join
from hacheck.compile.codegen.instructions import Values
from hacheck.compile.codegen.integer_widths import width_of_interval
from hacheck.compile.codegen.next_words import merged_words
from hacheck.compile.lowering.blocks import Block, Branch, Emit, Merge, SetTemp, Stopped
from hacheck.compile.lowering.expression_nodes import Node

_COSTLY = 12  # the instructions from which on a part of a condition is worth a branch of its own

Target: TypeAlias = Join | Fork

Sides: TypeAlias = tuple[int, bool]
"""After a jump: the scope of what is known on both sides, and whether it is the first on which all is known."""


Outcome: TypeAlias = Callable[[Emit | Stopped, Target], None]
"""Ends the block with a step, or with an outcome that is no step, and goes to a target."""


class Printer(Struct, frozen=True):
    """Prints blocks where the code stands."""

    values: Values
    outcome: Outcome
    placed: Placed = field(default_factory=dict)

    def block(self, block: Block, end: Target) -> None:
        """Runs the statements and goes to the end."""
        code, index = self.values.code, 0
        while index < len(block):
            statement = block[index]
            for node in self.placed.get((id(block), index), ()):
                self.values.value(node)
            index += 1
            match statement:
                case Branch():
                    branch, index = _paired(block, index, statement, self.values)
                    if index == len(block):
                        self.branch(branch, end)
                        return
                    index = self.meeting(branch, block, index)
                case SetTemp(temp, node):
                    code.carry(temp, self.values.number(node, int(code.kinds[temp][1:])))
                case Merge(merge, parts):
                    for part in parts:
                        self.values.module.fill(merge, part.slot)
                    for word, name in merged_words(self.values, parts).items():
                        code.carry((merge, word), name)
                case Emit() | Stopped():
                    if index == len(block):
                        self.outcome(statement, end)
                        return
                    after = code.join()
                    self.outcome(statement, after)
                    code.start(after)
        code.go(end)

    def meeting(self, branch: Branch, block: Block, index: int) -> int:
        """Runs a branch after which the block goes on; the index of the statement where it does."""
        code, following = self.values.code, block[index]
        after = code.join()
        if isinstance(following, Branch) and following.condition.operator == "temp":
            sides = following.then, following.otherwise
            targets = tuple(code.join() if side else after for side in sides)
            self.branch(branch, Fork(following.condition.number, *targets))
            for side, target in zip(sides, targets, strict=True):
                if side and target.is_reached:
                    self.side(side, target, after)
            index += 1
        else:
            self.branch(branch, after)
        code.start(after)
        return index

    def branch(self, branch: Branch, end: Target) -> None:
        """Runs one of two blocks, and goes to the end."""
        code = self.values.code
        scope = code.scope()
        joins = tuple(code.join() if side else None for side in (branch.then, branch.otherwise))
        common, first_knows = self.jump(branch.condition, joins[0] or end, joins[1] or end)
        sides = (branch.then, joins[0]), (branch.otherwise, joins[1])
        for side, join in sides if first_knows else sides[::-1]:
            if join is not None and join.is_reached:
                self.side(side, join, end)
            code.forget(common)
        code.forget(scope)

    def side(self, block: Block, start: Join, end: Target) -> None:
        """Runs a block of its own."""
        code = self.values.code
        code.start(start)
        scope = code.scope()
        self.block(block, end)
        code.forget(scope)

    # ---- conditions ----

    def jump(self, condition: Node, then: Target, otherwise: Target) -> Sides:
        """Goes to one of two, by branches where a condition has costly parts."""
        code = self.values.code
        if condition not in code.known and self.values.module.cost(condition) >= _COSTLY:
            match condition.operator:
                case "and":
                    return self.all(condition.operands, then, otherwise)
                case "or":
                    return self.any(condition.operands, then, otherwise)
                case "not":
                    common, first_knows = self.jump(condition.operands[0], otherwise, then)
                    return common, not first_knows
                case _:
                    pass
        code.choose(self.values.truth(condition), then, otherwise)
        return code.scope(), True

    def all(self, parts: Iterable[Node], then: Target, otherwise: Target) -> Sides:
        """Goes on where all parts hold, the cheap ones tested first and together."""
        cheap, costly = self.sorted(parts)
        first = [self.values.conjunction(cheap)] if cheap else []
        return self.each([*first, *costly], then, otherwise, wanted=True)

    def any(self, parts: Iterable[Node], then: Target, otherwise: Target) -> Sides:
        """Goes on where one part holds."""
        cheap, costly = self.sorted(parts)
        first = [self.values.disjunction(cheap)] if cheap else []
        return self.each([*first, *costly], then, otherwise, wanted=False)

    def each(self, parts: Sequence[str | Node], then: Target, otherwise: Target, wanted: bool) -> Sides:
        """Tests part after part, by name or node, as long as they are as wanted."""
        code = self.values.code
        common: int | None = None
        for place, part in enumerate(parts):
            on = code.join() if place < len(parts) - 1 else None
            targets = (on or then, otherwise) if wanted else (then, on or otherwise)
            if isinstance(part, str):
                code.choose(part, *targets)
                inner, first_knows = code.scope(), wanted
            else:
                inner, first_knows = self.jump(part, *targets)
            common = inner if common is None else common
            if first_knows != wanted:
                code.forget(inner)
            if on is not None:
                if not on.is_reached:
                    break
                code.start(on)
        assert common is not None, "a condition has parts"
        return common, wanted

    def sorted(self, parts: Iterable[Node]) -> tuple[list[Node], list[Node]]:
        """The parts to be tested at once, and those after them, the cheapest first."""
        cost = self.values.module.cost
        cheap: list[Node] = []
        costly: list[Node] = []
        for part in parts:
            (cheap if cost(part) < _COSTLY or part in self.values.code.known else costly).append(part)
        return cheap, sorted(costly, key=cost)


def temp_kinds(blocks: Iterable[Block]) -> dict[int, str]:
    """The LLVM type of each temporary that blocks set: wide enough for all it is set to."""
    intervals: dict[int, tuple[int, int]] = {}
    waiting = list(blocks)
    while waiting:
        for statement in waiting.pop():
            if isinstance(statement, Branch):
                waiting += (statement.then, statement.otherwise)
            elif isinstance(statement, SetTemp):
                low, high = statement.value.low, statement.value.high
                before = intervals.get(statement.temp)
                if before is not None:
                    low, high = min(low, before[0]), max(high, before[1])
                intervals[statement.temp] = low, high
    return {temp: f"i{width_of_interval(*interval)}" for temp, interval in intervals.items()}


def _paired(block: Block, index: int, branch: Branch, values: Values) -> tuple[Branch, int]:
    """A branch together with the one behind it, if that one is for the opposite case."""
    if branch.otherwise or index == len(block):
        return branch, index
    following = block[index]
    if not isinstance(following, Branch) or following.otherwise:
        return branch, index
    if following.condition is not values.module.graph.not_(branch.condition):
        return branch, index
    return Branch(branch.condition, branch.then, following.then), index + 1
