"""From text to the untyped tree, with every syntax error there is.

A syntax error ends the declaration it stands in. The parser is started again on the text with that declaration blanked
out, so that one mistake does not hide the next one.
"""

from __future__ import annotations

import re

from msgspec.structs import replace

from hacheck.model.language.declaration_builder import build_file
from hacheck.model.language.declarations import File
from hacheck.model.language.diagnostics import Diagnostic, Span
from hacheck.model.language.lexer import NUMBER
from hacheck.model.language.old_words import old_word
from hacheck.model.language.parse_tree import Token, Tree
from hacheck.model.language.parser import Reading, Unreadable, read
from hacheck.model.language.syntax_errors import broken_by, syntax_error

CHARACTERS_MAX = 1 << 20
"""The longest text that is read; the shipped specs have a few ten thousand characters."""
NESTING_MAX = 150
"""How deep expressions may nest; Python's own stack limits what later passes can follow."""
DIGITS_MAX = 9
ERRORS_MAX = 25


def parse(text: str, path: str) -> tuple[File | None, tuple[Diagnostic, ...]]:
    """The file's declarations, or `None` when its head cannot be read; and all syntax errors.

    Cost: linear in the text, times the number of errors (at most `ERRORS_MAX` are reported).
    """
    file, found = _parsed(text, path)
    return file, tuple(replace(one, span=_counted(one.span, text)) for one in found)


def _counted(span: Span, text: str) -> Span:
    return replace(span, line=span.line or text.count("\n", 0, span.start) + 1)


def _parsed(text: str, path: str) -> tuple[File | None, tuple[Diagnostic, ...]]:
    problem = _unreadable(text, path)
    if problem is not None:
        return None, (problem,)
    found: list[Diagnostic] = []
    rest = text
    while len(found) < ERRORS_MAX:
        try:
            reading = read(rest)
        except Unreadable as failure:
            older = old_word(failure, rest)
            if older is not None:  # what else is wrong is looked for in the upgraded file
                return None, (older.diagnostic(text, path),)
            broken = broken_by(failure, rest)
            found.append(syntax_error(failure, broken, text, path))
            start, end = broken.start, broken.end
            if not rest[start:end].strip():
                return None, tuple(found)
            rest = rest[:start] + re.sub(r"[^\n]", " ", rest[start:end]) + rest[end:]
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
        return Diagnostic("HA001", message, start, hint="if it is a spec, move shared parts to a library and `use` it")
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


def _too_much(reading: Reading, path: str) -> Diagnostic | None:
    long = any(token.kind == NUMBER and len(token) > DIGITS_MAX for token in reading.tokens)
    stack: list[tuple[Tree, int]] = [(reading.root, 0)] if long or reading.root.height > NESTING_MAX else []
    while stack:
        node, depth = stack.pop()
        if depth > NESTING_MAX:
            start, end, _ = node.place
            message = f"nested deeper than {NESTING_MAX} levels"
            return Diagnostic("HA006", message, Span(path, start, end), hint="split it with `define`")
        stack.extend((child, depth + 1) for child in node.children if isinstance(child, Tree))
        for child in node.children:
            if isinstance(child, Token) and child.kind == NUMBER and len(child.text.replace("_", "")) > DIGITS_MAX:
                start, end, _ = child.place
                message = f"a number has at most {DIGITS_MAX} digits"
                hint = "a few values are enough to show a protocol's mistakes"
                return Diagnostic("HA008", message, Span(path, start, end), hint=hint)
    return None
