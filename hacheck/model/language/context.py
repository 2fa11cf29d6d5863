"""What is known while a file is turned into a model: names and what they stand for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, Protocol, TypeAlias

from msgspec import Struct, field

from hacheck.model import ir
from hacheck.model import types as ty
from hacheck.model.language import declarations as d
from hacheck.model.language import syntax_tree as t
from hacheck.model.language.constant_folding import fold
from hacheck.model.language.diagnostics import Diagnostic, Span, SpecError, error
from hacheck.model.language.kept_locals import KeptLocal

EXPANSIONS_MAX = 50_000
"""How often definitions, procedures and services may be put in; the shipped specs need a few hundred."""


class Halt(ir.Stop, frozen=True):
    """The node stops here as if it had crashed. Replaced by what a crash does once all variables are known.

    Like any `Stop` it has nothing after it.
    """

    kind: ty.Node
    node: ir.Expression


class Rules(Struct, frozen=True):
    """What the parts of the language need of each other: an expression may hold a collection, whose element is an
    expression, whose type is resolved by folding an expression. `rules.py` puts them together.
    """

    resolve: Callable[[Context, t.TypeTree, str], ty.Type]
    collection: Callable[[t.Best | t.Each | t.Braces | t.Image | t.Brackets, Scope, ty.Type | None], ir.Expression]
    membership: Callable[[t.Infix, Scope], ir.Expression]
    combine: Callable[[t.Infix, Scope, ty.Type | None], ir.Expression]
    apply: Callable[[t.Apply, Scope, ty.Type | None], ir.Expression]
    expand: Callable[[d.Definition, tuple[t.Argument, ...], Span, Scope], ir.Expression]
    functions: Mapping[str, Callable[[t.Apply, Scope], ir.Expression]]
    one_step: OneStep


class OneStep(Protocol):
    """Makes the model's statements of a body that is one step."""

    def __call__(
        self,
        context: Context,
        name: str,
        body: t.Body,
        scope: Scope,
        at_end: Callable[[Scope], tuple[ir.Statement, ...]],
        at_once: bool = False,
    ) -> tuple[ir.Statement, ...]: ...


