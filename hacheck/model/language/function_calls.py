"""What is written `name(arguments)`: definitions, records, single nodes, and the built-in functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec.structs import replace

from hacheck.model import ir
from hacheck.model import types as ty
from hacheck.model.language import declarations as d
from hacheck.model.language import syntax_tree as t
from hacheck.model.language.collection_syntax import OF_SEQUENCES
from hacheck.model.language.context import Bound, Scope, describe, type_name
from hacheck.model.language.diagnostics import Span, error, near
from hacheck.model.language.expressions import coerce, elaborate
from hacheck.model.language.foreign_syntax import CALLS
from hacheck.model.typing import type_of

OTHERS = frozenset(
    {"prefix", "suffix", "slice", "sub", "subseq", "tail", "head", "concat", "reverse", "SubSeq", "Tail"}
)
"""Functions of sequences that other languages have."""


def apply(written: t.Apply, scope: Scope, expected: ty.Type | None) -> ir.Expression:
    """The meaning of a name with arguments. Errors: `HA103` unknown, `HA108` wrong arguments."""
    word = written.name.text
    context = scope.context
    if word in context.definitions:
        return expand(context.definitions[word], written.arguments, written.span, scope)
    kind = context.types.get(word)
    if isinstance(kind, ty.Record):
        return record(kind, written, scope)
    if isinstance(kind, ty.Node):
        return _node(kind, written, scope)
    if word in context.rules.functions:
        return context.rules.functions[word](written, scope)
    known = [*context.definitions, *context.types, *context.rules.functions]
    hint = OF_SEQUENCES if word in OTHERS else CALLS.get(word) or near(word, known)
    if word in context.operations:
        hint = f"`{word}` is an operation: `call {word}(…) at n as x` is a statement of its own, then `x`"
    elif hint is None:
        hint = (
            "what has a value is declared: `define NAME(n: T) = …`; what changes something: `procedure NAME(n: T) do …`"
        )
    raise error("HA103", f"there is no function, record or definition `{word}`", written.name.span, hint)


def expand(definition: d.Definition, arguments: tuple[t.Argument, ...], span: Span, scope: Scope) -> ir.Expression:
    """A definition with its arguments put in. Errors: `HA109` when it refers to itself."""
    word = definition.name.text
    if word in scope.expanding:
        path = " -> ".join((*scope.expanding[scope.expanding.index(word) :], word))
        raise error("HA109", f"`{word}` is defined by itself ({path})", definition.name.span)
    if len(arguments) != len(definition.parameters):
        wanted = len(definition.parameters)
        raise error("HA108", f"`{word}` takes {wanted} argument(s), not {len(arguments)}", span)
    scope.context.expand(span)
    bounds: dict[str, Bound] = {}
    for parameter, argument in zip(definition.parameters, arguments, strict=True):
        kind = scope.context.rules.resolve(scope.context, parameter.type, parameter.name.text)
        bounds[parameter.name.text] = Bound(elaborate(argument.value, scope, kind))
    inner = replace(scope, locals=bounds, expanding=(*scope.expanding, word), used_at=(*scope.used_at, span))
    returns = None if definition.type is None else scope.context.rules.resolve(scope.context, definition.type, word)
    return elaborate(definition.value, inner, returns)


def record(kind: ty.Record, written: t.Apply, scope: Scope) -> ir.Expression:
    """A record from its fields, all by position or all by label."""
    return ir.MakeRecord(kind, fill(kind.fields, written.arguments, kind.name, written.span, scope))


def fill(
    fields: tuple[tuple[str, ty.Type], ...],
    arguments: tuple[t.Argument, ...],
    what: str,
    span: Span,
    scope: Scope,
) -> tuple[ir.Expression, ...]:
    """One expression for each field, from arguments by position or by label."""
    if len(arguments) != len(fields):
        names = ", ".join(field for field, _ in fields)
        raise error("HA108", f"`{what}` takes {len(fields)} argument(s) ({names}), not {len(arguments)}", span)
    given: dict[str, t.Argument] = {}
    for (field, _), argument in zip(fields, arguments, strict=True):
        place = field if argument.label is None else argument.label.text
        if place not in dict(fields):
            assert argument.label is not None
            hint = near(place, dict(fields))
            raise error("HA103", f"`{what}` has no field `{place}`", argument.label.span, hint)
        if place in given:
            raise error("HA108", f"`{place}` is given twice", argument.value.span)
        given[place] = argument
    return tuple(elaborate(given[field].value, scope, kind) for field, kind in fields)


def _node(kind: ty.Node, written: t.Apply, scope: Scope) -> ir.Expression:
    (index,) = _arguments(written, 1)
    if not isinstance(index, t.Number):
        raise error("HA108", f"`{kind.name}(…)` takes a number", index.span)
    if not kind.ranked and kind.size > 1:
        hint = f"declare `node {kind.name}[…] ranked` if its ids mean something"
        raise error("HA121", f"{kind.name}s are symmetric: no one of them can be named", written.span, hint)
    if not 1 <= index.value <= kind.size:
        raise error("HA113", f"there is no {kind.name} {index.value}; there are {kind.size}", index.span)
    return ir.Constant(index.value, kind)


def _arguments(written: t.Apply, count: int) -> tuple[t.Expression, ...]:
    if len(written.arguments) != count or any(argument.label for argument in written.arguments):
        message = f"`{written.name.text}` takes {count} argument(s), not {len(written.arguments)}"
        raise error("HA108", message, written.span)
    return tuple(argument.value for argument in written.arguments)


def _kind(written: t.Expression, scope: Scope, what: str) -> ty.Node:
    if isinstance(written, t.Name) and written.text in scope.context.nodes:
        return scope.context.nodes[written.text]
    raise error("HA108", f"{what} takes a kind of node", written.span, near(str(written), scope.context.nodes))


def _node_argument(written: t.Apply, scope: Scope) -> tuple[ir.Expression, ty.Node]:
    (argument,) = _arguments(written, 1)
    made = elaborate(argument, scope)
    kind = type_of(made)
    if not isinstance(kind, ty.Node):
        raise error("HA104", f"`{written.name.text}` needs a node, this is {type_name(kind)}", argument.span)
    return made, kind


def uses(scope: Scope) -> tuple[tuple[Span, str], ...]:
    """Labels for where the definitions are used whose text is at fault only there."""
    return tuple((span, "used here") for span in scope.used_at)


def changing(written: t.Apply, scope: Scope) -> None:
    """Errors: `HA110` where only settings are known, which is before there are variables."""
    if not scope.state:
        raise error("HA110", f"`{written.name.text}(…)` changes; only settings are known here", written.span)


def seeing_all(written: t.Apply, scope: Scope) -> None:
    """Errors: `HA110` where only settings are known; `HA120` where a node would know what no node can know."""
    changing(written, scope)
    if scope.sight == "node":
        hint = "a crashed, a paused, a cut off and a slow peer look the same; use time-outs and failed calls"
        raise error("HA120", f"no node can know `{written.name.text}(…)`", written.span, hint, *uses(scope))


def _up(written: t.Apply, scope: Scope) -> ir.Expression:
    seeing_all(written, scope)
    node, kind = _node_argument(written, scope)
    return is_up(scope, node, kind)


def is_up(scope: Scope, node: ir.Expression, kind: ty.Node) -> ir.Expression:
    """Whether a node's process runs; true for kinds that never crash."""
    if kind.name not in scope.context.crashing:
        return ir.TRUE
    return ir.Index(scope.context.variable(f"{kind.name}.up"), node)


