"""Words with which other languages begin a declaration, a statement or a clause, and what is written here instead."""

from __future__ import annotations

import re
from collections.abc import Set

from hacheck.model.language.lexer import END, NAME
from hacheck.model.language.parser import Unreadable

INVARIANT = "what holds in every state: `invariant NAME: …`"
LIVENESS = "what comes about: `eventually NAME: …`, or again and again `leads_to NAME: … ~> …`"
CONSTANT = "a number that a check may set: `param NAME = 2 in 1..3`; one that stays: `define NAME = 2`"
FIELD = "a field stands in its node, `node NAME { n: 0..3 = 0 }`; what belongs to none: `shared n: 0..3 = 0`"
NODE = "write `node NAME { … }` for its fields, and an `action` for each thing that it does"
ACTION = "write `action NAME(s: T) when … do …`"
RECEIVE = "write `on MESSAGE(…) at n from m do …`"
TIMER = "a timer is an action that may happen at any time: `action NAME(s: T) when … do …`"
USE = 'write `use "FILE.ha"`'
FAIR = "a property asks for it, at its end: `fair all`, or `strongly fair NAME`"
FAULTS = "write `faults { crash T up to 1, lose MESSAGE up to 1 }`"
STATEMENT = "a statement stands in an action, a handler or a procedure, after `do`"
FUNCTION = "what has a value: `define NAME(n: T) = …`; what changes something: `procedure NAME(n: T) do …`"
OF_ALL = "of what it is said stands before it: `every x: T satisfies …`"
SYSTEM = 'a file begins with `system NAME "…"`'

DECLARATIONS = {
    **dict.fromkeys(("property", "always", "never", "safety", "assert", "inv", "ensure", "ensures"), INVARIANT),
    **dict.fromkeys(("liveness", "temporal", "progress"), LIVENESS),
    **dict.fromkeys(("const", "constant", "constants", "CONSTANT", "CONSTANTS"), CONSTANT),
    **dict.fromkeys(
        ("var", "variable", "variables", "VARIABLE", "VARIABLES", "state", "field", "let", "global", "local"), FIELD
    ),
    **dict.fromkeys(("process", "proctype", "actor", "machine", "class", "role", "server", "replica"), NODE),
    **dict.fromkeys(("event", "rule", "next", "step", "command", "atomic"), ACTION),
    **dict.fromkeys(("receive", "recv", "handler", "handle", "upon"), RECEIVE),
    **dict.fromkeys(("timeout", "timer", "every", "after"), TIMER),
    **dict.fromkeys(("import", "include", "extends", "EXTENDS", "open"), USE),
    **dict.fromkeys(("fair", "fairness", "strongly", "WF", "SF"), FAIR),
    "weakly": "write `fair …`: it is weak where it is not `strongly fair …`",
    **dict.fromkeys(("fault", "failure", "failures", "crash"), FAULTS),
    **dict.fromkeys(("while", "if", "for", "send", "call", "do"), STATEMENT),
    **dict.fromkeys(("function", "def", "fun", "func", "pred", "predicate", "macro"), FUNCTION),
    **dict.fromkeys(
        ("spec", "module", "MODULE", "program", "model", "protocol"), 'a file begins with `system NAME "…"`'
    ),
    **dict.fromkeys(("enum", "typedef", "struct"), "write `type NAME = { a, b }`, or `record NAME { n: 0..3 }`"),
    **dict.fromkeys(
        ("init", "initial", "Init"), "a field has its first value after `=`; more is said by `initially do …`"
    ),
    **dict.fromkeys(("goal", "cover", "sometimes", "possible"), "what some run reaches: `reachable NAME: …`"),
    **dict.fromkeys(("requires", "assume", "ASSUME"), "what can be taken for granted: `assumption NAME = on`"),
    **dict.fromkeys(("test", "verify", "run", "scenario"), "write `check NAME with … expect all hold`"),
}
"""For words that begin a declaration elsewhere: what to write."""

CRASH = "a node fails at any time by itself: `faults { crash T up to 1 }`; one that ends itself: `halt`"
WAIT = "anything may happen between two steps: `step NAME:`; to wait for something: `step NAME when …:`"
LOSS = "messages are lost at any time by themselves: `faults { lose MESSAGE up to 1 }`"
SEND = "write `send MESSAGE(…) to …`; to several, `send MESSAGE(…) to each others(s)`"

END_OF_BODY = "a body has no `begin` and no `end`: it ends where the next declaration begins"

