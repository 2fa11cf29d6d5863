"""Codes of types and values: what does not fit, what must be known beforehand, what cannot be."""

from __future__ import annotations

from hacheck.model.language.code_info import CodeInfo, info

SERVER = "node Server[2] symmetric { mode: { idle, active } = idle }\n"

TYPES: tuple[CodeInfo, ...] = (
    info(
        "HA104",
        "a value of another type",
        "Nothing is converted silently, but for a value that becomes an optional one. `none` belongs to\n"
        "optional types only; out of an optional value its content is taken with `value(…)`.",
        "node S { n: 0..3 = 0 }\naction go(s: S) when s.n do s.n := 1",
        "node S { n: 0..3 = 0 }\naction go(s: S) when s.n == 0 do s.n := 1",
    ),
    info(
        "HA106",
        "`old` where there is no step",
        "`old(…)` is a value before the step. It stands in `step_invariant` and `observe`; other properties speak\n"
        "of one moment.",
        "node S { n: 0..3 = 0 }\ninvariant grows: S.n >= old(S.n)",
        "node S { n: 0..3 = 0 }\nstep_invariant grows: S.n >= old(S.n)",
    ),
    info(
        "HA107",
        "an empty collection of unknown type",
        "`{}` and `[]` take their type from what they are assigned to or compared with; here is neither.",
        "node S { n: bool = false }\naction go(s: S) do let x = {} s.n := 1 in x",
        "node S { n: bool = false }\naction go(s: S) do let x: set of 0..3 = {} s.n := 1 in x",
    ),
    info(
        "HA110",
        "not known before the exploration",
        "Sizes, limits, budgets, initial values and whether a field is durable follow from the settings\n"
        "alone. What depends on the state belongs into `initially`, an action or a condition.",
        "node S { n: 0..3 = 0  m: 0..3 = S.n }",
        "node S { n: 0..3 = 0  m: 0..3 = 0 }\ninitially do S.m := S.n",
    ),
    info(
        "HA111",
        "empty, or of no use",
        "A range needs its smaller limit first; a kind of node, a pool, a link, a collection and a clock hold\n"
        "at least one thing.",
        "node S { n: 3..0 = 3 }",
        "node S { n: 0..3 = 3 }",
    ),
    info(
        "HA112",
        "a type that cannot stand here",
        "Sets and maps are over scalars (bools, ranges, enums, nodes, identities and options of them) of at\n"
        "most 64 values; so are the parameters of an action. An optional type is not made optional again, and\n"
        "no operation returns one: that nobody answered is `none` already.",
        "node S { seen: set of set of 0..3 }",
        "node S { seen: map 0..3 to set of 0..3 }",
    ),
    info(
        "HA113",
        "a value outside its type",
        "An initial value must be one of its field's type, and a node named by number must be there.",
        "node S { n: 0..3 = 4 }",
        "node S { n: 0..4 = 4 }",
    ),
    info(
        "HA114",
        "words that do not go together",
        "`durable` survives a crash, `synced` survives as it was at the last `sync`, a `ghost` is history\n"
        "that no crash touches, and `state` marks the enum that a node's diagram is drawn from.",
        "node S { durable synced n: 0..3 = 0 }",
        "node S { durable n: 0..3 = 0 }",
    ),
    info(
        "HA115",
        "a `var` without room to change",
        "A `var` without a type has that of its first value, and the type of a number is that number alone.",
        "node S { n: 0..3 = 0 }\naction go(s: S) do var k = 0 k := k + 1 s.n := k",
        "node S { n: 0..3 = 0 }\naction go(s: S) do var k: 0..3 = 0 k := k + 1 s.n := k",
    ),
    info(
        "HA116",
        "a pool of identities that must be stated",
        "A pool is by itself as large as the identities that can be held at once. A set, or a map over\n"
        "identities, can hold any number of them.",
        "identity Group\nnode S { seen: set of Group }\naction go(s: S) do s.seen := s.seen with fresh(Group)",
        "identity Group up to 3\nnode S { seen: set of Group }\naction go(s: S) do s.seen := s.seen with fresh(Group)",
    ),
    info(
        "HA117",
        "definitions that grow without end",
        "A definition is put in wherever it is used. A chain of definitions that each use the one before\n"
        "twice doubles with every link.",
        "node S { v: bool = false }\ndefine d0(s: S) = s.v\n"
        + "".join(f"define d{k}(s: S) = d{k - 1}(s) and not d{k - 1}(s)\n" for k in range(1, 20))
        + "invariant i: d19(S)",
        "node S { v: bool = false }\ndefine d0(s: S) = s.v\ndefine d1(s: S) = d0(s)\ninvariant i: d1(S)",
    ),
    info(
        "HA121",
        "symmetric nodes have no order",
        "Symmetric nodes are interchangeable: none is the first, none can be named, and they are not compared\n"
        "by `<`. Where ids are priorities, declare the nodes `ranked`.",
        SERVER + "invariant first: every a: Server, b: Server satisfies a < b implies a.mode == idle",
        SERVER.replace("symmetric", "ranked")
        + "invariant first: every a: Server, b: Server satisfies a < b implies a.mode == idle",
    ),
)
