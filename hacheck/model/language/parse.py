"""From text to the untyped tree, with every syntax error there is.

A syntax error ends the declaration it stands in. The parser is started again on the text with that declaration blanked
out, so that one mistake does not hide the next one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from lark import Lark, Token, Tree, UnexpectedCharacters, UnexpectedInput, UnexpectedToken

from hacheck.model.language.build_declarations import build_file
from hacheck.model.language.declarations import File
from hacheck.model.language.diagnostics import Diagnostic, Span, near
from hacheck.model.language.tables import cache_folder, load_parser

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


@cache
def parser() -> Lark:
    """The parser; read or made once, when first needed."""
    return load_parser(cache_folder())


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
            root = parser().parse(rest)
        except UnexpectedInput as failure:
            position = _position(failure, rest)
            found.append(_syntax_error(failure, position, text, path))
            shorter = _without_declaration(rest, position)
            if shorter is None:
                return None, tuple(found)
            rest = shorter
            continue
        excess = _too_much(root, path)
        if excess is not None:
            return None, (*found, excess)
        return build_file(root, path), tuple(found)
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


def _position(failure: UnexpectedInput, text: str) -> int:
    position: int | None = failure.pos_in_stream  # `None` at the end of the text, whatever its annotation says
    return len(text) if position is None or position < 0 else min(position, len(text))


def _syntax_error(failure: UnexpectedInput, position: int, text: str, path: str) -> Diagnostic:
    match failure:
        case UnexpectedToken(token=Token(type="$END")):
            return Diagnostic(
                "HA005",
                f"the text ends in the middle of a declaration; expected {_expected(failure)}",
                Span(path, len(text.rstrip()) - 1, len(text.rstrip())),
                hint="is a `}` or an expression missing?",
            )
        case UnexpectedToken(token=token):
            span = Span(path, position, position + len(token))
            message = f"`{_shorten(str(token))}` cannot stand here; expected {_expected(failure)}"
            return Diagnostic("HA005", message, span, hint=_hint(token, failure))
        case UnexpectedCharacters():
            character = text[position]
            span = Span(path, position, position + 1)
            if character in SPELLED_OUT:
                hint = f"write `{SPELLED_OUT[character]}`"
                return Diagnostic("HA004", f"the character {character!r} has no meaning here", span, hint=hint)
            if character == '"':
                return Diagnostic("HA004", "this text has no closing quote on its line", span, hint='add `"`')
            hint = f"expected {_expected(failure)}"
            return Diagnostic("HA004", f"the character {character!r} has no meaning here", span, hint=hint)
        case _:
            return Diagnostic("HA005", "this cannot be read", Span(path, position, position + 1))


def _shorten(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."


def _hint(token: Token, failure: UnexpectedToken) -> str | None:
    words = _words(failure)
    if token == "=" and ":=" in words:
        return "an assignment is written `:=`"
    if token == "=" and {"EQ", "NE"} & set(failure.accepts or failure.expected):
        return "equality is written `==`"
    if token.type == "NAME" and token in ("and", "or", "not"):
        return None
    if (
        re.fullmatch(r"[a-z_]+", str(token))
        and token.type != "NAME"
        and "NAME" in (failure.accepts or failure.expected)
    ):
        return f"`{token}` is a word of the language; choose another name"
    return near(str(token), [word for word in words if word.isalpha()])


def _words(failure: UnexpectedInput) -> set[str]:
    """The words and signs that could stand where the parser failed."""
    patterns = {terminal.name: terminal.pattern for terminal in parser().terminals}
    found = (patterns[name] for name in _accepted(failure) if name in patterns)
    return {pattern.value for pattern in found if pattern.type == "str"}


def _accepted(failure: UnexpectedInput) -> Iterable[str]:
    """The kinds of token that could stand there; which attribute has them depends on the kind of failure."""
    kinds = ("accepts", "expected", "allowed")
    return next((found for kind in kinds if (found := getattr(failure, kind, None))), ())


SPELLED_OUT = {"&": "and", "|": "or", "!": "not"}

PLAIN = {
    "NAME": "a name",
    "NUMBER": "a number",
    "TEXT": "a text in quotes",
    "$END": "the end of the file",
    "__ANON_0": "`..`",
}


def _expected(failure: UnexpectedInput) -> str:
    accepted = _accepted(failure)
    patterns = {terminal.name: terminal.pattern for terminal in parser().terminals}
    words = []
    for name in sorted(accepted):
        if name in PLAIN:
            words.append(PLAIN[name])
        elif name in patterns and patterns[name].type == "str":
            words.append(f"`{patterns[name].value}`")
        else:
            words.append(name.lower().replace("_", " "))
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


def _too_much(root: Tree[Token], path: str) -> Diagnostic | None:
    stack: list[tuple[Tree[Token], int]] = [(root, 0)]
    while stack:
        node, depth = stack.pop()
        if depth > NESTING_MAX:
            span = Span(path, node.meta.start_pos, node.meta.end_pos)
            return Diagnostic(
                "HA006", f"this nests deeper than {NESTING_MAX} levels", span, hint="split it with `define`"
            )
        stack.extend((child, depth + 1) for child in node.children if isinstance(child, Tree))
        for child in node.children:
            if isinstance(child, Token) and child.type == "NUMBER" and len(child.replace("_", "")) > DIGITS_MAX:
                span = Span(path, child.start_pos or 0, child.end_pos or 0)
                message = f"a number has at most {DIGITS_MAX} digits"
                return Diagnostic("HA008", message, span, hint="a few values are enough to show a protocol's mistakes")
    return None
