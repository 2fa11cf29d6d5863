"""Codes of types and values: what does not fit, what must be known beforehand, what cannot be."""

from __future__ import annotations

from hacheck.model.language.code_info import CodeInfo, info

SERVER = "node Server[2] symmetric { mode: { idle, active } = idle }\n"

TYPES: tuple[CodeInfo, ...] = (
    info(
        "HA104",
        "type mismatch",
        "No value is converted silently, except that `T` is accepted where `T?` is needed. Only optional types\n"
        "have `none`; `value(…)` takes the content of an optional value.",
        "node S { n: 0..3 = 0 }\naction go(s: S) when s.n do s.n := 1",
        "node S { n: 0..3 = 0 }\naction go(s: S) when s.n == 0 do s.n := 1",
    ),
    info(
        "HA106",
        "`old` outside a step",
        "`old(…)` is a value before the step. It is allowed in `step_invariant` and `observe`; other properties\n"
        "are about one state.",
        "node S { n: 0..3 = 0 }\ninvariant grows: S.n >= old(S.n)",
        "node S { n: 0..3 = 0 }\nstep_invariant grows: S.n >= old(S.n)",
    ),
    info(
        "HA107",
        "an empty collection of unknown type",
        "`{}` and `[]` take their type from what they are assigned to or compared with; here there is neither.",
        "node S { n: bool = false }\naction go(s: S) do let x = {} s.n := 1 in x",
        "node S { n: bool = false }\naction go(s: S) do let x: set of 0..3 = {} s.n := 1 in x",
    ),
    info(
        "HA110",
        "value not known before the exploration",
        "Sizes, limits, budgets, initial values and whether a field is durable follow from the settings\n"
        "alone. What depends on the state is written in `initially`, in an action or in a condition.",
        "node S { n: 0..3 = 0  m: 0..3 = S.n }",
        "node S { n: 0..3 = 0  m: 0..3 = 0 }\ninitially do S.m := S.n",
    ),
    info(
        "HA111",
        "empty range or size",
        "A range has its smaller limit first; the size of a kind of node, a pool, a link, a collection or a\n"
        "clock is at least one.",
        "node S { n: 3..0 = 3 }",
        "node S { n: 0..3 = 3 }",
    ),
    info(
        "HA112",
        "type not allowed here",
        "Sets, keys of maps and parameters of actions are scalars (bools, ranges, enums, nodes, identities and\n"
        "options of them) of at most 64 values. An optional type is not made optional again, and no operation\n"
        "returns one: a missing answer is `none` already.",
        "node S { seen: set of set of 0..3 }",
        "node S { seen: map 0..3 to set of 0..3 }",
    ),
    info(
        "HA113",
        "value outside its type",
        "An initial value must be one of its field's type, and a node named by number must exist.",
        "node S { n: 0..3 = 4 }",
        "node S { n: 0..4 = 4 }",
    ),
    info(
        "HA114",
        "conflicting field modifiers",
        "A `durable` field survives a crash; a `synced` one survives with its value at the last `sync`; a\n"
        "`ghost` is history that no crash changes; `state` marks the enum that a node's diagram is drawn from.",
        "node S { durable synced n: 0..3 = 0 }",
        "node S { durable n: 0..3 = 0 }",
    ),
    info(
        "HA115",
        "`var` needs a type: the inferred one holds a single value",
        "A `var` without a type has the type of its first value, and a number's type has that number only.",
        "node S { n: 0..3 = 0 }\naction go(s: S) do var k = 0 k := k + 1 s.n := k",
        "node S { n: 0..3 = 0 }\naction go(s: S) do var k: 0..3 = 0 k := k + 1 s.n := k",
    ),
    info(
        "HA116",
        "the pool of identities needs a size",
        "By default a pool is as large as the number of identities that can be held at once. A set, or a map\n"
        "over identities, can hold any number of them.",
        "identity Group\nnode S { seen: set of Group }\naction go(s: S) do s.seen := s.seen with fresh(Group)",
        "identity Group up to 3\nnode S { seen: set of Group }\naction go(s: S) do s.seen := s.seen with fresh(Group)",
    ),
    info(
        "HA117",
        "definitions expand to too much text",
        "A definition is expanded wherever it is used. In a chain of definitions that each use the one before\n"
        "twice, the text doubles with every definition.",
        "node S { v: bool = false }\ndefine d0(s: S) = s.v\n"
        + "".join(f"define d{k}(s: S) = d{k - 1}(s) and not d{k - 1}(s)\n" for k in range(1, 20))
        + "invariant i: d19(S)",
        "node S { v: bool = false }\ndefine d0(s: S) = s.v\ndefine d1(s: S) = d0(s)\ninvariant i: d1(S)",
    ),
    info(
        "HA118",
        "a definition with parameters is marked `acknowledged to clients`",
        "`acknowledged to clients` marks a value that says what clients have been promised: a field, a\n"
        "variable, or a definition without parameters. One with parameters has many values.",
        "node S { has: set of 1..2 = {} }\n"
        "define kept(m: 1..2): bool = some s: S where m in s.has acknowledged to clients",
        "node S { has: set of 1..2 = {} }\n"
        "define kept: set of 1..2 = { m: 1..2 where some s: S where m in s.has } acknowledged to clients",
    ),
    info(
        "HA121",
        "symmetric nodes have no order",
        "Symmetric nodes are interchangeable: none is the first, none can be named, and `<` does not compare\n"
        "them. Where ids are priorities, declare the nodes `ranked`.",
        SERVER + "invariant first: every a: Server, b: Server satisfies a < b implies a.mode == idle",
        SERVER.replace("symmetric", "ranked")
        + "invariant first: every a: Server, b: Server satisfies a < b implies a.mode == idle",
    ),
)
