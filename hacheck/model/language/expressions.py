"""From expressions as written to the model's expressions: every name looked up, every type checked."""

from __future__ import annotations

from typing import Any, assert_never, cast

from hacheck.model import ir
from hacheck.model import types as ty
from hacheck.model.language import syntax_tree as t
from hacheck.model.language.collection_syntax import OF_BAGS, OF_MAPS, OF_SEQUENCES, OF_SETS
from hacheck.model.language.context import Bound, Scope, describe, type_name
from hacheck.model.language.diagnostics import Span, error, near
from hacheck.model.language.foreign_syntax import CALLS, NAMES
from hacheck.model.typing import BOOL, type_of

VALUES_MAX = 4_096
"""How many values a bound variable or a parameter may range over."""
COMPARED = {"<": ("<", False), "<=": ("<=", False), ">": ("<", True), ">=": ("<=", True)}
COUNTING: dict[str, Any] = {
    "most": "majority",
    "count": "count",
    "at most one": "at_most_one",
    "exactly one": "exactly_one",
}


def elaborate(written: t.Expression, scope: Scope, expected: ty.Type | None = None) -> ir.Expression:
    """The expression, of type `expected` if that is given (then also wrapped into an option where one is wanted).

    Errors: `SpecError` with the first thing that is wrong.
    """
    made = _elaborate(written, scope, expected)
    return made if expected is None else coerce(made, expected, written.span)


def boolean(written: t.Expression, scope: Scope) -> ir.Expression:
    """The expression, which must be a condition."""
    return elaborate(written, scope, BOOL)


def coerce(expression: ir.Expression, wanted: ty.Type, span: Span) -> ir.Expression:
    """The expression as a value of the wanted type. Errors: `HA104` when it is of another one."""
    found = type_of(expression)
    if found == wanted:
        return expression
    if accepts(wanted, found):
        if isinstance(expression, ir.Constant) and not isinstance(wanted, ty.Range):
            return ir.Constant(expression.value, wanted)
        return expression
    if isinstance(wanted, ty.Option) and accepts(wanted.element, found):
        return ir.Unary("some", coerce(expression, wanted.element, span))
    hint = None
    if isinstance(found, ty.Option) and accepts(wanted, found.element):
        hint = "it may be `none`: test for that and use `value(…)`"
    elif isinstance(wanted, ty.Map) and accepts(wanted.value, found):
        hint = f"one value for every key: `each k: {type_name(wanted.key)} -> …`"
    elif isinstance(wanted, ty.Node) and isinstance(found, ty.Set) and accepts(wanted, found.element):
        hint = "to each of them: `to each …`, or `for x in … do`"
    elif isinstance(wanted, ty.Node) and isinstance(found, ty.Range):
        hint = f"nodes are no numbers; one of a `ranked` kind is `{wanted.name}(1)`"
    elif isinstance(wanted, ty.Sequence) and accepts(wanted.element, found):
        hint = "a sequence of one element is written `[…]`; `x[1]` is an element, from 1 on"
    elif isinstance(wanted, ty.Set) and isinstance(found, ty.Set) and accepts(wanted.element, found.element):
        hint = f"of its elements, those that fit: `{{ e for e: {type_name(wanted.element)} where e in (…) }}`"
    raise error("HA104", f"this is {type_name(found)}, where {describe(wanted)} is needed", span, hint)


def accepts(wanted: ty.Type, found: ty.Type) -> bool:
    """Whether a place of type `wanted` takes a value of type `found`; the limits of a range are checked when it is
    stored."""
    match wanted, found:
        case ty.Range(), ty.Range():
            return True
        case ty.Option(first), ty.Option(second):
            return accepts(first, second)
        case ty.Map(key, first), ty.Map(other, second):
            return key == other and accepts(first, second)
        case ty.Sequence(first, _), ty.Sequence(second, _):
            return first == second
        case ty.Bag(first, _), ty.Bag(second, _):
            return first == second
        case _:
            return wanted == found


