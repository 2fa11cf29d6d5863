"""What people write as several tokens that mean something else here, or nothing: each with what to write instead."""

from __future__ import annotations

import re
from collections.abc import Set

from msgspec import Struct

from hacheck.model.language.foreign_words import END_OF_BODY
from hacheck.model.language.lexer import END
from hacheck.model.language.parser import Unreadable


class Shape(Struct, frozen=True):
    """A text is of this shape where `before` matches up to where it cannot be read on, and `here` from there on.

    Both are compiled when a text is read that has an error, not whenever this module is loaded. `needs`, `without`:
    words that could stand there, and that could not.
    """

    before: str
    here: str
    hint: str
    needs: tuple[str, ...] = ()
    without: tuple[str, ...] = ()


def _shape(before: str, here: str, hint: str, *, needs: str = "", without: str = "") -> Shape:
    wanted, unwanted = tuple(needs.split()), tuple(without.split())
    return Shape(rf"(?:{before})\Z", here, hint, wanted, unwanted)


ENUM = "a type lists its values: `{ a, b }`"
OF_TYPES = "write `set of T`, `sequence of T up to 3`, `bag of T up to 3` or `map K to T`"
LIST = "a list is `sequence of T up to 3`; one value for each node is `map NODE to T`"
RANGE = "a range is written `0..3`"
FIELDS = "fields stand one after the other, with nothing between: `n: 0..3 = 0  m: bool = false`"
EACH_TYPE = "each has its type: `every x: T, y: T satisfies …`"
ONE = "write `at most one x: T where …` or `exactly one x: T where …`; `some x: T where …` is one or more"
ALWAYS = "an invariant is what holds in every state: write what holds alone, `invariant NAME: …`"
NAMELESS = "a property has a name: `invariant NAME: …` or `leads_to NAME: … ~> …`"
AGAIN = "once is `eventually NAME: …`; again and again is `leads_to NAME: true ~> …`"
WHEN = "write `when …`"
CHOOSE = "write `choose x: T` as a statement of its own; from then on `x` is what was chosen"
ANSWER = "a call names its answer at its end: `call OPERATION(…) at n as x`"
BRANCH = "write `if … then … else if …`"
BOTH = "write both comparisons: `a <= b and b <= c`"
INSIDE = "write both bounds: `0 <= n and n <= 2`"
TO_ALL = "to several: `send MESSAGE(…) to each all(NODE)`, or `to each others(s)`"
LINE = "a line of the log is written `log EVENT(FIELD: …)`"
TEXT_PLACE = 'what it means stands behind its name and parameters: `action NAME(n: T) "…" when … do …`'
HEAD = r"\b(?:action|on|serve)\b[^\n]*"

IN_FIELDS = r"\b(?:node|record)\b[^{}]*\{(?:[^{}]|\{[^{}]*\})*\w+\s*:\s*"
TYPED = rf"(?:\btype\s+\w+\s*=\s*|\b(?:shared|ghost)\s+\w+\s*:\s*|{IN_FIELDS})"
"""What a type follows."""

