"""The form of each declaration, statement and quantifier, and which of them is unfinished where a text breaks off."""

from __future__ import annotations

import re
from collections.abc import Set

from hacheck.model.language.lexer import NAME
from hacheck.model.language.parser import Unreadable

DECLARATION_FORMS = {
    "use": 'use "FILE.ha"',
    "param": "param NAME = 2 in 1..3",
    "switch": "switch NAME = on",
    "assumption": "assumption NAME = on",
    "type": "type NAME = { a, b }",
    "record": "record NAME { n: 0..3, m: bool }",
    "ordered": "ordered record NAME { n: 0..3 }",
    "identity": "identity NAME up to 3",
    "node": "node NAME[2] { n: 0..3 = 0  m: { a, b } = a }",
    "ghost": "ghost NAME: 0..3 = 0",
    "shared": "shared NAME: 0..3 = 0",
    "initially": "initially do for n: T do n.FIELD := …",
    "message": "message NAME(n: 0..3) from A to B",
    "operation": "operation NAME(n: 0..3) from A to B returns bool",
    "lock": "lock NAME held by T",
    "clock": "clock NAME up to 10",
    "define": "define NAME(n: T) = …",
    "procedure": "procedure NAME(n: T) do …",
    "action": 'action NAME(n: T) "…" when … do …',
    "environment": "environment action NAME(n: T) when … do …",
    "on": "on MESSAGE(…) at n from m do …`, `on restart of n: T do …` or `on lost LOCK at n do …",
    "serve": "serve OPERATION(…) at n from m do answer …",
    "faults": "faults { crash T up to 1, cut A - B up to 1, lose MESSAGE up to 1 }",
    "invariant": 'invariant NAME "…": …',
    "lemma": "lemma NAME: …",
    "step_invariant": "step_invariant NAME: …",
    "reachable": "reachable NAME: …",
    "eventually": "eventually NAME: … fair all",
    "leads_to": "leads_to NAME: … ~> … fair all",
    "deadlock_free": "deadlock_free NAME",
    "observe": "observe NAME of ACTION shows FIELD = …",
    "trace": "trace with NAME = on",
    "check": "check NAME with PARAM = 1 expect all hold`, or `expect NAME violated",
}
"""For each word that begins a declaration, how the declaration is written, as it stands between `` ` ``."""

ENDS_OPEN = frozenset(
    {"use", "param", "switch", "assumption", "type", "identity", "ghost", "shared", "message", "operation", "lock"}
    | {"clock", "deadlock_free", "check", "trace", "observe"}
)
"""Declarations in which no expression or body is open at the end: what cannot follow was meant to belong to them."""

STATEMENT_FORMS = {
    "send": ("send MESSAGE(…) to n", ()),
    "call": ("call OPERATION(…) at n as x", ("as",)),
    "if": ("if … then … else …", ("then",)),
    "for": ("for n: T do …`, or of a set `for n in others(s) do …", ("do",)),
    "while": ("while … do { … }", ("do",)),
    "let": ("let x = …", ("=",)),
    "var": ("var x = …", ("=",)),
    "choose": ("choose x: T where …", ("where",)),
    "acquire": ("acquire LOCK then … else …", ("then",)),
    "step": ("step NAME when …:", ()),
    "log": ("log EVENT(FIELD: …)", ()),
    "some": ("some x: T where …", ("where",)),
    "no": ("no x: T where …", ("where",)),
    "most": ("most x: T where …", ("where",)),
    "count": ("count x: T where …", ("where",)),
    "every": ("every x: T satisfies …`, or of some of them `every x: T where … satisfies …", ("satisfies",)),
    "at most one": ("at most one x: T where …", ("where",)),
    "exactly one": ("exactly one x: T where …", ("where",)),
    "max": ("max x: T by …", ("by",)),
    "min": ("min x: T by …", ("by",)),
    "sum": ("sum x: T by …", ("by",)),
    "each": ("each k: T -> …", ("->",)),
}
"""For each word that begins a statement or a part of an expression, how it is written, and what ends its head."""

EVERYWHERE = frozenset(STATEMENT_FORMS) - {"send", "call", "for", "while", "choose", "var", "acquire", "step", "log"}
"""Those that stand not only in bodies."""

STATEMENTS_ARE = (
    "a statement is `n.FIELD := …`, `PROCEDURE(…)`, or begins with `if`, `for`, `while`, `let`, `choose`, `send`, "
    "`call`, `answer`, `acquire`, `release`, `log`, `step`, `require` or `halt`"
)
DECLARATIONS_ARE = (
    "a declaration begins with a word such as `param`, `node`, `message`, `define`, `action`, `on`, `faults`, "
    "`invariant` or `check`"
)
BEGINS = re.compile(r"^\w+", re.MULTILINE)
MEANINGLESS = re.compile(r"\"[^\"\n]*\"|#[^\n]*")
PARTS = re.compile(r"at\s+most\s+one\b|exactly\s+one\b|\w+|->|:=|[=:{}]")


def form(failure: Unreadable, declared_at: int, words: Set[str], text: str) -> str | None:
    """How the innermost thing that is being written is written; `None` where nothing is unfinished.

    `declared_at`: where the declaration begins that cannot be read. `words`: those that could stand here.
    """
    begun = [
        found.start() for found in BEGINS.finditer(text, declared_at, failure.start) if found[0] in DECLARATION_FORMS
    ]
    written = MEANINGLESS.sub(" ", text[max(begun, default=declared_at) : failure.start])
    parts = [" ".join(part.split()) for part in PARTS.findall(written)]
    if not parts:
        return DECLARATIONS_ARE if failure.kind == NAME or failure.text == "(" else None
    inner = _unfinished(parts, words)
    if inner is not None:
        return f"write `{STATEMENT_FORMS[inner][0]}`"
    head, complete = parts[0], "check" in words
    if head not in DECLARATION_FORMS:
        return None
    if _at_margin(failure.start, text):
        return DECLARATIONS_ARE if complete and failure.kind == NAME else None
    if _in_body(parts) and head not in ("node", "faults", "record"):
        return STATEMENTS_ARE if failure.before[0] == NAME and ":=" in words else None
    if complete and head not in ENDS_OPEN:
        return None
    if not complete and ("true" in words or "and" in words) and head not in ("action", "environment", "on", "leads_to"):
        return None
    return f"write `{DECLARATION_FORMS[head]}`"


def _unfinished(parts: list[str], words: Set[str]) -> str | None:
    """The word that begins what is being written last, if its head has not ended and no expression can stand here."""
    if "true" in words or ":=" in words or {"check", "invariant"} <= words:
        return None
    for place in range(len(parts) - 1, 0, -1):
        word = parts[place]
        if word in STATEMENT_FORMS and (word in EVERYWHERE or "do" in parts):
            return None if set(STATEMENT_FORMS[word][1]) & set(parts[place:]) else word
    return None


def _in_body(parts: list[str]) -> bool:
    return "do" in parts


def _at_margin(start: int, text: str) -> bool:
    return start == 0 or text[start - 1] == "\n"
