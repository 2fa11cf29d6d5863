"""Which locals of a handler of several steps must be kept from one step to the next, and where they are forgotten.

A kept local is read or written as a whole by most statements; `live_before` goes through a stretch backwards from what
its ends need. A local that may be read later is never dropped; one that cannot is put back to its type's first value,
so that it does not make states differ.
"""

from __future__ import annotations

from collections.abc import Mapping, Set

from hacheck.model import ir
from hacheck.model import types as ty
from hacheck.model.language.context import Halt
from hacheck.model.language.handlers import GoTo, Handler, Made
from hacheck.model.language.kept_locals import KeptLocal
from hacheck.model.language.threads import IDLE
from hacheck.model.rewrite import Tree, parts, statements

Needed = Mapping[str, Set[str]]
"""For each point the kept locals that may be read after it."""


def live(handler: Handler) -> dict[str, frozenset[str]]:
    """For each point, the kept locals that a later step may read. Cost: the handler's size, times its loops' depth."""
    reads = _Reads(frozenset(handler.frames))
    needed: dict[str, frozenset[str]] = dict.fromkeys(handler.segments, frozenset())
    changed = True
    while changed:
        changed = False
        for point, segment in handler.segments.items():
            found = live_before(segment.body, reads, needed, frozenset()) | reads.of(segment.condition)
            if found != needed[point]:
                needed[point] = found
                changed = True
    return needed


class _Reads:
    """Which kept locals each part of a handler reads. It is called again and again; the handler holds the parts."""

    def __init__(self, names: frozenset[str]) -> None:
        self.names = names
        self._known: dict[int, frozenset[str]] = {}

    def of(self, node: Tree) -> frozenset[str]:
        found = self._known.get(id(node))
        if found is None:
            found = self._known[id(node)] = self.names.intersection(_variables(node))
        return found


def _variables(node: Tree) -> set[str]:
    found: set[str] = set()
    waiting = [node]
    while waiting:
        part = waiting.pop()
        if isinstance(part, ir.Variable):
            found.add(part.name)
        else:
            waiting += parts(part)
    return found


def live_before(body: Made, reads: _Reads, needed: Needed, after: frozenset[str]) -> frozenset[str]:
    """The kept locals that the stretch may read before it has written them anew, or that are needed after it."""
    alive = after
    for statement in reversed(body):
        match statement:
            case GoTo(_, point):
                alive = frozenset() if point is None else frozenset(needed.get(point, frozenset()))
            case Halt():
                alive = frozenset()
            case ir.If(condition, then, otherwise):
                sides = (live_before(side, reads, needed, alive) for side in (then, otherwise))
                alive = reads.of(condition).union(*sides)
            case ir.ForEach(_, domain, inner):
                # An earlier turn's value may be read by a later one.
                touched = frozenset().union(*(reads.of(one) for one in inner))
                alive |= reads.of(domain) | live_before(inner, reads, needed, frozenset()) | touched
            case ir.Assign(ir.Target(root, (_,)), value) if root.name in reads.names:
                # A kept local as a whole: its key is the acting node, which is no local that is kept.
                alive = (alive - {root.name}) | reads.of(value)
            case _:
                alive |= reads.of(statement)
    return alive


def outliving(handler: Handler) -> frozenset[str]:
    """The variables of locals that are not kept although a later step than theirs assigns them.

    Nobody reads there what they were before, but the step must have something to assign.
    """
    found: set[str] = set()
    for segment in handler.segments.values():
        inside = list(statements(segment.body))
        declared = {part.name for part in inside if isinstance(part, ir.Let)}
        assigned = {part.target.root.name for part in inside if isinstance(part, ir.Assign)}
        found |= {handler.passing[name] for name in assigned - declared if name in handler.passing}
    return frozenset(found)


def _written(body: Made, names: frozenset[str]) -> frozenset[str]:
    """Kept locals that the stretch may write."""
    roots = (part.target.root.name for part in statements(body) if isinstance(part, ir.Assign))
    return names.intersection(roots)


def claims(handler: Handler, alive: Needed) -> list[KeptLocal]:
    """What is relied on: from which points each kept local may still be read."""
    found = []
    for span, numbered in handler.names.items():
        name = f"{handler.kind.name}.{handler.name}.{numbered}"
        if name in handler.frames:
            points = frozenset(point for point, needed in alive.items() if name in needed)
            word, start = handler.words[span], span.start if span.end else -1
            found.append(KeptLocal(name, handler.kind.name, handler.name, word, start, points))
    return found


# ---- the ends of steps ----


def settle(handler: Handler, point: str, body: Made, alive: Needed) -> Made:
    """The stretch with each of its ends made assignments: the handler's place, and locals nobody reads any more."""
    held = alive.get(point, frozenset()) | _written(body, frozenset(handler.frames))
    return _settle(handler, body, held, alive)


def _settle(handler: Handler, body: Made, held: Set[str], alive: Needed) -> Made:
    made: list[ir.Statement] = []
    for statement in body:
        match statement:
            case GoTo(_, None):
                made.extend(_place(handler, IDLE, held))
            case GoTo(_, str() as after):
                made.extend(_place(handler, after, held - alive.get(after, frozenset())))
            case ir.If(condition, then, otherwise):
                first, second = (_settle(handler, side, held, alive) for side in (then, otherwise))
                made.append(ir.If(condition, first, second))
            case _:
                made.append(statement)
    return tuple(made)


def _place(handler: Handler, point: str, forgotten: Set[str]) -> Made:
    at = handler.context.variable(f"{handler.kind.name}.{handler.thread}")
    assert isinstance(at.type, ty.Map)
    made: list[ir.Statement] = [ir.Assign(ir.Target(at, (handler.actor,)), ir.Constant(point, at.type.value))]
    for name in sorted(forgotten & set(handler.frames)):
        kind = handler.frames[name]
        target = ir.Target(ir.Variable(name, ty.Map(handler.kind, kind)), (handler.actor,))
        made.append(ir.Assign(target, ir.Constant(ty.default(kind), kind)))
    return tuple(made)