SHAPES = (
    # types and fields
    _shape(r"[:=]\s*enum\b\s*\w*\s*", r"[\w(,]", ENUM),
    _shape(TYPED + r"[a-z]\w*\s*", r"\|(?!\|)", ENUM),
    _shape(TYPED + r"\(\s*\w+\s*", ",", ENUM),
    _shape(r"(?:[:=])\s*(?:[Ss]et|[Ll]ist|[Ss]eq|[Mm]ap|[Dd]ict)\s*", r"[<\[(]", OF_TYPES),
    _shape(r":\s*(?:list|seq|array|queue)\s+of\s+\w*\s*", r"\w|\.", LIST),
    _shape(r"\b(?:node|record)\b[^{}]*\{[^{}]*:\s*\w+\s*", r"\[", LIST, without="and"),
    _shape(r":\s*", r"\[\s*-?\w+\s*\.\.", RANGE + ", without brackets", needs="set"),
    _shape(r":\s*-?\w+\s*", r"to\b", RANGE, needs=".."),
    _shape(r"\bnode\b[^{}]*\{[^{}]*", "[,;]", FIELDS, needs="durable"),
    _shape(r"\bnode\s+\w+\s*\[\s*\w+\s*\.", r"\.", "how many there are is one number: `node NAME[2] { … }`"),
    _shape(r"\brecord\b[^{}]*\{[^{}]*", ";", "fields of a record stand with `,` between: `n: 0..3, m: bool`"),
    # heads of actions, handlers and functions
    _shape(HEAD, r"(?:requires|require|if|where|given|guard|provided|pre|enabled)\b", WHEN, needs="when do"),
    _shape(HEAD + r"\bwhen\b[^\n]*", ",", "several conditions are joined: `when a and b`", needs="do"),
    _shape(r"\band\s+when\s*", r"\w", "`and` joins conditions, without a second `when`: `when a and b`"),
    _shape(HEAD, r"after\b", "no time is counted: write `only after …`, with what must have happened", needs="only"),
    _shape(r"\b(?:print|printf|println|echo)\s*\(\s*|\bdo\b[^\n]*\blog\s+", '"', LINE),
    _shape(HEAD + r"\bdo\b[^\n]*", '"', TEXT_PLACE, without="true"),
    _shape(r"\b(?:operation|message)\b[^\n]*", "->", "write `from A to B`, and at the end `returns bool`"),
    # statements
    _shape(r":=\s*call\s[^\n]*", "", ANSWER),
    _shape(
        r"(?<!call )(?<!send )\b\w+\([^()\n]*\)\s+(?:at|to)\s*",
        r"\w",
        "write `call OPERATION(…) at n as x` or `send MESSAGE(…) to n`",
    ),
    _shape(r"\bsend\s+\w+\([^()]*\)\s+to\s+(?:all|every|any)\s+[A-Z]\w*\s*", "", TO_ALL),
    _shape(r"\bcall\s+\w+\([^()]*\)", r"\.", "a call is written `call OPERATION(…) at n as x`"),
    _shape(r"\b(?:send|call)\s+\w+\([^()]*\b\w+\s*", "=(?!=)", "the name of a value stands before a colon: `n: 1`"),
    _shape(r":=\s*choose\s*(?:\(\s*)?\w+\s*\.?", r"in\b|[.:]", CHOOSE),
    _shape(r"\bdo\s+(?:any|pick|with)\s+", r"\w+\s*(?::|in\b)", CHOOSE, needs=":="),
    _shape(r"\bdo\b[^\n]*\bswitch\s+\w+\s*", r"\.", BRANCH),
    _shape(r"\bdo\b[^\n]*\block\s+\w+\s*", "", "write `acquire LOCK then …`", needs="held"),
    _shape(r"\bwhile\b[^{}\n]*", r"\{", "write `while … do { … }`", needs="do"),
    # quantifiers, sets and comparisons
    _shape(r"\b(?:every|some|no)\s+\w+\s*", ",", EACH_TYPE),
    _shape(r",\s*(?:every|some|no|forall|exists)\s+", r"\w", EACH_TYPE),
    _shape(r"\b(?:at\s*(?:most\s*)?|exactly\s*)", r"most\b|least\b|\d|a\b", ONE),
    _shape(r"\bno\s+(?:two|2)\s*", r"\w", ONE),
    _shape(r"\bcount\b[^\n]*", "[<>=!]", "brackets stand around the count: `(count x: T where …) <= 1`"),
    _shape(r"(?:[<>]=?|[=!]=)\s*[\w.()]+\s*", "[<>]=?|[=!]=", BOTH),
    _shape(r"[:(]\s*|(?:\w|\))\s*[<>=]=?\s*", r"\|\s*[{\w]", "how many elements it has is `size(…)`"),
    _shape(r"\{\s*\w+\s*:\s*\w+\s*|\{\s*\w+\s+in\s+[A-Z]\w*\s*", r"\|", "write `{ x: T where … }`"),
    _shape(r"\{\s*\w+\s+in\s+[\w.]+\s*", r"\|", "write `{ x for x in … where … }`"),
    _shape(r"[\w.)\]]\s*", r"\|\s*\{", "two sets are joined by `x union y`"),
    _shape(
        r"\b(?:every|some|no|count)\s+\w+\s*:\s*\w+\s*", r"[|:]", "write `every x: T satisfies …`, `some x: T where …`"
    ),
    _shape(r"\bin\s*\(\s*\w+\s*", ",", "a set is written `{ a, b }`"),
    _shape(r"(?<!\bsome )(?<!\bevery )[\w.]*\w\.\w+\s+in\s+\w+\s*\.", r"\.", INSIDE),
    _shape(r"\bin\s*\[\s*\w+\s*\.", r"\.", INSIDE),
    _shape(r"[\w.]+\[\s*\w*\s*", r":\s*\w*\s*\]", "its first elements are `take(x, 2)`, without them `drop(x, 2)`"),
    _shape(r"[\w)\]]\s+", r"is\b", "write `==`, or `!=` for `is not`"),
    _shape(r"[\w)\]]\s+", r"(?:contains|includes|has)\b", "write `e in x`"),
    _shape(
        r"\.(?:union|intersect|intersection|difference)\s*", r"\(", "write `x union y`, `x intersect y`, `x minus y`"
    ),
    _shape(r"\.(?:contains|includes|has)\s*", r"\(", "write `e in x`"),
    _shape(r"[\w.]+\s*", r"\?\s*(?:do|and|or|\)|then|implies)", "write `x != none`, and `value(x)` for what it holds"),
    _shape(r"\[[^\[\]\n]*", r"for\b", "write `{ f for x: T where … }`, which is a set", needs="]"),
    _shape(
        r"(?:[:(]|\b(?:and|or|not|where|when|satisfies))\s*[A-Z]\w*\s+",
        r"\d",
        "one node of a `ranked` kind is written `NODE(1)`",
    ),
    # properties and checks
    _shape(r"\b(?:eventually\s+(?:\w+\s*:\s*)?always|eventually\s+\w+\s*:\s*\[\s*\])\s+", "", AGAIN),
    _shape(r":\s*(?:always|never|globally|henceforth|G)\s+", r"\w", ALWAYS),
    _shape(r"\binvariant\s+\w+\s*:\s*\[\s*\]\s*", "", ALWAYS),
    _shape(r":\s*", "<>", "what comes about is declared: `eventually NAME: …`", needs="some"),
    _shape(
        r"", r"within\b", "no time is counted: what comes about at last is `eventually NAME: … fair all`", needs="fair"
    ),
    _shape(r"\b(?:with|assuming|under|given)\s+(?:strongly\s+)?fair\s*", "", "`fair all` stands alone at the end"),
    _shape(r"\b(?:eventually|leads_to)\b[^\n]*", r"(?:assuming|under|given)\b", "`fair all` stands alone at the end"),
    _shape(r"\n", r"\(", NAMELESS),
    _shape(r"\n\([^\n]*\)\s*", "~>", NAMELESS),
)
"""In this order: the first that matches counts."""

