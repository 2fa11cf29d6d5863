"""Codes of texts that cannot be read, and of what a readable text leaves unused."""

from __future__ import annotations

from hacheck.model.language.code_info import HEAD, CodeInfo, info

NODE = "node Server[2] symmetric { on_duty: bool = false }\n"
GO = "action start(s: Server) when not s.on_duty do s.on_duty := true\n"

TEXT: tuple[CodeInfo, ...] = (
    CodeInfo(
        "HA001",
        "the text is too long",
        "A spec has at most 1,048,576 characters; real ones have a few ten thousand. Longer ones are\nsomebody's data.",
        "",
        HEAD + NODE,
    ),
    CodeInfo(
        "HA002",
        "the file is empty",
        "A file begins with `system NAME` or `library NAME`. This one has nothing but blanks and comments.",
        "# to be written\n",
        HEAD,
    ),
    CodeInfo(
        "HA003",
        "the file is no plain text",
        "A spec is plain text; control codes show that this is a binary file, or one in another encoding.",
        "",
        HEAD + NODE,
    ),
    info(
        "HA004",
        "a character that means nothing",
        "No word of the language has this character here. Texts stand in double quotes and end on the line\n"
        "they begin.",
        "node Server[2] symmetric { on_duty: bool = false } $",
        NODE,
    ),
    info(
        "HA005",
        "something else is expected here",
        "The text can be read up to here and not further. What would go on is listed; the next declaration is\n"
        "read again, so that one slip does not hide another one.",
        NODE + "action start(s: Server) when not s.on_duty do s.on_duty = true",
        NODE + GO,
    ),
    CodeInfo(
        "HA006",
        "this nests too deep",
        "Expressions and blocks nest up to 150 levels. Give a part a name with `define`.",
        "",
        HEAD + NODE,
    ),
    info(
        "HA007",
        "there is no such library",
        "`use` names a file relative to the one it stands in.",
        'use "no_such_library.ha"',
        NODE,
    ),
    info(
        "HA008",
        "the number is too large",
        "Numbers have at most nine digits. Every value of every field is a state of its own to explore: real\n"
        "specs get by with a few.",
        "node S { n: 0..10_000_000_000 = 0 }",
        "node S { n: 0..10 = 0 }",
    ),
    info(
        "HA009",
        "a word that has another name now",
        "The word is of an older version of the language. `hacheck fmt --upgrade FILE` writes the word of today in\n"
        "its place and leaves everything else as it is.",
        NODE + GO + "transition stays: every s: Server satisfies old(s.on_duty) implies s.on_duty",
        NODE + GO + "step_invariant stays: every s: Server satisfies old(s.on_duty) implies s.on_duty",
    ),
    info(
        "HA201",
        "a setting on which nothing depends",
        "A param, switch or assumption is declared and never used: two checks that differ in it ask the same.",
        NODE + GO + "switch fenced = off",
        NODE + "switch fenced = off\naction start(s: Server) when not s.on_duty and not fenced do s.on_duty := true",
    ),
    info(
        "HA202",
        "a definition that is never used",
        "A definition, procedure, type or record is declared and never used.",
        NODE + GO + "define one = at most one s: Server where s.on_duty",
        NODE + GO + "define one = at most one s: Server where s.on_duty\nreachable single: one",
    ),
    info(
        "HA203",
        "a message or operation nobody uses",
        "A message is declared and never sent, or sent and never received (it stays under way for ever); or\n"
        "an operation is never called.",
        NODE + GO + "message ping() from Server to Server",
        NODE + "message ping() from Server to Server latest\n"
        "action start(s: Server) when not s.on_duty do send ping() to other(s)\n"
        "on ping() at s from t do s.on_duty := true",
    ),
)
