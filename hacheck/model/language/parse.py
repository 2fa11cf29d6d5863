"""From text to the untyped tree, with every syntax error there is.

A syntax error ends the declaration it stands in. The parser is started again on the text with that declaration blanked
out, so that one mistake does not hide the next one.
"""

from __future__ import annotations

import re

from hacheck.model.language.build_declarations import build_file
from hacheck.model.language.declarations import File
from hacheck.model.language.diagnostics import Diagnostic, Span, near
from hacheck.model.language.reading import Reading, Unreadable, read, tables
from hacheck.model.language.syntax import Token, Tree
from hacheck.model.language.tables import END, NAME, NUMBER

CHARACTERS_MAX = 1 << 20
"""The longest text that is read; the shipped specs have a few ten thousand characters."""
NESTING_MAX = 150
"""How deep expressions may nest; Python's own stack limits what later passes can follow."""
DIGITS_MAX = 9
ERRORS_MAX = 25

HEAD = re.compile(
    r"^[ \t]*(?:use|param|switch|assumption|type|record|ordered|identity|node|ghost|shared|initially|message|operation"
    r"|lock|clock|define|procedure|environment|action|on|serve|faults|invariant|transition|reachable|eventually"
    r"|leads_to|deadlock_free|observe|check)\b(?=\s+[A-Za-z_{\"])",
    re.MULTILINE,
)


def parse(text: str, path: str) -> tuple[File | None, tuple[Diagnostic, ...]]:
    """The file's declarations, or `None` when its head cannot be read; and all syntax errors.

    Cost: linear in the text, times the number of errors (at most `ERRORS_MAX` are reported).
    """
    problem = _unreadable(text, path)
    if problem is not None:
        return None, (problem,)
    found: list[Diagnostic] = []
    rest = text
    while len(found) < ERRORS_MAX:
        try:
            reading = read(rest)
        except Unreadable as failure:
            found.append(_syntax_error(failure, text, path))
            shorter = _without_declaration(rest, failure.start)
            if shorter is None:
                return None, tuple(found)
            rest = shorter
            continue
        excess = _too_much(reading, path)
        if excess is not None:
            return None, (*found, excess)
        return build_file(reading.root, path), tuple(found)
    return None, tuple(found)


def _unreadable(text: str, path: str) -> Diagnostic | None:
    start = Span(path, 0, min(1, len(text)))
    if len(text) > CHARACTERS_MAX:
        message = f"this text has {len(text):,} characters; a spec may have {CHARACTERS_MAX:,}"
        return Diagnostic("HA001", message, start, hint="is it a spec? move shared parts to a library and `use` it")
    if not re.sub(r"#[^\n]*", "", text).strip():
        hint = 'begin with `system NAME "what it is"`; `hacheck list` shows specs to learn from'
        return Diagnostic("HA002", "the file is empty", start, hint=hint)
    control = re.search(r"[\x00-\x08\x0b\x0e-\x1f\x7f]", text)
    if control:
        message = (
            f"character {control.start():,} is a control code (0x{ord(control.group()):02x}); a spec is plain text"
        )
        return Diagnostic("HA003", message, Span(path, control.start(), control.end()), hint="is this a binary file?")
    return None


def _syntax_error(failure: Unreadable, text: str, path: str) -> Diagnostic:
    start, found = failure.start, failure.text
    if failure.kind == END:
        end = len(text.rstrip())
        message = f"the text ends in the middle of a declaration; expected {_expected(failure)}"
        return Diagnostic("HA005", message, Span(path, end - 1, end), hint="is a `}` or an expression missing?")
    if failure.kind:
        message = f"`{_shorten(found)}` cannot stand here; expected {_expected(failure)}"
        return Diagnostic("HA005", message, Span(path, start, start + len(found)), hint=_hint(failure))
    span = Span(path, start, start + 1)
    if found == '"':
        return Diagnostic("HA004", "this text has no closing quote on its line", span, hint='add `"`')
    hint = f"write `{SPELLED_OUT[found]}`" if found in SPELLED_OUT else f"expected {_expected(failure)}"
    return Diagnostic("HA004", f"the character {found!r} has no meaning here", span, hint=hint)


def _shorten(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."


def _hint(failure: Unreadable) -> str | None:
    found, words = failure.text, _words(failure)
    if found == "=" and ":=" in words:
        return "an assignment is written `:=`"
    if found == "=" and {"EQ", "NE"} & failure.wanted:
        return "equality is written `==`"
    if failure.kind == NAME and found in ("and", "or", "not"):
        return None
    if re.fullmatch(r"[a-z_]+", found) and failure.kind != NAME and NAME in failure.wanted:
        return f"`{found}` is a word of the language; choose another name"
    return near(found, [word for word in words if word.isalpha()])


def _words(failure: Unreadable) -> set[str]:
    """The words and signs that could stand where the parser failed."""
    return {written for written, kind in _spelled() if kind in failure.wanted}


def _spelled() -> list[tuple[str, str]]:
    """Every word and sign of the grammar, with the kind of token it is."""
    return [*tables().words.items(), *tables().signs.items()]


SPELLED_OUT = {"&": "and", "|": "or", "!": "not"}

PLAIN = {
    "NAME": "a name",
    "NUMBER": "a number",
    "TEXT": "a text in quotes",
    "$END": "the end of the file",
    "__ANON_0": "`..`",
}


def _expected(failure: Unreadable) -> str:
    spelled = {kind: written for written, kind in _spelled()}
    words = []
    for kind in sorted(failure.wanted):
        if kind in PLAIN:
            words.append(PLAIN[kind])
        elif kind in spelled:
            words.append(f"`{spelled[kind]}`")
        else:
            words.append(kind.lower().replace("_", " "))
    words.sort(key=lambda word: (word.startswith("`"), len(word) > 3, word))
    if len(words) > 8:
        return ", ".join(words[:7]) + f" or one of {len(words) - 7} other words"
    return " or ".join(words) if words else "something else"


def _without_declaration(text: str, position: int) -> str | None:
    """The text with the declaration around `position` blanked out, or `None` when that is the header."""
    heads = [match.start() for match in HEAD.finditer(text)]
    before = [head for head in heads if head <= position]
    if not before:
        return None
    start = before[-1]
    end = next((head for head in heads if head > position), len(text))
    if not text[start:end].strip():
        return None
    return text[:start] + re.sub(r"[^\n]", " ", text[start:end]) + text[end:]


def _too_much(reading: Reading, path: str) -> Diagnostic | None:
    long = any(kind == NUMBER and end - start > DIGITS_MAX for kind, start, end in reading.tokens)
    stack: list[tuple[Tree, int]] = [(reading.root, 0)] if long or reading.root.height > NESTING_MAX else []
    while stack:
        node, depth = stack.pop()
        if depth > NESTING_MAX:
            start, end, _ = node.place
            message = f"this nests deeper than {NESTING_MAX} levels"
            return Diagnostic("HA006", message, Span(path, start, end), hint="split it with `define`")
        stack.extend((child, depth + 1) for child in node.children if isinstance(child, Tree))
        for child in node.children:
            if isinstance(child, Token) and child.kind == NUMBER and len(child.text.replace("_", "")) > DIGITS_MAX:
                start, end, _ = child.place
                message = f"a number has at most {DIGITS_MAX} digits"
                hint = "a few values are enough to show a protocol's mistakes"
                return Diagnostic("HA008", message, Span(path, start, end), hint=hint)
    return None