FAULTS = {
    **dict.fromkeys(("kill", "fail", "stop", "restart", "down"), "crash NODE up to 1"),
    **dict.fromkeys(("drop", "discard", "loss"), "lose MESSAGE up to 1"),
    **dict.fromkeys(("disconnect", "disconnects", "netsplit", "split"), "cut A - B up to 1"),
    **dict.fromkeys(("freeze", "hang", "sleep", "slow"), "pause NODE up to 1"),
}
NO_FAULT_NEEDED = (
    "no fault is needed: a message arrives at any time, and with `message … unordered` before an earlier one"
)
"""For words that others have for faults: what to write."""


def foreign_shape(failure: Unreadable, words: Set[str], text: str) -> str | None:
    """What to write instead of a shape that others know; `None` for nothing known. `words`: those that fit here."""
    start = failure.start
    if failure.kind == END:
        return _ended(text, words)
    if "crash" in words and "blackout" in words:
        if failure.text in ("delay", "reorder", "latency"):
            return NO_FAULT_NEEDED
        if failure.text in FAULTS:
            return f"write `{FAULTS[failure.text]}`"
    before, here = text[max(0, start - 200) : start], text[start : start + 200]
    for one in SHAPES:
        if (
            set(one.needs) <= words
            and words.isdisjoint(one.without)
            and re.match(one.here, here)
            and re.search(one.before, before)
        ):
            return one.hint
    return None


def _ended(text: str, words: Set[str]) -> str | None:
    last = text.rstrip().rpartition("\n")[2]
    if re.search(r"[:=<>({]\s*#\w|\b(?:satisfies|where|and|or|when)\s+#\w", last):
        return "`#` begins a comment; how many elements it has is `size(…)`"
    if re.search(r"\bend\s*$", last) and ":=" in words:
        return END_OF_BODY
    if re.search(r"\bif\b.*\bthen\b", last) and "else" in words and "send" not in words:
        return "an `if` that has a value has an `else`; without one, write `a implies b`"
    if re.search(r"\bdo\b.*\block\s+\w+\s*$", last):
        return "write `acquire LOCK then …`"
    return None