def _elaborate(written: t.Expression, scope: Scope, expected: ty.Type | None) -> ir.Expression:
    match written:
        case t.Number(value):
            return ir.Constant(value, ty.Range(value, value))
        case t.Word(value, span):
            return _word(value, span, expected)
        case t.Name():
            return name(written, scope, expected)
        case t.Prefix():
            return _prefix(written, scope)
        case t.Infix():
            return _infix(written, scope, expected)
        case t.Choice():
            return _choice(written, scope, expected)
        case t.Quantifier():
            return _quantifier(written, scope)
        case t.Named(known, value, body):
            return elaborate(body, scope.bind(known.text, Bound(elaborate(value, scope))), expected)
        case t.Best() | t.Each() | t.Braces() | t.Image() | t.Brackets():
            return scope.context.rules.collection(written, scope, expected)
        case t.Attribute():
            return _attribute(written, scope)
        case t.Subscript():
            return _subscript(written, scope)
        case t.Apply():
            return scope.context.rules.apply(written, scope, expected)
        case _:
            assert_never(written)


def _word(value: bool | None, span: Span, expected: ty.Type | None) -> ir.Expression:
    if value is not None:
        return ir.Constant(value, ty.Bool())
    if not isinstance(expected, ty.Option):
        found = "here" if expected is None else f"for {describe(expected)}"
        raise error("HA104", f"`none` has no meaning {found}", span, "only an optional type (`T?`) can be none")
    return ir.Constant(None, expected)


def name(written: t.Name, scope: Scope, expected: ty.Type | None) -> ir.Expression:
    """What a single word stands for."""
    context, word = scope.context, written.text
    bound = scope.find(word)
    if bound is not None:
        return bound.expression
    if word in context.constants:
        known = context.constants[word]
        if not scope.state or isinstance(known.type, ty.Range):
            context.decisive.add(word)
        return known
    if word in context.definitions:
        return context.rules.expand(context.definitions[word], (), written.span, scope)
    if word in context.variables:
        return variable(scope, word, written.span)
    if word in context.nodes and context.nodes[word].size == 1:
        return ir.Constant(1, context.nodes[word])
    if word in context.members:
        return _member(written, scope, expected)
    raise error("HA103", f"there is no `{word}` here", written.span, _unknown_hint(word, scope))


def _unknown_hint(word: str, scope: Scope) -> str | None:
    context = scope.context
    kind = scope.actor_kind
    if word in NAMES:
        return NAMES[word]
    if word in context.nodes:
        return _one_of(context.nodes[word], scope)
    if kind is not None and f"{kind.name}.{word}" in context.variables:
        actor = scope.actor.name if isinstance(scope.actor, ir.Local) else "n"
        return f"a field is written with its node: `{actor.split('$')[0]}.{word}`"
    if word in context.rules.functions or word in CALLS:
        return CALLS.get(word) or f"it is a function: `{word}(…)`"
    known = [*context.constants, *context.members, *context.definitions, *scope.locals]
    known += [variable for variable in context.variables if "." not in variable]
    return near(word, known) or _where_from(word, scope)


def _where_from(word: str, scope: Scope) -> str:
    """How a name comes to be, for one that is like no other."""
    context = scope.context
    for kind in context.nodes.values():
        if f"{kind.name}.{word}" in context.variables:
            return f"a field is written with its node: `{kind.name[0].lower()}.{word}`"
        if word.rstrip("0123456789").casefold() == kind.name.casefold():
            return _one_of(kind, scope)
    declared = "`param NAME = 2 in 1..3` or `define NAME = …`"
    return f"a name is bound, as `x` in `some x: T where …`, or declared: {declared}"


def _one_of(kind: ty.Node, scope: Scope) -> str:
    """What to write for a kind of node of which there are several."""
    name, short = kind.name, kind.name[0].lower()
    if scope.actor_kind == kind and isinstance(scope.actor, ir.Local):
        actor = scope.actor.name.split("$")[0]
        each = f"of each, `for {short}: {name} do …`; the set of all is `all({name})`"
        return f"there are {kind.size} {name}s: the one that acts is `{actor}`; {each}"
    forms = f"`every {short}: {name} satisfies …`, `some {short}: {name} where …`"
    return f"there are {kind.size} {name}s: write {forms}{f' or `{name}(1)`' if kind.ranked else ''}"


def variable(scope: Scope, word: str, span: Span) -> ir.Expression:
    """A whole state variable, if it may be read here. Errors: `HA120` a ghost read by a node."""
    declared = scope.context.variables[word]
    if not scope.state:
        raise error("HA110", f"`{word}` changes; only settings are known here", span)
    if declared.ghost and scope.sight == "node":
        hint = "a node decides by fields of its own; an `if` that assigns ghosts alone may read ghosts"
        labels = ((at, "used here") for at in scope.used_at)
        raise error("HA120", f"`{word}` is a ghost, which no node can read", span, hint, *labels)
    return ir.Variable(word, declared.type)


