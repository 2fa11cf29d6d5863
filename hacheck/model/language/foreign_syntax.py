"""What people write out of habit, as other languages have it, and what is written here instead."""

from __future__ import annotations

import re
from collections.abc import Set

from hacheck.model.language.collection_syntax import in_collections
from hacheck.model.language.lexer import NAME, NUMBER, TEXT
from hacheck.model.language.parser import Unreadable

COMMENT = "a comment begins with `#`"
DIVISION = "there is no division: multiply the other side, as in `2 * a <= b`; of voters, `majority(…)`"
REMAINDER = "there is no remainder: name the values that are meant, as in `n in {0, 2}`, or count in a field of its own"
EVERY = "write `every x: T satisfies …`, or of some of them `every x: T where … satisfies …`"
SOME = "write `some x: T where …`"
EQUAL = "equality is written `==`"
QUOTE = 'a text stands in `"`'
STEP = "before a step it is `old(x)`, after it `x`"
CHANGED = "an assignment is written out: `n := n + 1`"

SIGNS = {
    "&": "write `and`",
    "&&": "write `and`",
    "/\\": "write `and`",
    "∧": "write `and`",
    "|": "write `or`",
    "||": "write `or`",
    "\\/": "write `or`",
    "\u2228": "write `or`",
    "!": "write `not`",
    "~": "write `not`",
    "¬": "write `not`",
    "<>": "write `!=`",
    "!==": "write `!=`",
    "≠": "write `!=`",
    "===": "write `==`",
    "=<": "write `<=`",
    "≤": "write `<=`",
    "≥": "write `>=`",
    "->": "write `implies`",
    "=>": "write `implies`, or `>=` for at least",
    "==>": "write `implies`",
    "→": "write `implies`",
    "<->": EQUAL,
    "<=>": EQUAL,
    "+=": CHANGED,
    "-=": CHANGED,
    "*=": CHANGED,
    "++": CHANGED,
    "--": COMMENT,
    "/*": COMMENT,
    "//": COMMENT,
    "/": DIVISION,
    "÷": DIVISION,
    "%": REMAINDER,
    "^": "there are no powers: write the product",
    "**": "there are no powers: write the product",
    "?": "write `if … then … else …`",
    "“": QUOTE,
    "”": QUOTE,
}
"""For signs that stand together and mean nothing here: what to write."""

WORDS = {
    "elif": "write `else if`",
    "elsif": "write `else if`",
    "elseif": "write `else if`",
    "forall": EVERY,
    "exists": SOME,
    "mod": REMAINDER,
    "div": DIVISION,
}
"""For words that nobody gives as a name: what to write."""

NAMES = {
    "null": "write `none`",
    "nil": "write `none`",
    "None": "write `none`",
    "True": "write `true`",
    "False": "write `false`",
    **dict.fromkeys(("self", "this", "me"), "the node that acts has a name: it is `s` in `action NAME(s: T)`"),
    "all": "to all others: `send MESSAGE(…) to each others(s)`; of a property: `every x: T satisfies …`",
}
"""The same for words that read like a value."""

OPTION = "an optional field takes the value as it is: `x := y`, `x == y`; `value(x)` is what it holds"
SIZE = "how many elements it has is `size(…)`"
UP = "whether a node runs is `up(n)`, which only properties, faults and the environment can know"
QUORUM = "more than half of all nodes of a kind: `majority(SET)`, or `2 * size(SET) > n`"
RANDOM = "any value may be taken: `choose x: 0..3` as a statement of its own, then `x`"
FIRST = "the first element is `first(x)`, and what follows it `rest(x)`"
CALLS = {
    **dict.fromkeys(("some", "Some"), OPTION),
    **dict.fromkeys(("len", "length"), SIZE),
    **dict.fromkeys(("is_up", "isUp", "alive", "is_alive", "running"), UP),
    **dict.fromkeys(("crashed", "is_down", "isDown", "dead", "failed"), UP + ": `not up(n)`"),
    **dict.fromkeys(("quorum", "is_quorum", "isQuorum"), QUORUM),
    **dict.fromkeys(("random", "rand", "randint", "nondet", "any"), RANDOM),
    **dict.fromkeys(("pop", "popleft", "dequeue", "peek", "head"), FIRST),
    **dict.fromkeys(("exists", "is_some", "isSome", "defined"), "whether there is a value is `x != none`"),
    **dict.fromkeys(("is_none", "isNone", "empty", "isEmpty", "is_empty"), "write `x == none`, of a set `x == {}`"),
}
"""The same for words that read like a function."""

ONCE = "`~>` stands once, in no brackets and under no `every`: `leads_to NAME: … ~> …`"

ARROWS = ("->", "=>", "==>", "-->", "→")
"""How others write that one thing leads to another."""

