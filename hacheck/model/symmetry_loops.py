"""Whether the turns of a loop can be taken in any order.

They can if no turn sees what another has written, if what they write together does not depend on who came first, and if
there is one way at most in which a turn can end the step. Of a variable that turns write

- each has a part of its own: every access in the body has the loop's variable as its key at the same place; or
- they gather: each write adds to what is there by one and the same operation whose order does not matter, and nothing
  else reads it; or
- they write one constant, and nothing reads it.

Anything else is taken for a loop whose turns do not commute.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from hacheck.model.ir import (
    Assign,
    Binary,
    Choose,
    Constant,
    Expression,
    ForEach,
    Fresh,
    Index,
    Let,
    Local,
    Member,
    Require,
    Statement,
    Target,
    Variable,
)
from hacheck.model.rewrite import Tree, parts, walk
from hacheck.model.symmetry_stops import may_fail, stops_of
from hacheck.model.types import Bag, Map, Range, Set
from hacheck.model.typing import type_of


class _Access(Struct, frozen=True):
    """A part of a variable or local: its root, then keys and field names."""

    root: Variable | Local
    path: tuple[Expression | str, ...]


def turns_commute(variable: str, body: tuple[Statement, ...], stops: frozenset[str]) -> str | None:
    """`None` if the turns of a loop over `variable` can be taken in any order, else what is in the way, in words.
    `stops`: what can end a step of the action."""
    own = _own_locals(body) | {variable}
    same = aliases(variable, body)
    writes = [part for one in body for part in walk(one) if isinstance(part, Assign)]
    for root in dict.fromkeys(item.target.root for item in writes):
        if isinstance(root, Local) and root.name in own:
            continue
        mine = [item for item in writes if item.target.root == root]
        if not (
            _each_its_own(root, mine, body, same) or _gathering(root, mine, body) or _one_constant(root, mine, body)
        ):
            return f"one turn may see or undo what another writes to {root.name}"
    ending = stops & stops_of(body)
    if len(ending) > 1:
        return f"its turns can end the step in several ways: {', '.join(sorted(ending))}"
    if ending and any(isinstance(part, Choose | Require) for one in body for part in walk(one)):
        return f"a turn may choose or not be possible while another is ended by {next(iter(ending))}"
    return None


def turns_apart(variable: str, body: tuple[Statement, ...]) -> bool:
    """Whether each turn of a loop over `variable` writes only values of maps over it, at its own key and nowhere else,
    and no turn reads such a map elsewhere: then what a turn does depends on nothing that others do."""
    own = _own_locals(body) | {variable}
    same = aliases(variable, body)
    tree = [part for one in body for part in walk(one)]
    if any(isinstance(part, Fresh) for part in tree):
        return False
    for root in dict.fromkeys(part.target.root for part in tree if isinstance(part, Assign)):
        if isinstance(root, Local) and root.name in own:
            continue
        paths = [part.target.path for part in tree if isinstance(part, Assign) and part.target.root == root]
        paths += [access.path for access in _reads(root, body)]
        if not isinstance(root, Variable) or not isinstance(root.type, Map):
            return False
        if not all(path and _is_named(path[0], same) for path in paths):
            return False
    return True


def _own_locals(body: tuple[Statement, ...]) -> set[str]:
    """The locals that belong to one turn."""
    names: set[str] = set()
    for part in (part for one in body for part in walk(one)):
        match part:
            case Let(name, _, _) | Choose(name, _) | ForEach(name, _, _):
                names.add(name)
            case _:
                pass
    return names


def aliases(variable: str, body: tuple[Statement, ...]) -> frozenset[str]:
    """The loop's variable, and the locals that are another name for it."""
    same = {variable}
    tree = [part for one in body for part in walk(one)]
    written = {part.target.root.name for part in tree if isinstance(part, Assign)}
    for part in tree:
        if isinstance(part, Let) and isinstance(part.value, Local) and part.value.name in same:
            same.add(part.name)
    return frozenset(same - written)


# ---- what is read and written ----


def _accesses(tree: Tree) -> Iterator[_Access]:
    """Every read of a variable or local in an expression or statement, as deep into its parts as the text says. The
    target of an assignment is no read, its keys are."""
    if isinstance(tree, Target):
        for key in tree.path:
            if not isinstance(key, str):
                yield from _accesses(key)
        return
    access = _chain(tree)
    if access is None:
        for part in parts(tree):
            yield from _accesses(part)
        return
    yield access
    for key in access.path:
        if not isinstance(key, str):
            yield from _accesses(key)


def _chain(tree: Tree) -> _Access | None:
    path: list[Expression | str] = []
    while True:
        match tree:
            case Variable() | Local():
                return _Access(tree, tuple(reversed(path)))
            case Index(base, key):
                path.append(key)
                tree = base
            case Member(base, name):
                path.append(name)
                tree = base
            case _:
                return None


def _reads(root: Variable | Local, trees: Sequence[Tree]) -> list[_Access]:
    return [access for tree in trees for access in _accesses(tree) if access.root == root]


# ---- the three ways to write ----


def _each_its_own(
    root: Variable | Local, writes: list[Assign], body: tuple[Statement, ...], same: frozenset[str]
) -> bool:
    paths = [item.target.path for item in writes] + [access.path for access in _reads(root, body)]
    return any(all(_is_named(path[place], same) for path in paths) for place in range(min(len(path) for path in paths)))


def _is_named(key: Expression | str, names: frozenset[str]) -> bool:
    return isinstance(key, Local) and key.name in names


def _one_constant(root: Variable | Local, writes: list[Assign], body: tuple[Statement, ...]) -> bool:
    first = writes[0].value
    return isinstance(first, Constant) and all(item.value == first for item in writes) and not _reads(root, body)


def _gathering(root: Variable | Local, writes: list[Assign], body: tuple[Statement, ...]) -> bool:
    parts = {_gathered(item) for item in writes}
    # Each write reads its own target once; nothing else may read it.
    return None not in parts and len(parts) == 1 and len(_reads(root, body)) == len(writes)


def _gathered(item: Assign) -> str | None:
    """The kind of operation by which a write adds to what is there."""
    if not isinstance(item.value, Binary):
        return None
    operator, left, more = item.value.operator, item.value.left, item.value.right
    if _chain(left) != _Access(item.target.root, item.target.path):
        return None
    kind, given = type_of(left), type_of(more)
    match operator:
        case "union" | "with" if isinstance(kind, Set):
            return "grows"
        case "minus" | "without" if isinstance(kind, Set):
            return "shrinks"
        case "intersect":
            return "shrinks"
        case "with" if isinstance(kind, Bag):
            return "collects"
        case "+" if isinstance(given, Range) and given.low >= 0:
            return "counts"
        case "or" | "and" if not may_fail(more):
            return operator
        case _:
            return None
