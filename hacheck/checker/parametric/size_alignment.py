"""Two systems of different sizes side by side: the one that stands for both, or what else differs.

They are compared as the text has them, before anything is folded: `n > 6` is false at every size that is tried, and
still decides something.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from hacheck.checker.parametric.encoding_context import Unsupported
from hacheck.model import ir
from hacheck.model.language.constant_folding import fold, fold_body
from hacheck.model.render import show_expression
from hacheck.model.rewrite import conjuncts
from hacheck.model.types import (
    Bag,
    Identity,
    Map,
    Node,
    Option,
    Range,
    Record,
    Sequence,
    Set,
    Type,
    Value,
    values,
)

OPEN = 10**15
"""The upper bound of a range that a varied setting gives, or something past every bound of a spec."""


class Differs(Exception):
    """The systems of two sizes differ in more than sizes."""


Differences = Mapping[str, tuple[int, int]]


def aligned(first: ir.System, second: ir.System, varied: Differences) -> ir.System:
    """The first system with names for what differs. Errors: `Differs`."""
    if [one.name for one in first.variables] != [one.name for one in second.variables]:
        raise Differs("it has other variables")
    if [one.name for one in first.actions] != [one.name for one in second.actions]:
        raise Differs("it has other actions")
    return replace(
        first,
        nodes=_aligned(first.nodes, second.nodes, varied, "nodes"),
        variables=tuple(
            _variable(one, other, varied) for one, other in zip(first.variables, second.variables, strict=True)
        ),
        initial=_aligned(first.initial, second.initial, varied, "the start"),
        actions=tuple(
            _aligned(one, other, varied, one.name) for one, other in zip(first.actions, second.actions, strict=True)
        ),
        properties=tuple(
            _aligned(one, other, varied, one.name)
            for one, other in zip(first.properties, second.properties, strict=True)
        ),
    )


def _variable(first: ir.StateVariable, second: ir.StateVariable, varied: Differences) -> ir.StateVariable:
    kind = _aligned(first.type, second.type, varied, first.name)
    if first.role != "budget" and not _same_shape(first.type, first.initial, second.type, second.initial):
        raise Differs(f"{first.name} begins as something else")
    return replace(first, type=kind)


def _aligned(first: Any, second: Any, varied: Differences, where: str) -> Any:
    match first, second:
        case Range(low, high, counter), Range():
            if low != second.low:
                raise Differs(f"in {where} numbers begin elsewhere")
            return Range(low, high if high == second.high else OPEN, counter)
        case (Node(), Node()) | (Identity(), Identity()) if first.name == second.name:
            return first
        case (Sequence(), Sequence()) | (Bag(), Bag()):
            return replace(first, element=_aligned(first.element, second.element, varied, where))
        case ir.Constant(), ir.Constant():
            return _constant(first, second, varied, where)
    if type(first) is not type(second):
        raise Differs(f"in {where} other expressions stand")
    if isinstance(first, tuple):
        if len(first) != len(second):
            raise Differs(f"in {where} there is more or less")
        return tuple(_aligned(one, other, varied, where) for one, other in zip(first, second, strict=True))
    if isinstance(first, Struct):
        parts = {
            name: _aligned(getattr(first, name), getattr(second, name), varied, where)
            for name in first.__struct_fields__
        }
        return replace(first, **parts)
    if first != second:
        raise Differs(f"in {where} {first} becomes {second}")
    return first


def _constant(first: ir.Constant, second: ir.Constant, varied: Differences, where: str) -> ir.Expression:
    if isinstance(first.type, Range) and isinstance(second.type, Range):
        if first.value == second.value:
            return first
        for name, (one, other) in varied.items():
            if first.value - one == second.value - other:
                setting = ir.Local(name, Range(0, OPEN))
                more = first.value - one
                return setting if more == 0 else ir.Binary("+", setting, ir.Constant(more, Range(more, more)))
        raise Differs(f"in {where} {first.value} becomes {second.value}")
    kind = _aligned(first.type, second.type, varied, where)
    if not _same_shape(first.type, first.value, second.type, second.value):
        raise Differs(f"in {where} another constant stands")
    return ir.Constant(first.value, kind if not _holds_range(first.type) else first.type)


def _holds_range(kind: Type) -> bool:
    match kind:
        case Range():
            return True
        case Option(element) | Set(element) | Sequence(element, _) | Bag(element, _):
            return _holds_range(element)
        case Map(key, value):
            return _holds_range(key) or _holds_range(value)
        case Record(_, parts):
            return any(_holds_range(part) for _, part in parts)
        case _:
            return False


def _same_shape(first: Type, one: Value, second: Type, other: Value) -> bool:
    """Whether two values are the same but for the sizes of their types."""
    match first, second:
        case Option(inner), Option(outer):
            if one is None or other is None:
                return one is None and other is None
            return _same_shape(inner, one, outer, other)
        case Set(inner), Set(outer) if isinstance(inner, Node) and isinstance(outer, Node) and len(one) > 1:
            return one == other if inner.size == outer.size else _is_all(inner, one) and _is_all(outer, other)
        case Map(key, inner), Map(other_key, outer):
            if key == other_key:
                return all(_same_shape(inner, a, outer, b) for a, b in zip(one, other, strict=True))
            return len(set(one)) == len(set(other)) == 1 and _same_shape(inner, one[0], outer, other[0])
        case Record(_, parts), Record(_, others):
            pairs = zip(parts, one, others, other, strict=True)
            return all(_same_shape(part, a, part_2, b) for (_, part), a, (_, part_2), b in pairs)
        case _:
            return bool(one == other)


def _is_all(kind: Node, value: Value) -> bool:
    return bool(value == frozenset(values(kind)))


def merged(base: Any, first: Any, second: Any) -> Any:
    """Two ways in which one system was generalised, together."""
    if first == base:
        return second
    if second == base or first == second:
        return first
    if isinstance(base, tuple):
        return tuple(merged(*three) for three in zip(base, first, second, strict=True))
    if isinstance(base, Struct) and type(base) is type(first) is type(second):
        parts = {
            name: merged(getattr(base, name), getattr(first, name), getattr(second, name))
            for name in base.__struct_fields__
        }
        return replace(base, **parts)
    raise Unsupported("two settings make a difference at one place")


# ---- what had to have a value ------------------------------------------------------------------------------------


def require_same(first: tuple[ir.Expression, ...], second: tuple[ir.Expression, ...]) -> None:
    """That whatever had a value before there was a system, at two sizes, is the same or says of what size it is. Where
    it is worked out from a size, its value at other sizes is not known. Errors: `Differs`."""
    if len(first) != len(second):
        raise Differs("other things have to have a value")
    for one, other in zip(first, second, strict=True):
        if not _says_the_same(one, other):
            raise Differs(f"`{show_expression(one)}`, which has to have a value, is worked out from it")


def _says_the_same(one: Any, other: Any) -> bool:
    match one, other:
        case ir.Constant(), ir.Constant():
            return True  # of what is made of it that is compared itself
        case ir.Binary("+" | "-", left, right), ir.Binary("+" | "-", left_too, right_too):
            return _says_the_same(left, left_too) and _says_the_same(right, right_too)
        case ir.SetOf(name, ir.Domain(_, None, None), ir.Local(item)), ir.SetOf():
            return item == name
        case ir.MapOf(_, _, item), ir.MapOf(_, _, item_too):
            return _says_the_same(item, item_too)
        case ir.MakeCollection(_, items), ir.MakeCollection(_, items_too):
            return len(items) == len(items_too) and all(map(_says_the_same, items, items_too))
        case ir.MakeRecord(_, items), ir.MakeRecord(_, items_too):
            return all(map(_says_the_same, items, items_too))
        case ir.Unary("some", operand), ir.Unary("some", operand_too):
            return _says_the_same(operand, operand_too)
        case _:
            return bool(one == other)


# ---- folding what is the same at every size ----------------------------------------------------------------------


def folded(system: ir.System, kinds: frozenset[str]) -> tuple[ir.System, tuple[int, ...]]:
    """The system with all folded that is known whatever the sizes are, and which actions are left, by place: all but
    those that never happen. `kinds`: those of which there may be any number of nodes."""

    def is_open(kind: Type) -> bool:
        match kind:
            case Node(name):
                return name in kinds
            case Range(_, high):
                return high >= OPEN
            case Identity():
                return True
            case Option(element) | Set(element) | Sequence(element, _) | Bag(element, _):
                return is_open(element)
            case Map(key, value):
                return is_open(key) or is_open(value)
            case Record(_, parts):
                return any(is_open(part) for _, part in parts)
            case _:
                return False

    actions: dict[int, ir.Action] = {}
    for place, action in enumerate(system.actions):
        guard = fold(action.guard, is_open)
        if ir.FALSE not in conjuncts(guard):
            actions[place] = replace(action, guard=guard, body=fold_body(action.body, is_open))
    made = replace(
        system,
        initial=fold_body(system.initial, is_open),
        actions=tuple(actions.values()),
        properties=tuple(
            replace(
                one,
                goal=fold(one.goal, is_open),
                premise=None if one.premise is None else fold(one.premise, is_open),
            )
            for one in system.properties
        ),
    )
    return made, tuple(actions)
