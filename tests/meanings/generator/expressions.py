"""Random expressions of a wanted type, over what can be seen where they stand."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from tests.meanings.generator.kinds import BOOL, Kind, fits, number
from tests.meanings.generator.predicates import predicate
from tests.meanings.generator.scope import Scope
from tests.strategies.choosing import chance, pick, weighted

Make = Callable[[], str]


def value(scope: Scope, kind: Kind) -> str:
    """An expression of a type: often something that is kept, else anything the language has."""
    chooser = scope.spec.chooser
    known = places(scope, kind)
    if known and chance(chooser, 60 if scope.depth > 0 else 75):
        return pick(chooser, known)
    made = FORMS[kind.form](scope, kind)
    if scope.depth <= 0:
        return made
    return weighted(
        chooser,
        [
            (12, lambda: made),
            (1, lambda: conditional(scope, kind)),
            (3, lambda: defined(scope, kind, made)),
            (1, lambda: extracted(scope, kind, made)),
        ],
    )()


def places(scope: Scope, kind: Kind) -> list[str]:
    """Everything of this type that can be read by a name, a field of a record or a key of a map."""
    found = []
    for text, held in scope.sources():
        if fits(kind, held):
            found.append(text)
        if held.form == "record":
            found += [f"{text}.{name}" for name, part in held.fields if fits(kind, part)]
        if held.form == "map" and fits(kind, held.element) and scope.depth > 0:
            found.append(f"{text}[{key(scope, held.parts[0])}]")
    return found


def key(scope: Scope, kind: Kind) -> str:
    """A key of a map: always a value of the key's type, for another has no element."""
    if kind.form == "number":
        exact = [text for text, held in scope.sources() if held == kind and not text.startswith("old(")]
        if exact and chance(scope.spec.chooser, 60):
            return pick(scope.spec.chooser, exact)
        return str(scope.spec.chooser.integer(kind.low, kind.high))
    return value(replace(scope, depth=scope.depth - 1), kind)


def conditional(scope: Scope, kind: Kind) -> str:
    inner = scope.inner()
    return f"(if {predicate(inner)} then {value(inner, kind)} else {value(inner, kind)})"


def defined(scope: Scope, kind: Kind, otherwise: str) -> str:
    """A definition of this type, with its arguments."""
    may = [one for one in scope.spec.defines if one.kind == kind and (scope.sight == "all" or not one.sees_all)]
    if not may or scope.sight in ("settings", "nothing"):
        return otherwise
    one = pick(scope.spec.chooser, may)
    inner = scope.inner(draws=False)
    given = ", ".join(value(inner, part) for _, part in one.parameters)
    return f"{one.name}({given})" if one.parameters else one.name


def extracted(scope: Scope, kind: Kind, otherwise: str) -> str:
    """What is inside an option, or an element of a sequence that has one."""
    chooser = scope.spec.chooser
    held = [(text, found) for text, found in scope.sources() if found.parts and fits(kind, found.parts[-1])]
    options = [text for text, found in held if found.form == "option"]
    lists = [text for text, found in held if found.form == "sequence"]
    sets = [text for text, found in held if found.form == "set"]
    ways: list[str] = []
    if options:
        one = pick(chooser, options)
        ways.append(f"(if {one} != none then value({one}) else {otherwise})")
    if lists:
        one, word = pick(chooser, lists), pick(chooser, ["first", "last", "index"])
        taken = f"{one}[size({one})]" if word == "index" else f"{word}({one})"
        ways.append(f"(if {one} != [] then {taken} else {otherwise})")
    if sets:
        one, word, name = pick(chooser, sets), pick(chooser, ["max", "min"]), scope.spec.fresh("m")
        by = value(replace(scope.inner(draws=False), known=(*scope.known, (name, kind))), number(0, 1))
        ways.append(f"(if {one} != {{}} then ({word} {name} in {one} by {by}) else {otherwise})")
    return pick(chooser, ways) if ways else otherwise


# ---- by form ----


def _bool(scope: Scope, kind: Kind) -> str:
    if scope.depth <= 0:
        return pick(scope.spec.chooser, ["true", "false"])
    return f"({predicate(scope.inner())})"