def is_running(scope: Scope, node: ir.Expression, kind: ty.Node) -> ir.Expression:
    """Whether a node is up and not paused."""
    up = is_up(scope, node, kind)
    if kind.name not in scope.context.pausing:
        return up
    paused = ir.Index(scope.context.variable(f"{kind.name}.paused"), node)
    return ir.Binary("and", up, ir.Unary("not", paused)) if up != ir.TRUE else ir.Unary("not", paused)


def _paused(written: t.Apply, scope: Scope) -> ir.Expression:
    seeing_all(written, scope)
    node, kind = _node_argument(written, scope)
    if kind.name not in scope.context.pausing:
        return ir.FALSE
    return ir.Index(scope.context.variable(f"{kind.name}.paused"), node)


def _connected(written: t.Apply, scope: Scope) -> ir.Expression:
    seeing_all(written, scope)
    ends = [elaborate(argument, scope) for argument in _arguments(written, 2)]
    for end, argument in zip(ends, written.arguments, strict=True):
        if not isinstance(type_of(end), ty.Node):
            raise error("HA104", f"this is {type_name(type_of(end))}, not a node", argument.value.span)
    return is_connected(scope, ends[0], ends[1])


def is_connected(scope: Scope, start: ir.Expression, end: ir.Expression) -> ir.Expression:
    """Whether what `start` sends reaches `end`; true for links that are never cut."""
    first, second = type_of(start), type_of(end)
    assert isinstance(first, ty.Node)
    assert isinstance(second, ty.Node)
    if (first.name, second.name) not in scope.context.cutting:
        return ir.TRUE
    cut = scope.context.variable(f"cut.{first.name}.{second.name}")
    return ir.Unary("not", ir.Index(ir.Index(cut, start), end))


