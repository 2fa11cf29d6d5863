"""How a local of a handler is kept in its node from one step to the next."""

from __future__ import annotations

from msgspec import Struct

from hacheck.model import ir
from hacheck.model import types as ty
from hacheck.model.language.context import Bound


class Frame(Struct, frozen=True):
    """The variable `name` of each node of a kind, in which a local of type `local` is kept.

    `wrapped`: kept as an option, which is `none` while the handler is not under way.
    """

    name: str
    owner: ty.Node
    local: ty.Type
    wrapped: bool

    @property
    def stored(self) -> ty.Type:
        """The type of what one node keeps."""
        return ty.Option(self.local) if self.wrapped else self.local

    @property
    def variable(self) -> ir.Variable:
        """The variable as a whole."""
        return ir.Variable(self.name, ty.Map(self.owner, self.stored))

    def read(self, node: ir.Expression) -> ir.Expression:
        """What a node keeps."""
        place = ir.Index(self.variable, node)
        return ir.Unary("value", place) if self.wrapped else place

    def write(self, node: ir.Expression, value: ir.Expression) -> ir.Statement:
        """A node keeps this from now on."""
        return ir.Assign(ir.Target(self.variable, (node,)), ir.Unary("some", value) if self.wrapped else value)

    def bound(self, node: ir.Expression, changeable: bool) -> Bound:
        """What the local's name stands for at a node."""
        return Bound(self.read(node), ir.Target(self.variable, (node,)) if changeable else None)


def frame(name: str, owner: ty.Node, local: ty.Type, changeable: bool) -> Frame:
    """Where to keep a local.

    An unused place must name nothing: an identity that it named would never be free again, and a node that it named
    would differ from the others. A node's name in a part of a `var` stays, for parts can be assigned.
    """
    return Frame(name, owner, local, _names(local, not changeable or isinstance(local, ty.Node)))


def _names(kind: ty.Type, nodes: bool) -> bool:
    """Whether every value of the type names an identity, or with `nodes` a node that is one of several."""
    match kind:
        case ty.Identity():
            return True
        case ty.Node(size=size):
            return nodes and size > 1
        case ty.Record(_, fields):
            return any(_names(field, nodes) for _, field in fields)
        case ty.Map(_, value):
            return _names(value, nodes)
        case _:
            return False
