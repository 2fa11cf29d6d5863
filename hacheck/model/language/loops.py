"""Which statements may end a step, and how a loop with steps inside becomes one that keeps what is still to come."""

from __future__ import annotations

from hacheck.model import types as ty
from hacheck.model.language import syntax_tree as t
from hacheck.model.language.context import Scope
from hacheck.model.language.diagnostics import Span, error
from hacheck.model.language.expressions import elaborate
from hacheck.model.typing import type_of


def unrolled(written: t.For, scope: Scope) -> t.Body:
    """A loop with steps inside: the elements still to come are kept, and one is taken each turn.

    Elements come in order; symmetric nodes have none, so any may be next. Those of a sequence come in its order; those
    of a sequence or bag as often as they are in there.
    """
    span, name = written.span, written.binder.name
    left = t.Name(f"{name.text} to come", name.span)
    within = None if written.binder.within is None else type_of(elaborate(written.binder.within, scope))
    if isinstance(within, ty.Sequence | ty.Bag):
        return _one_by_one(written, left, within)
    all_of_them = t.Image(name, written.binder, written.where, span)
    kind = type_of(elaborate(all_of_them, scope))
    assert isinstance(kind, ty.Set)
    taken = _first_of(kind.element, name, left, span)
    fewer = t.Infix("without", left, name, span)
    turn = (taken, t.Assign(t.Place(left, (), (), span), fewer, span), *written.body)
    some_left = t.Infix("!=", left, t.Braces((), span), span)
    kept = t.Name(left.text, Span(span.path, span.start, span.start))
    return (t.Let(kept, None, all_of_them, True, span), t.While(some_left, turn, span))


def _first_of(kind: ty.Type, name: t.Name, left: t.Name, span: Span) -> t.Statement:
    """The first of the elements that are left, in the order of their type; any of symmetric nodes."""
    if isinstance(kind, ty.Node) and not kind.ranked and kind.size > 1:
        return t.Choose(t.Binder(name, None, left, span), None, span)
    best = t.Best("min", t.Binder(name, None, left, span), None, t.Number(0, span), span)
    return t.Let(name, None, best, False, span)


def _one_by_one(written: t.For, left: t.Name, within: ty.Sequence | ty.Bag) -> t.Body:
    """A loop with steps over a sequence or a bag."""
    span, name = written.span, written.binder.name
    assert written.binder.within is not None
    if written.where is not None:
        hint = "go over all and ask in the body, or go over a set"
        raise error("HA130", "a loop with steps over a sequence or bag cannot leave elements out", span, hint)
    kept = t.Name(left.text, Span(span.path, span.start, span.start))
    head: t.Statement = t.Let(name, None, t.Apply(t.Name("first", span), (t.Argument(None, left),), span), False, span)
    fewer: t.Expression = t.Apply(t.Name("rest", span), (t.Argument(None, left),), span)
    empty: t.Expression = t.Brackets((), span)
    if isinstance(within, ty.Bag):
        head = _first_of(within.element, name, left, span)
        fewer, empty = t.Infix("without", left, name, span), t.Braces((), span)
    turn = (head, t.Assign(t.Place(left, (), (), span), fewer, span), *written.body)
    return (t.Let(kept, None, written.binder.within, True, span), t.While(t.Infix("!=", left, empty, span), turn, span))


def ends_step(written: t.Statement, points: dict[Span, str]) -> bool:
    """Whether a step may end inside the statement."""
    match written:
        case t.StepPoint() | t.Finish() | t.Halt():
            return True
        case t.Call():
            return written.span in points
        case t.While():
            return True
        case t.If(_, then, otherwise) | t.Acquire(_, then, otherwise):
            return any(ends_step(one, points) for one in (*then, *otherwise))
        case t.For(_, _, inner):
            return any(ends_step(one, points) for one in inner)
        case _:
            return False


def always_ends_step(body: t.Body, points: dict[Span, str]) -> bool:
    """Whether a step ends on every way through the block."""
    for one in body:
        match one:
            case t.StepPoint() | t.Finish() | t.Halt():
                return True
            case t.Call() if one.span in points:
                return True
            case t.If(_, then, otherwise) | t.Acquire(_, then, otherwise):
                if always_ends_step(then, points) and always_ends_step(otherwise, points):
                    return True
            case _:
                continue
    return False
