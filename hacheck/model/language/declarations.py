"""The declarations of a `.ha` file, untyped, as written."""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

from hacheck.model.language.diagnostics import Span
from hacheck.model.language.syntax_tree import Body, Expression, Name, Shown, TypeTree


class Setting(Struct, frozen=True):
    """`param`, `switch` or `assumption`; a switch and an assumption are `on` or `off`."""

    kind: Literal["param", "switch", "assumption"]
    name: Name
    default: Expression
    type: TypeTree | None
    text: str
    span: Span


class TypeDeclaration(Struct, frozen=True):
    """`type name = …`."""

    name: Name
    type: TypeTree
    span: Span


class RecordDeclaration(Struct, frozen=True):
    """`record name { … }`; values of an `ordered` one can be compared with `<`."""

    name: Name
    ordered: bool
    fields: tuple[tuple[Name, TypeTree], ...]
    span: Span


class IdentityDeclaration(Struct, frozen=True):
    """`identity name`: names that are drawn fresh. `size` is `None` when the pool is to be as large as can ever be
    needed."""

    name: Name
    size: Expression | None
    span: Span


class FieldDeclaration(Struct, frozen=True):
    """A field of a node, or (outside one) a `shared` or `ghost` variable.

    `durable_if`: the settings under which a field marked `durable` is that. `promised`: marked `acknowledged to
    clients`.
    """

    name: Name
    flags: frozenset[Literal["durable", "synced", "ghost", "state", "shared"]]
    type: TypeTree
    initial: Expression | None
    durable_if: Expression | None
    promised: bool
    span: Span


class ViewDeclaration(Struct, frozen=True):
    """What a node last saw of a field of another kind's nodes."""

    name: Name
    kind: Name
    field: Name
    span: Span


class NodeDeclaration(Struct, frozen=True):
    """`node name … { … }`: a kind of node, its fields, and what its nodes see of others.

    `size`: how many there are. `order`: `ranked` nodes can be compared with `<`; `symmetric` ones are interchangeable.
    """

    name: Name
    size: Expression | None
    order: Literal["ranked", "symmetric"] | None
    text: str
    fields: tuple[FieldDeclaration, ...]
    views: tuple[ViewDeclaration, ...]
    span: Span


class Parameter(Struct, frozen=True):
    """`name: type` in the head of a declaration."""

    name: Name
    type: TypeTree


class MessageDeclaration(Struct, frozen=True):
    """`message name(…) from sender to receiver …`: a channel from each node of one kind to each of the other.

    `order`: in which messages arrive; `latest` keeps the newest only. `queued`: they wait for a receiver that is down.
    `capacity`: how many are under way at most, a bound of the exploration.
    """

    name: Name
    parameters: tuple[Parameter, ...]
    sender: Name
    receiver: Name
    order: Literal["fifo", "unordered", "latest"]
    queued: bool
    capacity: Expression | None
    text: str
    span: Span


class OperationDeclaration(Struct, frozen=True):
    """`operation name(…) from caller to callee …`: a call, which is answered or fails.

    `atomic_when`: under which settings a call is one step. `timeout_when`: when it may fail though nothing is lost.
    """

    name: Name
    parameters: tuple[Parameter, ...]
    caller: Name
    callee: Name
    returns: TypeTree | None
    atomic_when: Expression | None
    timeout_when: Expression | None
    text: str
    span: Span


class LockDeclaration(Struct, frozen=True):
    """`lock name …`, held by at most one node of the kind `holder`.

    `host`: the kind of node that keeps it. `freed_late`: it is freed only some time after its holder crashed. `lease`:
    after how many ticks it runs out.
    """

    name: Name
    host: Name | None
    holder: Name
    freed_late: bool
    lease: Expression | None
    text: str
    span: Span


class ClockDeclaration(Struct, frozen=True):
    """`clock kind up to limit [skew …]`: a clock in each node of a kind, in ticks.

    `limit`: the last tick, a bound of the exploration. `skew`: by how many ticks a clock may be wrong.
    """

    kind: Name
    limit: Expression
    skew: Expression | None
    span: Span


class Definition(Struct, frozen=True):
    """`define name(…) = value`, put in wherever it is used. `promised`: marked `acknowledged to clients`."""

    name: Name
    parameters: tuple[Parameter, ...]
    type: TypeTree | None
    value: Expression
    promised: bool
    span: Span


class Procedure(Struct, frozen=True):
    """`procedure name(…) do …`: statements under a name, put in wherever it is performed."""

    name: Name
    parameters: tuple[Parameter, ...]
    body: Body
    span: Span


class Clauses(Struct, frozen=True):
    """What stands between a declaration's head and its `do`.

    `only_after`: timing assumptions, which may speak of what no node can know.
    """

    text: str
    source: str
    when: tuple[Expression, ...]
    only_after: tuple[Expression, ...]
    thread: Name | None


class ActionDeclaration(Struct, frozen=True):
    """`action name(…) … do …`; with `environment` it is no node's."""

    name: Name
    environment: bool
    parameters: tuple[Parameter, ...]
    clauses: Clauses
    body: Body
    span: Span