def _others(written: t.Apply, scope: Scope) -> ir.Expression:
    node, kind = _node_argument(written, scope)
    unique = scope.context.fresh_name("m")
    other = ir.Local(unique, kind)
    domain = ir.Domain(kind, None, ir.Binary("!=", other, node))
    return ir.SetOf(unique, domain, other, kind)


def _other(written: t.Apply, scope: Scope) -> ir.Expression:
    node, kind = _node_argument(written, scope)
    if kind.size != 2:
        message = f"`other` is for pairs; there are {kind.size} {kind.name}s"
        raise error("HA108", message, written.span, "use `others(…)`, the set of all the others")
    unique = scope.context.fresh_name("m")
    domain = ir.Domain(kind, None, ir.Binary("!=", ir.Local(unique, kind), node))
    return ir.Extreme("min", unique, domain, ir.Constant(0, ty.Range(0, 0)))


def _all(written: t.Apply, scope: Scope) -> ir.Expression:
    (argument,) = _arguments(written, 1)
    kind = _kind(argument, scope, "`all`")
    return ir.Constant(frozenset(range(1, kind.size + 1)), ty.Set(kind))


def _majority(written: t.Apply, scope: Scope) -> ir.Expression:
    (argument,) = _arguments(written, 1)
    made = elaborate(argument, scope)
    kind = type_of(made)
    if not isinstance(kind, ty.Set) or not isinstance(kind.element, ty.Node):
        hint = "of anything else say `2 * size(S) > n`"
        raise error("HA104", f"`majority` needs a set of nodes, this is {type_name(kind)}", argument.span, hint)
    return ir.Unary("majority", made)


def _size(written: t.Apply, scope: Scope) -> ir.Expression:
    (argument,) = _arguments(written, 1)
    if isinstance(argument, t.Name) and argument.text in scope.context.nodes:
        count = scope.context.nodes[argument.text].size
        return ir.Constant(count, ty.Range(count, count))
    made = elaborate(argument, scope)
    if not isinstance(type_of(made), ty.Set | ty.Sequence | ty.Bag):
        raise error("HA104", f"{type_name(type_of(made))} has no size", argument.span)
    return ir.Unary("size", made)


def _of_sequence(written: t.Apply, scope: Scope) -> ir.Expression:
    (argument,) = _arguments(written, 1)
    made = elaborate(argument, scope)
    if not isinstance(type_of(made), ty.Sequence):
        message = f"`{written.name.text}` needs a sequence, this is {type_name(type_of(made))}"
        raise error("HA104", message, argument.span)
    operators = {"first": "first", "last": "last", "rest": "rest"}
    return ir.Unary(operators[written.name.text], made)  # type: ignore[arg-type]  # its keys are the operators


def _value(written: t.Apply, scope: Scope) -> ir.Expression:
    (argument,) = _arguments(written, 1)
    made = elaborate(argument, scope)
    if not isinstance(type_of(made), ty.Option):
        raise error(
            "HA104", f"this is {type_name(type_of(made))}, which is never `none`", argument.span, "leave `value` out"
        )
    return ir.Unary("value", made)


