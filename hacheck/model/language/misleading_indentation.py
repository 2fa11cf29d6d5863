"""A warning: a statement that is indented as if it belonged to the `if` or `for` above it, and does not."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from hacheck.model.language import declarations as d
from hacheck.model.language import syntax_tree as t
from hacheck.model.language.diagnostics import Diagnostic
from hacheck.model.language.tree_walk import parts

HINT = "line ends and indentation mean nothing: put what belongs together in `{ … }`, or begin this line further left"


def misleading(file: d.File, text: str) -> Iterator[Diagnostic]:
    """The statements behind one that takes a single statement, where both stand below each other. `text`: of the
    file."""
    for part in parts(file.declarations):
        for name in ("body", "then", "otherwise"):
            body = getattr(part, name, None)
            if isinstance(body, tuple):
                yield from _in_body(body, text)


def _in_body(body: t.Body, text: str) -> Iterator[Diagnostic]:
    for outer, following in pairwise(body):
        column = _column(following, text)
        inner: t.Statement | None = outer
        while column is not None and inner is not None:
            head, inner = inner, _last_inside(inner)
            if inner is None or "}" in text[inner.span.end : following.span.start]:
                break
            if _column(inner, text) == column and column > _indentation(head, text):
                message = f"this is no part of the `{text[head.span.start :].split(None, 1)[0]}` above it"
                yield Diagnostic("HA204", message, following.span, hint=HINT, severity="warning")
                break


def _last_inside(statement: t.Statement) -> t.Statement | None:
    """The last statement inside another one."""
    match statement:
        case t.If(_, then, otherwise) | t.Acquire(_, then, otherwise):
            inside = otherwise or then
        case t.For(_, _, inside) | t.While(_, inside):
            pass
        case _:
            return None
    return inside[-1] if inside else None


def _column(statement: t.Statement, text: str) -> int | None:
    """Where a statement begins in its line; `None` where something else stands before it."""
    start = statement.span.start
    before = text[text.rfind("\n", 0, start) + 1 : start]
    return len(before) if not before.strip() else None


def _indentation(statement: t.Statement, text: str) -> int:
    """How far the line is indented on which a statement begins."""
    line = text[text.rfind("\n", 0, statement.span.start) + 1 :]
    return len(line) - len(line.lstrip())
