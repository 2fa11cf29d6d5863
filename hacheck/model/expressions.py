"""Expressions of the model: what guards, statements and properties are made of. `ir` hands all of them on."""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

from hacheck.model.types import Bool, Identity, Type, Value


class Constant(Struct, frozen=True):
    """A value written in the spec or folded from its settings."""

    value: Value
    type: Type


class Variable(Struct, frozen=True):
    """The current value of a whole state variable."""

    name: str
    type: Type


class Local(Struct, frozen=True):
    """A parameter, a `let`, a choice or a bound variable. Names are unique within an action or property."""

    name: str
    type: Type


class Old(Struct, frozen=True):
    """In a step invariant: the expression's value in the state before the step."""

    operand: Expression


class Index(Struct, frozen=True):
    """The value of a map at a key, or of a sequence at a position counted from 1."""

    base: Expression
    key: Expression


class Member(Struct, frozen=True):
    """One field of a record."""

    base: Expression
    field: str


UnaryOperator = Literal[
    "not",
    "negate",
    "some",  # wrap: T -> T?
    "value",  # unwrap: T? -> T, an error of the spec on nothing
    "size",  # of a set, sequence or bag
    "first",  # of a sequence, an error when empty
    "last",  # likewise
    "rest",  # a sequence without its first element, an error when empty
    "majority",  # of a set of nodes: more than half of all nodes of that kind
]

BinaryOperator = Literal[
    "and",  # the right side is not evaluated when the left decides
    "or",
    "implies",
    "==",
    "!=",
    "<",  # ranges, enums, ranked nodes, ordered records
    "<=",
    "+",
    "-",
    "*",
    "in",  # element in set, sequence or bag
    "subset",
    "union",
    "intersect",
    "minus",  # of sets
    "with",  # set or bag with one more element
    "without",  # set without an element; bag or sequence without its first occurrence, if there is one
    "append",  # sequence with one more element at its end
]


class Unary(Struct, frozen=True):
    """One operand."""

    operator: UnaryOperator
    operand: Expression


class Binary(Struct, frozen=True):
    """Two operands of matching types."""

    operator: BinaryOperator
    left: Expression
    right: Expression


class Conditional(Struct, frozen=True):
    """`if … then … else …`; only the chosen side is evaluated."""

    condition: Expression
    then: Expression
    otherwise: Expression


class Domain(Struct, frozen=True):
    """What a bound variable ranges over: all values of `type`, or the elements of a set, sequence or bag `within`.

    `where` filters (in terms of the bound variable). Values come in the order of their type; those of a sequence in
    its order.
    """

    type: Type
    within: Expression | None
    where: Expression | None


class Quantified(Struct, frozen=True):
    """How many values of a domain satisfy a condition: some, every, none, at most or exactly one, a majority, or the
    number itself. `majority` is of all values of the domain's type, whatever `within` and `where` leave of them."""

    kind: Literal["some", "every", "none", "at_most_one", "exactly_one", "majority", "count"]
    variable: str
    domain: Domain
    body: Expression


class SetOf(Struct, frozen=True):
    """`{ item for variable in domain }`; `item` is of scalar type `element`."""

    variable: str
    domain: Domain
    item: Expression
    element: Type


class MapOf(Struct, frozen=True):
    """The map that gives `item` for each key of `key`."""

    variable: str
    key: Type
    item: Expression
    value: Type


class Extreme(Struct, frozen=True):
    """The element of a domain for which `by` is greatest or least; among equals the first. Empty: error of the spec."""

    kind: Literal["max", "min"]
    variable: str
    domain: Domain
    by: Expression


class MakeRecord(Struct, frozen=True):
    """A record from its fields, in declaration order."""

    type: Type
    items: tuple[Expression, ...]


class MakeCollection(Struct, frozen=True):
    """A set, sequence or bag from its elements."""

    type: Type
    items: tuple[Expression, ...]


class Fresh(Struct, frozen=True):
    """The least identity that no state variable and no local of the step holds now; a statement draws it at most
    once. None left: the step reaches the bound `type.name`."""

    type: Identity


Expression: TypeAlias = (
    Constant
    | Variable
    | Local
    | Old
    | Index
    | Member
    | Unary
    | Binary
    | Conditional
    | Quantified
    | SetOf
    | MapOf
    | Extreme
    | MakeRecord
    | MakeCollection
    | Fresh
)

TRUE = Constant(True, Bool())
FALSE = Constant(False, Bool())
