"""Random statements in which a step of a handler ends: steps, calls, loops with steps inside, early ends."""

from __future__ import annotations

from msgspec.structs import replace

from tests.meanings.generator import expressions, statements
from tests.meanings.generator.kinds import map_to, number, option, set_of
from tests.meanings.generator.predicates import predicate
from tests.meanings.generator.scope import Scope
from tests.strategies.choosing import chance, pick

Made = tuple[list[str], Scope]


def point(scope: Scope, extra: str = "") -> str:
    """`step NAME:`, which is remembered for `running`."""
    name = scope.spec.fresh("p")
    if not scope.once:
        _, names = scope.spec.points.setdefault(f"?{scope.handler}", (str(scope.owner), []))
        names.append(name)
    return f"step {name}{extra}:"


def stepping(scope: Scope) -> Made:
    """The end of a step."""
    chooser = scope.spec.chooser
    extra = " holding" if chance(chooser, 15) else ""
    if chance(chooser, 15):
        extra += f" when {predicate(scope.condition().inner())}"
    if chance(chooser, 8):
        extra += f" only after {predicate(scope.condition().inner().seeing('all'))}"
    return [point(scope, extra)], scope


def ending(scope: Scope) -> Made:
    """`finish` or `halt`, most often on a condition."""
    chooser = scope.spec.chooser
    word = "halt" if chance(chooser, 30) else "finish"
    if scope.depth > 0 and chance(chooser, 85):
        marked = statements.marked(scope, [word])
        condition = predicate(scope.condition().inner())
        return [f"if {condition} then {{", *(f"  {line}" for line in marked), "}"], scope
    return [word], scope


def calling(scope: Scope) -> Made:
    """A call of one node or of several."""
    chooser, spec = scope.spec.chooser, scope.spec
    one = pick(chooser, [one for one in spec.operations if statements.callable_here(scope, one.name)])
    if not all(expressions.available(scope, kind) for _, kind in one.parameters):
        return statements.requiring(scope)
    given = ", ".join(expressions.value(scope, kind) for _, kind in one.parameters)
    callee = spec.nodes[one.receiver]
    returned = option(one.returns) if one.returns is not None and one.returns.text else None
    kind = returned
    if chance(chooser, 25) and callee.high > 1:
        at = "each " + expressions.value(replace(scope.condition(), depth=1), set_of(callee))
        kind = map_to(callee, returned) if returned else None
    else:
        at = expressions.value(scope.condition().inner(), callee)
    text = f"call {one.name}({given}) at {at}"
    if not one.atomic:
        _, names = spec.points.setdefault(f"?{scope.handler}", (str(scope.owner), []))
        if one.name not in names:
            names.append(one.name)
    if not chance(chooser, 80) or kind is None:
        return [text], scope
    name = spec.fresh("x")
    return [f"{text} as {name}"], scope.learn(name, kind)


def looping(scope: Scope) -> Made:
    """`while`, or a `for` over what there is, each turn with a step."""
    chooser, spec = scope.spec.chooser, scope.spec
    if chance(chooser, 50):
        return _while(scope)
    name = spec.fresh("i")
    text, kind = statements.binder(scope, name)
    inner = scope.inner().learn(name, kind)
    plain = " in " not in text or kind.form == "node"
    held = dict(scope.sources()).get(text.partition(" in ")[2])
    where = ""
    if chance(chooser, 30) and (held is None or held.form == "set") and plain:
        where = f" where {predicate(inner.condition())}"
    step = statements.marked(scope, [point(scope)])
    first, last = ([], step) if chance(chooser, 70) else (step, [])
    return statements.joined(f"for {text}{where} do", statements.block(inner, 2, first, last)), scope


def _while(scope: Scope) -> Made:
    """A loop that counts, so that it ends."""
    chooser, spec = scope.spec.chooser, scope.spec
    name = spec.fresh("v")
    most = chooser.integer(1, 2)
    inner = replace(scope.inner(), known=(*scope.known, (name, number(0, 2))))
    grown = [f"{name} := {name} + 1", *statements.marked(scope, [point(scope)])]
    first, last = (grown, []) if chance(chooser, 50) else ([], grown)
    more = f" and {predicate(scope.condition().inner())}" if chance(chooser, 30) else ""
    made = statements.joined(f"while {name} < {most}{more} do", statements.block(inner, 2, first, last))
    return [f"var {name}: 0..2 = 0", *made], scope.learn(name, number(0, 2))
