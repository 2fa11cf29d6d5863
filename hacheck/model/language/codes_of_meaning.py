"""Codes of what a node cannot know or do, of steps, and of checks."""

from __future__ import annotations

from hacheck.model.language.code_info import CodeInfo, info

SERVER = "node Server[2] symmetric { active: bool = false }\n"
ASK = "operation ask() from Server to Server returns bool\n"
CALL = "action go(s: Server) do call ask() at other(s) as heard s.active := heard == true\n"

MEANING: tuple[CodeInfo, ...] = (
    info(
        "HA120",
        "not visible to a node",
        "What a node does depends on its own fields and on what it receives. It cannot see another node's\n"
        "fields, whether a peer is up, paused or cut off (they look the same), true time, a ghost, or the state\n"
        "of the lock service. Send a message or a call, or state a timing assumption with `only after`.\n"
        "Properties and `environment action` see everything.",
        SERVER
        + "action take_over(s: Server) when not up(other(s)) do s.active := true\nfaults { crash Server up to 1 }",
        SERVER + "action take_over(s: Server) only after not up(other(s)) do s.active := true\n"
        "faults { crash Server up to 1 }",
    ),
    info(
        "HA122",
        "wrong kind of node",
        "An action happens on its first parameter that is a node. The declaration of a message, an operation or\n"
        "a lock names the kinds of node that use it.",
        SERVER + "action go(n: 0..3) do require n > 0",
        SERVER + "environment action go(n: 0..3) do require n > 0",
    ),
    info(
        "HA123",
        "not assignable",
        "Fields, `shared` and `ghost` variables and `var` locals change. Settings, parameters, `let` locals\n"
        "and views do not.",
        SERVER + "action go(s: Server) do let k = false k := true s.active := k",
        SERVER + "action go(s: Server) do var k = false k := true s.active := k",
    ),
    info(
        "HA124",
        "`answer` outside a service",
        "`answer` is allowed in `serve` only. A message is answered by another message.",
        SERVER + "action go(s: Server) do answer true",
        SERVER + ASK + CALL + "serve ask() at s from t do answer s.active",
    ),
    info(
        "HA125",
        "`sync` of a field that is not synced",
        "`sync` writes a `synced` field to disk. A `durable` field is on disk at once, a volatile one never.",
        "node S { n: 0..3 = 0 }\naction flush(s: S) do sync s.n",
        "node S { synced n: 0..3 = 0 }\naction flush(s: S) do sync s.n",
    ),
    info(
        "HA126",
        "operation without a service",
        "A call of an operation without `serve` is never answered.",
        SERVER + ASK + CALL,
        SERVER + ASK + CALL + "serve ask() at s from t do answer s.active",
    ),
    info(
        "HA127",
        "missing prerequisite: a clock, a capacity or a host",
        "A lock is on one node, a lease needs a clock of its holders, and only a link with a capacity of\n"
        "several messages can hold one twice.",
        SERVER + "lock L held by Server lease 2 ticks\naction go(s: Server) do acquire L then s.active := true",
        SERVER + "clock Server up to 4\nlock L held by Server lease 2 ticks\n"
        "action go(s: Server) do acquire L then s.active := true",
    ),
    info(
        "HA128",
        "handlers of different kinds of node",
        "One `observe` shows what happens on one kind of node, which it calls `n`. For a fault of several kinds,\n"
        "name the kind: `observe started of restart Server`.",
        "node A { v: bool }\nnode B { v: bool }\naction a(x: A) do x.v := true\naction b(x: B) do x.v := true\n"
        "observe happened of a, b",
        "node A { v: bool }\nnode B { v: bool }\naction a(x: A) do x.v := true\naction b(x: B) do x.v := true\n"
        "observe happened_a of a\nobserve happened_b of b",
    ),
    info(
        "HA130",
        "a step cannot end here",
        "A step ends at `step`, at a call that waits, and at the handler's end. None of these can be inside a\n"
        "`for` of one step, a procedure, a restart or an action of the environment; each turn of a `while` must\n"
        "contain one.",
        "node S { n: 0..3 = 0 }\naction go(s: S) do while s.n < 3 do s.n := s.n + 1",
        "node S { n: 0..3 = 0 }\naction go(s: S) do while s.n < 3 do { s.n := s.n + 1 step turn: }",
    ),
    info(
        "HA131",
        "a handler of one step is never running",
        "`running(n, HANDLER)` is true while a handler waits at one of its steps. A handler without `step` and\n"
        "without a call is a single step: nothing else happens while it runs. Where its calls are atomic under\n"
        "some settings only, `running` is false under those.",
        "node S { n: 0..3 = 0 }\naction go(s: S) do s.n := 1\ninvariant i: running(S, go) implies S.n == 0",
        "node S { n: 0..3 = 0 }\naction go(s: S) do step wait: s.n := 1\ninvariant i: running(S, go) implies S.n == 0",
    ),
    info(
        "HA132",
        "no node writes this line",
        "A step writes a line, on the node of its handler. A procedure belongs to no node: its `log` needs\n"
        "`at NODE`. No node writes in `initially`, before the first step. A service that is part of its\n"
        "caller's step ends no step that could be observed: write `log` in it.",
        SERVER + "procedure report(s: Server) do log reported(active: s.active)\naction go(s: Server) do report(s)",
        SERVER
        + "procedure report(s: Server) do log reported(active: s.active) at s\naction go(s: Server) do report(s)",
    ),
    info(
        "HA133",
        "a field of an event with two types",
        "A log has one column for a field of an event, so all lines of an event show it with one type, and\n"
        "with `as name` everywhere or nowhere. A line may leave fields out.",
        SERVER + "action go(s: Server) do log moved(to: s.active)\naction stop(s: Server) do log moved(to: 3)",
        SERVER + "action go(s: Server) do log moved(to: s.active)\naction stop(s: Server) do log stopped(to: 3)",
    ),
    info(
        "HA134",
        "a log line cannot change the state",
        "`log` shows values and changes nothing. `fresh` draws an identity, which changes the state.",
        "identity Group\nnode S { group: Group? = none }\naction go(s: S) do log made(group: fresh(Group))",
        "identity Group\nnode S { group: Group? = none }\n"
        "action go(s: S) do s.group := fresh(Group) log made(group: s.group)",
    ),
    info(
        "HA140",
        "unknown setting",
        "Checks and the command line set params, switches and assumptions of the spec and of its libraries.",
        SERVER + "check default with fenced = on expect all hold",
        SERVER + "switch fenced = off\naction go(s: Server) when not fenced do s.active := true\n"
        "check default with fenced = on expect all hold",
    ),
    info(
        "HA141",
        "invalid value of a setting",
        "A switch and an assumption are on or off; a param has a value of its type.",
        "param n = 2 in 2..5\nnode Server[n] symmetric { }\ncheck large with n = 9 expect all hold",
        "param n = 2 in 2..5\nnode Server[n] symmetric { }\ncheck large with n = 5 expect all hold",
    ),
    info(
        "HA142",
        "unknown property",
        "`only` and `expect` name properties: `invariant`, `lemma`, `step_invariant`, `reachable`, `eventually`,\n"
        "`leads_to` and `deadlock_free`.",
        SERVER + "check default expect one violated",
        SERVER + "invariant one: at most one s: Server where s.active\ncheck default expect all hold",
    ),
    info(
        "HA143",
        "more than one `trace` block",
        "`trace` gives the settings under which logs are compared with a spec. There is one, in the spec\n"
        "itself; `--set` gives what differs between logs.",
        "param n = 2 in 2..5\nnode Server[n] symmetric { }\ntrace with n = 3\ntrace with n = 5",
        "param n = 2 in 2..5\nnode Server[n] symmetric { }\ntrace with n = 5",
    ),
    info(
        "HA144",
        "invalid `from` clause: not a field, a size or a literal",
        "`from EVENT(FIELD): NAME = …` takes the value of a setting from records of the event: a literal, the\n"
        "field, or the number of its elements, `size(FIELD)`. Nothing else is computed.",
        "param n = 2 in 2..5\nnode Server[n] symmetric { }\ntrace with n = 3\n  from started(last): n = last + 1",
        "param n = 2 in 2..5\nnode Server[n] symmetric { }\ntrace with n = 3\n  from started(all): n = size(all)",
    ),
    info(
        "HA145",
        "unknown unit of time",
        "`restores NAME within 10 s` takes a whole number and ms, s, min or h.",
        SERVER + "invariant one: at most one s: Server where s.active\n"
        "check default expect one violated\n  restores one within 10 seconds",
        SERVER + "invariant one: at most one s: Server where s.active\n"
        "check default expect one violated\n  restores one within 10 s",
    ),
)
