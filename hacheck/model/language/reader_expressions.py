"""Expressions that a reader evaluates in the states of a spec while looking at them, in the language of the spec."""

from __future__ import annotations

from collections.abc import Mapping

from hacheck.model import ir
from hacheck.model.language import declarations as d
from hacheck.model.language.context import Scope
from hacheck.model.language.diagnostics import Diagnostic, Span, SpecError
from hacheck.model.language.elaborate import Elaboration, fitted
from hacheck.model.language.expressions import elaborate
from hacheck.model.language.log_lines import without_logs
from hacheck.model.language.parse import parse
from hacheck.model.language.specification import Specification, given_by

NAME = "your expression"
"""What such an expression is called where something is wrong with it."""

BEFORE, AFTER = "system Reader\nreachable reader: (\n", "\n)\n"


class WrongExpression(Exception):
    """A text that is no expression of the spec: what is wrong with it, in words."""

    def __init__(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        said = [one.message + (f" ({one.hint})" if one.hint else "") for one in diagnostics]
        super().__init__("\n".join(dict.fromkeys(said)) or "this is no expression")


class ReaderExpressions:
    """Understands expressions over the states of one check's system. `settings`: those beside the check's own.

    The spec must mean something under these settings. Cost: one elaboration of the spec.
    """

    def __init__(self, specification: Specification, check: str | None, settings: Mapping[str, str]) -> None:
        chosen = next((one for one in specification.checks if one.name == check), None)
        given = {**given_by(chosen), **settings}
        at = Span(specification.path, 0, 0)
        declarations = without_logs(specification.declarations)
        first = Elaboration(specification.file, declarations, given, at, dict(specification.pools))
        self._context = fitted(first, first.run())[1].context
        assert not self._context.diagnostics, "the spec means something under these settings"

    def read(self, text: str) -> ir.Expression:
        """What a text means. Errors: `WrongExpression`."""
        file, diagnostics = parse(f"{BEFORE}{text}{AFTER}", NAME)
        found = () if file is None else file.declarations
        if (
            len(found) != 1
            or not isinstance(found[0], d.PropertyDeclaration)
            or any(one.severity == "error" for one in diagnostics)
        ):
            raise WrongExpression(diagnostics)
        written = found[0]
        if written.goal is None or written.premise is not None or written.fairness:
            raise WrongExpression(diagnostics)
        try:
            made: ir.Expression = self._context.fold(elaborate(written.goal, Scope(self._context)))
        except SpecError as failure:
            raise WrongExpression((failure.diagnostic,)) from None
        return made