class Context(Struct):
    """Everything declared so far in one elaboration of one file under one choice of settings."""

    path: str
    rules: Rules
    constants: dict[str, ir.Constant] = field(default_factory=dict)
    decisive: set[str] = field(default_factory=set)
    """Settings that types, sizes, initial values, or which faults and steps there are have been made to depend on, and
    numbers, whose types are their values."""
    logged: bool = False
    """Whether the system is to be compared with logs: then no budget limits how often a fault happens."""
    shown: dict[tuple[str, str], tuple[object, str, Span]] = field(default_factory=dict)
    """For an event of logs and a field that its lines show: its type, also in words, and where it was found first."""
    events: set[str] = field(default_factory=set)
    """The events of all lines of the file, also those that the settings rule out."""
    counted: bool = False
    """Whether it mattered how many values a type has that may be made of identities."""
    types: dict[str, ty.Type] = field(default_factory=dict)
    members: dict[str, list[ty.Enum]] = field(default_factory=dict)
    nodes: dict[str, ty.Node] = field(default_factory=dict)
    variables: dict[str, ir.StateVariable] = field(default_factory=dict)
    synced: dict[str, str] = field(default_factory=dict)
    """For a field that is durable only once synced: the variable that holds what is on disk."""
    views: dict[str, str] = field(default_factory=dict)
    """For a view: the field it shows."""
    messages: dict[str, d.MessageDeclaration] = field(default_factory=dict)
    operations: dict[str, d.OperationDeclaration] = field(default_factory=dict)
    serves: dict[str, d.ReceiveDeclaration] = field(default_factory=dict)
    locks: dict[str, d.LockDeclaration] = field(default_factory=dict)
    clocks: dict[str, d.ClockDeclaration] = field(default_factory=dict)
    definitions: dict[str, d.Definition] = field(default_factory=dict)
    procedures: dict[str, d.Procedure] = field(default_factory=dict)
    handlers: dict[str, ty.Node | None] = field(default_factory=dict)
    """Every handler by name, with the kind of node it runs on."""
    threads: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    """For a kind of node and a thread: the points (`handler.step`) at which a handler may wait on it."""
    holding: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    """Those of `threads` at which the node's other handlers must wait too."""
    at_once: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """For a handler: the points (`handler.call`) it passes at once, because these calls are one step."""
    serving: dict[str, str | None] = field(default_factory=dict)
    """For an operation that is served: the thread its service needs."""
    callers: dict[str, set[tuple[str, str]]] = field(default_factory=dict)
    """For an operation whose caller waits: the kinds of node and threads that call it."""
    bounds: dict[str, str] = field(default_factory=dict)
    kept: list[KeptLocal] = field(default_factory=list)
    """What is claimed of the locals that are kept between steps."""
    endless: list[str] = field(default_factory=list)
    """The counters that have no greatest value."""
    actions: list[ir.Action] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    declared: dict[str, Span] = field(default_factory=dict)
    crashing: set[str] = field(default_factory=set)
    """Kinds of node that can be down, from the `faults` block or a `halt`."""
    pausing: set[str] = field(default_factory=set)
    cutting: set[tuple[str, str]] = field(default_factory=set)
    """Pairs of kinds, as written and turned round, whose links can be cut."""
    losing: dict[str, tuple[d.FaultDeclaration, tuple[str, ...]]] = field(default_factory=dict)
    """What may be lost: the fault, and the budgets that each loss takes from."""
    atomic: dict[str, bool] = field(default_factory=dict)
    """For an operation, as far as it was computed: whether its calls are one step."""
    folded: bool = True
    """Whether what is known is folded: not where systems of several sizes are to be compared."""
    evaluated: list[ir.Expression] = field(default_factory=list)
    """What had to have a value, as it was before it was folded."""
    unique: int = 0
    expansions: int = 0

    def fold(self, expression: Any) -> Any:
        """The expression with all that is known folded, if it is to be."""
        return fold(expression) if self.folded else expression

    def constant(self, expression: ir.Expression) -> Any:
        """What an expression is that must have a value: folded in any case."""
        self.evaluated.append(expression)
        return fold(expression)

    def fresh_local(self, name: str, kind: ty.Type) -> ir.Local:
        """A local that no other local of this elaboration is confused with."""
        return ir.Local(self.fresh_name(name), kind)

    def declare(self, name: str, span: Span) -> None:
        """Errors: `HA101` when the name is taken."""
        if name in self.declared:
            raise error("HA101", f"`{name}` is declared twice", span, None, (self.declared[name], "first here"))
        self.declared[name] = span

    def collect(self, failure: SpecError) -> None:
        """Keep a diagnostic, once."""
        if failure.diagnostic not in self.diagnostics:
            self.diagnostics.append(failure.diagnostic)

    def add_enum(self, kind: ty.Enum) -> None:
        """Make an enum's members known as words."""
        for member in kind.members:
            known = self.members.setdefault(member, [])
            if kind not in known:
                known.append(kind)

    def variable(self, name: str) -> ir.Variable:
        """A reference to a declared state variable."""
        return ir.Variable(name, self.variables[name].type)

    def values_of(self, kind: ty.Type) -> int:
        """How many values a type has, where too many are a mistake."""
        self.counted = self.counted or _depends_on_pools(kind)
        return ty.cardinality(kind)

    def expand(self, span: Span) -> None:
        """Count one more definition, procedure or service put in where it is used.

        Errors: `HA117` when there are so many that they grow without end.
        """
        self.expansions += 1
        if self.expansions > EXPANSIONS_MAX:
            message = f"definitions are expanded more than {EXPANSIONS_MAX:,} times; each uses others several times"
            raise error("HA117", message, span, "let a handler keep in a field, or in a `let`, what many places need")

    def fresh_name(self, name: str) -> str:
        """A local's name that no other local of this elaboration has."""
        self.unique += 1
        return f"{name}${self.unique}"


