"""Random conditions: comparisons, quantifiers, and what the functions of the language say."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from tests.meanings.generator import expressions
from tests.meanings.generator.kinds import BOOL, Kind, number, sequence_of, set_of
from tests.meanings.generator.scope import Scope
from tests.strategies.choosing import chance, pick, weighted

QUANTIFIERS = ("some", "no", "every", "most", "count", "at most one", "exactly one")


def predicate(scope: Scope) -> str:
    """A condition; what it is about is kept somewhere, more often than not."""
    chooser = scope.spec.chooser
    plain = replace(scope, draws=False)
    if scope.depth <= 0:
        return compared(plain)
    inner = plain.inner()
    ways: list[tuple[int, Callable[[], str]]] = [
        (8, lambda: compared(plain)),
        (1, lambda: f"(not {predicate(inner)})"),
        (1, lambda: f"({predicate(inner)} and {predicate(inner)})"),
        (1, lambda: f"({predicate(inner)} or {predicate(inner)})"),
        (1, lambda: f"({predicate(inner)} implies {predicate(inner)})"),
        (2, lambda: quantified(plain)),
        (1, lambda: f"({compared(inner)}) == ({compared(inner)})"),
    ]
    if scope.sight not in ("settings", "nothing"):
        ways.append((3, lambda: known_of_nodes(plain)))
    return weighted(chooser, ways)()


def compared(scope: Scope) -> str:
    """Two values compared, the first of which is kept somewhere."""
    chooser = scope.spec.chooser
    sources = scope.sources()
    if not sources:
        return pick(chooser, ["true", "true", "false", "1 < 2"])
    text, kind = pick(chooser, sources)
    inner = scope.inner()
    match kind.form:
        case "bool":
            return pick(
                chooser, [text, text, f"not {text}", f"{text} == true", f"{text} != {expressions.value(inner, BOOL)}"]
            )
        case "number" | "enum" | "node" | "record":
            return _ordered(inner, text, kind)
        case "option":
            ways = [f"{text} == none", f"{text} != none"]
            if expressions.available(inner, kind.element):
                ways.append(f"{text} == {expressions.value(inner, kind)}")
            return pick(chooser, ways)
        case "set" | "sequence" | "bag":
            return _collection(inner, text, kind)
        case "identity":
            return f"{text} == {pick(chooser, expressions.places(inner, kind))}"
        case _:
            inside = expressions.key(inner, kind.parts[0])
            if kind.element == BOOL:
                return f"{text}[{inside}]"
            if not expressions.available(inner, kind.element):
                return f"{text} == {text}"
            if chance(chooser, 20):
                return f"{text} {pick(chooser, ['==', '!='])} {expressions.value(inner, kind)}"
            return f"{text}[{inside}] == {expressions.value(inner, kind.element)}"


def _ordered(scope: Scope, text: str, kind: Kind) -> str:
    chooser = scope.spec.chooser
    if not expressions.available(scope, kind):
        return f"{text} == {text}"
    words = ["==", "!=", "=="]
    if kind.comparable:
        words += ["<", "<=", ">", ">="]
    if kind.form == "number" and chance(chooser, 15):
        return f"{text} in {{{chooser.integer(0, 2)}, {chooser.integer(0, 2)}}}"
    return f"{text} {pick(chooser, words)} {expressions.value(scope, kind)}"


def _collection(scope: Scope, text: str, kind: Kind) -> str:
    chooser = scope.spec.chooser
    empty = "[]" if kind.form == "sequence" else "{}"
    ways = [f"{text} == {empty}", f"{text} != {empty}", f"size({text}) {pick(chooser, ['<', '==', '>='])} 1"]
    if expressions.available(scope, kind.element):
        item = expressions.value(scope, kind.element)
        if kind.element.form != "option":
            ways += [f"{item} in {text}", f"{item} not in {text}"]
        ways.append(f"{text} == {expressions.value(scope, kind)}")
        if kind.form == "set":
            ways.append(f"{text} subset {expressions.value(scope, kind)}")
    if kind.form == "set" and kind.element.form == "node":
        ways.append(f"majority({text})")
    return pick(chooser, ways)


def quantified(scope: Scope) -> str:
    """A quantifier over a type or a collection."""
    chooser, spec = scope.spec.chooser, scope.spec
    word = pick(chooser, QUANTIFIERS)
    several = word in ("some", "no", "every") and chance(chooser, 30)
    binders, inner = [], scope.inner()
    for _ in range(weighted(chooser, [(3, 2), (1, 3)]) if several else 1):
        text, name, kind = _binder(inner)
        binders.append(text)
        inner = replace(inner, known=(*inner.known, (name, kind)))
    among = ", ".join(binders)
    body = predicate(inner)
    if word == "every":
        where = f" where {predicate(inner)}" if chance(chooser, 40) else ""
        return f"(every {among}{where} satisfies {body})"
    if word == "count":
        return f"(count {among} where {body}) {pick(chooser, ['==', '<', '>='])} {chooser.integer(0, 2)}"
    return f"({word} {among} where {body})" if spec.nodes else "true"


def _binder(scope: Scope) -> tuple[str, str, Kind]:
    """`name: type` or `name in collection`."""
    chooser, spec = scope.spec.chooser, scope.spec
    name = spec.fresh("q")
    collections = [(text, kind) for text, kind in scope.sources() if kind.form in ("set", "sequence", "bag")]
    if collections and chance(chooser, 40):
        text, kind = pick(chooser, collections)
        return f"{name} in {text}", name, kind.element
    kind = pick(chooser, [*spec.nodes.values(), *spec.nodes.values(), number(0, 2), BOOL, *spec.enums])
    if chance(chooser, 10):
        kind = pick(chooser, [set_of(kind), sequence_of(kind, 1)])
    return f"{name}: {kind.text}", name, kind


def known_of_nodes(scope: Scope) -> str:
    """What a node knows of itself; where everything is seen, what is so of nodes, links, messages and locks."""
    chooser, spec = scope.spec.chooser, scope.spec
    ways: list[str] = []
    mine = [(scope.actor, scope.owner)] if scope.actor and scope.owner else []
    seen = mine
    if scope.sight == "all":
        seen = [(name, kind.text) for name, kind in scope.known if kind.form == "node"]
        seen += [(name, name) for name, kind in spec.nodes.items() if kind.high == 1]
        ways += _environment(scope, [(name, kind) for name, kind in seen if kind])
    for node, kind in seen:
        for handler, (owner, points) in spec.points.items():
            word = handler.lstrip("?")
            if owner == kind:
                ways += [f"running({node}, {word})", f"running({node}, {word}.{pick(chooser, points)})"]
        ways += [f"holds({one.name}, {node})" for one in spec.locks if one.holder == kind]
    return pick(chooser, ways) if ways else compared(scope)


def _environment(scope: Scope, seen: list[tuple[str, str]]) -> list[str]:
    """What no node can know."""
    chooser, spec = scope.spec.chooser, scope.spec
    ways: list[str] = []
    for node, kind in seen:
        ways += [f"up({node})", f"not up({node})", f"paused({node})"]
        ways.append(f"connected({node}, {pick(chooser, [other for other, _ in seen])})")
        for one in spec.messages:
            if one.sender == kind:
                ends = [other for other, held in seen if held == one.receiver]
                ways += [f"in_flight({one.name}, {node}, {end})" for end in ends[:1]]
                empty = "none" if not one.several else None
                if empty and ends:
                    ways.append(f"under_way({one.name}, {node}, {ends[0]}) != none")
                elif ends:
                    ways.append(f"size(under_way({one.name}, {node}, {ends[0]})) > 1")
    ways += [f"in_flight({one.name})" for one in spec.messages]
    for lock in spec.locks:
        ways += [f"free({lock.name})", f"holder({lock.name}) != none"]
        ways += [f"holder({lock.name}) == {node}" for node, kind in seen if kind == lock.holder]
    return ways