def _member(written: t.Name, scope: Scope, expected: ty.Type | None) -> ir.Expression:
    kinds = scope.context.members[written.text]
    wanted = expected.element if isinstance(expected, ty.Option) else expected
    if wanted in kinds:
        return ir.Constant(written.text, wanted)
    if len(kinds) > 1:
        several = ", ".join(describe(kind) for kind in kinds)
        hint = "compare it with a field of the one you mean"
        raise error("HA105", f"`{written.text}` belongs to several types: {several}", written.span, hint)
    return ir.Constant(written.text, kinds[0])


def _prefix(written: t.Prefix, scope: Scope) -> ir.Expression:
    if written.operator == "old":
        if not scope.old:
            hint = "it belongs into `step_invariant` and `observe`"
            raise error("HA106", "`old(…)` needs a step, and there is none here", written.span, hint)
        return ir.Old(elaborate(written.operand, scope))
    if written.operator == "not":
        return ir.Unary("not", boolean(written.operand, scope))
    operand = elaborate(written.operand, scope)
    if not isinstance(type_of(operand), ty.Range):
        raise error("HA104", f"`-` needs a number, this is {type_name(type_of(operand))}", written.operand.span)
    return ir.Unary("negate", operand)


def _infix(written: t.Infix, scope: Scope, expected: ty.Type | None) -> ir.Expression:
    operator = written.operator
    match operator:
        case "and" | "or" | "implies":
            return ir.Binary(operator, boolean(written.left, scope), boolean(written.right, scope))
        case "==" | "!=":
            return ir.Binary(operator, *equals(written, scope))
        case "<" | "<=" | ">" | ">=":
            return _ordering(written, scope)
        case "+" | "-" | "*":
            return _arithmetic(written, scope)
        case "in":
            return scope.context.rules.membership(written, scope)
        case "not in":
            return ir.Unary("not", scope.context.rules.membership(written, scope))
        case _:
            return scope.context.rules.combine(written, scope, expected)


def equals(written: t.Infix, scope: Scope) -> tuple[ir.Expression, ir.Expression]:
    """Both sides of a comparison, brought to one type; whichever side says its type by itself goes first."""
    first, second = written.left, written.right
    swapped = _leans(first, scope) and not _leans(second, scope)
    if swapped:
        first, second = second, first
    leading = elaborate(first, scope)
    kind = type_of(leading)
    if isinstance(kind, ty.Option) or _leans(second, scope):
        following = elaborate(second, scope, kind)
    else:
        following = elaborate(second, scope)
        other = type_of(following)
        if isinstance(other, ty.Option) and accepts(other.element, kind):
            leading = coerce(leading, other, first.span)
        elif not accepts(kind, other):
            message = f"{type_name(kind)} and {type_name(other)} are never equal"
            raise error("HA104", message, written.span, _hidden(written, scope))
    return (following, leading) if swapped else (leading, following)


def _of_arithmetic(kind: ty.Type) -> str:
    """What to write where something that is no number is added."""
    match kind:
        case ty.Option():
            return "it may be `none`: test for that and use `value(…)`"
        case ty.Sequence():
            return (
                "a sequence grows by `x with e`; of two, `join(x, y)` makes one, and `take`, `drop` and `rest` part one"
            )
        case ty.Set() | ty.Bag():
            return "sets are joined with `union`, `minus`, `with` and `without`"
        case _:
            return "numbers are whole; nothing else is added"


def operations_of(kind: ty.Type) -> str | None:
    """What there is to do with a collection."""
    match kind:
        case ty.Sequence():
            return OF_SEQUENCES
        case ty.Set():
            return OF_SETS
        case ty.Bag():
            return OF_BAGS
        case ty.Map():
            return OF_MAPS
        case _:
            return None


def _hidden(written: t.Infix, scope: Scope) -> str | None:
    """That a name stands for something of its own here, and hides a word of a type that was probably meant."""
    for side in (written.left, written.right):
        if isinstance(side, t.Name) and scope.find(side.text) is not None and scope.context.members.get(side.text):
            (kind, *_) = scope.context.members[side.text]
            return f"`{side.text}` is a name of its own here and hides the word of {kind.name}: give it another name"
    return None


