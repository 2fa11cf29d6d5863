"""What is said where a text cannot be read on, which declaration is to blame, and what only follows from that."""

from __future__ import annotations

import re
from collections.abc import Iterable, Set

from msgspec import Struct

from hacheck.model.language import declarations as d
from hacheck.model.language.diagnostics import Diagnostic, Span, near
from hacheck.model.language.foreign_shapes import foreign_shape
from hacheck.model.language.foreign_syntax import habit, said_otherwise
from hacheck.model.language.foreign_words import foreign_word
from hacheck.model.language.lexer import END, NAME
from hacheck.model.language.parser import Unreadable, spelled
from hacheck.model.language.written_forms import form

HEAD = re.compile(
    r"^[ \t]*(use|param|switch|assumption|type|record|ordered|identity|node|ghost|shared|initially|message|operation"
    r"|lock|clock|define|procedure|environment|action|on|serve|faults|invariant|lemma|step_invariant|reachable"
    r"|eventually|leads_to|deadlock_free|observe|trace|check)\b(?=\s+[A-Za-z_{\"])",
    re.MULTILINE,
)
"""What begins a declaration, at the beginning of a line."""

PLAIN = {
    "NAME": "a name",
    "NUMBER": "a number",
    "TEXT": "a text in quotes",
    "$END": "the end of the file",
    "__ANON_0": "`..`",
}

WORD = re.compile(r"\w+")
NAMED = re.compile(r"`(\w+)`")
MISSING = frozenset({"HA102", "HA103", "HA126", "HA142"})
"""The codes that say of a name that something of it is not there."""


class Broken(Struct, frozen=True):
    """The declarations to blame, from `start` to `end`; nothing when it is the file's head.

    `bracket`: where one is opened that is still open at the end. `following`: the declaration before which the broken
    one ends too early, as the place and the word that begin it.
    """

    start: int
    end: int
    bracket: int | None
    following: tuple[int, str] | None


def broken_by(failure: Unreadable, text: str) -> Broken:
    """Where the declaration that cannot be read begins and ends.

    Where the word that begins another declaration stands in the way, or has been taken for a name, it is the one
    before that which is not finished.
    """
    heads = [(found.start(1), found.group(1)) for found in HEAD.finditer(text)]
    places = [failure.start, failure.before[1]] if failure.before[0] == NAME else [failure.start]
    following = next((head for head in heads if head[0] in places), None) if failure.kind != END else None
    if following is not None or failure.kind == END:
        end = len(text) if following is None else following[0]
        first = min(end - 1, *failure.opened) if failure.opened else end - 1
        bracket = max((place for place in failure.opened if place < end), default=None)
    else:
        first = min(failure.start, *failure.opened) if failure.opened else failure.start
        end = next((place for place, _ in heads if place > failure.start), len(text))
        bracket = None
    start = max((place for place, _ in heads if place <= first), default=end)
    return Broken(start, end, bracket, following)


def syntax_error(failure: Unreadable, broken: Broken, text: str, path: str) -> Diagnostic:
    """The one thing to say. `text`: the whole text, of which the reader may have been given a part only."""
    start, found = failure.start, failure.text
    span = Span(path, start, start + max(1, len(found)))
    if broken.bracket is not None:
        return _never_closed(failure, broken, text, path)
    if broken.following is not None and broken.following[0] < start:  # it has been taken for a name
        place, word = broken.following
        message = f"`{word}` cannot stand here; the declaration before it is not finished"
        return Diagnostic("HA005", message, Span(path, place, place + len(word)), hint="is an expression missing?")
    words = {written for written, kind in spelled().items() if kind in failure.wanted}
    foreign = foreign_word(failure, words, text)
    if failure.kind == END and foreign is None:
        end = len(text.rstrip())
        message = f"the text ends in the middle of a declaration; expected {_expected(failure)}"
        hint = foreign_shape(failure, words, text) or form(failure, broken.start, words, text)
        return Diagnostic("HA005", message, Span(path, end - 1, end), hint=hint or "is an expression missing?")
    if found == '"':
        return Diagnostic("HA004", "the text has no closing quote on its line", span, hint='add `"`')
    shaped = None if failure.kind == END else foreign_shape(failure, words, text)
    meant = None if shaped else habit(failure, broken.start, text) or foreign
    if meant is not None:
        first, end, hint = meant
        message = f"`{text[first:end]}` has no meaning here"
        return Diagnostic("HA005" if failure.kind else "HA004", message, Span(path, first, end), hint=hint)
    if failure.kind:
        message = f"`{_shorten(found)}` cannot stand here; expected {_expected(failure)}"
        return Diagnostic("HA005", message, span, hint=shaped or _hint(failure, broken.start, words, text))
    message = f"the character {found!r} has no meaning here"
    return Diagnostic("HA004", message, span, hint=shaped or f"expected {_expected(failure)}")