def distinct(names: Iterable[t.Name]) -> None:
    """Errors: `HA101` where two of the names that one head declares are the same."""
    known: dict[str, Span] = {}
    for name in names:
        if name.text in known:
            raise error("HA101", f"`{name.text}` is declared twice", name.span, None, (known[name.text], "first here"))
        known[name.text] = name.span


Lines: TypeAlias = Literal["own", "named", "none"]
"""Who writes lines of logs: the acting node, or the environment; only who is named; nobody."""
Sight: TypeAlias = Literal["node", "all"]
"""`node`: only what the acting node can know. `all`: the whole state, ghosts and faults included."""


def _depends_on_pools(kind: ty.Type) -> bool:
    """Whether the number of values of a type depends on how many identities there are, which is found out at last."""
    match kind:
        case ty.Map(key, value):
            return _depends_on_pools(key) or _depends_on_pools(value)
        case ty.Record(_, fields):
            return any(_depends_on_pools(field) for _, field in fields)
        case _:
            return ty.holds_identities(kind)


class Bound(Struct, frozen=True):
    """What a local name stands for. `target` is set when it may be assigned."""

    expression: ir.Expression
    target: ir.Target | None = None


class Answer(Struct, frozen=True):
    """What a served operation returns, and the statements that return it."""

    type: ty.Type
    write: Callable[[Scope, ir.Expression], tuple[ir.Statement, ...]]


class Scope(Struct, frozen=True):
    """Where an expression or statement stands.

    `actor` is the node the step happens on, `sight` what may be read; `old` whether there is a state before.
    """

    context: Context
    locals: Mapping[str, Bound] = field(default_factory=dict)
    actor: ir.Expression | None = None
    actor_kind: ty.Node | None = None
    sight: Sight = "all"
    old: bool = False
    state: bool = True
    """Whether state may be read at all (not in settings and types)."""
    expanding: tuple[str, ...] = ()
    """Definitions being expanded, outermost first."""
    used_at: tuple[Span, ...] = ()
    """Where they are used."""
    answer: Answer | None = None
    """What `answer` does, in a served operation."""
    lines: Lines = "own"

    failed: tuple[tuple[str, SpecError], ...] = ()
    """Locals whose declaration is faulty, and why."""

    def find(self, name: str) -> Bound | None:
        """The innermost local of this name. Errors: those of its declaration."""
        for known, why in self.failed:
            if known == name:
                raise why
        return self.locals.get(name)

    def bind(self, name: str, bound: Bound) -> Scope:
        """This scope with one more local."""
        return self._with({**self.locals, name: bound}, self.sight)

    def bind_all(self, bounds: Iterable[tuple[str, Bound]]) -> Scope:
        """This scope with more locals."""
        return self._with({**self.locals, **dict(bounds)}, self.sight)

    def seeing(self, sight: Sight) -> Scope:
        """This scope with another sight."""
        return self._with(self.locals, sight)

    def _with(self, locals: Mapping[str, Bound], sight: Sight) -> Scope:
        return Scope(
            self.context, locals, self.actor, self.actor_kind, sight, self.old, self.state, self.expanding,
            self.used_at, self.answer, self.lines, self.failed,
        )  # fmt: skip


def type_name(kind: ty.Type) -> str:
    """The type of an expression as users think of it: a number that is written out is that number."""
    match kind:
        case ty.Range(low, high, None) if low == high:
            return f"the number {low}"
        case _:
            return describe(kind)


def describe(kind: ty.Type) -> str:
    """A type as users write it."""
    match kind:
        case ty.Bool():
            return "bool"
        case ty.Range(low, high, None):
            return f"{low}..{high}"
        case ty.Range(_, high, _):
            return f"counter up to {high}"
        case ty.Enum(name, _) | ty.Node(name, _, _) | ty.Identity(name, _) | ty.Record(name, _, _):
            return name
        case ty.Option(element):
            return f"{describe(element)}?"
        case ty.Set(element):
            return f"set of {describe(element)}"
        case ty.Map(key, value):
            return f"map {describe(key)} to {describe(value)}"
        case ty.Sequence(element, capacity):
            return f"sequence of {describe(element)} up to {capacity}"
        case ty.Bag(element, capacity):
            return f"bag of {describe(element)} up to {capacity}"
