"""What of a model does not depend on its sizes: one system that stands for those of every size.

A spec is elaborated at several sizes, and what comes out is laid side by side. Where the systems differ in nothing but
the numbers of nodes, the bounds of numbers and numbers that are the setting itself, the first one with names in place
of these stands for all of them. That sizes in between and beyond make no other difference is examined in the text: a
setting that is varied may stand in types, bounds and budgets, and beside something that changes (`n.term < terms`);
where it decides what is elaborated it is not varied, or, if it is a number of nodes, the model is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from hacheck.checker.parametric.encoding_context import Unsupported
from hacheck.checker.parametric.size_alignment import Differs, aligned, folded, merged, require_same
from hacheck.model import ir
from hacheck.model.language import Instance, Specification
from hacheck.model.language import declarations as d
from hacheck.model.language import syntax_tree as t
from hacheck.model.language.log_lines import without_logs

TRIED = (1, 2, 3)
"""How far above the setting at hand sizes are tried."""
COMPARING = frozenset({"<", "<=", ">", ">=", "==", "!=", "+", "-"})


class Uniform(Struct, frozen=True):
    """A system that stands for many. Varied settings are locals in it, of the names in `varied`.

    `kinds`: the kinds of nodes of which there may be any number, with the least number covered. `varied`: the settings
    that may have any value, with the least one; `sizes`: those of them that count nodes. `kept`: the other settings.
    `actions`: which of those of the text the actions are, by place.
    """

    system: ir.System
    kinds: tuple[tuple[str, int], ...]
    varied: tuple[tuple[str, int], ...]
    kept: tuple[tuple[str, str], ...]
    sizes: frozenset[str]
    actions: tuple[int, ...]


def uniform(specification: Specification, settings: Mapping[str, str], check: str | None) -> Uniform:
    """The system that stands for those of every size. Errors: `Unsupported`, with every reason, one a line."""
    at_hand = _unfolded(specification, settings, check, {}, {})
    base = at_hand.system
    assert base is not None, "the system at hand was elaborated before"
    given = dict(base.settings)
    names = {one.name for one in specification.parameters}
    sized = {one.name.text: one.size for one in specification.declarations if isinstance(one, d.NodeDeclaration)}
    problems = []
    varied: dict[str, int] = {}
    literal: dict[str, int] = {}
    for node in base.nodes:
        written = sized.get(node.name)
        if node.size > 1 and isinstance(written, t.Name):
            problem = next(_deciding(specification, written.text, names), None)
            if problem is not None:
                problems.append(f"{written.text} decides more than how many {node.name}s there are: {problem}")
            varied[written.text] = node.size
        elif node.size > 1:
            literal[node.name] = node.size
    if problems:
        raise Unsupported("\n".join(problems))
    for parameter in specification.parameters:
        number = given.get(parameter.name, "")
        if parameter.kind == "param" and number.isdigit() and int(number) > 0 and parameter.name not in varied:
            problem = next(_deciding(specification, parameter.name, names), None)
            if problem is None:
                varied[parameter.name] = int(number)
    return _laid_together(specification, settings, check, at_hand, varied, literal)


def _laid_together(
    specification: Specification,
    settings: Mapping[str, str],
    check: str | None,
    at_hand: Instance,
    varied: dict[str, int],
    literal: dict[str, int],
) -> Uniform:
    base = at_hand.system
    assert base is not None, "there is a system at hand"
    by_setting = _sized_by(specification)
    found: ir.System | None = None
    least: dict[str, int] = {}
    sized = {name: size for name, size in (*varied.items(), *literal.items()) if name in literal or name in by_setting}
    for name, size in {**sized, **varied}.items():  # where these do not do, nobody has to know of the others
        alone: ir.System | None = None
        refused = ""
        for value in (*(size + more for more in TRIED), *range(size - 1, 0, -1)):
            evaluated = {name: value} if name in varied else {}
            forced = {name: value} if name in literal else {}
            beside = _unfolded(specification, settings, check, evaluated, forced)
            if beside.system is None:
                refused = refused or next((f"{value}: {one.message}" for one in beside.diagnostics), "")
                continue
            try:
                require_same(at_hand.evaluated, beside.evaluated)
                together = aligned(base, beside.system, {name: (size, value)})
            except Differs as differs:
                if value < size:
                    break
                if name in literal or name in by_setting:
                    raise Unsupported(f"{name} = {value} makes another model: {differs}") from None
                alone = None
                break
            if alone is not None and together != alone:
                raise Unsupported(f"{name} makes a difference at {value} that it does not make at other sizes")
            alone = together
            least[name] = min(value, size)
        if alone is None:
            if name in literal or name in by_setting:
                why = f"; with {name} = {refused}" if refused else ""
                raise Unsupported(f"the spec is for {name} = {size} only{why}")
            continue
        least.setdefault(name, size)
        found = alone if found is None else merged(base, found, alone)
    kinds = [(node.name, least[node.name]) for node in base.nodes if node.name in literal]
    kinds += [(node, least[name]) for name, nodes in by_setting.items() if name in least for node in nodes]
    kept = tuple((name, value) for name, value in base.settings if name not in least)
    system, actions = folded(found or base, frozenset(name for name, _ in kinds))
    return Uniform(
        system,
        tuple(kinds),
        tuple((one, least[one]) for one in least if one in varied),
        kept,
        frozenset(by_setting),
        actions,
    )


def _sized_by(specification: Specification) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for one in specification.declarations:
        if isinstance(one, d.NodeDeclaration) and isinstance(one.size, t.Name):
            found.setdefault(one.size.text, []).append(one.name.text)
    return found


def at_size(
    specification: Specification, settings: Mapping[str, str], check: str | None, made: Uniform, size: int, number: int
) -> ir.System | None:
    """The system with so many nodes of each kind that may have any number, and varied settings at some number, or at
    the greatest one below that the spec allows; nothing where it allows no such number of nodes. Its actions are those
    of `made`, in their order."""
    by_setting = _sized_by(specification)
    sizes = {name: size for name in by_setting if name in made.sizes}
    forced = {
        kind: size for kind, _ in made.kinds if kind not in {node for nodes in by_setting.values() for node in nodes}
    }
    for value in range(number, 0, -1):
        varied = {name: value for name, _ in made.varied if name not in made.sizes}
        found = _unfolded(specification, settings, check, {**varied, **sizes}, forced).system
        if found is not None:
            break
    else:
        found = _unfolded(specification, settings, check, sizes, forced).system
    return None if found is None else replace(found, actions=tuple(found.actions[place] for place in made.actions))


def _unfolded(
    specification: Specification,
    settings: Mapping[str, str],
    check: str | None,
    varied: Mapping[str, int],
    sizes: Mapping[str, int],
) -> Instance:
    """The system at a size, none where the spec does not allow it: as it is before anything is folded, which may hide
    that a size decides it."""
    if sizes:
        changed = tuple(
            replace(one, size=t.Number(sizes[one.name.text], one.span))
            if isinstance(one, d.NodeDeclaration) and one.name.text in sizes
            else one
            for one in specification.declarations
        )
        specification = replace(specification, declarations=changed)
    given = {**settings, **{name: str(value) for name, value in varied.items()}}
    return specification.instantiate(given, check, folded=False)


# ---- where a setting stands in the text --------------------------------------------------------------------------


def _deciding(specification: Specification, name: str, settings: set[str]) -> Iterator[str]:
    """The places at which a setting may decide what is elaborated."""
    for one in without_logs(specification.declarations):
        if isinstance(one, d.Setting) and one.name.text == name:
            continue
        if isinstance(one, d.CheckDeclaration | d.TraceDeclaration):
            continue
        yield from _places(specification, one, name, settings)


def _places(specification: Specification, node: Any, name: str, settings: set[str]) -> Iterator[str]:
    if isinstance(node, t.Name):
        if node.text == name:
            yield f"{node.span.path}:{node.span.line}"
    elif isinstance(node, tuple):
        for item in node:
            yield from _places(specification, item, name, settings)
    elif isinstance(node, Struct):
        for inside in _open_parts(node, name, settings):
            yield from _places(specification, inside, name, settings)


def _open_parts(node: Any, name: str, settings: set[str]) -> Iterator[Any]:
    """The parts of a node that are to be looked at: all but those in which the setting may stand."""
    match node:
        case t.TypeTree(limits=limits, parts=parts):
            yield parts
            yield tuple(one for one in limits if not _is_number(one))
        case t.Attribute(base=base):
            yield base
        case t.Argument(value=value):
            yield value
        case t.Infix(left=left, right=right, operator=operator) if operator in COMPARING:
            for one, other in ((left, right), (right, left)):
                if not (_is_number(one) and _changes(other, settings)):
                    yield one
        case d.NodeDeclaration(fields=inside, views=views, size=size):
            yield (inside, views) if isinstance(size, t.Name) else (inside, views, size)
        case d.IdentityDeclaration():
            return
        case d.MessageDeclaration(capacity=t.Name()):
            yield node.parameters
        case d.FaultDeclaration(budget=t.Name(), when=when):
            yield when
        case _:
            yield from (getattr(node, field) for field in node.__struct_fields__)


def _is_number(node: Any) -> bool:
    """Whether a bound of a type is a sum of settings and numbers."""
    match node:
        case t.Name() | t.Number():
            return True
        case t.Infix("+" | "-", left, right):
            return _is_number(left) and _is_number(right)
        case _:
            return False


def _changes(node: Any, settings: set[str]) -> bool:
    """Whether an expression holds more than settings and numbers, so that it is not decided when it is elaborated."""
    if isinstance(node, t.Name):
        return node.text not in settings
    if isinstance(node, tuple | list):
        return any(_changes(item, settings) for item in node)
    return isinstance(node, Struct) and any(_changes(getattr(node, one), settings) for one in node.__struct_fields__)
