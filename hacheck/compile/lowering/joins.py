"""Where two branches meet again: what differs between their ends becomes temporaries."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, assert_never

from hacheck.compile.lowering.blocks import Block, Branch, Emit, Merge, SetTemp, Stopped, Update
from hacheck.compile.lowering.control_path import End, Leave, Path, Work, branch, push
from hacheck.compile.lowering.expression_nodes import Node
from hacheck.compile.lowering.scope import Context
from hacheck.compile.lowering.symbolic_values import leaves, rebuilt
from hacheck.model.ir import Statement

Side: TypeAlias = tuple[Path, tuple[Statement | Leave, ...]]


def join(
    context: Context,
    path: Path,
    condition: Node,
    then: Side,
    otherwise: Side,
    go: Callable[[Path, Work], Block],
    rest: Work,
) -> Block:
    """Both branches, then the rest once for all their ends."""
    ends: list[Path] = []
    holes: dict[int, int] = {}  # an empty merge stands for what an end does for those who come after it

    def close(end: Path) -> Block:
        hole = next(context.temps)
        holes[hole] = len(ends)
        ends.append(end)
        return (Merge(hole, ()),)

    sides = [go(side, push((*statements, End(close)), None)) for side, statements in (then, otherwise)]
    divided = branch(condition, *sides)
    if not ends:
        return divided
    if len(ends) == 1:
        return _filled(divided, holes, [go(ends[0].with_budget(path.budget), rest)])
    merged, fills = _merged(context, path, ends)
    if _always_goes_on(divided, holes):
        return _filled(divided, holes, fills) + go(merged, rest)
    alive = next(context.temps)
    fills = [(*fill, SetTemp(alive, context.graph.one)) for fill in fills]
    going = context.graph.temp(alive, 0, 1)
    return (
        SetTemp(alive, context.graph.zero),
        *_filled(divided, holes, fills),
        *branch(going, go(merged, rest), ()),
    )


def _merged(context: Context, path: Path, ends: list[Path]) -> tuple[Path, list[Block]]:
    """The path after the ends have met, and what each end has to do for it."""
    graph = context.graph
    slots: dict[int, Node] = {}
    fills: list[Block] = [() for _ in ends]
    parts: list[list[Update]] = [[] for _ in ends]
    merge = next(context.temps)
    written = [end.slots for end in ends]
    for slot in sorted(set().union(*written)):
        before = context.slot(slot)
        contents = [content.get(slot, before) for content in written]
        if contents.count(contents[0]) == len(ends):
            slots[slot] = contents[0]
            continue
        intervals = [end.interval(content) for end, content in zip(ends, contents, strict=True)]
        low, high = min(low for low, _ in intervals), max(high for _, high in intervals)
        slots[slot] = graph.part(merge, slot, low, high)
        for end, content, part in zip(ends, contents, parts, strict=True):
            known, known_high = end.interval(before)
            part.append(Update(slot, content, known if known == known_high else None))
    if any(parts):
        fills = [(Merge(merge, tuple(part)),) for part in parts]
    locals_after = dict(ends[0].locals)  # the same names at every end
    for name, (kind, _) in locals_after.items():
        found = [end.locals[name][1] for end in ends]
        if all(value is found[0] for value in found):
            continue
        nodes = [leaves(value) for value in found]
        mixed = []
        for column in zip(*nodes, strict=True):
            if all(node is column[0] for node in column):
                mixed.append(column[0])
                continue
            temp = next(context.temps)
            mixed.append(graph.temp(temp, min(node.low for node in column), max(node.high for node in column)))
            fills = [(*fill, SetTemp(temp, node)) for fill, node in zip(fills, column, strict=True)]
        locals_after[name] = kind, rebuilt(found[0], iter(mixed))
    return path.writing(slots).binding(locals_after), fills


def _filled(block: Block, holes: dict[int, int], fills: list[Block]) -> Block:
    result: Block = ()
    for statement in block:
        match statement:
            case Merge(merge, _) if merge in holes:
                result += fills[holes[merge]]
            case Branch(condition, then, otherwise):
                sides = _filled(then, holes, fills), _filled(otherwise, holes, fills)
                result += branch(condition, *sides)
            case _:
                result += (statement,)
    return result


def _always_goes_on(block: Block, holes: dict[int, int]) -> bool:
    """Whether every way through the block comes to a hole."""
    if not block:
        return False
    last = block[-1]
    match last:
        case Branch(_, then, otherwise):
            return _always_goes_on(then, holes) and _always_goes_on(otherwise, holes)
        case Merge(merge, _):
            return merge in holes
        case Stopped() | Emit() | SetTemp():
            return False
        case _:
            assert_never(last)