def _leans(written: t.Expression, scope: Scope) -> bool:
    """Whether the expression takes its type from what it is compared with."""
    match written:
        case t.Word(None) | t.Braces() | t.Brackets():
            return True
        case t.Name(text):
            return scope.find(text) is None and len(scope.context.members.get(text, ())) > 0
        case _:
            return False


def _ordering(written: t.Infix, scope: Scope) -> ir.Expression:
    operator, swapped = COMPARED[written.operator]
    left, right = equals(written, scope)
    kind = type_of(left)
    match kind:
        case ty.Range() | ty.Enum() | ty.Record(ordered=True) | ty.Node(ranked=True):
            pass
        case ty.Node():
            hint = f"declare `node {kind.name}[…] ranked` if its ids are priorities"
            raise error("HA121", f"{kind.name}s are symmetric: they have no order", written.span, hint)
        case ty.Record():
            raise error("HA104", f"{kind.name} has no order", written.span, f"declare `ordered record {kind.name}`")
        case _:
            optional = "test it for `none`, and compare `value(…)`" if isinstance(kind, ty.Option) else None
            raise error("HA104", f"{describe(kind)} has no order", written.span, optional)
    sides = (right, left) if swapped else (left, right)
    return ir.Binary(cast(Any, operator), *sides)


def _arithmetic(written: t.Infix, scope: Scope) -> ir.Expression:
    sides = []
    for side in (written.left, written.right):
        made = elaborate(side, scope)
        if not isinstance(type_of(made), ty.Range):
            hint = _of_arithmetic(type_of(made))
            found = type_name(type_of(made))
            raise error("HA104", f"`{written.operator}` needs numbers, this is {found}", side.span, hint)
        sides.append(made)
    return ir.Binary(cast(Any, written.operator), sides[0], sides[1])


def _choice(written: t.Choice, scope: Scope, expected: ty.Type | None) -> ir.Expression:
    condition = boolean(written.condition, scope)
    first, second = written.then, written.otherwise
    if expected is not None:
        return ir.Conditional(condition, elaborate(first, scope, expected), elaborate(second, scope, expected))
    if _leans(first, scope) and not _leans(second, scope):
        otherwise = elaborate(second, scope)
        return ir.Conditional(condition, elaborate(first, scope, type_of(otherwise)), otherwise)
    then = elaborate(first, scope)
    otherwise = elaborate(second, scope, None if isinstance(type_of(then), ty.Range) else type_of(then))
    if isinstance(type_of(then), ty.Range) and not isinstance(type_of(otherwise), ty.Range):
        coerce(otherwise, type_of(then), second.span)
    return ir.Conditional(condition, then, otherwise)


def bind(
    written: t.Binder, where: t.Expression | None, scope: Scope, *, whole: bool = False
) -> tuple[str, ir.Domain, Scope]:
    """A bound variable's unique name, its domain, and the scope in which it is known. `whole`: it may be a set or a
    sequence."""
    within = None
    if written.type is not None:
        bounds = scope.context.bounds
        capacity = f"capacity of {written.name.text}"
        is_known = capacity in bounds
        kind = scope.context.rules.resolve(scope.context, written.type, written.name.text)
        if not is_known:  # what is one of so many values never grows beyond them
            bounds.pop(capacity, None)
        if not ty.is_scalar(kind) and not (whole and isinstance(kind, ty.Set | ty.Sequence)):
            hint = _of_ranging(kind)
            raise error("HA112", f"a bound variable cannot range over all {describe(kind)}", written.span, hint)
        if scope.context.values_of(kind) > VALUES_MAX:
            message = f"{describe(kind)} has {ty.cardinality(kind):,} values; {VALUES_MAX:,} are gone through at most"
            raise error("HA112", message, written.span, "make the range smaller")
    else:
        assert written.within is not None
        within = elaborate(written.within, scope)
        holder = type_of(within)
        if not isinstance(holder, ty.Set | ty.Sequence | ty.Bag):
            raise error("HA104", f"{type_name(holder)} has no elements", written.within.span)
        kind = holder.element
    unique = scope.context.fresh_name(written.name.text)
    inner = scope.bind(written.name.text, Bound(ir.Local(unique, kind)))
    condition = None if where is None else boolean(where, inner)
    return unique, ir.Domain(kind, within, condition), inner


