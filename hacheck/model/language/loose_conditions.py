"""A warning: `some s: S where A implies B`, which is true as soon as A is false for one s."""

from __future__ import annotations

from collections.abc import Iterator

from hacheck.model.language import declarations as d
from hacheck.model.language import syntax_tree as t
from hacheck.model.language.diagnostics import Diagnostic
from hacheck.model.language.tree_walk import parts

HINT = (
    "write `and`, or what is said of all: `every x: T where A satisfies B`; if it is meant so, put the implication "
    "in brackets"
)


def loose(file: d.File, text: str) -> Iterator[Diagnostic]:
    """The conditions of quantifiers that an element fulfils by failing their first half. `text`: of the file."""
    for part in parts(file.declarations):
        match part:
            case t.Quantifier(kind, binders, _, t.Infix("implies", premise) as condition) if kind != "every":
                bound = {one.name.text for one in binders}
                named = {one.text for one in parts(premise) if isinstance(one, t.Name)}
                if bound & named and not _bracketed(condition, text):
                    message = f"`{kind} … where A implies B` counts each one for which A is false, too"
                    yield Diagnostic("HA205", message, condition.span, hint=HINT, severity="warning")


def _bracketed(condition: t.Infix, text: str) -> bool:
    before, after = text[: condition.span.start].rstrip(), text[condition.span.end :].lstrip()
    return before.endswith("(") and after.startswith(")")