WRITTEN = re.compile(r"[<>=!&|~+\-*/\\%^?:∧¬≠≤≥→÷“”\u2228]+")
IN_BRACKETS = re.compile(r"\b(forall|exists)\s*\(\s*\w+\s*(?::|in\b)[^()\"#]*\)?\s*$")
FAIR_ALL = re.compile(r"\b((?:strongly\s+)?fair)\s+all(?:\s+of\s+\w+)?\s*$")
MORE_NAMES = re.compile(r"(?:,|and\b)\s*([A-Za-z_]\w*(?:\s*,\s*[A-Za-z_]\w*)*)")


def habit(failure: Unreadable, declared_at: int, text: str) -> tuple[int, int, str] | None:
    """Where something stands that means nothing here, as start and end, and what to write; `None` for nothing known.

    `declared_at`: where the declaration begins that cannot be read. `text`: the whole text.
    """
    if failure.text == "'":
        primed = re.match(r"\w", text[failure.start - 1])
        return failure.start, failure.start + 1, STEP if primed else QUOTE
    return _word(failure, text) or _sign(failure, declared_at, text)


def _word(failure: Unreadable, text: str) -> tuple[int, int, str] | None:
    """A word of other languages; one taken for a name may have hidden until the next token."""
    start, (kind_before, place_before) = failure.start, failure.before
    for kind, place in ((failure.kind, start), failure.before):
        word = re.compile(r"\w+").match(text, place)
        if kind == NAME and word is not None and word.group() in WORDS and text[place - 1] != ".":
            return *word.span(), WORDS[word.group()]
    last = text[place_before:start].strip()
    if kind_before == NAME and failure.kind == NAME and last in ("all", "any"):
        return place_before, place_before + len(last), EVERY if last == "all" else SOME
    if failure.text == "all" and last == "for":
        return place_before, start + len(failure.text), EVERY
    bracketed = IN_BRACKETS.search(text, max(0, start - 200), start)
    return (*bracketed.span(1), WORDS[bracketed.group(1)]) if bracketed else None


def _sign(failure: Unreadable, declared_at: int, text: str) -> tuple[int, int, str] | None:
    """Signs that stand together, of which the reader may have taken the first for one of its own."""
    first = start = failure.start
    while first > 0 and WRITTEN.match(text[first - 1]):
        first -= 1
    whole = WRITTEN.match(text, first)
    last = whole.end() if whole else start
    for begin in range(first, start + 1):
        for end in range(last, start, -1):
            signs = text[begin:end]
            if text[begin : begin + 2] == "~>":
                return begin, begin + 2, ONCE
            if signs in ARROWS and _leads(failure, declared_at, text):
                return begin, end, "write `~>`"
            if signs in SIGNS:
                return begin, end, SIGNS[signs]
    return None


def _leads(failure: Unreadable, declared_at: int, text: str) -> bool:
    """Whether the two sides of a `leads_to` could part here."""
    before = text[declared_at : failure.start]
    return before.startswith("leads_to") and "~>" not in before and not failure.opened


def said_otherwise(failure: Unreadable, words: Set[str], text: str) -> str | None:
    """What to write instead of a token that has a meaning, but not here. `words`: those that could stand here."""
    start, found = failure.start, failure.text
    last = text[failure.before[1] : start].strip()
    collected = in_collections(failure, text)
    if collected is not None:
        return collected
    if (found in (":=", "==") and "=" in words) or (found == "=" and text[start - 1] in ":="):
        return "a value is given by `=`"
    if found == ":" and text[start : start + 2] == ":=":
        return EQUAL
    if found in (",", "and") and (fair := FAIR_ALL.search(text, max(0, start - 200), start)):
        more = MORE_NAMES.match(text, start)
        return f"write `{fair.group(1)} {more.group(1) if more else 'restart'}` as a clause of its own"
    if failure.kind == NUMBER and last == "." and re.search(r"[0-9]$", text[: failure.before[1]]):
        return "numbers are whole: count in a smaller unit"
    if failure.kind == TEXT and NAME in failure.wanted and "true" in words:
        return "a text is not a value: list the values in a type, as `{ idle, busy }`, and write the name alone"
    if found == "(":
        return _bracket(last, text[start:])
    return None


def _bracket(word: str, following: str) -> str | None:
    """What to write where a word of the language is used like a function."""
    if word in ("some", "every", "no", "most") and re.match(r"\(\s*\w+\s*(:|in\b)", following):
        return f"no brackets: `{word} x: T {'satisfies' if word == 'every' else 'where'} …`"
    if word in ("max", "min"):
        return f"of two numbers it is `{'larger' if word == 'max' else 'smaller'}(…, …)`"
    if word == "count":
        return f"write `count x: T where …`; {SIZE}"
    return OPTION if word == "some" else None
