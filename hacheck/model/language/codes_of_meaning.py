"""Codes of what a node cannot know or do, of steps, and of checks."""

from __future__ import annotations

from hacheck.model.language.code_info import CodeInfo, info

SERVER = "node Server[2] symmetric { active: bool = false }\n"
ASK = "operation ask() from Server to Server returns bool\n"
CALL = "action go(s: Server) do call ask() at other(s) as heard s.active := heard == true\n"

MEANING: tuple[CodeInfo, ...] = (
    info(
        "HA120",
        "no node can know this",
        "What a node does depends on its own fields and on what it is sent. It cannot see another node's\n"
        "fields, whether a peer is up, paused or cut off (they look the same), true time, a ghost, or what\n"
        "the lock service thinks. Let it ask, or state a timing assumption with `only after`. Properties and\n"
        "`environment action` see everything.",
        SERVER
        + "action take_over(s: Server) when not up(other(s)) do s.active := true\nfaults { crash Server up to 1 }",
        SERVER + "action take_over(s: Server) only after not up(other(s)) do s.active := true\n"
        "faults { crash Server up to 1 }",
    ),
    info(
        "HA122",
        "this kind of node does not do that",
        "An action happens on its first parameter that is a node; messages, operations and locks say whose\nthey are.",
        SERVER + "action go(n: 0..3) do require n > 0",
        SERVER + "environment action go(n: 0..3) do require n > 0",
    ),
    info(
        "HA123",
        "this cannot be assigned",
        "Fields, `shared` and `ghost` variables and `var` locals change. Settings, parameters, `let` locals\n"
        "and views do not.",
        SERVER + "action go(s: Server) do let k = false k := true s.active := k",
        SERVER + "action go(s: Server) do var k = false k := true s.active := k",
    ),
    info(
        "HA124",
        "an answer to nobody",
        "`answer` belongs into `serve`. A message is answered by another message.",
        SERVER + "action go(s: Server) do answer true",
        SERVER + ASK + CALL + "serve ask() at s from t do answer s.active",
    ),
    info(
        "HA125",
        "only a synced field is written out",
        "`sync` writes a `synced` field to disk. A `durable` one is on disk at once, a volatile one never.",
        "node S { n: 0..3 = 0 }\naction flush(s: S) do sync s.n",
        "node S { synced n: 0..3 = 0 }\naction flush(s: S) do sync s.n",
    ),
    info(
        "HA126",
        "nobody serves this operation",
        "A call that nobody serves is never answered.",
        SERVER + ASK + CALL,
        SERVER + ASK + CALL + "serve ask() at s from t do answer s.active",
    ),
    info(
        "HA127",
        "this needs something else to be so",
        "A lock is on one node, a lease needs a clock of its holders, and only a link that holds several\n"
        "messages can hold one twice.",
        SERVER + "lock L held by Server lease 2 ticks\naction go(s: Server) do acquire L then s.active := true",
        SERVER + "clock Server up to 4\nlock L held by Server lease 2 ticks\n"
        "action go(s: Server) do acquire L then s.active := true",
    ),
    info(
        "HA128",
        "handlers of different kinds of node",
        "One `observe` shows what happens on one kind of node, which it calls `n`. Of what happens to several\n"
        "kinds it says which: `observe started of restart Server`.",
        "node A { v: bool }\nnode B { v: bool }\naction a(x: A) do x.v := true\naction b(x: B) do x.v := true\n"
        "observe happened of a, b",
        "node A { v: bool }\nnode B { v: bool }\naction a(x: A) do x.v := true\naction b(x: B) do x.v := true\n"
        "observe happened_a of a\nobserve happened_b of b",
    ),
    info(
        "HA130",
        "a step cannot end here",
        "A step ends at `step`, at a call that waits, and at the handler's end. None of these can be inside a\n"
        "`for` of one step, a procedure, a restart or the environment's doings; each turn of a `while` must pass\n"
        "one.",
        "node S { n: 0..3 = 0 }\naction go(s: S) do while s.n < 3 do s.n := s.n + 1",
        "node S { n: 0..3 = 0 }\naction go(s: S) do while s.n < 3 do { s.n := s.n + 1 step turn: }",
    ),
    info(
        "HA131",
        "this is never under way",
        "`running(n, HANDLER)` asks whether a handler waits at one of its steps. One that has neither a\n"
        "`step` nor a call is a single step: nothing happens while it runs. Where its calls are atomic\n"
        "under some settings only, `running` is false under these.",
        "node S { n: 0..3 = 0 }\naction go(s: S) do s.n := 1\ninvariant i: running(S, go) implies S.n == 0",
        "node S { n: 0..3 = 0 }\naction go(s: S) do step wait: s.n := 1\ninvariant i: running(S, go) implies S.n == 0",
    ),
    info(
        "HA132",
        "nobody would write this line",
        "A line is written by a step, on the node whose handler it is. A procedure belongs to no node: there a\n"
        "`log` says who writes, `at NODE`. Nobody writes in `initially`, before the first step. And a service\n"
        "that is part of its caller's step ends no step that could be observed: write `log` in it.",
        SERVER + "procedure tell(s: Server) do log told(active: s.active)\naction go(s: Server) do tell(s)",
        SERVER + "procedure tell(s: Server) do log told(active: s.active) at s\naction go(s: Server) do tell(s)",
    ),
    info(
        "HA133",
        "lines of one event that do not agree",
        "A log has one column for a field of an event, so what lines show under one name is of one type, with\n"
        "`as name` everywhere or nowhere. A line may leave fields out.",
        SERVER + "action go(s: Server) do log moved(to: s.active)\naction stop(s: Server) do log moved(to: 3)",
        SERVER + "action go(s: Server) do log moved(to: s.active)\naction stop(s: Server) do log stopped(to: 3)",
    ),
    info(
        "HA134",
        "a line that would change something",
        "`log` says what is, and changes nothing. `fresh` draws an identity, which is a step's doing.",
        "identity Group\nnode S { group: Group? = none }\naction go(s: S) do log made(group: fresh(Group))",
        "identity Group\nnode S { group: Group? = none }\n"
        "action go(s: S) do s.group := fresh(Group) log made(group: s.group)",
    ),
    info(
        "HA140",
        "there is no such setting",
        "A check or the command line sets params, switches and assumptions of the spec and of its libraries.",
        SERVER + "check default with fenced = on expect all hold",
        SERVER + "switch fenced = off\naction go(s: Server) when not fenced do s.active := true\n"
        "check default with fenced = on expect all hold",
    ),
    info(
        "HA141",
        "a setting cannot have this value",
        "A switch and an assumption are on or off; a param has a value of its type.",
        "param n = 2 in 2..5\nnode Server[n] symmetric { }\ncheck large with n = 9 expect all hold",
        "param n = 2 in 2..5\nnode Server[n] symmetric { }\ncheck large with n = 5 expect all hold",
    ),
    info(
        "HA142",
        "there is no such property",
        "`only` and `expect` name invariants, lemmas, step invariants, reachables,\n"
        "eventuallys, leads_tos and deadlock_frees.",
        SERVER + "check default expect one violated",
        SERVER + "invariant one: at most one s: Server where s.active\ncheck default expect all hold",
    ),
    info(
        "HA143",
        "a `trace` too many",
        "`trace` says under which settings logs are compared with a spec: once, in the spec itself. What\n"
        "differs between logs is chosen with `--set`.",
        "param n = 2 in 2..5\nnode Server[n] symmetric { }\ntrace with n = 3\ntrace with n = 5",
        "param n = 2 in 2..5\nnode Server[n] symmetric { }\ntrace with n = 5",
    ),
    info(
        "HA144",
        "what no record gives a setting",
        "`from EVENT(FIELD): NAME = …` gives a setting what records of the event show: a value that is written\n"
        "there, the field, or how many elements it has, `size(FIELD)`. Nothing is computed.",
        "param n = 2 in 2..5\nnode Server[n] symmetric { }\ntrace with n = 3\n  from started(last): n = last + 1",
        "param n = 2 in 2..5\nnode Server[n] symmetric { }\ntrace with n = 3\n  from started(all): n = size(all)",
    ),
    info(
        "HA145",
        "there is no such unit of time",
        "`restores NAME within 10 s`: a whole number and ms, s, min or h.",
        SERVER + "invariant one: at most one s: Server where s.active\n"
        "check default expect one violated\n  restores one within 10 seconds",
        SERVER + "invariant one: at most one s: Server where s.active\n"
        "check default expect one violated\n  restores one within 10 s",
    ),
)
