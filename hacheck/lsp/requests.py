"""What editors ask about an open spec, as plain data: hover, places of names, renaming, completion, code lenses."""

from __future__ import annotations

import re

from msgspec import Struct

from hacheck.lsp.spec_file import WORD, SpecFile
from hacheck.lsp.symbols import Symbol, words_of
from hacheck.model.language import declarations as d
from hacheck.model.language.diagnostics import Span
from hacheck.model.language.format import format_text
from hacheck.model.language.word_reference import functions, reference, words_of_the_language

MARKDOWN_LINES = 12
"""Lines of a declaration that a hover shows."""


class Suggestion(Struct, frozen=True):
    """A completion: what is inserted, what it is, and more about it."""

    label: str
    kind: str
    text: str = ""


class Lens(Struct, frozen=True):
    """A check of a file, and where it stands."""

    check: str
    span: Span


class CannotRename(Exception):
    """Why a name cannot be changed here, as a sentence."""


def hover(file: SpecFile, offset: int) -> tuple[str, Span] | None:
    """What a name stands for, as Markdown, and the place of the name."""
    use = file.index.at(file.path, offset)
    if use is None:
        return _word(file, offset)
    symbol = use.symbol
    owner = f" of `{symbol.owner}`" if symbol.owner and not symbol.owner.startswith("local ") else ""
    lines = [f"**{symbol.kind}** `{symbol.name}`{owner}"]
    if symbol.text:
        lines.append(symbol.text)
    if symbol.kind in ("local", "parameter"):
        lines += [f"stands for a `{symbol.node}`"] if symbol.node else []
    else:
        code = file.written(symbol.whole).splitlines()
        more = ["…"] if len(code) > MARKDOWN_LINES else []
        lines.append("\n".join(["```hacheck", *code[:MARKDOWN_LINES], *more, "```"]))
    return "\n\n".join(lines), use.span


def _word(file: SpecFile, offset: int) -> tuple[str, Span] | None:
    """What a word of the language means, and its place, also of one that is a phrase: `at most one`."""
    start = file.text.rfind("\n", 0, offset) + 1
    line = file.text[start:].partition("\n")[0]
    words = [word for word in words_of_the_language() if word in line or " " in word]
    for word in sorted(words, key=len, reverse=True):
        written = r"\s+".join(word.split())
        for found in re.finditer(rf"(?<![\w.]){written}(?!\w)", line):
            known = reference(word) if start + found.start() <= offset <= start + found.end() else None
            if known is not None and not _is_prose(line[: found.start()]):
                form = [f"`{known.form}`"] if known.form else []
                text = "\n\n".join([f"**word** `{word}`", *form, known.sentence()])
                return text, Span(file.path, start + found.start(), start + found.end())
    return None


def _is_prose(before: str) -> bool:
    """Whether what follows on a line is part of a text in quotes or of a comment."""
    return before.count('"') % 2 == 1 or "#" in re.sub(r'"[^"]*"', "", before)


def definition(file: SpecFile, offset: int) -> Span | None:
    """Where the name at a place is declared."""
    use = file.index.at(file.path, offset)
    return None if use is None else use.symbol.span


def references(file: SpecFile, offset: int, *, declaration: bool = True) -> list[Span]:
    """Every place in the file and its libraries where the name at a place stands for the same thing."""
    use = file.index.at(file.path, offset)
    if use is None:
        return []
    spans = list(dict.fromkeys(one.span for one in file.index.uses_of(use.symbol)))
    return [span for span in spans if declaration or span != use.symbol.span]


