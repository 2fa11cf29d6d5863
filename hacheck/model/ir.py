"""The model: a typed, frozen transition system with everything a check needs, as data.

A `System` is what one `check` of a `.ha` file means: settings chosen, sizes known, faults, messages, calls, locks and
multi-step handlers already told as variables and actions. The interpreter, every engine, the diagrams and the trace
kernel read this and nothing else, and none of them knows anything about a protocol.

An action is one atomic step. Its body runs in order, each statement seeing what the ones before it wrote.
Non-determinism is only: which action, with which parameters, and which `Choose`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from hacheck.model.types import Bool, Identity, Node, Type, Value

# ---- expressions -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Constant:
    """A value written in the spec or folded from its settings."""

    value: Value
    type: Type


@dataclass(frozen=True, slots=True)
class Variable:
    """The current value of a whole state variable."""

    name: str
    type: Type


@dataclass(frozen=True, slots=True)
class Local:
    """A parameter, a `let`, a choice or a bound variable. Names are unique within an action or property."""

    name: str
    type: Type


@dataclass(frozen=True, slots=True)
class Old:
    """In a step invariant: the expression's value in the state before the step."""

    operand: Expression


@dataclass(frozen=True, slots=True)
class Index:
    """The value of a map at a key, or of a sequence at a position counted from 1."""

    base: Expression
    key: Expression


@dataclass(frozen=True, slots=True)
class Member:
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


@dataclass(frozen=True, slots=True)
class Unary:
    """One operand."""

    operator: UnaryOperator
    operand: Expression


@dataclass(frozen=True, slots=True)
class Binary:
    """Two operands of matching types."""

    operator: BinaryOperator
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Conditional:
    """`if … then … else …`; only the chosen side is evaluated."""

    condition: Expression
    then: Expression
    otherwise: Expression


@dataclass(frozen=True, slots=True)
class Domain:
    """What a bound variable ranges over: all values of `type`, or the elements of a set, sequence or bag `within`.

    `where` filters (in terms of the bound variable). Values come in the order of their type; those of a sequence in
    its order.
    """

    type: Type
    within: Expression | None
    where: Expression | None


@dataclass(frozen=True, slots=True)
class Quantified:
    """How many values of a domain satisfy a condition: some, every, none, at most or exactly one, a majority, or the
    number itself. `majority` is of all values of the domain's type, whatever `within` and `where` leave of them."""

    kind: Literal["some", "every", "none", "at_most_one", "exactly_one", "majority", "count"]
    variable: str
    domain: Domain
    body: Expression


@dataclass(frozen=True, slots=True)
class SetOf:
    """`{ item for variable in domain }`; `item` is of scalar type `element`."""

    variable: str
    domain: Domain
    item: Expression
    element: Type


@dataclass(frozen=True, slots=True)
class MapOf:
    """The map that gives `item` for each key of `key`."""

    variable: str
    key: Type
    item: Expression
    value: Type


@dataclass(frozen=True, slots=True)
class Extreme:
    """The element of a domain for which `by` is greatest or least; among equals the first. Empty: error of the spec."""

    kind: Literal["max", "min"]
    variable: str
    domain: Domain
    by: Expression


@dataclass(frozen=True, slots=True)
class MakeRecord:
    """A record from its fields, in declaration order."""

    type: Type
    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class MakeCollection:
    """A set, sequence or bag from its elements."""

    type: Type
    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Fresh:
    """The least identity that no state variable and no local of the step holds now; a statement draws it at most
    once. None left: the step is cut at bound `type.name`."""

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

# ---- statements --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Target:
    """Where an assignment writes: a state variable or a `let`, then keys (expressions) and field names (strings)."""

    root: Variable | Local
    path: tuple[Expression | str, ...] = ()


@dataclass(frozen=True, slots=True)
class Assign:
    """Write a value. A value outside the target's type is an error of the spec, or a cut if its range is a counter;
    a sequence or bag grown past its capacity is a cut named `capacity of <variable>`."""

    target: Target
    value: Expression


@dataclass(frozen=True, slots=True)
class Let:
    """A local of the rest of the block; `Assign` may change it."""

    name: str
    type: Type
    value: Expression


