"""What clients have been promised: the fields, variables and definitions that are marked `acknowledged to clients`.

The mark changes no step and no property. Pictures and stories of runs say where such a value grows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hacheck.model import ir
from hacheck.model.language import declarations as d
from hacheck.model.language.context import Context, Scope
from hacheck.model.language.diagnostics import error
from hacheck.model.language.expressions import elaborate
from hacheck.model.language.resolve_types import resolve


def promises(context: Context, declarations: Iterable[d.Declaration]) -> tuple[ir.Promise, ...]:
    """Every promise of a file whose variables are declared. Errors: `HA118` a definition that has parameters."""
    return tuple(promise for one in declarations for promise in _of(context, one))


def _of(context: Context, one: d.Declaration) -> Iterator[ir.Promise]:
    match one:
        case d.FieldDeclaration(name, promised=True):
            yield ir.Promise(name.text, context.variable(name.text))
        case d.NodeDeclaration(node, fields=fields):
            for field in fields:
                if field.promised:
                    yield ir.Promise(field.name.text, context.variable(f"{node.text}.{field.name.text}"))
        case d.Definition(name, parameters, written, value, True):
            if parameters:
                hint = f"mark a definition without parameters, such as `{{ m: Message where {name.text}(m) }}`"
                message = f"`{name.text}` has parameters, so it has no value that clients could have been promised"
                raise error("HA118", message, name.span, hint)
            returns = None if written is None else resolve(context, written, name.text)
            yield ir.Promise(name.text, elaborate(value, Scope(context, expanding=(name.text,)), returns))
        case _:
            return
