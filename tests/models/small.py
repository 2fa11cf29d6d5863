"""Systems of a few variables and one action, for tests of single rules."""

from __future__ import annotations

from hacheck.model.ir import (
    TRUE,
    Action,
    Expression,
    Property,
    PropertyKind,
    Statement,
    StateVariable,
    System,
    Variable,
)
from hacheck.model.types import Node, Type, Value


def action(
    *body: Statement,
    name: str = "step",
    parameters: tuple[tuple[str, Type], ...] = (),
    guard: Expression = TRUE,
    actor: str | None = None,
) -> Action:
    """An action of kind protocol."""
    return Action(name, parameters, guard, body, "protocol", actor, None, name, "", "", 0)


def asked(kind: PropertyKind, goal: Expression, name: str = "asked") -> Property:
    """A property."""
    return Property(name, kind, goal, None, (), "", "", 0)


def system(
    variables: dict[Variable, Value],
    *actions: Action,
    initial: tuple[Statement, ...] = (),
    properties: tuple[Property, ...] = (),
    nodes: tuple[Node, ...] = (),
) -> System:
    """A system with these variables and their initial values."""
    declared = tuple(
        StateVariable(
            variable.name,
            variable.type,
            value,
            variable.name.split(".")[0] if "." in variable.name else None,
            "field" if "." in variable.name else "shared",
        )
        for variable, value in variables.items()
    )
    return System("Small", "", "", (), nodes, declared, initial, actions, properties, (), (), (), ())
