"""The untyped tree of a `.ha` file: what was written, and where. Nothing in it has been looked up yet."""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

from hacheck.model.language.diagnostics import Span

# ---- expressions -------------------------------------------------------------------------------------------------


class Number(Struct, frozen=True):
    """A whole number."""

    value: int
    span: Span


class Name(Struct, frozen=True):
    """A word to be looked up: local, field, setting, enum member, definition."""

    text: str
    span: Span


class Word(Struct, frozen=True):
    """`true`, `false`, `on`, `off` or `none`."""

    value: bool | None
    span: Span


class Prefix(Struct, frozen=True):
    """`not`, `negate` or `old` and one operand."""

    operator: Literal["not", "negate", "old"]
    operand: Expression
    span: Span


class Infix(Struct, frozen=True):
    """Two operands; the operator as written (`not in` with its blank)."""

    operator: str
    left: Expression
    right: Expression
    span: Span


class Choice(Struct, frozen=True):
    """`if … then … else …`."""

    condition: Expression
    then: Expression
    otherwise: Expression
    span: Span


class Binder(Struct, frozen=True):
    """`name: type` or `name in collection`."""

    name: Name
    type: TypeTree | None
    within: Expression | None
    span: Span


class Quantifier(Struct, frozen=True):
    """`some`, `no`, `every`, `most`, `count`, `at most one`, `exactly one`."""

    kind: Literal["some", "no", "every", "most", "count", "at most one", "exactly one"]
    binders: tuple[Binder, ...]
    where: Expression | None
    body: Expression
    span: Span


class Best(Struct, frozen=True):
    """`max x in S where c by e`, and `min`; `sum` of all `e`."""

    kind: Literal["max", "min", "sum"]
    binder: Binder
    where: Expression | None
    by: Expression
    span: Span


class Each(Struct, frozen=True):
    """`each k: K -> e`, a map."""

    name: Name
    key: TypeTree
    item: Expression
    span: Span


class Named(Struct, frozen=True):
    """`let name = value; body`, at the beginning of a property: the value is put in wherever the name stands."""

    name: Name
    value: Expression
    body: Expression
    span: Span


class Braces(Struct, frozen=True):
    """`{a, b}`: a set of these."""

    items: tuple[Expression, ...]
    span: Span


class Image(Struct, frozen=True):
    """`{ item for binder where c }`; without `item` the bound variable itself."""

    item: Expression | None
    binder: Binder
    where: Expression | None
    span: Span


class Brackets(Struct, frozen=True):
    """`[a, b]`: a sequence of these."""

    items: tuple[Expression, ...]
    span: Span


class Attribute(Struct, frozen=True):
    """`base.field`."""

    base: Expression
    field: Name
    span: Span


class Subscript(Struct, frozen=True):
    """`base[key]`."""

    base: Expression
    key: Expression
    span: Span


class Argument(Struct, frozen=True):
    """One argument of a call, with its label if it has one."""

    label: Name | None
    value: Expression


class Apply(Struct, frozen=True):
    """`name(arguments)`: a definition, a record, a node, a built-in function."""

    name: Name
    arguments: tuple[Argument, ...]
    span: Span


Expression: TypeAlias = (
    Number
    | Name
    | Word
    | Prefix
    | Infix
    | Choice
    | Quantifier
    | Best
    | Named
    | Each
    | Braces
    | Image
    | Brackets
    | Attribute
    | Subscript
    | Apply
)

# ---- types -------------------------------------------------------------------------------------------------------


class TypeTree(Struct, frozen=True):
    """A type as written. `kind` says which form; `parts` are the types in it, `limits` the numbers, `names` the words.
    The second of the limits of what is `endless` is the condition under which it is."""

    kind: Literal["bool", "name", "range", "counter", "endless", "enum", "set", "map", "sequence", "bag", "option"]
    parts: tuple[TypeTree, ...]
    limits: tuple[Expression, ...]
    names: tuple[Name, ...]
    span: Span


