"""Assignments: where they write, and what may be written there."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec.structs import replace

from hacheck.compile.lowering.access_paths import at, field_of, position
from hacheck.compile.lowering.blocks import Block
from hacheck.compile.lowering.control_path import Going, Path, Work, branch, checked, harmless
from hacheck.compile.lowering.expression_graph import Graph
from hacheck.compile.lowering.expression_nodes import Node
from hacheck.compile.lowering.expressions import evaluate, with_blanks
from hacheck.compile.lowering.layout import Group, Place, Series
from hacheck.compile.lowering.let_binding import let_bound
from hacheck.compile.lowering.operations import type_violations
from hacheck.compile.lowering.path_conditions import simplify
from hacheck.compile.lowering.scope import Context, Scope
from hacheck.compile.lowering.symbolic_values import (
    Items,
    Parts,
    Scalar,
    Sym,
    choose,
    constant,
    lowest,
    normal,
    write,
)
from hacheck.model.ir import Assign, Constant, Local, Target, Variable
from hacheck.model.types import Map, Record, Sequence, Type, member


def assign(
    context: Context, path: Path, statement: Assign, go: Callable[[Path], Block], last: bool, rest: Work
) -> Going | Block:
    """The path after an assignment, or if it may fail or divides the path, the block that assigns and goes on. `last`:
    nothing but the step's end comes after."""
    graph, root, name = context.graph, statement.target.root, statement.target.root.name
    scope = path.scope(context)
    value = evaluate(statement.value, scope)
    keys = [part if isinstance(part, str) else evaluate(part, scope) for part in statement.target.path]
    whole = context.places[name] if isinstance(root, Variable) else scope.locals[name][1]
    indices, kind = _indices(scope, root.type, whole, keys)
    for check in type_violations(graph, kind, value, graph.one, name):
        scope.demand(check)
    before, fitted = let_bound(context, kind, normal(graph, kind, with_blanks(graph, kind, statement.value, value)))
    sure = harmless(context, path, scope.checks)
    if isinstance(root, Local):
        stored = _put(graph, root.type, scope.locals[name][1], indices, fitted)
        local = (scope.locals[name][0], stored)
        if sure:
            return Going(path.binding({**path.locals, name: local}), rest, before)
        return checked(
            context,
            path,
            scope.checks,
            lambda after: before + go(after.binding({**after.locals, name: local})),
        )
    place = context.places[name]
    if sure and all(index.is_const for index in indices):
        for index in indices:
            assert isinstance(place, Group | Series), f"part of {place}"
            place = place.items[index.number]
        return Going(_written(context, path, graph.one, place, fitted), rest, before)
    return checked(
        context,
        path,
        scope.checks,
        lambda after: before + _store(context, after, place, indices, fitted, go, last),
    )


def assign_constants(context: Context, path: Path, work: Work) -> Going | None:
    """The path after all assignments with which the work begins that cannot fail and give what is known beforehand;
    `None` when there is none."""
    found: list[Mapping[int, Node]] = []
    rest = work
    while rest is not None and isinstance(rest[0], Assign):
        writes = _constant_writes(context, path, rest[0])
        if writes is None:
            break
        found.append(writes)
        rest = rest[1]
    if not found:
        return None
    slots = dict(path.slots)
    for writes in found:
        slots.update(writes)
    return Going(path.writing(slots), rest)


def _constant_writes(context: Context, path: Path, statement: Assign) -> Mapping[int, Node] | None:
    """What a constant of the right type sets in a place that is known here. Most assignments of handlers with several
    steps are of this kind: they forget what was kept."""
    if not isinstance(statement.value, Constant) or not isinstance(statement.target.root, Variable):
        return None
    keys = _known_keys(path, statement.target)
    if keys is None:
        return None
    key = id(statement), *keys
    if key not in context.writes:
        found, value = _known_place(context, statement.target, keys), statement.value.value
        fits = found is not None and member(found[0], value)
        writes = None
        if found is not None and fits:
            writes = dict(write(context.graph, found[1], constant(context.graph, found[0], value)))
        context.writes[key] = writes
    return context.writes[key]


