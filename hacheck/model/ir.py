"""The model: a typed, frozen transition system with everything a check needs, as data.

A `System` is what one `check` of a `.ha` file means: settings chosen, sizes known, faults, messages, calls, locks and
multi-step handlers already made variables and actions. The interpreter, every engine, the diagrams and the trace
kernel read this and nothing else, and none of them knows anything about a protocol.

An action is one atomic step. Its body runs in order, each statement seeing what the ones before it wrote.
Non-determinism is only: which action, with which parameters, and which `Choose`.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

from hacheck.model.expressions import (
    FALSE,
    TRUE,
    Binary,
    BinaryOperator,
    Conditional,
    Constant,
    Domain,
    Expression,
    Extreme,
    Fresh,
    Index,
    Local,
    MakeCollection,
    MakeRecord,
    MapOf,
    Member,
    Old,
    Quantified,
    SetOf,
    Unary,
    UnaryOperator,
    Variable,
)
from hacheck.model.types import Node, Type, Value

# ---- statements --------------------------------------------------------------------------------------------------


class Target(Struct, frozen=True):
    """Where an assignment writes: a state variable or a `let`, then keys (expressions) and field names (strings)."""

    root: Variable | Local
    path: tuple[Expression | str, ...] = ()


class Assign(Struct, frozen=True):
    """Write a value. A value outside the target's type is an error of the spec, or reaches a bound if its range is a
    counter; a sequence or bag grown past its capacity reaches the bound `capacity of <variable>`."""

    target: Target
    value: Expression


class Let(Struct, frozen=True):
    """A local of the rest of the block; `Assign` may change it."""

    name: str
    type: Type
    value: Expression


class Choose(Struct, frozen=True):
    """Any value of the domain, for the rest of the block. An empty domain blocks the action instance."""

    name: str
    domain: Domain


class If(Struct, frozen=True):
    """The statements of one of two branches, chosen by a condition."""

    condition: Expression
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...]


class ForEach(Struct, frozen=True):
    """The body once for each value of the domain, in order. The domain is taken before the first turn."""

    variable: str
    domain: Domain
    body: tuple[Statement, ...]


class Require(Struct, frozen=True):
    """The step is possible only if this holds here."""

    condition: Expression


class Stop(Struct, frozen=True):
    """The step is not taken because it would pass a bound of the exploration; counted under `bound`."""

    bound: str


class Shown(Struct, frozen=True):
    """A field of a log line. `by_name`: the log has a name where the model has a value: which is which shows where a
    value appears first, and holds as long as something holds the value."""

    name: str
    value: Expression
    by_name: bool = False


class Log(Struct, frozen=True):
    """The step writes a line: the event, the node that writes it (`None`: it is nobody's) and what the line shows. It
    changes nothing, so a system has these only where it is compared with logs."""

    event: str
    node: Expression | None
    fields: tuple[Shown, ...]
    line: int


Statement: TypeAlias = Assign | Let | Choose | If | ForEach | Require | Stop | Log

# ---- the system --------------------------------------------------------------------------------------------------

Role = Literal["field", "shared", "status", "frame", "channel", "budget", "lock", "clock", "view", "distance"]


class StateVariable(Struct, frozen=True):
    """One variable of the state.

    `owner`: the kind of node whose field it is (then `type` is a `Map` from that node) or `None`.
    `ghost`: written by actions, read only by properties and by other ghosts.
    `mode`: the enum field that the state diagram of its owner is drawn from.
    `role` is `distance` of what an exploration notes for itself (`counters.value_distances`): no step changes a state
    by it alone."""

    name: str
    type: Type
    initial: Value
    owner: str | None
    role: Role
    durable: bool = False
    ghost: bool = False
    mode: bool = False


ActionKind = Literal["protocol", "network", "environment", "fault", "repair"]


class Action(Struct, frozen=True):
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


class Fairness(Struct, frozen=True):
    """A handler that is not put off for ever: `weak` when enabled all the time, `strong` when enabled again and
    again. Fairness is per action, per actor and per value of the `arguments`, parameters of the actions."""

    handler: str
    strong: bool
    arguments: tuple[str, ...] = ()


PropertyKind = Literal["invariant", "lemma", "step", "reachable", "eventually", "leads_to", "deadlock"]


class Property(Struct, frozen=True):
    """A claim about the system, which a check decides.

    invariant: `goal` holds in every reachable state. lemma: the same, said to help to prove others. step: on every
    step (`Old` reads the state before it). reachable: in some reachable state. eventually: on every fair run `goal`
    comes to hold. leads_to: on every fair run, whenever `premise` holds then or later `goal` holds. deadlock: every
    state that no step of kind protocol, network, environment or repair changes satisfies `goal`.
    """

    name: str
    kind: PropertyKind
    goal: Expression
    premise: Expression | None
    fairness: tuple[Fairness, ...]
    description: str
    source: str
    line: int


class Observation(Struct, frozen=True):
    """A line that each step of some handlers writes at its end, if the condition holds. `Old` reads before the step.

    `node`: of which kind of node these steps are, which is the local `n` here, if they are of one. It writes the line,
    unless that is nobody's (`anonymous`).
    """

    event: str
    handlers: tuple[str, ...]
    condition: Expression
    fields: tuple[Shown, ...]
    line: int
    node: Node | None = None
    anonymous: bool = False


class NamedValue(Struct, frozen=True):
    """A value and what the spec calls it. No step and no property depends on it. `parameters`: the locals in the value
    that an argument takes the place of, in order."""

    name: str
    value: Expression
    parameters: tuple[str, ...] = ()


class System(Struct, frozen=True):
    """One protocol under one choice of settings.

    `initial`: statements that run once from the variables' initial values; each outcome is an initial state.
    `settings`: every param and switch with its value, as text. `assumptions`: the timing assumptions in force.
    `bounds`: for each name that `Stop`, a counter or a pool can report, what it means in words.
    `faults`: one line for each kind of fault explored, as printed in the report.
    `endless`: the counters that have no greatest value. Their ranges end at a bound for an exploration up to one;
    `counters.ranges.unbounded` is the system without it.
    `promises`: what the spec marks as `acknowledged to clients`; where such a value grows, clients are promised
    something. `definitions`: those of the spec, so that what is said of a property can have their names.
    `events`: where the system is to be compared with logs, those that the spec writes under some settings.
    `ruled_out`: the actions of the spec that these settings make impossible.
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
    endless: tuple[str, ...] = ()
    promises: tuple[NamedValue, ...] = ()
    definitions: tuple[NamedValue, ...] = ()
    events: tuple[str, ...] = ()
    ruled_out: tuple[str, ...] = ()


__all__ = [
    "FALSE",
    "TRUE",
    "Action",
    "ActionKind",
    "Assign",
    "Binary",
    "BinaryOperator",
    "Choose",
    "Conditional",
    "Constant",
    "Domain",
    "Expression",
    "Extreme",
    "Fairness",
    "ForEach",
    "Fresh",
    "If",
    "Index",
    "Let",
    "Local",
    "Log",
    "MakeCollection",
    "MakeRecord",
    "MapOf",
    "Member",
    "NamedValue",
    "Observation",
    "Old",
    "Property",
    "PropertyKind",
    "Quantified",
    "Require",
    "Role",
    "SetOf",
    "Shown",
    "StateVariable",
    "Statement",
    "Stop",
    "System",
    "Target",
    "Unary",
    "UnaryOperator",
    "Variable",
]
