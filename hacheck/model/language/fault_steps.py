"""A fault that can happen, and the steps that faults and their repairs become."""

from __future__ import annotations

from msgspec import Struct

from hacheck.model import ir
from hacheck.model import types as ty
from hacheck.model.language import declarations as d

Made = tuple[ir.Statement, ...]
ONE = ir.Constant(1, ty.Range(1, 1))
ZERO = ir.Constant(0, ty.Range(0, 0))
TOTAL = "faults left"
"""The budget of all faults together."""


class Fault(Struct, frozen=True):
    """A fault that can happen in this check. `limit` is `None` when it may happen any number of times."""

    written: d.FaultDeclaration
    limit: int | None
    condition: ir.Expression

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name.text for name in self.written.names)

    @property
    def title(self) -> str:
        """What the fault is called in reports: `crash Replica`."""
        return self.written.title


def step(
    name: str, parameters: tuple[tuple[str, ty.Type], ...], guard: ir.Expression, body: Made, kind: ir.ActionKind,
    handler: str, text: str, actor: str | None = None,
) -> ir.Action:  # fmt: skip
    return ir.Action(name, parameters, guard, body, kind, actor, None, handler, text, "", 0)
