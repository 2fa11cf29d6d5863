"""Codes of names: declared twice, unknown, ambiguous, or given the wrong arguments."""

from __future__ import annotations

from hacheck.model.language.code_info import CodeInfo, info

SERVER = "node Server[2] symmetric { mode: { idle, active } = idle }\n"

NAMES: tuple[CodeInfo, ...] = (
    info(
        "HA101",
        "declared twice",
        "A name means one thing in the whole file and its libraries; the same holds for the fields of a node, the\n"
        "parameters of a message or handler, the steps of a handler and the lines of `faults`.",
        SERVER + "node Server { }",
        SERVER + "node Witness { }",
    ),
    info(
        "HA102",
        "unknown type",
        "A type is `bool`, a range, an enum, `set of T`, `map K to T`, `sequence of T up to N`, `bag of T up\n"
        "to N`, `T?`, or the name of a type, record, identity or node.",
        "node Server[2] symmetric { peer: Sever? = none }",
        "node Server[2] symmetric { peer: Server? = none }",
    ),
    info(
        "HA103",
        "unknown name",
        "This name is not known here. A field is written with its node: `s.mode`, not `mode`. A local is known\n"
        "from its declaration to the end of its block.",
        SERVER + "invariant one: at most one s: Server where s.mod == active",
        SERVER + "invariant one: at most one s: Server where s.mode == active",
    ),
    info(
        "HA105",
        "ambiguous name: a member of several types",
        "Two enums have a member of this name, and nothing here decides which is meant. In a comparison the\n"
        "type of the other side decides.",
        "type Mode = { idle, active }\ntype Phase = { idle, busy }\nnode A { m: Mode  p: Phase }\n"
        "invariant same: every x in {idle} satisfies A.m == x",
        "type Mode = { idle, active }\ntype Phase = { idle, busy }\nnode A { m: Mode  p: Phase }\n"
        "invariant same: A.m == idle and A.p == idle",
    ),
    info(
        "HA108",
        "wrong arguments",
        "There is one argument for each parameter, of the parameter's type. Records and messages also take\n"
        "them by label: `Stamp(generation: 1, iteration: 0)`.",
        SERVER + "message ping(by: Server) from Server to Server latest\n"
        "action go(s: Server) do send ping() to other(s)\non ping(by) at s from t do s.mode := active",
        SERVER + "message ping(by: Server) from Server to Server latest\n"
        "action go(s: Server) do send ping(s) to other(s)\non ping(by) at s from t do s.mode := active",
    ),
    info(
        "HA109",
        "circular definition",
        "A definition, a procedure or a call in one step is expanded where it is used; a circular one would\n"
        "never end. Count with a quantifier, or make the call a step of its own.",
        SERVER + "define a = b\ndefine b = a\ninvariant never: a",
        SERVER + "define a = no s: Server where s.mode == active\ninvariant never: a",
    ),
)