@dataclass(frozen=True, slots=True)
class Choose:
    """Any value of the domain, for the rest of the block. An empty domain blocks the action instance."""

    name: str
    domain: Domain


@dataclass(frozen=True, slots=True)
class If:
    """Two ways to go on."""

    condition: Expression
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class ForEach:
    """The body once for each value of the domain, in order. The domain is taken before the first turn."""

    variable: str
    domain: Domain
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Require:
    """The step is possible only if this holds here."""

    condition: Expression


@dataclass(frozen=True, slots=True)
class Cut:
    """The step is not taken because it would pass a bound of the exploration; counted under `bound`."""

    bound: str


Statement: TypeAlias = Assign | Let | Choose | If | ForEach | Require | Cut

# ---- the system --------------------------------------------------------------------------------------------------

Role = Literal["field", "shared", "status", "frame", "channel", "budget", "lock", "clock", "view"]


@dataclass(frozen=True, slots=True)
class StateVariable:
    """One variable of the state.

    `owner`: the kind of node whose field it is (then `type` is a `Map` from that node) or `None`.
    `ghost`: written by actions, read only by properties and by other ghosts.
    `mode`: the enum field that the state diagram of its owner is drawn from.
    """

    name: str
    type: Type
    initial: Value
    owner: str | None
    role: Role
    durable: bool = False
    ghost: bool = False
    mode: bool = False


ActionKind = Literal["protocol", "network", "environment", "fault", "repair"]


@dataclass(frozen=True, slots=True)
class Action:
    """One atomic step.

    `actor`: the parameter that is the node the step happens on, or `None` for the environment.
    `peer`: for a message's receipt the parameter that is its sender.
    `handler`: the declaration it comes from (several steps of one handler share it).
    `line`: where the declaration stands in its file, 0 when it stands nowhere.
    """

    name: str
    parameters: tuple[tuple[str, Type], ...]
    guard: Expression
    body: tuple[Statement, ...]
    kind: ActionKind
    actor: str | None
    peer: str | None
    handler: str
    description: str
    source: str
    line: int


@dataclass(frozen=True, slots=True)
class Fairness:
    """A handler that is not put off for ever: `weak` when enabled all the time, `strong` when enabled again and
    again. Fairness is per action and per actor."""

    handler: str
    strong: bool


PropertyKind = Literal["invariant", "step", "reachable", "eventually", "leads_to", "deadlock"]


@dataclass(frozen=True, slots=True)
class Property:
    """Something asked of the system.

    invariant: `goal` holds in every reachable state. step: on every step (`Old` reads the state before it).
    reachable: in some reachable state. eventually: on every fair run `goal` comes to hold. leads_to: on every fair
    run, whenever `premise` holds then or later `goal` holds. deadlock: every state without a possible step of kind
    protocol, network, environment or repair satisfies `goal`.
    """

    name: str
    kind: PropertyKind
    goal: Expression
    premise: Expression | None
    fairness: tuple[Fairness, ...]
    description: str
    source: str
    line: int


@dataclass(frozen=True, slots=True)
class Observation:
    """A log event: which handlers' steps it shows, and which of its fields say what (`Old` reads before the step)."""

    event: str
    handlers: tuple[str, ...]
    condition: Expression
    fields: tuple[tuple[str, Expression], ...]
    line: int


@dataclass(frozen=True, slots=True)
class System:
    """One protocol under one choice of settings.

    `initial`: statements that run once from the variables' initial values; each outcome is an initial state.
    `settings`: every param and switch with its value, as text. `assumptions`: the timing assumptions in force.
    `bounds`: for each name that `Cut`, a counter or a pool can report, what it means in words.
    `faults`: one line for each kind of fault explored, as printed in the report.
    """

    name: str
    description: str
    source: str
    settings: tuple[tuple[str, str], ...]
    nodes: tuple[Node, ...]
    variables: tuple[StateVariable, ...]
    initial: tuple[Statement, ...]
    actions: tuple[Action, ...]
    properties: tuple[Property, ...]
    observations: tuple[Observation, ...]
    assumptions: tuple[tuple[str, str], ...]
    bounds: tuple[tuple[str, str], ...]
    faults: tuple[str, ...]



TRUE = Constant(True, Bool())
FALSE = Constant(False, Bool())
