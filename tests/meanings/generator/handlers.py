"""Random handlers: actions, receipts, services, notices of lost locks, restarts, and the first state."""

from __future__ import annotations

from msgspec.structs import replace

from tests.meanings.generator import expressions, statements
from tests.meanings.generator.declarations import describe
from tests.meanings.generator.kinds import BOOL, Kind, number, option
from tests.meanings.generator.predicates import predicate
from tests.meanings.generator.scope import Message, Scope, Spec
from tests.strategies.choosing import chance, pick, weighted


def clauses(scope: Scope, first: str = "", threads: bool = True) -> list[str]:
    """What stands between a head and its `do`."""
    chooser, made = scope.spec.chooser, [f"  when {first}"] if first else []
    if chance(chooser, 6):
        made.append('  source "a book"')
    if chance(chooser, 4):
        made.append('  note "a choice"')
    if chance(chooser, 25):
        made.append(f"  when {predicate(scope.condition())}")
    if threads and chance(chooser, 12):
        made.append(f"  thread {pick(chooser, ['thread_a', 'thread_b'])}")
    if chance(chooser, 10):
        made.append(f"  only after {predicate(scope.condition().seeing('all'))}")
    return made


def put_together(scope: Scope, head: str, between: list[str], inside: list[str]) -> list[str]:
    """A handler's text; its points become known to `running`."""
    points = scope.spec.points.pop(f"?{scope.handler}", None)
    if points is not None:
        scope.spec.points[scope.handler] = points
    return [head, *between, "do", *(f"  {line}" for line in inside)]


def action(spec: Spec, several: bool) -> list[str]:
    """An action of a node. One of several steps happens once, so that there are few states."""
    chooser, name = spec.chooser, spec.fresh("go")
    kind = pick(chooser, [spec.nodes["S"], *spec.nodes.values()])
    more: list[tuple[str, Kind]] = []
    if chance(chooser, 25):
        more.append(
            (spec.fresh("a"), pick(chooser, [*spec.nodes.values(), number(0, 1), BOOL, option(kind), *spec.enums]))
        )
    known = (("s", kind), *more)
    scope = Scope(spec, known, actor="s", owner=kind.text, draws=True, waits=several, ends=True, handler=name)
    once = several or chance(chooser, 60)
    made, _ = statements.body(scope, chooser.integer(2, 5) if several else chooser.integer(1, 3))
    guard = "s.left == 1" if once else predicate(scope.condition())
    inside = (["s.left := 0"] if once else []) + made
    parameters = ", ".join(f"{word}: {held.text}" for word, held in known)
    return put_together(scope, f"action {name}({parameters}){describe(spec)}", clauses(scope, guard, several), inside)


def environment_action(spec: Spec) -> list[str]:
    """What happens outside all nodes: it sees everything."""
    chooser, name = spec.chooser, spec.fresh("env")
    known = tuple((spec.fresh("a"), pick(chooser, [*spec.nodes.values(), BOOL])) for _ in range(chooser.integer(0, 1)))
    scope = Scope(spec, known, sight="all", draws=True, handler=name, depth=1)
    made, _ = statements.body(scope, chooser.integer(1, 2))
    parameters = ", ".join(f"{word}: {held.text}" for word, held in known)
    return put_together(
        scope, f"environment action {name}({parameters})", clauses(scope, predicate(scope.condition()), False), made
    )


def receipt(spec: Spec, one: Message) -> list[str]:
    """`on MESSAGE`."""
    chooser = spec.chooser
    given = tuple((spec.fresh("b"), kind) for _, kind in one.parameters)
    known = (("s", spec.nodes[one.receiver]), ("m", spec.nodes[one.sender]), *given)
    several = chance(chooser, 30)
    scope = Scope(
        spec, known, actor="s", owner=one.receiver, draws=True, waits=several, ends=True, handler=one.name, depth=1
    )
    made, _ = statements.body(scope, chooser.integer(1, 3))
    names = ", ".join(name for name, _ in given)
    return put_together(scope, f"on {one.name}({names}) at s from m{describe(spec)}", clauses(scope), made)


def service(spec: Spec, one: Message) -> list[str]:
    """`serve OPERATION`, which answers most often."""
    chooser = spec.chooser
    given = tuple((spec.fresh("b"), kind) for _, kind in one.parameters)
    known = (("s", spec.nodes[one.receiver]), ("m", spec.nodes[one.sender]), *given)
    several = chance(chooser, 40)
    scope = Scope(
        spec, known, actor="s", owner=one.receiver, draws=True, waits=several, ends=True, handler=one.name, depth=1,
        serving=one, once=one.atomic,
    )  # fmt: skip
    made, after = statements.body(scope, chooser.integer(0, 2))
    if one.returns is not None and (chance(chooser, 85) or not made):
        if expressions.available(after, one.returns):
            made += statements.marked(after, [f"answer {expressions.value(after, one.returns)}"])
        made += statements.body(replace(after, waits=False, ends=False), 1)[0] if chance(chooser, 20) else []
    names = ", ".join(name for name, _ in given)
    return put_together(scope, f"serve {one.name}({names}) at s from m{describe(spec)}", clauses(scope), made)


def notice(spec: Spec, lock: str, holder: str) -> list[str]:
    """`on lost LOCK`."""
    chooser = spec.chooser
    scope = Scope(
        spec, (("s", spec.nodes[holder]),), actor="s", owner=holder, draws=True, waits=chance(chooser, 30), ends=True,
        handler=f"lost_{lock}", depth=1,
    )  # fmt: skip
    made, _ = statements.body(scope, chooser.integer(1, 2))
    return put_together(scope, f"on lost {lock} at s{describe(spec)}", clauses(scope), made)


def restart(spec: Spec, kind: str) -> list[str]:
    """`on restart`, which is one step."""
    scope = Scope(
        spec, (("s", spec.nodes[kind]),), actor="s", owner=kind, draws=True, ends=True, handler="restart", depth=1
    )
    made, _ = statements.body(scope, spec.chooser.integer(1, 2))
    return put_together(scope, f"on restart of s: {kind}{describe(spec)}", clauses(scope, "", False), made)


def initially(spec: Spec) -> list[str]:
    """The first state."""
    scope = Scope(spec, (), sight="all", draws=True, depth=1, line_at="-")
    made, _ = statements.body(replace(scope, line_at="-"), spec.chooser.integer(1, 2))
    return ["initially do", *(f"  {line}" for line in made)]


def handlers(spec: Spec) -> list[str]:
    """All handlers of a spec."""
    chooser, lines = spec.chooser, []
    for one in spec.operations:
        lines += service(spec, one)
    for one in spec.messages:
        lines += receipt(spec, one)
    for lock in spec.locks:
        if chance(chooser, 60):
            lines += notice(spec, lock.name, lock.holder)
    for several in weighted(chooser, [(4, (True,)), (3, (True, False)), (2, (True, True)), (1, (False, False))]):
        lines += action(spec, several)
    if chance(chooser, 20):
        lines += environment_action(spec)
    for kind in spec.nodes:
        if chance(chooser, 20):
            lines += restart(spec, kind)
    if chance(chooser, 15):
        lines += initially(spec)
    return lines
