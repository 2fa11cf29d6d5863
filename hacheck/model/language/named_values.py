"""Values that have names in a spec: definitions, and what is marked `acknowledged to clients`.

Neither changes a step or a property. What is said of runs has the names of definitions, and says where a value grows
that clients have been promised.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hacheck.model import ir
from hacheck.model.language import declarations as d
from hacheck.model.language import syntax_tree as t
from hacheck.model.language.context import Bound, Context, Scope
from hacheck.model.language.diagnostics import error
from hacheck.model.language.expressions import elaborate
from hacheck.model.language.resolve_types import resolve
from hacheck.model.language.tree_walk import parts


def promises(context: Context, declarations: Iterable[d.Declaration]) -> tuple[ir.NamedValue, ...]:
    """Every promise of a file whose variables are declared. Errors: `HA118` a definition that has parameters."""
    return tuple(promise for one in declarations for promise in _of(context, one))


def _of(context: Context, one: d.Declaration) -> Iterator[ir.NamedValue]:
    match one:
        case d.FieldDeclaration(name, promised=True):
            yield ir.NamedValue(name.text, context.variable(name.text))
        case d.NodeDeclaration(node, fields=fields):
            for field in fields:
                if field.promised:
                    yield ir.NamedValue(field.name.text, context.variable(f"{node.text}.{field.name.text}"))
        case d.Definition(name, parameters, promised=True):
            if parameters:
                hint = f"mark a definition without parameters, such as `{{ m: Message where {name.text}(m) }}`"
                message = f"`{name.text}` has parameters, so it has no value that clients could have been promised"
                raise error("HA118", message, name.span, hint)
            yield _defined(context, one)
        case _:
            return


def definitions(context: Context, declarations: Iterable[d.Declaration]) -> tuple[ir.NamedValue, ...]:
    """The values of all definitions, folded as where they are used, without those that read the state before a step."""
    written = (one for one in declarations if isinstance(one, d.Definition))
    return tuple(_defined(context, one) for one in written if not reads_before(one.value))


def reads_before(written: t.Expression) -> bool:
    """Whether a definition has a meaning in a step only."""
    return any(isinstance(part, t.Prefix) and part.operator == "old" for part in parts(written))


def _defined(context: Context, one: d.Definition) -> ir.NamedValue:
    returns = None if one.type is None else resolve(context, one.type, one.name.text)
    scope = Scope(context, expanding=(one.name.text,))
    parameters = []
    for parameter in one.parameters:
        local = context.fresh_local(parameter.name.text, resolve(context, parameter.type, parameter.name.text))
        parameters.append(local.name)
        scope = scope.bind(parameter.name.text, Bound(local))
    value = context.fold(elaborate(one.value, scope, returns))
    return ir.NamedValue(one.name.text, value, tuple(parameters))
