"""Conditions on states in the form in which a spec may state them.

Variables of a system are not all words of the language. `holds(L, n)` is a variable where `L` is a plain lock, and a
comparison with a clock where it is a lease; where a handler stands is `running(n, handler.step)`; what a call has under
way, the locals of a handler and the copy of a synced field on disk have no words at all. A condition that is printed as
text of a spec must come out as the same condition when that text is read, so it is either put into this form or not
printed as such.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from hacheck.model import ir
from hacheck.model.render_expression import show_expression
from hacheck.model.rewrite import rebuild, walk
from hacheck.model.types import (
    Bag,
    Bool,
    Enum,
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
)

_MESSAGE = "message."
_POINT = re.compile(r"[^\W\d]\w*\.[^\W\d]\w*")


class _NoWords(Exception):
    """The language has no words for a part of a condition."""


def spec_text(system: ir.System, condition: ir.Expression) -> str | None:
    """The condition as text that a spec may contain and that means the same there; `None` where the language has no
    words for it. Cost: the size of the condition."""
    form = spec_form(system, condition)
    return None if form is None else show_expression(form)


def spec_form(system: ir.System, condition: ir.Expression) -> ir.Expression | None:
    """The condition with each part of the state replaced by how a spec reads it, for `show_expression`; `None` where
    the language has no words for one. Bound names that the spec uses for something else are replaced. The one node of a
    kind is bound, too: how many there are may be a setting, and where there are more it has no name."""
    free = free_names(system)
    single: dict[ir.Expression, ir.Local] = {}
    for part in walk(condition):
        if isinstance(part, ir.Constant) and isinstance(part.type, Node) and part.type.size == 1 and part not in single:
            single[part] = ir.Local(next(free), part.type)
    try:
        found: ir.Expression = _Form(system).change(_renamed(condition, {}, single, free))  # type: ignore[assignment]
    except _NoWords:
        return None
    for name in single.values():
        found = ir.Quantified("every", name.name, ir.Domain(name.type, None, None), found)
    return found


def holding_lease(system: ir.System, lock: str, node: ir.Expression) -> ir.Expression:
    """What `holds(L, n)` means of a lease: the node's belief, and its clock before the time that it has noted."""
    known = {one.name: one for one in system.variables}

    def of_node(name: str) -> ir.Expression:
        return ir.Index(ir.Variable(name, known[name].type), node)

    mine = known[f"lock.{lock}.mine"].type
    assert isinstance(mine, Map)
    assert isinstance(mine.key, Node)
    own = f"clock.{mine.key.name}"
    reading = of_node(own) if own in known else ir.Variable("time", known["time"].type)
    return ir.Binary("and", of_node(f"lock.{lock}.believed"), ir.Binary("<", reading, of_node(f"lock.{lock}.mine")))


def free_names(system: ir.System) -> Iterator[str]:
    """Short names for what a condition is about, none of which the spec has given to something else."""
    taken = frozenset(_words(system))
    for name in "abcdefghijklmnopqrstuvwxyz":
        if name not in taken:
            yield name
    number = 1
    while True:
        if f"n{number}" not in taken:
            yield f"n{number}"
        number += 1


