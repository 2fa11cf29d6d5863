"""The steps of a lowered system as options: each a guard over the state alone and a block with exactly one outcome.

Spin stores no state in the middle of a `d_step`, and a `d_step` must neither choose nor block. So an action instance
that chooses becomes as many options as it has outcomes at once, and what a path demands goes into the guard.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias, assert_never

from msgspec import Struct
from msgspec.structs import replace

from hacheck.compile.lowering.blocks import Block, Branch, Emit, Instance, Lowered, Merge, SetTemp, Statement, Stopped
from hacheck.compile.lowering.expression_graph import Graph
from hacheck.compile.lowering.expression_nodes import Node, reachable
from hacheck.compile.lowering.substitution import replaced

_GUARD_NODES_MAX = 4_000  # of a guard written out, shared parts counted each time
_STATEMENTS_MAX = 1_000  # of one option: Spin refuses a `d_step` of more than 2,048 of its own

Names: TypeAlias = frozenset[tuple[int, int]]
"""Temporaries (their number, -1) and merged slots (the merge's number, the slot)."""

Known: TypeAlias = Mapping[tuple[int, int], Node]
"""What temporaries and merged slots hold, said of the state alone."""


class Option(Struct, frozen=True):
    """One way for one instance to make a step: where all of `guard` hold, `block` has one outcome. `exact`: nowhere
    else; if not, the block stands still where the instance has no such outcome."""

    instance: Instance
    guard: tuple[Node, ...]
    block: Block
    exact: bool


def options(lowered: Lowered) -> list[Option]:
    """Every step of a system once, cuts and errors of the spec left out. Cost: linear in the lowered form, but
    quadratic in how often a path of an instance asks for something after temporaries were set."""
    graph = lowered.graph
    found: list[Option] = []
    for instance in lowered.instances:
        for block in _Separated(graph).separated(instance.block, {}, frozenset()):
            found += _small(graph, _option(graph, instance, block))
    return found


def _small(graph: Graph, option: Option) -> Iterator[Option]:
    """The option, or several with a part of its block each, under the tests that lead there."""
    last = option.block[-1]
    if _size(option.block) <= _STATEMENTS_MAX or not isinstance(last, Branch):
        yield option
        return
    known: Known = {}
    for statement in option.block[:-1]:
        known = _after(graph, statement, known)
    test = _said(graph, last.condition, known)
    for asked, side in ((test, last.then), (graph.not_(test), last.otherwise)):
        guard = graph.and_(*option.guard, asked)
        if guard is not graph.zero:
            block = _without_unused((*option.block[:-1], *side))
            yield from _small(graph, replace(option, guard=_parts(guard), block=block))


def _size(block: Block) -> int:
    """The number of assignments and branches."""
    total = 0
    for statement in block:
        match statement:
            case Emit(updates) | Merge(_, updates):
                total += len(updates)
            case Branch(_, then, otherwise):
                total += 2 + _size(then) + _size(otherwise)
            case SetTemp() | Stopped():
                total += 1
            case _:
                assert_never(statement)
    return total


def _option(graph: Graph, instance: Instance, block: Block) -> Option:
    asked = graph.and_(*instance.guard, _enabled(graph, block, {})[0])
    exact = _written_size(asked) <= _GUARD_NODES_MAX
    guard = _parts(asked if exact else graph.all_of(instance.guard))
    settled = _Settled(graph, exact).block(block)
    return Option(instance, guard, _without_unused(settled), exact)


def _parts(guard: Node) -> tuple[Node, ...]:
    """What has to hold, the cheapest first."""
    return tuple(sorted(guard.operands if guard.operator == "and" else (guard,), key=_written_size))


def _written_size(root: Node) -> int:
    sizes: dict[Node, int] = {}
    for node in reachable([root]):
        sizes[node] = 1 + sum(sizes[operand] for operand in node.operands)
    return sizes[root]


# ---- where a block has an outcome ----


def _said(graph: Graph, node: Node, known: Known) -> Node:
    """The node with what is known put in."""

    def leaf(item: Node) -> Node:
        if item.operator == "temp":
            return known.get((item.number, -1), item)
        return known.get((item.number, item.detail), item) if item.operator == "part" else item

    return replaced(graph, node, leaf) if known else node


def _after(graph: Graph, statement: Statement, known: Known) -> Known:
    """What is known after a statement."""
    match statement:
        case SetTemp(temp, value):
            return {**known, (temp, -1): _said(graph, value, known)}
        case Merge(merge, parts):
            return {**known, **{(merge, part.slot): _said(graph, part.value, known) for part in parts}}
        case Branch(condition, then, otherwise):
            sides = [known, known]
            for number, side in enumerate((then, otherwise)):
                for inner in side:
                    sides[number] = _after(graph, inner, sides[number])
            return _joined(graph, _said(graph, condition, known), *sides)
        case Emit() | Stopped():
            return known
        case _:
            assert_never(statement)


def _joined(graph: Graph, condition: Node, then: Known, otherwise: Known) -> Known:
    """What is known where two sides meet; what one side alone has set is asked for on that side alone."""
    result = dict(then)
    for name, value in otherwise.items():
        result[name] = graph.select(condition, then[name], value) if name in then else value
    return result


def _enabled(graph: Graph, block: Block, known: Known) -> tuple[Node, Known]:
    """Where a block has a step, and what is known after it. Names that are not known stay as they are."""
    some = graph.zero
    for statement in block:
        match statement:
            case Emit():
                some = graph.one
            case Branch(condition, then, otherwise):
                first, after_first = _enabled(graph, then, known)
                second, after_second = _enabled(graph, otherwise, known)
                test = _said(graph, condition, known)
                some = graph.or_(some, _either(graph, test, first, second))
                known = _joined(graph, test, after_first, after_second)
            case Stopped():
                pass
            case SetTemp() | Merge():
                known = _after(graph, statement, known)
            case _:
                assert_never(statement)
    return some, known


def _either(graph: Graph, test: Node, then: Node, otherwise: Node) -> Node:
    if then is otherwise:
        return then
    return graph.or_(graph.and_(test, then), graph.and_(graph.not_(test), otherwise))


# ---- choices ----


class _Separated(Struct, frozen=True):
    """Takes blocks apart into blocks that have one outcome at most."""

    graph: Graph

    def separated(self, block: Block, known: Known, needed: Names) -> list[Block]:
        """The parts of a block: the least number that this finds, none for a block without a step. `needed`: the
        names that are read after it."""
        graph = self.graph
        plain: Block = ()
        groups: list[tuple[list[Statement], list[Node]]] = []
        for index, statement in enumerate(block):
            after = needed | _names(_read(block[index + 1 :]))
            for outcome in self.outcomes(statement, known, after):
                where = _enabled(graph, (outcome,), known)[0]
                for members, conditions in groups:
                    if all(graph.and_(where, other) is graph.zero for other in conditions):
                        members.append(outcome)
                        conditions.append(where)
                        break
                else:
                    groups.append(([outcome], [where]))
            known = _after(graph, statement, known)
            plain += _without_unused(_plain((statement,)), after)
        return [(*plain, *members) for members, _ in groups]

    def outcomes(self, statement: Statement, known: Known, needed: Names) -> list[Statement]:
        """The parts of a statement that has outcomes."""
        match statement:
            case Emit():
                return [statement]
            case Branch(condition, then, otherwise):
                first, second = (self.separated(side, known, needed) for side in (then, otherwise))
                more = max(len(first), len(second))
                first += [()] * (more - len(first))
                second += [()] * (more - len(second))
                return [Branch(condition, *sides) for sides in zip(first, second, strict=True)]
            case SetTemp() | Merge() | Stopped():
                return []
            case _:
                assert_never(statement)


def _plain(block: Block) -> Block:
    """What a block does for those that come after it."""
    result: Block = ()
    for statement in block:
        match statement:
            case SetTemp() | Merge():
                result += (statement,)
            case Branch(condition, then, otherwise):
                result += (Branch(condition, _plain(then), _plain(otherwise)),)
            case Emit() | Stopped():
                pass
            case _:
                assert_never(statement)
    return result


# ---- one outcome ----


class _Settled(Struct, frozen=True):
    """Makes every path of a block with one outcome at most end in an `Emit`: `exact`, by leaving out tests that the
    guard has made; else by standing still."""

    graph: Graph
    exact: bool

    def block(self, block: Block) -> Block:
        plain: Block = ()
        outcomes: list[Statement] = []
        for statement in block:
            if self.enabled((statement,)) is self.graph.zero:
                plain += _plain((statement,))
            else:
                outcomes.append(statement)
        return plain + self.chain(outcomes)

    def chain(self, outcomes: list[Statement]) -> Block:
        if not outcomes:
            return (Emit(()),)
        first, *rest = outcomes
        if not rest:
            return self.statement(first)
        return (Branch(self.enabled((first,)), self.statement(first), self.chain(rest)),)

    def statement(self, statement: Statement) -> Block:
        if not isinstance(statement, Branch):
            return (statement,)
        sides = statement.then, statement.otherwise
        possible = [side for side in sides if self.enabled(side) is not self.graph.zero]
        if self.exact and len(possible) == 1:
            return self.block(possible[0])
        then, otherwise = (self.block(side) for side in sides)
        return then if then == otherwise else (Branch(statement.condition, then, otherwise),)

    def enabled(self, block: Block) -> Node:
        return _enabled(self.graph, block, {})[0]


def _without_unused(block: Block, needed: Names = frozenset()) -> Block:
    """The block without temporaries that neither it nor what comes after it reads."""
    while True:
        kept = _with_names(block, needed | _names(_read(block)))
        if kept == block:
            return block
        block = kept


def _names(roots: list[Node]) -> Names:
    """The temporaries and merged slots that expressions read."""
    found = (node for node in reachable(roots) if node.operator in ("temp", "part"))
    return frozenset((node.number, node.detail if node.operator == "part" else -1) for node in found)


def _read(block: Block) -> list[Node]:
    found: list[Node] = []
    for statement in block:
        match statement:
            case Branch(condition, then, otherwise):
                found += [condition, *_read(then), *_read(otherwise)]
            case SetTemp(_, value):
                found.append(value)
            case Emit(updates) | Merge(_, updates):
                found += [update.value for update in updates]
            case Stopped():
                pass
            case _:
                assert_never(statement)
    return found


def _with_names(block: Block, used: Names) -> Block:
    result: Block = ()
    for statement in block:
        match statement:
            case SetTemp(temp, _):
                result += (statement,) if (temp, -1) in used else ()
            case Merge(merge, parts):
                kept = tuple(part for part in parts if (merge, part.slot) in used)
                result += (Merge(merge, kept),) if kept else ()
            case Branch(condition, then, otherwise):
                sides = _with_names(then, used), _with_names(otherwise, used)
                result += (Branch(condition, *sides),) if any(sides) else ()
            case Emit() | Stopped():
                result += (statement,)
            case _:
                assert_never(statement)
    return result