# ---- statements --------------------------------------------------------------------------------------------------


class Place(Struct, frozen=True):
    """What an assignment writes: a name, then fields and keys."""

    root: Name
    path: tuple[Name | Expression, ...]
    keys: tuple[bool, ...]  # for each part of the path, whether it is a key in brackets
    span: Span


class Assign(Struct, frozen=True):
    """`place := value`."""

    place: Place
    value: Expression
    span: Span


class If(Struct, frozen=True):
    """`if condition then …`, with `else …` if `otherwise` is not empty. The statement; the expression is `Choice`."""

    condition: Expression
    then: Body
    otherwise: Body
    span: Span


class For(Struct, frozen=True):
    """`for each binder [where …] do …`: the body once for each value."""

    binder: Binder
    where: Expression | None
    body: Body
    span: Span


class While(Struct, frozen=True):
    """`while condition do …`."""

    condition: Expression
    body: Body
    span: Span


class Let(Struct, frozen=True):
    """`let` and, with `changeable`, `var`."""

    name: Name
    type: TypeTree | None
    value: Expression
    changeable: bool
    span: Span


class Choose(Struct, frozen=True):
    """`choose binder [where …]`: any of these values; without one the step cannot be taken."""

    binder: Binder
    where: Expression | None
    span: Span


class Require(Struct, frozen=True):
    """`require condition`: the step can be taken only if it holds here."""

    condition: Expression
    span: Span


class Perform(Struct, frozen=True):
    """A procedure's statements, with these arguments."""

    procedure: Name
    arguments: tuple[Argument, ...]
    span: Span


class Send(Struct, frozen=True):
    """`send message(…) to node`, or `to each` of a set of nodes with `to_each`."""

    message: Name
    arguments: tuple[Argument, ...]
    to: Expression
    to_each: bool
    span: Span


class Call(Struct, frozen=True):
    """`call operation(…) at node`, or `at each` of a set of nodes with `at_each`; `as result` names the answer."""

    operation: Name
    arguments: tuple[Argument, ...]
    at: Expression
    at_each: bool
    result: Name | None
    span: Span


class Answer(Struct, frozen=True):
    """`answer value`: what a service returns to its caller."""

    value: Expression
    span: Span


class Acquire(Struct, frozen=True):
    """`acquire lock then … else …`: one body if the lock was free and is taken, the other if not."""

    lock: Name
    then: Body
    otherwise: Body
    span: Span


class Release(Struct, frozen=True):
    """`release lock`."""

    lock: Name
    span: Span


class Sync(Struct, frozen=True):
    """`sync place`: what a field holds becomes what is on disk."""

    place: Place
    span: Span


class Halt(Struct, frozen=True):
    """`halt`: the node stops as by a crash."""

    span: Span


class Finish(Struct, frozen=True):
    """`finish`: the handler ends here."""

    span: Span


class StepPoint(Struct, frozen=True):
    """`step name [holding] [when c] [only after c]:`, where a handler may be interrupted. `only_after`: a timing
    assumption, which may speak of what no node can know."""

    name: Name
    holding: bool
    when: Expression | None
    only_after: Expression | None
    span: Span


class Shown(Struct, frozen=True):
    """A field of a log line, with `as name` if `by_name`."""

    name: Name
    value: Expression
    by_name: bool


class Log(Struct, frozen=True):
    """`log event(field: value, …) [at node]`: the step writes a line."""

    event: Name
    fields: tuple[Shown, ...]
    at: Expression | None
    span: Span


Statement: TypeAlias = (
    Assign
    | If
    | For
    | While
    | Let
    | Choose
    | Require
    | Perform
    | Send
    | Call
    | Answer
    | Acquire
    | Release
    | Sync
    | Halt
    | Finish
    | StepPoint
    | Log
)
Body: TypeAlias = tuple[Statement, ...]
