"""From the parser's tree to expressions, types and statements."""

from __future__ import annotations

from typing import Any, cast

from hacheck.model.language import syntax_tree as t
from hacheck.model.language.diagnostics import Span
from hacheck.model.language.parse_tree import Token, Tree

INFIX = {
    "implies": "implies",
    "or_": "or",
    "and_": "and",
    "in_": "in",
    "not_in": "not in",
    "subset": "subset",
    "add": "+",
    "subtract": "-",
    "multiply": "*",
}
PREFIX = {"not_": "not", "negate": "negate", "old": "old"}
WORDS = {"true": True, "false": False, "none": None}


class Builder:
    """Builds the untyped tree of one file; keeps nothing but the file's path, which every span names."""

    def __init__(self, path: str) -> None:
        self.path = path

    def span(self, node: Tree | Token) -> Span:
        """Where a node or a token of the parser stands."""
        return Span(self.path, *node.place)

    def name(self, token: Token) -> t.Name:
        return t.Name(token.text, self.span(token))

    # ---- expressions ----

    def expression(self, node: Any) -> t.Expression:
        span = self.span(node)
        if isinstance(node, Token):
            return t.Word(node.text == "on", span)
        kind, parts = node.data, node.children
        if kind in INFIX:
            return t.Infix(INFIX[kind], self.expression(parts[0]), self.expression(parts[1]), span)
        if kind in PREFIX:
            return t.Prefix(cast(Any, PREFIX[kind]), self.expression(parts[0]), span)
        if kind in WORDS:
            return t.Word(WORDS[kind], span)
        if kind in ("compare", "collection"):
            return t.Infix(parts[1].text, self.expression(parts[0]), self.expression(parts[2]), span)
        return cast(t.Expression, getattr(self, f"_{kind}")(parts, span))

    def optional(self, node: Any) -> t.Expression | None:
        return None if node is None else self.expression(node)

    def _number(self, parts: list[Any], span: Span) -> t.Expression:
        return t.Number(int(parts[0].text), span)

    def _name(self, parts: list[Any], span: Span) -> t.Expression:
        return self.name(parts[0])

    def _onoff(self, parts: list[Any], span: Span) -> t.Expression:
        return t.Word(parts[0].text == "on", span)

    def _if_expression(self, parts: list[Any], span: Span) -> t.Expression:
        condition, then, otherwise = (self.expression(part) for part in parts)
        return t.Choice(condition, then, otherwise, span)

    def _quantified(self, parts: list[Any], span: Span) -> t.Expression:
        kind = cast(Any, " ".join(parts[0].text.split()))
        return t.Quantifier(kind, self.binders(parts[1]), None, self.expression(parts[2]), span)

    def _every(self, parts: list[Any], span: Span) -> t.Expression:
        return t.Quantifier("every", self.binders(parts[0]), self.optional(parts[1]), self.expression(parts[2]), span)

    def _extreme(self, parts: list[Any], span: Span) -> t.Expression:
        kind = cast(Any, parts[0].text)
        return t.Best(kind, self.binder(parts[1]), self.optional(parts[2]), self.expression(parts[3]), span)

    def _let_goal(self, parts: list[Any], span: Span) -> t.Expression:
        _, name, value, body = parts
        return t.Named(self.name(name), self.expression(value), self.expression(body), span)

    def _each(self, parts: list[Any], span: Span) -> t.Expression:
        name, kind, item = parts
        return t.Each(self.name(name), self.type(kind), self.expression(item), span)

    def _set_literal(self, parts: list[Any], span: Span) -> t.Expression:
        return t.Braces(tuple(self.expression(part) for part in parts if part is not None), span)

    def _sequence_literal(self, parts: list[Any], span: Span) -> t.Expression:
        return t.Brackets(tuple(self.expression(part) for part in parts if part is not None), span)

    def _set_filter(self, parts: list[Any], span: Span) -> t.Expression:
        name, kind, where = parts
        binder = t.Binder(self.name(name), self.type(kind), None, self.span(name))
        return t.Image(None, binder, self.optional(where), span)

    def _set_image(self, parts: list[Any], span: Span) -> t.Expression:
        item, binder, where = parts
        return t.Image(self.expression(item), self.binder(binder), self.optional(where), span)

    def _attribute(self, parts: list[Any], span: Span) -> t.Expression:
        return t.Attribute(self.expression(parts[0]), self.name(parts[1]), span)

    def _index(self, parts: list[Any], span: Span) -> t.Expression:
        return t.Subscript(self.expression(parts[0]), self.expression(parts[1]), span)

    def _apply(self, parts: list[Any], span: Span) -> t.Expression:
        return t.Apply(self.name(parts[0]), self.arguments(parts[1] if len(parts) > 1 else None), span)

    def arguments(self, node: Any) -> tuple[t.Argument, ...]:
        if node is None:
            return ()
        return tuple(self._argument(child) for child in node.children)

    def _argument(self, node: Tree) -> t.Argument:
        if node.data == "labelled":
            return t.Argument(self.name(cast(Token, node.children[0])), self.expression(node.children[1]))
        return t.Argument(None, self.expression(node.children[0]))

    def binders(self, node: Tree) -> tuple[t.Binder, ...]:
        if node.data == "binders":
            return tuple(self.binder(cast(Tree, child)) for child in node.children)
        return (self.binder(node),)

    def binder(self, node: Tree) -> t.Binder:
        name = self.name(cast(Token, node.children[0]))
        if node.data == "binder_type":
            return t.Binder(name, self.type(node.children[1]), None, self.span(node))
        return t.Binder(name, None, self.expression(node.children[1]), self.span(node))

    # ---- types ----

    def type(self, node: Any) -> t.TypeTree:
        span = self.span(node)
        if node.data == "type":
            inner = self.type(node.children[0])
            optional = len(node.children) > 1 and node.children[1] is not None
            return t.TypeTree("option", (inner,), (), (), span) if optional else inner
        kind = node.data.removeprefix("type_")
        parts: list[t.TypeTree] = []
        limits: list[t.Expression] = []
        names: list[t.Name] = []
        for child in node.children:
            if child is None:
                continue
            if isinstance(child, Token):
                if child.kind == "NAME":
                    names.append(self.name(child))
            elif child.data == "type" or child.data.startswith("type_"):
                parts.append(self.type(child))
            else:
                limits.append(self.expression(child))
        return t.TypeTree(cast(Any, kind), tuple(parts), tuple(limits), tuple(names), span)

    # ---- statements ----

    def body(self, node: Any) -> t.Body:
        if node is None:
            return ()
        if node.data == "body":
            return tuple(self.statement(child) for child in node.children)
        return (self.statement(node),)

    def statement(self, node: Tree) -> t.Statement:
        return cast(t.Statement, getattr(self, f"_do_{node.data}")(node.children, self.span(node)))

    def place(self, node: Tree) -> t.Place:
        path: list[t.Name | t.Expression] = []
        keys: list[bool] = []
        for step in node.children[1:]:
            assert isinstance(step, Tree)
            is_key = step.data == "place_index"
            keys.append(is_key)
            child = step.children[0]
            path.append(self.expression(child) if is_key else self.name(cast(Token, child)))
        return t.Place(self.name(cast(Token, node.children[0])), tuple(path), tuple(keys), self.span(node))

    def _do_assign(self, parts: list[Any], span: Span) -> t.Statement:
        return t.Assign(self.place(parts[0]), self.expression(parts[1]), span)

    def _do_if_statement(self, parts: list[Any], span: Span) -> t.Statement:
        return t.If(self.expression(parts[0]), self.body(parts[1]), self.body(parts[2]), span)

    def _do_for_statement(self, parts: list[Any], span: Span) -> t.Statement:
        return t.For(self.binder(parts[0]), self.optional(parts[1]), self.body(parts[2]), span)

    def _do_while_statement(self, parts: list[Any], span: Span) -> t.Statement:
        return t.While(self.expression(parts[0]), self.body(parts[1]), span)

    def _do_let(self, parts: list[Any], span: Span) -> t.Statement:
        word, name, kind, value = parts
        written = None if kind is None else self.type(kind)
        return t.Let(self.name(name), written, self.expression(value), word.text == "var", span)

    def _do_choose(self, parts: list[Any], span: Span) -> t.Statement:
        return t.Choose(self.binder(parts[0]), self.optional(parts[1]), span)

    def _do_require(self, parts: list[Any], span: Span) -> t.Statement:
        return t.Require(self.expression(parts[0]), span)

    def _do_perform(self, parts: list[Any], span: Span) -> t.Statement:
        return t.Perform(self.name(parts[0]), self.arguments(parts[1] if len(parts) > 1 else None), span)

    def _do_send(self, parts: list[Any], span: Span) -> t.Statement:
        name, arguments, each, to = (parts[0], None, *parts[1:]) if len(parts) == 3 else parts
        return t.Send(self.name(name), self.arguments(arguments), self.expression(to), each is not None, span)

    def _do_call(self, parts: list[Any], span: Span) -> t.Statement:
        name, arguments, each, at, result = (parts[0], None, *parts[1:]) if len(parts) == 4 else parts
        bound = None if result is None else self.name(result)
        return t.Call(self.name(name), self.arguments(arguments), self.expression(at), each is not None, bound, span)

    def _do_answer(self, parts: list[Any], span: Span) -> t.Statement:
        return t.Answer(self.expression(parts[0]), span)

    def _do_acquire(self, parts: list[Any], span: Span) -> t.Statement:
        return t.Acquire(self.name(parts[0]), self.body(parts[1]), self.body(parts[2]), span)

    def _do_release(self, parts: list[Any], span: Span) -> t.Statement:
        return t.Release(self.name(parts[0]), span)

    def _do_sync(self, parts: list[Any], span: Span) -> t.Statement:
        return t.Sync(self.place(parts[0]), span)

    def _do_halt(self, parts: list[Any], span: Span) -> t.Statement:
        return t.Halt(span)

    def _do_finish(self, parts: list[Any], span: Span) -> t.Statement:
        return t.Finish(span)

    def _do_step(self, parts: list[Any], span: Span) -> t.Statement:
        name, holding, when, only_after = parts
        return t.StepPoint(self.name(name), holding is not None, self.optional(when), self.optional(only_after), span)

    def _do_log(self, parts: list[Any], span: Span) -> t.Statement:
        name, fields, at = (parts[0], None, parts[1]) if len(parts) == 2 else parts
        shown = () if fields is None else tuple(self.shown(child) for child in fields.children)
        return t.Log(self.name(name), shown, self.optional(at), span)

    def shown(self, node: Any) -> t.Shown:
        """A field of a log line: `name: value` or, of an `observe`, `name = value`."""
        name, value, by_name = node.children
        return t.Shown(self.name(name), self.expression(value), by_name is not None)