def _never_closed(failure: Unreadable, broken: Broken, text: str, path: str) -> Diagnostic:
    place = broken.bracket
    assert place is not None, "a bracket that is open"
    closing = {"{": "}", "(": ")", "[": "]"}[text[place]]
    span = Span(path, place, place + 1)
    message = f"this `{text[place]}` is not closed"
    if broken.following is None:
        return Diagnostic("HA005", message, span, hint=f"add `{closing}`")
    start, word = broken.following
    label = Span(path, start, start + len(word)), "where the next declaration begins"
    return Diagnostic("HA005", message, span, (label,), f"add `{closing}` before `{word}`")


def _shorten(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."


def _hint(failure: Unreadable, declared_at: int, words: Set[str], text: str) -> str | None:
    found, wanted = failure.text, failure.wanted
    before = text[failure.before[1] : failure.start].split()
    if found in ("=", "==") and ":=" in words:
        return "an assignment is written `:=`"
    otherwise = said_otherwise(failure, words, text)
    if otherwise is not None:
        return otherwise
    if found == "." and text[: failure.start].rstrip().endswith(")"):
        return (
            "a node changes fields of its own only: `send` it a message; in an `environment action` write "
            "`for n in others(s) do n.FIELD := …`"
        )
    if found == "=" and "durable" in words and NAME in wanted:
        return "`durable`, `synced`, `ghost` and `state` stand before the field's name"
    if found == "=" and {"EQ", "NE"} & wanted:
        return "equality is written `==`"
    if found in ("true", "false") and {"ON", "OFF"} <= wanted:
        return f"write `{'on' if found == 'true' else 'off'}`"
    if wanted == {"THEN"} and re.search(r"\bacquire\s+\w+\s*$", text[: failure.start]):
        return "write `acquire LOCK then …`: what follows is done with the lock, `{ }` for nothing"
    if found == "{" and "THEN" in wanted:
        return "`then` stands before it"
    if found == "{" and before[:1] == ["do"]:
        return "a body has no braces of its own: it ends where the next declaration begins"
    if found == "}" and not failure.opened:
        return "there is no `{` that it closes"
    if failure.kind == NAME and "DO" in wanted:
        return "`do` stands before what is done"
    if failure.kind == NAME and found in ("and", "or", "not"):
        return None
    if found == "(" and before[:1] == ["log"]:
        return "a line has an event: `log EVENT(field: value, …)`"
    if failure.opened and re.search(r"\blog\s+\w+\s*$", text[: failure.opened[-1]]):
        return "each field of a log line has its name: `log EVENT(field: value, …)`"
    if re.fullmatch(r"[a-z_]+", found) and failure.kind != NAME and NAME in wanted:
        return f"`{found}` is a word of the language; choose another name"
    return near(found, [word for word in words if word.isidentifier()]) or form(failure, declared_at, words, text)


def _expected(failure: Unreadable) -> str:
    written = {kind: text for text, kind in spelled().items()}
    words = []
    for kind in sorted(failure.wanted):
        if kind in PLAIN:
            words.append(PLAIN[kind])
        elif kind in written:
            words.append(f"`{written[kind]}`")
        else:
            words.append(kind.lower().replace("_", " "))
    words.sort(key=lambda word: (word.startswith("`"), len(word) > 3, word))
    if len(words) > 8:
        return ", ".join(words[:7]) + f" or one of {len(words) - 7} other words"
    return " or ".join(words) if words else "something else"


def without_followers(
    found: Iterable[Diagnostic], text: str, declarations: Iterable[d.Declaration]
) -> list[Diagnostic]:
    """These errors without those about a name that the text declares where it cannot be read. To be called only where
    there is an error of syntax, so that the file remains refused."""
    read = {one.span.start for one in declarations}
    lost: set[str] = set()
    for head in HEAD.finditer(text):
        if head.start(1) not in read:
            rest = re.split(r"[\n\":({]", text[head.end(1) :], maxsplit=1)[0]
            lost.update(WORD.findall(rest))  # also where the name is not the first one
    return [one for one in found if one.code not in MISSING or not set(NAMED.findall(one.message)) & lost]