class ReceiveDeclaration(Struct, frozen=True):
    """`on message(…) at n from m` and, with `serves`, `serve operation(…) at n from m`."""

    name: Name
    serves: bool
    parameters: tuple[Name, ...]
    at: Name
    sender: Name
    clauses: Clauses
    body: Body
    span: Span


class LostDeclaration(Struct, frozen=True):
    """`on lost lock at node … do …`: what a node does that learns that its lock is gone."""

    lock: Name
    at: Name
    clauses: Clauses
    body: Body
    span: Span


class RestartDeclaration(Struct, frozen=True):
    """`on restart of node: kind … do …`: what a node does when it starts again."""

    at: Name
    kind: Name
    clauses: Clauses
    body: Body
    span: Span


class Initially(Struct, frozen=True):
    """`initially do …`: run once, from the initial values of all variables."""

    body: Body
    span: Span


FaultKind = Literal[
    "crash",
    "wipe",
    "blackout",
    "pause",
    "cut",
    "cut one way",
    "isolate",
    "partition",
    "bridge",
    "lose",
    "duplicate",
    "total",
]


class FaultDeclaration(Struct, frozen=True):
    """`names`: the kind of node, the two ends of a link, the kinds that are split together, or the message, operation
    or lock."""

    kind: FaultKind
    names: tuple[Name, ...]
    budget: Expression | None
    for_good: bool
    when: Expression | None
    span: Span

    @property
    def title(self) -> str:
        """What the fault is called in reports: `crash Replica`, `cut Server - Gateway`."""
        one_way = self.kind == "cut one way"
        joint = " and " if self.kind == "partition" else " -> " if one_way else " - "
        return f"{'cut' if one_way else self.kind} {joint.join(name.text for name in self.names)}"


class Fair(Struct, frozen=True):
    """`fair A, B(x)`; or, with `everything`, `fair all of KIND except A, B`, where `names` are left out.
    `arguments`: for each name the parameters for each of whose values it is fair."""

    names: tuple[Name, ...]
    strong: bool
    everything: bool = False
    kind: Name | None = None
    arguments: tuple[tuple[Name, ...], ...] = ()


class PropertyDeclaration(Struct, frozen=True):
    """`premise` is the left side of `~>`. `parameters`: an `eventually` is checked for each of their values."""

    kind: Literal["invariant", "lemma", "step_invariant", "reachable", "eventually", "leads_to", "deadlock_free"]
    name: Name
    text: str
    source: str
    premise: Expression | None
    goal: Expression | None
    fairness: tuple[Fair, ...]
    span: Span
    parameters: tuple[Parameter, ...] = ()


class Observed(Struct, frozen=True):
    """A handler whose steps are observed; `kind` of node only where that is said: `restart Server`."""

    handler: Name
    kind: Name | None


class ObserveDeclaration(Struct, frozen=True):
    """`nobody`: the line is nobody's, not the node's on which the step happens."""

    event: Name
    handlers: tuple[Observed, ...]
    nobody: bool
    when: Expression | None
    shows: tuple[Shown, ...]
    span: Span


class FromLog(Struct, frozen=True):
    """What a trace that has records of an event says of settings: values, and `fields` of these records."""

    event: Name
    fields: tuple[Name, ...]
    settings: tuple[tuple[Name, Expression], ...]
    span: Span


class TraceDeclaration(Struct, frozen=True):
    """The settings under which logs are compared with the spec, and those that a log gives itself."""

    text: str
    settings: tuple[tuple[Name, Expression], ...]
    derived: tuple[FromLog, ...]
    span: Span


class Restored(Struct, frozen=True):
    """An invariant that no log shows broken for longer than `number` of a unit of time."""

    name: Name
    number: int
    unit: Name


class CheckDeclaration(Struct, frozen=True):
    """`expect_violated` is empty when all are to hold."""

    name: Name
    text: str
    by_request: bool
    settings: tuple[tuple[Name, Expression], ...]
    only: tuple[Name, ...]
    expect_violated: tuple[Name, ...]
    restored: tuple[Restored, ...]
    span: Span


Declaration: TypeAlias = (
    Setting
    | TypeDeclaration
    | RecordDeclaration
    | IdentityDeclaration
    | FieldDeclaration
    | NodeDeclaration
    | MessageDeclaration
    | OperationDeclaration
    | LockDeclaration
    | ClockDeclaration
    | Definition
    | Procedure
    | ActionDeclaration
    | ReceiveDeclaration
    | LostDeclaration
    | RestartDeclaration
    | Initially
    | FaultDeclaration
    | PropertyDeclaration
    | ObserveDeclaration
    | TraceDeclaration
    | CheckDeclaration
)


class File(Struct, frozen=True):
    """One file as written; `uses` are the library files it names."""

    name: Name
    library: bool
    text: str
    source: str
    uses: tuple[tuple[str, Span], ...]
    declarations: tuple[Declaration, ...]
