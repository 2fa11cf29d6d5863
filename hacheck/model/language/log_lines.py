"""Lines of logs: `log` in handlers, `observe` of handlers, and a file without the one.

A line changes nothing, so it may show what no node can know. Verification does without: a `log`, and what stands in the
text for its sake only, is taken out of the tree before handlers are cut into steps, so that nothing is kept for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from hacheck.model import ir
from hacheck.model import types as ty
from hacheck.model.language import declarations as d
from hacheck.model.language import syntax_tree as t
from hacheck.model.language.context import Bound, Context, Scope, type_name
from hacheck.model.language.diagnostics import error, near
from hacheck.model.language.expressions import boolean, elaborate
from hacheck.model.language.messages import kind_of
from hacheck.model.language.operations import is_atomic
from hacheck.model.rewrite import walk
from hacheck.model.typing import type_of

HEALING: Mapping[str, tuple[str, ...]] = {"restart": ("crash", "wipe", "blackout"), "resume": ("pause",)}
"""What happens to a node after one of these faults."""
AT_NODES = ("crash", "wipe", "pause", *HEALING)
"""What faults and their repairs are called, as handlers, that happen to one node."""
AT_LARGE = ("blackout", "isolate", "cut", "partition", "bridge", "heal", "lose", "duplicate", "free", "tick")
"""And those that do not."""


# ---- `log` -------------------------------------------------------------------------------------------------------


def line(written: t.Log, scope: Scope) -> tuple[ir.Statement, ...]:
    """The line that a `log` writes.

    Errors: `HA132` nobody writes it, `HA104` what is no node does, `HA112`, `HA133` and `HA134` those of its fields.
    """
    seeing = scope.seeing("all")
    node = _writer(written, seeing)
    fields = _shown(written.event, written.fields, seeing)
    scope.context.events.add(written.event.text)
    return (ir.Log(written.event.text, node, fields, written.span.line),)


def _writer(written: t.Log, scope: Scope) -> ir.Expression | None:
    if scope.lines == "none":
        hint = "`initially` is before the first step; a line is written by a step"
        raise error("HA132", f"nobody writes `{written.event.text}`", written.span, hint)
    if written.at is None:
        if scope.lines == "named":
            hint = f"say it: `log {written.event.text}(…) at NODE`"
            raise error("HA132", "a procedure does not know which node writes the line", written.span, hint)
        return scope.actor
    node = elaborate(written.at, scope)
    if not isinstance(type_of(node), ty.Node):
        raise error("HA104", f"a line is written by a node, and this is {type_name(type_of(node))}", written.at.span)
    return node


def _shown(event: t.Name, written: Sequence[t.Shown], scope: Scope) -> tuple[ir.Shown, ...]:
    """What a line shows, each field once, and each of the same type wherever lines of the event show it."""
    made: list[ir.Shown] = []
    for one in written:
        name = one.name.text
        if any(name == other.name for other in made):
            raise error("HA101", f"`{name}` is shown twice", one.name.span)
        value = elaborate(one.value, scope)
        if any(isinstance(part, ir.Fresh) for part in walk(value)):
            hint = "draw it before: `let name = fresh(…)`"
            raise error("HA134", "a line draws no identity; it changes nothing", one.value.span, hint)
        kind = type_of(value)
        by_name = one.by_name or isinstance(_inside(kind), ty.Identity)
        _showable(one, kind, by_name)
        _agrees(event, one, kind, by_name, scope.context)
        made.append(ir.Shown(name, value, by_name))
    return tuple(made)


def _inside(kind: ty.Type) -> ty.Type:
    return kind.element if isinstance(kind, ty.Option | ty.Set) else kind


def _showable(written: t.Shown, kind: ty.Type, by_name: bool) -> None:
    name = written.name.text
    if by_name and isinstance(kind, ty.Set):
        hint = "a log's name can be matched only where a line shows a single value"
        raise error("HA112", f"`{name}` is a set, whose values have no names in a log", written.name.span, hint)
    if not ty.is_scalar(kind) and not isinstance(kind, ty.Set):
        hint = "show its parts, or how many there are"
        raise error("HA112", f"`{name}` cannot be shown as one value of a log line", written.name.span, hint)


def _agrees(event: t.Name, written: t.Shown, kind: ty.Type, by_name: bool, context: Context) -> None:
    """Errors: `HA133` another line of this event shows a value of another type under this name."""
    words = f"a name of {type_name(_inside(kind))}" if by_name else type_name(kind)
    if isinstance(_inside(kind), ty.Range) and not by_name:
        words = {ty.Option: "a number or none", ty.Set: "a set of numbers"}.get(type(kind), "a number")
    shape = (by_name, _inside(kind)) if by_name else words
    place = (event.text, written.name.text)
    known = context.shown.setdefault(place, (shape, words, written.name.span))
    if known[0] != shape:
        message = f"`{place[1]}` of `{place[0]}` is {words} here, and {known[1]} elsewhere"
        hint = "show the same in both, or give one of the two events another name"
        raise error("HA133", message, written.name.span, hint, (known[2], f"{known[1]} here"))


# ---- `observe` ---------------------------------------------------------------------------------------------------


def observation(
    context: Context, written: d.ObserveDeclaration, faults: Sequence[d.FaultDeclaration]
) -> ir.Observation:
    """What lines the steps of handlers write. In it `n` is the node the step happens on, if it happens on one.

    `faults`: all that the file speaks of. Errors: `HA103` a handler that is not there, `HA128` handlers of different
    kinds of node, `HA132` one that has no steps of its own.
    """
    owners = [_owner(context, one, faults) for one in written.handlers]
    if any(owner != owners[0] for owner in owners):
        raise error("HA128", "these handlers run on different kinds of node", written.span, "observe them separately")
    scope = Scope(context, old=True)
    if owners[0] is not None:
        scope = scope.bind("n", Bound(ir.Local("n", owners[0])))
    condition = ir.TRUE if written.when is None else context.fold(boolean(written.when, scope))
    fields = tuple(context.fold(one) for one in _shown(written.event, written.shows, scope))
    handlers = tuple(one.handler.text for one in written.handlers)
    context.events.add(written.event.text)
    return ir.Observation(written.event.text, handlers, condition, fields, written.span.line, owners[0], written.nobody)


def _owner(context: Context, written: d.Observed, faults: Sequence[d.FaultDeclaration]) -> ty.Node | None:
    """The kind of node whose steps are observed; `None` for what happens to no node or to several."""
    word = written.handler.text
    if word not in context.handlers:
        if word in AT_NODES:
            return _struck(context, written, faults)
        if word not in AT_LARGE:
            hint = near(word, [*context.handlers, *AT_NODES, *AT_LARGE])
            raise error("HA103", f"there is no action or handler `{word}`", written.handler.span, hint)
        if written.kind is not None:
            raise error("HA128", f"`{word}` does not happen to one node", written.kind.span, f"write `{word}` alone")
        return None
    owner = context.handlers[word]
    if written.kind is not None and kind_of(context, written.kind) != owner:
        on = "no node" if owner is None else f"a {owner.name}"
        raise error("HA128", f"`{word}` runs on {on}", written.kind.span, f"write `{word}` alone")
    if context.logged and word in context.serves and is_atomic(context, word):
        message = f"`{word}` is served within its caller's step, so no step of it can be observed"
        raise error("HA132", message, written.handler.span, f"write `log` in `serve {word}`")
    return owner


def _struck(context: Context, written: d.Observed, faults: Sequence[d.FaultDeclaration]) -> ty.Node:
    """The kind of node to which a fault or its repair happens, whatever the settings."""
    word = written.handler.text
    causes = HEALING.get(word, (word,))
    kinds = {kind_of(context, fault.names[0]).name for fault in faults if fault.kind in causes}
    if word == "restart":
        kinds |= context.crashing
    if written.kind is not None:
        kind = kind_of(context, written.kind)
        if kind.name not in kinds:
            raise error("HA103", f"no {kind.name} has a `{word}`", written.kind.span, near(kind.name, kinds))
        return kind
    if not kinds:
        hint = f"add `{causes[0]} KIND` to `faults`"
        raise error("HA103", f"no node has a `{word}`", written.handler.span, hint)
    if len(kinds) > 1:
        several = " or ".join(f"`{word} {kind}`" for kind in sorted(kinds))
        message = f"`{word}` happens to several kinds of node"
        raise error("HA128", message, written.handler.span, f"write {several}, and observe them separately")
    return context.nodes[kinds.pop()]


# ---- without `log` -----------------------------------------------------------------------------------------------


def without_logs(declarations: Iterable[d.Declaration]) -> tuple[d.Declaration, ...]:
    """The declarations as if no `log` had been written; also without conditions, loops and procedures that do nothing
    else. Cost: the number of statements."""
    silent = tuple(declarations)
    wordy = {one.name.text for one in silent if isinstance(one, d.Procedure) and one.body}
    empty: frozenset[str] = frozenset()
    while True:
        silent = tuple(_silent(one, empty) for one in silent)
        emptied = (one.name.text for one in silent if isinstance(one, d.Procedure) and not one.body)
        found = wordy.intersection(emptied)
        if found == empty:
            return silent
        empty = frozenset(found)


def _silent(written: d.Declaration, empty: frozenset[str]) -> d.Declaration:
    match written:
        case (
            d.ActionDeclaration()
            | d.ReceiveDeclaration()
            | d.LostDeclaration()
            | d.RestartDeclaration()
            | d.Procedure()
            | d.Initially()
        ):
            body = _silent_body(written.body, empty)
            return written if body is written.body else replace(written, body=body)
        case _:
            return written


def _silent_body(body: t.Body, empty: frozenset[str]) -> t.Body:
    """The block without lines; the same one when it has none. `empty`: procedures that do nothing."""
    made = tuple(one for statement in body for one in _silent_statement(statement, empty))
    same = len(made) == len(body) and all(new is old for new, old in zip(made, body, strict=True))
    return body if same else made


def _silent_statement(written: t.Statement, empty: frozenset[str]) -> t.Body:
    match written:
        case t.Log():
            return ()
        case t.Perform(procedure=name) if name.text in empty:
            return ()
        case t.If(_, then, otherwise) | t.Acquire(_, then, otherwise):
            sides = _silent_body(then, empty), _silent_body(otherwise, empty)
            if sides[0] is then and sides[1] is otherwise:
                return (written,)
            if isinstance(written, t.If) and not any(sides):
                return ()
            return (replace(written, then=sides[0], otherwise=sides[1]),)
        case t.For(_, _, inner) | t.While(_, inner):
            left = _silent_body(inner, empty)
            if left is inner:
                return (written,)
            return () if isinstance(written, t.For) and not left else (replace(written, body=left),)
        case _:
            return (written,)