def _larger(written: t.Apply, scope: Scope) -> ir.Expression:
    first, second = _arguments(written, 2)
    left = elaborate(first, scope)
    right = coerce(elaborate(second, scope), type_of(left), second.span)
    kind = type_of(left)
    if not isinstance(kind, ty.Range | ty.Enum) and not (isinstance(kind, ty.Record | ty.Node) and _ordered(kind)):
        raise error("HA104", f"{describe(kind)} has no order", written.span)
    smaller = ir.Binary("<", left, right)
    if written.name.text == "larger":
        return ir.Conditional(smaller, right, left)
    return ir.Conditional(smaller, left, right)


def _ordered(kind: ty.Record | ty.Node) -> bool:
    return kind.ordered if isinstance(kind, ty.Record) else kind.ranked


def _fresh(written: t.Apply, scope: Scope) -> ir.Expression:
    (argument,) = _arguments(written, 1)
    kind = scope.context.types.get(argument.text) if isinstance(argument, t.Name) else None
    if not isinstance(kind, ty.Identity):
        hint = "declare it: `identity Group`"
        raise error("HA108", "`fresh` takes an identity type", argument.span, hint)
    if not scope.state:
        raise error("HA110", "a fresh identity is drawn by a step; there is none here", written.span)
    return ir.Fresh(kind)


def _running(written: t.Apply, scope: Scope) -> ir.Expression:
    """`running(n, handler)` or `running(n, handler.step)`: whether a multi-step handler is under way at a node."""
    changing(written, scope)
    node_tree, point = _arguments(written, 2)
    node = elaborate(node_tree, scope)
    kind = type_of(node)
    if not isinstance(kind, ty.Node):
        raise error("HA104", f"this is {type_name(kind)}, not a node", node_tree.span)
    if scope.sight == "node" and node != scope.actor:
        raise error("HA120", "a node knows only its own handlers", node_tree.span)
    match point:
        case t.Name(text):
            word = text
        case t.Attribute(t.Name(handler), field):
            word = f"{handler}.{field.text}"
        case _:
            raise error("HA108", "`running` takes a handler, or `handler.step`", point.span)
    for (owner, thread), points in scope.context.threads.items():
        wanted = [one for one in points if one == word or one.startswith(f"{word}.")]
        if owner == kind.name and wanted:
            at = ir.Index(scope.context.variable(f"{owner}.{thread}"), node)
            return _any_of(at, wanted)
    if scope.context.handlers.get(word.partition(".")[0]) == kind:
        return _never_running(word, point.span, scope)
    every = [one for points in scope.context.threads.values() for one in points]
    raise error("HA103", f"{kind.name} has no handler with steps called `{word}`", point.span, near(word, every))


def _never_running(word: str, at: Span, scope: Scope) -> ir.Expression:
    """What `running` says of a handler that takes one step under these settings.

    Errors: `HA131` when it does under all settings; `HA103` a step that it does not have.
    """
    handler, _, step = word.partition(".")
    passed = scope.context.at_once[handler]
    if word in passed or (passed and not step):
        return ir.FALSE
    if not step:
        hint = "leave it out: it is always false; or give the handler a `step`"
        raise error("HA131", f"`{word}` takes one step and is never running", at, hint)
    every = [one for points in scope.context.threads.values() for one in points if one.startswith(f"{handler}.")]
    raise error("HA103", f"`{handler}` has no step called `{step}`", at, near(word, [*every, *passed]))


def _any_of(at: ir.Expression, points: list[str]) -> ir.Expression:
    made: ir.Expression = ir.FALSE
    for point in points:
        equal = ir.Binary("==", at, ir.Constant(point, type_of(at)))
        made = equal if made == ir.FALSE else ir.Binary("or", made, equal)
    return made


FUNCTIONS: Mapping[str, Callable[[t.Apply, Scope], ir.Expression]] = {
    "up": _up,
    "paused": _paused,
    "connected": _connected,
    "others": _others,
    "other": _other,
    "all": _all,
    "majority": _majority,
    "size": _size,
    "first": _of_sequence,
    "last": _of_sequence,
    "rest": _of_sequence,
    "value": _value,
    "larger": _larger,
    "smaller": _larger,
    "fresh": _fresh,
    "running": _running,
}
