"""Random statements: lines of text, and what is known after them."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from tests.meanings.generator import expressions
from tests.meanings.generator.kinds import BOOL, Kind, names_identity, number, option, sequence_of, set_of
from tests.meanings.generator.predicates import predicate
from tests.meanings.generator.scope import Scope
from tests.meanings.generator.waiting import calling, ending, looping, stepping
from tests.strategies.choosing import chance, pick, weighted

Made = tuple[list[str], Scope]
AFTERWARDS = ("finish", "halt")


def body(scope: Scope, length: int) -> Made:
    """Statements in a row. In a logged spec a line after each says that it was executed."""
    lines: list[str] = []
    for _ in range(length):
        made, scope = statement(scope)
        lines += [*made[:-1], made[-1] + ";"] if chance(scope.spec.chooser, 4) else made
    return lines, scope


def marked(scope: Scope, made: list[str]) -> list[str]:
    """A statement with the log line that says that it was executed, in a logged spec."""
    if not scope.spec.logged or scope.line_at == "-":
        return made
    line = f"log r{next(scope.spec.markers)}()" + (f" at {scope.line_at}" if scope.line_at else "")
    return [line, *made] if made[0].split()[0] in AFTERWARDS else [*made, line]


def block(scope: Scope, length: int = 2, first: list[str] | None = None, last: list[str] | None = None) -> list[str]:
    """A body in braces."""
    made, _ = body(scope, scope.spec.chooser.integer(0 if first or last else 1, length))
    return ["{", *(f"  {line}" for line in (*(first or ()), *made, *(last or ()))), "}"]


def joined(head: str, inside: list[str]) -> list[str]:
    """`head {` and the rest of a block."""
    return [f"{head} {inside[0]}", *inside[1:]]


def statement(scope: Scope) -> Made:
    """One statement, or some that belong together."""
    kinds: list[tuple[int, Callable[[Scope], Made]]] = [(8, assigning), (3, local), (2, choosing), (1, requiring)]
    if scope.changing:
        kinds.append((4, changing))
    if scope.depth > 0:
        kinds += [(3, branching), (2, repeating)]
    if scope.spec.procedures and scope.line_at != "-":
        kinds.append((2, performing))
    if scope.actor is not None:
        kinds += _of_nodes(scope)
    made, after = weighted(scope.spec.chooser, kinds)(scope)
    return marked(scope, made), after


def _of_nodes(scope: Scope) -> list[tuple[int, Callable[[Scope], Made]]]:
    spec = scope.spec
    kinds: list[tuple[int, Callable[[Scope], Made]]] = []
    if any(one.sender == scope.owner for one in spec.messages):
        kinds.append((4, sending))
    if any(one.flag == "synced" for one in spec.fields[str(scope.owner)]) and scope.whole:
        kinds.append((2, syncing))
    if any(one.holder == scope.owner for one in spec.locks):
        kinds += [(2, acquiring), (2, releasing)]
    if scope.ends:
        kinds.append((1, ending))
    kinds += [(5, calling)] if may_call(scope) else []
    if scope.waits:
        kinds += [(5, stepping)] + ([(2, looping)] if scope.depth > 0 and not scope.once else [])
    return kinds


def may_call(scope: Scope) -> bool:
    """Whether there is an operation that may be called here: one that takes steps only where a step may end."""
    return any(callable_here(scope, one.name) for one in scope.spec.operations)


def callable_here(scope: Scope, name: str) -> bool:
    """An operation served in one step may call those declared before it only: none calls itself."""
    operations = [one.name for one in scope.spec.operations]
    one = scope.spec.operations[operations.index(name)]
    if one.sender != scope.owner or (not one.atomic and (not scope.waits or scope.once)):
        return False
    return scope.serving is None or operations.index(name) < operations.index(scope.serving.name)


# ---- assignments ----


def targets(scope: Scope) -> list[tuple[str, Kind, bool]]:
    """What may be assigned: its place, type, and whether it is a ghost."""
    spec = scope.spec
    found = [(one.name, one.kind, one.flag == "ghost") for one in spec.variables]
    owners = [(scope.actor, scope.owner)] * 3 if scope.actor else []
    if scope.sight == "all":
        owners = [(name, kind.text) for name, kind in scope.known if kind.form == "node"]
        owners += [(name, name) for name, kind in spec.nodes.items() if kind.high == 1]
    for node, owner in owners:
        fields = spec.fields[str(owner)] if scope.whole else []
        found += [(f"{node}.{one.name}", one.kind, one.flag == "ghost") for one in fields if one.flag != "view"]
    return [one for one in found if expressions.available(replace(scope, depth=1), one[1])]


def assigning(scope: Scope) -> Made:
    """A field, a variable, or a part of one."""
    found = targets(scope)
    if not found:
        return requiring(scope)
    place, kind, ghost = pick(scope.spec.chooser, found)
    place, kind = inside(scope, place, kind)
    seeing = scope.seeing("all") if ghost else scope
    return [f"{place} := {expressions.value(seeing, kind)}"], scope


def inside(scope: Scope, place: str, kind: Kind) -> tuple[str, Kind]:
    """A part of what is at a place, more often than not."""
    chooser = scope.spec.chooser
    while kind.form in ("map", "record") and chance(chooser, 75):
        if kind.form == "map":
            place, kind = f"{place}[{expressions.key(scope.condition().inner(), kind.parts[0])}]", kind.element
        else:
            name, part = pick(chooser, kind.fields)
            if not expressions.available(scope, part):
                break
            place, kind = f"{place}.{name}", part
    return place, kind


def changing(scope: Scope) -> Made:
    """A `var` changed."""
    may = [one for one in scope.changing if expressions.available(scope, one[1])]
    if not may:
        return requiring(scope)
    place, kind = inside(scope, *pick(scope.spec.chooser, may))
    return [f"{place} := {expressions.value(scope, kind)}"], scope


def local_kinds(scope: Scope) -> list[Kind]:
    """Types of locals: those that there are in the spec, and plain ones."""
    spec = scope.spec
    held = [one.kind for fields in spec.fields.values() for one in fields] + [one.kind for one in spec.variables]
    nodes = list(spec.nodes.values())
    found = [number(0, 2), number(0, 2), BOOL, *nodes, *nodes, *spec.enums, *spec.records, *held, *spec.identities]
    found += [set_of(nodes[0]), option(number(0, 2)), option(nodes[0])]
    return [one for one in found if one.text and expressions.available(replace(scope, depth=1), one)]


def local(scope: Scope) -> Made:
    """`let` or `var`, with its type or without."""
    chooser = scope.spec.chooser
    kind = pick(chooser, local_kinds(scope))
    changes = chance(chooser, 50)
    old = [name for name, _ in scope.known if name.startswith("v") and name != scope.actor]
    name = pick(chooser, old) if old and chance(chooser, 15) else scope.spec.fresh("v")
    exact = [text for text, held in scope.sources() if held == kind]
    if exact and chance(chooser, 40):
        # the direct interpreter takes any number for a `var` that may hold one and names no type
        typed = chance(chooser, 50) or (changes and kind.form not in ("bool", "enum", "node", "identity"))
        value = pick(chooser, exact)
    else:
        typed, value = True, expressions.value(scope, kind)
    if kind.text.startswith("counter"):
        kind = number(kind.low, kind.high)
    shown = f": {kind.text}" if typed else ""
    return [f"{'var' if changes else 'let'} {name}{shown} = {value}"], scope.learn(name, kind, changes)


def choosing(scope: Scope) -> Made:
    """`choose` from a type or a collection."""
    chooser, spec, name = scope.spec.chooser, scope.spec, scope.spec.fresh("c")
    text, kind = binder(scope, name)
    if text == f"{name}: {kind.text}" and chance(chooser, 25):
        kind = pick(chooser, [set_of(kind), sequence_of(kind, 2)])
        text = f"{name}: {kind.text}"
    where = ""
    if chance(chooser, 40):
        where = f" where {predicate(scope.condition().inner().learn(name, kind))}"
    assert spec.nodes
    return [f"choose {text}{where}"], scope.learn(name, kind)


def binder(scope: Scope, name: str) -> tuple[str, Kind]:
    """`name: type` or `name in collection`, and the type of the name."""
    chooser, spec = scope.spec.chooser, scope.spec
    held = [(text, kind) for text, kind in scope.sources() if kind.form in ("set", "sequence", "bag")]
    if held and chance(chooser, 40):
        text, kind = pick(chooser, held)
        return f"{name} in {text}", kind.element
    nodes = [kind for kind in spec.nodes.values() if kind.high > 1] or [BOOL]
    if chance(chooser, 30):
        one = pick(chooser, list(spec.nodes.values()))
        within = expressions.value(scope.condition().inner(), set_of(one))
        return f"{name} in {f'all({one.text})' if within == '{}' else within}", one
    kind = pick(chooser, [*nodes, *nodes, number(0, 1), BOOL, option(number(0, 1)), *spec.enums])
    return f"{name}: {kind.text}", kind


def requiring(scope: Scope) -> Made:
    """A condition that the step needs."""
    known = [name for name, kind in scope.known if kind.form == "number"]
    plain = pick(scope.spec.chooser, [f"{one} != {scope.spec.chooser.integer(0, 3)}" for one in known] or ["1 < 2"])
    text = predicate(scope.condition().inner()) if chance(scope.spec.chooser, 50) else plain
    return [f"require {text}"], scope


# ---- branches and loops within a step ----


def branching(scope: Scope) -> Made:
    """`if`, with blocks or single statements."""
    chooser, inner = scope.spec.chooser, scope.inner()
    condition = predicate(scope.condition().inner())
    if chance(chooser, 20):
        single = assigning(inner)[0] + ["else", *assigning(inner)[0]] if chance(chooser, 50) else assigning(inner)[0]
        return [f"if {condition} then", *single], scope
    made = joined(f"if {condition} then", block(inner))
    if chance(chooser, 50):
        made = [*made[:-1], *joined("} else", block(inner))]
    return made, scope


def repeating(scope: Scope) -> Made:
    """`for` within one step."""
    name = scope.spec.fresh("i")
    text, kind = binder(scope, name)
    inner = replace(scope.inner().learn(name, kind), waits=False, ends=False)
    where = f" where {predicate(inner.condition())}" if chance(scope.spec.chooser, 35) else ""
    if chance(scope.spec.chooser, 30):
        return [f"for {text}{where} do {assigning(inner)[0][0]}"], scope
    return joined(f"for {text}{where} do", block(inner)), scope


def performing(scope: Scope) -> Made:
    """A procedure, its arguments in order or by name."""
    one = pick(scope.spec.chooser, scope.spec.procedures)
    if (one.sees_all and scope.sight != "all") or not all(
        expressions.available(scope, kind) for _, kind in one.parameters
    ):
        return requiring(scope)
    given = [(name, expressions.value(scope, kind)) for name, kind in one.parameters]
    if chance(scope.spec.chooser, 25):
        return [f"{one.name}({', '.join(f'{name}: {text}' for name, text in given)})"], scope
    return [f"{one.name}({', '.join(text for _, text in given)})"], scope


# ---- messages, locks, disks ----


def sending(scope: Scope) -> Made:
    """`send`, to one node or to each of several."""
    chooser, spec = scope.spec.chooser, scope.spec
    one = pick(chooser, [message for message in spec.messages if message.sender == scope.owner])
    if not all(expressions.available(scope, kind) for _, kind in one.parameters):
        return requiring(scope)
    to = spec.nodes[one.receiver]
    given = ", ".join(
        (f"{name}: " if chance(chooser, 15) and len(one.parameters) == 1 else "") + expressions.value(scope, kind)
        for name, kind in one.parameters
    )
    if chance(chooser, 40):
        each = expressions.value(replace(scope.condition(), depth=1), set_of(to))
        return [f"send {one.name}({given}) to each {each}"], scope
    return [f"send {one.name}({given}) to {expressions.value(scope.condition().inner(), to)}"], scope


def syncing(scope: Scope) -> Made:
    """A field written to disk."""
    one = pick(scope.spec.chooser, [one for one in scope.spec.fields[str(scope.owner)] if one.flag == "synced"])
    return [f"sync {scope.actor}.{one.name}"], scope


def acquiring(scope: Scope) -> Made:
    """A lock tried."""
    chooser, inner = scope.spec.chooser, scope.inner()
    one = pick(chooser, [lock for lock in scope.spec.locks if lock.holder == scope.owner])
    made = joined(f"acquire {one.name} then", block(inner))
    if chance(chooser, 50):
        made = [*made[:-1], *joined("} else", block(inner))]
    return made, scope


def releasing(scope: Scope) -> Made:
    """A lock given back."""
    one = pick(scope.spec.chooser, [lock for lock in scope.spec.locks if lock.holder == scope.owner])
    return [f"release {one.name}"], scope


def without_identities(scope: Scope) -> Scope:
    """The scope without locals that may hold identities."""
    return replace(scope, known=tuple(one for one in scope.known if not names_identity(one[1])))
