"""Formats that are read line by line: INI, properties, keepalived's blocks, directives as of redis.conf, options."""

from __future__ import annotations

import re
import shlex

from hacheck.audit.entries import Entry, Unreadable

SECTION = re.compile(r"\[([^\]]+)\]\s*(?:[#;].*)?")
PROPERTY = re.compile(r"\s*((?:\\.|[^\s:=\\])+)\s*[:=\s]\s*(.*)")
BEGIN, END = re.compile(r"(.*?)\s*\{"), re.compile(r"\s*\}")


def read_ini(text: str, file: str) -> tuple[Entry, ...]:
    """Sections, and keys with `=` or `:`; keys before any section stand at the top. Comments begin with `#` or `;`."""
    top: list[Entry] = []
    sections: list[tuple[str, int, list[Entry]]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.strip()
        if not words or words[0] in "#;":
            continue
        if (section := SECTION.fullmatch(words)) is not None:
            sections.append((section[1].strip(), number, []))
            continue
        name, sign, value = _split(words)
        if not name:
            raise Unreadable(file, number, f"`{words[:40]}` is neither a section nor a key", "write name = value")
        keys = sections[-1][2] if sections else top
        keys.append(Entry(name, _unquoted(value) if sign else None, number))
    return (*top, *(Entry(name, None, line, tuple(keys)) for name, line, keys in sections))


def _split(words: str) -> tuple[str, str, str]:
    place = min((place for place in (words.find("="), words.find(":")) if place >= 0), default=-1)
    if place < 0:
        return words, "", ""
    return words[:place].strip(), words[place], words[place + 1 :].strip()


def read_properties(text: str, file: str) -> tuple[Entry, ...]:
    """`name=value`, as Java and Ice read them; a line that ends with a backslash goes on in the next one."""
    found, pending, begun = [], "", 0
    for number, line in enumerate(text.splitlines(), start=1):
        if not pending:
            begun = number
            if not line.strip() or line.lstrip()[0] in "#!":
                continue
        joined = pending + line.strip()
        if joined.endswith("\\") and not joined.endswith("\\\\"):
            pending = joined[:-1]
            continue
        pending = ""
        match = PROPERTY.fullmatch(joined)
        name, value = (joined, "") if match is None else (match[1].replace("\\", ""), match[2].strip())
        found.append(Entry(name, value, begun))
    return tuple(found)


def read_directives(text: str, file: str) -> tuple[Entry, ...]:
    """A name and its words in each line, as in redis.conf. Of `sentinel NAME …` each is a name below `sentinel`. Where
    there is more than one word, each is there by its number as well: `sentinel/monitor/4`."""
    found = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        words = _words(line, file, number)
        found.append(_directive(words, number))
    return tuple(found)


def _directive(words: list[str], number: int) -> Entry:
    name, rest = words[0], words[1:]
    if name == "sentinel" and rest:
        return Entry(name, None, number, (_directive(rest, number),))
    each = tuple(Entry(str(place), word, number) for place, word in enumerate(rest, start=1))
    return Entry(name, " ".join(rest), number, each if len(each) > 1 else ())


def _words(line: str, file: str, number: int) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError as error:
        raise Unreadable(file, number, f"a quotation mark has no partner ({error})") from None


def read_keepalived(text: str, file: str) -> tuple[Entry, ...]:
    """Blocks `name words { … }` and lines `name words`. Comments begin with `!` or `#`."""
    stack: list[tuple[str, str | None, int, list[Entry]]] = [("", None, 0, [])]
    for number, line in enumerate(text.splitlines(), start=1):
        rest = re.sub(r"(^|\s)[!#].*", "", line).strip()
        while rest:
            rest = _block_part(rest, stack, number, file)
    if len(stack) > 1:
        raise Unreadable(file, stack[-1][2], f"the block `{stack[-1][0]}` has no end", "write the missing `}`")
    return tuple(stack[0][3])


def _block_part(rest: str, stack: list[tuple[str, str | None, int, list[Entry]]], number: int, file: str) -> str:
    """Takes one statement, or the beginning or the end of a block, from a line; what is left of it."""
    if (end := END.match(rest)) is not None:
        if len(stack) == 1:
            raise Unreadable(file, number, "a `}` without a block that it ends", "remove it")
        name, value, line, inner = stack.pop()
        stack[-1][3].append(Entry(name, value, line, tuple(inner)))
        return rest[end.end() :].strip()
    if (begin := BEGIN.match(rest)) is not None:
        name, _, value = begin[1].strip().partition(" ")
        if not name and stack[-1][3] and not stack[-1][3][-1].inner:  # a name in one line, its `{` in the next
            before = stack[-1][3].pop()
            name, value = before.name, before.value or ""
        stack.append((name, value.strip() or None, number, []))
        return rest[begin.end() :].strip()
    statement, brace, more = rest.partition("}")
    name, _, value = statement.strip().partition(" ")
    stack[-1][3].append(Entry(name, _unquoted(value.strip()) or None, number))
    return brace + more


def read_options(text: str, file: str) -> tuple[Entry, ...]:
    """The options of a command line: `--name=value`, `--name value`, `--name`. Its other words are of no interest."""
    words = _words(text, file, 1)
    found: list[Entry] = []
    for place, word in enumerate(words):
        if not word.startswith("--"):
            continue
        name, sign, value = word[2:].partition("=")
        if not sign and place + 1 < len(words) and not words[place + 1].startswith("-"):
            value = words[place + 1]
        found.append(Entry(name, value or None, 1))
    return tuple(found)


def _unquoted(value: str) -> str:
    return value[1:-1] if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'" else value
