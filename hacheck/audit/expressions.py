"""Expressions of readers: small formulas over the settings of nodes, such as `ttl >= loop_wait + 2 * retry_timeout`.

Numbers, texts, names of settings, `and or not`, comparisons, `in`, `+ - * /`, `A if B else C`. Over several nodes:
`any(E)`, `all(E)`, `count(E)`, `same(E)`, `distinct(E)`, `min(E)`, `max(E)`, `sum(E)`, where E is about one node; a
second argument names a role or a kind of file, such as `any(quorum, 'primary')`. `nodes('primary')` counts nodes,
`beside('sentinel', 'server')` those on the host of another, `since('2.20')` compares the version, `have(name)` says
whether a file has that setting. Of texts with words between commas or spaces `words(T)` counts them, `local(T)` counts
addresses of the machine itself, `within(T, U)` is whether each word of T is one of U, and `union(E)` has those of all
nodes.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable
from functools import cache
from typing import Protocol, TypeAlias

Value: TypeAlias = bool | int | float | str | None


class BadExpression(ValueError):
    """An expression means nothing: why."""


class Scope(Protocol):
    """What names stand for where an expression is evaluated."""

    def value(self, name: str) -> Value:
        """The value of a setting."""

    def is_given(self, name: str) -> bool:
        """Whether a file has the setting."""

    def over(self, inner: str, names: frozenset[str], group: str | None) -> list[Value]:
        """The values of an expression on each node that has these settings."""

    def count(self, group: str | None) -> int:
        """How many nodes there are, of a role or kind."""

    def since(self, version: str) -> bool:
        """Whether the product is this version or a later one."""

    def beside(self, group: str, other: str) -> int:
        """How many nodes of a group are on the host of a node of another group."""


OVER_NODES: dict[str, Callable[[list[Value]], Value]] = {
    "any": lambda values: any(values),
    "all": lambda values: all(values),
    "count": lambda values: sum(1 for value in values if value not in (None, False)),
    "same": lambda values: len(set(values)) <= 1,
    "distinct": lambda values: len(set(known := [one for one in values if one is not None])) == len(known),
    "min": lambda values: min(_numbers(values), default=None),
    "max": lambda values: max(_numbers(values), default=None),
    "sum": lambda values: sum(_numbers(values)),
    "union": lambda values: ", ".join(sorted({word for value in values for word in _words(value)})),
}


FUNCTIONS = ("nodes", "since", "beside", "have", "words", "local", "within")
"""What is about the nodes, the version or the files as such."""


LOCAL = re.compile(r"-?(\w+://)?(localhost|127\.[0-9.]+|\[?::1\]?)([:/?].*)?", re.IGNORECASE)
"""An address at which a machine reaches only itself."""


def _words(value: Value) -> list[str]:
    """The words of a text, between commas or spaces."""
    return [word for word in re.split(r"[,\s]+", value) if word] if isinstance(value, str) else []


def _address(word: str) -> str:
    """An address without its scheme, so that `http://db:2379/` is `db:2379`."""
    return re.sub(r"^\w+://", "", word).rstrip("/").lower()


def _numbers(values: Iterable[Value]) -> list[int | float]:
    return [value for value in values if isinstance(value, int | float)]


@cache
def parsed(text: str) -> ast.expr:
    """The tree of an expression. Errors: `BadExpression`."""
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError) as error:
        raise BadExpression(f"`{text}`: {getattr(error, 'msg', error)}") from None


@cache
def names_in(text: str) -> frozenset[str]:
    """The settings that an expression names. Errors: `BadExpression`, also for a function that there is not."""
    tree = parsed(text)
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    for one in calls:
        if not isinstance(one, ast.Name) or one.id not in (*OVER_NODES, *FUNCTIONS):
            raise BadExpression(
                f"`{ast.unparse(one)}` is no function of readers; there are {', '.join((*OVER_NODES, *FUNCTIONS))}"
            )
    called = {id(one) for one in calls}
    return frozenset(node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in called)


def evaluate(text: str, scope: Scope) -> Value:
    """The value of an expression. Errors: `BadExpression`."""
    return _value(parsed(text), scope)


def _value(tree: ast.expr, scope: Scope) -> Value:
    match tree:
        case ast.Constant(value=bool() | int() | float() | str() | None as value):
            return value
        case ast.Name(id=name):
            return scope.value(name)
        case ast.BoolOp(op=ast.And(), values=parts):
            return all(_value(part, scope) for part in parts)
        case ast.BoolOp(op=ast.Or(), values=parts):
            return any(_value(part, scope) for part in parts)
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return not _value(inner, scope)
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return _arithmetic(ast.Sub(), 0, _value(inner, scope))
        case ast.BinOp(left=left, op=op, right=right):
            return _arithmetic(op, _value(left, scope), _value(right, scope))
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return _value(body if _value(test, scope) else orelse, scope)
        case ast.Compare(left=left, ops=ops, comparators=others):
            return _compared(left, ops, others, scope)
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
            return _call(name, arguments, scope)
        case _:
            raise BadExpression(f"`{ast.unparse(tree)}` is nothing that an expression of a reader may hold")


def _arithmetic(op: ast.operator, left: Value, right: Value) -> Value:
    if left is None or right is None:
        return None
    if isinstance(left, str) or isinstance(right, str):
        raise BadExpression(f"`{left}` and `{right}`: text has no sum")
    match op:
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        case ast.Mult():
            return left * right
        case ast.Div():
            return None if right == 0 else left / right
        case ast.FloorDiv():
            return None if right == 0 else left // right
        case _:
            raise BadExpression("of arithmetic there is + - * / //")


def _compared(left: ast.expr, ops: list[ast.cmpop], others: list[ast.expr], scope: Scope) -> bool:
    before = _value(left, scope)
    for op, other in zip(ops, others, strict=True):
        if isinstance(op, ast.In | ast.NotIn) and isinstance(other, ast.Tuple | ast.List):
            among = [_value(one, scope) for one in other.elts]
            if (before in among) is isinstance(op, ast.NotIn):
                return False
            continue
        after = _value(other, scope)
        if not _holds(op, before, after):
            return False
        before = after
    return True


def _holds(op: ast.cmpop, left: Value, right: Value) -> bool:
    match op:
        case ast.Eq() | ast.Is():
            return left == right
        case ast.NotEq() | ast.IsNot():
            return left != right
        case ast.In():
            return str(left) in str(right)
        case ast.NotIn():
            return str(left) not in str(right)
    if left is None or right is None:  # what is not set is neither more nor less
        return False
    if isinstance(left, str) or isinstance(right, str):
        raise BadExpression(f"`{left}` and `{right}` have no order")
    match op:
        case ast.Lt():
            return left < right
        case ast.LtE():
            return left <= right
        case ast.Gt():
            return left > right
        case _:
            return left >= right


def _call(name: str, arguments: list[ast.expr], scope: Scope) -> Value:
    if name in OVER_NODES and 1 <= len(arguments) <= 2:
        inner, group = ast.unparse(arguments[0]), None
        if len(arguments) == 2:
            group = str(_value(arguments[1], scope))
        return OVER_NODES[name](scope.over(inner, names_in(inner), group))
    match name, arguments:
        case "nodes", []:
            return scope.count(None)
        case "nodes", [group_of]:
            return scope.count(str(_value(group_of, scope)))
        case "since", [version]:
            return scope.since(str(_value(version, scope)))
        case "beside", [group_of, other]:
            return scope.beside(str(_value(group_of, scope)), str(_value(other, scope)))
        case "have", [ast.Name(id=setting)]:
            return scope.is_given(setting)
        case "words", [text]:
            return len(_words(_value(text, scope)))
        case "local", [text]:
            return sum(1 for word in _words(_value(text, scope)) if LOCAL.fullmatch(word))
        case "within", [inner_text, text]:
            among = {_address(word) for word in _words(_value(text, scope))}
            return all(_address(word) in among for word in _words(_value(inner_text, scope)))
        case _:
            raise BadExpression(f"`{name}` with {len(arguments)} arguments is no function of readers")