def _known_keys(path: Path, target: Target) -> tuple[int, ...] | None:
    """The keys of a target, if all of them are locals that are known here."""
    keys: tuple[int, ...] = ()
    for step in target.path:
        if not isinstance(step, str):
            key = path.locals[step.name][1] if isinstance(step, Local) else None
            if not isinstance(key, Scalar) or not key.node.is_const:
                return None
            keys += (key.node.number,)
    return keys


def _known_place(context: Context, target: Target, keys: tuple[int, ...]) -> tuple[Type, Place] | None:
    """Where a target with these keys writes and the type of what is there, if nothing can be wrong with them."""
    kind, place, left = target.root.type, context.places[target.root.name], iter(keys)
    for step in target.path:
        if isinstance(step, str):
            index, inner = field_of(kind, step)
        elif isinstance(kind, Map):
            index, inner = next(left) - lowest(kind.key), kind.value
        else:
            return None
        assert isinstance(place, Group), f"part of {place}"
        if not 0 <= index < len(place.items):
            return None
        kind, place = inner, place.items[index]
    return kind, place


def _indices(scope: Scope, kind: Type, whole: Place | Sym, keys: list[Sym | str]) -> tuple[list[Node], Type]:
    """The place of each step of a target's path among its siblings, and the type of what the path leads to."""
    cursor, indices = whole, []
    for key in keys:
        if isinstance(key, str):
            place, inner = field_of(kind, key)
            index = scope.graph.const(place)
        else:
            index = position(scope, kind, cursor, key)
            assert isinstance(kind, Map | Sequence), f"index into {kind}"
            inner = kind.value if isinstance(kind, Map) else kind.element
        indices.append(index)
        cursor, kind = at(scope, kind, cursor, index), inner  # type: ignore[assignment]
    return indices, kind


def _store(
    context: Context,
    path: Path,
    place: Place,
    indices: list[Node],
    value: Sym,
    go: Callable[[Path], Block],
    last: bool,
) -> Block:
    """Writes to a state variable: one path for each place that a key may name, or a choice in every slot."""
    graph = context.graph
    spots = [
        (condition, spot)
        for condition, spot in _spots(graph, place, [simplify(graph, path.facts, index) for index in indices])
        if path.where(context, condition) is not None
    ]
    if len(spots) <= max(path.budget, 8 if last else 1):
        block: Block = ()
        for number, (condition, spot) in enumerate(reversed(spots)):
            there = path.where(context, condition)
            assert there is not None, "a place that can be named"
            there = there.with_budget(path.budget // len(spots))
            written = go(_written(context, there, graph.one, spot, value))
            block = written if number == 0 else branch(condition, written, block)
        return block
    for condition, spot in spots:
        path = _written(context, path, condition, spot, value)
    return go(path)


def _spots(graph: Graph, place: Place, indices: list[Node]) -> list[tuple[Node, Place]]:
    """Every place that the indices may lead to, with the condition under which they do."""
    if not indices:
        return [(graph.one, place)]
    assert isinstance(place, Group | Series), f"part of {place}"
    index, rest = indices[0], indices[1:]
    return [
        (graph.and_(graph.eq(index, graph.const(number)), condition), spot)
        for number, item in enumerate(place.items)
        if graph.eq(index, graph.const(number)) is not graph.zero
        for condition, spot in _spots(graph, item, rest)
    ]


def _written(context: Context, path: Path, condition: Node, spot: Place, value: Sym) -> Path:
    slots = dict(path.slots)
    for slot, content in write(context.graph, spot, value):
        old = slots.get(slot, context.slot(slot))
        slots[slot] = context.graph.select(condition, content, old)
    return path.writing(slots)


def _put(graph: Graph, kind: Type, whole: Sym, indices: list[Node], value: Sym) -> Sym:
    """A local's value with one part replaced."""
    if not indices:
        return value
    assert isinstance(whole, Parts | Items), f"part of {whole}"
    items = []
    for number, item in enumerate(whole.items):
        here = graph.eq(indices[0], graph.const(number))
        if here is graph.zero:
            items.append(item)
            continue
        inner = dict(enumerate(f for _, f in kind.fields))[number] if isinstance(kind, Record) else _inner(kind)
        items.append(choose(graph, inner, here, _put(graph, inner, item, indices[1:], value), item))
    return replace(whole, items=tuple(items))


def _inner(kind: Type) -> Type:
    assert isinstance(kind, Map | Sequence), f"part of {kind}"
    return kind.value if isinstance(kind, Map) else kind.element