STATEMENTS = {
    **dict.fromkeys(("broadcast", "multicast"), "write `send MESSAGE(…) to each others(s)`"),
    **dict.fromkeys(("emit", "reply", "publish", "transmit"), SEND),
    **dict.fromkeys(("kill", "crash", "stop", "fail", "restart", "shutdown"), CRASH),
    **dict.fromkeys(("drop", "lose", "discard"), LOSS),
    **dict.fromkeys(("delay", "sleep", "wait", "await", "yield"), WAIT),
    **dict.fromkeys(("either", "oneof", "nondet"), "two actions, or `choose NAME: T` and `if` what is chosen"),
    **dict.fromkeys(("return",), "`serve` gives its result by `answer …`; nothing else has one"),
    **dict.fromkeys(("assert",), "what must hold in every state is declared: `invariant NAME: …`"),
    **dict.fromkeys(("assume",), "write `require …`: without it the step is not taken"),
    **dict.fromkeys(("skip", "pass", "noop"), "nothing is done by `do` with nothing after it, or by `{ }`"),
    **dict.fromkeys(("set", "assign"), "an assignment is written `n := …`"),
    **dict.fromkeys(("take", "grab"), "write `acquire LOCK then …`"),
    **dict.fromkeys(("unlock",), "write `release LOCK`"),
    **dict.fromkeys(("loop", "repeat"), "write `while … do …`"),
    **dict.fromkeys(("match", "case", "select"), "write `if … then … else …`"),
    **dict.fromkeys(("begin", "end"), END_OF_BODY),
    **dict.fromkeys(("try", "catch"), "a call that was not done gives `none`: `call OPERATION(…) at n as x`"),
    **dict.fromkeys(("unchanged", "UNCHANGED"), "what is not assigned keeps its value: leave it out"),
    **dict.fromkeys(("goto", "jump", "become"), "a state is a field, and each way out of it an `action` with a `when`"),
    **dict.fromkeys(
        ("atomic", "parallel", "par", "synchronized"), "a body is one step, unless a `step NAME:` parts it"
    ),
}
"""For words that begin a statement elsewhere: what to write."""

EXPECTED = "what is not named must hold: `expect all hold`, or only what does not, `expect NAME violated`"
NO_BRACKETS = "brackets stand also around nothing: `()`"
PARTS = "two parts are cut by `cut A - B`, where A and B are kinds of nodes"
ALL_FIRST = "what it ranges over comes first, then one `where` for all: `every x: T, y: U where … satisfies …`"
ANOTHER = re.compile(r",\s*\w+\s*(?::(?!=)|\bin\b)")
CONDITIONED = re.compile(r"\b(?:every|some|no)\s+\w+\s*(?::|in\b)[^\n]*\bwhere\b[^\n]*$")
FOR_ALL = re.compile(r"for\s*(all|any|each|every)\b")
AFTER = re.compile(r"\b(invariant|lemma|reachable|eventually|leads_to)\s+\w+\s*$")


def foreign_word(failure: Unreadable, words: Set[str], text: str) -> tuple[int, int, str] | None:
    """Where a word of another language stands, as start and end, and what to write; `None` for nothing known.

    `words`: those that could stand where the text cannot be read on.
    """
    start, end = failure.start, failure.start + len(failure.text)
    kind_before, place_before = failure.before
    if failure.kind == END and (ended := re.search(r"\w+\s*$", text)) is not None:
        place_before, start = ended.start(), len(text)
    last = text[place_before:start].strip()
    behind = text[:start].rpartition("\n")[2].strip() and not AFTER.search(text[:start])
    if failure.text in ("for", "forall") and FOR_ALL.match(text, start) and behind:
        return start, end, OF_ALL
    if "invariant" in words and "check" in words and failure.text in DECLARATIONS:
        return start, end, DECLARATIONS[failure.text]
    if kind_before == NAME and {":=", "(", "."} <= words and "then" not in words:  # `last` was read as a place
        at_margin = place_before == 0 or text[place_before - 1] == "\n"
        meant = (STATEMENTS | DECLARATIONS if at_margin else STATEMENTS).get(last)
        if meant is not None:
            return place_before, place_before + len(last), meant
    said = _clause(failure, words, last, text)
    return None if said is None else (start, end, said)


def _clause(failure: Unreadable, words: Set[str], last: str, text: str) -> str | None:
    """What to write for a word, or a bracket, after which the text cannot be read on. `last`: what stands before."""
    found, before = failure.text, text[: failure.start].split()[-2:]
    if found == "," and ANOTHER.match(text, failure.start) and CONDITIONED.search(text[: failure.start]):
        return ALL_FIRST
    if before[-1:] == ["violated"] and (found in (",", "and") or failure.kind == NAME):
        return "names stand together: `expect ONE, OTHER violated`"
    if "violated" in words and found in ("hold", "holds", "true", "ok", "passes"):
        return EXPECTED
    if "violated" in words and found in ("fails", "fail", "broken", "false"):
        return "write `violated`"
    if words == {"("} and before[:1] in (["send"], ["call"]):
        return NO_BRACKETS
    if words == {"("} and before == ["on", "timeout"]:
        return TIMER
    if words == {"("} and before[:1] == ["on"] and last in ("receive", "recv", "message"):
        return RECEIVE
    if found == ":" and text[failure.start : failure.start + 2] != ":=" and {"do", "when"} <= words:
        return "no colon: what is done stands after `do`"
    if found == ":" and before[:1] == ["param"]:
        return "write `param NAME = 2 in 1..3`"
    if found == "{" and last == "enum":
        return "a type lists its values: `{ a, b }`"
    if found == "{" and "do" in words:
        return "a body begins with `do`, and has no braces"
    if found in ("for", "every", "no", "some", "at") and ":" in words and AFTER.search(text[: failure.start]):
        return "a colon stands between its name and what is said: `invariant NAME: …`"
    if before[:1] == ["partition"] and before[-1].endswith(",") and failure.kind == NAME:
        return f"kinds that are split together are joined by `and`: `partition {before[-1][:-1]} and {found}`"
    if last == "partition" and NAME in failure.wanted:
        return PARTS + ", or `partition T`"
    return None