def _number(scope: Scope, kind: Kind) -> str:
    chooser, inner = scope.spec.chooser, scope.inner(draws=False)
    plain = str(chooser.integer(kind.low, kind.high))
    if scope.depth <= 0:
        return plain
    least, most = kind.low, kind.high
    grown = f"{value(inner, kind)} + {chooser.integer(1, 2)}"
    ways: list[tuple[int, Make]] = [
        (4, lambda: plain),
        (3, lambda: f"smaller({grown}, {most})"),
        (1, lambda: grown if chance(chooser, 30) else f"smaller({most}, {grown})"),
        (1, lambda: f"larger({value(inner, kind)} - 1, {least})"),
        (1, lambda: f"larger({least}, {most} - {value(inner, kind)})"),
        (1, lambda: f"smaller({most}, {value(inner, kind)} * {value(inner, kind)})"),
        (1, lambda: f"larger({least}, smaller({most}, -(-{value(inner, kind)})))"),
        (2, lambda: f"larger({least}, smaller({_measured(inner)}, {most}))"),
    ]
    return weighted(chooser, ways)()


def _measured(scope: Scope) -> str:
    """How many there are of something, or what time it is."""
    chooser = scope.spec.chooser
    name = scope.spec.fresh("k")
    kind = pick(chooser, [*scope.spec.nodes.values(), number(0, 2), BOOL])
    inner = replace(scope, known=(*scope.known, (name, kind)))
    ways = [f"(count {name}: {kind.text} where {predicate(inner)})"]
    where = _where(inner)
    ways += [f"(sum {name}: {kind.text}{where} by {value(replace(inner, depth=0), number(-1, 2))})"]
    ways += [f"size({text})" for text, held in scope.sources() if held.form in ("set", "sequence", "bag")]
    ways += [f"size({one})" for one in scope.spec.nodes]
    if scope.actor is not None and scope.owner in scope.spec.clocks and scope.sight not in ("settings", "nothing"):
        ways.append(f"clock({scope.actor})")
    if scope.sight == "all" and scope.spec.clocks:
        ways.append("time()")
        ways += [f"clock({text})" for text, held in scope.known if held.text in scope.spec.clocks]
    return pick(chooser, ways)


def _enum(scope: Scope, kind: Kind) -> str:
    return pick(scope.spec.chooser, kind.words)


def _node(scope: Scope, kind: Kind) -> str:
    chooser, inner = scope.spec.chooser, scope.inner(draws=False)
    known = scope.nodes(kind.text)
    ways: list[tuple[int, Make]] = [(4, lambda: pick(chooser, known))] if known else []
    if kind.high == 1:
        ways.append((4, lambda: kind.text))
    elif kind.ordered:
        ways.append((2, lambda: f"{kind.text}({chooser.integer(1, kind.high)})"))
    if kind.high == 2 and known:
        ways.append((3, lambda: f"other({pick(chooser, known)})"))
    if scope.depth > 0 or not ways:
        name = scope.spec.fresh("m")
        ranked = replace(inner, known=(*scope.known, (name, kind)), depth=min(0, inner.depth))
        word = pick(chooser, ["max", "min"])
        if ways and known and kind.high > 1:
            among = pick(chooser, [f"{name} in all({kind.text})", f"{name} in others({pick(chooser, known)})"])
            among += pick(chooser, ["", f" where {name} == {name}"])
        else:
            among = f"{name}: {kind.text}"
        by = name if kind.ordered and kind.high > 1 and chance(chooser, 30) else value(ranked, number(0, 1))
        ways.append((1, lambda: f"({word} {among} by {by})"))
    return weighted(chooser, ways)()


def _identity(scope: Scope, kind: Kind) -> str:
    if scope.draws:
        return f"fresh({kind.text})"
    return pick(scope.spec.chooser, places(replace(scope, depth=0), kind))


def available(scope: Scope, kind: Kind) -> bool:
    """Whether there is an expression of this type here: an identity must be read or drawn."""
    if kind.form == "identity":
        return scope.draws or bool(places(replace(scope, depth=0), kind))
    if kind.form == "map":
        return available(scope, kind.element)
    return all(available(scope, part) for _, part in kind.fields)


def _option(scope: Scope, kind: Kind) -> str:
    inner = scope.inner()
    if not available(inner, kind.element) or chance(scope.spec.chooser, 25):
        return "none"
    return value(inner, kind.element)


