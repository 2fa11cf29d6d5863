"""The statements of a handler as a program that can stop at its points and go on from there.

`if`, `while` and `for` become jumps, procedures stand where they are called. A condition that the settings decide is
decided here, so that a handler has a point only where it can come to one under these settings.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from msgspec import Struct

from hacheck.model.direct.calls import CallSite
from hacheck.model.direct.domains import is_sequence
from hacheck.model.direct.interfaces import UnsupportedError
from hacheck.model.direct.machine import Blocked, Closure, Effect, Machine
from hacheck.model.direct.order import Order
from hacheck.model.direct.values import Bag, Value

INSTRUCTIONS_MAX = 100_000
"""So long may one step be; a loop that does not end is a mistake of the file."""


class Do(Struct, frozen=True):
    """A statement of which nothing more need be known here."""

    effect: Effect


class Jump(Struct, frozen=True):
    """Goes on elsewhere."""

    target: int


class Unless(Struct, frozen=True):
    """Goes on elsewhere where a condition does not hold."""

    condition: Closure
    target: int


class Turn(Struct, frozen=True):
    """The next turn of a `for`: takes one of the elements that are left, or leaves the loop.

    `stops`: whether turns have points; then elements without an order of their own may come in any.
    """

    rest: str
    key: str
    stops: bool
    end: int


class Point(Struct, frozen=True):
    """Where the handler waits. `conditions`: of going on; `locals`: what it keeps; `call`: that it waits for."""

    name: str
    holding: bool
    conditions: tuple[Closure, ...]
    locals: tuple[str, ...]
    call: CallSite | None = None


class End(Struct, frozen=True):
    """The handler has ended."""


Instruction: TypeAlias = Do | Jump | Unless | Turn | Point | End


class Program(Struct, frozen=True):
    """The code of a handler. `points`: where each of those it can come to stands."""

    code: tuple[Instruction, ...]
    points: dict[str, int]

    def point(self, name: str) -> Point:
        """The point of this name."""
        found = self.code[self.points[name]]
        assert isinstance(found, Point)
        return found


def linked(code: Sequence[Instruction]) -> Program:
    """A program of this code, with the points that can be reached from its beginning."""
    points: dict[str, int] = {}
    seen: set[int] = set()
    waiting = [0]
    while waiting:
        at = waiting.pop()
        if at in seen:
            continue
        seen.add(at)
        match code[at]:
            case Jump(target):
                waiting.append(target)
            case Unless(_, target) | Turn(end=target):
                waiting += [target, at + 1]
            case End():
                pass
            case Point(name):
                points[name] = at
                waiting.append(at + 1)
            case Do():
                waiting.append(at + 1)
    return Program(tuple(code), dict(sorted(points.items(), key=lambda item: item[1])))


def run(m: Machine, program: Program, begin: int, order: Order, through: bool = False) -> Point | None:
    """Runs up to the next point, or to the end. `through`: points do not stop, as in a service that is part of its
    caller's step; what they wait for must then be so at once."""
    at = begin
    for _ in range(INSTRUCTIONS_MAX):
        match program.code[at]:
            case Do(effect):
                effect(m)
                m.drawn.clear()
                at += 1
            case Jump(target):
                at = target
            case Unless(condition, target):
                at = at + 1 if condition(m) else target
            case Turn(end=end) as turn:
                at = at + 1 if _turn(m, turn, order) else end
            case Point() as point:
                if not through:
                    return point
                if point.call is not None:
                    raise UnsupportedError(f"`{point.name}` waits inside a step")
                if not all(condition(m) for condition in point.conditions):
                    raise Blocked
                at += 1
            case End():
                return None
    raise RecursionError(f"a step of `{m.handler}` has more than {INSTRUCTIONS_MAX:,} statements")


def _turn(m: Machine, turn: Turn, order: Order) -> bool:
    left: Value = m.local(turn.rest)
    if not left:
        del m.env[turn.rest]
        return False
    items = order.elements(left)
    free = turn.stops and not is_sequence(left) and not all(order.means_something(one) for one in items)
    chosen = m.pick(distinct(items)) if free else items[0]
    m.env[turn.key] = chosen
    if isinstance(left, Bag):
        m.env[turn.rest] = left.removing(chosen)
    else:
        m.env[turn.rest] = left - {chosen} if isinstance(left, frozenset) else left[1:]
    return True


def distinct(values: Sequence[Value]) -> list[Value]:
    """Each value once."""
    return list(dict.fromkeys(values))
