"""The untyped tree of a `.ha` file: what was written, and where. Nothing in it has been looked up yet."""

from __future__ import annotations

from typing import Literal, TypeAlias

from hacheck.model.data import dataclass
from hacheck.model.language.diagnostics import Span

# ---- expressions -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Number:
    """A whole number."""

    value: int
    span: Span


@dataclass(frozen=True, slots=True)
class Name:
    """A word to be looked up: local, field, setting, enum member, definition."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Word:
    """`true`, `false`, `on`, `off` or `none`."""

    value: bool | None
    span: Span


@dataclass(frozen=True, slots=True)
class Prefix:
    """`not`, `negate` or `old` and one operand."""

    operator: Literal["not", "negate", "old"]
    operand: Expression
    span: Span


@dataclass(frozen=True, slots=True)
class Infix:
    """Two operands; the operator as written (`not in` with its blank)."""

    operator: str
    left: Expression
    right: Expression
    span: Span


@dataclass(frozen=True, slots=True)
class Choice:
    """`if … then … else …`."""

    condition: Expression
    then: Expression
    otherwise: Expression
    span: Span


@dataclass(frozen=True, slots=True)
class Binder:
    """`name: type` or `name in collection`."""

    name: Name
    type: TypeTree | None
    within: Expression | None
    span: Span


@dataclass(frozen=True, slots=True)
class Quantifier:
    """`some`, `no`, `every`, `most`, `count`, `at most one`, `exactly one`."""

    kind: Literal["some", "no", "every", "most", "count", "at most one", "exactly one"]
    binders: tuple[Binder, ...]
    where: Expression | None
    body: Expression
    span: Span


@dataclass(frozen=True, slots=True)
class Best:
    """`max x in S where c by e`, and `min`."""

    kind: Literal["max", "min"]
    binder: Binder
    where: Expression | None
    by: Expression
    span: Span


@dataclass(frozen=True, slots=True)
class Each:
    """`each k: K -> e`, a map."""

    name: Name
    key: TypeTree
    item: Expression
    span: Span


@dataclass(frozen=True, slots=True)
class Braces:
    """`{a, b}`: a set of these."""

    items: tuple[Expression, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Image:
    """`{ item for binder where c }`; without `item` the bound variable itself."""

    item: Expression | None
    binder: Binder
    where: Expression | None
    span: Span


@dataclass(frozen=True, slots=True)
class Brackets:
    """`[a, b]`: a sequence of these."""

    items: tuple[Expression, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Attribute:
    """`base.field`."""

    base: Expression
    field: Name
    span: Span


@dataclass(frozen=True, slots=True)
class Subscript:
    """`base[key]`."""

    base: Expression
    key: Expression
    span: Span


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a call, with its label if it has one."""

    label: Name | None
    value: Expression


@dataclass(frozen=True, slots=True)
class Apply:
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
    | Each
    | Braces
    | Image
    | Brackets
    | Attribute
    | Subscript
    | Apply
)

# ---- types -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TypeTree:
    """A type as written. `kind` says which form; `parts` are the types in it, `limits` the numbers, `names` the words.
    The second of the limits of what is `endless` is the condition under which it is."""

    kind: Literal["bool", "name", "range", "counter", "endless", "enum", "set", "map", "sequence", "bag", "option"]
    parts: tuple[TypeTree, ...]
    limits: tuple[Expression, ...]
    names: tuple[Name, ...]
    span: Span


# ---- statements --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Place:
    """What an assignment writes: a name, then fields and keys."""

    root: Name
    path: tuple[Name | Expression, ...]
    keys: tuple[bool, ...]  # for each part of the path, whether it is a key in brackets
    span: Span


@dataclass(frozen=True, slots=True)
class Assign:
    place: Place
    value: Expression
    span: Span


@dataclass(frozen=True, slots=True)
class If:
    condition: Expression
    then: Body
    otherwise: Body
    span: Span


@dataclass(frozen=True, slots=True)
class For:
    binder: Binder
    where: Expression | None
    body: Body
    span: Span


@dataclass(frozen=True, slots=True)
class While:
    condition: Expression
    body: Body
    span: Span


@dataclass(frozen=True, slots=True)
class Let:
    """`let` and, with `changeable`, `var`."""

    name: Name
    type: TypeTree | None
    value: Expression
    changeable: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Choose:
    binder: Binder
    where: Expression | None
    span: Span


@dataclass(frozen=True, slots=True)
class Require:
    condition: Expression
    span: Span


@dataclass(frozen=True, slots=True)
class Perform:
    """A procedure's statements, with these arguments."""

    procedure: Name
    arguments: tuple[Argument, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Send:
    message: Name
    arguments: tuple[Argument, ...]
    to: Expression
    to_each: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Call:
    operation: Name
    arguments: tuple[Argument, ...]
    at: Expression
    at_each: bool
    result: Name | None
    span: Span


@dataclass(frozen=True, slots=True)
class Answer:
    value: Expression
    span: Span


@dataclass(frozen=True, slots=True)
class Acquire:
    lock: Name
    then: Body
    otherwise: Body
    span: Span


@dataclass(frozen=True, slots=True)
class Release:
    lock: Name
    span: Span


@dataclass(frozen=True, slots=True)
class Sync:
    place: Place
    span: Span


@dataclass(frozen=True, slots=True)
class Halt:
    span: Span


@dataclass(frozen=True, slots=True)
class Finish:
    span: Span


@dataclass(frozen=True, slots=True)
class StepPoint:
    """`step name [holding] [when c]:`, where a handler may be interrupted."""

    name: Name
    holding: bool
    when: Expression | None
    span: Span


@dataclass(frozen=True, slots=True)
class Shown:
    """A field of a log line, with `as name` if `by_name`."""

    name: Name
    value: Expression
    by_name: bool


@dataclass(frozen=True, slots=True)
class Log:
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