def _of_ranging(kind: ty.Type) -> str:
    """What to write where not all values of a type can be gone through."""
    if isinstance(kind, ty.Set | ty.Sequence):
        return "`choose`, `some`, `every` and `no` can: take one by `choose`, then go over its elements"
    return "range over scalars, sets and sequences: two of a kind are `x: T, y: T where x != y`"


def _quantifier(written: t.Quantifier, scope: Scope) -> ir.Expression:
    if written.kind in COUNTING:
        variable_name, domain, inner = bind(written.binders[0], written.where, scope, whole=True)
        counted = ir.Quantified(COUNTING[written.kind], variable_name, domain, boolean(written.body, inner))
        return _most_of(counted) if written.kind == "most" and domain.within is not None else counted
    kind: Any = "every" if written.kind == "every" else "some"
    bound: list[tuple[str, ir.Domain]] = []
    inner = scope
    for index, binder in enumerate(written.binders):
        last = index == len(written.binders) - 1
        variable_name, domain, inner = bind(binder, written.where if last else None, inner, whole=True)
        bound.append((variable_name, domain))
    made = boolean(written.body, inner)
    for variable_name, domain in reversed(bound):
        made = ir.Quantified(kind, variable_name, domain, made)
    if written.kind == "no":
        assert isinstance(made, ir.Quantified)
        return ir.Quantified("none", made.variable, made.domain, made.body)
    return made


def _most_of(counted: ir.Quantified) -> ir.Expression:
    """More than half of the elements gone through, not of all values of their type."""
    assert counted.domain.within is not None
    count = ir.Quantified("count", counted.variable, counted.domain, counted.body)
    twice = ir.Binary("*", ir.Constant(2, ty.Range(2, 2)), count)
    return ir.Binary("<", ir.Unary("size", counted.domain.within), twice)


def _attribute(written: t.Attribute, scope: Scope) -> ir.Expression:
    base = elaborate(written.base, scope)
    kind = type_of(base)
    if isinstance(kind, ty.Record):
        if written.field.text not in dict(kind.fields):
            hint = near(written.field.text, [field for field, _ in kind.fields])
            raise error("HA103", f"{kind.name} has no field `{written.field.text}`", written.field.span, hint)
        return ir.Member(base, written.field.text)
    if isinstance(kind, ty.Node):
        return node_field(base, kind, written.field, scope)
    hint = "use `value(…)` once it cannot be none" if isinstance(kind, ty.Option) else operations_of(kind)
    raise error("HA104", f"{type_name(kind)} has no fields", written.span, hint)


def node_field(base: ir.Expression, kind: ty.Node, field: t.Name, scope: Scope) -> ir.Expression:
    """A field of a node. Errors: `HA103` unknown; `HA120` another node's, which the acting node cannot see."""
    full = f"{kind.name}.{field.text}"
    if full not in scope.context.variables or scope.context.variables[full].role not in ("field", "view"):
        prefix = f"{kind.name}."
        fields = [known.removeprefix(prefix) for known in scope.context.variables if known.startswith(prefix)]
        hint = _field_hint(field.text, fields, scope)
        raise error("HA103", f"{kind.name} has no field `{field.text}`", field.span, hint)
    whole = variable(scope, full, field.span)
    if scope.sight == "node" and base != scope.actor:
        sees = "only an `environment action` sees everything; any action may write a `ghost`"
        hint = f"send a message or make a call; {sees}"
        labels = ((span, "used here") for span in scope.used_at)
        raise error("HA120", "a node reads and writes only fields of its own", field.span, hint, *labels)
    return ir.Index(whole, base)


def _field_hint(word: str, fields: list[str], scope: Scope) -> str:
    if word in scope.context.rules.functions:
        return f"it is a function: `{word}(…)`"
    listed = f"it has {', '.join(f'`{name}`' for name in fields[:6])}" if fields else "it has no fields"
    return CALLS.get(word) or near(word, fields) or listed


def _subscript(written: t.Subscript, scope: Scope) -> ir.Expression:
    base = elaborate(written.base, scope)
    kind = type_of(base)
    match kind:
        case ty.Map(key, _):
            return ir.Index(base, elaborate(written.key, scope, key))
        case ty.Sequence(_, capacity):
            return ir.Index(base, elaborate(written.key, scope, ty.Range(1, capacity)))
        case _:
            raise error("HA104", f"{type_name(kind)} cannot be indexed", written.span)
