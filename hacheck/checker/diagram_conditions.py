"""What the edges of one action differ in: the conditions inside its body on which it depends where a node goes.

`vote` leads from `waiting` to `decided` where `yes == true`, and to `aborted` where `yes == false`: each edge carries
its own. Found without exploring, by following every path through the body with the node's mode alone being known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from hacheck.checker.diagram_edges import (
    DOWN,
    MACHINERY,
    UNKNOWN,
    Known,
    Locals,
    Subject,
    after_body,
    keys_of,
    starts,
    value,
)
from hacheck.model.ir import (
    Action,
    Assign,
    Binary,
    Conditional,
    Constant,
    Expression,
    ForEach,
    If,
    Index,
    Let,
    Local,
    MapOf,
    Member,
    Require,
    Statement,
    StateVariable,
    System,
    Unary,
    Variable,
)
from hacheck.model.language.operations import OUTCOME
from hacheck.model.render import show_expression
from hacheck.model.types import Enum, Map

PATHS_MAX = 256
"""An action with more paths through its body has edges without conditions of their own."""

Literal = tuple[Expression, bool]
"""A condition, and whether it is true."""


class Path(Struct, frozen=True):
    """A path through a body so far: how the node is, what is known of locals, and which branches it takes."""

    known: Known
    locals: Locals
    literals: tuple[Literal, ...] = ()


class TooMany(Exception):
    """There are more paths through a body than are followed."""


def conditions_of(system: System, mode: StateVariable, up: str | None, action: Action) -> dict[tuple[str, str], str]:
    """For edges of an action, by the modes that they lead from and to: what holds on every path there and not on every
    path elsewhere, in words. Cost: the number of paths through the body."""
    kind = mode.type
    assert isinstance(kind, Map), f"the mode {mode.name} is no map"
    assert isinstance(kind.value, Enum), f"the mode {mode.name} is no enum"
    hidden = _hidden(system, mode.name, up)
    found: dict[tuple[str, str], str] = {}
    for key in keys_of(action.body, {mode.name, up}):
        subject = Subject(mode.name, up, key, kind.value.members)
        for known in starts(kind.value.members, up, mode):
            if value(action.guard, subject, known, {}) is False:
                continue
            try:
                paths = _follow(action.body, subject, [Path(known, {})])
            except TooMany:
                continue
            source = _mode_of(known)
            for target, said in _differences(paths, hidden).items():
                if target != source:
                    found.setdefault((source, target), said)
    return found


def required_first(system: System, mode: str, up: str | None, action: Action) -> str:
    """What a body requires before it writes or decides anything, in words: where a later step of a handler has its
    condition."""
    hidden = _hidden(system, mode, up)
    said: dict[str, None] = {}
    for statement in action.body:
        if isinstance(statement, Require):
            for atom, holds in _atoms(statement.condition, True):
                if not _names(atom) & hidden and any(isinstance(one, Variable) for one in _parts(atom)):
                    said[_words(atom, holds)] = None
        elif not isinstance(statement, Let):
            break
    return " and ".join(said)


def _hidden(system: System, mode: str, up: str | None) -> set[str]:
    """What a label says nothing of: what the tool itself keeps, and the mode, which the picture shows."""
    return {variable.name for variable in system.variables if variable.role in MACHINERY} | {mode, up or mode}


def _mode_of(known: Known) -> str:
    return DOWN if known[1] is False else str(known[0])


def _differences(paths: Sequence[Path], hidden: set[str]) -> dict[str, str]:
    """By target: the conditions of all its paths that not all paths have."""
    by_target: dict[str, list[set[Literal]]] = {}
    order: dict[Literal, None] = {}
    for path in paths:
        if path.known[0] is UNKNOWN:
            return {}
        atoms = [atom for condition, holds in path.literals for atom in _atoms(condition, holds)]
        kept = [atom for atom in atoms if not _names(atom[0]) & hidden and not _of_a_call(atom)]
        order |= dict.fromkeys(kept)
        by_target.setdefault(_mode_of(path.known), []).append(set(kept))
    if len(by_target) < 2:
        return {}
    everywhere = set.intersection(*(atoms for every in by_target.values() for atoms in every))
    found = {}
    for target, every in by_target.items():
        common = set.intersection(*every) - everywhere
        if said := [_words(*atom) for atom in order if atom in common]:
            found[target] = " and ".join(dict.fromkeys(said))
    return found


def _atoms(condition: Expression, holds: bool) -> list[Literal]:
    """What must be so, or not so, for a condition to have a value; one that can have it in several ways stays whole."""
    match condition:
        case Unary("not", operand):
            return _atoms(operand, not holds)
        case Binary("and", left, right) if holds:
            return [*_atoms(left, True), *_atoms(right, True)]
        case Binary("or", left, right) if not holds:
            return [*_atoms(left, False), *_atoms(right, False)]
        case Binary("or", _, Constant(True)) | Binary("or", Constant(True), _) if holds:
            return []
        case Constant():
            return []
        case _:
            return [(condition, holds)]


def _of_a_call(atom: Literal) -> bool:
    """Whether a condition says of a call only how it was not answered: for a reader it is answered, or it is not."""
    match atom[0]:
        case Binary("==" | "!=", Local(name), Constant(answer)) if name.startswith("outcome$"):
            return bool(answer != OUTCOME.members[0])
        case _:
            return False


def _words(condition: Expression, holds: bool) -> str:
    """A condition as a label says it: `yes == true`, `n != m`."""
    match condition:
        case Binary("==" | "!=" as operator, Local(name), Constant()) if name.startswith("outcome$"):
            return "the call is answered" if (operator == "==") == holds else "the call is not answered"
        case Local() | Variable() | Index() | Member():
            text = f"{show_expression(condition)} == {'true' if holds else 'false'}"
        case Binary("==" | "!=" as operator, left, right):
            shown = "==" if (operator == "==") == holds else "!="
            text = f"{show_expression(left)} {shown} {show_expression(right)}"
        case _:
            text = show_expression(condition)
            several = isinstance(condition, Binary) and condition.operator in ("and", "or", "implies")
            text = f"({text})" if several else text
            text = text if holds else f"not {text}"
    return re.sub(r"\$\d+", "", text).replace("received.", "")


def _parts(part: object) -> Iterator[object]:
    yield part
    if isinstance(part, tuple):
        for item in part:
            yield from _parts(item)
    else:
        for field in getattr(type(part), "__struct_fields__", {}):
            yield from _parts(getattr(part, field))


def _names(part: object) -> set[str]:
    return {one.name for one in _parts(part) if isinstance(one, Variable)}


# ---- following a body ----


def _follow(body: tuple[Statement, ...], subject: Subject, paths: list[Path]) -> list[Path]:
    for statement in body:
        paths = [after for path in paths for after in _after(statement, subject, path)]
        if len(paths) > PATHS_MAX:
            raise TooMany
    return paths


def _after(statement: Statement, subject: Subject, path: Path) -> list[Path]:
    match statement:
        case Assign():
            return list(_assigned(statement, subject, path))
        case Let(name, _, expression):
            found = value(expression, subject, path.known, path.locals)
            known = {} if found is UNKNOWN else {name: found}
            return [Path(path.known, {**path.locals, **known}, path.literals)]
        case If(condition, then, otherwise):
            return [
                after
                for taken, branch in _decided(condition, subject, path)
                for after in _follow(then if branch else otherwise, subject, [taken])
            ]
        case ForEach():
            ends, locals = after_body((statement,), subject, {path.known}, path.locals)
            return [Path(known, locals, path.literals) for known in ends]
        case Require(condition):
            return [] if value(condition, subject, path.known, path.locals) is False else [path]
        case _:
            return [path]


def _decided(condition: Expression, subject: Subject, path: Path) -> Iterator[tuple[Path, bool]]:
    """The path as it is where a condition is known, else one for each of its values."""
    found = value(condition, subject, path.known, path.locals)
    for holds in (True, False):
        opposite = (condition, not holds) in path.literals
        if found is UNKNOWN and not opposite:
            literals = path.literals if (condition, holds) in path.literals else (*path.literals, (condition, holds))
            yield Path(path.known, path.locals, literals), holds
        elif found is holds:
            yield path, holds


def _assigned(statement: Assign, subject: Subject, path: Path) -> Iterator[Path]:
    root, keys = statement.target.root, statement.target.path
    if isinstance(root, Local):
        yield Path(path.known, {name: item for name, item in path.locals.items() if name != root.name}, path.literals)
        return
    mine = keys[:1] == (subject.key,) if keys else True
    if not mine or root.name not in (subject.mode, subject.up):
        # What was decided of a variable that is written now says no more of it.
        yield Path(path.known, path.locals, path.literals)
        return
    expression = statement.value
    if not keys and isinstance(expression, MapOf):
        expression = expression.item
    for found, after in _valued(expression, subject, path):
        if root.name == subject.mode:
            yield Path((found, after.known[1]), after.locals, after.literals)
        elif found is UNKNOWN:
            yield Path((after.known[0], True), after.locals, after.literals)
            yield Path((after.known[0], False), after.locals, after.literals)
        else:
            yield Path((after.known[0], found), after.locals, after.literals)


def _valued(expression: Expression, subject: Subject, path: Path) -> Iterator[tuple[object, Path]]:
    if isinstance(expression, Conditional):
        for taken, branch in _decided(expression.condition, subject, path):
            yield from _valued(expression.then if branch else expression.otherwise, subject, taken)
    else:
        yield value(expression, subject, path.known, path.locals), path
