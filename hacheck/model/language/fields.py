"""Fields of nodes, shared and ghost variables, and views of other nodes' fields that lag behind."""

from __future__ import annotations

from hacheck.model import ir
from hacheck.model import types as ty
from hacheck.model.language import declarations as d
from hacheck.model.language.context import Context, Scope
from hacheck.model.language.diagnostics import error, near
from hacheck.model.language.expressions import boolean
from hacheck.model.language.function_calls import is_connected, is_running
from hacheck.model.language.resolve_types import initial_value, resolve
from hacheck.model.rewrite import conjunction


def declare_field(context: Context, written: d.FieldDeclaration, node: d.NodeDeclaration | None) -> None:
    """A variable of the state; of a node, one value for each of them.

    Errors: `HA114` flags that do not go together.
    """
    flags = written.flags
    if node is None:
        name, owner = written.name.text, None
        context.declare(name, written.name.span)
    else:
        owner = context.nodes[node.name.text]
        name = f"{owner.name}.{written.name.text}"
        context.declare(name, written.name.span)
    kind = resolve(context, written.type, name)
    value = initial_value(context, kind, written.initial, written.span)
    if "ghost" in flags and flags & {"durable", "synced"}:
        raise error("HA114", "a ghost is history; it is neither durable nor volatile", written.span)
    if "durable" in flags and "synced" in flags:
        hint = "`durable` survives every crash; `synced` survives as it was at the last `sync`"
        raise error("HA114", "a field is either durable or synced", written.span, hint)
    if "state" in flags and not isinstance(kind, ty.Enum):
        raise error("HA114", "the `state` a diagram is drawn of must be an enum", written.span)
    whole = kind if owner is None else ty.Map(owner, kind)
    initial = value if owner is None else (value,) * owner.size
    durable = owner is None or ("durable" in flags and _holds(context, written))
    role: ir.Role = "shared" if owner is None else "field"
    owner_name = None if owner is None else owner.name
    context.variables[name] = ir.StateVariable(
        name, whole, initial, owner_name, role, durable, "ghost" in flags, "state" in flags
    )
    if "synced" in flags and owner is not None:
        stored = f"{name} on disk"
        context.variables[stored] = ir.StateVariable(stored, whole, initial, owner.name, "field", True)
        context.synced[name] = stored


def _holds(context: Context, written: d.FieldDeclaration) -> bool:
    """Whether these settings make a durable field durable. Errors: `HA110` when they do not decide it."""
    if written.durable_if is None:
        return True
    known = context.constant(boolean(written.durable_if, Scope(context, state=False)))
    if not isinstance(known, ir.Constant):
        raise error("HA110", "whether a field is durable must be decided by the settings", written.durable_if.span)
    return bool(known.value)


def declare_view(context: Context, written: d.ViewDeclaration, node: d.NodeDeclaration) -> None:
    """For each node, what it last saw of each node of another kind. Errors: `HA103` nothing to see."""
    owner = context.nodes[node.name.text]
    seen = f"{written.kind.text}.{written.field.text}"
    if seen not in context.variables:
        hint = near(seen, context.variables)
        raise error("HA103", f"there is no field `{seen}` to see", written.kind.span, hint)
    shown = context.variables[seen]
    name = f"{owner.name}.{written.name.text}"
    context.declare(name, written.name.span)
    whole = ty.Map(owner, shown.type)
    context.variables[name] = ir.StateVariable(name, whole, (shown.initial,) * owner.size, owner.name, "view")
    context.views[name] = seen


def refreshes(context: Context) -> list[ir.Action]:
    """The steps in which a node sees anew: at any time while both run and are connected."""
    made = []
    for name, seen in context.views.items():
        owner = context.nodes[context.variables[name].owner or ""]
        other = context.nodes[seen.split(".")[0]]
        viewer, viewed = ir.Local("n", owner), ir.Local("of", other)
        scope = Scope(context)
        current = ir.Index(context.variable(seen), viewed)
        held = ir.Index(ir.Index(context.variable(name), viewer), viewed)
        guard = conjunction(
            is_running(scope, viewer, owner),
            is_running(scope, viewed, other),
            is_connected(scope, viewed, viewer),
            ir.Binary("!=", held, current),
        )
        body = (ir.Assign(ir.Target(context.variable(name), (viewer, viewed)), current),)
        title = f"refresh {name.split('.')[1]}"
        text = f"a {owner.name} sees a newer value"
        made.append(
            ir.Action(title, (("n", owner), ("of", other)), guard, body, "network", "n", "of", "refresh", text, "", 0)
        )
    return made
