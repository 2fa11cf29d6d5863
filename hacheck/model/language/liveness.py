"""Which locals of a handler of several steps must be kept from one step to the next, and where they are forgotten."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hacheck.model import ir
from hacheck.model import types as ty
from hacheck.model.language.context import Halt
from hacheck.model.language.handlers import GoTo, Made
from hacheck.model.language.threads import IDLE
from hacheck.model.rewrite import walk

if TYPE_CHECKING:
    from hacheck.model.language.handlers import Handler


def frames_read(body: Made, names: set[str]) -> set[str]:
    """The kept locals that a stretch reads before it has written them."""
    read: set[str] = set()
    written: set[str] = set()
    for statement in body:
        here = _reads(statement, names)
        read |= here - written
        if isinstance(statement, ir.Assign) and len(statement.target.path) == 1:
            written.add(statement.target.root.name)
    return read


def _reads(statement: Any, names: set[str]) -> set[str]:
    match statement:
        case ir.Assign(target, value):
            found = _named(value, names)
            for step in target.path[1:]:
                found |= {target.root.name} & names
                if not isinstance(step, str):
                    found |= _named(step, names)
            return found
        case ir.If(condition, then, otherwise):
            return _named(condition, names) | frames_read(then, names) | frames_read(otherwise, names)
        case ir.ForEach(_, domain, inner):
            return _named(domain, names) | frames_read(inner, names)
        case GoTo() | Halt():
            return set()
        case _:
            return _named(statement, names)


def _named(node: Any, names: set[str]) -> set[str]:
    return {part.name for part in walk(node) if isinstance(part, ir.Variable) and part.name in names}


def jumps(body: Made) -> set[str]:
    """The points at which a stretch may end."""
    found: set[str] = set()
    for statement in body:
        match statement:
            case GoTo(str() as point):
                found.add(point)
            case ir.If(_, then, otherwise):
                found |= jumps(then) | jumps(otherwise)
            case _:
                continue
    return found


def live(handler: Handler) -> dict[str, frozenset[str]]:
    """For each point, the kept locals that a later step may read."""
    names = set(handler.frames)
    needed = {
        point: frames_read(segment.body, names) | _named(segment.condition, names)
        for point, segment in handler.segments.items()
    }
    changed = True
    while changed:
        changed = False
        for point, segment in handler.segments.items():
            killed = _killed(segment.body, names)
            more = set().union(*(needed[after] for after in jumps(segment.body))) - killed - needed[point]
            if more:
                needed[point] |= more
                changed = True
    return {point: frozenset(found) for point, found in needed.items()}


def _killed(body: Made, names: set[str]) -> set[str]:
    """Kept locals that a stretch certainly writes anew."""
    killed: set[str] = set()
    for statement in body:
        if isinstance(statement, ir.Assign) and len(statement.target.path) == 1 and statement.target.root.name in names:
            killed.add(statement.target.root.name)
    return killed


def settle(handler: Handler, point: str, body: Made, alive: dict[str, frozenset[str]]) -> Made:
    """The stretch with each of its ends told as assignments: the handler's place, and locals nobody reads any more."""
    held = alive.get(point, frozenset()) | _written(body, set(handler.frames))
    return _settle(handler, body, held, alive)


def _written(body: Made, names: set[str]) -> set[str]:
    found: set[str] = set()
    for statement in body:
        match statement:
            case ir.Assign(target, _) if target.root.name in names:
                found.add(target.root.name)
            case ir.If(_, then, otherwise):
                found |= _written(then, names) | _written(otherwise, names)
            case ir.ForEach(_, _, inner):
                found |= _written(inner, names)
            case _:
                continue
    return found


def _settle(handler: Handler, body: Made, held: frozenset[str] | set[str], alive: dict[str, frozenset[str]]) -> Made:
    made: list[ir.Statement] = []
    for statement in body:
        match statement:
            case GoTo(after):
                made.extend(_place(handler, after or IDLE, set(held) - alive.get(after or IDLE, frozenset())))
            case ir.If(condition, then, otherwise):
                sides = (_settle(handler, side, held, alive) for side in (then, otherwise))
                made.append(ir.If(condition, *sides))
            case _:
                made.append(statement)
    return tuple(made)


def _place(handler: Handler, point: str, forgotten: set[str]) -> Made:
    at = handler.context.variable(f"{handler.kind.name}.{handler.thread}")
    assert isinstance(at.type, ty.Map)
    made: list[ir.Statement] = [
        ir.Assign(ir.Target(at, (handler.actor,)), ir.Constant(point, at.type.value))
    ]
    for name in sorted(forgotten & set(handler.frames)):
        kind = handler.frames[name]
        target = ir.Target(ir.Variable(name, ty.Map(handler.kind, kind)), (handler.actor,))
        made.append(ir.Assign(target, ir.Constant(ty.default(kind), kind)))
    return tuple(made)