def _set(scope: Scope, kind: Kind) -> str:
    chooser, element = scope.spec.chooser, kind.element
    inner = scope.inner(draws=False)
    if scope.depth <= 0 or not available(inner, element):
        return "{}"
    name = scope.spec.fresh("e")
    bound = replace(inner, known=(*scope.known, (name, element)))
    base = pick(chooser, places(inner, kind) or ["{" + value(inner, element) + "}"])
    other = value(inner, kind)
    other = "{" + value(inner, element) + "}" if other == "{}" else other
    ways: list[tuple[int, Make]] = [
        (2, lambda: "{" + ", ".join(value(inner, element) for _ in range(chooser.integer(1, 3))) + "}"),
        (2, lambda: f"({base} with {value(inner, element)})"),
        (1, lambda: f"({base} without {value(inner, element)})"),
        (1, lambda: f"({base} union {other})"),
        (1, lambda: f"({base} intersect {other})"),
        (1, lambda: f"({base} minus {other})"),
        (1, lambda: f"{{ {value(bound, element)} for {name} in {base}{_where(bound)} }}"),
    ]
    if element.form in ("bool", "node", "number", "enum"):
        where = f" where {predicate(bound)}" if chance(chooser, 60) or element.form != "node" else ""
        ways.append((2, lambda: f"{{ {name}: {element.text}{where} }}"))
        mapped = number(0, 2)
        source = replace(inner, known=(*scope.known, (name, mapped)))
        ways.append((1, lambda: f"{{ {value(source, element)} for {name}: {mapped.text}{_where(source)} }}"))
    if element.form == "node":
        ways.append((2, lambda: f"all({element.text})"))
        ways += [(2, lambda one=one: f"others({one})") for one in scope.nodes(element.text)]  # type: ignore[misc]
    return weighted(chooser, ways)()


def _where(scope: Scope) -> str:
    return f" where {predicate(scope)}" if chance(scope.spec.chooser, 40) else ""


def _map(scope: Scope, kind: Kind) -> str:
    name = scope.spec.fresh("k")
    inner = replace(scope.inner(draws=False), known=(*scope.known, (name, kind.parts[0])))
    if not available(inner, kind.element):
        return f"(each {name}: {kind.parts[0].text} -> none)"
    return f"(each {name}: {kind.parts[0].text} -> {value(inner, kind.element)})"


def _sequence(scope: Scope, kind: Kind) -> str:
    chooser, inner = scope.spec.chooser, scope.inner(draws=False)
    if scope.depth <= 0 or not available(inner, kind.element):
        return "[]"
    items = ", ".join(value(inner, kind.element) for _ in range(chooser.integer(0, kind.high)))
    more = pick(chooser, [*places(inner, kind), f"[{items}]"])
    ways: list[tuple[int, Make]] = [(2, lambda: f"[{items}]")]
    for one in places(inner, kind):
        joined = f"({one} with {value(inner, kind.element)})"
        ways += [
            (2, lambda one=one, joined=joined: f"(if size({one}) < {kind.high} then {joined} else {one})"),  # type: ignore[misc]
            (1, lambda joined=joined: joined),  # type: ignore[misc]
            (2, lambda one=one: f"(if {one} == [] then {one} else rest({one}))"),  # type: ignore[misc]
            (1, lambda one=one: f"({one} without {value(inner, kind.element)})"),  # type: ignore[misc]
            (2, lambda one=one: f"take({one}, {_length(inner)})"),  # type: ignore[misc]
            (2, lambda one=one: f"drop({one}, {_length(inner)})"),  # type: ignore[misc]
            (
                2,
                lambda one=one: f"take(join({one}, {more}), {kind.high})",
            ),  # type: ignore[misc]
        ]
    return weighted(chooser, ways)()


def _length(scope: Scope) -> str:
    """How many elements to take or leave out: too many or too few among them."""
    return pick(scope.spec.chooser, ["1", "2", "3", "-(1)", value(scope, number(0, 2))])


def _bag(scope: Scope, kind: Kind) -> str:
    chooser, inner = scope.spec.chooser, scope.inner(draws=False)
    known = places(inner, kind)
    if scope.depth <= 0 or not known or not available(inner, kind.element):
        return "{}" if not available(inner, kind.element) else "{" + value(inner, kind.element) + "}"
    one, item = pick(chooser, known), value(inner, kind.element)
    full = f"(if size({one}) < {kind.high} then {one} with {item} else {one})"
    return pick(chooser, [full, f"({one} without {item})", f"({one} with {item})", "{" + item + "}"])


def _record(scope: Scope, kind: Kind) -> str:
    inner = scope.inner()
    given = [(name, value(inner, part)) for name, part in kind.fields]
    if chance(scope.spec.chooser, 40):
        return f"{kind.text}({', '.join(f'{name}: {text}' for name, text in reversed(given))})"
    return f"{kind.text}({', '.join(text for _, text in given)})"


FORMS: dict[str, Callable[[Scope, Kind], str]] = {
    "bool": _bool,
    "number": _number,
    "enum": _enum,
    "node": _node,
    "identity": _identity,
    "option": _option,
    "set": _set,
    "map": _map,
    "sequence": _sequence,
    "bag": _bag,
    "record": _record,
}
