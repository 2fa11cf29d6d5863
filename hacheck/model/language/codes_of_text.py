"""Codes of texts that cannot be read, and of what a readable text leaves unused."""

from __future__ import annotations

from hacheck.model.language.code_info import HEAD, CodeInfo, info

NODE = "node Server[2] symmetric { on_duty: bool = false }\n"
GO = "action start(s: Server) when not s.on_duty do s.on_duty := true\n"

TEXT: tuple[CodeInfo, ...] = (
    CodeInfo(
        "HA001",
        "the file is too long",
        "A spec has at most 1,048,576 characters; real ones have tens of thousands. A longer file is\nprobably data.",
        "",
        HEAD + NODE,
    ),
    CodeInfo(
        "HA002",
        "the file is empty",
        "A file begins with `system NAME` or `library NAME`. This one has only blanks and comments.",
        "# to be written\n",
        HEAD,
    ),
    CodeInfo(
        "HA003",
        "the file is not plain text",
        "A spec is plain text; control codes show that this is a binary file, or one in another encoding.",
        "",
        HEAD + NODE,
    ),
    info(
        "HA004",
        "unknown character",
        "No word of the language contains this character here. Texts are in double quotes and end on the line\n"
        "on which they begin.",
        "node Server[2] symmetric { on_duty: bool = false } $",
        NODE,
    ),
    info(
        "HA005",
        "syntax error: something else is expected here",
        "The file is correct up to here. The message lists what can come next. Reading resumes at the next\n"
        "declaration, so that one mistake does not hide another one.",
        NODE + "action start(s: Server) when not s.on_duty do s.on_duty = true",
        NODE + GO,
    ),
    CodeInfo(
        "HA006",
        "nested too deeply",
        "Expressions and blocks can be nested up to 150 levels. Give a part a name with `define`.",
        "",
        HEAD + NODE,
    ),
    info(
        "HA007",
        "unknown library",
        "`use` names a file; a relative path begins at the folder of the file with the `use`.",
        'use "no_such_library.ha"',
        NODE,
    ),
    info(
        "HA008",
        "the number is too large",
        "Numbers have at most nine digits. Each value of each field multiplies the states to explore: real\n"
        "specs need only a few values.",
        "node S { n: 0..10_000_000_000 = 0 }",
        "node S { n: 0..10 = 0 }",
    ),
    info(
        "HA009",
        "this word was renamed",
        "The word belongs to an older version of the language. `hacheck fmt --upgrade FILE` replaces it by the\n"
        "new word and changes nothing else.",
        NODE + GO + "transition stays: every s: Server satisfies old(s.on_duty) implies s.on_duty",
        NODE + GO + "step_invariant stays: every s: Server satisfies old(s.on_duty) implies s.on_duty",
    ),
    info(
        "HA201",
        "unused setting",
        "A param, switch or assumption is declared and never used: two checks that differ only in it are the\nsame.",
        NODE + GO + "switch fenced = off",
        NODE + "switch fenced = off\naction start(s: Server) when not s.on_duty and not fenced do s.on_duty := true",
    ),
    info(
        "HA202",
        "unused definition",
        "A definition, procedure, type or record is declared and never used.",
        NODE + GO + "define one = at most one s: Server where s.on_duty",
        NODE + GO + "define one = at most one s: Server where s.on_duty\nreachable single: one",
    ),
    info(
        "HA203",
        "unused message or operation",
        "A message is declared and never sent, or sent and never received (it stays on its link for ever); or\n"
        "an operation is never called.",
        NODE + GO + "message ping() from Server to Server",
        NODE + "message ping() from Server to Server latest\n"
        "action start(s: Server) when not s.on_duty do send ping() to other(s)\n"
        "on ping() at s from t do s.on_duty := true",
    ),
    info(
        "HA204",
        "indentation that misleads",
        "`if`, `for` and `while` take one statement, or several in braces. Line ends and indentation mean nothing:\n"
        "what stands below that statement, as far in, is done in any case.",
        NODE + GO + "action stop(s: Server) do\n  if s.on_duty then\n    s.on_duty := false\n    log stopped() at s",
        NODE
        + GO
        + "action stop(s: Server) do\n  if s.on_duty then {\n    s.on_duty := false\n    log stopped() at s\n  }",
    ),
    info(
        "HA205",
        "a condition that is too easily true",
        "`A implies B` is true of everything for which A is false. After `some`, `count`, `at most one` and the like\n"
        "this is rarely meant: `some s: Server where A implies B` holds as soon as A is false for one server.",
        NODE + GO + "reachable alone: some s: Server where s.on_duty implies not other(s).on_duty",
        NODE + GO + "reachable alone: some s: Server where s.on_duty and not other(s).on_duty",
    ),
)