def renamed(file: SpecFile, offset: int, name: str) -> list[Span]:
    """The places that change when the name at a place becomes another one. Errors: `CannotRename`."""
    use = file.index.at(file.path, offset)
    if use is None:
        raise CannotRename("no name that this file declares stands here")
    if file.parsed[0] is None or any(one.severity == "error" for one in file.parsed[1]):
        raise CannotRename("the file has a syntax error: names in the broken part would be missed")
    if not WORD.fullmatch(name) or name in words_of_the_language() - functions():
        raise CannotRename(f"`{name}` is a word of the language, or no name at all")
    if use.symbol.span.path != file.path:
        raise CannotRename(f"`{use.symbol.name}` is declared in {use.symbol.span.path}: rename it there")
    taken = file.index.symbols.get((use.symbol.owner, name))
    if taken is not None:
        raise CannotRename(f"there is a {taken.kind} `{name}` already")
    return references(file, offset)


def completions(file: SpecFile, offset: int) -> list[Suggestion]:
    """What may be written at a place: members behind a dot, else declarations, words and locals of the declaration."""
    start, before = file.word_before(offset)
    if before == ".":
        return _members(file, offset - len(start))
    names = [Suggestion(one.name, one.kind, one.text) for one in words_of(file.index).values()]
    names += [Suggestion(one.name, one.kind) for one in _locals(file, offset)]
    kinds = {word: "function" if word in functions() else "keyword" for word in sorted(words_of_the_language())}
    names += [Suggestion(word, kind) for word, kind in kinds.items()]
    return list({one.label: one for one in reversed(names)}.values())[::-1]


def _members(file: SpecFile, dot: int) -> list[Suggestion]:
    """What may follow a dot: the members of the node or record before it, else all members."""
    before = file.text[:dot].rstrip(" \t").removesuffix(".")
    found = re.search(r"([A-Za-z_][A-Za-z_0-9]*)(\([^()]*\))?$", before)
    owner = ""
    if found is not None:
        name = found.group(1)
        local = next((one for one in reversed(_locals(file, dot)) if one.name == name), None)
        symbol = local or file.index.symbols.get(("", name))
        owner = "" if symbol is None else symbol.node or symbol.name
    members = file.index.members(owner) if owner else []
    if not members:
        members = [one for one in file.index.symbols.values() if one.kind in ("field", "view", "part")]
    return [Suggestion(one.name, one.kind, file.written(one.whole)) for one in members]


def _locals(file: SpecFile, offset: int) -> list[Symbol]:
    """The locals of the declaration around a place. Where it cannot be read, those of the last one before it."""
    found = [one.symbol for one in file.index.uses if one.symbol.owner.startswith("local ")]
    around = [one for one in found if one.whole.start <= offset <= one.whole.end and one.whole.path == file.path]
    if around:
        return list(dict.fromkeys(around))
    text = file.text[_head(file, offset) : offset]
    head = re.findall(r"([A-Za-z_][A-Za-z_0-9]*)\s*:\s*([A-Za-z_][A-Za-z_0-9]*)", text)
    kinds = {one.name for one in file.index.declared() if one.kind == "node"}
    nowhere = Span(file.path, offset, offset)
    return [Symbol(name, "local", nowhere, nowhere, "local ?", node=kind) for name, kind in head if kind in kinds]


def _head(file: SpecFile, offset: int) -> int:
    """Where the declaration around a place begins: the last line before it that is not indented."""
    starts = [found.start() for found in re.finditer(r"^[a-z]", file.text[:offset], re.MULTILINE)]
    return starts[-1] if starts else 0


def outline(file: SpecFile) -> list[Symbol]:
    """The declarations of the file, in their order."""
    own = [one for one in file.index.symbols.values() if one.span.path == file.path and one.kind != "word"]
    return sorted(own, key=lambda one: one.span.start)


def lenses(file: SpecFile) -> list[Lens]:
    """The checks that can be verified, each with its place."""
    parsed, found = file.parsed
    if parsed is None or any(one.severity == "error" for one in found):
        return []
    return [Lens(one.name.text, one.name.span) for one in parsed.declarations if isinstance(one, d.CheckDeclaration)]


def formatted_text(file: SpecFile) -> str | None:
    """The file in the one layout; `None` where it has a syntax error."""
    return None if any(one.severity == "error" for one in file.parsed[1]) else format_text(file.text)