class _Form:
    """Puts conditions on the states of a system into the form of a spec."""

    def __init__(self, system: ir.System) -> None:
        self.system = system
        self._roles = {one.name: one.role for one in system.variables}
        self._threads = {one.name for one in system.variables if _is_thread(one)}

    def change(self, part: object) -> object:
        """The form of a part of a condition. Errors: `_NoWords`."""
        match part:
            case ir.Binary("and", ir.Index(ir.Variable(name), node), _) if self._is_lease(
                name
            ) and part == holding_lease(self.system, _lock(name), node):
                return self._call("holds", Bool(), _word(_lock(name)), node)
            case ir.Binary("==" | "!=" as how, ir.Index(ir.Variable(name), node), ir.Constant(str(point))) if (
                name in self._threads
            ):
                return self._standing(how, node, point)
            case ir.Index(ir.Index(ir.Variable(name, kind), one), other) if name.startswith("cut."):
                return ir.Unary("not", self._call("connected", Bool(), one, other))
            case ir.Unary("not", ir.Index(ir.Index(ir.Variable(name), one), other)) if name.startswith("cut."):
                return self._call("connected", Bool(), one, other)
            case ir.Index(ir.Index(ir.Variable(name, Map(_, Map(_, kind))), one), other) if name.startswith(_MESSAGE):
                return self._call("under_way", kind, _word(name.removeprefix(_MESSAGE)), one, other)
            case ir.Index(ir.Variable(name, Map(Node() as owner, kind)), node):
                return self._of_node(part, name, owner, kind, node)
            case ir.Variable(name, kind):
                return self._of_nobody(name, kind)
            case ir.Constant(value, kind):
                return _constant(part, kind, value)
            case ir.Fresh():
                raise _NoWords
            case _:
                return rebuild(part, self.change)

    def _of_node(self, part: ir.Index, name: str, owner: Node, kind: Type, node: ir.Expression) -> ir.Expression:
        """What one node has."""
        for function in ("up", "paused"):
            if name == f"{owner.name}.{function}" and self._roles[name] == "status":
                return self._call(function, Bool(), node)
        match self._roles[name]:
            case "clock":
                return self._call("clock", kind, node)
            case "lock" if name.endswith(".believed") and not self._is_lease(name):
                return self._call("holds", Bool(), _word(_lock(name)), node)
            case "field" | "view" if not name.endswith(" on disk"):
                return ir.Index(part.base, self._expression(node))
            case "shared":
                return ir.Index(self._of_nobody(name, part.base.type), self._expression(node))  # type: ignore[union-attr]
        raise _NoWords

    def _of_nobody(self, name: str, kind: Type) -> ir.Expression:
        """A variable that no node has."""
        match self._roles[name]:
            case "shared":
                return _word(name, kind)
            case "clock" if name == "time":
                return _word("time()", kind)
            case "lock" if name.endswith(".holder"):
                return _word(f"holder({_lock(name)})", kind)
        raise _NoWords

    def _standing(self, how: str, node: ir.Expression, point: str) -> ir.Expression:
        """Whether a handler waits at a point."""
        if _POINT.fullmatch(point) is None:
            raise _NoWords
        running = self._call("running", Bool(), node, _word(point))
        return running if how == "==" else ir.Unary("not", running)

    def _is_lease(self, believed: str) -> bool:
        return believed.endswith(".believed") and f"lock.{_lock(believed)}.mine" in self._roles

    def _expression(self, part: ir.Expression) -> ir.Expression:
        return self.change(part)  # type: ignore[return-value]  # an expression stays one

    def _call(self, function: str, kind: Type, *arguments: ir.Expression) -> ir.Expression:
        """A function of the language and its arguments."""
        inside = ", ".join(show_expression(self._expression(one)) for one in arguments)
        return _word(f"{function}({inside})", kind)


def _word(text: str, kind: Type = Bool()) -> ir.Local:  # noqa: B008  # immutable
    """A name, or what stands like one."""
    return ir.Local(text, kind)


def _lock(variable: str) -> str:
    return variable.removeprefix("lock.").rpartition(".")[0]


def _is_thread(variable: ir.StateVariable) -> bool:
    """Whether a variable is where a handler of each node waits."""
    kind = variable.type
    return variable.role == "frame" and isinstance(kind, Map) and kind.value == Enum(variable.name, _members(kind))


def _members(kind: Map) -> tuple[str, ...]:
    return kind.value.members if isinstance(kind.value, Enum) else ()


def _constant(part: ir.Constant, kind: Type, value: Value) -> ir.Expression:
    """A value as a spec writes it. Errors: `_NoWords`."""
    match kind:
        case Bool() | Range() | Enum():
            return part
        case Node(name, ranked=True):
            return _word(f"{name}({value})", kind)
        case Option(element):
            return part if value is None else _constant(ir.Constant(value, element), element, value)
        case Set() | Sequence() | Bag() if not value:
            return _word("[]" if isinstance(kind, Sequence) else "{}", kind)
        case _:
            raise _NoWords


# ---- names ---------------------------------------------------------------------------------------------------------


def _renamed(
    part: object, names: Mapping[str, str], single: Mapping[ir.Expression, ir.Local], free: Iterator[str]
) -> object:
    """A condition whose bound names are fresh ones, and so are the only nodes of their kinds."""
    match part:
        case ir.Constant():
            return single.get(part, part)
        case ir.Quantified(how, variable, domain, body):
            inner = {**names, variable: next(free)}
            within = None if domain.within is None else _renamed(domain.within, names, single, free)
            where = None if domain.where is None else _renamed(domain.where, inner, single, free)
            bound = ir.Domain(domain.type, within, where)  # type: ignore[arg-type]
            return ir.Quantified(how, inner[variable], bound, _renamed(body, inner, single, free))  # type: ignore[arg-type]
        case ir.SetOf() | ir.MapOf() | ir.Extreme():
            raise _NoWords  # no condition that is made for a proof has one
        case ir.Local(name, kind):
            return ir.Local(names.get(name, name), kind)
        case _:
            return rebuild(part, lambda inside: _renamed(inside, names, single, free))


def _words(system: ir.System) -> Iterator[str]:
    """Names that a spec has given to something."""
    for variable in system.variables:
        yield from variable.name.split(".")
        yield from _words_of(variable.type)
    yield from (name for name, _ in system.settings)
    for action in system.actions:
        yield from action.name.split(".")


def _words_of(kind: Type) -> Iterator[str]:
    match kind:
        case Enum(_, members):
            yield from members
        case Option(element) | Set(element) | Sequence(element) | Bag(element):
            yield from _words_of(element)
        case Map(key, element):
            yield from _words_of(key)
            yield from _words_of(element)
        case Record(name, fields):
            yield name
            for field, inner in fields:
                yield field
                yield from _words_of(inner)
        case Node(name) | Identity(name):
            yield name
        case _:
            return
