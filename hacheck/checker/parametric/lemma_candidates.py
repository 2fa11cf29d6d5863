"""Claims that a model's own fields suggest, one of which may be the lemma that is missing.

Each says of any two or three nodes: where some *facts* hold, another one does. A fact of one node is what a mode, a
flag or an optional field of it says; a fact of two is that one is in the other's set, is what its field names, or that
a message is under way between them. Numbers come with a node or with such a message; they are compared.

- what one node's fact says of the node itself (who leads has a majority);
- what a fact of two says of each of them, and of their numbers (a vote counted is of a term not after the voter's);
- what it says where the numbers are equal (then the voter remembers it);
- that two facts of one node with equal numbers are about the same other (nobody votes for two in one term).

Most candidates are wrong. Who asks for them keeps those that hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from msgspec import Struct

from hacheck.model import ir
from hacheck.model.rewrite import rebuild
from hacheck.model.types import Bool, Enum, Map, Node, Option, Range, Record, Set, Type

CANDIDATES_MAX = 6000
"""No more are made; the simplest come first."""
KEPT_ROLES = frozenset({"field", "shared", "channel", "lock", "status", "view"})


class Fact(Struct, frozen=True):
    """Something about one node or two, in terms of locals `a` (and `b`): a condition, and numbers that come with it."""

    nodes: tuple[Node, ...]
    condition: ir.Expression
    numbers: tuple[ir.Expression, ...] = ()


def candidates(system: ir.System, kinds: frozenset[str]) -> Iterator[ir.Property]:
    """Candidates for lemmas about nodes of these kinds, the simplest first, each once."""
    seen: dict[ir.Expression, None] = {}
    facts = [fact for variable in system.variables for fact in _facts(variable, kinds)]
    numbers = _numbers(system, kinds)
    for goal in _claims(facts, numbers):
        if goal not in seen:
            seen[goal] = None
            yield ir.Property(f"found {len(seen)}", "lemma", goal, None, (), "", "", 0)
        if len(seen) >= CANDIDATES_MAX:
            return


# ---- facts -------------------------------------------------------------------------------------------------------


def _local(name: str, kind: Node) -> ir.Local:
    return ir.Local(name, kind)


def _facts(variable: ir.StateVariable, kinds: frozenset[str]) -> Iterator[Fact]:
    if variable.role not in KEPT_ROLES:
        return
    whole = ir.Variable(variable.name, variable.type)
    yield from _of_value(whole, variable.type, (), kinds)


def _of_value(value: ir.Expression, kind: Type, nodes: tuple[Node, ...], kinds: frozenset[str]) -> Iterator[Fact]:
    """What a value says, which belongs to these nodes."""
    names = "ab"
    match kind:
        case Map(Node() as key, inner) if key.name in kinds and len(nodes) < 2:
            yield from _of_value(ir.Index(value, _local(names[len(nodes)], key)), inner, (*nodes, key), kinds)
        case Map(Node(size=1) as key, inner):
            yield from _of_value(ir.Index(value, ir.Constant(1, key)), inner, nodes, kinds)
        case Bool():
            yield Fact(nodes, value)
            yield Fact(nodes, ir.Unary("not", value))
        case Enum(_, members):
            for member in members:
                yield Fact(nodes, ir.Binary("==", value, ir.Constant(member, kind)))
                if len(members) > 2:
                    yield Fact(nodes, ir.Binary("!=", value, ir.Constant(member, kind)))
        case Option(element):
            yield from _of_option(value, kind, element, nodes, kinds)
        case Set(Node() as element) if element.name in kinds:
            if len(nodes) < 2:
                yield Fact((*nodes, element), ir.Binary("in", _local(names[len(nodes)], element), value))
            yield Fact(nodes, ir.Unary("majority", value))
            yield Fact(nodes, ir.Binary("==", value, ir.Constant(frozenset(), kind)))
        case _:
            return


def _of_option(
    value: ir.Expression, kind: Option, element: Type, nodes: tuple[Node, ...], kinds: frozenset[str]
) -> Iterator[Fact]:
    there = ir.Binary("!=", value, ir.Constant(None, kind))
    inside = ir.Unary("value", value)
    match element:
        case Node() if element.name in kinds and len(nodes) < 2:
            yield Fact((*nodes, element), ir.Binary("==", value, ir.Unary("some", _local("ab"[len(nodes)], element))))
            yield Fact(nodes, ir.Binary("==", value, ir.Constant(None, kind)))
        case Record(_, fields):
            numbers = tuple(ir.Member(inside, name) for name, part in fields if isinstance(part, Range))
            yield Fact(nodes, there, numbers)
        case Range():
            yield Fact(nodes, there, (inside,))
        case _:
            yield Fact(nodes, there)
    yield Fact(nodes, ir.Binary("==", value, ir.Constant(None, kind)))


def _numbers(system: ir.System, kinds: frozenset[str]) -> list[tuple[Node, ir.Expression]]:
    """The numbers that nodes have, in terms of the local `a`."""
    found: list[tuple[Node, ir.Expression]] = []
    for variable in system.variables:
        match variable.type:
            case Map(Node() as key, Range()) if key.name in kinds and variable.role in KEPT_ROLES:
                found.append((key, ir.Index(ir.Variable(variable.name, variable.type), _local("a", key))))
            case _:
                pass
    return found


# ---- claims ------------------------------------------------------------------------------------------------------


def _claims(facts: list[Fact], numbers: list[tuple[Node, ir.Expression]]) -> Iterator[ir.Expression]:
    ones = [one for one in facts if len(one.nodes) == 1]
    twos = [one for one in facts if len(one.nodes) == 2]
    yield from _of_one(ones)
    yield from _of_two(ones, twos)
    yield from _of_numbers(ones, twos, numbers)
    yield from _only_one(ones, twos, numbers)
    yield from _of_one_given_two(ones)


def _every(nodes: tuple[tuple[str, Node], ...], premise: ir.Expression, goal: ir.Expression) -> ir.Expression:
    body: ir.Expression = ir.Binary("implies", premise, goal)
    for name, kind in reversed(nodes):
        body = ir.Quantified("every", name, ir.Domain(kind, None, None), body)
    return body


def _both(one: ir.Expression, other: ir.Expression) -> ir.Expression:
    return ir.Binary("and", one, other)


def _of_one(ones: list[Fact]) -> Iterator[ir.Expression]:
    for premise, goal in product(ones, ones):
        if premise.nodes == goal.nodes and _about(premise) != _about(goal):
            yield _every((("a", premise.nodes[0]),), premise.condition, goal.condition)


def _of_one_given_two(ones: list[Fact]) -> Iterator[ir.Expression]:
    positive = [one for one in ones if not _denies(one.condition)]
    for first, second, goal in product(positive, positive, ones):
        if first.nodes == second.nodes == goal.nodes and len({_about(first), _about(second), _about(goal)}) == 3:
            yield _every((("a", goal.nodes[0]),), _both(first.condition, second.condition), goal.condition)


def _of_two(ones: list[Fact], twos: list[Fact]) -> Iterator[ir.Expression]:
    for fact in twos:
        pair = (("a", fact.nodes[0]), ("b", fact.nodes[1]))
        if fact.nodes[0] == fact.nodes[1] and not _denies(fact.condition):
            same = ir.Binary("!=", _local("a", fact.nodes[0]), _local("b", fact.nodes[1]))
            yield _every(pair, fact.condition, same)
        if _denies(fact.condition):
            continue
        for goal in ones:
            for name, node in pair:
                if goal.nodes == (node,):
                    yield _every(pair, fact.condition, renamed(goal.condition, {"a": name}))
        for goal in twos:
            if goal is not fact and goal.nodes == fact.nodes:
                yield _every(pair, fact.condition, goal.condition)
            if goal is not fact and goal.nodes == fact.nodes[::-1]:
                yield _every(pair, fact.condition, renamed(goal.condition, {"a": "b", "b": "a"}))


def _of_numbers(
    ones: list[Fact], twos: list[Fact], numbers: list[tuple[Node, ir.Expression]]
) -> Iterator[ir.Expression]:
    for fact in twos:
        if _denies(fact.condition):
            continue
        pair = (("a", fact.nodes[0]), ("b", fact.nodes[1]))
        here = _numbers_at(fact, numbers)
        for one, other in product(here, here):
            if one == other:
                continue
            yield _every(pair, fact.condition, ir.Binary("<=", one, other))
            equal = _both(fact.condition, ir.Binary("==", one, other))
            if repr(one) > repr(other):
                continue
            for goal in twos:
                if goal is not fact and not _denies(goal.condition):
                    if goal.nodes == fact.nodes:
                        yield _every(pair, equal, goal.condition)
                    if goal.nodes == fact.nodes[::-1]:
                        yield _every(pair, equal, renamed(goal.condition, {"a": "b", "b": "a"}))
            for goal in ones:
                for name, node in pair:
                    if goal.nodes == (node,):
                        yield _every(pair, equal, renamed(goal.condition, {"a": name}))


def _numbers_at(fact: Fact, numbers: list[tuple[Node, ir.Expression]]) -> list[ir.Expression]:
    found = list(fact.numbers)
    for name, node in zip("ab", fact.nodes, strict=True):
        found += [renamed(one, {"a": name}) for kind, one in numbers if kind == node]
    return found


def _only_one(ones: list[Fact], twos: list[Fact], numbers: list[tuple[Node, ir.Expression]]) -> Iterator[ir.Expression]:
    """Two facts of one node are about the same other one; two nodes of which facts hold are the same."""
    positive = [one for one in ones if not _denies(one.condition)]
    for first, second in product(positive, positive):
        if first.nodes != second.nodes:
            continue
        kind = first.nodes[0]
        pair = (("a", kind), ("b", kind))
        same = ir.Binary("==", _local("a", kind), _local("b", kind))
        premise = _both(first.condition, renamed(second.condition, {"a": "b"}))
        yield _every(pair, premise, same)
        for node, one in numbers:
            if node == kind:
                equal = ir.Binary("==", one, renamed(one, {"a": "b"}))
                yield _every(pair, _both(premise, equal), same)
    for first, second in product(twos, twos):
        if _denies(first.condition) or _denies(second.condition):
            continue
        for mine, its in product((0, 1), (0, 1)):
            yield from _same_other(first, second, mine, its, numbers)


def _same_other(
    first: Fact, second: Fact, mine: int, its: int, numbers: list[tuple[Node, ir.Expression]]
) -> Iterator[ir.Expression]:
    """Where node `c` has one fact with `a` and another with `b`, with equal numbers, they are the same."""
    if first.nodes[mine] != second.nodes[its] or first.nodes[1 - mine] != second.nodes[1 - its]:
        return
    shared, kind = first.nodes[mine], first.nodes[1 - mine]
    one_names = {"ab"[mine]: "c", "ab"[1 - mine]: "a"}
    other_names = {"ab"[its]: "c", "ab"[1 - its]: "b"}
    premise = _both(renamed(first.condition, one_names), renamed(second.condition, other_names))
    same = ir.Binary("==", _local("a", kind), _local("b", kind))
    triple = (("a", kind), ("b", kind), ("c", shared))
    yield _every(triple, premise, same)
    apart = _both(premise, ir.Binary("!=", _local("c", shared), _local("b", kind))) if shared == kind else premise
    for one, other in product(_numbers_at(first, numbers), _numbers_at(second, numbers)):
        left, right = renamed(one, one_names), renamed(other, other_names)
        if left != right:
            equal = ir.Binary("==", left, right)
            yield _every(triple, _both(premise, equal), same)
            if apart is not premise:
                yield _every(triple, _both(apart, equal), same)


def _about(fact: Fact) -> str:
    """The variable that a fact is about."""
    found = fact.condition
    while not isinstance(found, ir.Variable):
        match found:
            case ir.Unary(_, operand):
                found = operand
            case ir.Binary("in", _, right):
                found = right
            case ir.Binary(_, left, _):
                found = left
            case ir.Index(base, _) | ir.Member(base, _):
                found = base
            case _:
                return ""
    return found.name


def _denies(condition: ir.Expression) -> bool:
    """Whether a fact is that something is not so: a poor premise for most claims."""
    match condition:
        case ir.Unary("not", _):
            return True
        case ir.Binary("!=", _, ir.Constant(value=value)):
            return value is not None
        case ir.Binary("==", _, ir.Constant(value=value)):
            return value is None or value == frozenset()
        case _:
            return False


def renamed(expression: ir.Expression, names: dict[str, str]) -> ir.Expression:
    """An expression with its free locals under other names."""

    def change(part: object) -> object:
        if isinstance(part, ir.Local):
            return ir.Local(names.get(part.name, part.name), part.type)
        return rebuild(part, change)

    changed = change(expression)
    return changed  # type: ignore[return-value]
